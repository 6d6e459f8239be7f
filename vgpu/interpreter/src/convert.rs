//! `cvt` for one lane: between all integer and floating-point types, in every rounding
//! mode, saturating or not.

use gangway_ptx::Type;
use gangway_ptx::meaning::{Conversion, Convert};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use crate::float::{canonical_nan, flush, from_f64, is_nan, rounding, saturate, to_f64};
use crate::integer::{extend, mask};

/// The bits in the width of the result's type. Of a packed result `a` is the upper half and `b`
/// the lower.
#[must_use]
pub fn evaluate(convert: Convert, a: u64, b: u64) -> u64 {
    let each = convert.to.element();
    if each != convert.to {
        let convert = Convert { to: each, ..convert };
        return lane(convert, a) << 16 | lane(convert, b);
    }
    lane(convert, a)
}

fn lane(convert: Convert, value: u64) -> u64 {
    let Convert { to, from, mode, .. } = convert;
    let value = value & mask(from.bits());
    match convert.between {
        Conversion::Integers => {
            let value = extend(value, from);
            let (least, most) = to.limits();
            let fitted = if mode.sat { value.clamp(least, most) } else { value };
            fitted as u64 & mask(to.bits())
        }
        Conversion::IntegerToFloat => {
            let exact = extend(value, from);
            let round = rounding(mode.rounding);
            let bits = match to {
                Type::F16 => Half::from_i128_r(exact, round).value.to_bits(),
                Type::Bf16 => BFloat::from_i128_r(exact, round).value.to_bits(),
                Type::F32 => Single::from_i128_r(exact, round).value.to_bits(),
                _ => Double::from_i128_r(exact, round).value.to_bits(),
            } as u64;
            if mode.sat { saturate(bits, to) } else { bits }
        }
        Conversion::FloatToInteger => to_integer(convert, if mode.ftz { flush(value, from) } else { value }),
        Conversion::Floats => between(convert, value),
    }
}

fn to_integer(Convert { to, from, mode, .. }: Convert, value: u64) -> u64 {
    if is_nan(value, from) {
        // Zero, unless one side is 64 bits wide: then only the top bit is set.
        let wide = from == Type::F64 || to.bits() == 64;
        return if wide { 1 << (to.bits() - 1) } else { 0 };
    }
    let exact = Double::from_bits(u128::from(to_f64(value, from).to_bits()));
    let integral = exact.round_to_integral(rounding(mode.rounding)).value;
    let integral = f64::from_bits(integral.to_bits() as u64);
    let (least, most) = to.limits();
    // A cast from f64 saturates by itself; no limit exceeds an i128.
    (integral as i128).clamp(least, most) as u64 & mask(to.bits())
}

fn between(Convert { to, from, mode, integral, .. }: Convert, value: u64) -> u64 {
    // Flushing is about single and half precision, not about double.
    let flushed = |bits: u64, ty: Type| if mode.ftz && ty != Type::F64 { flush(bits, ty) } else { bits };
    let value = flushed(value, from);
    if is_nan(value, from) {
        return match (mode.sat, to) {
            (true, _) => 0,
            // A double keeps its payload, made quiet, when it stays a double.
            (_, Type::F64) if from == Type::F64 => value | 0x0008_0000_0000_0000,
            _ => canonical_nan(to),
        };
    }
    let exact = to_f64(value, from);
    let result = if to == Type::Tf32 {
        tf32(value)
    } else if integral {
        let wide = Double::from_bits(u128::from(exact.to_bits()));
        let rounded = f64::from_bits(wide.round_to_integral(rounding(mode.rounding)).value.to_bits() as u64);
        from_f64(rounded, to, Round::NearestTiesToEven)
    } else {
        narrow(exact, to, rounding(mode.rounding))
    };
    let result = flushed(result, to);
    if mode.sat {
        saturate(result, to)
    } else if mode.relu && to_f64(result, to).is_sign_negative() {
        0
    } else {
        result
    }
}

fn narrow(value: f64, to: Type, round: Round) -> u64 {
    let wide = Double::from_bits(u128::from(value.to_bits()));
    let mut loses = false;
    (match to {
        Type::F64 => return value.to_bits(),
        Type::F32 => FloatConvert::<Single>::convert_r(wide, round, &mut loses).value.to_bits(),
        Type::F16 => FloatConvert::<Half>::convert_r(wide, round, &mut loses).value.to_bits(),
        _ => FloatConvert::<BFloat>::convert_r(wide, round, &mut loses).value.to_bits(),
    }) as u64
}

/// Single precision with 10 bits of fraction, ties away from zero; the rest is zero.
fn tf32(value: u64) -> u64 {
    const DROPPED: u32 = 13;
    let infinite = value & 0x7fff_ffff == 0x7f80_0000;
    if infinite { value } else { (value + (1 << (DROPPED - 1))) & !mask(DROPPED) & mask(32) }
}
