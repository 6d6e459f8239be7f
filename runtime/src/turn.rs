//! Taking turns at what is best done by one thread at a time, and must not be waited
//! for without end.
//!
//! A device is opened, and an image loaded, by the thread that needs it first. Others
//! wait. But one of them may itself be what that thread waits for: it runs a
//! constructor of a library that is being opened, so it holds the loader's lock, which
//! loading an image needs. Nothing tells whether a thread does. So whoever has waited
//! for [`PATIENCE`] goes ahead beside the first one; both can do the work, and the
//! result of the slower one is dropped.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Far longer than opening a device of ours takes, so that work is done twice only by
/// threads that would otherwise wait for each other, or on devices that are very slow.
const PATIENCE: Duration = Duration::from_secs(2);

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
        let takers = self.lock();
        if takers.contains(&this) {
            return None;
        }
        let taken = |takers: &mut Vec<ThreadId>| !takers.is_empty();
        let waited = self.ended.wait_timeout_while(takers, PATIENCE, taken);
        waited.unwrap_or_else(PoisonError::into_inner).0.push(this);
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
