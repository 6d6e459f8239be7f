//! Host calls of code on GPUs: `gangway/host_call.h`.
//!
//! The host finds `__gangway_host_channel` in images that call, and only in those, and has it
//! lead to the channel before a kernel runs. NVIDIA's from sm_70 on: threads of a warp wait for each
//! other, and memory is ordered for the whole system.

#![no_std]
#![cfg(gpu)]
#![feature(link_llvm_intrinsics, core_intrinsics)]
#![allow(internal_features)]

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};
use gangway_host_channel::{Channel, LARGEST, MALFORMED, UNSERVED, Warp, call};

mod target;

/// The longest pause between two looks for an answer, in nanoseconds.
const LONGEST: u32 = 2048;

/// A warp of a GPU.
struct Gpu;

impl Warp for Gpu {
    #[inline(always)]
    fn active(&self) -> u32 {
        target::activemask()
    }

    #[inline(always)]
    fn lane(&self) -> u32 {
        target::laneid()
    }

    #[inline(always)]
    fn broadcast(&self, mask: u32, value: u32, lane: u32) -> u32 {
        target::shuffle_index(mask, value, lane)
    }

    #[inline(always)]
    fn ballot(&self, mask: u32, predicate: bool) -> u32 {
        target::ballot(mask, predicate)
    }

    #[inline(always)]
    fn synchronise(&self, mask: u32) {
        target::bar_warp_sync(mask);
    }

    #[inline(always)]
    fn spread(&self) -> u32 {
        target::spread()
    }

    #[inline(always)]
    fn pause(&self, attempt: u32) {
        target::nanosleep(if attempt < 32 { 32 } else { LONGEST });
    }

    #[inline(always)]
    fn is_copied_by_host(&self, address: *const u8) -> bool {
        target::is_global(address)
    }
}

/// The host looks it up by this name.
#[unsafe(no_mangle)]
#[cfg_attr(not(target_arch = "amdgpu"), used)]
pub static __gangway_host_channel: AtomicPtr<Channel> = AtomicPtr::new(core::ptr::null_mut());

/// Calls a function of the host.
///
/// # Safety
/// The block has so many bytes, which are what the function takes.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn gangway_host_call(function: u64, block: *mut c_void, size: usize) -> c_int {
    // Nothing is there to be read.
    if size as u64 > LARGEST || size > 0 && block.is_null() {
        return MALFORMED as c_int;
    }
    let channel = __gangway_host_channel.load(Ordering::Relaxed);
    if channel.is_null() {
        return UNSERVED as c_int;
    }
    let mut outcome = 0;
    target::in_turn(|| {
        // SAFETY: the host has made it a channel, which lives as long as the process.
        outcome = unsafe { call(&Gpu, &*channel, function, block.cast(), size) };
    });
    outcome as c_int
}

/// Compiled so that a panic is a trap, the crate reaches no handler; the compiler wants one.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::intrinsics::abort()
}
