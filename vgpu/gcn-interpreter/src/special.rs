//! Floating-point instructions that are no plain arithmetic: classes, exponents, steps of division,
//! functions.

use rustc_apfloat::Float;
use rustc_apfloat::ieee::Double;

use crate::float::{self, from_f64, propagated, source, to_f64};
use crate::format::{F16, F32, F64, Format};
use crate::mode::Mode;

/// Whether a number is of one of the classes (Vega ISA, 6.2.1, `V_CMP_CLASS`).
pub fn is_class(format: Format, bits: u64, classes: u64) -> bool {
    let class = if format.is_signalling(bits) {
        0
    } else if format.is_nan(bits) {
        1
    } else {
        let size = if format.is_infinite(bits) {
            0
        } else if format.is_zero(bits) {
            3
        } else if format.is_denormal(bits) {
            2
        } else {
            1
        };
        if format.is_negative(bits) { 2 + size } else { 9 - size }
    };
    classes >> class & 1 != 0
}

/// A number's fraction from 0.5 to less than 1, and its exponent.
fn split(mode: Mode, format: Format, bits: u64) -> Option<(u64, i32)> {
    let bits = source(mode, format, bits);
    if format.exponent(bits) == format.exponent(format.infinity()) || format.is_zero(bits) {
        return None;
    }
    let sign = bits & format.sign();
    let half = (format.bias() - 1) as u64;
    let magnitude = format.magnitude(bits);
    // A denormal is shifted until its highest bit is the hidden one.
    let shift = if format.is_denormal(bits) {
        magnitude.leading_zeros() as i32 - (63 - format.fraction() as i32)
    } else {
        0
    };
    let fraction = (magnitude << shift) & ((1 << format.fraction()) - 1);
    let exponent = format.exponent(bits).max(1) - shift - (format.bias() - 1);
    Some((sign | half << format.fraction() | fraction, exponent))
}

pub fn fraction(mode: Mode, format: Format, bits: u64) -> u64 {
    match split(mode, format, bits) {
        Some((fraction, _)) => fraction,
        None => propagated(format, &[bits]).unwrap_or_else(|| source(mode, format, bits)),
    }
}

/// 0 for zeros, infinities and NaN.
pub fn exponent(mode: Mode, format: Format, bits: u64) -> i32 {
    split(mode, format, bits).map_or(0, |(_, exponent)| exponent)
}

/// Times a power of two.
pub fn ldexp(mode: Mode, format: Format, bits: u64, exponent: i32) -> u64 {
    let bits = source(mode, format, bits);
    if let Some(nan) = propagated(format, &[bits]) {
        return nan;
    }
    let round = mode.round(format);
    let found = if format == F64 {
        Double::from_bits(u128::from(bits)).scalbn_r(exponent, round).to_bits() as u64
    } else {
        // Double precision holds all that does not become zero or infinite anyway.
        let scaled = to_f64(format, bits) * f64::from(exponent.clamp(-600, 600)).exp2();
        from_f64(format, scaled, round)
    };
    float::result(mode, format, found)
}

/// What differs between the two precisions in the steps of division.
struct Division {
    /// Numbers are scaled by 2 to the power of this.
    scale: i32,
    /// The quotient is near the largest number if the exponents differ by so much.
    far: i32,
    /// A numerator up to this exponent is scaled.
    tiny: i32,
    /// The quotient is 0 if the exponents differ by less than this.
    nothing: i32,
}

impl Division {
    fn of(format: Format) -> Self {
        match format {
            F64 => Self { scale: 128, far: 768, tiny: 53, nothing: -1075 },
            _ => Self { scale: 64, far: 96, tiny: 23, nothing: -150 },
        }
    }
}

/// `v_div_scale`: one of the two made fit for the steps of division, and whether the quotient is scaled.
pub fn div_scale(mode: Mode, format: Format, [value, denominator, numerator]: [u64; 3]) -> (u64, bool) {
    let of = Division::of(format);
    let [value, denominator, numerator] =
        [value, denominator, numerator].map(|bits| source(mode, format, bits));
    let scaled = |by: i32| ldexp(keeping(mode), format, value, by);
    let only = |other: u64, by: i32| if value == other { scaled(by) } else { value };
    let is_denormal = |quotient: f64| match format {
        F64 => quotient.is_subnormal(),
        _ => quotient != 0.0 && quotient.abs() < f64::from(f32::MIN_POSITIVE),
    };
    let [d, n] = [denominator, numerator].map(|bits| to_f64(format, bits));
    let distance = format.exponent(numerator) - format.exponent(denominator);
    if format.is_zero(numerator) || format.is_zero(denominator) {
        (format.nan(), false)
    } else if distance >= of.far {
        (only(denominator, of.scale), true)
    } else if format.is_denormal(denominator) {
        (scaled(of.scale), false)
    } else if is_denormal(1.0 / d) && is_denormal(n / d) {
        (only(denominator, -of.scale), true)
    } else if is_denormal(1.0 / d) {
        (scaled(-of.scale), false)
    } else if is_denormal(n / d) {
        (only(numerator, of.scale), true)
    } else if format.exponent(numerator) <= of.tiny {
        (scaled(of.scale), false)
    } else {
        (value, false)
    }
}

