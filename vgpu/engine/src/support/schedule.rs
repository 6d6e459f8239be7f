//! Which lanes of a warp go on, in functions that run under a mask. Lanes that spin take turns with
//! those that they spin for.

use super::frames;
use super::helper::run;
use super::waiting::{released, take, wait, wait_for_barriers};
use crate::abi::Warp;
use crate::frame::{Frame, chosen};

/// Chooses the lanes that go on. None do when all have returned or exited, or when those of other
/// functions have to go on first.
///
/// # Safety
///
/// As for [`take`].
pub(super) unsafe fn choose(warp: &mut Warp, frame: *mut Frame) -> u64 {
    // SAFETY: as the caller says.
    unsafe {
        loop {
            if let Some(chosen) = take(frame, 0) {
                return chosen;
            }
            if (*frame).held != 0 {
                (*frame).waiting = std::mem::take(&mut (*frame).held);
                continue;
            }
            let parked = (*frame).parked;
            if parked == 0 {
                return 0;
            }
            for block in 0..(*frame).blocks {
                if *Frame::parked(frame, block) != 0
                    && let Some(chosen) = released(warp, frame, block)
                {
                    return chosen;
                }
            }
            if !frames::is_alone(warp, frame) {
                return 0;
            }
            wait_for_barriers(warp, parked);
        }
    }
}

/// Chooses the lanes that go on.
pub(super) unsafe extern "C" fn next(warp: *mut Warp, frame: *mut Frame) -> u64 {
    // SAFETY: compiled code passes its warp and its own frame.
    unsafe { run(warp, |warp| choose(warp, frame)) }
}

/// So many rations of fuel do lanes compute for before others of the warp have their turn, where
/// nothing says that they wait for these: at least a million steps back.
const RATIONS: u32 = 1024;

/// Whether lanes that have spent their fuel in a loop may have waited for other lanes of the warp.
///
/// Lanes that merely compute are better not interrupted. Those behind their loop may call a
/// function and wait in it for all lanes, but lanes that are outside of the function cannot come.
fn may_have_waited(warp: &mut Warp, frame: *const Frame, block: u32) -> bool {
    let spins = std::mem::take(&mut warp.spins);
    // What was done before the loop says nothing of it, so it must have taken a whole ration.
    let frame = frame.addr() as u64;
    let stayed = warp.spent_in == frame && warp.spent_at == block;
    (warp.spent_in, warp.spent_at) = (frame, block);
    warp.rations += 1;
    let waited = stayed && spins != 0 || warp.rations >= RATIONS;
    if waited {
        warp.rations = 0;
    }
    waited
}

/// Fuel is spent by lanes that step back to `block`; or no lane is to wait there, when there is no
/// such block. Other warps have their turn, then others of this warp: without the lanes that
/// were in front of them. Otherwise lanes that spin would never let those behind the loop go on.
pub(super) unsafe extern "C" fn step_back(warp: *mut Warp, frame: *mut Frame, block: u64, lanes: u64) -> u64 {
    // SAFETY: compiled code passes its warp, its own frame and one of its blocks.
    unsafe {
        run(warp, |warp| {
            warp.host().turn(warp);
            let block = block as u32;
            if block < (*frame).blocks && !may_have_waited(warp, frame, block) {
                return chosen(block, lanes as u32);
            }
            (*frame).waiting |= std::mem::take(&mut (*frame).held);
            if block >= (*frame).blocks {
                return choose(warp, frame);
            }
            if frames::rest(warp, frame) {
                wait(frame, block, lanes as u32);
                return 0;
            }
            if (*frame).waiting == 0 && (*frame).parked == 0 {
                return chosen(block, lanes as u32);
            }
            wait(frame, block, lanes as u32);
            // Collective instructions may be complete by now, and barriers.
            let parked = (0..(*frame).blocks).filter(|&block| *Frame::parked(frame, block) != 0);
            for parked in parked.collect::<Vec<u32>>() {
                if let Some(chosen) = released(warp, frame, parked) {
                    return chosen;
                }
            }
            let other = take(frame, block + 1);
            let chosen = match other.or_else(|| take(frame, 0)) {
                Some(chosen) => chosen,
                None => choose(warp, frame),
            };
            (*frame).held = std::mem::take(&mut (*frame).waiting);
            chosen
        })
    }
}

/// Fuel is spent by all lanes: other warps have their turn.
pub(super) unsafe extern "C" fn turn(warp: *mut Warp) {
    // SAFETY: compiled code passes its warp.
    unsafe { run(warp, |warp| warp.host().turn(warp)) }
}
