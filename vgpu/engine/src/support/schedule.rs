//! Which lanes of a warp go on, in functions that run under a mask. Lanes wait for others at
//! collective instructions and at barriers. Lanes that spin take turns with those that they spin
//! for.
//!
//! What is chosen is told as a number: the block in the upper half, the lanes in the lower. Behind
//! the numbers of blocks come those of the places behind their barriers.

use gangway_interpreter::FaultKind;

use super::meet::{self, EXCHANGED, MEETS};
use super::{fault, frames, lanes, narrow, narrow_mut, run};
use crate::abi::Warp;
use crate::frame::{Frame, behind, chosen, exchanged, group};
use crate::support::Ticket;

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
unsafe fn take(frame: *mut Frame, from: u32) -> Option<u64> {
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
                    let Some(all) = meet::together(warp, first) else { continue };
                    if all & *parked == all {
                        // No lane is elsewhere: they do it at once.
                        warp.waiting.meeting &= !all;
                        set = all;
                        block
                    } else {
                        meet::exchange_all(warp, all);
                        set &= all;
                        meet::give(warp, set);
                        exchanged(blocks, block)
                    }
                }
                EXCHANGED => {
                    meet::give(warp, set);
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
        MEETS => meet::together(warp, lane).is_some(),
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

/// Chooses the lanes that go on. None do when all have returned or exited, or when those of other
/// functions have to go on first.
///
/// # Safety
///
/// As for [`take`].
unsafe fn choose(warp: &mut Warp, frame: *mut Frame) -> u64 {
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

/// What compiled code has left of a barrier: for each lane its number, and how many threads it is
/// for.
struct Arriving {
    numbers: [u32; 32],
    counts: Option<[u32; 32]>,
    holds: u32,
}

impl Arriving {
    fn new(warp: &Warp, flags: u64) -> Self {
        Arriving {
            numbers: *narrow(&warp.values[0]),
            counts: (flags & 1 != 0).then(|| *narrow(&warp.values[1])),
            holds: if flags & 2 != 0 { warp.values[2][0] as u32 } else { 0 },
        }
    }

    /// Lets the lanes of `mask` arrive, all for the same barrier together; tells `parks` of each
    /// such set.
    fn arrive(&self, warp: &mut Warp, mask: u32, mut parks: impl FnMut(&mut Warp, u32, Ticket)) {
        let count = |lane: usize| self.counts.as_ref().map(|counts| counts[lane]);
        let mut rest = mask;
        while rest != 0 {
            let first = rest.trailing_zeros() as usize;
            let same =
                |&lane: &usize| self.numbers[lane] == self.numbers[first] && count(lane) == count(first);
            let set = lanes(rest).filter(same).fold(0u32, |set, lane| set | 1 << lane);
            rest &= !set;
            if self.numbers[first] >= 16 {
                fault(warp, set, FaultKind::BadTarget(self.numbers[first].into()));
            }
            let holds = (set & self.holds).count_ones();
            // SAFETY: the warp runs.
            let host = unsafe { warp.host() };
            let ticket = host.arrive(warp, self.numbers[first], count(first), set, holds);
            parks(warp, set, ticket);
        }
    }
}

/// Lanes come to the barrier at the end of `block`. Who goes on.
pub(super) unsafe extern "C" fn barrier(
    warp: *mut Warp,
    frame: *mut Frame,
    block: u64,
    mask: u64,
    flags: u64,
) -> u64 {
    // SAFETY: compiled code passes its warp, its own frame and one of its blocks.
    unsafe {
        run(warp, |warp| {
            let (block, mask) = (block as u32, mask as u32);
            Arriving::new(warp, flags).arrive(warp, mask, |warp, set, ticket| {
                for lane in lanes(set) {
                    warp.waiting.waits_for[lane] = ticket.barrier;
                    warp.waiting.generation[lane] = ticket.generation;
                }
            });
            park(warp, frame, block, mask);
            choose(warp, frame)
        })
    }
}

/// All lanes come to a barrier, and go on when it is complete: each has in `results` what it came
/// to.
pub(super) unsafe extern "C" fn barrier_all(warp: *mut Warp, flags: u64) {
    // SAFETY: compiled code passes its warp.
    unsafe {
        run(warp, |warp| {
            let mut tickets = Vec::new();
            Arriving::new(warp, flags).arrive(warp, u32::MAX, |_, set, ticket| tickets.push((set, ticket)));
            for (set, ticket) in tickets {
                let arrivals = loop {
                    match warp.host().passed(warp, ticket) {
                        Some(arrivals) => break arrivals,
                        None => warp.host().wait(warp, set),
                    }
                };
                for lane in lanes(set) {
                    narrow_mut(&mut warp.results[0])[lane] = arrivals.holds;
                    narrow_mut(&mut warp.results[1])[lane] = arrivals.arrived;
                }
            }
        });
    }
}

/// Fuel is spent by all lanes: other warps have their turn.
pub(super) unsafe extern "C" fn turn(warp: *mut Warp) {
    // SAFETY: compiled code passes its warp.
    unsafe { run(warp, |warp| warp.host().turn(warp)) }
}

/// Lanes come to a barrier and go on.
pub(super) unsafe extern "C" fn arrive(warp: *mut Warp, mask: u64, flags: u64) {
    // SAFETY: compiled code passes its warp.
    unsafe { run(warp, |warp| Arriving::new(warp, flags).arrive(warp, mask as u32, |_, _, _| {})) }
}
