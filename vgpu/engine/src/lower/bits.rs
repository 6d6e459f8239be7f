//! Logic, shifts, fields and counts of bits.

use gangway_ptx::Type;
use gangway_ptx::meaning::{Bits, Logic, Permute};
use gangway_simt::{IntOrder, Op, Value};

use super::shift::{Direction, shift};
use super::{Emit, fields};

pub(super) fn logic(e: &mut Emit, op: Logic, ty: Type, sources: &[Value]) -> Option<Value> {
    let a = *sources.first()?;
    let b = sources.get(1).copied();
    Some(match op {
        Logic::And => e.and(a, b?),
        Logic::Or => e.or(a, b?),
        Logic::Xor => e.xor(a, b?),
        Logic::Not => {
            let inverse = e.not(a);
            e.extend(inverse, ty.bits(), false)
        }
    })
}

/// `lop3`, whose table is a constant.
pub(super) fn table(e: &mut Emit, sources: &[Value]) -> Option<Value> {
    let &[a, b, c, rows] = sources.first_chunk()?;
    let rows = e.constant_of(rows)?;
    Some(by_table(e, [a, b, c], rows))
}

/// The result; `None` where operands that are mostly constants are not.
pub(super) fn compute(e: &mut Emit, op: Bits, ty: Type, sources: &[Value]) -> Option<Value> {
    let bits = ty.bits();
    let source = |index: usize| sources.get(index).copied();
    let a = source(0)?;
    Some(match op {
        Bits::IsZero => {
            let (zero, one) = (e.like(a, 0), e.like(a, 1));
            let is_zero = e.compare(IntOrder::Equal, a, zero);
            e.keep(is_zero, one)
        }
        Bits::ShiftLeft => shift(e, Direction::Left, ty, a, source(1)?),
        Bits::ShiftRight => shift(e, Direction::Right, ty, a, source(1)?),
        Bits::Funnel { left, wrap } => funnel(e, left, wrap, [a, source(1)?], source(2)?),
        Bits::Extract => fields::extract(e, ty, a, source(1)?, source(2)?),
        Bits::Insert => fields::insert(e, ty, a, source(1)?, source(2)?, source(3)?),
        Bits::Mask { clamp } => fields::mask(e, a, source(1)?, clamp),
        Bits::Extend { clamp } => fields::extend(e, ty, a, source(1)?, clamp),
        Bits::Population => e.make(Op::Population, &[a]),
        Bits::LeadingZeros => e.make(Op::LeadingZeros, &[a]),
        Bits::Find { from_top } => {
            let a = if ty.is_signed() {
                let sign = e.sar_by(a, bits - 1);
                e.xor(a, sign)
            } else {
                a
            };
            let zeros = e.make(Op::LeadingZeros, &[a]);
            let (none, all) = (e.like(zeros, bits.into()), e.like(zeros, 0xffff_ffff));
            let empty = e.compare(IntOrder::Equal, zeros, none);
            let last = e.like(zeros, u64::from(bits - 1));
            let position = if from_top { zeros } else { e.sub(last, zeros) };
            e.select(empty, all, position)
        }
        Bits::Reverse => e.make(Op::ReverseBits, &[a]),
        Bits::Permute(Permute::Nibbles) => e.make(Op::Permute, &[a, source(1)?, source(2)?]),
        // The helper does what compilers do not emit.
        Bits::FindNth
        | Bits::Permute(
            Permute::Forward
            | Permute::Backward
            | Permute::ReplicateByte
            | Permute::ClampLeft
            | Permute::ClampRight
            | Permute::ReplicateHalf,
        ) => return None,
    })
}

/// Any function of three bits: by the first of them, one of two functions of the others.
fn by_table(e: &mut Emit, [a, b, c]: [Value; 3], rows: u64) -> Value {
    match rows & 0xff {
        0x96 => {
            let ab = e.xor(a, b);
            return e.xor(ab, c);
        }
        0x80 => {
            let ab = e.and(a, b);
            return e.and(ab, c);
        }
        0xfe => {
            let ab = e.or(a, b);
            return e.or(ab, c);
        }
        0xe8 => {
            let (either, both) = (e.or(a, b), e.and(a, b));
            let with = e.and(either, c);
            return e.or(both, with);
        }
        _ => {}
    }
    let (set, clear) = (rows >> 4 & 0xf, rows & 0xf);
    let clear_value = pair_table(e, b, c, clear);
    if set == clear {
        return clear_value;
    }
    let set_value = pair_table(e, b, c, set);
    match (set, clear) {
        (_, 0) => e.and(a, set_value),
        (0xf, _) => e.or(a, clear_value),
        (0, _) => {
            let not_a = e.not(a);
            e.and(not_a, clear_value)
        }
        (_, 0xf) => {
            let not_a = e.not(a);
            e.or(not_a, set_value)
        }
        (set, clear) if set == !clear & 0xf => e.xor(a, clear_value),
        _ => {
            let differs = e.xor(set_value, clear_value);
            let chosen = e.and(a, differs);
            e.xor(chosen, clear_value)
        }
    }
}

/// A function of two bits by its four rows; bit 3 is the row where both are set.
fn pair_table(e: &mut Emit, b: Value, c: Value, rows: u64) -> Value {
    let inverted = |e: &mut Emit, rows: u64| {
        let value = pair_table(e, b, c, !rows & 0xf);
        e.not(value)
    };
    match rows {
        0b0000 => e.like(b, 0),
        0b1111 => e.like(b, u64::MAX),
        0b1100 => b,
        0b1010 => c,
        0b0011 => e.not(b),
        0b0101 => e.not(c),
        0b1000 => e.and(b, c),
        0b1110 => e.or(b, c),
        0b0110 => e.xor(b, c),
        0b0100 => {
            let not_c = e.not(c);
            e.and(b, not_c)
        }
        0b0010 => {
            let not_b = e.not(b);
            e.and(not_b, c)
        }
        _ => inverted(e, rows),
    }
}

/// `shf`: 32 bits of the 64 that `b` and `a` make.
fn funnel(e: &mut Emit, left: bool, wraps: bool, [a, b]: [Value; 2], count: Value) -> Value {
    let count = if wraps {
        e.and_bits(count, 31)
    } else {
        let most = e.like(count, 32);
        e.umin(count, most)
    };
    match (left, e.constant_of(count)) {
        (true, Some(0)) | (false, Some(32)) => b,
        (false, Some(0)) | (true, Some(32)) => a,
        (_, None) => e.make(if left { Op::FunnelLeft } else { Op::FunnelRight }, &[a, b, count]),
        _ => {
            let width = e.like(count, 32);
            let rest = e.sub(width, count);
            let (up, down) = if left { (count, rest) } else { (rest, count) };
            let (high, low) = (e.make(Op::ShiftLeft, &[b, up]), e.make(Op::ShiftRightUnsigned, &[a, down]));
            e.or(high, low)
        }
    }
}
