//! What vectors do not have by themselves: shifts by lanes' own amounts, counts and permutations of
//! bits and bytes.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32X4, I8X16, I32, I32X4};
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_simt::Op;

use super::emit::{Emit, Quad};

impl Emit<'_, '_> {
    /// All by one amount, a scalar, whose value may be known. All of the width and more shift
    /// everything out.
    pub fn shift(&mut self, op: Op, a: Value, amount: Value, known: Option<u64>) -> Value {
        let ty = self.ty(a);
        let width = u64::from(ty.lane_bits());
        if op == Op::ShiftRightSigned {
            let most = self.constant(I32, width - 1);
            let amount = match known {
                Some(known) if known < width => amount,
                Some(_) => most,
                None => self.umin(amount, most),
            };
            return self.builder.ins().sshr(a, amount);
        }
        if known.is_some_and(|known| known >= width) {
            return self.like(a, 0);
        }
        let shifted = match op {
            Op::ShiftLeft => self.builder.ins().ishl(a, amount),
            _ => self.builder.ins().ushr(a, amount),
        };
        if known.is_some() {
            return shifted;
        }
        let limit = self.constant(I32, width);
        let inside = self.compare(IntCC::UnsignedLessThan, amount, limit);
        let mask = self.builder.ins().bmask(ty.lane_type(), inside);
        let mask = if ty.is_vector() { self.builder.ins().splat(ty, mask) } else { mask };
        self.and(shifted, mask)
    }
}

/// Four lanes by an amount each, which the processor has not before AVX2 and Cranelift not at
/// all: by products with powers of two, which the conversion from floats makes.
pub(super) fn shift_lanes(e: &mut Emit, op: Op, a: Value, amounts: Value) -> Value {
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
    if op == Op::ShiftLeft {
        let factor = power(e, amounts);
        let shifted = e.mul(a, factor);
        return e.and(shifted, inside);
    }
    let sign = (op == Op::ShiftRightSigned).then(|| e.sar_by(a, 31));
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

pub(super) fn population(e: &mut Emit, a: Quad) -> Value {
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

pub(super) fn leading_zeros(e: &mut Emit, a: Quad) -> Value {
    let Quad::Two(..) = a else { return leading_zeros_32(e, a.first()) };
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

pub(super) fn reverse(e: &mut Emit, a: Value) -> Value {
    let ty = e.ty(a);
    let width = (ty.lane_bits() / 8) as u8;
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

/// Bytes of two words by the nibbles of a selector that is known.
pub(super) fn permute_known(e: &mut Emit, [a, b]: [Value; 2], selector: u64) -> Value {
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
pub(super) fn permute_by(e: &mut Emit, a: Value, b: Value, by: Value) -> Value {
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
    let lanes = crate::cranelift::value::vector_constant(e.builder, I32X4, &LANES);
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
