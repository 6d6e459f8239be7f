//! When the contents of new entries are valid.
//!
//! On an asynchronous device a construct publishes what it creates before its copies
//! are done. All its entries share one [`Ready`]: the point in a stream that other
//! streams have to wait for. The construct takes it back from its entries when its
//! operations are done, so that an entry whose copy is long done costs one load.
//!
//! A point is recycled but never freed while the table lives, like an entry. Whoever
//! wants to wait pins it until the waiting stream is done, so that its event is not
//! destroyed meanwhile; whoever gives up the last use destroys the event.

use crate::stream::StreamRef;
use gangway_backend::EventHandle;
use gangway_sync::{AtomicBool, AtomicUsize, Ordering};

/// A point in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// Where this event was recorded.
    Event(EventHandle),
    /// The end of what has been issued to this stream so far. Streams are not destroyed
    /// while entries have such a point.
    EndOf(StreamRef),
}

/// The point of the entries that one construct fills.
#[derive(Debug)]
pub(crate) struct Ready {
    /// The construct, its entries and the threads that are about to wait. 0: not in use.
    pub(crate) users: AtomicUsize,
    is_event: AtomicBool,
    handle: AtomicUsize,
}

/// A point that its holder uses. Copying it does not count.
#[derive(Debug, Clone, Copy)]
pub struct ReadyRef<'t>(&'t Ready);

impl PartialEq for ReadyRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Default for Ready {
    fn default() -> Self {
        Self { users: AtomicUsize::new(0), is_event: AtomicBool::new(false), handle: AtomicUsize::new(0) }
    }
}

impl Ready {
    /// Begins a use. The caller alone has the object.
    pub(crate) fn begin(&self, point: Point, users: usize) {
        let (is_event, handle) = match point {
            Point::Event(event) => (true, event.0),
            Point::EndOf(stream) => (false, stream.word()),
        };
        self.is_event.store(is_event, Ordering::Relaxed);
        self.handle.store(handle, Ordering::Relaxed);
        self.users.store(users, Ordering::Release);
    }

    /// Counts one more user; false if there is none, and the object may be recycled.
    pub(crate) fn pin(&self) -> bool {
        let mut users = self.users.load(Ordering::Acquire);
        while users != 0 {
            match self.users.compare_exchange_weak(users, users + 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(seen) => users = seen,
            }
        }
        false
    }
}

impl<'t> ReadyRef<'t> {
    /// The caller has counted a use.
    pub(crate) fn new(ready: &'t Ready) -> Self {
        Self(ready)
    }

    pub(crate) fn of(self) -> &'t Ready {
        self.0
    }

    /// Where contents become valid.
    #[must_use]
    pub fn point(self) -> Point {
        let handle = self.0.handle.load(Ordering::Relaxed);
        if self.0.is_event.load(Ordering::Relaxed) {
            Point::Event(EventHandle(handle))
        } else {
            // SAFETY: who made the point has stored the word of a stream.
            Point::EndOf(unsafe { StreamRef::of(handle) })
        }
    }
}
