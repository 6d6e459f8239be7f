//! A GPU of one block of one thread, on the processor that compiles: unit tests of what does not
//! depend on the target run on it, and lints.

use super::Axis;
use core::ffi::{c_char, c_void};

pub const MOST_THREADS: usize = 1024;

/// `acc_device_not_host`.
pub const ACC_DEVICE: i32 = 4;
pub const THREADS_END_ALONE: bool = true;
pub const PARTS_HAVE_BARRIERS: bool = true;
pub type Mask = u32;

macro_rules! answers {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $value:expr;)*) => {$(
        #[must_use]
        pub fn $name($($argument: $type),*) -> $result {
            $(let _ = $argument;)*
            $value
        }
    )*};
}

answers! {
    warp_size() -> u32 = 32;
    would_wait_for_ever(address: usize) -> bool = false;
    warp_of(thread: u32) -> u32 = thread / warp_size();
    thread_id() -> u32 = 0;
    threads_in_block() -> u32 = 1;
    block_id() -> u32 = 0;
    blocks_in_grid() -> u32 = 1;
    thread_id_along(axis: Axis) -> u32 = 0;
    threads_along(axis: Axis) -> u32 = 1;
    block_id_along(axis: Axis) -> u32 = 0;
    blocks_along(axis: Axis) -> u32 = 1;
    lane() -> u32 = 0;
    lanes_below() -> Mask = 0;
    active_lanes() -> Mask = 1;
    ballot(mask: Mask, predicate: bool) -> Mask = mask & u32::from(predicate);
    shuffle(mask: Mask, value: u32, lane: u32) -> u32 = value;
    shuffle_down(mask: Mask, value: u32, delta: u32, width: u32) -> u32 = value;
    any_in_block(predicate: bool) -> bool = predicate;
    nanoseconds() -> u64 = 0;
    launch_id() -> u64 = 0;
    dynamic_shared_memory() -> (*mut c_void, u32) = (core::ptr::null_mut(), 0);
    low_byte(number: u16) -> u8 = number as u8;
    opaque(function: *const c_void) -> *const c_void = function;
    allocate(bytes: u64) -> *mut c_void = core::ptr::null_mut();
}

macro_rules! does_nothing {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        pub fn $name($($argument: $type),*) {
            $(let _ = $argument;)*
        }
    )*};
}

does_nothing! {
    sync_warp(mask: Mask);
    barrier_aligned();
    barrier();
    barrier_of(number: u32, threads: u32);
    fence_block();
    fence_device();
    fence_system();
    sleep(nanoseconds: u32);
    exit_if(condition: bool);
}

pub fn in_turn<R>(act: impl FnOnce() -> R) -> R {
    act()
}

/// Ends the test.
pub fn trap() -> ! {
    panic!("the device runtime has given up")
}

/// # Safety
/// None: [`allocate`] gives nothing.
pub unsafe fn release(_: *mut c_void) {}

/// # Safety
/// None: nothing is read.
pub unsafe fn print(_: *const c_char, _: *const c_void) -> i32 {
    0
}

/// # Safety
/// None: nothing is read.
pub unsafe fn fail(_: *const c_char, _: *const c_char, _: u32, _: *const c_char) -> ! {
    trap()
}
