//! What instructions about bits compute for one lane: logic, shifts, fields and counts.
//!
//! Values are the low bits of a `u64`, as in `integer`.

use gangway_ptx::Type;
use gangway_ptx::meaning::{Bits, Logic, Permute};

use crate::integer::{extend, mask};

/// Of all bits, also those above the type.
#[must_use]
pub fn logic(op: Logic, a: u64, b: u64) -> u64 {
    match op {
        Logic::And => a & b,
        Logic::Or => a | b,
        Logic::Xor => a ^ b,
        Logic::Not => !a,
    }
}

#[must_use]
pub fn evaluate(op: Bits, ty: Type, [a, b, c, d]: [u64; 4]) -> u64 {
    let bits = ty.bits();
    let low = a & mask(bits);
    match op {
        Bits::IsZero => u64::from(low == 0),
        Bits::ShiftLeft if b as u32 >= bits => 0,
        Bits::ShiftLeft => a << (b as u32) & mask(bits),
        Bits::ShiftRight => (extend(a, ty) >> (b as u32).min(bits)) as u64 & mask(bits),
        Bits::Funnel { left, wrap } => shf(left, wrap, a as u32, b as u32, c as u32).into(),
        Bits::Population => low.count_ones().into(),
        Bits::LeadingZeros => (low.leading_zeros() - (64 - bits)).into(),
        Bits::Find { from_top } => bfind(a, ty, from_top),
        Bits::FindNth => fns(a as u32, b as u32, c as i32).into(),
        Bits::Reverse => a.reverse_bits() >> (64 - bits),
        Bits::Extract => bfe(a, b, c, ty),
        Bits::Insert => bfi(a, b, c, d, bits),
        Bits::Extend { clamp } => szext(a as u32, b as u32, ty, clamp).into(),
        Bits::Mask { clamp } => bmsk(a as u32, b as u32, clamp).into(),
        Bits::Permute(mode) => prmt(mode, a as u32, b as u32, c as u32).into(),
    }
}

/// Each bit of `table` is the result for one combination of the inputs' bits.
#[must_use]
pub fn lop3(a: u64, b: u64, c: u64, table: u64) -> u64 {
    (0..8).filter(|row| table >> row & 1 != 0).fold(0, |result, row| {
        let pick = |value: u64, bit: u32| if row >> bit & 1 != 0 { value } else { !value };
        result | (pick(a, 2) & pick(b, 1) & pick(c, 0))
    })
}

fn bfind(a: u64, ty: Type, shift_amount: bool) -> u64 {
    let bits = ty.bits();
    let value = extend(a, ty);
    let value = if value < 0 { !value } else { value } as u64 & mask(bits);
    if value == 0 {
        return 0xffff_ffff;
    }
    let position = 63 - value.leading_zeros();
    u64::from(if shift_amount { bits - 1 - position } else { position })
}

fn bfe(a: u64, position: u64, length: u64, ty: Type) -> u64 {
    let (bits, position, length) = (ty.bits(), (position & 0xff) as u32, (length & 0xff) as u32);
    let bit = |index: u32| index < bits && a >> index & 1 != 0;
    let last = (position + length).saturating_sub(1).min(bits - 1);
    let sign = ty.is_signed() && length != 0 && bit(last);
    let filled = |index: u32| {
        if index < length && position + index < bits { bit(position + index) } else { sign }
    };
    (0..bits).filter(|&index| filled(index)).fold(0, |result, index| result | 1 << index)
}

fn bfi(from: u64, into: u64, position: u64, length: u64, bits: u32) -> u64 {
    let (position, length) = ((position & 0xff) as u32, (length & 0xff) as u32);
    let mut result = into & mask(bits);
    for index in (0..length).take_while(|index| position + index < bits) {
        let at = position + index;
        let bit = if index < 64 { from >> index & 1 } else { 0 };
        result = result & !(1 << at) | bit << at;
    }
    result
}

/// The `offset`-th set bit from `base` on, upwards or downwards.
fn fns(value: u32, base: u32, offset: i32) -> u32 {
    if base >= 32 {
        return u32::MAX;
    }
    let set = |index: &u32| value >> index & 1 != 0;
    let found = match offset {
        0 => return if set(&base) { base } else { u32::MAX },
        1.. => (base..32).filter(set).nth(offset as usize - 1),
        _ => (0..=base).rev().filter(set).nth(offset.unsigned_abs() as usize - 1),
    };
    found.unwrap_or(u32::MAX)
}

fn bmsk(position: u32, width: u32, clamps: bool) -> u32 {
    let (position, width) =
        if clamps { (position.min(32), width.min(32)) } else { (position & 31, width & 31) };
    (mask(width) << position) as u32
}

fn szext(value: u32, width: u32, ty: Type, clamps: bool) -> u32 {
    let width = if clamps { width.min(32) } else { width & 31 };
    match (width, ty) {
        (0, _) => 0,
        (_, Type::S32) => ((value << (32 - width)) as i32 >> (32 - width)) as u32,
        _ => value & mask(width) as u32,
    }
}

fn shf(left: bool, wrap: bool, a: u32, b: u32, count: u32) -> u32 {
    let count = if wrap { count & 31 } else { count.min(32) };
    let both = u64::from(b) << 32 | u64::from(a);
    if left { ((both << count) >> 32) as u32 } else { (both >> count) as u32 }
}

fn prmt(mode: Permute, a: u32, b: u32, selector: u32) -> u32 {
    let both = u64::from(b) << 32 | u64::from(a);
    let byte = |index: u32| (both >> (8 * (index & 7)) & 0xff) as u8;
    let s = selector & 3;
    let pick = |index: u32| -> u8 {
        match mode {
            Permute::Forward => byte(s + index),
            Permute::Backward => byte((8 + s - index) & 7),
            Permute::ReplicateByte => byte(s),
            Permute::ClampLeft => byte(index.max(s)),
            Permute::ClampRight => byte(index.min(s)),
            Permute::ReplicateHalf => byte(2 * (s & 1) + (index & 1)),
            Permute::Nibbles => {
                let nibble = selector >> (4 * index) & 0xf;
                let value = byte(nibble);
                if nibble & 8 != 0 { ((value as i8) >> 7) as u8 } else { value }
            }
        }
    };
    u32::from_le_bytes([pick(0), pick(1), pick(2), pick(3)])
}
