//! What atomic operations make of memory.

use crate::float;
use crate::format::{F16, F32, F64, Format};
use crate::integer::{half, i32_of};
use crate::mode::Mode;

/// From the old value, the data, and the second data where there are two, to the new value.
pub type Combine = fn(Mode, u64, [u64; 2]) -> u64;

/// An atomic operation.
#[derive(Clone, Copy)]
pub struct Update {
    pub combine: Combine,
    /// 4 or 8 bytes.
    pub bytes: usize,
    /// Data of one or two values; what is compared stands second.
    pub two: bool,
}

/// The mode of atomic additions: to nearest, and with denormals or without.
pub const fn mode(denormals: bool) -> Mode {
    Mode(if denormals { 0xf0 } else { 0xc0 })
}

/// By the names of flat and buffer operations: `add`, `smin_x2`, `pk_add_f16`.
pub fn global(name: &str) -> Option<Update> {
    if let Some(found) = of_floats(name) {
        return Some(found);
    }
    let (name, bytes) = match name.strip_suffix("_x2") {
        Some(name) => (name, 8),
        None => (name, 4),
    };
    let one = |combine| Some(Update { combine, bytes, two: false });
    match (name, bytes) {
        ("cmpswap", _) => Some(Update {
            combine: |_, old, [new, expected]| if old == expected { new } else { old },
            bytes,
            two: true,
        }),
        ("smin", 4) => one(integer("min_i32")?),
        ("smax", 4) => one(integer("max_i32")?),
        ("smin", _) => one(integer("min_i64")?),
        ("smax", _) => one(integer("max_i64")?),
        ("umin", _) => one(integer("min_u64")?),
        ("umax", _) => one(integer("max_u64")?),
        _ => one(integer(name)?),
    }
}

fn of_floats(name: &str) -> Option<Update> {
    let (combine, bytes): (Combine, usize) = match name {
        "add_f32" => (|mode, old, [data, _]| sum(mode, F32, old, data), 4),
        "add_f64" => (|mode, old, [data, _]| sum(mode, F64, old, data), 8),
        "min_f32" => (|mode, old, [data, _]| float::extreme(mode, F32, false, old, data), 4),
        "max_f32" => (|mode, old, [data, _]| float::extreme(mode, F32, true, old, data), 4),
        "min_f64" => (|mode, old, [data, _]| float::extreme(mode, F64, false, old, data), 8),
        "max_f64" => (|mode, old, [data, _]| float::extreme(mode, F64, true, old, data), 8),
        "pk_add_f16" => (
            |mode, old, [data, _]| {
                let part = |number| sum(mode, F16, half(old, number), half(data, number));
                part(1) << 16 | part(0)
            },
            4,
        ),
        "pk_add_bf16" => (
            |mode, old, [data, _]| {
                let part = |number| brain(sum(mode, F32, half(old, number) << 16, half(data, number) << 16));
                part(1) << 16 | part(0)
            },
            4,
        ),
        _ => return None,
    };
    Some(Update { combine, bytes, two: false })
}

fn sum(mode: Mode, format: Format, old: u64, data: u64) -> u64 {
    float::add(mode, format, old, data)
}

/// The upper half of a number, rounded to nearest.
fn brain(bits: u64) -> u64 {
    if F32.is_nan(bits) { bits >> 16 | 0x40 } else { (bits + 0x7fff + (bits >> 16 & 1)) >> 16 }
}

/// By names without width, or with one where it counts.
fn integer(name: &str) -> Option<Combine> {
    Some(match name {
        "swap" | "wrxchg" => |_, _, [data, _]| data,
        "add" => |_, old, [data, _]| old.wrapping_add(data),
        "sub" => |_, old, [data, _]| old.wrapping_sub(data),
        "rsub" => |_, old, [data, _]| data.wrapping_sub(old),
        "inc" => |_, old, [data, _]| if old >= data { 0 } else { old + 1 },
        "dec" => |_, old, [data, _]| if old == 0 || old > data { data } else { old - 1 },
        "and" => |_, old, [data, _]| old & data,
        "or" => |_, old, [data, _]| old | data,
        "xor" => |_, old, [data, _]| old ^ data,
        "min_i32" => |_, old, [data, _]| i32_of(old).min(i32_of(data)) as u64,
        "max_i32" => |_, old, [data, _]| i32_of(old).max(i32_of(data)) as u64,
        "min_i64" => |_, old, [data, _]| old.cast_signed().min(data.cast_signed()).cast_unsigned(),
        "max_i64" => |_, old, [data, _]| old.cast_signed().max(data.cast_signed()).cast_unsigned(),
        "min_u32" | "min_u64" => |_, old, [data, _]| old.min(data),
        "max_u32" | "max_u64" => |_, old, [data, _]| old.max(data),
        _ => return None,
    })
}

/// By the names of LDS operations without `ds_` and `rtn_`: `add_u32`, `cmpst_b64`.
pub fn local(name: &str) -> Option<Update> {
    if let Some(found) = of_floats(name) {
        return Some(found);
    }
    let (base, ty) = name.rsplit_once('_')?;
    let bytes = match ty {
        "u32" | "i32" | "b32" | "f32" => 4,
        "u64" | "i64" | "b64" | "f64" => 8,
        _ => return None,
    };
    let combine: Combine = match (base, ty) {
        // What is compared stands first here.
        ("cmpst", "b32" | "b64") => |_, old, [expected, new]| if old == expected { new } else { old },
        ("cmpst", "f32") => |_, old, [expected, new]| if same(F32, old, expected) { new } else { old },
        ("cmpst", "f64") => |_, old, [expected, new]| if same(F64, old, expected) { new } else { old },
        ("mskor", _) => |_, old, [mask, data]| old & !mask | data,
        ("wrap", "b32") => |_, old, [limit, data]| {
            if old >= limit { old.wrapping_sub(limit) } else { old.wrapping_add(data) }
        },
        ("min" | "max", _) => integer(name)?,
        _ => integer(base)?,
    };
    Some(Update { combine, bytes, two: matches!(base, "cmpst" | "mskor" | "wrap") })
}

fn same(format: Format, a: u64, b: u64) -> bool {
    float::to_f64(format, a) == float::to_f64(format, b)
}
