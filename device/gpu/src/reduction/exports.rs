//! The functions that compilers call for a reduction clause.
//!
//! Those two are inlined into programs, so each clause has code of its own. As functions that all
//! clauses share they would choose among the clauses' functions at each step: LLVM makes comparisons
//! of a call through a pointer, and then inlines every function there is.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::AtomicU32;

use super::callbacks::{Buffer, InterWarpCopy, ListGlobal, Reduction, ShuffleAndReduce};
use super::grid::{Counters, Place as Caller};
use super::machine::Machine;
use super::{block, grid};
use crate::environment::{LaunchEnvironment, LaunchEnvironmentOfClang23, Location, mode};
use crate::grid::shuffle_down_64;
use crate::place::Place;
use crate::{debug, kernel, share, target};

/// The GPU that this is compiled for.
#[derive(Clone, Copy)]
struct Gpu;

impl Machine for Gpu {
    #[inline(always)]
    fn barrier(self) {
        target::barrier_aligned();
    }

    #[inline(always)]
    fn any_in_block(self, mine: bool) -> bool {
        target::any_in_block(mine)
    }

    #[inline(always)]
    fn fence(self) {
        target::fence_device();
    }

    #[inline(always)]
    fn spin(self) {
        target::sleep(100);
    }
}

/// Combines the lists of a team's threads. 1 tells thread 0 that its list holds the result.
///
/// # Safety
/// All threads of the team call it, with what the compiler has generated for one clause.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn __kmpc_nvptx_parallel_reduce_nowait_v2(
    _: *const Location,
    bytes: u64,
    list: *mut c_void,
    shuffle: ShuffleAndReduce,
    copy: InterWarpCopy,
) -> i32 {
    debug::trace(c"reduction in a team");
    let place = Place::current();
    // A region of one thread, and thus every region inside another.
    if place.size() == 1 {
        return 1;
    }
    // Those of a warp are its first lanes, so that none of them has to be looked for.
    debug::check(
        || place.thread() == target::thread_id(),
        c"threads that reduce are not the block's first ones",
    );
    // SAFETY: the threads of a region are the first ones of the block, and all are here.
    unsafe { block::reduce(&Reduction { list, bytes, shuffle, copy }, place.thread(), place.size()) }.into()
}

/// Combines the lists of the teams of a launch. 1 tells one thread that its list holds the result.
///
/// `buffer` has room for `slots` lists.
///
/// # Safety
/// All threads that run the `teams` region call it, with what the compiler has generated for one
/// clause.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn __kmpc_nvptx_teams_reduce_nowait_v2(
    _: *const Location,
    buffer: *mut c_void,
    slots: u32,
    bytes: u64,
    list: *mut c_void,
    shuffle: ShuffleAndReduce,
    copy: InterWarpCopy,
    store: ListGlobal,
    combine_into: ListGlobal,
    load: ListGlobal,
    combine_from: ListGlobal,
) -> i32 {
    let Some(caller) = caller() else { return 0 };
    let reduction = Reduction { list, bytes, shuffle, copy };
    let buffer = Buffer { start: buffer, slots, store, combine_into, load, combine_from };
    // SAFETY: the launch of a kernel with such a reduction has an environment.
    let counters = unsafe { counters(kernel::launch_environment()) };
    // SAFETY: as the caller says.
    let reduce = || unsafe { grid::reduce(Gpu, &reduction, &buffer, counters, caller) };
    share::alone(reduce).into()
}

/// The same as clang calls it from 23 on: the launch has a slot for each team, in a buffer that its
/// environment names, so no team combines into what another one has left.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn __kmpc_gpu_xteam_reduce_nowait(
    _: *const Location,
    list: *mut c_void,
    shuffle: ShuffleAndReduce,
    copy: InterWarpCopy,
    store: ListGlobal,
    load: ListGlobal,
    combine_from: ListGlobal,
) -> i32 {
    let Some(caller) = caller() else { return 0 };
    // One team has the result already, and its launch need not have an environment.
    if caller.teams == 1 {
        return i32::from(caller.thread == 0);
    }
    let environment = kernel::launch_environment().cast::<LaunchEnvironmentOfClang23>();
    let bytes = u64::from(kernel::bytes_of_reductions());
    let reduction = Reduction { list, bytes, shuffle, copy };
    // SAFETY: the launch of a kernel with such a reduction has an environment, whose counter is only
    // used as an atomic one.
    let (start, done) = unsafe {
        let done = AtomicU32::from_ptr(ptr::addr_of_mut!((*environment).reduction_count));
        ((*environment).reduction_buffer, done)
    };
    let buffer = Buffer { start, slots: caller.teams, store, combine_into: store, load, combine_from };
    // With one round there is nothing that the second counter would count.
    let counters = Counters { done, complete: done };
    // SAFETY: as the caller says.
    let reduce = || unsafe { grid::reduce(Gpu, &reduction, &buffer, counters, caller) };
    share::alone(reduce).into()
}

/// Which threads of which team call a reduction across teams; `None` if this one has no part in it.
#[inline(always)]
fn caller() -> Option<Caller> {
    let (thread, threads) = if lists_are_private() {
        (target::thread_id(), target::threads_in_block())
    } else if kernel::is_spmd() && target::thread_id() != 0 {
        return None;
    } else {
        (0, 1)
    };
    Some(Caller { thread, threads, team: target::block_id(), teams: target::blocks_in_grid() })
}

/// Whether the lists of a `teams` reduction name variables of each thread.
///
/// In a kernel that is generic in the source they are the team's: often in shared memory, also
/// where LLVM has made all threads run the kernel. Then only the initial thread may change them;
/// without LLVM's help no other one is here.
#[inline(always)]
fn lists_are_private() -> bool {
    // SAFETY: the environment is the constant that belongs to the kernel.
    unsafe { (*kernel::environment()).configuration.mode == mode::SPMD }
}

/// # Safety
/// The environment is that of the launch.
#[inline(always)]
unsafe fn counters<'a>(environment: *mut LaunchEnvironment) -> Counters<'a> {
    // SAFETY: the counters are words of the environment that are only used as atomic ones.
    unsafe {
        Counters {
            done: AtomicU32::from_ptr(ptr::addr_of_mut!((*environment).reduction_count)),
            complete: AtomicU32::from_ptr(ptr::addr_of_mut!((*environment).reduction_iteration_count)),
        }
    }
}

/// The buffer that the host has made for the reductions of this launch.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_reduction_get_fixed_buffer() -> *mut c_void {
    // SAFETY: the launch of a kernel with such a reduction has an environment.
    unsafe { (*kernel::launch_environment()).reduction_buffer }
}

/// The lanes of this warp that take part in what is reduced: those of the parallel region, or of
/// the block outside of one.
#[inline(always)]
fn participants() -> target::Mask {
    let place = Place::current();
    let threads = if place.level() == 0 { target::threads_in_block() } else { place.size() };
    let first = target::thread_id() & !(target::warp_size() - 1);
    if threads - first >= target::warp_size() { !0 } else { (1 << (threads - first)) - 1 }
}

/// The value of the lane `offset` further on, in a segment of `width` lanes.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_shuffle_int32(value: i32, offset: i16, width: i16) -> i32 {
    let (value, offset, width) = (value.cast_unsigned(), offset as u32, width as u32);
    target::shuffle_down(participants(), value, offset, width).cast_signed()
}

/// The same for 64 bits.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_shuffle_int64(value: i64, offset: i16, width: i16) -> i64 {
    let (offset, width) = (offset as u32, width as u32);
    shuffle_down_64(participants(), value.cast_unsigned(), offset, width).cast_signed()
}
