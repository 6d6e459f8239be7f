//! Who serves a port: one thread at a time, and no request is left behind.

use crate::sync::{AtomicUsize, Ordering};

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
