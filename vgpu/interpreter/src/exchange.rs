//! What lanes of a warp compute together: shuffles, votes, matches, reductions, elections.
//!
//! The interpreter and the engine hand in the values of all lanes and which of them take part;
//! which lanes wait for which is their business. Nothing here panics, whatever the values are.

use gangway_ptx::Type;
use gangway_ptx::meaning::{ExchangeOperation, Reduction, Shuffle, Vote};

use crate::integer::{extend, mask};

/// Lanes of a warp.
pub const LANES: usize = 32;

/// A value for each lane.
pub type Lanes = [u64; LANES];

/// Computes what lanes exchange, for those in `members`.
///
/// `inputs` are the source operands in their order, as for [`evaluate`](crate::evaluate), the
/// member mask last; it is not looked at. `results` gets the destination's value and the
/// predicate of a pair `d|p`, 0 or 1, for those lanes; other lanes keep what they have.
pub fn exchange(op: ExchangeOperation, members: u32, inputs: &[Lanes], results: &mut [Lanes; 2]) {
    if members == 0 {
        return;
    }
    let input = |index: usize| inputs.get(index).unwrap_or(&[0; LANES]);
    let values = input(0);
    let all = |value: u64, predicate: bool, results: &mut [Lanes; 2]| {
        for lane in lanes(members) {
            (results[0][lane], results[1][lane]) = (value, predicate.into());
        }
    };
    match op {
        ExchangeOperation::Shuffle(mode) => {
            let (b, c) = (input(1), input(2));
            for lane in lanes(members) {
                let (source, inside) = shuffle_source(mode, lane as i32, b[lane] as u32, c[lane] as u32);
                // What comes from a lane that does not take part is undefined: its own.
                let source = if members >> source & 1 != 0 { source } else { lane };
                results[0][lane] = values[source] & mask(32);
                results[1][lane] = inside.into();
            }
        }
        ExchangeOperation::Vote(vote) => {
            let ballot = lanes(members).filter(|&lane| values[lane] & 1 != 0).fold(0u32, with);
            let value = match vote {
                Vote::Ballot => ballot.into(),
                Vote::All => u64::from(ballot == members),
                Vote::Any => u64::from(ballot != 0),
                Vote::Uniform => u64::from(ballot == members || ballot == 0),
            };
            all(value, false, results);
        }
        ExchangeOperation::MatchAll(ty) => {
            let bits = mask(ty.bits());
            let first = values[members.trailing_zeros() as usize] & bits;
            let equal = lanes(members).all(|lane| values[lane] & bits == first);
            all(if equal { members.into() } else { 0 }, equal, results);
        }
        ExchangeOperation::MatchAny(ty) => {
            let bits = mask(ty.bits());
            for lane in lanes(members) {
                let same = lanes(members).filter(|&other| (values[other] ^ values[lane]) & bits == 0);
                results[0][lane] = same.fold(0u32, with).into();
            }
        }
        ExchangeOperation::Reduce(reduction, ty) => {
            all(reduce(reduction, ty, members, values), false, results);
        }
        ExchangeOperation::Elect => {
            let leader = members.trailing_zeros();
            for lane in lanes(members) {
                (results[0][lane], results[1][lane]) = (leader.into(), u64::from(lane as u32 == leader));
            }
        }
        ExchangeOperation::Meet => {}
    }
}

/// The lanes of a mask, in order.
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

fn with(mask: u32, lane: usize) -> u32 {
    mask | 1 << lane
}

fn reduce(reduction: Reduction, ty: Type, members: u32, values: &Lanes) -> u64 {
    let values = || lanes(members).map(|lane| values[lane] & mask(ty.bits()));
    let value = match reduction {
        Reduction::Add => values().fold(0, u64::wrapping_add),
        Reduction::Min => values().min_by_key(|&value| extend(value, ty)).unwrap_or(0),
        Reduction::Max => values().max_by_key(|&value| extend(value, ty)).unwrap_or(0),
        Reduction::And => values().fold(u64::MAX, |all, value| all & value),
        Reduction::Or => values().fold(0, |all, value| all | value),
        Reduction::Xor => values().fold(0, |all, value| all ^ value),
    };
    value & mask(ty.bits())
}

