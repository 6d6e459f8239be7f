//! What vector instructions compute with integers and bits.

use crate::half;
use crate::node::{Op, Type, Value};
use crate::scalar::{carry_of, position};
use crate::state::{Sources, State};

/// A result, and a bit for a mask.
pub type Computed = Option<(Value, Option<Value>)>;

pub fn lift(s: &mut State, name: &str, sources: &Sources) -> Computed {
    let none = s.f.word(0);
    let source = |index: usize| sources.values.get(index).copied().unwrap_or(none);
    let (a, b, c) = (source(0), source(1), source(2));
    if let Some(found) = carrying(s, name, sources.bit, [a, b, c]) {
        return Some(found);
    }
    let value = simple(s, name, [a, b, c])
        .or_else(|| shifts(s, name, [a, b, c]))
        .or_else(|| fields(s, name, [a, b, c]))
        .or_else(|| small(s, name, [a, b, c]))
        .or_else(|| wide(s, name, [a, b, c]))
        .or_else(|| short(s, name, [a, b, c]));
    match (value, name, sources.bit) {
        (Some(value), ..) => Some((value, None)),
        (None, "v_cndmask_b32", Some(bit)) => Some((s.f.select(bit, b, a), None)),
        _ => None,
    }
}

/// Sums and differences that stop at the limits of their type.
pub fn clamped(s: &mut State, name: &str, sources: &Sources) -> Option<Value> {
    let (a, b) = (*sources.values.first()?, *sources.values.get(1)?);
    if name.ends_with("16") {
        let c = sources.values.get(2).copied().unwrap_or(b);
        return short_clamped(s, name, [a, b, c]);
    }
    Some(match name {
        "v_add_u32" => {
            let (sum, most) = (s.f.plain("add.u32", &[a, b]), s.f.word(u32::MAX));
            let carry = s.f.make(Op::AddCarry, &[a, b], Type::Bit);
            s.f.select(carry, most, sum)
        }
        "v_sub_u32" | "v_subrev_u32" => {
            let (a, b) = if name == "v_sub_u32" { (a, b) } else { (b, a) };
            let larger = s.f.plain("max.u32", &[a, b]);
            s.f.plain("sub.u32", &[larger, b])
        }
        "v_add_i32" => s.f.plain("add.sat.s32", &[a, b]),
        "v_sub_i32" => s.f.plain("sub.sat.s32", &[a, b]),
        _ => return None,
    })
}

fn carrying(s: &mut State, name: &str, bit: Option<Value>, [a, b, c]: [Value; 3]) -> Computed {
    let bit = bit.unwrap_or_else(|| s.f.bit(false));
    Some(match name {
        "v_add_co_u32" => {
            let carry = s.f.make(Op::AddCarry, &[a, b], Type::Bit);
            (s.f.plain("add.u32", &[a, b]), Some(carry))
        }
        "v_sub_co_u32" | "v_subrev_co_u32" => {
            let (a, b) = if name == "v_sub_co_u32" { (a, b) } else { (b, a) };
            let borrow = s.f.make(Op::SubBorrow, &[a, b], Type::Bit);
            (s.f.plain("sub.u32", &[a, b]), Some(borrow))
        }
        "v_addc_co_u32" => {
            let carry = carry_of(s, a, b, bit, true);
            (s.f.make(Op::AddWith, &[a, b, bit], Type::Word), Some(carry))
        }
        "v_subb_co_u32" | "v_subbrev_co_u32" => {
            let (a, b) = if name == "v_subb_co_u32" { (a, b) } else { (b, a) };
            let borrow = carry_of(s, a, b, bit, false);
            (s.f.make(Op::SubWith, &[a, b, bit], Type::Word), Some(borrow))
        }
        "v_mad_u64_u32" => {
            let product = s.f.plain_wide("mul.wide.u32", &[a, b]);
            let sum = s.f.plain_wide("add.s64", &[product, c]);
            (sum, Some(s.f.test("setp.lt.u64", &[sum, c])))
        }
        "v_mad_i64_i32" => {
            let product = s.f.plain_wide("mul.wide.s32", &[a, b]);
            let sum = s.f.plain_wide("add.s64", &[product, c]);
            // Overflown: both have a sign that the sum has not.
            let one = s.f.plain_wide("xor.b64", &[product, sum]);
            let other = s.f.plain_wide("xor.b64", &[c, sum]);
            let both = s.f.plain_wide("and.b64", &[one, other]);
            let zero = s.f.wide(0);
            (sum, Some(s.f.test("setp.lt.s64", &[both, zero])))
        }
        _ => return None,
    })
}

