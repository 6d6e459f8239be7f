//! Floating-point arithmetic of 32 and 64 bits, rounding to nearest, with the exact
//! instructions of the processor; and those approximations that are roots and quotients.
//!
//! 32-bit results that are NaN are the canonical one, 64-bit ones keep the first NaN
//! operand's payload, which is what the processor does.

use gangway_ptx::Type;
use gangway_ptx::meaning::{Approximate, Float, Mode, Rounding, Test};
use gangway_simt::{CANONICAL_NAN, FloatOrder, IntOrder, Value};

use super::Emit;

const SIGN_32: u64 = 0x8000_0000;
const SIGN_64: u64 = 1 << 63;

pub(super) const fn sign_bit(ty: Type) -> u64 {
    if ty.bits() == 64 { SIGN_64 } else { SIGN_32 }
}

pub(super) const fn exponent(ty: Type) -> u64 {
    if ty.bits() == 64 { 0x7ff0_0000_0000_0000 } else { 0x7f80_0000 }
}

/// The result, or `None` for rounding modes that the processor has not by itself.
pub(super) fn compute(e: &mut Emit, op: Float, ty: Type, mode: Mode, sources: &[Value]) -> Option<Value> {
    if mode.rounding != Rounding::NearestEven || op == Float::Fma && !e.fma {
        return None;
    }
    let bound = sources.get(1).and_then(|&source| e.constant_of(source));
    let [a, b, c] = operands(e, ty, mode.ftz, sources)?;
    let floats = |e: &mut Emit| (e.as_number(a), e.as_number(b), e.as_number(c));
    let result = match op {
        Float::Abs => return Some(magnitude(e, ty, a)),
        Float::Neg => {
            let sign = e.like(a, sign_bit(ty));
            let negative = e.xor(a, sign);
            return Some(if ty == Type::F32 { canonical(e, negative) } else { negative });
        }
        Float::Copysign => {
            let (magnitude, sign) = (e.and_bits(b, !sign_bit(ty)), e.and_bits(a, sign_bit(ty)));
            return Some(e.or(magnitude, sign));
        }
        Float::Min { nan } => {
            return Some(extreme(e, Extreme { least: true, nan, ftz: mode.ftz }, ty, a, b, bound));
        }
        Float::Max { nan } => {
            return Some(extreme(e, Extreme { least: false, nan, ftz: mode.ftz }, ty, a, b, bound));
        }
        Float::Add => {
            let (x, y, _) = floats(e);
            e.fadd(x, y)
        }
        Float::Sub => {
            let (x, y, _) = floats(e);
            e.fsub(x, y)
        }
        Float::Mul => {
            let (x, y, _) = floats(e);
            e.fmul(x, y)
        }
        Float::Fma => {
            let (x, y, z) = floats(e);
            // Of two factors that are NaN the processor takes the second's payload.
            e.fma(y, x, z)
        }
        Float::Div => {
            let (x, y, _) = floats(e);
            e.fdiv(x, y)
        }
        Float::Sqrt => {
            let x = e.as_number(a);
            e.sqrt(x)
        }
        Float::Rcp => {
            let x = e.as_number(a);
            reciprocal(e, x)
        }
    };
    let result = if mode.sat { saturated(e, result) } else { result };
    Some(finished(e, ty, mode.ftz, result))
}

/// The approximations that are roots and quotients.
pub(super) fn quotient(
    e: &mut Emit,
    op: Approximate,
    ty: Type,
    ftz: bool,
    sources: &[Value],
) -> Option<Value> {
    let operation: fn(&mut Emit, Value, Value) -> Value = match op {
        Approximate::Div => |e, x, y| e.fdiv(x, y),
        Approximate::Sqrt => |e, x, _| e.sqrt(x),
        Approximate::Rcp => |e, x, _| reciprocal(e, x),
        // With half a unit more of error than `sqrt` and `div` would have together, well inside
        // the 2^-22.9 that it may have.
        Approximate::Rsqrt => |e, x, _| {
            let root = e.sqrt(x);
            reciprocal(e, root)
        },
        Approximate::Sin | Approximate::Cos | Approximate::Lg2 | Approximate::Ex2 | Approximate::Tanh => {
            return None;
        }
    };
    let [a, b, _] = operands(e, ty, ftz, sources)?;
    let (x, y) = (e.as_number(a), e.as_number(b));
    let result = operation(e, x, y);
    Some(finished(e, ty, ftz, result))
}

/// Up to three operands, flushed; where there are fewer, the last one stands for the others.
fn operands(e: &mut Emit, ty: Type, ftz: bool, sources: &[Value]) -> Option<[Value; 3]> {
    let last = *sources.last()?;
    Some([0, 1, 2].map(|index| flushed(e, ty, ftz, sources.get(index).copied().unwrap_or(last))))
}

