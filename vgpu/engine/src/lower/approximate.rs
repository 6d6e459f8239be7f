//! The approximations that are neither roots nor quotients: exponential, logarithm, sine,
//! cosine and hyperbolic tangent.
//!
//! Polynomials in single precision, whose errors with those of their evaluation are below what
//! the PTX ISA documents. Angles are reduced in double precision, so that large ones are as good
//! as small ones up to 2^30. Beyond, results only stay in [-1, 1].

use gangway_ptx::Type;
use gangway_ptx::meaning::Approximate;
use gangway_simt::{CANONICAL_NAN, FloatOrder, IntOrder, Op, Value};

use super::{Emit, float, half};

/// (2^x - 1) / x for x in [-1/2, 1/2], the highest power first: off by at most 1.4e-8.
const EXPONENTIAL: [f64; 6] =
    [1.545316336e-4, 1.339086331e-3, 9.618083015e-3, 5.550356954e-2, 2.402265072e-1, 6.931471825e-1];

/// log2(1 + x) / x for 1 + x in [sqrt(1/2), sqrt(2)]: off by at most 3.2e-8.
const LOGARITHM: [f64; 10] = [
    -1.074978933e-1,
    1.847603321e-1,
    -1.913883835e-1,
    2.048576474e-1,
    -2.396081239e-1,
    2.885525525e-1,
    -3.606965542e-1,
    4.808985293e-1,
    -7.213473320e-1,
    1.442695022,
];

/// (sin(x) - x) / x^3 by x^2, for x in [-pi/4, pi/4].
const SINE: [f64; 3] = [-1.950390433e-4, 8.332035504e-3, -1.666665077e-1];

/// (cos(x) - 1) / x^2 by x^2.
const COSINE: [f64; 4] = [2.446378858e-5, -1.388758887e-3, 4.166664928e-2, -0.5];

pub(super) fn compute(
    e: &mut Emit,
    op: Approximate,
    ty: Type,
    ftz: bool,
    sources: &[Value],
) -> Option<Value> {
    let function: fn(&mut Emit, Value) -> Value = match op {
        Approximate::Div | Approximate::Rcp | Approximate::Sqrt | Approximate::Rsqrt => {
            return float::quotient(e, op, ty, ftz, sources);
        }
        Approximate::Ex2 => exponential,
        Approximate::Lg2 => logarithm,
        Approximate::Sin => |e, x| sine(e, x, 0),
        Approximate::Cos => |e, x| sine(e, x, 1),
        Approximate::Tanh => tangent,
    };
    let a = *sources.first()?;
    let each = ty.element();
    Some(match each {
        Type::F32 => {
            let a = float::flushed(e, ty, ftz, a);
            let x = e.as_number(a);
            let result = function(e, x);
            let result = e.register(result);
            float::flushed(e, ty, ftz, result)
        }
        Type::F16 | Type::Bf16 if each == ty => of_half(e, function, each, ftz, a),
        Type::F16 | Type::Bf16 => {
            let (low, high) = (e.and_bits(a, 0xffff), e.shr_by(a, 16));
            let (low, high) = (of_half(e, function, each, ftz, low), of_half(e, function, each, ftz, high));
            let high = e.shl_by(high, 16);
            e.or(low, high)
        }
        // No form is about doubles.
        _ => return None,
    })
}

fn of_half(e: &mut Emit, function: fn(&mut Emit, Value) -> Value, ty: Type, ftz: bool, a: Value) -> Value {
    let a = if ftz { half::flush(e, ty, a) } else { a };
    let x = half::to_float(e, ty, a);
    let result = function(e, x);
    let result = half::from_float(e, ty, result);
    if ftz { half::flush(e, ty, result) } else { result }
}

fn polynomial(e: &mut Emit, x: Value, coefficients: &[f64]) -> Value {
    let first = e.float_like(x, coefficients[0]);
    coefficients[1..].iter().fold(first, |sum, &coefficient| {
        let coefficient = e.float_like(x, coefficient);
        multiply_add(e, sum, x, coefficient)
    })
}

fn multiply_add(e: &mut Emit, a: Value, b: Value, c: Value) -> Value {
    if e.fma {
        return e.fma(a, b, c);
    }
    let product = e.fmul(a, b);
    e.fadd(product, c)
}

/// Between two limits; NaN stays what it is.
fn between(e: &mut Emit, x: Value, least: f64, most: f64) -> Value {
    let (least, most) = (e.float_like(x, least), e.float_like(x, most));
    let raised = e.greater(least, x);
    e.lesser(most, raised)
}

/// 2^exponent, for exponents that normal numbers have.
fn power_of_two(e: &mut Emit, exponent: Value) -> Value {
    let bias = e.like(exponent, 127);
    let biased = e.add(exponent, bias);
    let bits = e.shl_by(biased, 23);
    e.as_float(bits)
}

fn exponential(e: &mut Emit, x: Value) -> Value {
    let x = between(e, x, -160.0, 160.0);
    let whole = e.nearest(x);
    let rest = e.fsub(x, whole);
    let slope = polynomial(e, rest, &EXPONENTIAL);
    let one = e.float_like(x, 1.0);
    let value = multiply_add(e, slope, rest, one);
    // In two steps, so that results may be subnormal and are rounded once.
    let exponent = e.make(Op::ToWordUnchecked, &[whole]);
    let part = e.sar_by(exponent, 1);
    let other = e.sub(exponent, part);
    let (part, other) = (power_of_two(e, part), power_of_two(e, other));
    let value = e.fmul(value, part);
    e.fmul(value, other)
}

