//! The functions of C's `math.h`, each as `name` and as `__nv_name`.

use crate::export::{export, export_nv};
use crate::special;
use crate::target;

/// What C and libdevice have under the same name.
macro_rules! shared {
    ($($item:tt)*) => {
        /// Under the names of C.
        pub mod c {
            use super::*;
            export! { $($item)* }
        }
        /// Under the names of libdevice.
        pub mod nv {
            use super::*;
            export_nv! { $($item)* }
        }
    };
}

shared! {
    fn acos(x: f64) -> f64 = libm::acos(x);
    fn acosf(x: f32) -> f32 = libm::acosf(x);
    fn acosh(x: f64) -> f64 = libm::acosh(x);
    fn acoshf(x: f32) -> f32 = libm::acoshf(x);
    fn asin(x: f64) -> f64 = libm::asin(x);
    fn asinf(x: f32) -> f32 = libm::asinf(x);
    fn asinh(x: f64) -> f64 = libm::asinh(x);
    fn asinhf(x: f32) -> f32 = libm::asinhf(x);
    fn atan(x: f64) -> f64 = libm::atan(x);
    fn atanf(x: f32) -> f32 = libm::atanf(x);
    fn atan2(y: f64, x: f64) -> f64 = libm::atan2(y, x);
    fn atan2f(y: f32, x: f32) -> f32 = libm::atan2f(y, x);
    fn atanh(x: f64) -> f64 = libm::atanh(x);
    fn atanhf(x: f32) -> f32 = libm::atanhf(x);
    fn cbrt(x: f64) -> f64 = libm::cbrt(x);
    fn cbrtf(x: f32) -> f32 = libm::cbrtf(x);
    fn ceil(x: f64) -> f64 = target::f64::ceil(x);
    fn ceilf(x: f32) -> f32 = target::f32::ceil(x);
    fn copysign(x: f64, sign: f64) -> f64 = target::f64::copysign(x, sign);
    fn copysignf(x: f32, sign: f32) -> f32 = target::f32::copysign(x, sign);
    fn cos(x: f64) -> f64 = libm::cos(x);
    fn cosf(x: f32) -> f32 = libm::cosf(x);
    fn cosh(x: f64) -> f64 = libm::cosh(x);
    fn coshf(x: f32) -> f32 = libm::coshf(x);
    fn erf(x: f64) -> f64 = libm::erf(x);
    fn erff(x: f32) -> f32 = libm::erff(x);
    fn erfc(x: f64) -> f64 = libm::erfc(x);
    fn erfcf(x: f32) -> f32 = libm::erfcf(x);
    fn exp(x: f64) -> f64 = libm::exp(x);
    fn expf(x: f32) -> f32 = libm::expf(x);
    fn exp10(x: f64) -> f64 = special::exp10(x);
    fn exp10f(x: f32) -> f32 = special::exp10(x.into()) as f32;
    fn exp2(x: f64) -> f64 = libm::exp2(x);
    fn exp2f(x: f32) -> f32 = libm::exp2f(x);
    fn expm1(x: f64) -> f64 = libm::expm1(x);
    fn expm1f(x: f32) -> f32 = libm::expm1f(x);
    fn fabs(x: f64) -> f64 = target::f64::fabs(x);
    fn fabsf(x: f32) -> f32 = target::f32::fabs(x);
    fn fdim(x: f64, y: f64) -> f64 = libm::fdim(x, y);
    fn fdimf(x: f32, y: f32) -> f32 = libm::fdimf(x, y);
    fn floor(x: f64) -> f64 = target::f64::floor(x);
    fn floorf(x: f32) -> f32 = target::f32::floor(x);
    fn fma(x: f64, y: f64, z: f64) -> f64 = target::f64::fma(x, y, z);
    fn fmaf(x: f32, y: f32, z: f32) -> f32 = target::f32::fma(x, y, z);
    fn fmax(x: f64, y: f64) -> f64 = target::f64::max(x, y);
    fn fmaxf(x: f32, y: f32) -> f32 = target::f32::max(x, y);
    fn fmin(x: f64, y: f64) -> f64 = target::f64::min(x, y);
    fn fminf(x: f32, y: f32) -> f32 = target::f32::min(x, y);
    fn fmod(x: f64, y: f64) -> f64 = libm::fmod(x, y);
    fn fmodf(x: f32, y: f32) -> f32 = libm::fmodf(x, y);
    fn frexp(x: f64, exponent: &mut i32) -> f64 = {
        let parts = libm::frexp(x);
        *exponent = parts.1;
        parts.0
    };
    fn frexpf(x: f32, exponent: &mut i32) -> f32 = {
        let parts = libm::frexpf(x);
        *exponent = parts.1;
        parts.0
    };
    fn hypot(x: f64, y: f64) -> f64 = libm::hypot(x, y);
    fn hypotf(x: f32, y: f32) -> f32 = libm::hypotf(x, y);
    fn ilogb(x: f64) -> i32 = ilogb_of(x);
    fn ilogbf(x: f32) -> i32 = ilogb_of(f64::from(x));
    fn j0(x: f64) -> f64 = libm::j0(x);
    fn j0f(x: f32) -> f32 = libm::j0f(x);
    fn j1(x: f64) -> f64 = libm::j1(x);
    fn j1f(x: f32) -> f32 = libm::j1f(x);
    fn jn(n: i32, x: f64) -> f64 = libm::jn(n, x);
    fn jnf(n: i32, x: f32) -> f32 = libm::jnf(n, x);
    fn ldexp(x: f64, n: i32) -> f64 = libm::ldexp(x, n);
    fn ldexpf(x: f32, n: i32) -> f32 = libm::ldexpf(x, n);
    fn lgamma(x: f64) -> f64 = libm::lgamma(x);
    fn lgammaf(x: f32) -> f32 = libm::lgammaf(x);
    fn llrint(x: f64) -> i64 = target::f64::rint(x) as i64;
    fn llrintf(x: f32) -> i64 = target::f32::rint(x) as i64;
    fn llround(x: f64) -> i64 = libm::round(x) as i64;
    fn llroundf(x: f32) -> i64 = libm::roundf(x) as i64;
    fn log(x: f64) -> f64 = libm::log(x);
    fn logf(x: f32) -> f32 = libm::logf(x);
    fn log10(x: f64) -> f64 = libm::log10(x);
    fn log10f(x: f32) -> f32 = libm::log10f(x);
    fn log1p(x: f64) -> f64 = libm::log1p(x);
    fn log1pf(x: f32) -> f32 = libm::log1pf(x);
    fn log2(x: f64) -> f64 = libm::log2(x);
    fn log2f(x: f32) -> f32 = libm::log2f(x);
    fn logb(x: f64) -> f64 = logb_of(x);
    fn logbf(x: f32) -> f32 = logb_of(f64::from(x)) as f32;
    fn modf(x: f64, whole: &mut f64) -> f64 = {
        let parts = libm::modf(x);
        *whole = parts.1;
        parts.0
    };
    fn modff(x: f32, whole: &mut f32) -> f32 = {
        let parts = libm::modff(x);
        *whole = parts.1;
        parts.0
    };
    fn nearbyint(x: f64) -> f64 = target::f64::rint(x);
    fn nearbyintf(x: f32) -> f32 = target::f32::rint(x);
    fn nextafter(x: f64, to: f64) -> f64 = libm::nextafter(x, to);
    fn nextafterf(x: f32, to: f32) -> f32 = libm::nextafterf(x, to);
    fn pow(x: f64, y: f64) -> f64 = libm::pow(x, y);
    fn powf(x: f32, y: f32) -> f32 = libm::powf(x, y);
    fn remainder(x: f64, y: f64) -> f64 = libm::remainder(x, y);
    fn remainderf(x: f32, y: f32) -> f32 = libm::remainderf(x, y);
    fn remquo(x: f64, y: f64, quotient: &mut i32) -> f64 = {
        let parts = libm::remquo(x, y);
        *quotient = parts.1;
        parts.0
    };
    fn remquof(x: f32, y: f32, quotient: &mut i32) -> f32 = {
        let parts = libm::remquof(x, y);
        *quotient = parts.1;
        parts.0
    };
    fn rint(x: f64) -> f64 = target::f64::rint(x);
    fn rintf(x: f32) -> f32 = target::f32::rint(x);
    fn round(x: f64) -> f64 = libm::round(x);
    fn roundf(x: f32) -> f32 = libm::roundf(x);
    fn scalbn(x: f64, n: i32) -> f64 = libm::scalbn(x, n);
    fn scalbnf(x: f32, n: i32) -> f32 = libm::scalbnf(x, n);
    fn sin(x: f64) -> f64 = libm::sin(x);
    fn sinf(x: f32) -> f32 = libm::sinf(x);
    fn sincos(x: f64, sin: &mut f64, cos: &mut f64) = (*sin, *cos) = libm::sincos(x);
    fn sincosf(x: f32, sin: &mut f32, cos: &mut f32) = (*sin, *cos) = libm::sincosf(x);
    fn sinh(x: f64) -> f64 = libm::sinh(x);
    fn sinhf(x: f32) -> f32 = libm::sinhf(x);
    fn sqrt(x: f64) -> f64 = target::f64::sqrt(x);
    fn sqrtf(x: f32) -> f32 = target::f32::sqrt(x);
    fn tan(x: f64) -> f64 = libm::tan(x);
    fn tanf(x: f32) -> f32 = libm::tanf(x);
    fn tanh(x: f64) -> f64 = libm::tanh(x);
    fn tanhf(x: f32) -> f32 = libm::tanhf(x);
    fn tgamma(x: f64) -> f64 = libm::tgamma(x);
    fn tgammaf(x: f32) -> f32 = libm::tgammaf(x);
    fn trunc(x: f64) -> f64 = target::f64::trunc(x);
    fn truncf(x: f32) -> f32 = target::f32::trunc(x);
    fn y0(x: f64) -> f64 = libm::y0(x);
    fn y0f(x: f32) -> f32 = libm::y0f(x);
    fn y1(x: f64) -> f64 = libm::y1(x);
    fn y1f(x: f32) -> f32 = libm::y1f(x);
    fn yn(n: i32, x: f64) -> f64 = libm::yn(n, x);
    fn ynf(n: i32, x: f32) -> f32 = libm::ynf(n, x);
}

