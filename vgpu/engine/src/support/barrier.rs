//! Lanes that come to a barrier of their block.

use gangway_interpreter::FaultKind;

use super::helper::{fault, run};
use super::host::Ticket;
use super::lanes::{lanes, narrow, narrow_mut};
use super::schedule::choose;
use super::waiting::park;
use crate::abi::Warp;
use crate::frame::Frame;

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

/// Lanes come to a barrier and go on.
pub(super) unsafe extern "C" fn arrive(warp: *mut Warp, mask: u64, flags: u64) {
    // SAFETY: compiled code passes its warp.
    unsafe { run(warp, |warp| Arriving::new(warp, flags).arrive(warp, mask as u32, |_, _, _| {})) }
}
