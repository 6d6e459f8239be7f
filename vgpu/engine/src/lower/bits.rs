//! Logic, shifts, fields and counts of bits.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32X4, I8X16, I32, I32X4, I64X2};
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_ptx::Type;
use gangway_ptx::meaning::{Bits, Logic, Permute};

use super::emit::{Emit, Quad, Source};
use super::fields;
use super::integer::signed;

pub(super) fn logic(e: &mut Emit, op: Logic, ty: Type, sources: &[Source]) -> Option<Quad> {
    let a = sources.first()?.quad;
    let b = || sources.get(1).map(|source| source.quad);
    Some(match op {
        Logic::And => e.each([a, b()?], |e, [a, b]| e.and(a, b)),
        Logic::Or => e.each([a, b()?], |e, [a, b]| e.or(a, b)),
        Logic::Xor => e.each([a, b()?], |e, [a, b]| e.xor(a, b)),
        Logic::Not => e.each([a], |e, [a]| {
            let inverse = e.not(a);
            e.extend(inverse, ty.bits(), false)
        }),
    })
}

/// `lop3`, whose table is a constant.
pub(super) fn table(e: &mut Emit, sources: &[Source]) -> Option<Quad> {
    let [a, b, c, rows] = sources.first_chunk()?;
    Some(Quad::One(by_table(e, [a, b, c].map(|source| source.quad.first()), rows.constant?)))
}

