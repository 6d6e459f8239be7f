//! Functions that `libm` has not, or not exactly enough, in double precision.
//!
//! The inverse error functions are Wichura's approximations (Algorithm AS 241), the others are
//! built from the elementary functions so that no step loses more than a few units.

use core::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LOG2_10, PI, SQRT_2};

use crate::target::f64::{copysign, fabs, fma, rint, sqrt};

/// Ten to the power of `x`.
#[must_use]
pub fn exp10(x: f64) -> f64 {
    // The low part of `LOG2_10`.
    const LOW: f64 = 1.661_617_516_973_592e-16;
    if fabs(x) < 400.0 {
        let whole = rint(x * LOG2_10);
        let rest = fma(x, LOG2_10, -whole) + x * LOW;
        return libm::scalbn(libm::exp2(rest), whole as i32);
    }
    if x.is_nan() {
        x
    } else if x > 0.0 {
        f64::INFINITY
    } else {
        0.0
    }
}

/// Sine and cosine of `x` half turns.
#[must_use]
pub fn sincospi(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    // `x` is `quarter / 2 + rest`, exactly; multiples of 2 half turns are dropped first.
    let x = libm::fmod(x, 2.0);
    let quarter = rint(x * 2.0);
    let rest = fma(-0.5, quarter, x);
    let (sin, cos) = libm::sincos(rest * PI);
    let (sin, cos) = match quarter as i32 & 3 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    };
    // Whole numbers give a zero with the sign of `x`, halves a positive one.
    (if sin == 0.0 { copysign(0.0, x) } else { sin }, if cos == 0.0 { 0.0 } else { cos })
}

/// `exp(x * x)`, with the square's rounding error made good.
fn exp_square(x: f64) -> f64 {
    let square = x * x;
    let error = fma(x, x, -square);
    let power = libm::exp(square);
    if power.is_finite() { fma(power, error, power) } else { power }
}

/// `exp(x * x) * erfc(x)`.
#[must_use]
pub fn erfcx(x: f64) -> f64 {
    if x < 12.0 {
        return exp_square(x) * libm::erfc(x);
    }
    if x > 1e8 {
        return FRAC_2_SQRT_PI / 2.0 / x;
    }
    // The asymptotic series: the terms shrink until the last one used, at 12 already.
    let step = 0.5 / (x * x);
    let mut sum = 1.0;
    let mut count = 21.0;
    while count > 0.0 {
        sum = 1.0 - count * step * sum;
        count -= 2.0;
    }
    FRAC_2_SQRT_PI / 2.0 / x * sum
}

/// The distribution function of the standard normal distribution.
#[must_use]
pub fn normcdf(x: f64) -> f64 {
    // The low part of 1 / sqrt(2), as the quotient is needed to more digits than a number has.
    const LOW: f64 = -4.833_646_656_726_457e-17;
    let high = -x * FRAC_1_SQRT_2;
    let low = fma(-x, FRAC_1_SQRT_2, -high) - x * LOW;
    let value = libm::erfc(high);
    if fabs(x) > 40.0 || x.is_nan() {
        return 0.5 * value;
    }
    let slope = FRAC_2_SQRT_PI * libm::exp(-high * high);
    0.5 * (value - slope * low)
}

/// Value of a polynomial, highest coefficient first.
fn polynomial(x: f64, coefficients: &[f64; 8]) -> f64 {
    let [a, b, c, d, e, f, g, h] = *coefficients;
    let mut value = fma(a, x, b);
    for next in [c, d, e, f, g, h] {
        value = fma(value, x, next);
    }
    value
}

/// The argument at which `normcdf` is `0.5 + centre`. `tail` is the smaller one of that and of
/// what is missing to 1, which the caller knows more exactly than a difference would be.
fn normal_quantile(centre: f64, tail: f64) -> f64 {
    if fabs(centre) <= 0.425 {
        let r = fma(-centre, centre, 0.180625);
        return centre * polynomial(r, &CENTRE.0) / polynomial(r, &CENTRE.1);
    }
    if tail <= 0.0 || tail.is_nan() {
        let edge = if tail == 0.0 { f64::INFINITY } else { f64::NAN };
        return copysign(edge, centre);
    }
    let r = sqrt(-libm::log(tail));
    let (shift, table) = if r <= 5.0 { (1.6, &MIDDLE) } else { (5.0, &FAR) };
    let r = r - shift;
    copysign(polynomial(r, &table.0) / polynomial(r, &table.1), centre)
}

/// The inverse of `normcdf`.
#[must_use]
pub fn normcdfinv(p: f64) -> f64 {
    normal_quantile(p - 0.5, if p < 0.5 { p } else { 1.0 - p })
}