/// Those that PTX has as they are.
fn simple(s: &mut State, name: &str, [a, b, c]: [Value; 3]) -> Option<Value> {
    let (ptx, args): (&'static str, &[Value]) = match name {
        "v_mov_b32" | "v_mov_b64" => return Some(a),
        "v_add_u32" => ("add.u32", &[a, b]),
        "v_sub_u32" | "v_sub_i32" => ("sub.u32", &[a, b]),
        "v_add_i32" => ("add.u32", &[a, b]),
        "v_subrev_u32" => ("sub.u32", &[b, a]),
        "v_mul_lo_u32" => ("mul.lo.u32", &[a, b]),
        "v_mul_hi_u32" => ("mul.hi.u32", &[a, b]),
        "v_mul_hi_i32" => ("mul.hi.s32", &[a, b]),
        "v_min_i32" => ("min.s32", &[a, b]),
        "v_max_i32" => ("max.s32", &[a, b]),
        "v_min_u32" => ("min.u32", &[a, b]),
        "v_max_u32" => ("max.u32", &[a, b]),
        "v_not_b32" => ("not.b32", &[a]),
        "v_and_b32" => ("and.b32", &[a, b]),
        "v_or_b32" => ("or.b32", &[a, b]),
        "v_xor_b32" => ("xor.b32", &[a, b]),
        "v_bfrev_b32" => ("brev.b32", &[a]),
        "v_ffbh_u32" => return Some(position(s, "clz.b32", a)),
        "v_ffbl_b32" => {
            let turned = s.f.plain("brev.b32", &[a]);
            return Some(position(s, "clz.b32", turned));
        }
        "v_ffbh_i32" => {
            let by = s.f.word(31);
            let sign = s.f.plain("shr.s32", &[a, by]);
            let differing = s.f.plain("xor.b32", &[a, sign]);
            return Some(position(s, "clz.b32", differing));
        }
        "v_perm_b32" => return permuted(s, [a, b, c]),
        "v_cvt_pk_u16_u32" | "v_cvt_pk_i16_i32" => {
            let signed = name == "v_cvt_pk_i16_i32";
            let (most, least) = (s.f.word(if signed { 0x7fff } else { 0xffff }), s.f.word(0xffff_8000));
            let [low, high] = [a, b].map(|value| {
                if !signed {
                    return s.f.plain("min.u32", &[value, most]);
                }
                let value = s.f.plain("min.s32", &[value, most]);
                s.f.plain("max.s32", &[value, least])
            });
            let low = masked(s, low, 0xffff);
            return Some(half::pair(s, low, high));
        }
        "v_xnor_b32" => {
            let differing = s.f.plain("xor.b32", &[a, b]);
            return Some(s.f.plain("not.b32", &[differing]));
        }
        "v_bcnt_u32_b32" => {
            let count = s.f.plain("popc.b32", &[a]);
            return Some(s.f.plain("add.u32", &[count, b]));
        }
        _ => {
            let (first, second) = match name {
                "v_add3_u32" => ("add.u32", "add.u32"),
                "v_or3_b32" => ("or.b32", "or.b32"),
                "v_and_or_b32" => ("and.b32", "or.b32"),
                "v_xad_u32" => ("xor.b32", "add.u32"),
                "v_min3_i32" => ("min.s32", "min.s32"),
                "v_max3_i32" => ("max.s32", "max.s32"),
                "v_min3_u32" => ("min.u32", "min.u32"),
                "v_max3_u32" => ("max.u32", "max.u32"),
                "v_med3_i32" | "v_med3_u32" => return Some(middle(s, name == "v_med3_i32", [a, b, c])),
                _ => return None,
            };
            let found = s.f.plain(first, &[a, b]);
            return Some(s.f.plain(second, &[found, c]));
        }
    };
    Some(s.f.plain(ptx, args))
}

/// Bytes of two words in an order that is known: those of the second come first.
fn permuted(s: &mut State, [a, b, c]: [Value; 3]) -> Option<Value> {
    let selectors = (s.f.as_constant(c)? as u32).to_le_bytes();
    let (mut order, mut kept, mut ones) = (0, 0, 0);
    for (at, selector) in selectors.into_iter().enumerate() {
        let byte = 0xff << (8 * at);
        match selector {
            0..8 => order |= u32::from(selector) << (4 * at),
            // Signs of the odd bytes.
            8..12 => order |= u32::from((2 * (selector - 8) + 1) | 8) << (4 * at),
            12 => {}
            _ => ones |= byte,
        }
        if selector < 12 {
            kept |= byte;
        }
    }
    let (order, kept, ones) = (s.f.word(order), s.f.word(kept), s.f.word(ones));
    let found = s.f.plain("prmt.b32", &[b, a, order]);
    let found = s.f.plain("and.b32", &[found, kept]);
    Some(s.f.plain("or.b32", &[found, ones]))
}

