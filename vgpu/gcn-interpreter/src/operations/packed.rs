//! Two values in one register, dot products, and operations on halves and whole numbers together.

use super::{Compute, Operation, Value, float, integer};
use crate::float as arithmetic;
use crate::format::{F16, F32, Format};
use crate::integer::{dot, half};
use crate::mode::Context;

/// What becomes of sources that are halves or whole numbers.
#[derive(Clone, Copy)]
pub struct Mix {
    pub fused: bool,
    /// A half's place in the result, or else it is a whole number.
    pub to: Option<u32>,
}

impl Mix {
    /// From whole numbers to the result's bits in their format.
    pub fn evaluate(self, context: &Context, [a, b, c]: [u64; 3]) -> u64 {
        let found = match self.fused {
            true => arithmetic::fma(context.mode, F32, a, b, c),
            false => arithmetic::mad(context.mode, F32, a, b, c),
        };
        match self.to {
            Some(_) => arithmetic::convert(context.mode, F32, F16, found),
            None => found,
        }
    }

    pub fn format(self) -> Format {
        if self.to.is_some() { F16 } else { F32 }
    }
}

/// VOP3P.
pub fn operation(name: &str) -> Option<Operation> {
    if let Some(rest) = name.strip_prefix("v_pk_") {
        return pairs(rest);
    }
    if let Some((fused, rest)) = ["v_mad_", "v_fma_"]
        .into_iter()
        .zip([false, true])
        .find_map(|(prefix, fused)| name.strip_prefix(prefix).map(|rest| (fused, rest)))
    {
        let to = match rest {
            "mix_f32" => None,
            "mixlo_f16" => Some(0),
            "mixhi_f16" => Some(1),
            _ => return None,
        };
        let mix = Mix { fused, to };
        let bits = if to.is_some() { 16 } else { 32 };
        return Some(Operation { compute: Compute::Mix(mix), format: Some(mix.format()), bits });
    }
    let value: Value = match name {
        "v_dot2_i32_i16" => |context, sources| dot(context, 16, true, sources),
        "v_dot2_u32_u16" => |context, sources| dot(context, 16, false, sources),
        "v_dot4_i32_i8" => |context, sources| dot(context, 8, true, sources),
        "v_dot4_u32_u8" => |context, sources| dot(context, 8, false, sources),
        "v_dot8_i32_i4" => |context, sources| dot(context, 4, true, sources),
        "v_dot8_u32_u4" => |context, sources| dot(context, 4, false, sources),
        _ => return None,
    };
    Some(Operation::integer(32, value))
}

/// The operation on each half is the one on a value alone.
fn pairs(rest: &str) -> Option<Operation> {
    let (base, ty) = rest.rsplit_once('_')?;
    let single = format!("v_{base}_{ty}");
    let (format, bits, value) = match ty {
        "f16" | "f32" => {
            let found = float::operation(&single)?;
            let Compute::Value(value) = found.compute else { return None };
            (found.format, found.bits, value)
        }
        "u16" | "i16" | "b16" => (None, 16, integer::short(&single)?),
        _ => return None,
    };
    Some(Operation { compute: Compute::Packed(value, bits), format, bits: 2 * bits })
}

/// Those of one word.
pub fn short(name: &str) -> Option<Operation> {
    let value: Value = match name {
        "v_dot2c_i32_i16" => |context, sources| dot(context, 16, true, sources),
        "v_dot4c_i32_i8" => |context, sources| dot(context, 8, true, sources),
        "v_dot8c_i32_i4" => |context, sources| dot(context, 4, true, sources),
        "v_pk_fmac_f16" => |context, [a, b, c]| {
            let part = |number| {
                arithmetic::fma(context.mode, F16, half(a, number), half(b, number), half(c, number))
            };
            part(1) << 16 | part(0)
        },
        _ => return None,
    };
    Some(Operation::integer(32, value))
}
