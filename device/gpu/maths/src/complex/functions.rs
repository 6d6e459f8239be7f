//! The functions of C's `complex.h` in double precision.
//!
//! Inverse functions are Kahan's ("Branch cuts for complex elementary functions", 1987), which have
//! the right sign on both sides of each cut. Zeros, infinities and NaNs are those of C's annex G.

use super::divide;
use crate::target;
use core::f64::consts::{FRAC_PI_2, LN_2};

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

const fn complex(re: f64, im: f64) -> Complex {
    Complex { re, im }
}

fn sqrt(x: f64) -> f64 {
    target::f64::sqrt(x)
}

fn copysign(x: f64, sign: f64) -> f64 {
    target::f64::copysign(x, sign)
}

/// The larger of two magnitudes; an infinity beside a NaN counts.
fn largest(z: Complex) -> f64 {
    let (re, im) = (z.re.abs(), z.im.abs());
    if re > im || im.is_nan() && re.is_infinite() { re } else { im }
}

impl Complex {
    const fn conj(self) -> Self {
        complex(self.re, -self.im)
    }

    /// Times `i`.
    const fn turned(self) -> Self {
        complex(-self.im, self.re)
    }

    /// Times `-i`.
    const fn turned_back(self) -> Self {
        complex(self.im, -self.re)
    }

    fn scaled(self, exponent: i32) -> Self {
        complex(libm::scalbn(self.re, exponent), libm::scalbn(self.im, exponent))
    }
}

pub fn abs(z: Complex) -> f64 {
    libm::hypot(z.re, z.im)
}

pub fn arg(z: Complex) -> f64 {
    libm::atan2(z.im, z.re)
}

pub fn proj(z: Complex) -> Complex {
    if z.re.is_infinite() || z.im.is_infinite() { complex(f64::INFINITY, copysign(0.0, z.im)) } else { z }
}

pub fn exp(z: Complex) -> Complex {
    if z.im == 0.0 {
        return complex(libm::exp(z.re), z.im);
    }
    if z.re.is_infinite() && !z.im.is_finite() {
        let vanishes = z.re < 0.0;
        return if vanishes { complex(0.0, copysign(0.0, z.im)) } else { complex(z.re, f64::NAN) };
    }
    let (sin, cos) = libm::sincos(z.im);
    if z.re > 700.0 {
        // The exponential overflows before its products with sine and cosine do.
        let (part, rest) = (libm::exp(700.0), libm::exp(z.re - 700.0));
        return complex(part * cos * rest, part * sin * rest);
    }
    let size = libm::exp(z.re);
    complex(size * cos, size * sin)
}

pub fn log(z: Complex) -> Complex {
    complex(log_abs(z), arg(z))
}

/// The logarithm of the magnitude.
fn log_abs(z: Complex) -> f64 {
    let largest = largest(z);
    if largest.is_finite() && (largest > 1e300 || largest < 1e-290 && largest > 0.0) {
        let exponent = if largest > 1.0 { 2 } else { -200 };
        return libm::log(abs(z.scaled(-exponent))) + f64::from(exponent) * LN_2;
    }
    let size = abs(z);
    if size > 0.7 && size < 1.5 {
        // The square less one, with the errors of its products, as the logarithm is nearly that.
        let (a, b) = (largest, if largest == z.re.abs() { z.im } else { z.re });
        let (aa, bb) = (a * a, b * b);
        let errors = target::f64::fma(a, a, -aa) + target::f64::fma(b, b, -bb);
        return libm::log1p((aa - 1.0) + bb + errors) / 2.0;
    }
    libm::log(size)
}

/// `z` to the power of `w`.
pub fn pow(z: Complex, w: Complex) -> Complex {
    if w == complex(0.0, 0.0) {
        return complex(1.0, 0.0);
    }
    let log = log(z);
    let (re, im) = super::__muldc3(w.re, w.im, log.re, log.im);
    exp(complex(re, im))
}

pub fn square_root(z: Complex) -> Complex {
    let Complex { re, im } = z;
    if re == 0.0 && im == 0.0 {
        return complex(0.0, im);
    }
    if im.is_infinite() {
        return complex(f64::INFINITY, im);
    }
    if re.is_infinite() {
        // A finite part beside an infinity vanishes, and a NaN stays one.
        let other = if im.is_nan() { im } else { 0.0 };
        return if re > 0.0 {
            complex(re, copysign(other, im))
        } else {
            complex(other.abs(), copysign(re, im))
        };
    }
    // Even exponents, so that the root of the scale is exact, for numbers whose sums could
    // overflow or lose digits.
    let largest = largest(z);
    let exponent = if largest > 1e300 {
        4
    } else if largest < 1e-290 {
        -200
    } else {
        0
    };
    let scaled = z.scaled(-exponent);
    let half = sqrt((scaled.re.abs() + abs(scaled)) * 0.5);
    let other = scaled.im / (2.0 * half);
    let root = if scaled.re >= 0.0 || scaled.re.is_nan() {
        complex(half, other)
    } else {
        complex(other.abs(), copysign(half, im))
    };
    root.scaled(exponent / 2)
}

/// `sinh` and `cosh`, each without a factor that would make them overflow.
fn hyperbolic(x: f64) -> (f64, f64, f64) {
    if x.abs() > 700.0 && x.is_finite() {
        let half = libm::exp(700.0) / 2.0;
        return (copysign(half, x), half, libm::exp(x.abs() - 700.0));
    }
    (libm::sinh(x), libm::cosh(x), 1.0)
}

