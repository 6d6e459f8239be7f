//! What integer, logic and shift instructions compute for one lane.
//!
//! Values are the low bits of a `u64`; what lies above the type's width is ignored in
//! operands and zero in results.

use gangway_ptx::{Op, Opcode, Type, Word};

/// The low bits of a type's width.
pub const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The value of the low bits, by the type's signedness.
pub fn extend(value: u64, ty: Type) -> i128 {
    let shift = 64 - ty.bits();
    if ty.is_signed() {
        i128::from((value << shift) as i64 >> shift)
    } else {
        i128::from(value & mask(ty.bits()))
    }
}

/// The smallest and the largest value of an integer type.
pub fn limits(ty: Type) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn clamp(value: i128, ty: Type) -> u64 {
    let (least, most) = limits(ty);
    value.clamp(least, most) as u64 & mask(ty.bits())
}

/// The result, or `None` for an instruction that is not an integer one. `carry` is the
/// lane's condition code.
pub fn evaluate(opcode: &Opcode, inputs: &[u64], carry: &mut bool) -> Option<u64> {
    let ty = opcode.ty(0)?;
    let input = |index: usize| inputs.get(index).copied().unwrap_or(0);
    let (a, b, c) = (input(0), input(1), input(2));
    let bits = ty.bits();
    let wide = |value: u64| extend(value, ty);
    let fit = |value: i128| Some(value as u64 & mask(bits));
    let has = |word| opcode.has(word);
    if matches!(ty, Type::U16x2 | Type::S16x2) {
        return packed(opcode, ty, a, b);
    }
    if opcode.op == Op::Lop3 {
        return Some(lop3(a, b, c, input(3)) & mask(32));
    }
    match opcode.op {
        Op::And => return Some(a & b & mask(bits)),
        Op::Or => return Some((a | b) & mask(bits)),
        Op::Xor => return Some((a ^ b) & mask(bits)),
        Op::Not if ty == Type::Pred => return Some(!a & 1),
        Op::Not => return Some(!a & mask(bits)),
        Op::Cnot => return Some(u64::from(a & mask(bits) == 0)),
        Op::Popc => return Some((a & mask(bits)).count_ones().into()),
        Op::Clz => return Some(((a & mask(bits)).leading_zeros() - (64 - bits)).into()),
        Op::Brev => return Some(a.reverse_bits() >> (64 - bits)),
        Op::Bfind => return Some(bfind(a, ty, has(Word::Shiftamt))),
        Op::Bfe => return Some(bfe(a, b, c, ty)),
        Op::Bfi => return Some(bfi(a, b, c, input(3), bits)),
        Op::Fns => return Some(fns(a as u32, b as u32, c as i32).into()),
        Op::Bmsk => return Some(bmsk(a as u32, b as u32, has(Word::Clamp)).into()),
        Op::Szext => return Some(szext(a as u32, b as u32, ty, has(Word::Clamp)).into()),
        Op::Prmt => return Some(prmt(opcode, a as u32, b as u32, c as u32).into()),
        Op::Dp4a | Op::Dp2a => return Some(dot(opcode, a, b, c).into()),
        Op::Shl => return Some(if b as u32 >= bits { 0 } else { a << (b as u32) & mask(bits) }),
        Op::Shr => {
            let count = (b as u32).min(bits);
            return fit(wide(a) >> count);
        }
        Op::Shf => return Some(shf(opcode, a as u32, b as u32, c as u32).into()),
        _ if !ty.is_integer() => return None,
        _ => {}
    }
    if let Some(result) = crate::video::evaluate(opcode, inputs) {
        return Some(result);
    }
    // Modulo 2^128, which holds all bits that any form asks for.
    let product = || wide(a).wrapping_mul(wide(b));
    // The part of a product that `.lo`, `.hi` or `.wide` names.
    let part = |product: i128| if has(Word::Hi) { product >> bits } else { product };
    match opcode.op {
        Op::Add if has(Word::Sat) => Some(clamp(wide(a) + wide(b), ty)),
        Op::Sub if has(Word::Sat) => Some(clamp(wide(a) - wide(b), ty)),
        Op::Add | Op::Addc => {
            let (a, b) = (a & mask(bits), b & mask(bits));
            let sum = u128::from(a) + u128::from(b) + u128::from(opcode.op == Op::Addc && *carry);
            note_carry(opcode, carry, sum >> bits != 0);
            Some(sum as u64 & mask(bits))
        }
        // The carry of the addition that a subtraction is on hardware: set when nothing
        // was borrowed. The ISA calls it "borrow", and only the code that NVIDIA's
        // assembler makes tells what `addc` sees after `sub.cc`.
        Op::Sub | Op::Subc => {
            let (a, b) = (a & mask(bits), !b & mask(bits));
            let sum = u128::from(a) + u128::from(b) + u128::from(opcode.op == Op::Sub || *carry);
            note_carry(opcode, carry, sum >> bits != 0);
            Some(sum as u64 & mask(bits))
        }
        Op::Mul if has(Word::Wide) => Some(product() as u64 & mask(bits * 2)),
        Op::Mul => fit(part(product())),
        Op::Mad if has(Word::Wide) => Some((product() as u64).wrapping_add(c) & mask(bits * 2)),
        Op::Mad if has(Word::Sat) => Some(clamp(part(product()) + wide(c), ty)),
        Op::Mad | Op::Madc => {
            let part = part(product()) as u64 & mask(bits);
            let carried = opcode.op == Op::Madc && *carry;
            let sum = u128::from(part) + u128::from(c & mask(bits)) + u128::from(carried);
            note_carry(opcode, carry, sum >> bits != 0);
            Some(sum as u64 & mask(bits))
        }
        Op::Mul24 | Op::Mad24 => {
            let narrow = |value: u64| match ty {
                Type::S32 => i128::from(((value as i32) << 8) >> 8),
                _ => i128::from(value & 0xff_ffff),
            };
            let product = narrow(a) * narrow(b);
            let part = if has(Word::Hi) { product >> 16 } else { product };
            let part = extend(part as u64, ty);
            match opcode.op {
                Op::Mad24 if has(Word::Sat) => Some(clamp(part + wide(c), ty)),
                Op::Mad24 => fit(part + wide(c)),
                _ => fit(part),
            }
        }
        Op::Sad => fit(wide(c) + (wide(a) - wide(b)).abs()),
        // Without a divisor the ISA leaves the result open: all ones, and the dividend.
        Op::Div => fit(wide(a).checked_div(wide(b)).unwrap_or(-1)),
        Op::Rem => fit(wide(a).checked_rem(wide(b)).unwrap_or(wide(a))),
        Op::Abs => fit(wide(a).abs()),
        Op::Neg => fit(-wide(a)),
        Op::Min | Op::Max => {
            let chosen = if opcode.op == Op::Min { wide(a).min(wide(b)) } else { wide(a).max(wide(b)) };
            fit(if has(Word::Relu) { chosen.max(0) } else { chosen })
        }
        _ => None,
    }
}

