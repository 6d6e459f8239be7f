//! What every instruction that is about values alone computes for one lane.
//!
//! The interpreter runs on this, and the engine calls it where it has no fast path. So each
//! instruction has one meaning. Nothing here knows of registers or memory, and nothing panics,
//! whatever the values are.

use gangway_ptx::Type;
use gangway_ptx::meaning::{Atomic, AtomicOperation, Compare, Compute};

use crate::integer::{extend, mask};
use crate::{bits, compare, convert, float, integer, video};

/// The results of an instruction for one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Results {
    /// In the width of the destination's type, zero above it; a predicate is 0 or 1.
    pub first: u64,
    /// The second half of a destination pair `d|p`, where the instruction can have one.
    pub second: Option<bool>,
}

impl Results {
    const fn one(first: u64) -> Self {
        Results { first, second: None }
    }
}

/// Computes an instruction that neither touches memory nor other lanes: arithmetic, logic,
/// shifts, conversions, comparisons, selections and the video instructions.
///
/// `inputs` are the source operands in their order, absent ones left out. Each is in the low
/// bits by its expected type; what is above does not matter. A predicate is 0 or 1, negated
/// already where the instruction says `!p`. `carry` is the lane's condition code.
#[must_use]
pub fn evaluate(compute: Compute, inputs: &[u64], carry: &mut bool) -> Results {
    let input = |index: usize| inputs.get(index).copied().unwrap_or(0);
    let (a, b, c) = (input(0), input(1), input(2));
    let fit = |value: u64, ty: Type| Results::one(value & mask(ty.bits()));
    match compute {
        Compute::Truth(op) => Results::one(bits::logic(op, a, b) & 1),
        Compute::Logic { op, ty } => fit(bits::logic(op, a, b), ty),
        Compute::Table(combine) => {
            let first = bits::lop3(a, b, c, input(3)) & mask(32);
            let with = inputs.get(4).map(|&with| with & 1 != 0);
            let second = with.map(|_| compare::combine(combine, first != 0, with));
            Results { first, second }
        }
        Compute::Bits { op, ty } => Results::one(bits::evaluate(op, ty, [a, b, c, input(3)])),
        Compute::Integer { op, ty } => Results::one(integer::evaluate(op, ty, a, b, c)),
        Compute::Packed { op, ty, relu } => Results::one(integer::packed(op, ty, relu, a, b)),
        Compute::Carry(link) => Results::one(integer::carry(link, a, b, c, carry)),
        Compute::Dot(dot) => Results::one(integer::dot(dot, a, b, c).into()),
        Compute::Float { op, ty, mode } => {
            Results::one(float::each(ty, [a, b, c], |ty, inputs| float::evaluate(op, ty, mode, inputs)))
        }
        Compute::Half { op, ty, mode } => Results::one(float::each(ty, [a, b, c], |ty, inputs| {
            float::evaluate(op.into(), ty, mode, inputs)
        })),
        Compute::Approximate { op, ty, ftz } => {
            Results::one(float::each(ty, [a, b, c], |ty, inputs| float::approximate(op, ty, ftz, inputs)))
        }
        Compute::Test { test, ty } => Results::one(float::test(test, ty, a).into()),
        Compute::Convert(convert) => Results::one(convert::evaluate(convert, a, b)),
        Compute::SetPredicate(compare) => setp(compare, inputs),
        Compute::Set(compare, to) => Results::one(set(compare, to, inputs)),
        Compute::Select(ty) => fit(if c & 1 != 0 { a } else { b }, ty),
        Compute::SelectBySign { ty, by, ftz } => {
            fit(if compare::selects_first(by, ftz, c) { a } else { b }, ty)
        }
        Compute::Video(operation) => Results::one(video::evaluate(operation, a, b, inputs.get(2).copied())),
        Compute::VideoMad(operation) => Results::one(video::multiply(operation, a, b, c)),
    }
}

/// The operands of a comparison: two values, and the predicate that it is combined with.
fn compared(inputs: &[u64]) -> (u64, u64, Option<bool>) {
    let input = |index: usize| inputs.get(index).copied().unwrap_or(0);
    (input(0), input(1), inputs.get(2).map(|&with| with & 1 != 0))
}

/// Of packed halves the first predicate is about the lower, the second about the upper; otherwise
/// the second is about the comparison's opposite.
fn setp(compare: Compare, inputs: &[u64]) -> Results {
    let (a, b, with) = compared(inputs);
    let each = compare.ty.element();
    let (low, other) = if each == compare.ty {
        let holds = compare::holds(compare, each, a, b);
        (holds, !holds)
    } else {
        let part = |shift: u32| compare::holds(compare, each, a >> shift & 0xffff, b >> shift & 0xffff);
        (part(0), part(16))
    };
    let first = compare::combine(compare.combine, low, with).into();
    Results { first, second: Some(compare::combine(compare.combine, other, with)) }
}

