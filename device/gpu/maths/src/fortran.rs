//! The numerical intrinsics that flang calls in its runtime library, which GPUs do not have.
//!
//! They answer what that library answers on the host. Where it ends the program, as for `MOD` with
//! a divisor of zero, there is a NaN here, and a remainder of zero for integers.

use crate::elementary::clamp;
use crate::export::export;
use crate::special;

/// Exports functions under flang's names, which the first word of each item is.
macro_rules! export_fortran {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $body:expr;)*) => {$(
        #[cfg_attr(
            gpu,
            unsafe(export_name = concat!("_FortranA", stringify!($name))),
            linkage = "weak"
        )]
        #[allow(non_snake_case, reason = "the names are flang's")]
        pub extern "C" fn $name($($argument: $type),*) $(-> $result)? { $body }
    )*};
}

/// The file of a call, with which its line comes. Nothing here fails, so they are unused.
type File = *const u8;

export! {
    // `nint`, for which flang has an intrinsic of LLVM's (`tools/gangway/src/stand_in/bitcode.rs`).
    fn __gw_lround_i32_f32(x: f32) -> i32 = libm::roundf(x) as i32;
    fn __gw_lround_i32_f64(x: f64) -> i32 = libm::round(x) as i32;
    fn __gw_lround_i64_f32(x: f32) -> i64 = libm::roundf(x) as i64;
    fn __gw_lround_i64_f64(x: f64) -> i64 = libm::round(x) as i64;
}

export_fortran! {
    ErfcScaled4(x: f32) -> f32 = special::erfcx(f64::from(x)) as f32;
    ErfcScaled8(x: f64) -> f64 = special::erfcx(x);
    Exponent4_4(x: f32) -> i32 = exponent(f64::from(x)).unwrap_or(i32::MAX);
    Exponent4_8(x: f32) -> i64 = exponent(f64::from(x)).map_or(i64::MAX, i64::from);
    Exponent8_4(x: f64) -> i32 = exponent(x).unwrap_or(i32::MAX);
    Exponent8_8(x: f64) -> i64 = exponent(x).map_or(i64::MAX, i64::from);
    Fraction4(x: f32) -> f32 = fraction(f64::from(x)) as f32;
    Fraction8(x: f64) -> f64 = fraction(x);
    IsFinite4(x: f32) -> bool = x.is_finite();
    IsFinite8(x: f64) -> bool = x.is_finite();
    IsNaN4(x: f32) -> bool = x.is_nan();
    IsNaN8(x: f64) -> bool = x.is_nan();
    ModReal4(a: f32, p: f32, _file: File, _line: i32) -> f32 = libm::fmodf(a, p);
    ModReal8(a: f64, p: f64, _file: File, _line: i32) -> f64 = libm::fmod(a, p);
    ModuloReal4(a: f32, p: f32, _file: File, _line: i32) -> f32
        = modulo(a.into(), p.into()) as f32;
    ModuloReal8(a: f64, p: f64, _file: File, _line: i32) -> f64 = modulo(a, p);
    Nearest4(x: f32, up: bool) -> f32
        = libm::nextafterf(x, f32::INFINITY.copysign(sign(up) as f32));
    Nearest8(x: f64, up: bool) -> f64 = libm::nextafter(x, f64::INFINITY.copysign(sign(up)));
    RRSpacing4(x: f32) -> f32 = libm::scalbnf(fraction(f64::from(x)).abs() as f32, 24);
    RRSpacing8(x: f64) -> f64 = libm::scalbn(fraction(x).abs(), 53);
    Scale4(x: f32, n: i64) -> f32 = libm::scalbnf(x, clamp(n));
    Scale8(x: f64, n: i64) -> f64 = libm::scalbn(x, clamp(n));
    SetExponent4(x: f32, n: i64) -> f32 = libm::scalbnf(fraction(f64::from(x)) as f32, clamp(n));
    SetExponent8(x: f64, n: i64) -> f64 = libm::scalbn(fraction(x), clamp(n));
    Spacing4(x: f32) -> f32 = match exponent(f64::from(x)) {
        None => f32::NAN,
        Some(_) if x == 0.0 => f32::MIN_POSITIVE,
        Some(exponent) => libm::scalbnf(1.0, exponent - 24).max(f32::MIN_POSITIVE),
    };
    Spacing8(x: f64) -> f64 = match exponent(x) {
        None => f64::NAN,
        Some(_) if x == 0.0 => f64::MIN_POSITIVE,
        Some(exponent) => libm::scalbn(1.0, exponent - 53).max(f64::MIN_POSITIVE),
    };
    // A GPU has no flags of floating-point exceptions: none is ever raised or pending.
    MapException(_exceptions: u32) -> u32 = 0;
    feclearexcept(_exceptions: u32) -> i32 = 0;
    feraiseexcept(_exceptions: u32) -> i32 = 0;
    fetestexcept(_exceptions: u32) -> i32 = 0;
}

