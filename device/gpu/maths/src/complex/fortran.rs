//! Functions of complex numbers for Fortran, which hands over their parts: `xtask/src/gpu/fortran.rs` has
//! what flang-22 calls.

use super::functions::{self, Complex};

macro_rules! export {
    ($($double:ident $single:ident ($($re:ident $im:ident),+) = $function:path;)*) => {$(
        #[cfg_attr(
            gpu,
            unsafe(export_name = concat!("__gangway_", stringify!($double))),
            linkage = "weak"
        )]
        pub fn $double($($re: f64, $im: f64),+) -> (f64, f64) {
            let result = $function($(Complex { re: $re, im: $im }),+);
            (result.re, result.im)
        }

        #[cfg_attr(
            gpu,
            unsafe(export_name = concat!("__gangway_", stringify!($single))),
            linkage = "weak"
        )]
        pub fn $single($($re: f32, $im: f32),+) -> (f32, f32) {
            let result = $function($(Complex { re: $re.into(), im: $im.into() }),+);
            (result.re as f32, result.im as f32)
        }
    )*};
}

macro_rules! export_real {
    ($($double:ident $single:ident = $function:path;)*) => {$(
        #[cfg_attr(
            gpu,
            unsafe(export_name = concat!("__gangway_", stringify!($double))),
            linkage = "weak"
        )]
        pub fn $double(re: f64, im: f64) -> f64 {
            $function(Complex { re, im })
        }

        #[cfg_attr(
            gpu,
            unsafe(export_name = concat!("__gangway_", stringify!($single))),
            linkage = "weak"
        )]
        pub fn $single(re: f32, im: f32) -> f32 {
            $function(Complex { re: re.into(), im: im.into() }) as f32
        }
    )*};
}

macro_rules! export_powers {
    ($($double:ident $single:ident $integer:ident;)*) => {$(
        #[cfg_attr(
            gpu,
            unsafe(export_name = concat!("__gangway_", stringify!($double))),
            linkage = "weak"
        )]
        pub fn $double(re: f64, im: f64, exponent: $integer) -> (f64, f64) {
            whole_power(re, im, exponent.into())
        }

        #[cfg_attr(
            gpu,
            unsafe(export_name = concat!("__gangway_", stringify!($single))),
            linkage = "weak"
        )]
        pub fn $single(re: f32, im: f32, exponent: $integer) -> (f32, f32) {
            let (re, im) = whole_power(re.into(), im.into(), exponent.into());
            (re as f32, im as f32)
        }
    )*};
}

export_real! {
    cabs cabsf = functions::abs;
    carg cargf = functions::arg;
}

export! {
    cacos cacosf(x y) = functions::acos;
    cacosh cacoshf(x y) = functions::acosh;
    casin casinf(x y) = functions::asin;
    casinh casinhf(x y) = functions::asinh;
    catan catanf(x y) = functions::atan;
    catanh catanhf(x y) = functions::atanh;
    ccos ccosf(x y) = functions::cos;
    ccosh ccoshf(x y) = functions::cosh;
    cexp cexpf(x y) = functions::exp;
    clog clogf(x y) = functions::log;
    cpow cpowf(x y, u v) = functions::pow;
    csin csinf(x y) = functions::sin;
    csinh csinhf(x y) = functions::sinh;
    csqrt csqrtf(x y) = functions::square_root;
    ctan ctanf(x y) = functions::tan;
    ctanh ctanhf(x y) = functions::tanh;
}

export_powers! {
    zpowi cpowi i32;
    zpowk cpowk i64;
}

/// By squares, as flang's own library does it: a negative exponent divides at the end.
fn whole_power(re: f64, im: f64, exponent: i64) -> (f64, f64) {
    let (mut square, mut result) = ((re, im), (1.0, 0.0));
    let mut rest = exponent.unsigned_abs();
    while rest > 0 {
        if rest & 1 == 1 {
            result = product(result, square);
        }
        square = product(square, square);
        rest >>= 1;
    }
    if exponent < 0 { super::__divdc3(1.0, 0.0, result.0, result.1) } else { result }
}

fn product(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}