/// The inverse of `erf`.
#[must_use]
pub fn erfinv(x: f64) -> f64 {
    normal_quantile(0.5 * x, 0.5 * (1.0 - fabs(x))) / SQRT_2
}

/// The inverse of `erfc`.
#[must_use]
pub fn erfcinv(x: f64) -> f64 {
    let tail = if x < 1.0 { 0.5 * x } else { 1.0 - 0.5 * x };
    normal_quantile(0.5 - 0.5 * x, tail) / SQRT_2
}

/// The modified Bessel function of the first kind and order `order`, 0 or 1.
#[must_use]
pub fn bessel_i(order: u32, x: f64) -> f64 {
    let odd = f64::from(order);
    let size = fabs(x);
    let value = if size <= 30.0 {
        // The power series; all its terms are positive.
        let quarter = 0.25 * x * x;
        let mut term = if order == 0 { 1.0 } else { 0.5 * size };
        let mut sum = term;
        let mut k = 1.0;
        while term > sum * 1e-17 {
            term *= quarter / (k * (k + odd));
            sum += term;
            k += 1.0;
        }
        sum
    } else {
        // The asymptotic series; at 30 its terms are too small to count before they grow.
        let mut term = 1.0;
        let mut sum = 1.0;
        let mut k = 1.0;
        while k < 30.0 && fabs(term) > 1e-17 {
            let odd_number = 2.0 * k - 1.0;
            term *= (odd_number * odd_number - 4.0 * odd * odd) / (8.0 * k * size);
            sum += term;
            k += 1.0;
        }
        // The half power twice, as the whole one may overflow where the result does not.
        let half = libm::exp(0.5 * size);
        half * (half * sum / sqrt(2.0 * PI * size))
    };
    if order == 1 { copysign(value, x) } else { value }
}

/// The Euclidean norm of the numbers that `next` gives one after another, without overflow on the
/// way. Infinities win over what is not a number.
#[must_use]
pub fn norm(count: usize, number: impl Fn(usize) -> f64) -> f64 {
    let mut largest = 0.0f64;
    let mut nan = false;
    for index in 0..count {
        let size = fabs(number(index));
        nan |= size.is_nan();
        if size > largest {
            largest = size;
        }
    }
    if largest == f64::INFINITY {
        return largest;
    }
    if nan {
        return f64::NAN;
    }
    if largest == 0.0 {
        return 0.0;
    }
    let exponent = libm::frexp(largest).1;
    // The sum of squares, in two parts.
    let (mut sum, mut error) = (0.0, 0.0);
    for index in 0..count {
        let scaled = libm::scalbn(number(index), -exponent);
        let square = scaled * scaled;
        let total = sum + square;
        let back = total - sum;
        error += fma(scaled, scaled, -square) + ((sum - (total - back)) + (square - back));
        sum = total;
    }
    libm::scalbn(sqrt(sum + error), exponent)
}

type Rational = ([f64; 8], [f64; 8]);

#[expect(clippy::excessive_precision, reason = "the digits are those published")]
const CENTRE: Rational = (
    [
        2509.0809287301226727,
        33430.575583588128105,
        67265.770927008700853,
        45921.953931549871457,
        13731.693765509461125,
        1971.5909503065514427,
        133.14166789178437745,
        3.387132872796366608,
    ],
    [
        5226.495278852854561,
        28729.085735721942674,
        39307.89580009271061,
        21213.794301586595867,
        5394.1960214247511077,
        687.1870074920579083,
        42.313330701600911252,
        1.0,
    ],
);

#[expect(clippy::excessive_precision, reason = "the digits are those published")]
const MIDDLE: Rational = (
    [
        7.7454501427834140764e-4,
        0.0227238449892691845833,
        0.24178072517745061177,
        1.27045825245236838258,
        3.64784832476320460504,
        5.7694972214606914055,
        4.6303378461565452959,
        1.42343711074968357734,
    ],
    [
        1.05075007164441684324e-9,
        5.475938084995344946e-4,
        0.0151986665636164571966,
        0.14810397642748007459,
        0.68976733498510000455,
        1.6763848301838038494,
        2.05319162663775882187,
        1.0,
    ],
);

#[expect(clippy::excessive_precision, reason = "the digits are those published")]
const FAR: Rational = (
    [
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        0.0012426609473880784386,
        0.026532189526576123093,
        0.29656057182850489123,
        1.7848265399172913358,
        5.4637849111641143699,
        6.6579046435011037772,
    ],
    [
        2.04426310338993978564e-15,
        1.4215117583164458887e-7,
        1.8463183175100546818e-5,
        7.868691311456132591e-4,
        0.0148753612908506148525,
        0.13692988092273580531,
        0.59983220655588793769,
        1.0,
    ],
);
