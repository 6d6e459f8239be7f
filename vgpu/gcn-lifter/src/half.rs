//! What instructions compute with halves: numbers of 16 bits.
//!
//! Halves are computed with as larger numbers. That is right to the bit: a sum or a product of two is exact in single
//! precision, and what is not in double precision is far from where it would be rounded elsewhere.

use crate::node::{Op, Type, Value};
use crate::state::State;

/// The low half of a word as a number of single precision.
pub fn single(s: &mut State, value: Value) -> Value {
    s.f.plain("cvt.f32.f16", &[value])
}

fn double(s: &mut State, value: Value) -> Value {
    s.f.plain_wide("cvt.f64.f16", &[value])
}

fn from_single(s: &mut State, value: Value) -> Value {
    let found = s.f.plain("cvt.rn.f16.f32", &[value]);
    nan(s, found)
}

/// The engine's only NaN becomes AMD's.
fn nan(s: &mut State, found: Value) -> Value {
    let (engines, amds) = (s.f.word(0x7fff), s.f.word(0x7e00));
    let is = s.f.test("setp.eq.b32", &[found, engines]);
    s.f.select(is, amds, found)
}

fn from_double(s: &mut State, value: Value) -> Value {
    let found = s.f.plain("cvt.rn.f16.f64", &[value]);
    nan(s, found)
}

/// By the instruction's name without `v_` and the type.
pub fn compute(s: &mut State, base: &str, args: [Value; 3]) -> Option<Value> {
    let (exact, operands): (&'static str, usize) = match base {
        "add" => ("add.rn.f32", 2),
        "sub" | "subrev" => ("sub.rn.f32", 2),
        "mul" => ("mul.rn.f32", 2),
        "min" => ("min.f32", 2),
        "max" => ("max.f32", 2),
        "trunc" => ("cvt.rzi.f32.f32", 1),
        "ceil" => ("cvt.rpi.f32.f32", 1),
        "floor" => ("cvt.rmi.f32.f32", 1),
        "rndne" => ("cvt.rni.f32.f32", 1),
        "div_fixup" | "div_fixup_legacy" => return Some(quotient(s, args)),
        _ => return in_double(s, base, args),
    };
    let mut sources: Vec<Value> = args[..operands].iter().map(|arg| single(s, *arg)).collect();
    if base == "subrev" {
        sources.reverse();
    }
    let found = s.f.plain(exact, &sources);
    Some(from_single(s, found))
}

/// The last step of a division: the quotient with its sign, or what a division by or of zeros, infinities and NaN gives.
fn quotient(s: &mut State, [quotient, denominator, numerator]: [Value; 3]) -> Value {
    let sources = [numerator, denominator].map(|arg| single(s, arg));
    let divided = s.f.plain("div.rn.f32", &sources);
    let special = from_single(s, divided);
    let [magnitude, sign, one, finite] = [0x7fff, 0x8000, 1, 0x7bff].map(|bits| s.f.word(bits));
    let tests = [numerator, denominator].map(|arg| {
        let bits = s.f.plain("and.b32", &[arg, magnitude]);
        let less = s.f.plain("sub.u32", &[bits, one]);
        s.f.test("setp.ge.u32", &[less, finite])
    });
    let is_special = s.f.test("or.pred", &tests);
    let signs = s.f.plain("xor.b32", &[numerator, denominator]);
    let signs = s.f.plain("and.b32", &[signs, sign]);
    let bits = s.f.plain("and.b32", &[quotient, magnitude]);
    let found = s.f.plain("or.b32", &[bits, signs]);
    s.f.select(is_special, special, found)
}

fn in_double(s: &mut State, base: &str, args: [Value; 3]) -> Option<Value> {
    let found = match base {
        "fma" | "fmac" => {
            let sources = args.map(|arg| double(s, arg));
            s.f.plain_wide("fma.rn.f64", &sources)
        }
        "rcp" => {
            let a = double(s, args[0]);
            s.f.plain_wide("rcp.rn.f64", &[a])
        }
        "sqrt" => {
            let a = double(s, args[0]);
            s.f.plain_wide("sqrt.rn.f64", &[a])
        }
        _ => return None,
    };
    Some(from_double(s, found))
}

