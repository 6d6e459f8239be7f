//! Words to sleep on.

use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::Duration;

/// Counts changes, and who waits for one.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Word {
    changes: AtomicU32,
    waiters: AtomicU32,
}

impl Word {
    #[must_use]
    pub const fn new() -> Self {
        Self { changes: AtomicU32::new(0), waiters: AtomicU32::new(0) }
    }

    /// Something has changed: whoever sleeps looks again. Where nobody does it is two loads.
    #[inline]
    pub fn wake(&self) {
        // Either the waiter is seen here, or the waiter sees the change.
        fence(Ordering::SeqCst);
        if self.waiters.load(Ordering::SeqCst) > 0 {
            self.wake_waiters();
        }
    }

    #[cold]
    fn wake_waiters(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        let (word, wake) = (self.changes.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG);
        // SAFETY: the word is a static's or lives as long as this borrow.
        unsafe { libc::syscall(libc::SYS_futex, word, wake, i32::MAX) };
    }

    /// Sleeps until `look` finds something, or until the time is over. It looks at least once, again
    /// after each change, and when `glance` has passed without one.
    pub fn wait<T>(
        &self,
        until: Option<std::time::Instant>,
        glance: Option<Duration>,
        mut look: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = look() {
            return Some(found);
        }
        self.waiters.fetch_add(1, Ordering::SeqCst);
        let found = loop {
            let seen = self.changes.load(Ordering::SeqCst);
            fence(Ordering::SeqCst);
            if let Some(found) = look() {
                break Some(found);
            }
            let left = until.map(|until| until.saturating_duration_since(std::time::Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break None;
            }
            let least = [left, glance].into_iter().flatten().min();
            self.sleep(seen, least);
        };
        self.waiters.fetch_sub(1, Ordering::SeqCst);
        found
    }

    fn sleep(&self, seen: u32, at_most: Option<Duration>) {
        let time = at_most.map(|time| libc::timespec {
            tv_sec: time.as_secs().min(i64::MAX as u64) as i64,
            tv_nsec: i64::from(time.subsec_nanos()),
        });
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let (word, wait) = (self.changes.as_ptr(), libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG);
        // SAFETY: the word and the time live for as long as the call.
        unsafe { libc::syscall(libc::SYS_futex, word, wait, seen, time) };
    }
}
