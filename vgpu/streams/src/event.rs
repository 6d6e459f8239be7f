//! An event: a place in a stream that others can wait for, and the time when it was passed.
//!
//! Recording and waiting are in `stream`; the driver asks here whether it is done, waits, and
//! takes differences of times.

use std::sync::{Arc, Mutex};

use crate::error::Error;
use crate::id::NodeId;
use crate::process;
use crate::queue::{Position, Stamped};

/// An event. It may be recorded again at any time; a wait that has begun is for the earlier record.
#[derive(Debug)]
pub struct Event {
    timed: bool,
    tag: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Counts the records; an older one's time does not count.
    record: u64,
    recorded: Option<Recorded>,
    /// When the last record was passed.
    time: Option<u64>,
}

/// Where an event was recorded last.
#[derive(Clone, Debug)]
pub(crate) enum Recorded {
    At(Position),
    /// In a capture of this number, behind these nodes.
    Captured(u64, Vec<NodeId>),
}

impl Event {
    /// A `timed` event can be given to [`Event::elapsed`].
    #[must_use]
    pub fn new(timed: bool) -> Arc<Self> {
        Self::with_tag(timed, 0)
    }

    /// An event that carries a number of the caller's, such as a handle.
    #[must_use]
    pub fn with_tag(timed: bool, tag: usize) -> Arc<Self> {
        Arc::new(Self { timed, tag, state: Mutex::new(State { record: 0, recorded: None, time: None }) })
    }

    /// As it was given.
    pub fn tag(&self) -> usize {
        self.tag
    }

    pub fn timed(&self) -> bool {
        self.timed
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// `Ok` if the last record is done or there is none, otherwise [`Error::NotReady`].
    pub fn query(&self) -> Result<(), Error> {
        process::refuse_child()?;
        match self.position()? {
            None => Ok(()),
            Some(position) => {
                position.queue.domain.check()?;
                if !position.reached() {
                    return Err(Error::NotReady);
                }
                position.tell_program();
                Ok(())
            }
        }
    }

    /// Waits until the last record, as it is now, is done.
    pub fn synchronize(&self) -> Result<(), Error> {
        process::refuse_child()?;
        let Some(position) = self.position()? else { return Ok(()) };
        if !position.reached() {
            if process::in_host_function() {
                return Err(Error::NotPermitted);
            }
            position.queue.wait_until(position.sequence);
        }
        position.tell_program();
        position.queue.domain.check()
    }

    /// Nanoseconds from `self` to `end`, negative if `end` came first.
    pub fn elapsed(&self, end: &Self) -> Result<i64, Error> {
        if !self.timed || !end.timed {
            return Err(Error::InvalidHandle);
        }
        let time = |event: &Self| {
            event.query()?;
            let state = event.state();
            match (&state.recorded, state.time) {
                (None, _) => Err(Error::InvalidHandle),
                (Some(_), None) => Err(Error::NotReady),
                (Some(_), Some(time)) => Ok(time as i64),
            }
        };
        let (start, end) = (time(self)?, time(end)?);
        Ok(end - start)
    }

    /// The place that was recorded last, if any.
    pub(crate) fn position(&self) -> Result<Option<Position>, Error> {
        match &self.state().recorded {
            None => Ok(None),
            Some(Recorded::At(position)) => Ok(Some(position.clone())),
            Some(Recorded::Captured(..)) => Err(Error::CapturedEvent),
        }
    }

    pub(crate) fn recorded(&self) -> Option<Recorded> {
        self.state().recorded.clone()
    }

    /// Records without a time.
    pub(crate) fn set(&self, recorded: Recorded) {
        let mut state = self.state();
        state.record += 1;
        state.time = None;
        state.recorded = Some(recorded);
    }

    /// Announces a record whose place is not known yet; its number is for [`Event::finish_record`]
    /// and [`Stamped::stamp`], which may come in any order.
    pub(crate) fn begin_record(&self) -> u64 {
        let mut state = self.state();
        state.record += 1;
        state.time = None;
        state.record
    }

    pub(crate) fn finish_record(&self, record: u64, position: Position, time: Option<u64>) {
        let mut state = self.state();
        if state.record == record {
            state.recorded = Some(Recorded::At(position));
            state.time = time.or(state.time);
        }
    }
}

impl Stamped for Event {
    fn stamp(&self, record: u64) {
        let now = process::now();
        let mut state = self.state();
        if state.record == record {
            state.time = Some(now);
        }
    }
}
