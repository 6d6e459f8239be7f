//! Who serves a port or a mailbox: one thread at a time, and no request is left behind.

use crate::sync::{AtomicBool, AtomicUsize, Ordering, fence};

const NOT: usize = 0;
const NOW: usize = 1;
/// And has to look again.
const AGAIN: usize = 2;

/// Whether somebody serves a port.
#[derive(Debug)]
pub(super) struct Served(AtomicUsize);

impl Default for Served {
    fn default() -> Self {
        Self(AtomicUsize::new(NOT))
    }
}

impl Served {
    /// Begins to serve the port. False: another thread does, and will look again.
    pub(super) fn begin(&self) -> bool {
        let mut now = self.0.load(Ordering::Relaxed);
        loop {
            let next = if now == NOT { NOW } else { AGAIN };
            match self.0.compare_exchange(now, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(before) => return before == NOT,
                Err(other) => now = other,
            }
        }
    }

    /// Ends to serve it. False: there may be another request, so that it goes on.
    pub(super) fn end(&self) -> bool {
        if self.0.compare_exchange(NOW, NOT, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return true;
        }
        // With acquire: what the other thread has seen, this one sees when it looks again.
        self.0.swap(NOW, Ordering::AcqRel);
        false
    }
}

/// Whether a thread has found the call in a mailbox, and serves it.
#[derive(Debug)]
pub(super) struct Taken(AtomicBool);

impl Default for Taken {
    fn default() -> Self {
        Self(AtomicBool::new(false))
    }
}

impl Taken {
    pub(super) fn is_taken(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// False: another thread has it.
    pub(super) fn take(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }

    /// Gives it up. False: there is another call, and this thread has it still.
    pub(super) fn leave(&self, is_there_news: impl FnOnce() -> bool) -> bool {
        self.0.store(false, Ordering::Release);
        // Either the device's next call is seen here, or who hears of it sees that nobody has it.
        fence(Ordering::SeqCst);
        !(is_there_news() && self.take())
    }
}
