//! `omp_*_lock`: a variable of the program's, eight bytes as on the host.

use crate::{critical, debug, target};
use core::sync::atomic::{AtomicU32, Ordering};

/// `omp_lock_t`: the first word is the lock.
#[repr(C)]
pub struct Lock {
    word: u32,
    padding: u32,
}

/// `omp_nest_lock_t`: who has it, plus one, and how often.
#[repr(C)]
pub struct NestLock {
    owner: u32,
    count: u32,
}

const _: () = assert!(size_of::<Lock>() == 8 && size_of::<NestLock>() == 8);

/// The lock, at an address that LLVM knows nothing of. Where it knows the variable, its passes for
/// OpenMP conclude from one thread's accesses what the lock holds, and lose the others'.
#[inline(always)]
fn hidden<L>(lock: *mut L) -> *mut L {
    target::opaque(lock.cast()).cast_mut().cast()
}

/// # Safety
/// `lock` is valid and unused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_lock(lock: *mut Lock) {
    // SAFETY: as the caller says.
    unsafe { hidden(lock).write(Lock { word: 0, padding: 0 }) };
}

/// # Safety
/// As for [`omp_init_lock`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_lock_with_hint(lock: *mut Lock, _: u32) {
    // SAFETY: as the caller says.
    unsafe { omp_init_lock(lock) };
}

/// # Safety
/// `lock` is free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_destroy_lock(lock: *mut Lock) {
    // SAFETY: as the caller says.
    unsafe { omp_init_lock(lock) };
}

/// # Safety
/// `lock` has been initialised.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn omp_set_lock(lock: *mut Lock) {
    // SAFETY: as the caller says.
    unsafe { critical::lock_for_program(&raw mut (*lock).word) };
}

/// # Safety
/// The thread has the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_unset_lock(lock: *mut Lock) {
    // SAFETY: as the caller says.
    let held = || unsafe { (&raw const (*lock).word).read_volatile() } == 1;
    debug::check(held, c"a lock is given back that nobody has");
    // SAFETY: as the caller says.
    unsafe { critical::unlock(&raw mut (*lock).word) };
}

/// # Safety
/// `lock` has been initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_test_lock(lock: *mut Lock) -> i32 {
    // SAFETY: as the caller says.
    i32::from(unsafe { critical::try_lock(&raw mut (*lock).word) })
}

/// The number by which a nest lock knows its owner: the thread's in the whole grid, plus one.
fn owner() -> u32 {
    target::block_id() * target::threads_in_block() + target::thread_id() + 1
}

/// # Safety
/// `lock` is valid and unused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_nest_lock(lock: *mut NestLock) {
    // SAFETY: as the caller says.
    unsafe { hidden(lock).write(NestLock { owner: 0, count: 0 }) };
}

/// # Safety
/// As for [`omp_init_nest_lock`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_init_nest_lock_with_hint(lock: *mut NestLock, _: u32) {
    // SAFETY: as the caller says.
    unsafe { omp_init_nest_lock(lock) };
}

/// # Safety
/// `lock` is free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_destroy_nest_lock(lock: *mut NestLock) {
    // SAFETY: as the caller says.
    unsafe { omp_init_nest_lock(lock) };
}

/// # Safety
/// `lock` has been initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_test_nest_lock(lock: *mut NestLock) -> i32 {
    let (own, lock) = (owner(), hidden(lock));
    // SAFETY: the word is used through atomic operations alone.
    let word = unsafe { AtomicU32::from_ptr(&raw mut (*lock).owner) };
    let taken = word.load(Ordering::Relaxed) == own
        || word.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed).is_ok();
    if !taken {
        return 0;
    }
    target::fence_device();
    // SAFETY: the thread has the lock, and nobody else touches the count. It is volatile, as are the
    // atomic operations: LLVM would conclude what it is from what this thread alone does.
    unsafe {
        let count = (&raw mut (*lock).count).read_volatile() + 1;
        (&raw mut (*lock).count).write_volatile(count);
        count.cast_signed()
    }
}

/// # Safety
/// `lock` has been initialised.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn omp_set_nest_lock(lock: *mut NestLock) {
    if target::would_wait_for_ever(lock.addr()) {
        debug::give_up(c"gangway: threads of one wave of this GPU cannot wait for each other's lock\n");
    }
    // SAFETY: as the caller says.
    while unsafe { omp_test_nest_lock(lock) } == 0 {
        target::sleep(target::LOCK_SLEEP);
    }
}

/// # Safety
/// The thread has the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_unset_nest_lock(lock: *mut NestLock) {
    let lock = hidden(lock);
    // SAFETY: as the caller says.
    let held = || unsafe { (&raw const (*lock).owner).read_volatile() } == owner();
    debug::check(held, c"a nest lock is given back that the thread does not have");
    // SAFETY: the thread has the lock.
    unsafe {
        let count = (&raw mut (*lock).count).read_volatile() - 1;
        (&raw mut (*lock).count).write_volatile(count);
        if count == 0 {
            target::fence_device();
            AtomicU32::from_ptr(&raw mut (*lock).owner).store(0, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_taken_once() {
        let mut lock = Lock { word: 1, padding: 1 };
        let lock = &raw mut lock;
        // SAFETY: the lock is a variable here.
        unsafe {
            omp_init_lock(lock);
            assert_eq!(omp_test_lock(lock), 1);
            assert_eq!(omp_test_lock(lock), 0);
            omp_unset_lock(lock);
            assert_eq!(omp_test_lock(lock), 1);
        }
    }

    #[test]
    fn a_nest_lock_counts() {
        let mut lock = NestLock { owner: 9, count: 9 };
        let lock = &raw mut lock;
        // SAFETY: the lock is a variable here.
        unsafe {
            omp_init_nest_lock(lock);
            omp_set_nest_lock(lock);
            assert_eq!(omp_test_nest_lock(lock), 2);
            omp_unset_nest_lock(lock);
            assert_eq!((*lock).owner, 1);
            omp_unset_nest_lock(lock);
            assert_eq!((*lock).owner, 0);
        }
    }
}
