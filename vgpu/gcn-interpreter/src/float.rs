//! Floating-point arithmetic: sums, products, fused operations, roundings, conversions.
//!
//! All of it is exact in every rounding mode. Numbers to nearest are the host's arithmetic; software
//! does the rest. A NaN among the sources is the result, made quiet.

use rustc_apfloat::ieee::{Double, Half, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status};

use crate::format::{F16, F32, F64, Format};
use crate::mode::Mode;

const NEAREST: Round = Round::NearestTiesToEven;

/// The value in double precision, which holds all others exactly.
pub fn to_f64(format: Format, bits: u64) -> f64 {
    match format {
        F64 => f64::from_bits(bits),
        F32 => f64::from(f32::from_bits(bits as u32)),
        F16 => half_to_f64(bits as u16),
    }
}

fn half_to_f64(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * (-24f64).exp2(),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (fraction + 1024.0) * f64::from(exponent - 25).exp2(),
    };
    if bits >> 15 != 0 { -magnitude } else { magnitude }
}

/// Rounds a value to a format; NaN becomes the format's own.
pub fn from_f64(format: Format, value: f64, round: Round) -> u64 {
    if value.is_nan() {
        return format.nan();
    }
    let wide = || Double::from_bits(u128::from(value.to_bits()));
    let mut loses = false;
    match format {
        F64 => value.to_bits(),
        F32 if round == NEAREST => u64::from((value as f32).to_bits()),
        F32 => FloatConvert::<Single>::convert_r(wide(), round, &mut loses).value.to_bits() as u64,
        F16 => FloatConvert::<Half>::convert_r(wide(), round, &mut loses).value.to_bits() as u64,
    }
}

/// A source: a denormal may be a zero.
pub fn source(mode: Mode, format: Format, bits: u64) -> u64 {
    if mode.takes_denormals(format) { bits } else { format.flush(bits) }
}

/// A result: a denormal may become a zero.
pub fn result(mode: Mode, format: Format, bits: u64) -> u64 {
    if mode.gives_denormals(format) { bits } else { format.flush(bits) }
}

/// The first NaN among the sources, made quiet.
pub fn propagated(format: Format, sources: &[u64]) -> Option<u64> {
    sources.iter().find(|bits| format.is_nan(**bits)).map(|bits| bits | format.quiet())
}

/// Too large halves may stop at the largest number, unless a source was infinite.
fn saturated(mode: Mode, format: Format, sources: &[u64], bits: u64) -> u64 {
    let overflows = format == F16
        && mode.half_saturates()
        && format.is_infinite(bits)
        && !sources.iter().any(|source| format.is_infinite(*source));
    if overflows { bits & format.sign() | format.largest() } else { bits }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Exact {
    Add,
    Mul,
    Fma,
}

impl Exact {
    fn of<F: Float>(self, round: Round, [a, b, c]: [u64; 3]) -> u64 {
        let [a, b, c] = [a, b, c].map(|bits| F::from_bits(u128::from(bits)));
        let found = match self {
            Self::Add => a.add_r(b, round),
            Self::Mul => a.mul_r(b, round),
            Self::Fma => a.mul_add_r(b, c, round),
        };
        found.value.to_bits() as u64
    }

    fn evaluate(self, mode: Mode, format: Format, sources: [u64; 3]) -> u64 {
        let sources = sources.map(|bits| source(mode, format, bits));
        let used = if self == Self::Fma { &sources[..] } else { &sources[..2] };
        if let Some(nan) = propagated(format, used) {
            return nan;
        }
        let round = mode.round(format);
        let bits = match (format, self) {
            (F32, _) if round == NEAREST => {
                let [a, b, c] = sources.map(|bits| f32::from_bits(bits as u32));
                u64::from(self.single(a, b, c).to_bits())
            }
            (F64, _) if round == NEAREST => {
                let [a, b, c] = sources.map(f64::from_bits);
                self.double(a, b, c).to_bits()
            }
            (F32, _) => self.of::<Single>(round, sources),
            (F64, _) => self.of::<Double>(round, sources),
            (F16, _) => self.of::<Half>(round, sources),
        };
        let bits = if format.is_nan(bits) { format.nan() } else { bits };
        result(mode, format, saturated(mode, format, used, bits))
    }

    fn single(self, a: f32, b: f32, c: f32) -> f32 {
        match self {
            Self::Add => a + b,
            Self::Mul => a * b,
            Self::Fma => a.mul_add(b, c),
        }
    }

    fn double(self, a: f64, b: f64, c: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Mul => a * b,
            Self::Fma => a.mul_add(b, c),
        }
    }
}

