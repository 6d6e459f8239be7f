//! What GPU code asks about its block and the memory that a block shares.
//!
//! flang 22 emits none of these for x86-64; its optimiser and other versions
//! may. They answer for the block that a kernel here is: the threads of the
//! current libomp team, each a warp of its own.

use core::ffi::c_void;

use crate::fatal::fatal;
use crate::hidden;
use crate::libomp::{__kmpc_barrier, Location, free, malloc, omp_get_num_threads, omp_get_thread_num};
use crate::thread;

/// Whether the kernel was compiled in SPMD mode.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_is_spmd_exec_mode() -> i8 {
    i8::from(thread::innermost().is_some_and(|launch| launch.spmd))
}

/// The number of the calling thread in its block.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_get_hardware_thread_id_in_block() -> u32 {
    // SAFETY: a query without preconditions.
    unsafe { omp_get_thread_num() }.unsigned_abs()
}

/// The number of threads in the block.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_get_hardware_num_threads_in_block() -> u32 {
    // SAFETY: a query without preconditions.
    unsafe { omp_get_num_threads() }.unsigned_abs()
}

/// Threads that run in lockstep: one.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_get_warp_size() -> u32 {
    1
}

/// The lanes of this warp that are active: the only one.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_warp_active_thread_mask() -> u64 {
    1
}

/// Waits for the lanes of the warp, of which there is one.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_syncwarp(_mask: u64) {}

/// Barrier of the block in SPMD mode.
///
/// # Safety
/// Called by every thread of the team.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_barrier_simple_spmd(location: *const Location, thread: i32) {
    // SAFETY: as this function's; in a team of one libomp returns at once.
    unsafe { __kmpc_barrier(location, thread) };
}

/// Barrier of the block in generic mode.
///
/// # Safety
/// Called by every thread of the team.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_barrier_simple_generic(location: *const Location, thread: i32) {
    // SAFETY: as this function's; in a team of one libomp returns at once.
    unsafe { __kmpc_barrier(location, thread) };
}

/// Memory that all threads of the block can reach: any memory here.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_alloc_shared(size: u64) -> *mut c_void {
    // SAFETY: allocation has no preconditions.
    let block = unsafe { malloc((size as usize).max(1)) };
    if block.is_null() {
        fatal(c"gangway: out of memory for the shared variables of a target region\n");
    }
    block
}

/// Frees memory of [`__kmpc_alloc_shared`].
///
/// # Safety
/// `block` comes from `__kmpc_alloc_shared` and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_free_shared(block: *mut c_void, _size: u64) {
    // SAFETY: as this function's.
    unsafe { free(block) };
}

hidden!(
    __kmpc_is_spmd_exec_mode,
    __kmpc_get_hardware_thread_id_in_block,
    __kmpc_get_hardware_num_threads_in_block,
    __kmpc_get_warp_size,
    __kmpc_warp_active_thread_mask,
    __kmpc_syncwarp,
    __kmpc_barrier_simple_spmd,
    __kmpc_barrier_simple_generic,
    __kmpc_alloc_shared,
    __kmpc_free_shared,
);
