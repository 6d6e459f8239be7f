//! The reduction over all teams: each leaves its list in a slot of a buffer, and the team that
//! comes last combines the slots.
//!
//! No value is touched by two teams at the same time, so nothing is atomic but two counters. Which
//! team is the last one changes from run to run; what it combines, and in which order, does not.

use core::sync::atomic::{AtomicU32, Ordering};

use super::block;
use super::callbacks::{Buffer, Reduction};
use super::machine::Machine;
use crate::target::{lane_of, warp_of, warp_size};

/// The counters of one launch, both zero before it and after it.
#[derive(Clone, Copy)]
pub struct Counters<'a> {
    /// Teams that have left their list.
    pub done: &'a AtomicU32,
    /// Teams of all rounds that are complete. Team `t` may write once this exceeds `t - slots`.
    pub complete: &'a AtomicU32,
}

/// Where the calling thread is.
#[derive(Clone, Copy)]
pub struct Place {
    /// Number of the thread among those of its team that call.
    pub thread: u32,
    /// How many threads of the team call: all of the block, or only the initial thread.
    pub threads: u32,
    pub team: u32,
    pub teams: u32,
}

/// Combines the lists that thread 0 of each team holds. The answer is true for one thread of the
/// launch, whose list then holds the result.
///
/// If there are more teams than slots, team `t` combines its list into what team `t - slots` has
/// left, after a whole round of teams has been there. It waits for teams of lower numbers only,
/// which the device starts earlier.
///
/// # Safety
/// The list, the buffer and the functions belong to one clause. All threads in `place.threads`
/// call this, in every team of the launch.
#[inline(always)]
pub unsafe fn reduce<M: Machine>(
    machine: M,
    reduction: &Reduction,
    buffer: &Buffer,
    counters: Counters<'_>,
    place: Place,
) -> bool {
    let Place { thread, threads, teams, .. } = place;
    // The list of a single team's thread 0 is the result.
    if teams == 1 {
        return thread == 0;
    }
    // SAFETY: thread 0 has its team's list; the counters keep other teams off the slot.
    let mut last = thread == 0 && unsafe { leave(machine, reduction, buffer, counters, place) };
    if threads > 1 {
        last = machine.any_in_block(last);
    }
    if !last {
        return false;
    }
    // Each thread reads what other teams have written.
    machine.fence();
    let used = teams.min(buffer.slots);
    let mut slot = thread;
    if slot < used {
        // SAFETY: the slot is inside the buffer, and no team writes any more.
        unsafe { (buffer.load)(buffer.start, slot as i32, reduction.list) };
        slot += threads;
    }
    while slot < used {
        // SAFETY: as above.
        unsafe { (buffer.combine_from)(buffer.start, slot as i32, reduction.list) };
        slot += threads;
    }
    if thread == 0 {
        counters.done.store(0, Ordering::Relaxed);
        counters.complete.store(0, Ordering::Relaxed);
    }
    if threads > 1 {
        // SAFETY: all threads of the block are here, and those below `used` have a list.
        unsafe { combine(machine, reduction, buffer, thread, threads.min(used)) };
    }
    thread == 0
}

/// Combines the lists of the block's first `holders` threads, as [`block::reduce`] does.
///
/// The warps' results go to warp 0 through the buffer, which nobody needs any more: two barriers
/// for a list of any length. The copy function would have two for each word, and they would be
/// those of a parallel region, which this is not.
///
/// # Safety
/// All threads of the block call it, and those below `holders` have a list.
#[inline(always)]
unsafe fn combine<M: Machine>(machine: M, reduction: &Reduction, buffer: &Buffer, thread: u32, holders: u32) {
    let (warp, lane) = (warp_of(thread), lane_of(thread));
    let here = holders.saturating_sub(warp * warp_size()).min(warp_size());
    // SAFETY: the caller's promise covers this warp.
    unsafe { block::within_warp(reduction, lane, here) };
    if holders <= warp_size() {
        return;
    }
    let warps = warp_of(holders + warp_size() - 1);
    machine.barrier();
    if lane == 0 && warp < warps {
        // SAFETY: there are at least as many slots as holders, and all threads have read theirs.
        unsafe { (buffer.store)(buffer.start, warp as i32, reduction.list) };
    }
    machine.barrier();
    if warp == 0 {
        if lane < warps {
            // SAFETY: lane 0 of that warp has left its list there.
            unsafe { (buffer.load)(buffer.start, lane as i32, reduction.list) };
        }
        // SAFETY: the caller's promise covers warp 0.
        unsafe { block::within_warp(reduction, lane, warps) };
    }
}

/// Leaves the list of a team in its slot. Returns whether all others have done so.
///
/// # Safety
/// One thread of each team calls this once per launch.
#[inline(always)]
unsafe fn leave<M: Machine>(
    machine: M,
    reduction: &Reduction,
    buffer: &Buffer,
    counters: Counters<'_>,
    place: Place,
) -> bool {
    let Place { team, teams, .. } = place;
    let slots = buffer.slots;
    let first = team - team % slots;
    let slot = (team % slots) as i32;
    if first == 0 {
        // SAFETY: no other team has this slot in the first round.
        unsafe { (buffer.store)(buffer.start, slot, reduction.list) };
    } else {
        while counters.complete.load(Ordering::Relaxed) < first {
            machine.spin();
        }
        machine.fence();
        // SAFETY: the teams of earlier rounds are done, and those of later ones wait.
        unsafe { (buffer.combine_into)(buffer.start, slot, reduction.list) };
    }
    // The list is written before the team counts as done.
    machine.fence();
    let done = counters.done.fetch_add(1, Ordering::Relaxed) + 1;
    if done == teams {
        return true;
    }
    // Teams of the next round do not count before this one is complete, so `done` is exact.
    if done == first + slots {
        machine.fence();
        counters.complete.store(done, Ordering::Relaxed);
    }
    false
}