fn set(compare: Compare, to: Type, inputs: &[u64]) -> u64 {
    let (a, b, with) = compared(inputs);
    let combined = |holds| compare::combine(compare.combine, holds, with);
    let each = compare.ty.element();
    if each == compare.ty {
        return compare::set_value(to, combined(compare::holds(compare, each, a, b)));
    }
    let half = to.element();
    let part = |shift: u32| {
        let holds = compare::holds(compare, each, a >> shift & 0xffff, b >> shift & 0xffff);
        // Into an integer, each half of it is all ones or zero.
        let ty = if half == to { Type::U16 } else { half };
        compare::set_value(ty, combined(holds))
    };
    part(16) << 16 | part(0)
}

/// What an atomic operation makes of the `old` value in memory: `b` is the first operand, `c`
/// the second of `cas`. All are in the low bits; the result is as well, zero above.
#[must_use]
pub fn combine(atomic: Atomic, old: u64, b: u64, c: u64) -> u64 {
    let ty = atomic.ty;
    let all = mask(ty.bits());
    let (old, b) = (old & all, b & all);
    let (x, y) = (extend(old, ty), extend(b, ty));
    let new = match atomic.op {
        AtomicOperation::Exchange => b,
        AtomicOperation::CompareAndSwap if old == b => c,
        AtomicOperation::CompareAndSwap => old,
        AtomicOperation::AddFloat => float::sum(ty, old, b),
        AtomicOperation::Add => old.wrapping_add(b),
        AtomicOperation::And => old & b,
        AtomicOperation::Or => old | b,
        AtomicOperation::Xor => old ^ b,
        AtomicOperation::Min => x.min(y) as u64,
        AtomicOperation::Max => x.max(y) as u64,
        AtomicOperation::Increment if old >= b => 0,
        AtomicOperation::Increment => old + 1,
        AtomicOperation::Decrement if old == 0 || old > b => b,
        AtomicOperation::Decrement => old - 1,
    };
    new & all
}

#[cfg(test)]
mod tests {
    use gangway_ptx::{Meaning, Modifier};

    use super::*;

    fn meaning(name: &str) -> Meaning {
        let mut words = name.split('.');
        let op = words.next().expect("a name");
        let modifiers: Vec<Modifier> =
            words.map(|word| Modifier::from_text(word).expect("a modifier")).collect();
        let opcode = gangway_ptx::forms::table().find(op, &modifiers);
        opcode.unwrap_or_else(|| panic!("no {name}")).meaning
    }

    fn run(name: &str, inputs: &[u64]) -> Results {
        let Meaning::Compute(compute) = meaning(name) else { panic!("{name} computes nothing") };
        evaluate(compute, inputs, &mut false)
    }

    fn atomic(name: &str, old: u64, b: u64, c: u64) -> u64 {
        let Meaning::Atomic(atomic) = meaning(name) else { panic!("{name} is not atomic") };
        combine(atomic, old, b, c)
    }

    #[test]
    fn pairs_have_both_results() {
        let both = |first, second| Results { first, second: Some(second) };
        assert_eq!(run("setp.lt.s32", &[0xffff_ffff, 1]), both(1, false));
        assert_eq!(run("setp.lt.and.u32", &[0xffff_ffff, 1, 1]), both(0, true));
        assert_eq!(run("setp.eq.f16x2", &[0x3c00_4000, 0x3c00_3c00]), both(0, true));
        assert_eq!(run("lop3.and.b32", &[0xf0, 0xff, 0, 0xc0, 1]), both(0xf0, true));
        assert_eq!(run("lop3.b32", &[0xf0, 0xff, 0, 0xc0]), Results::one(0xf0));
    }

    #[test]
    fn packed_comparisons_fill_their_halves() {
        let ones = (0x3c00_3c00, 0x3c00_4000);
        assert_eq!(run("set.eq.f16x2.f16x2", &[ones.0, ones.1]), Results::one(0x3c00_0000));
        assert_eq!(run("set.eq.u32.f16x2", &[ones.0, ones.1]), Results::one(0xffff_0000));
    }

    #[test]
    fn bits_above_the_type_do_not_matter() {
        assert_eq!(run("selp.u16", &[0xdead_0007, 0xdead_0008, 1]), Results::one(7));
        assert_eq!(atomic("atom.add.u32", 1 << 40 | 0xffff_ffff, 2, 0), 1);
        assert_eq!(atomic("atom.min.s32", 0xffff_ffff, 2, 0), 0xffff_ffff);
        assert_eq!(atomic("atom.cas.b16", 7, 7, 0x1_0009), 9);
        assert_eq!(atomic("atom.inc.u32", 3, 3, 0), 0);
        assert_eq!(atomic("atom.dec.u32", 0, 3, 0), 3);
    }
}