/// Functions that there are once per type.
macro_rules! for_integers {
    ($($integer:ident $mod_name:ident $modulo:ident;)*) => {
        export_fortran! {$(
            $mod_name(a: $integer, p: $integer, _file: File, _line: i32) -> $integer
                = a.checked_rem(p).unwrap_or(0);
            $modulo(a: $integer, p: $integer, _file: File, _line: i32) -> $integer = {
                let rest = a.checked_rem(p).unwrap_or(0);
                if rest != 0 && (rest < 0) != (p < 0) { rest + p } else { rest }
            };
        )*}
    };
}

for_integers! {
    i8 ModInteger1 ModuloInteger1;
    i16 ModInteger2 ModuloInteger2;
    i32 ModInteger4 ModuloInteger4;
    i64 ModInteger8 ModuloInteger8;
    i128 ModInteger16 ModuloInteger16;
}

macro_rules! roundings {
    ($($float:ident $integer:ident $ceiling:ident $floor:ident $nint:ident;)*) => {
        export_fortran! {$(
            $ceiling(x: $float) -> $integer = libm::ceil(x.into()) as $integer;
            $floor(x: $float) -> $integer = libm::floor(x.into()) as $integer;
            $nint(x: $float) -> $integer = libm::round(x.into()) as $integer;
        )*}
    };
}

roundings! {
    f32 i8 Ceiling4_1 Floor4_1 Nint4_1;
    f32 i16 Ceiling4_2 Floor4_2 Nint4_2;
    f32 i32 Ceiling4_4 Floor4_4 Nint4_4;
    f32 i64 Ceiling4_8 Floor4_8 Nint4_8;
    f64 i8 Ceiling8_1 Floor8_1 Nint8_1;
    f64 i16 Ceiling8_2 Floor8_2 Nint8_2;
    f64 i32 Ceiling8_4 Floor8_4 Nint8_4;
    f64 i64 Ceiling8_8 Floor8_8 Nint8_8;
}

macro_rules! powers {
    ($($name:ident $float:ident $integer:ident;)*) => {
        // The order of multiplications is that of the host's library, and so are the roundings.
        export_fortran! {$(
            $name(base: $float, exponent: $integer) -> $float = {
                let (mut base, mut left) = (base, exponent.unsigned_abs());
                let mut result = 1.0;
                while left != 0 {
                    if left & 1 == 1 {
                        result *= base;
                    }
                    left >>= 1;
                    base *= base;
                }
                if exponent < 0 { 1.0 / result } else { result }
            };
        )*}
    };
}

powers! {
    FPow4i f32 i32;
    FPow4k f32 i64;
    FPow8i f64 i32;
    FPow8k f64 i64;
}

fn sign(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}

/// Fortran's exponent: that of a number from 1/2 up to 1 is 0, and so is that of zero.
fn exponent(x: f64) -> Option<i32> {
    x.is_finite().then(|| libm::frexp(x).1)
}

fn fraction(x: f64) -> f64 {
    if x.is_infinite() { f64::NAN } else { libm::frexp(x).0 }
}

/// The remainder that has the sign of `p`.
fn modulo(a: f64, p: f64) -> f64 {
    let rest = libm::fmod(a, p);
    if rest == 0.0 {
        libm::copysign(0.0, p)
    } else if (rest < 0.0) != (p < 0.0) {
        rest + p
    } else {
        rest
    }
}
