//! Lanes of a function that wait in its frame: to enter a block, or parked where they wait for
//! others at a collective instruction or a barrier.
//!
//! Lanes that can go on are told as a number: the block in the upper half, the lanes in the lower.
//! Behind the numbers of blocks come those of the places behind their barriers.

use gangway_interpreter::FaultKind;

use super::collective::{self, EXCHANGED, MEETS};
use super::helper::fault;
use super::host::Ticket;
use super::lanes::{lanes, narrow_mut};
use crate::abi::Warp;
use crate::frame::{Frame, behind, chosen, exchanged, group};

/// Clears a part of a frame.
pub(super) unsafe extern "C" fn clear(_warp: *mut Warp, frame: *mut u8, size: u64) {
    // SAFETY: compiled code passes its own frame.
    unsafe { std::ptr::write_bytes(frame, 0, size as usize) }
}

/// Makes the frame of converged code ready for masked code: no lane waits anywhere.
pub(super) unsafe extern "C" fn prepare(_warp: *mut Warp, frame: *mut Frame, blocks: u64) {
    // SAFETY: compiled code passes its own frame, in which the masks of its blocks follow.
    unsafe { Frame::empty(frame, blocks as u32) }
}

/// Takes the lanes that wait for the first block from `from` on.
///
/// # Safety
///
/// The frame is one of compiled code that has called.
pub(super) unsafe fn take(frame: *mut Frame, from: u32) -> Option<u64> {
    // SAFETY: blocks are counted in the frame, and the masks follow it.
    unsafe {
        let blocks = (*frame).blocks;
        let size = group(blocks);
        let mut rest = (*frame).waiting & (u64::MAX << (from / size).min(63));
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let members = bit * size..(bit * size + size).min(blocks);
            let waits = |&block: &u32| *Frame::pending(frame, block) != 0;
            // A group's blocks before `from` are not meant.
            let first = members.clone().filter(waits).find(|&block| block >= from);
            if !members.filter(waits).any(|block| Some(block) != first) {
                (*frame).waiting &= !(1 << bit);
            }
            if let Some(block) = first {
                return Some(chosen(block, std::mem::take(&mut *Frame::pending(frame, block))));
            }
        }
        None
    }
}

/// Adds lanes to those that wait for a block.
///
/// # Safety
///
/// As for [`take`], and there is such a block.
pub(super) unsafe fn wait(frame: *mut Frame, block: u32, lanes: u32) {
    // SAFETY: as the caller says.
    unsafe {
        *Frame::pending(frame, block) |= lanes;
        (*frame).waiting |= 1 << (block / group((*frame).blocks));
    }
}

/// Those of `parked` that wait for the same as `lane`.
fn alike(warp: &Warp, parked: u32, lane: usize) -> u32 {
    let waiting = &warp.waiting;
    let same = |&other: &usize| {
        waiting.waits_for[other] == waiting.waits_for[lane]
            && waiting.generation[other] == waiting.generation[lane]
    };
    lanes(parked).filter(same).fold(0, |set, lane| set | 1 << lane)
}

/// Lanes parked in `block` that can go on: those that meet, or those behind a barrier.
///
/// # Safety
///
/// As for [`wait`].
pub(super) unsafe fn released(warp: &mut Warp, frame: *mut Frame, block: u32) -> Option<u64> {
    // SAFETY: as the caller says.
    unsafe {
        let (parked, blocks) = (Frame::parked(frame, block), (*frame).blocks);
        let mut rest = *parked;
        while rest != 0 {
            let first = rest.trailing_zeros() as usize;
            let mut set = alike(warp, rest, first);
            rest &= !set;
            let place = match warp.waiting.generation[first] {
                MEETS => {
                    let Some(all) = collective::together(warp, first) else { continue };
                    if all & *parked == all {
                        // No lane is elsewhere: they do it at once.
                        warp.waiting.meeting &= !all;
                        set = all;
                        block
                    } else {
                        collective::exchange_all(warp, all);
                        set &= all;
                        collective::give(warp, set);
                        exchanged(blocks, block)
                    }
                }
                EXCHANGED => {
                    collective::give(warp, set);
                    exchanged(blocks, block)
                }
                generation => {
                    let ticket = Ticket { barrier: warp.waiting.waits_for[first], generation };
                    let Some(arrivals) = warp.host().passed(warp, ticket) else { continue };
                    for lane in lanes(set) {
                        narrow_mut(&mut warp.results[0])[lane] = arrivals.holds;
                        narrow_mut(&mut warp.results[1])[lane] = arrivals.arrived;
                    }
                    behind(blocks, block)
                }
            };
            *parked &= !set;
            (*frame).parked &= !set;
            return Some(chosen(place, set));
        }
        None
    }
}

/// Whether any of the lanes that are parked can go on.
pub(super) fn is_released(warp: &mut Warp, parked: u32) -> bool {
    lanes(parked).any(|lane| match warp.waiting.generation[lane] {
        MEETS => collective::together(warp, lane).is_some(),
        EXCHANGED => true,
        generation => {
            let ticket = Ticket { barrier: warp.waiting.waits_for[lane], generation };
            // SAFETY: the warp runs.
            unsafe { warp.host() }.passed(warp, ticket).is_some()
        }
    })
}

/// Waits until a barrier of the block may have been completed, for lanes that are parked. If all of
/// them wait for others of the warp, nobody will ever come.
pub(super) fn wait_for_barriers(warp: &mut Warp, parked: u32) {
    let blamed = parked.trailing_zeros() as usize & 31;
    warp.called_from = warp.waiting.place[blamed];
    if lanes(parked).all(|lane| matches!(warp.waiting.generation[lane], MEETS | EXCHANGED)) {
        fault(warp, parked, FaultKind::Deadlock);
    }
    // SAFETY: the warp runs.
    unsafe { warp.host() }.wait(warp, parked);
}

/// Parks lanes at the end or the beginning of a block; what they wait for is known.
///
/// # Safety
///
/// As for [`wait`].
pub(super) unsafe fn park(warp: &mut Warp, frame: *mut Frame, block: u32, mask: u32) {
    for lane in lanes(mask) {
        warp.waiting.place[lane] = warp.called_from;
    }
    // SAFETY: as the caller says.
    unsafe {
        *Frame::parked(frame, block) |= mask;
        (*frame).parked |= mask;
    }
}
