//! The team of a parallel region, as far as `ordered` needs it.
//!
//! flang lowers a loop with `ordered` like any other loop here and brackets the
//! ordered parts with `__kmpc_ordered` and `__kmpc_end_ordered`. libomp's
//! functions of that name know only its own loops and would let every thread
//! through. Without chunks, threads have consecutive parts of a loop in their
//! order, so a thread's turn comes when those before it have finished theirs.
//!
//! [`crate::parallel`] makes a [`Team`] per region and a [`Membership`] per
//! thread; [`crate::workshare`] says when a thread enters and leaves a loop.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::fatal::fatal;
use crate::hidden;
use crate::libomp::{
    GOMP_ordered_end, GOMP_ordered_start, Location, omp_get_level, omp_get_num_threads, omp_get_thread_num,
    sched_yield,
};
use crate::thread;

/// Members beyond this many cannot take part in an ordered loop. A fixed size
/// keeps a region free of allocation.
const ORDERED_MEMBERS: usize = 256;

/// What the threads of a region share.
pub struct Team {
    /// How many loops each thread has finished. All threads of a team meet the
    /// same loops in the same order, so equal counts mean the same loop.
    finished: [AtomicU32; ORDERED_MEMBERS],
}

impl Team {
    /// A team that has not met a loop yet.
    pub const fn new() -> Team {
        Team { finished: [const { AtomicU32::new(0) }; ORDERED_MEMBERS] }
    }
}

/// The loop that a thread is in.
#[derive(Clone, Copy, PartialEq)]
enum Progress {
    Outside,
    InChunks,
    InOrder,
}

/// A thread's place in a team; lives on its stack while it runs the region.
pub struct Membership<'a> {
    team: &'a Team,
    level: i32,
    loops: Cell<u32>,
    progress: Cell<Progress>,
}

/// Runs `region` as a member of `team`.
pub fn as_member(team: &Team, region: impl FnOnce()) {
    let membership = Membership {
        team,
        // SAFETY: a query without preconditions.
        level: unsafe { omp_get_level() },
        loops: Cell::new(0),
        progress: Cell::new(Progress::Outside),
    };
    let outer = thread::set_membership((&raw const membership).cast());
    region();
    thread::set_membership(outer);
}

/// The calling thread's place in the innermost region, if that is one of this
/// crate's: C code in the same image forks by itself.
///
/// # Safety
/// The result is not used after the thread leaves the region.
unsafe fn current() -> Option<&'static Membership<'static>> {
    // SAFETY: a membership stays on its thread's stack until the region ends.
    let membership = unsafe { thread::membership().cast::<Membership<'static>>().as_ref() }?;
    // SAFETY: a query without preconditions.
    (membership.level == unsafe { omp_get_level() }).then_some(membership)
}

/// Runs `share`, the calling thread's part of a worksharing loop.
pub fn in_loop(chunked: bool, share: impl FnOnce()) {
    // SAFETY: not used after this function.
    let Some(membership) = (unsafe { current() }) else {
        return share();
    };
    let number = membership.loops.get().wrapping_add(1);
    membership.loops.set(number);
    membership.progress.set(if chunked { Progress::InChunks } else { Progress::InOrder });
    share();
    membership.progress.set(Progress::Outside);
    // SAFETY: a query without preconditions.
    let thread = unsafe { omp_get_thread_num() };
    if let Some(finished) = membership.team.finished.get(thread as usize) {
        finished.store(number, Ordering::Release);
    }
}

/// Waits until the ordered parts of all iterations before the calling thread's
/// have been done.
///
/// # Safety
/// Called by a thread of a team, in a loop.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_ordered(_location: *const Location, _thread: i32) {
    // SAFETY: not used after this function.
    let membership = match unsafe { current() } {
        Some(membership) if membership.progress.get() != Progress::Outside => membership,
        // One of libomp's loops: its function by another name.
        // SAFETY: as this function's.
        _ => return unsafe { GOMP_ordered_start() },
    };
    // SAFETY: queries without preconditions.
    let (thread, size) = unsafe { (omp_get_thread_num() as usize, omp_get_num_threads() as usize) };
    if size == 1 {
        return;
    }
    if membership.progress.get() == Progress::InChunks || size > ORDERED_MEMBERS {
        fatal(
            c"gangway: an ordered loop in a target region must have no chunk size and at most 256 threads\n",
        );
    }
    let number = membership.loops.get();
    for before in membership.team.finished.iter().take(thread) {
        // The counts may wrap, so they are compared by difference.
        while (before.load(Ordering::Acquire).wrapping_sub(number) as i32) < 0 {
            // SAFETY: gives the processor to a thread that may be waiting for it.
            unsafe { sched_yield() };
        }
    }
}

/// Ends an ordered part; the thread keeps its turn for its next iterations.
///
/// # Safety
/// As [`__kmpc_ordered`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_end_ordered(_location: *const Location, _thread: i32) {
    // SAFETY: not used after this function.
    let ours = unsafe { current() }.is_some_and(|member| member.progress.get() != Progress::Outside);
    if !ours {
        // SAFETY: as this function's.
        unsafe { GOMP_ordered_end() };
    }
}

hidden!(__kmpc_ordered, __kmpc_end_ordered);