/// The middle one of three.
fn middle(s: &mut State, signed: bool, [a, b, c]: [Value; 3]) -> Value {
    let (min, max) = if signed { ("min.s32", "max.s32") } else { ("min.u32", "max.u32") };
    let (low, high) = (s.f.plain(min, &[a, b]), s.f.plain(max, &[a, b]));
    let high = s.f.plain(min, &[high, c]);
    s.f.plain(max, &[low, high])
}

fn masked(s: &mut State, value: Value, mask: u32) -> Value {
    let mask = s.f.word(mask);
    s.f.plain("and.b32", &[value, mask])
}

fn shifts(s: &mut State, name: &str, [a, b, c]: [Value; 3]) -> Option<Value> {
    Some(match name {
        "v_lshlrev_b32" | "v_lshrrev_b32" | "v_ashrrev_i32" => {
            let by = masked(s, a, 31);
            let ptx = match name {
                "v_lshlrev_b32" => "shl.b32",
                "v_lshrrev_b32" => "shr.u32",
                _ => "shr.s32",
            };
            s.f.plain(ptx, &[b, by])
        }
        "v_lshlrev_b64" | "v_lshrrev_b64" | "v_ashrrev_i64" => {
            let by = masked(s, a, 63);
            let ptx = match name {
                "v_lshlrev_b64" => "shl.b64",
                "v_lshrrev_b64" => "shr.u64",
                _ => "shr.s64",
            };
            s.f.plain_wide(ptx, &[b, by])
        }
        "v_lshl_add_u64" => {
            let by = masked(s, b, 63);
            let shifted = s.f.plain_wide("shl.b64", &[a, by]);
            s.f.plain_wide("add.s64", &[shifted, c])
        }
        "v_lshl_add_u32" | "v_lshl_or_b32" => {
            let by = masked(s, b, 31);
            let shifted = s.f.plain("shl.b32", &[a, by]);
            s.f.plain(if name == "v_lshl_or_b32" { "or.b32" } else { "add.u32" }, &[shifted, c])
        }
        "v_add_lshl_u32" => {
            let (by, sum) = (masked(s, c, 31), s.f.plain("add.u32", &[a, b]));
            s.f.plain("shl.b32", &[sum, by])
        }
        "v_alignbit_b32" | "v_alignbyte_b32" => {
            let by = if name == "v_alignbit_b32" {
                masked(s, c, 31)
            } else {
                let (bytes, three) = (masked(s, c, 3), s.f.word(3));
                s.f.plain("shl.b32", &[bytes, three])
            };
            let both = s.f.pack(b, a);
            let shifted = s.f.plain_wide("shr.u64", &[both, by]);
            s.f.low(shifted)
        }
        _ => return None,
    })
}

fn fields(s: &mut State, name: &str, [a, b, c]: [Value; 3]) -> Option<Value> {
    Some(match name {
        "v_bfe_u32" | "v_bfe_i32" => {
            let (from, count) = (masked(s, b, 31), masked(s, c, 31));
            s.f.plain(if name == "v_bfe_u32" { "bfe.u32" } else { "bfe.s32" }, &[a, from, count])
        }
        "v_bfi_b32" => {
            let (yes, mask) = (s.f.plain("and.b32", &[a, b]), s.f.plain("not.b32", &[a]));
            let no = s.f.plain("and.b32", &[mask, c]);
            s.f.plain("or.b32", &[yes, no])
        }
        "v_bfm_b32" => {
            let (count, by, ones) = (masked(s, a, 31), masked(s, b, 31), s.f.word(u32::MAX));
            let above = s.f.plain("shl.b32", &[ones, count]);
            let below = s.f.plain("not.b32", &[above]);
            s.f.plain("shl.b32", &[below, by])
        }
        _ => return None,
    })
}

