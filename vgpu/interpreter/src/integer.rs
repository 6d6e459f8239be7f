//! What integer arithmetic computes for one lane.
//!
//! Values are the low bits of a `u64`; what lies above the type's width is ignored in
//! operands and zero in results.

use gangway_ptx::Type;
use gangway_ptx::meaning::{Carry, CarryOperation, Dot, DotShape, Integer, Packed, Part};

/// The low bits of a type's width.
#[must_use]
pub const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The value of the low bits, by the type's signedness.
#[must_use]
pub fn extend(value: u64, ty: Type) -> i128 {
    let shift = 64 - ty.bits();
    if ty.is_signed() {
        i128::from((value << shift) as i64 >> shift)
    } else {
        i128::from(value & mask(ty.bits()))
    }
}

fn clamp(value: i128, ty: Type) -> u64 {
    let (least, most) = ty.limits();
    value.clamp(least, most) as u64 & mask(ty.bits())
}

/// The result of arithmetic on values of one type.
#[must_use]
pub fn evaluate(op: Integer, ty: Type, a: u64, b: u64, c: u64) -> u64 {
    let bits = ty.bits();
    let wide = |value: u64| extend(value, ty);
    let fit = |value: i128| value as u64 & mask(bits);
    // Modulo 2^128, which holds all bits that any form asks for.
    let product = || wide(a).wrapping_mul(wide(b));
    let part_of = |part: Part| if part == Part::High { product() >> bits } else { product() };
    match op {
        Integer::Add { sat: true } => clamp(wide(a) + wide(b), ty),
        Integer::Sub { sat: true } => clamp(wide(a) - wide(b), ty),
        Integer::Add { sat: false } => a.wrapping_add(b) & mask(bits),
        Integer::Sub { sat: false } => a.wrapping_sub(b) & mask(bits),
        Integer::Mul(Part::Wide) => product() as u64 & mask(bits * 2),
        Integer::Mul(part @ (Part::Low | Part::High)) => fit(part_of(part)),
        Integer::Mad { part: Part::Wide, .. } => (product() as u64).wrapping_add(c) & mask(bits * 2),
        Integer::Mad { part, sat: true } => clamp(part_of(part) + wide(c), ty),
        Integer::Mad { part, sat: false } => (part_of(part) as u64).wrapping_add(c) & mask(bits),
        Integer::Mul24 { high } => fit(product_24(ty, high, a, b)),
        Integer::Mad24 { high, sat: true } => clamp(product_24(ty, high, a, b) + wide(c), ty),
        Integer::Mad24 { high, sat: false } => fit(product_24(ty, high, a, b) + wide(c)),
        Integer::Sad => fit(wide(c) + (wide(a) - wide(b)).abs()),
        // Without a divisor the ISA leaves the result open: all ones, and the dividend.
        Integer::Div => fit(wide(a).checked_div(wide(b)).unwrap_or(-1)),
        Integer::Rem => fit(wide(a).checked_rem(wide(b)).unwrap_or(wide(a))),
        Integer::Abs => fit(wide(a).abs()),
        Integer::Neg => fit(-wide(a)),
        Integer::Min { relu } => fit(positive(relu, wide(a).min(wide(b)))),
        Integer::Max { relu } => fit(positive(relu, wide(a).max(wide(b)))),
    }
}

/// `.relu`: zero instead of what is negative.
fn positive(relu: bool, value: i128) -> i128 {
    if relu { value.max(0) } else { value }
}

/// 32 bits of the product of 24-bit factors: the low ones, or those from bit 16 on.
fn product_24(ty: Type, high: bool, a: u64, b: u64) -> i128 {
    let narrow = |value: u64| match ty {
        Type::S32 => i128::from(((value as i32) << 8) >> 8),
        _ => i128::from(value & 0xff_ffff),
    };
    let product = narrow(a) * narrow(b);
    extend(if high { product >> 16 } else { product } as u64, ty)
}

/// A link of a carry chain. `carry` is the lane's condition code.
pub fn carry(link: Carry, a: u64, b: u64, c: u64, carry: &mut bool) -> u64 {
    let bits = link.ty.bits();
    let low = |value: u64| u128::from(value & mask(bits));
    let carried = u128::from(link.takes && *carry);
    let sum = match link.op {
        CarryOperation::Add => low(a) + low(b) + carried,
        // The carry of the addition that a subtraction is on hardware: set when nothing
        // was borrowed. The ISA calls it "borrow", and only the code that NVIDIA's
        // assembler makes tells what `addc` sees after `sub.cc`.
        CarryOperation::Sub => low(a) + low(!b) + if link.takes { carried } else { 1 },
        CarryOperation::Mad { high } => {
            let product = extend(a, link.ty).wrapping_mul(extend(b, link.ty));
            low(if high { product >> bits } else { product } as u64) + low(c) + carried
        }
    };
    if link.gives {
        *carry = sum >> bits != 0;
    }
    sum as u64 & mask(bits)
}

/// Two halves of a word.
#[must_use]
pub fn packed(op: Packed, ty: Type, relu: bool, a: u64, b: u64) -> u64 {
    let half = if ty == Type::S16x2 { Type::S16 } else { Type::U16 };
    [0, 16].into_iter().fold(0, |result, shift| {
        let (a, b) = (extend(a >> shift, half), extend(b >> shift, half));
        let value = match op {
            Packed::Add => a + b,
            Packed::Min => a.min(b),
            Packed::Max => a.max(b),
        };
        result | (positive(relu, value) as u64 & 0xffff) << shift
    })
}

/// `dp4a` and `dp2a`: products of bytes, or of halves with bytes, and their sum.
#[must_use]
pub fn dot(dot: Dot, a: u64, b: u64, c: u64) -> u32 {
    let element = |value: u64, index: u32, bits: u32, signed: bool| {
        let ty = match (bits, signed) {
            (8, true) => Type::S8,
            (8, false) => Type::U8,
            (_, true) => Type::S16,
            (_, false) => Type::U16,
        };
        extend(value >> (index * bits), ty)
    };
    let (count, bits, offset) = match dot.shape {
        DotShape::Four => (4, 8, 0),
        DotShape::TwoLow => (2, 16, 0),
        DotShape::TwoHigh => (2, 16, 2),
    };
    let [first, second] = dot.signed;
    (0..count).fold(c as u32, |sum, index| {
        let product = element(a, index, bits, first) * element(b, index + offset, 8, second);
        sum.wrapping_add(product as u32)
    })
}
