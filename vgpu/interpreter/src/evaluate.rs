//! What every instruction that is about values alone computes for one lane.
//!
//! The interpreter runs on this, and the engine calls it for whatever it has no fast path
//! for, so there is one meaning of each instruction. Nothing here knows of registers or
//! memory, and nothing panics, whatever the values are.

use gangway_ptx::{Op, Opcode, Type, Word};

use crate::{compare, convert, float, integer};

/// The results of an instruction for one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Results {
    /// In the width of the destination's type, zero above it; a predicate is 0 or 1.
    pub first: u64,
    /// The second half of a destination pair `d|p`, where the instruction can have one.
    pub second: Option<bool>,
}

impl Results {
    const fn one(first: u64) -> Results {
        Results { first, second: None }
    }
}

/// Computes an instruction that neither touches memory nor other lanes: arithmetic, logic, shifts,
/// conversions, comparisons, selections and the video instructions.
///
/// `inputs` are the source operands in their order, absent ones left out. Each is in the low bits
/// by its expected type; what is above does not matter. A predicate is 0 or 1, negated already
/// where the instruction says `!p`. `carry` is the lane's condition code.
///
/// `None` means that this is no such instruction, or one that is not supported.
pub fn evaluate(opcode: &Opcode, inputs: &[u64], carry: &mut bool) -> Option<Results> {
    match opcode.op {
        Op::Setp => setp(opcode, inputs),
        Op::Set => set(opcode, inputs).map(Results::one),
        Op::Selp => {
            let &[a, b, chosen] = inputs else { return None };
            Some(Results::one(if chosen & 1 != 0 { a } else { b } & integer::mask(opcode.ty(0)?.bits())))
        }
        Op::Slct => {
            let &[a, b, c] = inputs else { return None };
            let first = compare::selects_first(opcode, opcode.ty(1)?, c);
            Some(Results::one(if first { a } else { b } & integer::mask(opcode.ty(0)?.bits())))
        }
        Op::Lop3 => {
            let &[a, b, c, table, ..] = inputs else { return None };
            let first = integer::lop3(a, b, c, table) & integer::mask(32);
            let with = inputs.get(4).map(|&with| with & 1 != 0);
            let second = with.map(|_| compare::combine(opcode, first != 0, with));
            Some(Results { first, second })
        }
        Op::Cvt => convert::evaluate(opcode, inputs).map(Results::one),
        _ => {
            let value = float::evaluate(opcode, inputs);
            value.or_else(|| integer::evaluate(opcode, inputs, carry)).map(Results::one)
        }
    }
}

/// Of packed halves the first predicate is about the lower, the second about the upper; otherwise
/// the second is about the comparison's opposite.
fn setp(opcode: &Opcode, inputs: &[u64]) -> Option<Results> {
    let ty = opcode.ty(0)?;
    let (&[a, b], with) = inputs.split_first_chunk()?;
    let with = with.first().map(|&with| with & 1 != 0);
    let each = float::element(ty);
    let (low, other) = if each == ty {
        let holds = compare::holds(opcode, ty, a, b)?;
        (holds, !holds)
    } else {
        let low = compare::holds(opcode, each, a & 0xffff, b & 0xffff)?;
        (low, compare::holds(opcode, each, a >> 16 & 0xffff, b >> 16 & 0xffff)?)
    };
    let first = compare::combine(opcode, low, with).into();
    Some(Results { first, second: Some(compare::combine(opcode, other, with)) })
}

fn set(opcode: &Opcode, inputs: &[u64]) -> Option<u64> {
    let (to, ty) = (opcode.ty(0)?, opcode.ty(1)?);
    let (&[a, b], with) = inputs.split_first_chunk()?;
    let with = with.first().map(|&with| with & 1 != 0);
    let combined = |holds| compare::combine(opcode, holds, with);
    let each = float::element(ty);
    if each == ty {
        return Some(compare::set_value(to, combined(compare::holds(opcode, ty, a, b)?)));
    }
    let half = float::element(to);
    let part = |shift: u32| {
        let holds = compare::holds(opcode, each, a >> shift & 0xffff, b >> shift & 0xffff)?;
        // Into an integer, each half of it is all ones or zero.
        let ty = if half == to { Type::U16 } else { half };
        Some(compare::set_value(ty, combined(holds)))
    };
    Some(part(16)? << 16 | part(0)?)
}

