//! Half precision and bfloat16, computed in single precision and rounded again. Sums and products
//! of so few bits come out the same when they are rounded in two steps. Fused ones are rounded to
//! odd first, so that they do, too.

use gangway_ptx::Type;
use gangway_ptx::meaning::{Half, Mode, Rounding};
use gangway_simt::{FloatOrder, IntOrder, Value};

use super::{Emit, float};

const SIGN: u64 = 0x8000;
const NAN: u64 = 0x7fff;

const fn exponent(ty: Type) -> u64 {
    if matches!(ty, Type::F16) { 0x7c00 } else { 0x7f80 }
}

/// The result, or `None` for rounding modes, and for fused products of `bf16`, which are not
/// exact in single precision.
pub(super) fn compute(e: &mut Emit, op: Half, ty: Type, mode: Mode, sources: &[Value]) -> Option<Value> {
    let each = ty.element();
    if mode.rounding != Rounding::NearestEven || op == Half::Fma && each == Type::Bf16 {
        return None;
    }
    let a = *sources.first()?;
    let operands = [0, 1, 2].map(|index| sources.get(index).copied().unwrap_or(a));
    if each == ty {
        return Some(lane(e, op, each, mode, operands));
    }
    let lows = operands.map(|value| e.and_bits(value, 0xffff));
    let low = lane(e, op, each, mode, lows);
    let highs = operands.map(|value| e.shr_by(value, 16));
    let high = lane(e, op, each, mode, highs);
    let high = e.shl_by(high, 16);
    Some(e.or(low, high))
}

fn lane(e: &mut Emit, op: Half, ty: Type, mode: Mode, operands: [Value; 3]) -> Value {
    let ftz = mode.ftz;
    let [a, b, c] = operands.map(|value| if ftz { flush(e, ty, value) } else { value });
    let extreme = |e: &mut Emit, least: bool, nan: bool| {
        let [x, y] = [a, b].map(|value| {
            let float = to_float(e, ty, value);
            e.integer(float)
        });
        let chosen = float::extreme_32(e, float::Extreme { least, nan, ftz }, x, y);
        e.as_number(chosen)
    };
    let result = match op {
        Half::Abs => {
            let magnitude = e.and_bits(a, SIGN - 1);
            return canonical(e, ty, a, magnitude);
        }
        Half::Neg => {
            let sign = e.like(a, SIGN);
            let negative = e.xor(a, sign);
            return canonical(e, ty, a, negative);
        }
        Half::Add => {
            let (x, y) = (to_float(e, ty, a), to_float(e, ty, b));
            e.fadd(x, y)
        }
        Half::Sub => {
            let (x, y) = (to_float(e, ty, a), to_float(e, ty, b));
            e.fsub(x, y)
        }
        Half::Mul => {
            let (x, y) = (to_float(e, ty, a), to_float(e, ty, b));
            e.fmul(x, y)
        }
        Half::Fma => {
            let (x, y) = (to_float(e, ty, a), to_float(e, ty, b));
            let product = e.fmul(x, y);
            let z = to_float(e, ty, c);
            sum_to_odd(e, product, z)
        }
        Half::Min { nan } => extreme(e, true, nan),
        Half::Max { nan } => extreme(e, false, nan),
    };
    let result = if mode.sat { float::saturated(e, result) } else { result };
    let result = from_float(e, ty, result);
    let result = if ftz { flush(e, ty, result) } else { result };
    if mode.relu { positive(e, result) } else { result }
}

/// `.relu`: zero instead of negative values. The only NaN has no sign.
pub(super) fn positive(e: &mut Emit, value: Value) -> Value {
    let sign = e.and_bits(value, SIGN);
    let zero = e.like(sign, 0);
    let positive = e.compare(IntOrder::Equal, sign, zero);
    e.keep(positive, value)
}

/// A sum that is rounded again: what does not fit makes the last bit odd, so that the second
/// rounding is that of the exact sum. The product of two halves is exact.
fn sum_to_odd(e: &mut Emit, a: Value, b: Value) -> Value {
    let sum = e.fadd(a, b);
    let of_b = e.fsub(sum, a);
    let of_a = e.fsub(sum, of_b);
    let (lost_a, lost_b) = (e.fsub(a, of_a), e.fsub(b, of_b));
    let lost = e.fadd(lost_a, lost_b);
    let none = e.float_like(lost, 0.0);
    let inexact = e.compare_floats(FloatOrder::NotEqual, lost, none);
    let (bits, lost) = (e.integer(sum), e.integer(lost));
    // Further from zero if what is lost has the sum's sign, nearer otherwise; only from even ones.
    let signs = e.xor(bits, lost);
    let minus = e.sar_by(signs, 31);
    let one = e.like(bits, 1);
    let step = e.or(minus, one);
    let even = e.not(bits);
    let even = e.and(even, one);
    let step = e.mul(step, even);
    let step = e.keep(inexact, step);
    let odd = e.add(bits, step);
    e.as_float(odd)
}

