//! Guards of variables that functions initialise when they are first called (Itanium C++ ABI, 3.3.3), which clang has
//! for AMD's GPUs: statics of functions, in C++.
//!
//! Code asks for the right to initialise, does so if it has got it, and goes on. Where the lanes of a wave run together,
//! those that have not got it may go on at once if one of their own has: they meet it behind what it does, as LLVM lets a
//! branch that lanes take apart end where they come together again.

use crate::target;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// `__guard`: compilers look at the first byte alone.
#[repr(C, align(8))]
pub struct Guard {
    is_done: AtomicU8,
    padding: [u8; 3],
    /// The warp that initialises, plus one.
    owner: AtomicU32,
}

const _: () = assert!(size_of::<Guard>() == 8);

/// The number of the thread's warp in the whole grid, plus one.
fn own_warp() -> u32 {
    let warps = target::warp_of(target::threads_in_block() + target::warp_size() - 1);
    target::block_id() * warps + target::warp_of(target::thread_id()) + 1
}

impl Guard {
    /// Whether the thread is to initialise the variable; if another one does, it is done then.
    fn acquire(&self) -> bool {
        let own = own_warp();
        loop {
            if self.is_done.load(Ordering::Acquire) != 0 {
                target::fence_device();
                return false;
            }
            match self.owner.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(owner) if owner == own && !target::THREADS_END_ALONE => return false,
                Err(_) => target::sleep(target::LOCK_SLEEP),
            }
        }
    }
}

/// # Safety
/// `guard` is that of a variable.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn __cxa_guard_acquire(guard: *mut Guard) -> i32 {
    // SAFETY: as the caller says, and all use it through atomic operations.
    let guard = unsafe { &*guard };
    target::in_turn(|| i32::from(guard.acquire()))
}

/// The variable is initialised.
///
/// # Safety
/// As for [`__cxa_guard_acquire`], which has given the thread the right.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_guard_release(guard: *mut Guard) {
    target::fence_device();
    // SAFETY: as the caller says, and all use it through atomic operations.
    unsafe { (*guard).is_done.store(1, Ordering::Release) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_initialised_once() {
        let mut guard = Guard { is_done: AtomicU8::new(0), padding: [0; 3], owner: AtomicU32::new(0) };
        let guard = &raw mut guard;
        // SAFETY: the guard is a variable here.
        unsafe {
            assert_eq!(__cxa_guard_acquire(guard), 1);
            __cxa_guard_release(guard);
            assert_eq!(__cxa_guard_acquire(guard), 0);
        }
    }
}
