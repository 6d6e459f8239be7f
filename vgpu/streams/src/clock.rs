//! What comes before an operation, as numbers of streams and of operations in them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A number of a stream's, and of an operation in it.
pub type Moment = (u64, u64);

/// What an operation comes after: of each stream, the operations up to one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    own: Moment,
    streams: BTreeMap<u64, u64>,
}

impl Clock {
    /// The operation itself.
    #[must_use]
    pub fn own(&self) -> Moment {
        self.own
    }

    /// It is of another operation from now on.
    pub(crate) fn is_at(&mut self, own: Moment) {
        self.own = own;
    }

    pub(crate) fn has_up_to(&mut self, stream: u64, moment: u64) {
        self.streams.insert(stream, moment);
    }

    /// Whether another operation comes before this one.
    #[must_use]
    pub fn has(&self, (stream, operation): Moment) -> bool {
        self.streams.get(&stream).is_some_and(|&last| operation <= last)
    }

    pub(crate) fn join(&mut self, other: &Self) {
        for (&stream, &operation) in &other.streams {
            let last = self.streams.entry(stream).or_default();
            *last = operation.max(*last);
        }
    }
}

/// A clock that more is learned by.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<Option<Arc<Clock>>>);

impl Known {
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Clock>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self) -> Option<Arc<Clock>> {
        self.lock().clone()
    }

    pub fn learn(&self, other: Option<&Arc<Clock>>) {
        let Some(other) = other else { return };
        let mut known = self.lock();
        match &mut *known {
            Some(known) => Arc::make_mut(known).join(other),
            None => *known = Some(other.clone()),
        }
    }

    /// Nothing is known any more.
    pub fn forget(&self) {
        *self.lock() = None;
    }

    /// The next operation of a stream comes: what it comes after.
    pub fn step(&self, stream: u64) -> Arc<Clock> {
        let mut known = self.lock();
        let clock = Arc::make_mut(known.get_or_insert_default());
        let operation = clock.streams.get(&stream).map_or(1, |last| last + 1);
        clock.streams.insert(stream, operation);
        clock.own = (stream, operation);
        Arc::new(clock.clone())
    }
}
