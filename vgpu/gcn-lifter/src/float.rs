//! What vector instructions compute with floating-point numbers.

use crate::compute::Computed;
use crate::half;
use crate::node::{Op, Type, Value};
use crate::state::{Sources, State};

pub fn lift(s: &mut State, name: &str, sources: &Sources) -> Computed {
    let none = s.f.word(0);
    let source = |index: usize| sources.values.get(index).copied().unwrap_or(none);
    let args = [source(0), source(1), source(2)];
    if let Some(found) = division(s, name, args, sources.bit) {
        return Some(found);
    }
    if let Some(value) = conversion(s, name, args[0]) {
        return Some((value, None));
    }
    if let Some(rest) = name.strip_prefix("v_cvt_") {
        return half::convert(s, rest, args[0], args[1]).map(|value| (value, None));
    }
    match name {
        "v_frexp_mant_f32" | "v_frexp_mant_f64" => {
            return Some((half::parts(s, name.ends_with("f64"), args[0], false), None));
        }
        "v_frexp_exp_i32_f32" | "v_frexp_exp_i32_f64" => {
            return Some((half::parts(s, name.ends_with("f64"), args[0], true), None));
        }
        _ => {}
    }
    let (base, ty) = name.strip_prefix("v_")?.rsplit_once('_')?;
    let value = match ty {
        "f32" | "f64" if base == "ldexp" => Some(scaled(s, ty == "f64", args[0], args[1])),
        "f32" => single(s, base, args),
        "f64" => double(s, base, args),
        "f16" => half::compute(s, base, args),
        _ => None,
    };
    value.map(|value| (value, None))
}

fn single(s: &mut State, base: &str, [a, b, c]: [Value; 3]) -> Option<Value> {
    let (ptx, args): (&'static str, &[Value]) = match base {
        "add" => ("add.rn.f32", &[a, b]),
        "sub" => ("sub.rn.f32", &[a, b]),
        "subrev" => ("sub.rn.f32", &[b, a]),
        "mul" => ("mul.rn.f32", &[a, b]),
        "min" => ("min.f32", &[a, b]),
        "max" => ("max.f32", &[a, b]),
        "fma" | "fmac" | "fmamk" | "fmaak" => ("fma.rn.f32", &[a, b, c]),
        "trunc" => ("cvt.rzi.f32.f32", &[a]),
        "ceil" => ("cvt.rpi.f32.f32", &[a]),
        "floor" => ("cvt.rmi.f32.f32", &[a]),
        "rndne" => ("cvt.rni.f32.f32", &[a]),
        // Denormals never count to these.
        "rcp" | "rcp_iflag" => ("rcp.rn.ftz.f32", &[a]),
        "sqrt" => ("sqrt.rn.ftz.f32", &[a]),
        "exp" => ("ex2.approx.ftz.f32", &[a]),
        "log" => ("lg2.approx.ftz.f32", &[a]),
        // The product is rounded, and denormals never count.
        "mac" | "mad" | "madmk" | "madak" => {
            let product = s.f.plain("mul.rn.ftz.f32", &[a, b]);
            return Some(s.f.plain("add.rn.ftz.f32", &[product, c]));
        }
        "rsq" => {
            let wide = s.f.plain_wide("cvt.ftz.f64.f32", &[a]);
            let root = s.f.plain_wide("sqrt.rn.f64", &[wide]);
            let found = s.f.plain_wide("rcp.rn.f64", &[root]);
            return Some(s.f.plain("cvt.rn.f32.f64", &[found]));
        }
        "min3" | "max3" => {
            let name = if base == "min3" { "min.f32" } else { "max.f32" };
            let found = s.f.plain(name, &[a, b]);
            return Some(s.f.plain(name, &[found, c]));
        }
        _ => return None,
    };
    Some(s.f.plain(ptx, args))
}

fn double(s: &mut State, base: &str, [a, b, c]: [Value; 3]) -> Option<Value> {
    let (ptx, args): (&'static str, &[Value]) = match base {
        "add" => ("add.rn.f64", &[a, b]),
        "mul" => ("mul.rn.f64", &[a, b]),
        "min" => ("min.f64", &[a, b]),
        "max" => ("max.f64", &[a, b]),
        "fma" | "fmac" => ("fma.rn.f64", &[a, b, c]),
        "trunc" => ("cvt.rzi.f64.f64", &[a]),
        "ceil" => ("cvt.rpi.f64.f64", &[a]),
        "floor" => ("cvt.rmi.f64.f64", &[a]),
        "rndne" => ("cvt.rni.f64.f64", &[a]),
        "rcp" => ("rcp.rn.f64", &[a]),
        "sqrt" => ("sqrt.rn.f64", &[a]),
        "rsq" => {
            let root = s.f.plain_wide("sqrt.rn.f64", &[a]);
            return Some(s.f.plain_wide("rcp.rn.f64", &[root]));
        }
        _ => return None,
    };
    Some(s.f.plain_wide(ptx, args))
}

