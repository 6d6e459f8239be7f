//! Conversions between numbers.

use super::{Operation, Value};
use crate::float::{convert, from_integer, source, to_f64};
use crate::format::{F16, F32, F64, Format};
use crate::integer::{byte, extend, half, i16_of, i32_of};
use crate::mode::{Context, Mode};
use crate::special::exponent;

pub fn operation(name: &str) -> Option<Operation> {
    if let Some((format, value)) = to_float(name) {
        return Some(Operation::float(format, value));
    }
    if let Some(value) = to_word(name) {
        return Some(Operation::integer(32, value));
    }
    to_half(name).map(|value| Operation::integer(16, value))
}

fn to_float(name: &str) -> Option<(Format, Value)> {
    let found: (Format, Value) = match name {
        "v_cvt_f64_i32" => (F64, |_, [a, ..]| f64::from(i32_of(a)).to_bits()),
        "v_cvt_f64_u32" => (F64, |_, [a, ..]| f64::from(a as u32).to_bits()),
        "v_cvt_f32_i32" => (F32, |context, [a, ..]| from_integer(context.mode, F32, i32_of(a).into())),
        "v_cvt_f32_u32" => (F32, |context, [a, ..]| from_integer(context.mode, F32, (a as u32).into())),
        "v_cvt_f16_i16" => (F16, |context, [a, ..]| from_integer(context.mode, F16, i16_of(a).into())),
        "v_cvt_f16_u16" => (F16, |context, [a, ..]| from_integer(context.mode, F16, (a as u16).into())),
        "v_cvt_f32_ubyte0" => (F32, |_, [a, ..]| of_byte(a, 0)),
        "v_cvt_f32_ubyte1" => (F32, |_, [a, ..]| of_byte(a, 1)),
        "v_cvt_f32_ubyte2" => (F32, |_, [a, ..]| of_byte(a, 2)),
        "v_cvt_f32_ubyte3" => (F32, |_, [a, ..]| of_byte(a, 3)),
        "v_cvt_off_f32_i4" => (F32, |_, [a, ..]| u64::from((extend(a, 4) as f32 / 16.0).to_bits())),
        "v_cvt_f32_f64" => (F32, |context, [a, ..]| convert(context.mode, F64, F32, a)),
        "v_cvt_f64_f32" => (F64, |context, [a, ..]| convert(context.mode, F32, F64, a)),
        "v_cvt_f16_f32" => (F16, |context, [a, ..]| convert(context.mode, F32, F16, a)),
        "v_cvt_f32_f16" => (F32, |context, [a, ..]| convert(context.mode, F16, F32, a)),
        _ => return None,
    };
    Some(found)
}

fn of_byte(value: u64, number: u32) -> u64 {
    u64::from((byte(value, number) as f32).to_bits())
}

/// The value of a source; casts stop at an integer's limits, and make NaN 0, as hardware does.
fn value(context: &Context, format: Format, bits: u64) -> f64 {
    to_f64(format, source(context.mode, format, bits))
}

fn to_word(name: &str) -> Option<Value> {
    Some(match name {
        "v_cvt_i32_f64" => |context, [a, ..]| value(context, F64, a) as i32 as u32 as u64,
        "v_cvt_u32_f64" => |context, [a, ..]| value(context, F64, a) as u32 as u64,
        "v_cvt_i32_f32" => |context, [a, ..]| value(context, F32, a) as i32 as u32 as u64,
        "v_cvt_u32_f32" => |context, [a, ..]| value(context, F32, a) as u32 as u64,
        "v_cvt_rpi_i32_f32" => |context, [a, ..]| (value(context, F32, a) + 0.5).floor() as i32 as u32 as u64,
        "v_cvt_flr_i32_f32" => |context, [a, ..]| value(context, F32, a).floor() as i32 as u32 as u64,
        "v_frexp_exp_i32_f32" => |context, [a, ..]| exponent(context.mode, F32, a) as u32 as u64,
        "v_frexp_exp_i32_f64" => |context, [a, ..]| exponent(context.mode, F64, a) as u32 as u64,
        "v_cvt_pkrtz_f16_f32" => |context, [a, b, _]| {
            let mode = context.mode.truncating();
            let part = |bits| clamped_half(context, mode, convert(mode, F32, F16, bits));
            part(b) << 16 | part(a)
        },
        "v_cvt_pk_u16_u32" => {
            |_, [a, b, _]| (b & 0xffff_ffff).min(0xffff) << 16 | (a & 0xffff_ffff).min(0xffff)
        }
        "v_cvt_pk_i16_i32" => |_, [a, b, _]| {
            let part = |bits| u64::from(i32_of(bits).clamp(-0x8000, 0x7fff) as u16);
            part(b) << 16 | part(a)
        },
        "v_pack_b32_f16" => |context, [a, b, _]| {
            let part = |bits| crate::float::result(context.mode, F16, source(context.mode, F16, bits));
            part(b) << 16 | part(a)
        },
        _ => return None,
    })
}

fn clamped_half(context: &Context, mode: Mode, bits: u64) -> u64 {
    crate::float::finish(mode, F16, bits, 0, context.clamp)
}

fn to_half(name: &str) -> Option<Value> {
    Some(match name {
        "v_cvt_u16_f16" => |context, [a, ..]| value(context, F16, a) as u16 as u64,
        "v_cvt_i16_f16" => |context, [a, ..]| value(context, F16, a) as i16 as u16 as u64,
        "v_frexp_exp_i16_f16" => |context, [a, ..]| exponent(context.mode, F16, a) as u16 as u64,
        "v_sat_pk_u8_i16" => |_, [a, ..]| {
            let part = |number| i16_of(half(a, number)).clamp(0, 255) as u64;
            part(1) << 8 | part(0)
        },
        _ => return None,
    })
}
