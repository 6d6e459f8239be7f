//! Floating-point arithmetic of 32 and 64 bits, rounding to nearest, with the exact
//! instructions of the processor; and those approximations that are roots and quotients.
//!
//! 32-bit results that are NaN are the canonical one, 64-bit ones keep the first NaN
//! operand's payload, which is what the processor does.

use cranelift_codegen::ir::Value;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use gangway_ptx::{Op, Opcode, Type, Word};

use super::emit::{Emit, Quad, Source};

const SIGN_32: u64 = 0x8000_0000;
const SIGN_64: u64 = 1 << 63;

pub(super) const fn sign_bit(ty: Type) -> u64 {
    if ty.bits() == 64 { SIGN_64 } else { SIGN_32 }
}

pub(super) const fn exponent(ty: Type) -> u64 {
    if ty.bits() == 64 { 0x7ff0_0000_0000_0000 } else { 0x7f80_0000 }
}

/// The result, or `None` for other types, rounding modes and instructions.
pub(super) fn compute(e: &mut Emit, opcode: &Opcode, sources: &[Source]) -> Option<Quad> {
    let ty = opcode.ty(0)?;
    if !matches!(ty, Type::F32 | Type::F64) || !is_nearest(opcode) {
        return None;
    }
    if matches!(opcode.op, Op::Fma | Op::Mad) && !e.features.fma {
        return None;
    }
    let approximate = opcode.has(Word::Approx) || opcode.has(Word::Full);
    if !is_known(opcode.op, approximate) {
        return None;
    }
    let quad = |index: usize| sources.get(index.min(sources.len() - 1)).map(|source| source.quad);
    let bound = sources.get(1).and_then(|source| source.constant);
    let (a, b, c) = (quad(0)?, quad(1)?, quad(2)?);
    Some(e.each([a, b, c], |e, [a, b, c]| {
        let [a, b, c] = [a, b, c].map(|value| flushed_input(e, opcode, ty, value));
        match opcode.op {
            Op::Abs => return magnitude(e, ty, a),
            Op::Neg => {
                let negative = xor_bits(e, a, sign_bit(ty));
                return if ty == Type::F32 { canonical(e, negative) } else { negative };
            }
            Op::Copysign => {
                let (magnitude, sign) = (e.and_bits(b, !sign_bit(ty)), e.and_bits(a, sign_bit(ty)));
                return e.or(magnitude, sign);
            }
            Op::Min | Op::Max => return extreme(e, opcode, ty, a, b, bound),
            _ => {}
        }
        let (x, y, z) = (e.float(a), e.float(b), e.float(c));
        let result = match opcode.op {
            Op::Add => e.fadd(x, y),
            Op::Sub => e.fsub(x, y),
            Op::Mul => e.fmul(x, y),
            // Of two factors that are NaN the processor takes the second's payload.
            Op::Fma | Op::Mad => e.fma(y, x, z),
            Op::Div => e.fdiv(x, y),
            Op::Sqrt => e.sqrt(x),
            // `Rcp` and `Rsqrt`, the latter with half a unit more of error than `sqrt` and `div`
            // would have together, well inside the 2^-22.9 that it may have.
            _ => {
                let one = e.float_like(x, 1.0);
                let divisor = if opcode.op == Op::Rsqrt { e.sqrt(x) } else { x };
                e.fdiv(one, divisor)
            }
        };
        let result = if opcode.has(Word::Sat) { saturated(e, result) } else { result };
        let result = e.register(result);
        flushed(e, opcode, ty, result)
    }))
}

fn is_known(op: Op, approximate: bool) -> bool {
    match op {
        Op::Add | Op::Sub | Op::Mul | Op::Fma | Op::Mad | Op::Div | Op::Sqrt | Op::Rcp => true,
        Op::Abs | Op::Neg | Op::Copysign | Op::Min | Op::Max => true,
        Op::Rsqrt => approximate,
        _ => false,
    }
}

pub(super) fn is_nearest(opcode: &Opcode) -> bool {
    opcode.first_of(&[Word::Rz, Word::Rm, Word::Rp, Word::Rna]).is_none()
}

fn xor_bits(e: &mut Emit, a: Value, bits: u64) -> Value {
    let mask = e.like(a, bits);
    e.xor(a, mask)
}

/// A 32-bit value with the only NaN that there is.
pub(super) fn canonical(e: &mut Emit, value: Value) -> Value {
    let float = e.cast(crate::value::float_of(e.ty(value)), value);
    e.register(float)
}

fn magnitude(e: &mut Emit, ty: Type, a: Value) -> Value {
    let magnitude = e.and_bits(a, !sign_bit(ty));
    if ty == Type::F32 { canonical(e, magnitude) } else { magnitude }
}

/// `.ftz`: subnormal operands are zeros of their sign.
pub(super) fn flushed_input(e: &mut Emit, opcode: &Opcode, ty: Type, value: Value) -> Value {
    if opcode.has(Word::Ftz) { flush(e, ty, value) } else { value }
}