fn note_carry(opcode: &Opcode, carry: &mut bool, out: bool) {
    if opcode.has(Word::Cc) {
        *carry = out;
    }
}

fn packed(opcode: &Opcode, ty: Type, a: u64, b: u64) -> Option<u64> {
    let half = if ty == Type::S16x2 { Type::S16 } else { Type::U16 };
    let mut result = 0;
    for shift in [0, 16] {
        let (a, b) = (extend(a >> shift, half), extend(b >> shift, half));
        let value = match opcode.op {
            Op::Add => a + b,
            Op::Min => a.min(b),
            Op::Max => a.max(b),
            _ => return None,
        };
        let value = if opcode.has(Word::Relu) { value.max(0) } else { value };
        result |= (value as u64 & 0xffff) << shift;
    }
    Some(result)
}

/// Each bit of `table` is the result for one combination of the inputs' bits.
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

fn shf(opcode: &Opcode, a: u32, b: u32, count: u32) -> u32 {
    let count = if opcode.has(Word::Wrap) { count & 31 } else { count.min(32) };
    let both = u64::from(b) << 32 | u64::from(a);
    if opcode.has(Word::L) { ((both << count) >> 32) as u32 } else { (both >> count) as u32 }
}

fn prmt(opcode: &Opcode, a: u32, b: u32, selector: u32) -> u32 {
    let both = u64::from(b) << 32 | u64::from(a);
    let byte = |index: u32| (both >> (8 * (index & 7)) & 0xff) as u8;
    let s = selector & 3;
    let pick = |index: u32| -> u8 {
        let modes = [Word::F4e, Word::B4e, Word::Rc8, Word::Ecl, Word::Ecr, Word::Rc16];
        match opcode.first_of(&modes) {
            Some(Word::F4e) => byte(s + index),
            Some(Word::B4e) => byte((8 + s - index) & 7),
            Some(Word::Rc8) => byte(s),
            Some(Word::Ecl) => byte(index.max(s)),
            Some(Word::Ecr) => byte(index.min(s)),
            Some(_) => byte(2 * (s & 1) + (index & 1)),
            None => {
                let nibble = selector >> (4 * index) & 0xf;
                let value = byte(nibble);
                if nibble & 8 != 0 { ((value as i8) >> 7) as u8 } else { value }
            }
        }
    };
    u32::from_le_bytes([pick(0), pick(1), pick(2), pick(3)])
}

fn dot(opcode: &Opcode, a: u64, b: u64, c: u64) -> u32 {
    let signed = |index| opcode.ty(index) == Some(Type::S32);
    let element = |value: u64, index: u32, bits: u32, signed: bool| {
        let ty = match (bits, signed) {
            (8, true) => Type::S8,
            (8, false) => Type::U8,
            (_, true) => Type::S16,
            (_, false) => Type::U16,
        };
        extend(value >> (index * bits), ty)
    };
    let (count, bits) = if opcode.op == Op::Dp4a { (4, 8) } else { (2, 16) };
    let offset = if opcode.has(Word::Hi) { 2 } else { 0 };
    (0..count).fold(c as u32, |sum, index| {
        let product = element(a, index, bits, signed(0)) * element(b, index + offset, 8, signed(1));
        sum.wrapping_add(product as u32)
    })
}