/// `moved`, or the only NaN where `value` is one.
fn canonical(e: &mut Emit, ty: Type, value: Value, moved: Value) -> Value {
    let (magnitude, infinity) = (e.and_bits(value, SIGN - 1), e.like(value, exponent(ty)));
    let nan = e.compare(IntOrder::GreaterSigned, magnitude, infinity);
    let only = e.like(value, NAN);
    e.select(nan, only, moved)
}

/// A subnormal value becomes a zero of its sign.
pub(super) fn flush(e: &mut Emit, ty: Type, value: Value) -> Value {
    let (field, zero) = (e.and_bits(value, exponent(ty)), e.like(value, 0));
    let subnormal = e.compare(IntOrder::Equal, field, zero);
    let sign = e.and_bits(value, SIGN);
    e.select(subnormal, sign, value)
}

/// In single precision, exactly. Bits above the 16th are not looked at.
pub(super) fn to_float(e: &mut Emit, ty: Type, value: Value) -> Value {
    if ty == Type::Bf16 {
        let bits = e.shl_by(value, 16);
        return e.as_float(bits);
    }
    // The fields moved to their places, the exponent put right by a product, which also
    // makes subnormals normal.
    let magnitude = e.and_bits(value, SIGN - 1);
    let moved = e.shl_by(magnitude, 13);
    let small = e.as_float(moved);
    let scale = e.float_like(small, 2f64.powi(112));
    let scaled = e.fmul(small, scale);
    let scaled = e.integer(scaled);
    let ones = e.like(moved, 0x7f80_0000);
    let special = e.or(moved, ones);
    let least = e.like(magnitude, exponent(ty));
    let is_special = e.compare(IntOrder::GreaterEqualSigned, magnitude, least);
    let bits = e.select(is_special, special, scaled);
    let sign = e.and_bits(value, SIGN);
    let sign = e.shl_by(sign, 16);
    let bits = e.or(bits, sign);
    e.as_float(bits)
}

/// The nearest value, its bits; ties to even.
pub(super) fn from_float(e: &mut Emit, ty: Type, value: Value) -> Value {
    let bits = e.integer(value);
    let rounded = if ty == Type::Bf16 { to_bfloat(e, bits) } else { to_half(e, bits) };
    let nan = float::nan(e, value);
    let only = e.like(rounded, NAN);
    e.select(nan, only, rounded)
}

fn to_bfloat(e: &mut Emit, bits: Value) -> Value {
    let up = nearest_bias(e, bits, 16);
    let raised = e.add(bits, up);
    e.shr_by(raised, 16)
}

/// What to add before `dropped` bits are cut off: just under a half, a half for odd values.
fn nearest_bias(e: &mut Emit, bits: Value, dropped: u32) -> Value {
    let last = e.shr_by(bits, dropped);
    let odd = e.and_bits(last, 1);
    let below_half = e.like(bits, (1 << (dropped - 1)) - 1);
    e.add(odd, below_half)
}

fn to_half(e: &mut Emit, bits: Value) -> Value {
    let magnitude = e.and_bits(bits, 0x7fff_ffff);
    let sign = e.shr_by(bits, 16);
    let sign = e.and_bits(sign, SIGN);
    let bias = nearest_bias(e, magnitude, 13);
    let raised = e.add(magnitude, bias);
    let rebased = e.like(raised, u64::from(112u32 << 23));
    let rebased = e.sub(raised, rebased);
    let normal = e.shr_by(rebased, 13);
    // Subnormals are rounded by a sum with a value whose last bit is theirs.
    let small = e.as_float(magnitude);
    let half = e.float_like(small, 0.5);
    let sum = e.fadd(small, half);
    let sum = e.integer(sum);
    let half = e.integer(half);
    let subnormal = e.sub(sum, half);
    let compare = |e: &mut Emit, order, limit: u64| {
        let limit = e.like(magnitude, limit);
        e.compare(order, magnitude, limit)
    };
    let is_small = compare(e, IntOrder::LessSigned, 0x3880_0000);
    let is_large = compare(e, IntOrder::GreaterEqualSigned, 0x4780_0000);
    let infinity = e.like(bits, exponent(Type::F16));
    let result = e.select(is_small, subnormal, normal);
    let result = e.select(is_large, infinity, result);
    e.or(result, sign)
}
