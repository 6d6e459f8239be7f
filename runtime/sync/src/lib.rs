//! The atomics and locks of the concurrent parts, swapped for loom's when the
//! models are checked (`make loom`). Nothing here has behaviour of its own.

#[cfg(not(loom))]
pub use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence},
};

#[cfg(loom)]
pub use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence},
};

/// Tells the processor (or the model checker) that this is a waiting loop.
#[inline]
pub fn spin_hint() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// Waits a little, longer the more `attempt`s there have been: first spinning,
/// then giving up the processor, then sleeping for up to 100 microseconds.
pub fn back_off(attempt: u32) {
    #[cfg(not(loom))]
    match attempt {
        0..=63 => std::hint::spin_loop(),
        64..=127 => std::thread::yield_now(),
        _ => std::thread::sleep(std::time::Duration::from_micros(u64::from(attempt.min(227) - 127))),
    }
    #[cfg(loom)]
    {
        let _ = attempt;
        loom::thread::yield_now();
    }
}

/// Locks, going on with the data of a thread that panicked: every critical
/// section of this crate leaves its data whole before it calls anything that
/// could panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A number for the calling thread, the same in a forked child and never 0.
#[inline]
pub fn this_thread() -> usize {
    // SAFETY: takes nothing, always callable. The C library answers from a register, where a
    // variable of the thread would take a call.
    unsafe { libc::pthread_self() as usize }
}

/// Asks the processor for the memory behind `place`, which the caller reads soon.
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which reads nothing that the program sees; SSE is part of x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
