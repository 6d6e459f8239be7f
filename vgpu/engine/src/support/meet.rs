//! Collective instructions at which lanes wait for each other.
//!
//! Mostly all lanes of a mask come to the same one together, and compiled code does it. But a lane
//! of the mask may be in another function, or in another call of the same one. Then what lanes
//! bring is put down when they come, and they get their results when the last has come. As the ISA
//! has it, they need not be at the same instruction, only at one of the same form with the same
//! mask.

use gangway_interpreter::FaultKind;

use super::collective::{MEETS, together};
use super::compute::inputs_of;
use super::helper::{fault, run};
use super::lanes::{lanes, narrow};
use super::waiting::{park, released, wait};
use crate::abi::Warp;
use crate::frame::Frame;

/// Lanes come to the collective instruction that a block begins with; `place` has both. What they
/// bring is in `values`, at the end the masks of those that they wait for. The low bits of `wide`
/// say which values have 64 bits, the bits above 32 how many there are. Those that can go on, or
/// none.
pub(super) unsafe extern "C" fn meet(
    warp: *mut Warp,
    frame: *mut Frame,
    place: u64,
    opcode: u64,
    wide: u64,
) -> u64 {
    // SAFETY: compiled code passes its warp, its own frame and one of its blocks.
    unsafe {
        run(warp, |warp| {
            let (block, mask) = ((place >> 32) as u32, place as u32);
            let form = &warp.host().module().opcodes[opcode as usize];
            let mut inputs = warp.waiting.inputs;
            inputs_of(warp, form, wide, mask, &mut inputs);
            warp.waiting.inputs = inputs;
            let masks = *narrow(&warp.values[((wide >> 32) as usize).saturating_sub(1).min(4)]);
            for lane in lanes(mask) {
                let members = masks[lane];
                if members >> lane & 1 == 0 {
                    fault(warp, 1 << lane, FaultKind::NotInMask(members));
                }
                warp.waiting.waits_for[lane] = members;
                warp.waiting.generation[lane] = MEETS;
                warp.waiting.opcode[lane] = opcode as u32;
            }
            warp.waiting.meeting |= mask;
            park(warp, frame, block, mask);
            match released(warp, frame, block) {
                Some(chosen) if (chosen >> 32) as u32 == block => {
                    requeue(warp, frame, block);
                    u64::from(chosen as u32)
                }
                // Those have been dealt with otherwise, or are behind the barrier at the end of the
                // same block: they are found again.
                Some(chosen) => {
                    let lanes = chosen as u32;
                    *Frame::parked(frame, block) |= lanes;
                    (*frame).parked |= lanes;
                    0
                }
                None => 0,
            }
        })
    }
}

/// Lets other sets of lanes that are complete at the same instruction come to it again, before
/// anybody goes on to later blocks: behind it they are together, as they were in front of it.
///
/// # Safety
///
/// As for [`wait`].
unsafe fn requeue(warp: &mut Warp, frame: *mut Frame, block: u32) {
    // SAFETY: as the caller says.
    unsafe {
        let parked = *Frame::parked(frame, block);
        let meets = lanes(parked & warp.waiting.meeting);
        let whole = |&lane: &usize| together(warp, lane).is_some_and(|all| all & !parked == 0);
        let complete = meets.filter(whole).fold(0u32, |set, lane| set | 1 << lane);
        if complete != 0 {
            *Frame::parked(frame, block) &= !complete;
            (*frame).parked &= !complete;
            warp.waiting.meeting &= !complete;
            wait(frame, block, complete);
        }
    }
}
