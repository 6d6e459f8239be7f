//! Mutual exclusion: `critical`, and the words that locks are made of.

use crate::environment::Location;
use crate::{debug, target};
use core::sync::atomic::{AtomicU32, Ordering};

/// Takes a lock, a word that is 0 when it is free; it counts for all blocks of the device.
///
/// # Safety
/// `word` is valid, and used as a lock alone.
#[inline(always)]
pub unsafe fn lock(word: *mut u32) {
    // SAFETY: as the caller says.
    let word = unsafe { AtomicU32::from_ptr(word) };
    while word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        target::sleep(target::LOCK_SLEEP);
    }
    target::fence_device();
}

/// Takes a lock for the program, which gives it back in other code.
///
/// # Safety
/// As for [`lock`].
#[inline(always)]
pub unsafe fn lock_for_program(word: *mut u32) {
    if target::would_wait_for_ever(word.addr()) {
        debug::give_up(c"gangway: threads of one wave of this GPU cannot wait for each other's lock\n");
    }
    // SAFETY: as the caller says.
    unsafe { lock(word) };
}

/// Does something while no other thread of the device has the lock.
///
/// # Safety
/// As for [`lock`].
#[inline(always)]
pub unsafe fn exclusively<R>(word: *mut u32, act: impl FnOnce() -> R) -> R {
    target::in_turn(|| {
        // SAFETY: as the caller says.
        unsafe { lock(word) };
        let result = act();
        // SAFETY: the thread has the lock.
        unsafe { unlock(word) };
        result
    })
}

/// Takes a lock if it is free.
///
/// # Safety
/// As for [`lock`].
#[inline(always)]
pub unsafe fn try_lock(word: *mut u32) -> bool {
    // SAFETY: as the caller says.
    let word = unsafe { AtomicU32::from_ptr(word) };
    let taken = word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
    target::fence_device();
    taken
}

/// Gives a lock back.
///
/// # Safety
/// As for [`lock`]; the thread has it.
#[inline(always)]
pub unsafe fn unlock(word: *mut u32) {
    target::fence_device();
    // SAFETY: as the caller says.
    let word = unsafe { AtomicU32::from_ptr(word) };
    word.store(0, Ordering::Release);
}

/// `critical`. In C and C++ clang lets the threads of a block come one after the other.
///
/// # Safety
/// `name` is the variable that the compiler made for the name, eight words of zeros.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn __kmpc_critical(_: *const Location, _: i32, name: *mut u32) {
    // SAFETY: as the caller says.
    unsafe { lock_for_program(name) };
}

/// `critical` with a hint, which nothing depends on.
///
/// # Safety
/// As for [`__kmpc_critical`].
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn __kmpc_critical_with_hint(_: *const Location, _: i32, name: *mut u32, _: u32) {
    // SAFETY: as the caller says.
    unsafe { lock_for_program(name) };
}

/// The end of a `critical`.
///
/// # Safety
/// As for [`__kmpc_critical`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_end_critical(_: *const Location, _: i32, name: *mut u32) {
    // SAFETY: as the caller says.
    debug::check(|| unsafe { name.read_volatile() } == 1, c"a critical region ends that has not started");
    // SAFETY: as the caller says.
    unsafe { unlock(name) };
}
