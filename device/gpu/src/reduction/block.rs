//! The reduction inside one block: every warp by itself, then the warps' results in warp 0.

use super::callbacks::Reduction;
use super::warp;
use crate::target::{lane_of, warp_of, warp_size};

/// Combines the lists of a team's `threads` threads, all of which call it. Thread 0 gets the result.
///
/// # Safety
/// As [`Reduction::step`]; the threads are the first ones of the block, and those that the barriers
/// of the copy function wait for.
#[inline(always)]
pub unsafe fn reduce(reduction: &Reduction, thread: u32, threads: u32) -> bool {
    let (warp, lane) = (warp_of(thread), lane_of(thread));
    // The first test costs nothing where the number of threads is known.
    let here =
        if lane_of(threads) == 0 { warp_size() } else { (threads - warp * warp_size()).min(warp_size()) };
    // SAFETY: the caller's promise covers this warp.
    unsafe { within_warp(reduction, lane, here) };
    if threads > warp_size() {
        let warps = warp_of(threads + warp_size() - 1);
        // SAFETY: the caller vouches for the function; all threads that its barriers count call it.
        unsafe { (reduction.copy)(reduction.list, warps as i32) };
        if warp == 0 {
            // SAFETY: the caller's promise covers warp 0; a block has at most 32 warps.
            unsafe { warp::contiguous(reduction, lane, warps) };
        }
    }
    thread == 0
}

/// Combines the lists of a warp's first `holders` lanes; further ones may call along.
///
/// # Safety
/// As [`Reduction::step`]; at least these lanes call it.
#[inline(always)]
pub unsafe fn within_warp(reduction: &Reduction, lane: u32, holders: u32) {
    // Both algorithms combine the same lanes in the same order. The second one serves all numbers.
    if holders == warp_size() && !reduction.is_large() {
        // SAFETY: all lanes call.
        unsafe { warp::full(reduction) };
    } else {
        // SAFETY: the caller's promise is this function's.
        unsafe { warp::contiguous(reduction, lane, holders) };
    }
}