/// The result; `None` where operands that are mostly constants are not.
pub(super) fn compute(e: &mut Emit, op: Bits, ty: Type, sources: &[Source]) -> Option<Quad> {
    let bits = ty.bits();
    let quad = |index: usize| sources.get(index).map(|source| source.quad);
    let a = quad(0)?;
    Some(match op {
        Bits::IsZero => e.each([a], |e, [a]| {
            let zero = e.like(a, 0);
            let one = e.like(a, 1);
            let is_zero = e.compare(IntCC::Equal, a, zero);
            e.keep(is_zero, one)
        }),
        Bits::ShiftLeft => shift(e, Direction::Left, ty, a, sources.get(1)?),
        Bits::ShiftRight => shift(e, Direction::Right, ty, a, sources.get(1)?),
        Bits::Funnel { left, wrap } => {
            funnel(e, left, wrap, [a, quad(1)?].map(Quad::first), sources.get(2)?)?
        }
        Bits::Extract => fields::extract(e, ty, a, sources.get(1)?, sources.get(2)?),
        Bits::Insert => fields::insert(e, ty, a, quad(1)?, sources.get(2)?, sources.get(3)?),
        Bits::Mask { clamp } => fields::mask(e, sources.first()?, sources.get(1)?, clamp),
        Bits::Extend { clamp } => fields::extend(e, ty, a, sources.get(1)?, clamp),
        Bits::Population => Quad::One(population(e, a)),
        Bits::LeadingZeros => Quad::One(leading_zeros(e, a)),
        Bits::Find { from_top } => {
            let a = if ty.is_signed() {
                e.each([a], |e, [a]| {
                    let sign = e.sar_by(a, bits - 1);
                    e.xor(a, sign)
                })
            } else {
                a
            };
            let zeros = leading_zeros(e, a);
            let none = e.like(zeros, bits.into());
            let all = e.like(zeros, 0xffff_ffff);
            let empty = e.compare(IntCC::Equal, zeros, none);
            let last = e.like(zeros, u64::from(bits - 1));
            let position = if from_top { zeros } else { e.sub(last, zeros) };
            Quad::One(e.select(empty, all, position))
        }
        Bits::Reverse => reverse(e, a),
        Bits::Permute(Permute::Nibbles) => {
            Quad::One(permute(e, [a, quad(1)?].map(Quad::first), sources.get(2)?))
        }
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

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Left,
    Right,
}

/// `shl` and `shr`: amounts of the width and more shift everything out.
pub(super) fn shift(e: &mut Emit, to: Direction, ty: Type, a: Quad, amount: &Source) -> Quad {
    let (bits, arithmetic) = (ty.bits(), to == Direction::Right && ty.is_signed());
    let a = e.each([a], |e, [a]| if to == Direction::Right { signed(e, a, ty) } else { a });
    let fitted = |e: &mut Emit, quad: Quad| e.each([quad], |e, [value]| e.extend(value, bits, false));
    if let Some(amount) = amount.constant {
        let amount = amount as u32;
        let shifted = e.each([a], |e, [a]| match (to, arithmetic) {
            (_, true) => e.sar_by(a, amount.min(bits - 1)),
            _ if amount >= bits => e.like(a, 0),
            (Direction::Left, _) => e.shl_by(a, amount),
            (Direction::Right, false) => e.shr_by(a, amount),
        });
        return fitted(e, shifted);
    }
    // What a register of 32 bits shifts out of a 16-bit value is cut off in the end.
    let width = bits.max(32);
    let shifted = match amount.uniform {
        Some(amount) => e.each([a], |e, [a]| shift_by(e, to, arithmetic, a, amount)),
        None if width == 32 => Quad::One(shift_lanes(e, to, arithmetic, a.first(), amount.quad.first())),
        None => {
            let amounts = e.widen(amount.quad.first(), false);
            e.each([a, amounts], |e, [a, amounts]| {
                e.scalars(&[a, amounts], |e, scalars| {
                    let amount = e.builder.ins().ireduce(I32, scalars[1]);
                    shift_by(e, to, arithmetic, scalars[0], amount)
                })
            })
        }
    };
    fitted(e, shifted)
}

/// All by one amount, a scalar.
fn shift_by(e: &mut Emit, to: Direction, arithmetic: bool, a: Value, amount: Value) -> Value {
    let ty = e.ty(a);
    let width = u64::from(ty.lane_bits());
    if arithmetic {
        let most = e.constant(I32, width - 1);
        let amount = e.umin(amount, most);
        return e.builder.ins().sshr(a, amount);
    }
    let shifted = match to {
        Direction::Left => e.builder.ins().ishl(a, amount),
        Direction::Right => e.builder.ins().ushr(a, amount),
    };
    let limit = e.constant(I32, width);
    let inside = e.compare(IntCC::UnsignedLessThan, amount, limit);
    let mask = e.builder.ins().bmask(ty.lane_type(), inside);
    let mask = if ty.is_vector() { e.builder.ins().splat(ty, mask) } else { mask };
    e.and(shifted, mask)
}

/// Four lanes by an amount each, which the processor has not before AVX2 and Cranelift not at
/// all: by products with powers of two, which the conversion from floats makes.
fn shift_lanes(e: &mut Emit, to: Direction, arithmetic: bool, a: Value, amounts: Value) -> Value {
    let ones = |e: &mut Emit| e.constant(I32X4, 0x3f80_0000);
    let power = |e: &mut Emit, exponents: Value| {
        let (exponents, bias) = (e.shl_by(exponents, 23), ones(e));
        let floats = e.add(exponents, bias);
        let floats = e.cast(F32X4, floats);
        // 2^31 is too large, and what then comes out happens to be 2^31.
        e.builder.ins().x86_cvtt2dq(I32X4, floats)
    };
    let limit = e.constant(I32X4, 31);
    let inside = e.compare(IntCC::UnsignedLessThanOrEqual, amounts, limit);
    if to == Direction::Left {
        let factor = power(e, amounts);
        let shifted = e.mul(a, factor);
        return e.and(shifted, inside);
    }
    let sign = arithmetic.then(|| e.sar_by(a, 31));
    let magnitude = sign.map_or(a, |sign| e.xor(a, sign));
    // a >> n is a * 2^(31 - n) >> 31.
    let exponents = e.sub(limit, amounts);
    let factor = power(e, exponents);
    let (wide, factors) = (e.widen(magnitude, false), e.widen(factor, false));
    let shifted = e.each([wide, factors], |e, [a, factor]| {
        let product = e.mul(a, factor);
        e.shr_by(product, 31)
    });
    let shifted = e.low_words(shifted);
    let shifted = e.and(shifted, inside);
    sign.map_or(shifted, |sign| e.xor(shifted, sign))
}

/// `shf`: 32 bits of the 64 that `b` and `a` make.
fn funnel(e: &mut Emit, left: bool, wraps: bool, [a, b]: [Value; 2], count: &Source) -> Option<Quad> {
    if let Some(count) = count.constant {
        let count = if wraps { count as u32 & 31 } else { (count as u32).min(32) };
        return Some(Quad::One(match (left, count) {
            (true, 0) | (false, 32) => b,
            (false, 0) | (true, 32) => a,
            _ => {
                let (high, low) = if left { (count, 32 - count) } else { (32 - count, count) };
                let (high, low) = (e.shl_by(b, high), e.shr_by(a, low));
                e.or(high, low)
            }
        }));
    }
    let count = count.uniform?;
    let limit = e.constant(I32, if wraps { 31 } else { 32 });
    let count = if wraps { e.and(count, limit) } else { e.umin(count, limit) };
    let both = match e.is_vector(a) {
        true => {
            let interleave = |e: &mut Emit, words: [u8; 4]| {
                let both = crate::value::shuffle_words(e.builder, a, b, words);
                e.cast(I64X2, both)
            };
            Quad::Two(interleave(e, [0, 4, 1, 5]), interleave(e, [2, 6, 3, 7]))
        }
        false => {
            let (Quad::One(low), Quad::One(high)) = (e.widen(a, false), e.widen(b, false)) else {
                return None;
            };
            let high = e.shl_by(high, 32);
            Quad::One(e.or(low, high))
        }
    };
    let shifted = e.each([both], |e, [both]| match left {
        true => e.builder.ins().ishl(both, count),
        false => e.builder.ins().ushr(both, count),
    });
    Some(Quad::One(if left { e.high_words(shifted) } else { e.low_words(shifted) }))
}

fn population(e: &mut Emit, a: Quad) -> Value {
    let first = a.first();
    if !e.is_vector(first) {
        let count = e.builder.ins().popcnt(first);
        return if super::integer::is_wide_scalar(e, first) {
            e.builder.ins().ireduce(I32, count)
        } else {
            count
        };
    }
    let bytes = |e: &mut Emit, value: Value| {
        let bytes = e.cast(I8X16, value);
        let counts = e.builder.ins().popcnt(bytes);
        e.cast(I32X4, counts)
    };
    let counts = match a {
        Quad::One(value) => bytes(e, value),
        Quad::Two(..) => {
            let (low, high) = (e.low_words(a), e.high_words(a));
            let (low, high) = (bytes(e, low), bytes(e, high));
            let (low, high) = (e.cast(I8X16, low), e.cast(I8X16, high));
            let sum = e.add(low, high);
            e.cast(I32X4, sum)
        }
    };
    let ones = e.constant(I32X4, 0x0101_0101);
    let sums = e.mul(counts, ones);
    e.shr_by(sums, 24)
}

fn leading_zeros(e: &mut Emit, a: Quad) -> Value {
    let first = a.first();
    if !e.is_vector(first) {
        let count = e.builder.ins().clz(first);
        return if super::integer::is_wide_scalar(e, first) {
            e.builder.ins().ireduce(I32, count)
        } else {
            count
        };
    }
    let Quad::Two(..) = a else { return leading_zeros_32(e, first) };
    let (low, high) = (e.low_words(a), e.high_words(a));
    let (low_zeros, high_zeros) = (leading_zeros_32(e, low), leading_zeros_32(e, high));
    let zero = e.like(high, 0);
    let empty = e.compare(IntCC::Equal, high, zero);
    let more = e.and(low_zeros, empty);
    e.add(high_zeros, more)
}

/// By the exponent of the value as a float; cleared next to the top bit, so that it does
/// not round up.
fn leading_zeros_32(e: &mut Emit, a: Value) -> Value {
    let half = e.shr_by(a, 1);
    let half = e.not(half);
    let top = e.and(a, half);
    let float = e.builder.ins().fcvt_from_sint(F32X4, top);
    let float = e.cast(I32X4, float);
    let exponent = e.shr_by(float, 23);
    let most = e.constant(I32X4, 158);
    let zeros = e.sub(most, exponent);
    // A set top bit makes it negative; zero has an exponent of zero.
    let (zero, all) = (e.constant(I32X4, 0), e.constant(I32X4, 32));
    let zeros = e.smax(zeros, zero);
    e.smin(zeros, all)
}

fn reverse(e: &mut Emit, a: Quad) -> Quad {
    let width = (e.ty(a.first()).lane_bits() / 8) as u8;
    e.each([a], |e, [a]| {
        if !e.is_vector(a) {
            return e.builder.ins().bitrev(a);
        }
        let ty = e.ty(a);
        let order: Vec<u8> = (0..16).map(|byte| byte / width * width + (width - 1 - byte % width)).collect();
        let swapped = e.shuffle_bytes(a, a, &order);
        const LOW: [u8; 16] = reversed(4);
        const HIGH: [u8; 16] = reversed(0);
        let nibble = e.constant(I8X16, 0x0f);
        let low = e.and(swapped, nibble);
        let words = e.cast(I32X4, swapped);
        let high = e.shr_by(words, 4);
        let high = e.cast(I8X16, high);
        let high = e.and(high, nibble);
        let (low, high) = (e.look_up(&LOW, low), e.look_up(&HIGH, high));
        let reversed = e.or(low, high);
        e.cast(ty, reversed)
    })
}

/// Each nibble with its bits the other way round, shifted up.
const fn reversed(shift: u32) -> [u8; 16] {
    let mut table = [0; 16];
    let mut index = 0;
    while index < 16 {
        table[index] = ((index as u8).reverse_bits() >> 4) << shift;
        index += 1;
    }
    table
}

/// `prmt`: bytes of two words by the nibbles of a selector.
fn permute(e: &mut Emit, [a, b]: [Value; 2], selector: &Source) -> Value {
    let by = selector.quad.first();
    if !e.is_vector(a) {
        let [a, b, by] = [a, b, by].map(|value| e.builder.ins().splat(I32X4, value));
        let permuted = permute_lanes(e, a, b, by, selector.constant);
        return e.builder.ins().extractlane(permuted, 0);
    }
    permute_lanes(e, a, b, by, selector.constant)
}

fn permute_lanes(e: &mut Emit, a: Value, b: Value, by: Value, known: Option<u64>) -> Value {
    let Some(selector) = known else { return permute_by(e, a, b, by) };
    let nibble = |byte: u8| (selector >> (4 * byte) & 0xf) as u8;
    let pattern: Vec<u8> = (0..16)
        .map(|byte| {
            let (lane, source) = (byte / 4 * 4, nibble(byte % 4) & 7);
            if source < 4 { lane + source } else { 16 + lane + source - 4 }
        })
        .collect();
    let moved = e.shuffle_bytes(a, b, &pattern);
    let signs =
        (0..4).filter(|&byte| nibble(byte) & 8 != 0).fold(0u64, |bytes, byte| bytes | 0xff << (8 * byte));
    let words = e.cast(I32X4, moved);
    if signs == 0 {
        return words;
    }
    let negative = negative_bytes(e, moved);
    let (values, spread) = (e.and_bits(words, !signs & 0xffff_ffff), e.and_bits(negative, signs));
    e.or(values, spread)
}

/// All bits of the bytes whose top bit is set.
fn negative_bytes(e: &mut Emit, bytes: Value) -> Value {
    let zero = e.constant(I8X16, 0);
    let negative = e.compare(IntCC::SignedGreaterThan, zero, bytes);
    e.cast(I32X4, negative)
}

/// By a selector of each lane's own.
fn permute_by(e: &mut Emit, a: Value, b: Value, by: Value) -> Value {
    // A nibble in each byte.
    let spread = |e: &mut Emit, value: Value, distance: u32, bits: u64| {
        let moved = e.shl_by(value, distance);
        let both = e.or(value, moved);
        e.and_bits(both, bits)
    };
    let by = e.and_bits(by, 0xffff);
    let by = spread(e, by, 8, 0x00ff_00ff);
    let by = spread(e, by, 4, 0x0f0f_0f0f);
    let within = e.and_bits(by, 0x0303_0303);
    const LANES: [u8; 16] = [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12];
    let lanes = crate::value::vector_constant(e.builder, I32X4, &LANES);
    let index = e.or(within, lanes);
    // What has its top bit set is looked up as zero.
    let second = e.shl_by(by, 5);
    let second = e.and_bits(second, 0x8080_8080);
    let first = e.or(index, second);
    let tops = e.like(second, 0x8080_8080);
    let other = e.xor(second, tops);
    let other = e.or(index, other);
    let look_up = |e: &mut Emit, table: Value, index: Value| {
        let (table, index) = (e.cast(I8X16, table), e.cast(I8X16, index));
        e.builder.ins().x86_pshufb(table, index)
    };
    let (low, high) = (look_up(e, a, first), look_up(e, b, other));
    let bytes = e.or(low, high);
    let negative = negative_bytes(e, bytes);
    let words = e.cast(I32X4, bytes);
    let by_sign = e.shl_by(by, 4);
    let by_sign = e.cast(I8X16, by_sign);
    let by_sign = negative_bytes(e, by_sign);
    let differs = e.xor(words, negative);
    let chosen = e.and(differs, by_sign);
    e.xor(words, chosen)
}
