//! Arithmetic and functions of floating-point numbers.

use super::{Compute, Operation, Value};
use crate::float::{self, Integral};
use crate::format::{F16, F32, F64, Format};
use crate::integer::i32_of;
use crate::special;

/// The same operation for each format.
macro_rules! each {
    ($format:expr, |$mode:ident, $f:ident, $sources:tt| $body:expr) => {{
        macro_rules! of {
            ($one:expr) => {{
                let value: Value = |context, $sources| {
                    let ($mode, $f) = (context.mode, $one);
                    $body
                };
                value
            }};
        }
        match $format {
            F16 => of!(F16),
            F32 => of!(F32),
            F64 => of!(F64),
        }
    }};
}

pub fn operation(name: &str) -> Option<Operation> {
    let (base, ty) = name.rsplit_once('_')?;
    let format = match ty {
        "f16" => F16,
        "f32" => F32,
        "f64" => F64,
        _ => return None,
    };
    if let Some(compute) = division(base, format) {
        return Some(Operation { compute, format: Some(format), bits: format.bits() });
    }
    let value = arithmetic(base, format).or_else(|| function(base, format))?;
    Some(Operation::float(format, value))
}

fn arithmetic(base: &str, format: Format) -> Option<Value> {
    Some(match base {
        "v_add" => each!(format, |mode, f, [a, b, _]| float::add(mode, f, a, b)),
        "v_sub" => each!(format, |mode, f, [a, b, _]| float::sub(mode, f, a, b)),
        "v_subrev" => each!(format, |mode, f, [a, b, _]| float::sub(mode, f, b, a)),
        "v_mul" => each!(format, |mode, f, [a, b, _]| float::mul(mode, f, a, b)),
        "v_mul_legacy" => each!(format, |mode, f, [a, b, _]| float::mul_legacy(mode, f, a, b)),
        "v_mad_legacy" if format == F32 => each!(format, |mode, f, [a, b, c]| {
            let mode = mode.flushing();
            float::add(mode, f, float::mul_legacy(mode, f, a, b), c)
        }),
        "v_min" => each!(format, |mode, f, [a, b, _]| float::extreme(mode, f, false, a, b)),
        "v_max" => each!(format, |mode, f, [a, b, _]| float::extreme(mode, f, true, a, b)),
        "v_mac" | "v_mad" | "v_mad_legacy" | "v_madmk" | "v_madak" => {
            each!(format, |mode, f, [a, b, c]| float::mad(mode, f, a, b, c))
        }
        "v_fma" | "v_fmac" | "v_fma_legacy" | "v_fmamk" | "v_fmaak" => {
            each!(format, |mode, f, [a, b, c]| float::fma(mode, f, a, b, c))
        }
        "v_min3" => each!(format, |mode, f, [a, b, c]| {
            float::extreme(mode, f, false, float::extreme(mode, f, false, a, b), c)
        }),
        "v_max3" => each!(format, |mode, f, [a, b, c]| {
            float::extreme(mode, f, true, float::extreme(mode, f, true, a, b), c)
        }),
        "v_med3" => each!(format, |mode, f, sources| float::median(mode, f, sources)),
        _ => return None,
    })
}

fn function(base: &str, format: Format) -> Option<Value> {
    use Integral::{Ceil, Floor, NearestEven, Truncate};

    Some(match base {
        "v_trunc" => each!(format, |mode, f, [a, _, _]| float::integral(mode, f, Truncate, a)),
        "v_ceil" => each!(format, |mode, f, [a, _, _]| float::integral(mode, f, Ceil, a)),
        "v_floor" => each!(format, |mode, f, [a, _, _]| float::integral(mode, f, Floor, a)),
        "v_rndne" => each!(format, |mode, f, [a, _, _]| float::integral(mode, f, NearestEven, a)),
        "v_fract" => each!(format, |mode, f, [a, _, _]| float::fract(mode, f, a)),
        "v_frexp_mant" => each!(format, |mode, f, [a, _, _]| special::fraction(mode, f, a)),
        "v_ldexp" => match format {
            // Of halves the exponent has 16 bits, too.
            F16 => |context, [a, b, _]| special::ldexp(context.mode, F16, a, i32::from(b as u16 as i16)),
            F32 => |context, [a, b, _]| special::ldexp(context.mode, F32, a, i32_of(b)),
            F64 => |context, [a, b, _]| special::ldexp(context.mode, F64, a, i32_of(b)),
        },
        "v_rcp" => each!(format, |mode, f, [a, _, _]| special::reciprocal(mode, f, a)),
        "v_rcp_iflag" => each!(format, |mode, f, [a, _, _]| special::reciprocal(mode, f, a)),
        "v_rsq" => each!(format, |mode, f, [a, _, _]| special::reciprocal_root(mode, f, a)),
        "v_sqrt" => each!(format, |mode, f, [a, _, _]| special::square_root(mode, f, a)),
        "v_exp" | "v_exp_legacy" => each!(format, |mode, f, [a, _, _]| special::exp2(mode, f, a)),
        "v_log" | "v_log_legacy" => each!(format, |mode, f, [a, _, _]| special::log2(mode, f, a)),
        "v_sin" => each!(format, |mode, f, [a, _, _]| special::sine(mode, f, a)),
        "v_cos" => each!(format, |mode, f, [a, _, _]| special::cosine(mode, f, a)),
        "v_div_fixup" | "v_div_fixup_legacy" => {
            each!(format, |mode, f, sources| special::div_fixup(mode, f, sources))
        }
        "v_trig_preop" => |_, [a, b, _]| special::two_by_pi(a, b as u32),
        _ => return None,
    })
}

fn division(base: &str, format: Format) -> Option<Compute> {
    Some(match (base, format) {
        ("v_div_scale", F32) => {
            Compute::ValueAndBit(|context, sources| special::div_scale(context.mode, F32, sources))
        }
        ("v_div_scale", F64) => {
            Compute::ValueAndBit(|context, sources| special::div_scale(context.mode, F64, sources))
        }
        ("v_div_fmas", F32) => {
            Compute::Value(|context, sources| special::div_fmas(context.mode, F32, sources, context.bit))
        }
        ("v_div_fmas", F64) => {
            Compute::Value(|context, sources| special::div_fmas(context.mode, F64, sources, context.bit))
        }
        _ => return None,
    })
}