fn logarithm(e: &mut Emit, x: Value) -> Value {
    // Subnormals are made normal.
    let (least, raise) = (e.float_like(x, 2f64.powi(-126)), e.float_like(x, 2f64.powi(23)));
    let small = e.compare_floats(FloatOrder::Less, x, least);
    let raised = e.fmul(x, raise);
    let (bits, raised) = (e.integer(x), e.integer(raised));
    let normal = e.select(small, raised, bits);
    // The exponent of the power of two that is nearest by its ratio.
    let root = e.like(normal, 0x3f35_04f3);
    let above = e.sub(normal, root);
    let exponent = e.sar_by(above, 23);
    let shifted = e.shl_by(exponent, 23);
    let mantissa = e.sub(normal, shifted);
    let mantissa = e.as_float(mantissa);
    let one = e.float_like(x, 1.0);
    let rest = e.fsub(mantissa, one);
    let slope = polynomial(e, rest, &LOGARITHM);
    let lost = e.like(normal, 23);
    let lost = e.keep(small, lost);
    let exponent = e.sub(exponent, lost);
    let whole = e.make(Op::SignedToF32, &[exponent]);
    let result = multiply_add(e, slope, rest, whole);
    let result = e.integer(result);
    // Infinity and NaN are their own; zero and what is below have none.
    let (zero, infinity) = (e.float_like(x, 0.0), e.float_like(x, f64::INFINITY));
    let special = e.compare_floats(FloatOrder::OrGreaterEqual, x, infinity);
    let result = e.select(special, bits, result);
    let negative = e.compare_floats(FloatOrder::Less, x, zero);
    let nan = e.like(result, CANONICAL_NAN);
    let result = e.select(negative, nan, result);
    let none = e.compare_floats(FloatOrder::Equal, x, zero);
    let least = e.like(result, 0xff80_0000);
    let result = e.select(none, least, result);
    e.as_float(result)
}

/// The sine of x, or of `quarters` more quarters of a turn.
fn sine(e: &mut Emit, x: Value, quarters: u64) -> Value {
    let double = e.make(Op::Promote, &[x]);
    let ratio = e.float_like(double, std::f64::consts::FRAC_2_PI);
    let turns = e.fmul(double, ratio);
    let turns = e.nearest(turns);
    let quarter = e.float_like(double, std::f64::consts::FRAC_PI_2);
    let whole = e.fmul(turns, quarter);
    let rest = e.fsub(double, whole);
    let rest = e.make(Op::Demote, &[rest]);
    let magic = e.float_like(turns, 6_755_399_441_055_744.0);
    let raised = e.fadd(turns, magic);
    let number = e.integer(raised);
    let quadrant = e.low_word(number);
    let more = e.like(quadrant, quarters);
    let quadrant = e.add(quadrant, more);

    let limit = std::f64::consts::FRAC_PI_4 + 1e-6;
    let rest = between(e, rest, -limit, limit);
    let square = e.fmul(rest, rest);
    let slope = polynomial(e, square, &SINE);
    let cube = e.fmul(rest, square);
    let sine = multiply_add(e, slope, cube, rest);
    let slope = polynomial(e, square, &COSINE);
    let one = e.float_like(rest, 1.0);
    let cosine = multiply_add(e, slope, square, one);

    let odd = e.and_bits(quadrant, 1);
    let odd = e.differs_from_zero(odd);
    let (sine, cosine) = (e.integer(sine), e.integer(cosine));
    let value = e.select(odd, cosine, sine);
    let half = e.and_bits(quadrant, 2);
    let sign = e.shl_by(half, 30);
    let value = e.xor(value, sign);
    e.as_float(value)
}

/// By the exponential of twice x, or near zero by the series.
fn tangent(e: &mut Emit, x: Value) -> Value {
    let bounded = between(e, x, -10.0, 10.0);
    let scale = e.float_like(x, 2.0 * std::f64::consts::LOG2_E);
    let scaled = e.fmul(bounded, scale);
    let power = exponential(e, scaled);
    let one = e.float_like(x, 1.0);
    let (above, below) = (e.fadd(power, one), e.fsub(power, one));
    let quotient = e.fdiv(below, above);
    let third = e.float_like(x, -1.0 / 3.0);
    let square = e.fmul(x, x);
    let cube = e.fmul(square, x);
    let series = multiply_add(e, cube, third, x);
    let bits = e.integer(x);
    let magnitude = e.and_bits(bits, 0x7fff_ffff);
    let limit = e.like(magnitude, 0x3d00_0000);
    let near = e.compare(IntOrder::LessSigned, magnitude, limit);
    let (series, quotient) = (e.integer(series), e.integer(quotient));
    let value = e.select(near, series, quotient);
    // The series of -0 ends in +0.
    let sign = e.and_bits(bits, 0x8000_0000);
    let value = e.or(value, sign);
    e.as_float(value)
}
