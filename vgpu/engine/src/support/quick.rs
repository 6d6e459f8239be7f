//! Shuffles and votes, which GCC's code is full of, without the detour over 64-bit values for each
//! lane. What they mean is the interpreter's `exchange`, which the tests compare with.

use gangway_ptx::meaning::{ExchangeOperation, Shuffle, Vote};

use super::lanes::{narrow, narrow_mut};
use crate::abi::Warp;

/// Computes a collective instruction for the lanes of `members` if it is one of the frequent ones.
/// `wide` says which values have 64 bits.
pub(super) fn exchange(op: ExchangeOperation, members: u32, wide: u32, warp: &mut Warp) -> bool {
    match op {
        ExchangeOperation::Shuffle(mode) if wide & 7 == 0 => shuffle(mode, members, warp),
        ExchangeOperation::Vote(mode) => vote(mode, members, warp),
        ExchangeOperation::Shuffle(_)
        | ExchangeOperation::MatchAny(_)
        | ExchangeOperation::MatchAll(_)
        | ExchangeOperation::Reduce(..)
        | ExchangeOperation::Elect
        | ExchangeOperation::Meet => return false,
    }
    true
}

/// PTX ISA 9.7.9.6.
fn shuffle(mode: Shuffle, members: u32, warp: &mut Warp) {
    match mode {
        Shuffle::Index => take(members, warp, |lane, distance, segments, bound| {
            let source = (lane & segments) | (distance & !segments);
            (source, source <= bound)
        }),
        Shuffle::Down => {
            take(members, warp, |lane, distance, _, bound| (lane + distance, lane + distance <= bound));
        }
        Shuffle::Up => {
            take(members, warp, |lane, distance, _, bound| (lane - distance, lane - distance >= bound));
        }
        Shuffle::Butterfly => {
            take(members, warp, |lane, distance, _, bound| (lane ^ distance, (lane ^ distance) <= bound));
        }
    }
}

/// Takes each lane's value from the one that `source` tells, by the lane, the distance, the mask of
/// the segment and its bound; and whether it tells one.
#[inline]
fn take(members: u32, warp: &mut Warp, source: impl Fn(i32, i32, i32, i32) -> (i32, bool)) {
    let (values, b, c) = (*narrow(&warp.values[0]), *narrow(&warp.values[1]), *narrow(&warp.values[2]));
    let mut inside = 0u32;
    let results = narrow_mut(&mut warp.results[0]);
    for lane in 0..32i32 {
        let at = lane as usize;
        let (distance, segments, bound) =
            ((b[at] & 31) as i32, (c[at] >> 8 & 31) as i32, (c[at] & 31) as i32);
        let bound = (lane & segments) | (bound & !segments);
        let (from, fits) = source(lane, distance, segments, bound);
        let from = (from & 31) as usize;
        // What comes from a lane that does not take part is undefined: its own.
        let there = fits && members >> from & 1 != 0;
        results[at] = values[if there { from } else { at }];
        inside |= u32::from(fits) << lane;
    }
    warp.results[1][0] = inside.into();
}

fn vote(mode: Vote, members: u32, warp: &mut Warp) {
    let ballot = warp.values[0][0] as u32 & members;
    let holds = match mode {
        Vote::Ballot => {
            *narrow_mut(&mut warp.results[0]) = [ballot; 32];
            return;
        }
        Vote::All => ballot == members,
        Vote::Any => ballot != 0,
        Vote::Uniform => ballot == members || ballot == 0,
    };
    // A predicate, a bit per lane.
    warp.results[0][0] = if holds { u32::MAX.into() } else { 0 };
}

#[cfg(test)]
mod tests {
    use gangway_interpreter::{Lanes, exchange as slow};

    use super::*;

    fn numbers(seed: &mut u64) -> Lanes {
        std::array::from_fn(|_| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *seed >> 33
        })
    }

    #[test]
    fn shuffles_and_votes_are_those_of_the_interpreter() {
        let mut seed = 42;
        // SAFETY: all zeros is a state of a warp.
        let mut warp: Box<Warp> = Box::new(unsafe { std::mem::zeroed() });
        for round in 0..2000 {
            let members = numbers(&mut seed)[0] as u32 | if round % 3 == 0 { u32::MAX } else { 0 };
            for mode in [Shuffle::Index, Shuffle::Up, Shuffle::Down, Shuffle::Butterfly] {
                let op = ExchangeOperation::Shuffle(mode);
                let mut inputs =
                    [numbers(&mut seed), numbers(&mut seed), numbers(&mut seed), [members.into(); 32]];
                if round % 2 == 0 {
                    // As compilers write it: segments of 32 lanes.
                    inputs[2] = [if mode == Shuffle::Up { 0 } else { 31 }; 32];
                }
                let mut expected = [[0; 32]; 2];
                slow(op, members, &inputs, &mut expected);
                for (values, input) in warp.values.iter_mut().zip(&inputs) {
                    *narrow_mut(values) = input.map(|value| value as u32);
                }
                assert!(exchange(op, members, 0, &mut warp));
                for lane in (0..32).filter(|lane| members >> lane & 1 != 0) {
                    let found = (narrow(&warp.results[0])[lane], warp.results[1][0] >> lane & 1);
                    assert_eq!(found, (expected[0][lane] as u32, expected[1][lane]), "{mode:?}, lane {lane}");
                }
            }
            for mode in [Vote::Ballot, Vote::All, Vote::Any, Vote::Uniform] {
                let op = ExchangeOperation::Vote(mode);
                let bits = if round % 4 == 0 { members } else { numbers(&mut seed)[1] as u32 };
                let inputs = [std::array::from_fn(|lane| u64::from(bits >> lane & 1)), [members.into(); 32]];
                let mut expected = [[0; 32]; 2];
                if members == 0 {
                    continue;
                }
                slow(op, members, &inputs, &mut expected);
                warp.values[0][0] = bits.into();
                assert!(exchange(op, members, 0, &mut warp));
                for lane in (0..32).filter(|lane| members >> lane & 1 != 0) {
                    let found = match mode {
                        Vote::Ballot => narrow(&warp.results[0])[lane].into(),
                        Vote::All | Vote::Any | Vote::Uniform => warp.results[0][0] >> lane & 1,
                    };
                    assert_eq!(found, expected[0][lane], "{mode:?}");
                }
            }
        }
    }
}
