//! `cvt`: between integers of all widths, floats and halves.
//!
//! Conversions that have to round, round to nearest; to integers, in every way. Others
//! have no fast path, unless they are exact anyway.

use cranelift_codegen::ir::types::{F32, F32X4, F64, F64X2, I32, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_ptx::Type;
use gangway_ptx::meaning::{Conversion, Convert, Rounding};

use super::emit::{Emit, Quad, Source};
use super::{divide, float, half};

pub(super) fn compute(e: &mut Emit, convert: Convert, sources: &[Source]) -> Option<Quad> {
    let a = sources.first()?.quad;
    match convert.between {
        Conversion::Integers => Some(between_integers(e, convert, a)),
        Conversion::IntegerToFloat => from_integer(e, convert, a),
        Conversion::FloatToInteger => Some(to_integer(e, convert, a)),
        Conversion::Floats => between_floats(e, convert, sources),
    }
}

fn between_integers(e: &mut Emit, Convert { to, from, mode, .. }: Convert, a: Quad) -> Quad {
    let signed = from.is_signed();
    let value = e.each([a], |e, [a]| e.extend(a, from.bits(), signed));
    let value = if mode.sat { clamp(e, value, to, from) } else { value };
    match (to.bits() == 64, from.bits() == 64) {
        (true, true) => value,
        (true, false) => e.widen(value.first(), signed),
        (false, wide) => {
            let value = if wide { e.low_words(value) } else { value.first() };
            Quad::One(e.extend(value, to.bits(), false))
        }
    }
}

/// Between the limits of `to`, as far as values of `from` can be outside them.
fn clamp(e: &mut Emit, value: Quad, to: Type, from: Type) -> Quad {
    let ((least, most), (smallest, largest)) = (to.limits(), from.limits());
    e.each([value], |e, [mut value]| {
        if least > smallest {
            let least = e.like(value, least as u64);
            value = e.smax(value, least);
        }
        if most < largest {
            let most = e.like(value, most as u64);
            value = if from.is_signed() { e.smin(value, most) } else { e.umin(value, most) };
        }
        value
    })
}

fn from_integer(e: &mut Emit, Convert { to, from, mode, .. }: Convert, a: Quad) -> Option<Quad> {
    let exact =
        from.bits() <= 16 && to != Type::F16 && to != Type::Bf16 || from.bits() <= 32 && to == Type::F64;
    if !exact && mode.rounding != Rounding::NearestEven {
        return None;
    }
    let signed = from.is_signed();
    let wide = from.bits() == 64;
    // Two roundings are one only if the first one is exact, or far above what a half can be.
    if to == Type::Bf16 && from.bits() > 16 || wide && to == Type::F16 {
        return None;
    }
    let value = e.each([a], |e, [a]| e.extend(a, from.bits(), signed));
    let first = value.first();
    let vector = e.is_vector(first);
    let saturates = mode.sat;
    if to == Type::F64 {
        let floats = match (wide, vector) {
            (false, true) => {
                let [first, second] = divide::doubles(e, from, first);
                Quad::Two(first, second)
            }
            (_, _) => e.each([value], |e, [value]| float_of_integer(e, F64, value, signed)),
        };
        return Some(e.each([floats], |e, [float]| {
            let float = if saturates { float::saturated(e, float) } else { float };
            e.integer(float)
        }));
    }
    let single = match (wide, vector) {
        (true, true) => {
            let convert = |e: &mut Emit, value: Value| {
                [0u8, 1].map(|lane| {
                    let scalar = e.builder.ins().extractlane(value, lane);
                    float_of_integer(e, F32, scalar, signed)
                })
            };
            let Quad::Two(low, high) = value else { return None };
            let lanes = [convert(e, low), convert(e, high)];
            let vector = e.builder.ins().scalar_to_vector(F32X4, lanes[0][0]);
            let lanes = lanes.as_flattened();
            (1..4).fold(vector, |vector, lane| e.builder.ins().insertlane(vector, lanes[lane], lane as u8))
        }
        _ => float_of_integer(e, F32, first, signed),
    };
    let single = if saturates { float::saturated(e, single) } else { single };
    Some(Quad::One(if to == Type::F32 { e.integer(single) } else { half::from_float(e, to, single) }))
}

/// The nearest float, in vectors where the integers are in one.
fn float_of_integer(e: &mut Emit, lane: cranelift_codegen::ir::Type, value: Value, signed: bool) -> Value {
    let ty = match (e.is_vector(value), lane) {
        (true, F64) => F64X2,
        (true, _) => F32X4,
        _ => lane,
    };
    match signed {
        true => e.builder.ins().fcvt_from_sint(ty, value),
        false => e.builder.ins().fcvt_from_uint(ty, value),
    }
}

/// Rounds to an integral value; no form rounds ties away from zero here.
fn integral(e: &mut Emit, rounding: Rounding, value: Value) -> Value {
    match rounding {
        Rounding::Zero => e.trunc(value),
        Rounding::Down => e.floor(value),
        Rounding::Up => e.ceil(value),
        Rounding::NearestEven | Rounding::NearestAway => e.nearest(value),
    }
}

fn to_integer(e: &mut Emit, Convert { to, from, mode, .. }: Convert, a: Quad) -> Quad {
    if from == Type::F64 {
        return from_doubles(e, mode.rounding, to, a);
    }
    let value = a.first();
    let float = if from == Type::F32 {
        let value = float::flushed(e, from, mode.ftz, value);
        e.float(value)
    } else {
        let value = e.and_bits(value, 0xffff);
        let value = if mode.ftz { half::flush(e, from, value) } else { value };
        half::to_float(e, from, value)
    };
    let whole = integral(e, mode.rounding, float);
    if to.bits() == 64 {
        return wide_integers(e, to, whole);
    }
    let integer = if e.is_vector(whole) { I32X4 } else { I32 };
    let converted = match to {
        Type::U32 => e.builder.ins().fcvt_to_uint_sat(integer, whole),
        _ => e.builder.ins().fcvt_to_sint_sat(integer, whole),
    };
    let clamped =
        if to.bits() < 32 { clamp(e, Quad::One(converted), to, Type::S32).first() } else { converted };
    Quad::One(e.extend(clamped, to.bits(), false))
}

/// 64-bit integers from singles, lane by lane; NaN gives the top bit alone.
fn wide_integers(e: &mut Emit, to: Type, singles: Value) -> Quad {
    if !e.is_vector(singles) {
        return Quad::One(wide_integer(e, to, singles));
    }
    let lanes: Vec<Value> = (0..4u8)
        .map(|lane| {
            let scalar = e.builder.ins().extractlane(singles, lane);
            wide_integer(e, to, scalar)
        })
        .collect();
    let pair = |e: &mut Emit, pair: &[Value]| {
        let first = e.builder.ins().scalar_to_vector(cranelift_codegen::ir::types::I64X2, pair[0]);
        e.builder.ins().insertlane(first, pair[1], 1)
    };
    Quad::Two(pair(e, &lanes[..2]), pair(e, &lanes[2..]))
}

fn wide_integer(e: &mut Emit, to: Type, float: Value) -> Value {
    let converted = match to.is_signed() {
        true => e.builder.ins().fcvt_to_sint_sat(I64, float),
        false => e.builder.ins().fcvt_to_uint_sat(I64, float),
    };
    let nan = float::nan(e, float);
    let top = e.constant(I64, 1 << 63);
    e.select(nan, top, converted)
}

fn from_doubles(e: &mut Emit, rounding: Rounding, to: Type, a: Quad) -> Quad {
    let whole = e.each([a], |e, [a]| {
        let value = e.float(a);
        integral(e, rounding, value)
    });
    if to.bits() == 64 {
        return e.each([whole], |e, [whole]| e.scalars(&[whole], |e, scalar| wide_integer(e, to, scalar[0])));
    }
    // Inside the limits, then raised above 2^52, where the low bits are the integer's.
    let (least, most) = to.limits();
    let shifted = e.each([whole], |e, [whole]| {
        let (least, most) = (e.float_like(whole, least as f64), e.float_like(whole, most as f64));
        let clamped = e.greater(whole, least);
        let clamped = e.lesser(clamped, most);
        let magic = e.float_like(whole, 6_755_399_441_055_744.0);
        let shifted = e.fadd(clamped, magic);
        e.integer(shifted)
    });
    let integers = e.low_words(shifted);
    let nans = e.each([whole], |e, [whole]| float::nan(e, whole));
    let nan = e.narrow_mask(nans);
    let top = e.like(integers, 1 << (to.bits() - 1));
    let integers = e.select(nan, top, integers);
    Quad::One(e.extend(integers, to.bits(), false))
}

fn between_floats(e: &mut Emit, convert: Convert, sources: &[Source]) -> Option<Quad> {
    let each = convert.to.element();
    if each != convert.to {
        let convert = Convert { to: each, ..convert };
        // Two singles become the halves of one word, the first the upper.
        let [high, low] = [sources.first()?, sources.get(1)?].map(|source| source.quad);
        let (high, low) = (narrowed(e, convert, high)?, narrowed(e, convert, low)?);
        let high = e.shl_by(high.first(), 16);
        return Some(Quad::One(e.or(high, low.first())));
    }
    narrowed(e, convert, sources.first()?.quad)
}

fn narrowed(e: &mut Emit, convert: Convert, a: Quad) -> Option<Quad> {
    let Convert { to, from, mode, integral: integral_mode, .. } = convert;
    let known = |ty| matches!(ty, Type::F16 | Type::Bf16 | Type::F32 | Type::F64);
    if !known(to) || !known(from) {
        return None;
    }
    let exact = integral_mode || to.bits() > from.bits() || to == from;
    if !exact && mode.rounding != Rounding::NearestEven {
        return None;
    }
    // Through singles, a double would be rounded twice.
    let twice = from == Type::F64 && to.bits() == 16 || from.bits() == 16 && to.bits() == 16 && to != from;
    if twice || from == Type::F64 && to == Type::F64 && !integral_mode {
        return None;
    }
    let ftz = mode.ftz;
    if from == Type::F64 {
        return Some(from_double(e, convert, a));
    }
    let value = a.first();
    let single = if from == Type::F32 {
        let value = if ftz { float::flush(e, from, value) } else { value };
        e.float(value)
    } else {
        let value = e.and_bits(value, 0xffff);
        let value = if ftz { half::flush(e, from, value) } else { value };
        half::to_float(e, from, value)
    };
    let single = if integral_mode { integral(e, mode.rounding, single) } else { single };
    let single = if mode.sat { float::saturated(e, single) } else { single };
    Some(match to {
        Type::F64 => to_doubles(e, single),
        Type::F32 => {
            let result = e.register(single);
            Quad::One(if ftz { float::flush(e, to, result) } else { result })
        }
        _ => {
            let result = half::from_float(e, to, single);
            let result = if ftz { half::flush(e, to, result) } else { result };
            Quad::One(if mode.relu { half::positive(e, result) } else { result })
        }
    })
}

fn to_doubles(e: &mut Emit, single: Value) -> Quad {
    let doubles = promote(e, single);
    e.each([doubles], |e, [double]| {
        let nan = float::nan(e, double);
        let value = e.integer(double);
        let canonical = e.like(value, 0xfff8_0000_0000_0000);
        e.select(nan, canonical, value)
    })
}

fn from_double(e: &mut Emit, Convert { to, mode, integral: integral_mode, .. }: Convert, a: Quad) -> Quad {
    let value = e.each([a], |e, [a]| {
        let value = e.float(a);
        let value = if integral_mode { integral(e, mode.rounding, value) } else { value };
        if mode.sat { float::saturated(e, value) } else { value }
    });
    if to == Type::F64 {
        return e.each([value], |e, [value]| e.integer(value));
    }
    let single = demote(e, value);
    let result = e.register(single);
    Quad::One(if mode.ftz { float::flush(e, to, result) } else { result })
}

/// Singles as doubles, NaNs with any payload.
pub(super) fn promote(e: &mut Emit, single: Value) -> Quad {
    if !e.is_vector(single) {
        return Quad::One(e.builder.ins().fpromote(F64, single));
    }
    let high = crate::value::shuffle_words(e.builder, single, single, [2, 3, 2, 3]);
    let high = e.cast(F32X4, high);
    Quad::Two(e.builder.ins().fvpromote_low(single), e.builder.ins().fvpromote_low(high))
}

/// The nearest singles.
pub(super) fn demote(e: &mut Emit, doubles: Quad) -> Value {
    match doubles {
        Quad::One(double) => e.builder.ins().fdemote(F32, double),
        Quad::Two(first, second) => {
            // Each gives two singles and two zeros.
            let (first, second) = (e.builder.ins().fvdemote(first), e.builder.ins().fvdemote(second));
            let both = crate::value::shuffle_words(e.builder, first, second, [0, 1, 4, 5]);
            e.cast(F32X4, both)
        }
    }
}