fn flushed(e: &mut Emit, opcode: &Opcode, ty: Type, value: Value) -> Value {
    if opcode.has(Word::Ftz) { flush(e, ty, value) } else { value }
}

pub(super) fn flush(e: &mut Emit, ty: Type, value: Value) -> Value {
    let magnitude = e.and_bits(value, exponent(ty));
    let zero = e.like(value, 0);
    let subnormal = e.compare(IntCC::Equal, magnitude, zero);
    let sign = e.and_bits(value, sign_bit(ty));
    e.select(subnormal, sign, value)
}

/// `.sat`: into [0, 1]; NaN becomes +0.
pub(super) fn saturated(e: &mut Emit, float: Value) -> Value {
    let (zero, one) = (e.float_like(float, 0.0), e.float_like(float, 1.0));
    let positive = e.greater(float, zero);
    e.lesser(positive, one)
}

/// `min` and `max`: a NaN gives way to a number, and -0 is below +0. `bound` is the second
/// operand where it is a constant, mostly one that the processor's own instruction does right.
fn extreme(e: &mut Emit, opcode: &Opcode, ty: Type, a: Value, b: Value, bound: Option<u64>) -> Value {
    let least = opcode.op == Op::Min;
    let (x, y) = (e.float(a), e.float(b));
    let pick = |e: &mut Emit, x: Value, y: Value| if least { e.lesser(x, y) } else { e.greater(x, y) };
    let number = |bits: u64| bits & (sign_bit(ty) - 1) <= exponent(ty);
    // Of a NaN and a number, and of equal zeros, the second is taken.
    let zero_is_right = |bits: u64| bits & (sign_bit(ty) - 1) != 0 || (bits == 0) != least;
    if let Some(bits) = bound
        && number(bits)
        && zero_is_right(bits)
        && !opcode.has(Word::Nan)
        && !opcode.has(Word::Ftz)
    {
        let chosen = pick(e, x, y);
        return e.integer(chosen);
    }
    // Both ways round: they differ only for zeros and NaNs.
    let (forth, back) = (pick(e, x, y), pick(e, y, x));
    let (forth, back) = (e.integer(forth), e.integer(back));
    let chosen = if least { e.or(forth, back) } else { e.and(forth, back) };
    let (nan_x, nan_y) = (nan(e, x), nan(e, y));
    let (a, b) = (e.integer(x), e.integer(y));
    let bits = if ty == Type::F32 { super::emit::NAN_32 } else { 0xfff8_0000_0000_0000 };
    let canonical = e.like(a, bits);
    if opcode.has(Word::Nan) {
        let either = e.compare_floats(FloatCC::Unordered, x, y);
        return e.select(either, canonical, chosen);
    }
    let chosen = e.select(nan_y, a, chosen);
    let other = e.select(nan_y, canonical, b);
    e.select(nan_x, other, chosen)
}

/// `min` and `max` of singles that nothing is known about.
pub(super) fn extreme_32(e: &mut Emit, opcode: &Opcode, a: Value, b: Value) -> Value {
    extreme(e, opcode, Type::F32, a, b, None)
}

pub(super) fn nan(e: &mut Emit, float: Value) -> Value {
    e.compare_floats(FloatCC::Unordered, float, float)
}

/// `testp`, by the bits without the sign.
pub(super) fn test(e: &mut Emit, opcode: &Opcode, a: Quad) -> Option<Value> {
    let ty = opcode.ty(0)?;
    let kinds = [Word::Finite, Word::Infinite, Word::Number, Word::NotANumber, Word::Normal, Word::Subnormal];
    let kind = opcode.first_of(&kinds)?;
    if !matches!(ty, Type::F32 | Type::F64) {
        return None;
    }
    let mask = e.each([a], |e, [a]| {
        let magnitude = e.and_bits(a, sign_bit(ty) - 1);
        let infinity = e.like(a, exponent(ty));
        let compare = |e: &mut Emit, cc| e.compare(cc, magnitude, infinity);
        match kind {
            Word::Finite => compare(e, IntCC::SignedLessThan),
            Word::Infinite => compare(e, IntCC::Equal),
            Word::Number => compare(e, IntCC::SignedLessThanOrEqual),
            Word::NotANumber => compare(e, IntCC::SignedGreaterThan),
            Word::Normal => {
                let finite = compare(e, IntCC::SignedLessThan);
                let least = e.like(a, exponent(ty) & exponent(ty).wrapping_neg());
                let large = e.compare(IntCC::SignedGreaterThanOrEqual, magnitude, least);
                e.and(finite, large)
            }
            _ => {
                let (zero, least) = (e.like(a, 0), e.like(a, exponent(ty) & exponent(ty).wrapping_neg()));
                let some = e.compare(IntCC::SignedGreaterThan, magnitude, zero);
                let small = e.compare(IntCC::SignedLessThan, magnitude, least);
                e.and(some, small)
            }
        }
    });
    Some(e.narrow_mask(mask))
}