/// `v_div_fmas`: the last step, which takes the scale back with the one rounding.
pub fn div_fmas(mode: Mode, format: Format, sources: [u64; 3], scaled: bool) -> u64 {
    if !scaled {
        let [a, b, c] = sources;
        return float::fma(mode, format, a, b, c);
    }
    let scale = Division::of(format).scale;
    let large = format.exponent(sources[2]) > format.bias();
    float::fma_scaled(mode, format, sources, if large { scale } else { -scale })
}

/// `v_div_fixup`: the quotient, or what the special cases of division give.
pub fn div_fixup(mode: Mode, format: Format, [quotient, denominator, numerator]: [u64; 3]) -> u64 {
    let [quotient, denominator, numerator] =
        [quotient, denominator, numerator].map(|bits| source(mode, format, bits));
    let sign = (denominator ^ numerator) & format.sign();
    let of = Division::of(format);
    let distance = format.exponent(numerator) - format.exponent(denominator);
    let both = |test: fn(Format, u64) -> bool| test(format, denominator) && test(format, numerator);
    let found = if let Some(nan) = propagated(format, &[numerator, denominator]) {
        return nan;
    } else if both(|format, bits| format.is_zero(bits)) || both(|format, bits| format.is_infinite(bits)) {
        return format.sign() | format.nan();
    } else if format.is_zero(denominator) || format.is_infinite(numerator) {
        format.infinity()
    } else if format.is_infinite(denominator) || format.is_zero(numerator) {
        0
    } else if format != F16 && distance < of.nothing {
        beyond(mode, format, sign, 1)
    } else if format != F16 && format.is_nan(quotient) {
        // The steps subtract infinities where the quotient is too large.
        beyond(mode, format, sign, format.largest())
    } else {
        format.magnitude(quotient)
    };
    float::result(mode, format, sign | found)
}

/// What a number that is too small or too large is rounded to: that of the square of this one.
fn beyond(mode: Mode, format: Format, sign: u64, magnitude: u64) -> u64 {
    format.magnitude(float::mul(keeping(mode), format, sign | magnitude, magnitude))
}

/// The mode, with all denormals.
fn keeping(mode: Mode) -> Mode {
    Mode(mode.0 | 0xf0)
}

/// Functions of single precision flush denormals whatever the mode is (Vega ISA, 12.8).
fn flushed(mode: Mode, format: Format) -> Mode {
    if format == F32 { mode.flushing() } else { mode }
}

pub fn reciprocal(mode: Mode, format: Format, bits: u64) -> u64 {
    float::function(flushed(mode, format), format, bits, |value| 1.0 / value)
}

pub fn square_root(mode: Mode, format: Format, bits: u64) -> u64 {
    float::function(flushed(mode, format), format, bits, f64::sqrt)
}

pub fn reciprocal_root(mode: Mode, format: Format, bits: u64) -> u64 {
    float::function(flushed(mode, format), format, bits, |value| 1.0 / value.sqrt())
}

pub fn exp2(mode: Mode, format: Format, bits: u64) -> u64 {
    float::function(flushed(mode, format), format, bits, f64::exp2)
}

pub fn log2(mode: Mode, format: Format, bits: u64) -> u64 {
    float::function(flushed(mode, format), format, bits, f64::log2)
}

/// Angles are in turns. Beyond 256 of them the result is that of 0.
fn angle(turns: f64) -> f64 {
    // The quarter nearest to it is exact, so that what is left is small.
    if turns.abs() > 256.0 && turns.is_finite() { 0.0 } else { turns - turns.round_ties_even() }
}

pub fn sine(mode: Mode, format: Format, bits: u64) -> u64 {
    float::function(flushed(mode, format), format, bits, |turns| {
        let part = angle(turns);
        // Exact at multiples of half a turn.
        if part.abs() == 0.5 { 0.0 } else { (part * std::f64::consts::TAU).sin() }
    })
}

pub fn cosine(mode: Mode, format: Format, bits: u64) -> u64 {
    float::function(flushed(mode, format), format, bits, |turns| {
        let part = angle(turns);
        if part.abs() == 0.25 { 0.0 } else { (part * std::f64::consts::TAU).cos() }
    })
}

/// The bits of 2 / pi behind the point, highest first.
const TWO_BY_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// `v_trig_preop_f64`: 53 bits of 2 / pi, as the exponent of an angle needs them.
pub fn two_by_pi(bits: u64, segment: u32) -> u64 {
    let exponent = F64.exponent(bits);
    let shift = (segment & 31) as i32 * 53 + (exponent - 1077).max(0);
    let place = shift as usize;
    let word = |at: usize| u128::from(TWO_BY_PI.get(at).copied().unwrap_or(0));
    // 1,201 of the bits are there.
    let known = 1201usize.saturating_sub(place).min(53);
    let pair = word(place / 64) << 64 | word(place / 64 + 1);
    let taken = (pair << (place % 64) >> (128 - 53)) as u64;
    let taken = taken >> (53 - known) << (53 - known);
    let scale = -53 - shift + if exponent >= 1968 { 128 } else { 0 };
    let value = Double::from_bits(u128::from((taken as f64).to_bits()));
    value.scalbn(scale).to_bits() as u64
}
