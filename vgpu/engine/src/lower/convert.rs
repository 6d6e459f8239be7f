//! `cvt`: between integers of all widths, floats and halves.
//!
//! Conversions that have to round, round to nearest; to integers, in every way. Others
//! have no fast path, unless they are exact anyway.

use gangway_ptx::Type;
use gangway_ptx::meaning::{Conversion, Convert, Rounding};
use gangway_simt::{Element, Op, Value};

use super::{Emit, float, half};

pub(super) fn compute(e: &mut Emit, convert: Convert, sources: &[Value]) -> Option<Value> {
    let a = *sources.first()?;
    match convert.between {
        Conversion::Integers => Some(between_integers(e, convert, a)),
        Conversion::IntegerToFloat => from_integer(e, convert, a),
        Conversion::FloatToInteger => Some(to_integer(e, convert, a)),
        Conversion::Floats => between_floats(e, convert, sources),
    }
}

fn between_integers(e: &mut Emit, Convert { to, from, mode, .. }: Convert, a: Value) -> Value {
    let signed = from.is_signed();
    let value = e.extend(a, from.bits(), signed);
    let value = if mode.sat { clamp(e, value, to, from) } else { value };
    match (to.bits() == 64, from.bits() == 64) {
        (true, true) => value,
        (true, false) => e.widen(value, signed),
        (false, wide) => {
            let value = if wide { e.low_word(value) } else { value };
            e.extend(value, to.bits(), false)
        }
    }
}

/// Between the limits of `to`, as far as values of `from` can be outside them.
fn clamp(e: &mut Emit, mut value: Value, to: Type, from: Type) -> Value {
    let ((least, most), (smallest, largest)) = (to.limits(), from.limits());
    if least > smallest {
        let least = e.like(value, least as u64);
        value = e.smax(value, least);
    }
    if most < largest {
        let most = e.like(value, most as u64);
        value = if from.is_signed() { e.smin(value, most) } else { e.umin(value, most) };
    }
    value
}

fn from_integer(e: &mut Emit, Convert { to, from, mode, .. }: Convert, a: Value) -> Option<Value> {
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
    let value = e.extend(a, from.bits(), signed);
    let element = if to == Type::F64 { Element::F64 } else { Element::F32 };
    let float = e.from_integer(element, value, signed);
    let float = if mode.sat { float::saturated(e, float) } else { float };
    Some(match to {
        Type::F64 | Type::F32 => e.integer(float),
        _ => half::from_float(e, to, float),
    })
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

fn to_integer(e: &mut Emit, Convert { to, from, mode, .. }: Convert, a: Value) -> Value {
    if from == Type::F64 {
        return from_double(e, mode.rounding, to, a);
    }
    let float = single(e, from, mode.ftz, a);
    let whole = integral(e, mode.rounding, float);
    if to.bits() == 64 {
        return wide_integer(e, to, whole);
    }
    let op = if to == Type::U32 { Op::ToUnsignedWord } else { Op::ToSignedWord };
    let converted = e.make(op, &[whole]);
    let clamped = if to.bits() < 32 { clamp(e, converted, to, Type::S32) } else { converted };
    e.extend(clamped, to.bits(), false)
}

/// A source of 16 or 32 bits as a single.
fn single(e: &mut Emit, from: Type, ftz: bool, value: Value) -> Value {
    if from == Type::F32 {
        let value = float::flushed(e, from, ftz, value);
        return e.as_number(value);
    }
    let value = e.and_bits(value, 0xffff);
    let value = if ftz { half::flush(e, from, value) } else { value };
    half::to_float(e, from, value)
}

/// 64 bits of a float; NaN gives the top bit alone.
fn wide_integer(e: &mut Emit, to: Type, float: Value) -> Value {
    let op = if to.is_signed() { Op::ToSignedWide } else { Op::ToUnsignedWide };
    let converted = e.make(op, &[float]);
    let nan = float::nan(e, float);
    let top = e.like(converted, 1 << 63);
    e.select(nan, top, converted)
}

fn from_double(e: &mut Emit, rounding: Rounding, to: Type, a: Value) -> Value {
    let value = e.as_float(a);
    let whole = integral(e, rounding, value);
    if to.bits() == 64 {
        return wide_integer(e, to, whole);
    }
    // Inside the limits, then raised above 2^52, where the low bits are the integer's.
    let (least, most) = to.limits();
    let (least, most) = (e.float_like(whole, least as f64), e.float_like(whole, most as f64));
    let clamped = e.greater(whole, least);
    let clamped = e.lesser(clamped, most);
    let magic = e.float_like(whole, 6_755_399_441_055_744.0);
    let shifted = e.fadd(clamped, magic);
    let shifted = e.integer(shifted);
    let integers = e.low_word(shifted);
    let nan = float::nan(e, whole);
    let top = e.like(integers, 1 << (to.bits() - 1));
    let integers = e.select(nan, top, integers);
    e.extend(integers, to.bits(), false)
}

fn between_floats(e: &mut Emit, convert: Convert, sources: &[Value]) -> Option<Value> {
    let each = convert.to.element();
    if each != convert.to {
        let convert = Convert { to: each, ..convert };
        // Two singles become the halves of one word, the first the upper.
        let &[high, low] = sources.first_chunk()?;
        let (high, low) = (narrowed(e, convert, high)?, narrowed(e, convert, low)?);
        let high = e.shl_by(high, 16);
        return Some(e.or(high, low));
    }
    narrowed(e, convert, *sources.first()?)
}

fn narrowed(e: &mut Emit, convert: Convert, a: Value) -> Option<Value> {
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
    let value = if from == Type::F64 { e.as_float(a) } else { single(e, from, mode.ftz, a) };
    let value = if integral_mode { integral(e, mode.rounding, value) } else { value };
    let value = if mode.sat { float::saturated(e, value) } else { value };
    Some(match (from, to) {
        (Type::F64, Type::F64) => e.integer(value),
        (_, Type::F64) => to_double(e, value),
        (_, Type::F32) => {
            let single = if from == Type::F64 { e.make(Op::Demote, &[value]) } else { value };
            let result = e.register(single);
            float::flushed(e, to, mode.ftz, result)
        }
        _ => {
            let result = half::from_float(e, to, value);
            let result = if mode.ftz { half::flush(e, to, result) } else { result };
            if mode.relu { half::positive(e, result) } else { result }
        }
    })
}

fn to_double(e: &mut Emit, single: Value) -> Value {
    let double = e.make(Op::Promote, &[single]);
    let nan = float::nan(e, double);
    let value = e.integer(double);
    let canonical = e.like(value, 0xfff8_0000_0000_0000);
    e.select(nan, canonical, value)
}