pub fn add(mode: Mode, format: Format, a: u64, b: u64) -> u64 {
    Exact::Add.evaluate(mode, format, [a, b, 0])
}

/// As an addition of the negative, which NaN shows.
pub fn sub(mode: Mode, format: Format, a: u64, b: u64) -> u64 {
    add(mode, format, a, b ^ format.sign())
}

pub fn mul(mode: Mode, format: Format, a: u64, b: u64) -> u64 {
    Exact::Mul.evaluate(mode, format, [a, b, 0])
}

pub fn fma(mode: Mode, format: Format, a: u64, b: u64, c: u64) -> u64 {
    Exact::Fma.evaluate(mode, format, [a, b, c])
}

/// A product and a sum, rounded both; in single precision denormals are always flushed.
pub fn mad(mode: Mode, format: Format, a: u64, b: u64, c: u64) -> u64 {
    let mode = if format == F32 { mode.flushing() } else { mode };
    // The product is no result yet: it must not saturate before the sum.
    add(mode, format, mul(mode, format, a, b), c)
}

/// Zero times anything is +0 (DirectX 9).
pub fn mul_legacy(mode: Mode, format: Format, a: u64, b: u64) -> u64 {
    let [x, y] = [a, b].map(|bits| source(mode, format, bits));
    if format.is_zero(x) || format.is_zero(y) { 0 } else { mul(mode, format, a, b) }
}

/// A fused operation whose result is multiplied by a power of two before the one rounding.
pub fn fma_scaled(mode: Mode, format: Format, [a, b, c]: [u64; 3], scale: i32) -> u64 {
    let sources = [a, b, c].map(|bits| source(mode, format, bits));
    if let Some(nan) = propagated(format, &sources) {
        return nan;
    }
    let round = mode.round(format);
    let mut loses = false;
    let bits = match format {
        F64 => {
            let [a, b, c] = sources.map(|bits| {
                let wide: Quad = Double::from_bits(u128::from(bits)).convert(&mut loses).value;
                wide
            });
            FloatConvert::<Double>::convert_r(odd(a, b, c).scalbn(scale), round, &mut loses).value.to_bits()
        }
        _ => {
            let [a, b, c] = sources.map(|bits| Double::from_bits(u128::from(to_f64(format, bits).to_bits())));
            let wide = odd(a, b, c).scalbn(scale);
            match format {
                F32 => FloatConvert::<Single>::convert_r(wide, round, &mut loses).value.to_bits(),
                _ => FloatConvert::<Half>::convert_r(wide, round, &mut loses).value.to_bits(),
            }
        }
    } as u64;
    let bits = if format.is_nan(bits) { format.nan() } else { bits };
    result(mode, format, bits)
}

/// A fused operation rounded to odd: rounding it once more to a narrower format is as if the exact
/// result were rounded.
fn odd<F: Float>(a: F, b: F, c: F) -> F {
    let found = a.mul_add_r(b, c, Round::TowardZero);
    if found.status.contains(Status::INEXACT) { F::from_bits(found.value.to_bits() | 1) } else { found.value }
}

/// Which of two numbers is the result of a minimum or maximum; of NaN the other one.
pub fn extreme(mode: Mode, format: Format, largest: bool, a: u64, b: u64) -> u64 {
    let [a, b] = [a, b].map(|bits| source(mode, format, bits));
    if mode.ieee()
        && let Some(nan) = [a, b].into_iter().find(|bits| format.is_signalling(*bits))
    {
        return nan | format.quiet();
    }
    let chosen = if format.is_nan(a) {
        b
    } else if format.is_nan(b) {
        a
    } else if (order(format, a) < order(format, b)) == largest {
        b
    } else {
        a
    };
    result(mode, format, chosen)
}

/// Numbers in their order, -0 before +0.
fn order(format: Format, bits: u64) -> i64 {
    let magnitude = format.magnitude(bits).cast_signed();
    if format.is_negative(bits) { -1 - magnitude } else { magnitude }
}

