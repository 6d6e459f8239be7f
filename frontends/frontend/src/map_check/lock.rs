//! A lock that the signal handler may ask for: who has it already is told so.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Lock<T> {
    /// The thread that has it, 0 if none.
    owner: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: the value is used by one thread at a time, which has the lock.
unsafe impl<T: Send> Sync for Lock<T> {}

struct Unlock<'a>(&'a AtomicUsize);

impl Drop for Unlock<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

/// What tells this thread from the others, without a call: where its thread control block is (x86-64 psABI, section
/// 3.4.6). A signal handler may ask for it, and a forked child's thread has that of the one that it is a copy of.
pub fn this_thread() -> usize {
    let pointer;
    // SAFETY: reads one word of the thread control block.
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags));
    }
    pointer
}

impl<T> Lock<T> {
    pub const fn new(value: T) -> Self {
        Self { owner: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    /// Runs `work` on the value; `None` if this thread is in such a call already.
    pub fn try_with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        if !self.acquire() {
            return None;
        }
        let _unlock = Unlock(&self.owner);
        // SAFETY: this thread has the lock.
        Some(work(unsafe { &mut *self.value.get() }))
    }

    /// Takes the lock, also for a fork. False: this thread has it already.
    pub fn acquire(&self) -> bool {
        let this = this_thread();
        let mut tries = 0_u32;
        while let Err(owner) = self.owner.compare_exchange(0, this, Ordering::Acquire, Ordering::Relaxed) {
            if owner == this {
                return false;
            }
            tries += 1;
            if tries < 100 {
                std::hint::spin_loop();
            } else {
                // SAFETY: has no preconditions.
                unsafe { libc::sched_yield() };
            }
        }
        true
    }

    /// Gives it up after a fork, in the parent or in the child.
    pub fn release(&self) {
        self.owner.store(0, Ordering::Release);
    }

    /// Whether this thread is in [`try_with`](Self::try_with).
    pub fn is_mine(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == this_thread()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_has_it_once() {
        static COUNT: Lock<usize> = Lock::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| COUNT.try_with(|count| *count += 1).unwrap()));
            }
        });
        assert_eq!(COUNT.try_with(|count| *count), Some(4000));
        assert_eq!(COUNT.try_with(|_| COUNT.try_with(|_| ())), Some(None));
    }
}
