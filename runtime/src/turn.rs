//! Taking turns at what is best done by one thread at a time, and must not be waited
//! for without end.
//!
//! A device is opened, and an image loaded, by the thread that needs it first. Others
//! wait. But one of them may itself be what that thread waits for: it runs a
//! constructor of a library that is being opened, so it holds the loader's lock, which
//! loading an image needs. Nothing tells whether a thread does. So one who has waited for
//! [`PATIENCE`] goes ahead beside the first one, and the next one if that did not help; each
//! can do the work, and the results of the slower ones are dropped.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Longer than opening a device or loading an image of ours takes, so that work is done twice only
/// by threads that would otherwise wait for each other, or on devices that are slow. It doubles
/// with each thread that has gone ahead, so that few do the same work on a device that is slow.
const PATIENCE: Duration = Duration::from_millis(250);
const MOST_DOUBLINGS: usize = 3;

/// Something that threads take turns at.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// More than one only where a thread has lost its patience.
    takers: Mutex<Vec<ThreadId>>,
    ended: Condvar,
}

/// A thread's turn; ends when dropped, on the same thread.
pub(crate) struct Taken<'t>(&'t Turn);

impl Turn {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<ThreadId>> {
        self.takers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the calling thread's turn. `None`: it is at it already, further up its
    /// stack, and would come here again and again.
    pub(crate) fn take(&self) -> Option<Taken<'_>> {
        let this = thread::current().id();
        let mut takers = self.lock();
        if takers.contains(&this) {
            return None;
        }
        let begin = Instant::now();
        while let Some(ahead) = takers.len().checked_sub(1) {
            let patience = PATIENCE * (1 << ahead.min(MOST_DOUBLINGS));
            let Some(left) = patience.checked_sub(begin.elapsed()) else { break };
            let waited = self.ended.wait_timeout(takers, left);
            takers = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        takers.push(this);
        Some(Taken(self))
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let this = thread::current().id();
        self.0.lock().retain(|taker| *taker != this);
        self.0.ended.notify_all();
    }
}
