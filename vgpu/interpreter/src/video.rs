//! What video instructions compute for one lane: on exact values, which then have to fit.
//!
//! The scalar ones work on 32 bits, the packed ones on two halves or four bytes. Part of `integer`.

use std::cmp::Ordering;

use gangway_ptx::{Op, Opcode, Type, Word};

use crate::integer::{extend, limits, mask};

/// The operation of a video instruction, and how many parts it works on.
fn operation(op: Op) -> Option<(Op, u32)> {
    Some(match op {
        Op::Vadd | Op::Vsub | Op::Vabsdiff | Op::Vmin | Op::Vmax | Op::Vshl | Op::Vshr | Op::Vset => (op, 1),
        Op::Vadd2 => (Op::Vadd, 2),
        Op::Vadd4 => (Op::Vadd, 4),
        Op::Vsub2 => (Op::Vsub, 2),
        Op::Vsub4 => (Op::Vsub, 4),
        Op::Vabsdiff2 => (Op::Vabsdiff, 2),
        Op::Vabsdiff4 => (Op::Vabsdiff, 4),
        Op::Vmin2 => (Op::Vmin, 2),
        Op::Vmin4 => (Op::Vmin, 4),
        Op::Vmax2 => (Op::Vmax, 2),
        Op::Vmax4 => (Op::Vmax, 4),
        Op::Vset2 => (Op::Vset, 2),
        Op::Vset4 => (Op::Vset, 4),
        _ => return None,
    })
}

/// The result, or `None` for an instruction that is no video one.
pub fn evaluate(opcode: &Opcode, inputs: &[u64]) -> Option<u64> {
    if opcode.op == Op::Vmad {
        return multiply(opcode, inputs);
    }
    let (operation, parts) = operation(opcode.op)?;
    let (&[a, b], rest) = inputs.split_first_chunk()?;
    // `vset` names no type for its result.
    let types: Vec<Type> = opcode.types().collect();
    let (to, first, second) = match types[..] {
        [first, second] => (Type::U32, first, second),
        [to, first, second] => (to, first, second),
        _ => return None,
    };
    let c = rest.first().copied();
    if parts == 1 {
        let value = fitted(opcode, single(opcode, operation, extend(a, first), extend(b, second))?, to, 32);
        let Some(c) = c else { return Some(value) };
        let (value, c) = (extend(value, to), extend(c, to));
        let combined = match opcode.first_of(&[Word::Add, Word::Min, Word::Max])? {
            Word::Add => value + c,
            Word::Min => value.min(c),
            _ => value.max(c),
        };
        return Some(combined as u64 & mask(32));
    }
    let bits = 32 / parts;
    let (mut packed, mut sum) = (0, extend(c?, to));
    for shift in (0..parts).map(|part| part * bits) {
        let (a, b) = (part(a >> shift, bits, first), part(b >> shift, bits, second));
        let exact = single(opcode, operation, a, b)?;
        packed |= fitted(opcode, exact, to, bits) << shift;
        sum += exact;
    }
    Some(if opcode.has(Word::Add) { sum as u64 & mask(32) } else { packed })
}

/// One result, exactly.
fn single(opcode: &Opcode, operation: Op, a: i128, b: i128) -> Option<i128> {
    let count = if opcode.has(Word::Clamp) { b.min(32) } else { b & 31 };
    Some(match operation {
        Op::Vadd => a + b,
        Op::Vsub => a - b,
        Op::Vabsdiff => (a - b).abs(),
        Op::Vmin => a.min(b),
        Op::Vmax => a.max(b),
        Op::Vshl => a << count,
        Op::Vshr => a >> count,
        _ => {
            let order = a.cmp(&b);
            let words = [Word::Eq, Word::Ne, Word::Lt, Word::Le, Word::Gt, Word::Ge];
            i128::from(match opcode.first_of(&words)? {
                Word::Eq => order == Ordering::Equal,
                Word::Ne => order != Ordering::Equal,
                Word::Lt => order == Ordering::Less,
                Word::Le => order != Ordering::Greater,
                Word::Gt => order == Ordering::Greater,
                _ => order != Ordering::Less,
            })
        }
    })
}

/// The low bits of a value by the signedness of a type.
fn part(value: u64, bits: u32, ty: Type) -> i128 {
    let value = value & mask(bits);
    let negative = ty.is_signed() && value >> (bits - 1) != 0;
    i128::from(value) - if negative { 1 << bits } else { 0 }
}

/// A value in so many bits: the nearest one with `.sat`, otherwise the low bits.
fn fitted(opcode: &Opcode, value: i128, ty: Type, bits: u32) -> u64 {
    let (least, most) =
        if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let value = if opcode.has(Word::Sat) { value.clamp(least, most) } else { value };
    value as u64 & mask(bits)
}

/// `vmad`: the product and the third operand, one more with `.po`, shifted down.
fn multiply(opcode: &Opcode, inputs: &[u64]) -> Option<u64> {
    let &[a, b, c] = inputs else { return None };
    let (to, first, second) = (opcode.ty(0)?, opcode.ty(1)?, opcode.ty(2)?);
    let sum = extend(a, first) * extend(b, second) + extend(c, to) + i128::from(opcode.has(Word::Po));
    let scale = match opcode.first_of(&[Word::Shr7, Word::Shr15]) {
        Some(Word::Shr7) => 7,
        Some(_) => 15,
        None => 0,
    };
    let value = sum >> scale;
    // The result is a signed one when any operand is.
    let signed = [to, first, second].iter().any(|ty| ty.is_signed());
    let (least, most) = limits(if signed { Type::S32 } else { Type::U32 });
    let value = if opcode.has(Word::Sat) { value.clamp(least, most) } else { value };
    Some(value as u64 & mask(32))
}
