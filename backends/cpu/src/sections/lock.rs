//! A lock that a signal handler may try, and that a fork can hold.
//!
//! Kept for a few instructions, or while pages are protected; never while a kernel or code of
//! the program runs. So whoever waits for it waits for a short time.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Attempts of a signal handler, between which it yields: about a second.
const PATIENCE: usize = 1_000_000;

#[derive(Debug)]
pub(crate) struct Lock<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is used by one thread at a time, which has the lock.
unsafe impl<T: Send> Sync for Lock<T> {}

struct Unlock<'a>(&'a AtomicBool);

impl Drop for Unlock<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<T> Lock<T> {
    pub const fn new(value: T) -> Self {
        Self { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Runs `work` on the value.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        self.acquire();
        let _unlock = Unlock(&self.locked);
        // SAFETY: this thread has the lock.
        work(unsafe { &mut *self.value.get() })
    }

    /// As [`with`](Self::with), for signal handlers: `None` if the lock cannot be had, as the
    /// interrupted thread may have it.
    pub fn try_with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        if !(0..PATIENCE).any(|_| self.try_acquire()) {
            return None;
        }
        let _unlock = Unlock(&self.locked);
        // SAFETY: this thread has the lock.
        Some(work(unsafe { &mut *self.value.get() }))
    }

    /// Takes the lock, for a fork.
    pub fn acquire(&self) {
        while !self.try_acquire() {}
    }

    /// Gives it up after a fork, in the parent or in the child.
    pub fn release(&self) {
        self.locked.store(false, Ordering::Release);
    }

    fn try_acquire(&self) -> bool {
        let free = self.locked.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if !free {
            // SAFETY: has no preconditions.
            unsafe { libc::sched_yield() };
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_has_it() {
        static COUNT: Lock<usize> = Lock::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10_000).for_each(|_| COUNT.with(|count| *count += 1)));
            }
        });
        assert_eq!(COUNT.with(|count| *count), 40_000);
    }

    #[test]
    fn a_handler_does_not_wait_for_ever() {
        static LOCK: Lock<()> = Lock::new(());
        assert_eq!(LOCK.with(|()| LOCK.try_with(|()| ())), None);
        assert_eq!(LOCK.try_with(|()| ()), Some(()));
    }
}