/// What C has and libdevice has not.
pub mod c_only {
    use super::*;
    export! {
        fn lgamma_r(x: f64, sign: &mut i32) -> f64 = {
            let parts = libm::lgamma_r(x);
            *sign = parts.1;
            parts.0
        };
        fn lgammaf_r(x: f32, sign: &mut i32) -> f32 = {
            let parts = libm::lgammaf_r(x);
            *sign = parts.1;
            parts.0
        };
        fn lrint(x: f64) -> i64 = target::f64::rint(x) as i64;
        fn lrintf(x: f32) -> i64 = target::f32::rint(x) as i64;
        fn lround(x: f64) -> i64 = libm::round(x) as i64;
        fn lroundf(x: f32) -> i64 = libm::roundf(x) as i64;
        fn nan(_payload: *const u8) -> f64 = f64::NAN;
        fn nanf(_payload: *const u8) -> f32 = f32::NAN;
        fn pow10(x: f64) -> f64 = special::exp10(x);
        fn pow10f(x: f32) -> f32 = special::exp10(x.into()) as f32;
        fn roundeven(x: f64) -> f64 = target::f64::rint(x);
        fn roundevenf(x: f32) -> f32 = target::f32::rint(x);
        fn scalbln(x: f64, n: i64) -> f64 = libm::scalbn(x, clamp(n));
        fn scalblnf(x: f32, n: i64) -> f32 = libm::scalbnf(x, clamp(n));
    }
}

/// An exponent that is large enough for any effect, in 32 bits.
#[must_use]
pub fn clamp(n: i64) -> i32 {
    n.clamp(-10_000, 10_000) as i32
}

/// The exponent of `x`, with C's answers for what has none.
fn ilogb_of(x: f64) -> i32 {
    match exponent(x) {
        Some(exponent) => exponent,
        None if x == 0.0 => -i32::MAX,
        None if x.is_nan() => i32::MIN,
        None => i32::MAX,
    }
}

fn logb_of(x: f64) -> f64 {
    match exponent(x) {
        Some(exponent) => f64::from(exponent),
        None if x == 0.0 => f64::NEG_INFINITY,
        // A NaN stays one, and both infinities become the positive one.
        None => x * x,
    }
}

/// The exponent of a finite number that is not zero.
fn exponent(x: f64) -> Option<i32> {
    if x == 0.0 || !x.is_finite() {
        return None;
    }
    Some(libm::frexp(x).1 - 1)
}
