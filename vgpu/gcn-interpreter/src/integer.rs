//! Integer operations that the language has no word for.

use crate::mode::Context;

/// The sum of 32 bits, and whether it was too large. A clamped one stops at the largest.
pub fn add_u32(context: &Context, a: u64, b: u64, carry: u64) -> (u64, bool) {
    let sum = (a & 0xffff_ffff) + (b & 0xffff_ffff) + carry;
    let over = sum >> 32 != 0;
    (if over && context.clamp { 0xffff_ffff } else { sum & 0xffff_ffff }, over)
}

/// The difference, and whether it was below 0. A clamped one stops there.
pub fn sub_u32(context: &Context, a: u64, b: u64, borrow: u64) -> (u64, bool) {
    let difference = (a & 0xffff_ffff).wrapping_sub(b & 0xffff_ffff).wrapping_sub(borrow);
    let under = difference >> 63 != 0;
    (if under && context.clamp { 0 } else { difference & 0xffff_ffff }, under)
}

/// The low bits of an exact result; clamped to what so many bits with a sign hold.
pub fn signed(context: &Context, bits: u32, exact: i128) -> u64 {
    let limit = 1i128 << (bits - 1);
    let value = if context.clamp { exact.clamp(-limit, limit - 1) } else { exact };
    value as u64 & u64::MAX >> (64 - bits)
}

/// The same without a sign.
pub fn unsigned(context: &Context, bits: u32, exact: i128) -> u64 {
    let value = if context.clamp { exact.clamp(0, (1i128 << bits) - 1) } else { exact };
    value as u64 & u64::MAX >> (64 - bits)
}

/// The low bits of a value with their sign.
pub const fn extend(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)).cast_signed() >> (64 - bits)
}

pub const fn i32_of(value: u64) -> i32 {
    value as u32 as i32
}

pub const fn i16_of(value: u64) -> i16 {
    value as u16 as i16
}

pub const fn i24_of(value: u64) -> i64 {
    extend(value, 24)
}

/// A field of bits: where and how many are in one word, or in two.
pub const fn field_u32(value: u64, offset: u64, width: u64) -> u64 {
    let (offset, width) = (offset as u32 & 31, width as u32 & 31);
    (value & 0xffff_ffff) >> offset & ((1 << width) - 1)
}

pub const fn field_i32(value: u64, offset: u64, width: u64) -> u64 {
    let (offset, width) = (offset as u32 & 31, width as u32 & 31);
    // What lies beyond the word's end is its sign.
    let shifted = i32_of(value) >> offset;
    if width == 0 { 0 } else { extend(shifted as u32 as u64, width) as u32 as u64 }
}

/// How far the highest bit is from the top that differs from the sign; -1 if none does.
pub const fn leading_sign(value: i32) -> u64 {
    let differing = (value ^ (value >> 31)) as u32;
    if differing == 0 { 0xffff_ffff } else { differing.leading_zeros() as u64 }
}

/// The same of the highest bit that is set.
pub const fn leading(value: u32) -> u64 {
    if value == 0 { 0xffff_ffff } else { value.leading_zeros() as u64 }
}

/// Where the lowest bit is that is set; -1 if none is.
pub const fn trailing(value: u32) -> u64 {
    if value == 0 { 0xffff_ffff } else { value.trailing_zeros() as u64 }
}

pub const fn byte(value: u64, number: u32) -> u64 {
    value >> (8 * number) & 0xff
}

pub const fn half(value: u64, number: u32) -> u64 {
    value >> (16 * number) & 0xffff
}

/// The sum of bytes' differences.
pub fn differences(a: u64, b: u64) -> u64 {
    (0..4).map(|number| byte(a, number).abs_diff(byte(b, number))).sum()
}

/// The same, where bytes of the second that are 0 do not count.
pub fn masked_differences(a: u64, b: u64) -> u64 {
    let counts = (0..4).filter(|number| byte(b, *number) != 0);
    counts.map(|number| byte(a, number).abs_diff(byte(b, number))).sum()
}

/// Four sums of differences, of which each begins a byte further on, added to halves.
pub fn four_differences(context: &Context, of: fn(u64, u64) -> u64, [a, b, c]: [u64; 3]) -> u64 {
    (0..4).fold(0, |found, number| {
        let sum = of(a >> (8 * number) & 0xffff_ffff, b) + half(c, number);
        found | unsigned(context, 16, i128::from(sum)) << (16 * number)
    })
}

/// Bytes of two words, zeros and ones, as four selectors say (`V_PERM_B32`).
pub fn permute(a: u64, b: u64, selectors: u64) -> u64 {
    let both = a << 32 | b & 0xffff_ffff;
    let pick = |selector: u64| match selector {
        0..8 => byte(both, selector as u32),
        // Signs of the odd bytes.
        8..12 => {
            let sign = both >> (16 * (selector - 8) + 15) & 1;
            sign * 0xff
        }
        12 => 0,
        _ => 0xff,
    };
    (0..4).fold(0, |found, number| found | pick(byte(selectors, number)) << (8 * number))
}

/// Averages of bytes, rounded up where the third's bit is set (`V_LERP_U8`).
pub fn averages(a: u64, b: u64, round: u64) -> u64 {
    (0..4).fold(0, |found, number| {
        let sum = byte(a, number) + byte(b, number) + (round >> (8 * number) & 1);
        found | sum >> 1 << (8 * number)
    })
}

/// The sum of products of packed numbers, and a third.
pub fn dot(context: &Context, bits: u32, sign: bool, [a, b, c]: [u64; 3]) -> u64 {
    let part = |value: u64, number: u32| {
        let value = value >> (bits * number);
        if sign { i128::from(extend(value, bits)) } else { i128::from(value & ((1 << bits) - 1)) }
    };
    let products: i128 = (0..32 / bits).map(|number| part(a, number) * part(b, number)).sum();
    if sign {
        signed(context, 32, products + i128::from(i32_of(c)))
    } else {
        unsigned(context, 32, products + i128::from(c as u32))
    }
}