pub fn sinh(z: Complex) -> Complex {
    let Complex { re, im } = z;
    if im == 0.0 {
        return complex(libm::sinh(re), im);
    }
    if !im.is_finite() && (re == 0.0 || re.is_infinite()) {
        return complex(re, f64::NAN);
    }
    let (sinh, cosh, factor) = hyperbolic(re);
    let (sin, cos) = libm::sincos(im);
    complex(sinh * cos * factor, cosh * sin * factor)
}

pub fn cosh(z: Complex) -> Complex {
    let Complex { re, im } = z;
    // A real number, or a pure imaginary one: the other part is a zero with the sign of both.
    let zero = copysign(0.0, re) * copysign(1.0, im);
    if im == 0.0 {
        return complex(libm::cosh(re), zero);
    }
    if re == 0.0 {
        return complex(libm::cos(im), if im.is_finite() { re * libm::sin(im) } else { zero });
    }
    if re.is_infinite() && !im.is_finite() {
        return complex(f64::INFINITY, f64::NAN);
    }
    let (sinh, cosh, factor) = hyperbolic(re);
    let (sin, cos) = libm::sincos(im);
    complex(cosh * cos * factor, sinh * sin * factor)
}

pub fn tanh(z: Complex) -> Complex {
    let Complex { re, im } = z;
    if im == 0.0 {
        return complex(libm::tanh(re), im);
    }
    if !im.is_finite() {
        return match () {
            () if re == 0.0 => complex(re, f64::NAN),
            () if re.is_infinite() => complex(copysign(1.0, re), copysign(0.0, im)),
            () => complex(f64::NAN, f64::NAN),
        };
    }
    let (sin, cos) = libm::sincos(im);
    if re.abs() > 20.0 {
        let vanishing = libm::exp(-re.abs());
        return complex(copysign(1.0, re), 4.0 * sin * cos * vanishing * vanishing);
    }
    let (sinh, cosh) = (libm::sinh(re), libm::cosh(re));
    let divisor = sinh * sinh + cos * cos;
    complex(sinh * cosh / divisor, sin * cos / divisor)
}

pub fn sin(z: Complex) -> Complex {
    sinh(z.turned()).turned_back()
}

pub fn cos(z: Complex) -> Complex {
    cosh(z.turned())
}

pub fn tan(z: Complex) -> Complex {
    tanh(z.turned()).turned_back()
}

/// The roots of `1 - z` and of `1 + z`.
fn roots_beside_one(z: Complex) -> (Complex, Complex) {
    (square_root(complex(1.0 - z.re, -z.im)), square_root(complex(1.0 + z.re, z.im)))
}

/// The imaginary part of the product of two numbers.
fn cross(a: Complex, b: Complex) -> f64 {
    a.re * b.im + a.im * b.re
}

/// Where the one in the formulas of inverse functions vanishes beside the number.
const HUGE: f64 = 1e150;

pub fn asin(z: Complex) -> Complex {
    asinh(z.turned()).turned_back()
}

pub fn acos(z: Complex) -> Complex {
    let Complex { re, im } = z;
    if largest(z) > HUGE {
        return complex(libm::atan2(im.abs(), re), copysign(log_abs(z) + LN_2, -im));
    }
    if re.is_nan() || im.is_nan() {
        return complex(if re == 0.0 { FRAC_PI_2 } else { f64::NAN }, f64::NAN);
    }
    let (below, above) = roots_beside_one(z);
    let angle = 2.0 * libm::atan2(below.re, above.re);
    complex(angle, libm::asinh(cross(above.conj(), below)))
}

pub fn asinh(z: Complex) -> Complex {
    let Complex { re, im } = z;
    if largest(z) > HUGE {
        return complex(copysign(log_abs(z) + LN_2, re), libm::atan2(im, re.abs()));
    }
    if re.is_nan() || im.is_nan() {
        return complex(f64::NAN, if im == 0.0 { im } else { f64::NAN });
    }
    // `asinh(z) = asin(iz) / i`, of which the sine's formula is Kahan's.
    let turned = z.turned();
    let (below, above) = roots_beside_one(turned);
    let divisor = below.re * above.re - below.im * above.im;
    complex(libm::asinh(cross(below.conj(), above)), -libm::atan2(turned.re, divisor))
}

pub fn acosh(z: Complex) -> Complex {
    let acos = acos(z);
    // Of both square roots the one on the right.
    let turned = if z.im.is_sign_negative() { acos.turned_back() } else { acos.turned() };
    if acos.im.is_nan() && !acos.re.is_nan() { complex(f64::NAN, acos.re) } else { turned }
}

pub fn atanh(z: Complex) -> Complex {
    let Complex { re, im } = z;
    if re.is_nan() || im.is_nan() {
        if im.is_infinite() {
            return complex(copysign(0.0, re), copysign(FRAC_PI_2, im));
        }
        let re = if re.is_infinite() || re == 0.0 { copysign(0.0, re) } else { f64::NAN };
        return complex(re, f64::NAN);
    }
    if largest(z) > 1e100 {
        let finite = re.is_finite() && im.is_finite();
        let vanishing = if finite { divide(1.0, 0.0, re, im).0 } else { 0.0 };
        return complex(copysign(vanishing, re), copysign(FRAC_PI_2, im));
    }
    let beside = complex(1.0 - re.abs(), im);
    let distance = beside.re * beside.re + im * im;
    let size = if distance < 1e-290 {
        (LN_2 - log_abs(beside)) / 2.0
    } else {
        libm::log1p(4.0 * re.abs() / distance) / 4.0
    };
    let size = copysign(size, re);
    if im == 0.0 && re.abs() <= 1.0 {
        return complex(size, im);
    }
    complex(size, libm::atan2(2.0 * im, (1.0 - re) * (1.0 + re) - im * im) / 2.0)
}

pub fn atan(z: Complex) -> Complex {
    atanh(z.turned()).turned_back()
}