/// A number times a power of two, rounded once: no step but the last one makes a denormal of what is none.
fn scaled(s: &mut State, wide: bool, number: Value, by: Value) -> Value {
    let (most, least, down, fraction) = if wide { (1023, -1022, -969, 52) } else { (127, -126, -102, 23) };
    let word = |s: &mut State, value: i32| s.f.word(value.cast_unsigned());
    let [most, least, down, zero] = [most, least, down, 0].map(|value| word(s, value));
    let (mut number, mut by) = (number, by);
    for _ in 0..2 {
        let (large, small) = (s.f.test("setp.gt.s32", &[by, most]), s.f.test("setp.lt.s32", &[by, least]));
        let step = s.f.select(small, down, zero);
        let step = s.f.select(large, most, step);
        if s.f.as_constant(step) == Some(0) {
            break;
        }
        number = times(s, wide, number, step, most, fraction);
        by = s.f.plain("sub.u32", &[by, step]);
    }
    let by = s.f.plain("min.s32", &[by, most]);
    let by = s.f.plain("max.s32", &[by, least]);
    times(s, wide, number, by, most, fraction)
}

/// A number times a power of two that is a normal number; `bias` is that of exponents.
fn times(s: &mut State, wide: bool, number: Value, by: Value, bias: Value, fraction: u32) -> Value {
    let exponent = s.f.plain("add.u32", &[by, bias]);
    let fraction = s.f.word(fraction);
    if wide {
        let exponent = s.f.plain_wide("cvt.u64.u32", &[exponent]);
        let power = s.f.plain_wide("shl.b64", &[exponent, fraction]);
        return s.f.plain_wide("mul.rn.f64", &[number, power]);
    }
    let power = s.f.plain("shl.b32", &[exponent, fraction]);
    s.f.plain("mul.rn.f32", &[number, power])
}

/// The steps of a division, which are a quotient together: that of the last step's sources, which is correctly rounded.
/// The steps before it are no more than something that nothing is made of.
fn division(s: &mut State, name: &str, [a, b, c]: [Value; 3], bit: Option<Value>) -> Computed {
    let single = name.ends_with("_f32");
    let ty = if single { Type::Word } else { Type::Wide };
    Some(match name {
        "v_div_scale_f32" | "v_div_scale_f64" => {
            let name = if single { "v_div_scale_f32" } else { "v_div_scale_f64" };
            let scaled = s.f.make(Op::Unknown(name), &[a, b, c], ty);
            (scaled, Some(s.f.make(Op::Unknown("the scale of a division"), &[a, b, c], Type::Bit)))
        }
        "v_div_fmas_f32" | "v_div_fmas_f64" => {
            let name = if single { "v_div_fmas_f32" } else { "v_div_fmas_f64" };
            let bit = bit.unwrap_or_else(|| s.f.bit(false));
            (s.f.make(Op::Unknown(name), &[a, b, c, bit], ty), None)
        }
        "v_div_fixup_f32" if s.f.op(a) == Op::Unknown("v_div_fmas_f32") => {
            (s.f.plain("div.rn.f32", &[c, b]), None)
        }
        "v_div_fixup_f64" if s.f.op(a) == Op::Unknown("v_div_fmas_f64") => {
            (s.f.plain_wide("div.rn.f64", &[c, b]), None)
        }
        _ => return None,
    })
}

fn conversion(s: &mut State, name: &str, a: Value) -> Option<Value> {
    let (ptx, wide) = match name.strip_prefix("v_cvt_")? {
        "f64_i32" => ("cvt.rn.f64.s32", true),
        "f64_u32" => ("cvt.rn.f64.u32", true),
        "f64_f32" => ("cvt.f64.f32", true),
        "f32_i32" => ("cvt.rn.f32.s32", false),
        "f32_u32" => ("cvt.rn.f32.u32", false),
        "f32_f64" => ("cvt.rn.f32.f64", false),
        "i32_f64" => ("cvt.rzi.s32.f64", false),
        "u32_f64" => ("cvt.rzi.u32.f64", false),
        "i32_f32" => ("cvt.rzi.s32.f32", false),
        "u32_f32" => ("cvt.rzi.u32.f32", false),
        "flr_i32_f32" => ("cvt.rmi.s32.f32", false),
        rest => {
            let number: u32 = rest.strip_prefix("f32_ubyte")?.parse().ok()?;
            let (from, count) = (s.f.word(8 * number), s.f.word(8));
            let byte = s.f.plain("bfe.u32", &[a, from, count]);
            return Some(s.f.plain("cvt.rn.f32.u32", &[byte]));
        }
    };
    let value = if wide { s.f.plain_wide(ptx, &[a]) } else { s.f.plain(ptx, &[a]) };
    // NaN is 0, where PTX has the top bit.
    if matches!(ptx, "cvt.rzi.s32.f64" | "cvt.rzi.u32.f64") {
        let (nan, zero) = (s.f.test("setp.nan.f64", &[a, a]), s.f.word(0));
        return Some(s.f.select(nan, zero, value));
    }
    Some(value)
}