fn reciprocal(e: &mut Emit, x: Value) -> Value {
    let one = e.float_like(x, 1.0);
    e.fdiv(one, x)
}

fn finished(e: &mut Emit, ty: Type, ftz: bool, result: Value) -> Value {
    let result = e.register(result);
    flushed(e, ty, ftz, result)
}

/// A 32-bit value with the only NaN that there is.
fn canonical(e: &mut Emit, value: Value) -> Value {
    let float = e.as_float(value);
    e.register(float)
}

fn magnitude(e: &mut Emit, ty: Type, a: Value) -> Value {
    let magnitude = e.and_bits(a, !sign_bit(ty));
    if ty == Type::F32 { canonical(e, magnitude) } else { magnitude }
}

/// With `.ftz`, subnormal values are zeros of their sign.
pub(super) fn flushed(e: &mut Emit, ty: Type, ftz: bool, value: Value) -> Value {
    if ftz { flush(e, ty, value) } else { value }
}

pub(super) fn flush(e: &mut Emit, ty: Type, value: Value) -> Value {
    let magnitude = e.and_bits(value, exponent(ty));
    let zero = e.like(value, 0);
    let subnormal = e.compare(IntOrder::Equal, magnitude, zero);
    let sign = e.and_bits(value, sign_bit(ty));
    e.select(subnormal, sign, value)
}

/// `.sat`: into [0, 1]; NaN becomes +0.
pub(super) fn saturated(e: &mut Emit, float: Value) -> Value {
    let (zero, one) = (e.float_like(float, 0.0), e.float_like(float, 1.0));
    let positive = e.greater(float, zero);
    e.lesser(positive, one)
}

/// Which of two values `min` or `max` takes.
#[derive(Clone, Copy)]
pub(super) struct Extreme {
    pub least: bool,
    /// Whether the result is a NaN where one operand is.
    pub nan: bool,
    pub ftz: bool,
}

/// `min` and `max`: a NaN gives way to a number, and -0 is below +0. `bound` is the second
/// operand where it is a constant, mostly one that the processor's own instruction does right.
fn extreme(e: &mut Emit, which: Extreme, ty: Type, a: Value, b: Value, bound: Option<u64>) -> Value {
    let least = which.least;
    let (x, y) = (e.as_number(a), e.as_number(b));
    let pick = |e: &mut Emit, x: Value, y: Value| if least { e.lesser(x, y) } else { e.greater(x, y) };
    let number = |bits: u64| bits & (sign_bit(ty) - 1) <= exponent(ty);
    // Of a NaN and a number, and of equal zeros, the second is taken.
    let zero_is_right = |bits: u64| bits & (sign_bit(ty) - 1) != 0 || (bits == 0) != least;
    if let Some(bits) = bound
        && number(bits)
        && zero_is_right(bits)
        && !which.nan
        && !which.ftz
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
    let bits = if ty == Type::F32 { CANONICAL_NAN } else { 0xfff8_0000_0000_0000 };
    let canonical = e.like(a, bits);
    if which.nan {
        let either = e.compare_floats(FloatOrder::Unordered, x, y);
        return e.select(either, canonical, chosen);
    }
    let chosen = e.select(nan_y, a, chosen);
    let other = e.select(nan_y, canonical, b);
    e.select(nan_x, other, chosen)
}

/// `min` and `max` of singles that nothing is known about.
pub(super) fn extreme_32(e: &mut Emit, which: Extreme, a: Value, b: Value) -> Value {
    extreme(e, which, Type::F32, a, b, None)
}

pub(super) fn nan(e: &mut Emit, float: Value) -> Value {
    e.compare_floats(FloatOrder::Unordered, float, float)
}

/// `testp`, by the bits without the sign.
pub(super) fn test(e: &mut Emit, test: Test, ty: Type, a: Value) -> Value {
    let magnitude = e.and_bits(a, sign_bit(ty) - 1);
    let infinity = e.like(a, exponent(ty));
    let compare = |e: &mut Emit, order| e.compare(order, magnitude, infinity);
    let least = exponent(ty) & exponent(ty).wrapping_neg();
    match test {
        Test::Finite => compare(e, IntOrder::LessSigned),
        Test::Infinite => compare(e, IntOrder::Equal),
        Test::Number => compare(e, IntOrder::LessEqualSigned),
        Test::NotANumber => compare(e, IntOrder::GreaterSigned),
        Test::Normal => {
            let finite = compare(e, IntOrder::LessSigned);
            let least = e.like(a, least);
            let large = e.compare(IntOrder::GreaterEqualSigned, magnitude, least);
            e.and(finite, large)
        }
        Test::Subnormal => {
            let (zero, least) = (e.like(a, 0), e.like(a, least));
            let some = e.compare(IntOrder::GreaterSigned, magnitude, zero);
            let small = e.compare(IntOrder::LessSigned, magnitude, least);
            e.and(some, small)
        }
    }
}
