//! Atomics, locks and threads, swapped for loom's when the models are checked
//! (`make loom`). Nothing here has behaviour of its own.

#[cfg(not(loom))]
pub(crate) use std::{
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

#[cfg(loom)]
pub(crate) use loom::{
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

/// Locks, going on with the data of a thread that panicked: operations are called
/// with no lock held, and nothing else here panics.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Sleeps until notified.
pub(crate) fn sleep<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Sleeps until notified, or for so long: whether that was all. A model has no clock; there it may
/// be woken only.
pub(crate) fn sleep_for<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    #[cfg_attr(loom, expect(unused))] time: std::time::Duration,
) -> (MutexGuard<'a, T>, bool) {
    #[cfg(loom)]
    return (sleep(condition, guard), false);
    #[cfg(not(loom))]
    {
        let (guard, result) =
            condition.wait_timeout(guard, time).unwrap_or_else(std::sync::PoisonError::into_inner);
        (guard, result.timed_out())
    }
}

/// Waits a moment for something that another thread is expected to do at once: true until the time
/// for that is over. A model has no use for it.
pub(crate) struct Spin {
    #[cfg(not(loom))]
    rounds: u32,
}

/// Rounds of pure spinning (a few microseconds).
#[cfg(not(loom))]
const SPINS: u32 = 400;
/// Rounds until the end: after the pure ones each gives the processor away if another thread wants
/// it. Longer than it takes a host thread to come back with the next launch.
#[cfg(not(loom))]
const ROUNDS: u32 = 500;

impl Spin {
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(not(loom))]
            rounds: 0,
        }
    }

    #[cfg(not(loom))]
    pub(crate) fn again(&mut self) -> bool {
        self.rounds += 1;
        match self.rounds {
            0..SPINS => std::hint::spin_loop(),
            SPINS..ROUNDS => std::thread::yield_now(),
            _ => return false,
        }
        true
    }

    #[cfg(loom)]
    pub(crate) fn again(&mut self) -> bool {
        false
    }
}