/// The lane that `shfl` reads, and whether it is inside the segment (PTX ISA 9.7.9.6). `b` and
/// `c` are the instruction's operands.
#[must_use]
pub fn shuffle_source(mode: Shuffle, lane: i32, b: u32, c: u32) -> (usize, bool) {
    let (distance, segments, bound) = ((b & 31) as i32, (c >> 8 & 31) as i32, (c & 31) as i32);
    let last = (lane & segments) | (bound & !segments);
    let first = lane & segments;
    let (source, inside) = match mode {
        Shuffle::Up => (lane - distance, lane - distance >= last),
        Shuffle::Down => (lane + distance, lane + distance <= last),
        Shuffle::Butterfly => (lane ^ distance, (lane ^ distance) <= last),
        Shuffle::Index => (first | (distance & !segments), (first | (distance & !segments)) <= last),
    };
    if inside { (source as usize & 31, true) } else { (lane as usize, false) }
}

#[cfg(test)]
mod tests {
    use gangway_ptx::{Meaning, Modifier, Word};

    use super::*;

    fn run(op: &str, words: &[Word], ty: Option<Type>, members: u32, inputs: &[Lanes]) -> [Lanes; 2] {
        let words = words.iter().map(|&word| Modifier::Word(word));
        let modifiers: Vec<Modifier> = words.chain(ty.map(Modifier::Type)).collect();
        let opcode = gangway_ptx::forms::table().find(op, &modifiers).expect("a form");
        let mut results = [[77; LANES]; 2];
        let Meaning::Exchange(found) = opcode.meaning else { panic!("{opcode} exchanges nothing") };
        exchange(found.op, members, inputs, &mut results);
        results
    }

    fn numbered() -> Lanes {
        std::array::from_fn(|lane| lane as u64 + 100)
    }

    #[test]
    fn lanes_that_take_no_part_keep_what_they_have() {
        let [values, _] =
            run("redux", &[Word::Sync, Word::Add], Some(Type::U32), 0b1010, &[numbered(), [0b1010; LANES]]);
        assert_eq!(values[..5], [77, 204, 77, 204, 77]);
        let [values, leader] = run("elect", &[Word::Sync], None, 0b1100, &[[0b1100; LANES]]);
        assert_eq!((&values[1..4], &leader[1..4]), (&[77, 2, 2][..], &[77, 1, 0][..]));
    }

    #[test]
    fn a_shuffle_from_an_absent_lane_gives_the_own_value() {
        let inputs = [numbered(), [1; LANES], [31; LANES], [u32::MAX.into(); LANES]];
        let [values, inside] = run("shfl", &[Word::Sync, Word::Down], Some(Type::B32), 0x5fff_ffff, &inputs);
        assert_eq!((values[0], inside[0]), (101, 1));
        assert_eq!((values[28], inside[28]), (128, 1), "lane 29 takes no part");
        assert_eq!((values[30], inside[30]), (130, 1), "nor does lane 31");
    }

    #[test]
    fn matches_compare_the_bits_of_the_type() {
        let mut values = [7; LANES];
        (values[1], values[2]) = (8, 7 | 1 << 32);
        let mask = [7; LANES];
        let any = [Word::Any, Word::Sync];
        let [found, _] = run("match", &any, Some(Type::B32), 7, &[values, mask]);
        assert_eq!(found[..3], [0b101, 0b010, 0b101]);
        let [found, _] = run("match", &any, Some(Type::B64), 7, &[values, mask]);
        assert_eq!(found[..3], [0b001, 0b010, 0b100]);
        let [found, equal] = run("match", &[Word::All, Word::Sync], Some(Type::B32), 5, &[values, mask]);
        assert_eq!((found[0], equal[0], found[2], equal[2]), (5, 1, 5, 1));
    }
}
