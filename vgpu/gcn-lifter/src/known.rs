//! What is known of words without running anything: bits, and how large they can be.
//!
//! Code packs numbers of threads and of teams into one word, and takes them apart again. With what is known here much of it
//! is a constant, and so a step from lane to lane that the engine sees.

use crate::node::{Function, Op, Value};

const ALL: u64 = 0xffff_ffff;
/// The most waves of a work-group: 1,024 work-items, of which a wave has 64.
const WAVES: u64 = 16;
/// Values that values depend on are looked at so far.
const DEPTH: u32 = 8;

/// What is known of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The bits that may be set.
    pub may: u64,
    /// Those that are.
    pub must: u64,
    /// It is not greater.
    pub most: u64,
}

impl Known {
    pub fn of(f: &Function, word: Value) -> Self {
        look(f, word, DEPTH)
    }

    fn new(may: u64, must: u64, most: u64) -> Self {
        let most = most.min(may);
        Self { may: may & below(most), must, most }
    }

    fn up_to(most: u64) -> Self {
        Self::new(ALL, 0, most)
    }
}

/// All bits that a number up to this one may have.
fn below(most: u64) -> u64 {
    most.checked_ilog2().map_or(0, |bit| (2 << bit) - 1)
}

fn look(f: &Function, word: Value, depth: u32) -> Known {
    let nothing = Known::up_to(ALL);
    if let Some(constant) = f.as_constant(word) {
        let constant = constant & ALL;
        return Known::new(constant, constant, constant);
    }
    if depth == 0 {
        return nothing;
    }
    let of = |index: usize| look(f, f.arg(word, index), depth - 1);
    let by = |index: usize| f.as_constant(f.arg(word, index)).filter(|by| *by < 32);
    match f.op(word) {
        Op::Lane => Known::up_to(63),
        Op::Special("%tid.y") => Known::up_to(WAVES - 1),
        Op::Select => {
            let (yes, no) = (of(1), of(2));
            Known::new(yes.may | no.may, yes.must & no.must, yes.most.max(no.most))
        }
        Op::Plain("and.b32") => {
            let (a, b) = (of(0), of(1));
            Known::new(a.may & b.may, a.must & b.must, a.most.min(b.most))
        }
        Op::Plain("or.b32") => {
            let (a, b) = (of(0), of(1));
            Known::new(a.may | b.may, a.must | b.must, ALL)
        }
        Op::Plain("shl.b32") => by(1).map_or(nothing, |by| {
            let number = of(0);
            Known::new(number.may << by & ALL, number.must << by & ALL, ALL)
        }),
        Op::Plain("shr.u32") => by(1).map_or(nothing, |by| {
            let number = of(0);
            Known::new(number.may >> by, number.must >> by, number.most >> by)
        }),
        Op::Plain("add.u32") => {
            let (a, b) = (of(0), of(1));
            if a.may & b.may == 0 {
                Known::new(a.may | b.may, a.must | b.must, a.most + b.most)
            } else {
                Known::up_to((a.most + b.most).min(ALL))
            }
        }
        Op::Plain("min.u32") => Known::up_to(of(0).most.min(of(1).most)),
        Op::Plain("mul.hi.u32") => Known::up_to((of(0).most * of(1).most) >> 32),
        Op::Plain("bfe.u32") if by(1) == Some(0) => {
            by(2).map_or(nothing, |bits| Known::up_to((1 << bits) - 1))
        }
        _ => nothing,
    }
}