/// Numbers of 24 bits and 16 in words.
fn small(s: &mut State, name: &str, [a, b, c]: [Value; 3]) -> Option<Value> {
    let (count, signed, sum) = match name {
        "v_mul_u32_u24" => (24, false, false),
        "v_mul_i32_i24" => (24, true, false),
        "v_mad_u32_u24" => (24, false, true),
        "v_mad_i32_i24" => (24, true, true),
        "v_mad_u32_u16" => (16, false, true),
        "v_mad_i32_i16" => (16, true, true),
        _ => return None,
    };
    let (zero, count) = (s.f.word(0), s.f.word(count));
    let part = if signed { "bfe.s32" } else { "bfe.u32" };
    let [a, b] = [a, b].map(|value| s.f.plain(part, &[value, zero, count]));
    let product = s.f.plain("mul.lo.u32", &[a, b]);
    Some(if sum { s.f.plain("add.u32", &[product, c]) } else { product })
}

fn wide(s: &mut State, name: &str, [a, b, _]: [Value; 3]) -> Option<Value> {
    let (zero, count) = (s.f.word(0), s.f.word(24));
    let (part, product) = match name {
        "v_mul_hi_u32_u24" => ("bfe.u32", "mul.hi.u32"),
        "v_mul_hi_i32_i24" => ("bfe.s32", "mul.hi.s32"),
        _ => return None,
    };
    let [a, b] = [a, b].map(|value| s.f.plain(part, &[value, zero, count]));
    Some(s.f.plain(product, &[a, b]))
}

/// Numbers of 16 bits: the upper half of the result is 0.
pub fn short(s: &mut State, name: &str, sources: [Value; 3]) -> Option<Value> {
    let value = short_whole(s, name, sources)?;
    Some(masked(s, value, 0xffff))
}

/// The same, where they stop at the limits of their type.
pub fn short_clamped(s: &mut State, name: &str, sources: [Value; 3]) -> Option<Value> {
    let base = name.strip_prefix("v_")?.rsplit_once('_')?.0;
    if !matches!(base, "add" | "sub" | "subrev" | "mad") {
        return None;
    }
    let signed = name.ends_with("_i16");
    let (most, least) = if signed { (0x7fff, 0xffff_8000) } else { (0xffff, 0) };
    let (most, least) = (s.f.word(most), s.f.word(least));
    let value = short_whole(s, name, sources)?;
    let value = if signed || base.starts_with("sub") {
        let value = s.f.plain("min.s32", &[value, most]);
        s.f.plain("max.s32", &[value, least])
    } else {
        s.f.plain("min.u32", &[value, most])
    };
    Some(masked(s, value, 0xffff))
}

/// What 16 bits give as words.
fn short_whole(s: &mut State, name: &str, [a, b, c]: [Value; 3]) -> Option<Value> {
    let signed = name.ends_with("_i16");
    let (zero, count) = (s.f.word(0), s.f.word(16));
    let part = if signed { "bfe.s32" } else { "bfe.u32" };
    let mut of = |value| s.f.plain(part, &[value, zero, count]);
    let [a, b, c] = [of(a), of(b), of(c)];
    Some(match name {
        "v_add_u16" | "v_add_i16" => s.f.plain("add.u32", &[a, b]),
        "v_sub_u16" | "v_sub_i16" => s.f.plain("sub.u32", &[a, b]),
        "v_subrev_u16" => s.f.plain("sub.u32", &[b, a]),
        "v_mul_lo_u16" => s.f.plain("mul.lo.u32", &[a, b]),
        "v_mad_u16" | "v_mad_legacy_u16" | "v_mad_i16" => {
            let product = s.f.plain("mul.lo.u32", &[a, b]);
            s.f.plain("add.u32", &[product, c])
        }
        "v_lshlrev_b16" | "v_lshrrev_b16" | "v_ashrrev_i16" => {
            let by = masked(s, a, 15);
            let ptx = match name {
                "v_lshlrev_b16" => "shl.b32",
                "v_lshrrev_b16" => "shr.u32",
                _ => "shr.s32",
            };
            s.f.plain(ptx, &[b, by])
        }
        "v_min_u16" => s.f.plain("min.u32", &[a, b]),
        "v_max_u16" => s.f.plain("max.u32", &[a, b]),
        "v_min_i16" => s.f.plain("min.s32", &[a, b]),
        "v_max_i16" => s.f.plain("max.s32", &[a, b]),
        "v_min3_u16" | "v_max3_u16" | "v_min3_i16" | "v_max3_i16" => {
            let ptx = match name {
                "v_min3_u16" => "min.u32",
                "v_max3_u16" => "max.u32",
                "v_min3_i16" => "min.s32",
                _ => "max.s32",
            };
            let found = s.f.plain(ptx, &[a, b]);
            s.f.plain(ptx, &[found, c])
        }
        _ => return None,
    })
}
