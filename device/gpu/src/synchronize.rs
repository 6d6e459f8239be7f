//! Barriers, regions for one thread, and flushes.

use crate::environment::Location;
use crate::place::Place;
use crate::target;
use crate::{debug, kernel, shared, unfinished};
use core::sync::atomic::{AtomicU32, Ordering};

/// The hardware's barrier for a team that is not the whole block.
const TEAM_BARRIER: u32 = 1;

shared! {
    /// How many threads of the team have come to the barrier, if it is not made of whole warps.
    static ARRIVED: u32
}

shared! {
    /// How often the team has met there.
    static MEETINGS: u32
}

/// Whole warps meet at a barrier of the hardware, if it has one for a part of a block, and others at one in memory.
#[inline(always)]
fn have_a_barrier(size: u32) -> bool {
    target::PARTS_HAVE_BARRIERS && target::lane_of(size) == 0
}

/// Whether the hardware has no barrier for a team of that size: it counts warps.
#[inline(always)]
fn meets_in_memory(size: u32) -> bool {
    let whole_block = kernel::is_spmd() && size == target::threads_in_block();
    size > 1 && !whole_block && !have_a_barrier(size)
}

/// A region of that size starts. In SPMD mode all threads of the block call it, and otherwise the
/// main thread, before the workers are woken.
#[inline(always)]
pub fn prepare(size: u32) {
    if meets_in_memory(size) {
        // SAFETY: all threads that call it write the same, and the team does not run yet.
        unsafe {
            ARRIVED.set(0);
            MEETINGS.set(0);
        }
        if kernel::is_spmd() {
            target::barrier_aligned();
        }
    }
}

/// Waits for the threads of the team.
#[inline(always)]
pub fn barrier(place: Place) {
    let size = place.size();
    if size == 1 {
        return;
    }
    if kernel::is_spmd() && size == target::threads_in_block() {
        target::barrier();
    } else if have_a_barrier(size) {
        target::barrier_of(TEAM_BARRIER, size);
    } else {
        meet(size);
    }
}

#[inline(always)]
fn meet(size: u32) {
    // SAFETY: both are variables of the block that only this function uses while the team runs.
    let (arrived, meetings) =
        unsafe { (AtomicU32::from_ptr(ARRIVED.pointer()), AtomicU32::from_ptr(MEETINGS.pointer())) };
    meet_at(arrived, meetings, size);
}

/// So many threads of the block wait for each other: how many have come, and how often they have met.
#[inline(always)]
pub fn meet_at(arrived: &AtomicU32, meetings: &AtomicU32, size: u32) {
    let before = meetings.load(Ordering::Relaxed);
    target::fence_block();
    if arrived.fetch_add(1, Ordering::Relaxed) == size - 1 {
        arrived.store(0, Ordering::Relaxed);
        target::fence_block();
        meetings.store(before.wrapping_add(1), Ordering::Relaxed);
        if target::THREADS_END_ALONE {
            target::fence_block();
            return;
        }
    }
    // Where the lanes of a warp go together, the last thread is among those that look once: what it has done
    // comes before the others wait.
    while meetings.load(Ordering::Relaxed) == before {
        target::sleep(target::TEAM_SLEEP);
    }
    target::fence_block();
}

/// `#pragma omp barrier`
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_barrier(_: *const Location, word: i32) {
    debug::trace(c"__kmpc_barrier");
    let place = Place::of(word);
    debug::check(|| place == Place::current(), c"a barrier is for another team than the thread is in");
    unfinished::wait();
    barrier(place);
}

/// A barrier at which a region could be cancelled; none ever is.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_cancel_barrier(_: *const Location, word: i32) -> i32 {
    unfinished::wait();
    barrier(Place::of(word));
    0
}

/// All threads of the block meet, each of whose warps comes as a whole: LLVM puts it around what one
/// thread does for all in SPMD mode.
#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_barrier_simple_spmd(_: *const Location, _: i32) {
    target::barrier_aligned();
}

/// Main thread and workers meet, in the state machine that LLVM makes.
#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_barrier_simple_generic(_: *const Location, _: i32) {
    target::barrier();
}

/// Nobody is cancelled: `cancel-var` is false.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_cancel(_: *const Location, _: i32, _: i32) -> i32 {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_cancellationpoint(_: *const Location, _: i32, _: i32) -> i32 {
    0
}

/// `#pragma omp master`: whether this thread is to run it.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_master(_: *const Location, word: i32) -> i32 {
    i32::from(Place::of(word).thread() == 0)
}

#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_master(_: *const Location, _: i32) {}

/// `#pragma omp masked filter(thread)`
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_masked(_: *const Location, word: i32, filter: i32) -> i32 {
    i32::from(Place::of(word).thread().cast_signed() == filter)
}

#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_masked(_: *const Location, _: i32) {}

/// `#pragma omp single`: always the first thread, which needs no agreement.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_single(_: *const Location, word: i32) -> i32 {
    i32::from(Place::of(word).thread() == 0)
}

#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_single(_: *const Location, _: i32) {}

/// `flush`: for all of the device and the host, since data may be mapped into both.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_flush(_: *const Location) {
    target::fence_system();
}

/// The lanes that run together now.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_warp_active_thread_mask() -> u64 {
    target::active_lanes().into()
}

/// Waits for lanes of the warp.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_syncwarp(mask: u64) {
    target::sync_warp(mask as target::Mask);
}

#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_get_warp_size() -> u32 {
    target::warp_size()
}