/// From and to halves, by the name without `v_cvt_`.
pub fn convert(s: &mut State, name: &str, a: Value, b: Value) -> Option<Value> {
    let (zero, sixteen) = (s.f.word(0), s.f.word(16));
    Some(match name {
        "f32_f16" => single(s, a),
        "f16_f32" => from_single(s, a),
        "f16_u16" | "f16_i16" => {
            let signed = name == "f16_i16";
            let whole = s.f.plain(if signed { "bfe.s32" } else { "bfe.u32" }, &[a, zero, sixteen]);
            let number = s.f.plain(if signed { "cvt.rn.f32.s32" } else { "cvt.rn.f32.u32" }, &[whole]);
            from_single(s, number)
        }
        "u16_f16" => {
            let (number, most) = (single(s, a), s.f.word(0xffff));
            let whole = s.f.plain("cvt.rzi.u32.f32", &[number]);
            s.f.plain("min.u32", &[whole, most])
        }
        "i16_f16" => {
            let (number, most, least) = (single(s, a), s.f.word(0x7fff), s.f.word(0xffff_8000));
            let whole = s.f.plain("cvt.rzi.s32.f32", &[number]);
            let whole = s.f.plain("min.s32", &[whole, most]);
            let whole = s.f.plain("max.s32", &[whole, least]);
            masked(s, whole)
        }
        "pkrtz_f16_f32" => {
            let [low, high] = [a, b].map(|number| {
                let found = s.f.plain("cvt.rz.f16.f32", &[number]);
                nan(s, found)
            });
            pair(s, low, high)
        }
        _ => return None,
    })
}

fn masked(s: &mut State, value: Value) -> Value {
    let mask = s.f.word(0xffff);
    s.f.plain("and.b32", &[value, mask])
}

/// Two halves, of which the first has nothing above it.
pub fn pair(s: &mut State, low: Value, high: Value) -> Value {
    let sixteen = s.f.word(16);
    let above = s.f.plain("shl.b32", &[high, sixteen]);
    s.f.plain("or.b32", &[low, above])
}

/// The fraction of a number between a half and 1, and its exponent of two (Vega ISA, `V_FREXP_MANT`, `V_FREXP_EXP`).
pub fn parts(s: &mut State, wide: bool, number: Value, exponent_wanted: bool) -> Value {
    let ty = if wide { Type::Wide } else { Type::Word };
    let make = |s: &mut State, single: &'static str, double: &'static str, args: &[Value]| {
        s.f.make(Op::Plain(if wide { double } else { single }), args, ty)
    };
    let constant = |s: &mut State, single: u32, double: u64| {
        if wide { s.f.wide(double) } else { s.f.word(single) }
    };
    let top = if wide { s.f.high(number) } else { number };
    let (mask, zero) = (s.f.word(if wide { 0x7ff0_0000 } else { 0x7f80_0000 }), s.f.word(0));
    let exponent = s.f.plain("and.b32", &[top, mask]);
    let small = s.f.test("setp.eq.b32", &[exponent, zero]);
    // Denormals become normal numbers.
    let power = constant(s, 0x4b80_0000, 0x4350_0000_0000_0000);
    let larger = make(s, "mul.rn.f32", "mul.rn.f64", &[number, power]);
    let scaled = s.f.select(small, larger, number);
    let magnitude_mask = constant(s, 0x7fff_ffff, u64::MAX >> 1);
    let magnitude = make(s, "and.b32", "and.b64", &[scaled, magnitude_mask]);
    let (none, infinity) = (constant(s, 0, 0), constant(s, 0x7f80_0000, 0x7ff0_0000_0000_0000));
    let is_none = s.f.test(if wide { "setp.eq.b64" } else { "setp.eq.b32" }, &[magnitude, none]);
    let is_large = s.f.test(if wide { "setp.ge.u64" } else { "setp.ge.u32" }, &[magnitude, infinity]);
    let special = s.f.test("or.pred", &[is_none, is_large]);
    if exponent_wanted {
        let top = if wide { s.f.high(magnitude) } else { magnitude };
        let by = s.f.word(if wide { 20 } else { 23 });
        let biased = s.f.plain("shr.u32", &[top, by]);
        let bias = s.f.word(if wide { 1022 } else { 126 });
        let less = s.f.word(if wide { 1022 + 54 } else { 126 + 24 });
        let bias = s.f.select(small, less, bias);
        let found = s.f.plain("sub.u32", &[biased, bias]);
        return s.f.select(special, zero, found);
    }
    let kept = constant(s, 0x807f_ffff, 0x800f_ffff_ffff_ffff);
    let half = constant(s, 0x3f00_0000, 0x3fe0_0000_0000_0000);
    let fraction = make(s, "and.b32", "and.b64", &[scaled, kept]);
    let fraction = make(s, "or.b32", "or.b64", &[fraction, half]);
    s.f.select(special, scaled, fraction)
}