/// The one of three that is in the middle; of NaN the smallest of all.
pub fn median(mode: Mode, format: Format, [a, b, c]: [u64; 3]) -> u64 {
    let least = |a, b| extreme(mode, format, false, a, b);
    if [a, b, c].into_iter().any(|bits| format.is_nan(bits)) {
        return least(least(a, b), c);
    }
    let most = |a, b| extreme(mode, format, true, a, b);
    let largest = most(most(a, b), c);
    // As AMD's description has it: compare with the largest, and take the other two's maximum.
    if order(format, largest) == order(format, source(mode, format, a)) {
        most(b, c)
    } else if order(format, largest) == order(format, source(mode, format, b)) {
        most(a, c)
    } else {
        most(a, b)
    }
}

/// To an integral number.
#[derive(Clone, Copy)]
pub enum Integral {
    Truncate,
    Ceil,
    Floor,
    NearestEven,
}

pub fn integral(mode: Mode, format: Format, how: Integral, bits: u64) -> u64 {
    let bits = source(mode, format, bits);
    if let Some(nan) = propagated(format, &[bits]) {
        return nan;
    }
    let value = to_f64(format, bits);
    let value = match how {
        Integral::Truncate => value.trunc(),
        Integral::Ceil => value.ceil(),
        Integral::Floor => value.floor(),
        Integral::NearestEven => value.round_ties_even(),
    };
    from_f64(format, value, NEAREST)
}

/// What is above the next lower integral number; always less than 1.
pub fn fract(mode: Mode, format: Format, bits: u64) -> u64 {
    let floor = integral(mode, format, Integral::Floor, bits);
    let found = sub(mode, format, bits, floor);
    if !format.is_nan(found) && found >= format.one() { format.one() - 1 } else { found }
}

/// Between formats.
pub fn convert(mode: Mode, from: Format, to: Format, bits: u64) -> u64 {
    let bits = source(mode, from, bits);
    if from.is_nan(bits) {
        let sign = if from.is_negative(bits) { to.sign() } else { 0 };
        let payload = bits & ((1 << from.fraction()) - 1);
        let payload = (u128::from(payload) << 64 >> from.fraction() >> (64 - to.fraction())) as u64;
        return sign | to.nan() | payload;
    }
    let found = from_f64(to, to_f64(from, bits), mode.round(to));
    result(mode, to, saturated_narrow(mode, from, to, bits, found))
}

fn saturated_narrow(mode: Mode, from: Format, to: Format, source: u64, bits: u64) -> u64 {
    let overflows = to == F16 && mode.half_saturates() && to.is_infinite(bits) && !from.is_infinite(source);
    if overflows { bits & to.sign() | to.largest() } else { bits }
}

/// A 32-bit integer or a shorter one as a number.
pub fn from_integer(mode: Mode, format: Format, value: i64) -> u64 {
    from_f64(format, value as f64, mode.round(format))
}

/// A result's scale and limits.
pub fn finish(mode: Mode, format: Format, bits: u64, scale: i32, clamp: bool) -> u64 {
    // Without effect where denormals are kept, or IEEE 754 is (Vega ISA, 6.2.3).
    let scaled = if scale == 0 || mode.ieee() || mode.gives_denormals(format) || format.is_nan(bits) {
        bits
    } else {
        let value = to_f64(format, bits) * f64::from(scale).exp2();
        let flushed = format.flush(from_f64(format, value, mode.round(format)));
        // -0 becomes +0.
        if format.is_zero(flushed) { 0 } else { flushed }
    };
    if clamp { clamped(mode, format, scaled) } else { scaled }
}

/// To what is between 0 and 1.
fn clamped(mode: Mode, format: Format, bits: u64) -> u64 {
    if format.is_nan(bits) {
        if mode.clamps_nan() { 0 } else { bits }
    } else if format.is_negative(bits) {
        0
    } else {
        bits.min(format.one())
    }
}

/// A function of one number, computed in double precision and rounded.
pub fn function(mode: Mode, format: Format, bits: u64, of: impl FnOnce(f64) -> f64) -> u64 {
    let bits = source(mode, format, bits);
    if let Some(nan) = propagated(format, &[bits]) {
        return nan;
    }
    let round = mode.round(format);
    let found = from_f64(format, of(to_f64(format, bits)), round);
    result(mode, format, found)
}
