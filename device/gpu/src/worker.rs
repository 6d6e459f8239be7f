//! The workers of a generic kernel: the main thread runs the body and hands them regions.
//!
//! Everybody meets at [`target::barrier`] before and after each region. LLVM may replace [`run`] by
//! a state machine of its own, which calls the `__kmpc_kernel_*` functions in the same order.

use crate::icv::{self, Controls};
use crate::microtask::{self, Microtask};
use crate::place::Place;
use crate::target;
use crate::{debug, share, shared, unfinished};
use core::ffi::c_void;

/// What the workers run: the compiler's function that takes the region's arguments from shared
/// memory, or the region's own where the compiler made none.
#[derive(Clone, Copy)]
pub struct Region {
    /// `void (uint16_t, uint32_t)`; may be null.
    pub wrapper: *const c_void,
    pub function: Microtask,
    pub arguments: *mut *mut c_void,
    pub count: i64,
    pub threads: u32,
    pub controls: Controls,
}

shared! {
    static REGION: Region
}

shared! {
    /// What [`__kmpc_kernel_parallel`] answers with; null when the kernel ends.
    static WORK: *const c_void
}

type Wrapper = unsafe extern "C" fn(u16, u32);

/// The main thread has the workers run a region, and waits for them.
pub fn parallel(region: Region) {
    // SAFETY: the workers read it between the two barriers, and the main thread writes it before.
    unsafe {
        WORK.set(if region.wrapper.is_null() { region.function } else { region.wrapper });
        REGION.set(region);
    }
    target::barrier();
    target::barrier();
}

/// The main thread ends the kernel: the workers leave their loop.
#[inline(always)]
pub fn dismiss() {
    // SAFETY: the workers wait at the barrier, and read it behind.
    unsafe { WORK.set(core::ptr::null()) };
    target::barrier();
}

/// A worker's life.
pub fn run() {
    loop {
        let mut work = core::ptr::null();
        target::barrier();
        // SAFETY: the pointer is to a variable.
        let active = unsafe { __kmpc_kernel_parallel(&raw mut work) };
        if work.is_null() {
            icv::end();
            return;
        }
        if active {
            run_region();
            __kmpc_kernel_end_parallel();
        }
        target::barrier();
    }
}

fn run_region() {
    // SAFETY: the main thread has written it before the barrier.
    let region = unsafe { REGION.get() };
    let place = Place::current();
    if region.wrapper.is_null() {
        // SAFETY: the main thread passes the arguments that go with the function.
        unsafe { microtask::call_out_of_line(region.function, place, region.arguments, region.count) };
    } else {
        // SAFETY: the compiler passes wrappers of this type.
        let wrapper: Wrapper = unsafe { core::mem::transmute(region.wrapper) };
        // SAFETY: the main thread has shared the arguments that the wrapper asks for.
        unsafe { wrapper(0, place.word().cast_unsigned()) };
    }
}

/// A worker asks what to do. `false`: this region goes without it.
///
/// # Safety
/// `work` is valid.
#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn __kmpc_kernel_parallel(work: *mut *const c_void) -> bool {
    // SAFETY: the main thread has written it before the barrier.
    let function = unsafe { WORK.get() };
    // SAFETY: as the caller says.
    unsafe { work.write(function) };
    if function.is_null() {
        return false;
    }
    // SAFETY: the main thread has written it before the barrier.
    let region = unsafe { REGION.get() };
    let thread = target::thread_id();
    if thread >= region.threads {
        return false;
    }
    Place::in_region(thread, region.threads).enter();
    icv::inherit(region.controls);
    debug::trace(c"__kmpc_kernel_parallel");
    true
}

/// A worker has run its region.
#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_kernel_end_parallel() {
    unfinished::wait();
    Place::OUTSIDE.enter();
}

/// The main thread announces a region, in the order of older compilers.
///
/// # Safety
/// `work` is a wrapper.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_kernel_prepare_parallel(work: *const c_void) {
    // SAFETY: the workers wait at the barrier.
    unsafe { WORK.set(work) };
}

/// Makes room for a region's arguments where workers see them.
///
/// # Safety
/// `arguments` is valid; called by the main thread alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_begin_sharing_variables(arguments: *mut *mut *mut c_void, count: u64) {
    // SAFETY: as the caller says.
    unsafe { arguments.write(share::arguments(count)) };
}

/// Gives the room back.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_sharing_variables() {
    share::release_arguments();
}

/// Where the arguments of the region are.
///
/// # Safety
/// `arguments` is valid; called in a region.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_get_shared_variables(arguments: *mut *mut *mut c_void) {
    // SAFETY: as the caller says.
    unsafe { arguments.write(share::shared_arguments()) };
}