/// What an atomic operation makes of the `old` value in memory: `b` is the first operand, `c`
/// the second of `cas`. All are in the low bits; the result is as well, zero above. `None` for
/// what is no atomic operation.
pub fn combine(opcode: &Opcode, old: u64, b: u64, c: u64) -> Option<u64> {
    use Word::*;
    if !matches!(opcode.op, Op::Atom | Op::Red) {
        return None;
    }
    let ty = opcode.ty(0)?;
    let all = integer::mask(ty.bits());
    let (old, b) = (old & all, b & all);
    let (x, y) = (integer::extend(old, ty), integer::extend(b, ty));
    let new = match opcode.first_of(&[Exch, Cas, Add, And, Or, Xor, Min, Max, Inc, Dec])? {
        Exch => b,
        Cas if old == b => c,
        Cas => old,
        Add if ty.is_float() => float::sum(ty, old, b),
        Add => old.wrapping_add(b),
        And => old & b,
        Or => old | b,
        Xor => old ^ b,
        Min => x.min(y) as u64,
        Max => x.max(y) as u64,
        Inc => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        _ => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
    };
    Some(new & all)
}

#[cfg(test)]
mod tests {
    use gangway_ptx::Modifier;

    use super::*;

    fn opcode(name: &str) -> Opcode {
        let mut words = name.split('.');
        let op = words.next().expect("a name");
        let modifiers: Vec<Modifier> =
            words.map(|word| Modifier::from_text(word).expect("a modifier")).collect();
        gangway_ptx::forms::table().find(op, &modifiers).unwrap_or_else(|| panic!("no {name}"))
    }

    fn run(name: &str, inputs: &[u64]) -> Option<Results> {
        evaluate(&opcode(name), inputs, &mut false)
    }

    #[test]
    fn pairs_have_both_results() {
        let both = |first, second| Some(Results { first, second: Some(second) });
        assert_eq!(run("setp.lt.s32", &[0xffff_ffff, 1]), both(1, false));
        assert_eq!(run("setp.lt.and.u32", &[0xffff_ffff, 1, 1]), both(0, true));
        assert_eq!(run("setp.eq.f16x2", &[0x3c00_4000, 0x3c00_3c00]), both(0, true));
        assert_eq!(run("lop3.and.b32", &[0xf0, 0xff, 0, 0xc0, 1]), both(0xf0, true));
        assert_eq!(run("lop3.b32", &[0xf0, 0xff, 0, 0xc0]), Some(Results::one(0xf0)));
    }

    #[test]
    fn packed_comparisons_fill_their_halves() {
        let ones = (0x3c00_3c00, 0x3c00_4000);
        assert_eq!(run("set.eq.f16x2.f16x2", &[ones.0, ones.1]), Some(Results::one(0x3c00_0000)));
        assert_eq!(run("set.eq.u32.f16x2", &[ones.0, ones.1]), Some(Results::one(0xffff_0000)));
    }

    #[test]
    fn bits_above_the_type_do_not_matter() {
        assert_eq!(run("selp.u16", &[0xdead_0007, 0xdead_0008, 1]), Some(Results::one(7)));
        assert_eq!(combine(&opcode("atom.add.u32"), 1 << 40 | 0xffff_ffff, 2, 0), Some(1));
        assert_eq!(combine(&opcode("atom.min.s32"), 0xffff_ffff, 2, 0), Some(0xffff_ffff));
        assert_eq!(combine(&opcode("atom.cas.b16"), 7, 7, 0x1_0009), Some(9));
        assert_eq!(combine(&opcode("atom.inc.u32"), 3, 3, 0), Some(0));
        assert_eq!(combine(&opcode("atom.dec.u32"), 0, 3, 0), Some(3));
    }

    #[test]
    fn what_is_not_pure_is_left_alone() {
        assert_eq!(run("ld.u32", &[0]), None);
        assert_eq!(run("bar.sync", &[0]), None);
        assert_eq!(combine(&opcode("min.u64"), 1, 2, 3), None);
    }
}
