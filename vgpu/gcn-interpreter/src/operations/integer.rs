//! Integers and bits.

use super::{Compute, Operation, Value};
use crate::integer::{
    add_u32, averages, differences, field_i32, field_u32, four_differences, half, i16_of, i24_of, i32_of,
    leading, leading_sign, masked_differences, permute, signed, sub_u32, trailing, unsigned,
};

pub fn operation(name: &str) -> Option<Operation> {
    if let Some(compute) = carrying(name) {
        let bits = if name.starts_with("v_mad") { 64 } else { 32 };
        return Some(Operation { compute, format: None, bits });
    }
    let of = |bits| move |value| Operation::integer(bits, value);
    let word = || arithmetic(name).or_else(|| logic(name)).or_else(|| fields(name)).map(of(32));
    word().or_else(|| wide(name).map(of(64))).or_else(|| short(name).map(of(16)))
}

/// Those with a carry.
fn carrying(name: &str) -> Option<Compute> {
    Some(Compute::ValueAndBit(match name {
        "v_add_co_u32" => |context, [a, b, _]| add_u32(context, a, b, 0),
        "v_sub_co_u32" => |context, [a, b, _]| sub_u32(context, a, b, 0),
        "v_subrev_co_u32" => |context, [a, b, _]| sub_u32(context, b, a, 0),
        "v_addc_co_u32" => |context, [a, b, _]| add_u32(context, a, b, u64::from(context.bit)),
        "v_subb_co_u32" => |context, [a, b, _]| sub_u32(context, a, b, u64::from(context.bit)),
        "v_subbrev_co_u32" => |context, [a, b, _]| sub_u32(context, b, a, u64::from(context.bit)),
        "v_mad_u64_u32" => |_, [a, b, c]| (a & 0xffff_ffff).wrapping_mul(b & 0xffff_ffff).overflowing_add(c),
        "v_mad_i64_i32" => |_, [a, b, c]| {
            let product = i64::from(i32_of(a)) * i64::from(i32_of(b));
            let (sum, over) = product.overflowing_add(c.cast_signed());
            (sum.cast_unsigned(), over)
        },
        _ => return None,
    }))
}

fn arithmetic(name: &str) -> Option<Value> {
    Some(match name {
        "v_add_u32" => |context, [a, b, _]| add_u32(context, a, b, 0).0,
        "v_sub_u32" => |context, [a, b, _]| sub_u32(context, a, b, 0).0,
        "v_subrev_u32" => |context, [a, b, _]| sub_u32(context, b, a, 0).0,
        "v_add_i32" => {
            |context, [a, b, _]| signed(context, 32, i128::from(i32_of(a)) + i128::from(i32_of(b)))
        }
        "v_sub_i32" => {
            |context, [a, b, _]| signed(context, 32, i128::from(i32_of(a)) - i128::from(i32_of(b)))
        }
        "v_mul_lo_u32" => |_, [a, b, _]| a.wrapping_mul(b),
        "v_mul_hi_u32" => |_, [a, b, _]| ((a & 0xffff_ffff) * (b & 0xffff_ffff)) >> 32,
        "v_mul_hi_i32" => |_, [a, b, _]| (i64::from(i32_of(a)) * i64::from(i32_of(b))) as u64 >> 32,
        "v_mul_i32_i24" => |context, [a, b, _]| signed(context, 32, i128::from(i24_of(a) * i24_of(b))),
        "v_mul_u32_u24" => {
            |context, [a, b, _]| unsigned(context, 32, i128::from((a & 0xff_ffff) * (b & 0xff_ffff)))
        }
        "v_mul_hi_i32_i24" => |_, [a, b, _]| ((i24_of(a) * i24_of(b)) >> 32) as u64,
        "v_mul_hi_u32_u24" => |_, [a, b, _]| ((a & 0xff_ffff) * (b & 0xff_ffff)) >> 32,
        "v_mad_i32_i24" => |context, [a, b, c]| {
            signed(context, 32, i128::from(i24_of(a) * i24_of(b)) + i128::from(i32_of(c)))
        },
        "v_mad_u32_u24" => |context, [a, b, c]| {
            unsigned(context, 32, i128::from((a & 0xff_ffff) * (b & 0xff_ffff)) + i128::from(c as u32))
        },
        "v_mad_u32_u16" => |context, [a, b, c]| {
            unsigned(context, 32, i128::from((a & 0xffff) * (b & 0xffff)) + i128::from(c as u32))
        },
        "v_mad_i32_i16" => |context, [a, b, c]| {
            let product = i128::from(i16_of(a)) * i128::from(i16_of(b));
            signed(context, 32, product + i128::from(i32_of(c)))
        },
        "v_min_i32" => |_, [a, b, _]| i32_of(a).min(i32_of(b)) as u64,
        "v_max_i32" => |_, [a, b, _]| i32_of(a).max(i32_of(b)) as u64,
        "v_min_u32" => |_, [a, b, _]| (a as u32).min(b as u32).into(),
        "v_max_u32" => |_, [a, b, _]| (a as u32).max(b as u32).into(),
        "v_min3_i32" => |_, [a, b, c]| i32_of(a).min(i32_of(b)).min(i32_of(c)) as u64,
        "v_max3_i32" => |_, [a, b, c]| i32_of(a).max(i32_of(b)).max(i32_of(c)) as u64,
        "v_min3_u32" => |_, [a, b, c]| (a as u32).min(b as u32).min(c as u32).into(),
        "v_max3_u32" => |_, [a, b, c]| (a as u32).max(b as u32).max(c as u32).into(),
        "v_med3_i32" => |_, sources| middle(sources.map(|value| i64::from(i32_of(value)))),
        "v_med3_u32" => |_, sources| middle(sources.map(|value| i64::from(value as u32))),
        "v_add3_u32" => |_, [a, b, c]| a.wrapping_add(b).wrapping_add(c),
        "v_xad_u32" => |_, [a, b, c]| (a ^ b).wrapping_add(c),
        "v_lshl_add_u32" => |_, [a, b, c]| (a << (b & 31)).wrapping_add(c),
        "v_add_lshl_u32" => |_, [a, b, c]| a.wrapping_add(b) << (c & 31),
        "v_sad_u8" => {
            |context, [a, b, c]| unsigned(context, 32, i128::from(differences(a, b) + (c as u32 as u64)))
        }
        "v_sad_hi_u8" => |context, [a, b, c]| {
            unsigned(context, 32, i128::from((differences(a, b) << 16) + (c as u32 as u64)))
        },
        "v_sad_u16" => |context, [a, b, c]| {
            let sum = half(a, 0).abs_diff(half(b, 0)) + half(a, 1).abs_diff(half(b, 1));
            unsigned(context, 32, i128::from(sum + (c as u32 as u64)))
        },
        "v_sad_u32" => |context, [a, b, c]| {
            unsigned(context, 32, i128::from((a as u32).abs_diff(b as u32)) + i128::from(c as u32))
        },
        "v_msad_u8" => |context, [a, b, c]| {
            unsigned(context, 32, i128::from(masked_differences(a, b) + (c as u32 as u64)))
        },
        "v_lerp_u8" => |_, [a, b, c]| averages(a, b, c),
        _ => return None,
    })
}

/// The middle one of three.
fn middle(mut values: [i64; 3]) -> u64 {
    values.sort_unstable();
    values[1].cast_unsigned()
}

fn logic(name: &str) -> Option<Value> {
    Some(match name {
        "v_mov_b32" => |_, [a, ..]| a,
        "v_cndmask_b32" => |context, [a, b, _]| if context.bit { b } else { a },
        "v_not_b32" => |_, [a, ..]| !a,
        "v_and_b32" => |_, [a, b, _]| a & b,
        "v_or_b32" => |_, [a, b, _]| a | b,
        "v_xor_b32" => |_, [a, b, _]| a ^ b,
        "v_xnor_b32" => |_, [a, b, _]| !(a ^ b),
        "v_or3_b32" => |_, [a, b, c]| a | b | c,
        "v_and_or_b32" => |_, [a, b, c]| a & b | c,
        "v_lshl_or_b32" => |_, [a, b, c]| a << (b & 31) | c,
        "v_lshlrev_b32" => |_, [a, b, _]| b << (a & 31),
        "v_lshrrev_b32" => |_, [a, b, _]| (b & 0xffff_ffff) >> (a & 31),
        "v_ashrrev_i32" => |_, [a, b, _]| (i32_of(b) >> (a & 31)) as u64,
        _ => return None,
    })
}

fn fields(name: &str) -> Option<Value> {
    Some(match name {
        "v_bfe_u32" => |_, [a, b, c]| field_u32(a, b, c),
        "v_bfe_i32" => |_, [a, b, c]| field_i32(a, b, c),
        "v_bfi_b32" => |_, [a, b, c]| a & b | !a & c,
        "v_bfm_b32" => |_, [a, b, _]| ((1 << (a & 31)) - 1) << (b & 31),
        "v_bfrev_b32" => |_, [a, ..]| (a as u32).reverse_bits().into(),
        "v_ffbh_u32" => |_, [a, ..]| leading(a as u32),
        "v_ffbh_i32" => |_, [a, ..]| leading_sign(i32_of(a)),
        "v_ffbl_b32" => |_, [a, ..]| trailing(a as u32),
        "v_bcnt_u32_b32" => |_, [a, b, _]| u64::from((a as u32).count_ones()).wrapping_add(b),
        "v_mbcnt_lo_u32_b32" => |context, [a, b, _]| {
            let below = (1u64 << context.lane) - 1;
            u64::from((a & below & 0xffff_ffff).count_ones()).wrapping_add(b)
        },
        "v_mbcnt_hi_u32_b32" => |context, [a, b, _]| {
            let below = ((1u64 << context.lane) - 1) >> 32;
            u64::from((a & below).count_ones()).wrapping_add(b)
        },
        "v_alignbit_b32" => |_, [a, b, c]| (a << 32 | b & 0xffff_ffff) >> (c & 31),
        "v_alignbyte_b32" => |_, [a, b, c]| (a << 32 | b & 0xffff_ffff) >> (8 * (c & 3)),
        "v_perm_b32" => |_, [a, b, c]| permute(a, b, c),
        _ => return None,
    })
}

fn wide(name: &str) -> Option<Value> {
    Some(match name {
        "v_mov_b64" => |_, [a, ..]| a,
        "v_lshlrev_b64" => |_, [a, b, _]| b << (a & 63),
        "v_lshrrev_b64" => |_, [a, b, _]| b >> (a & 63),
        "v_ashrrev_i64" => |_, [a, b, _]| (b.cast_signed() >> (a & 63)).cast_unsigned(),
        "v_lshl_add_u64" => |_, [a, b, c]| (a << (b & 63)).wrapping_add(c),
        "v_qsad_pk_u16_u8" => |context, sources| four_differences(context, differences, sources),
        "v_mqsad_pk_u16_u8" => |context, sources| four_differences(context, masked_differences, sources),
        _ => return None,
    })
}

/// Of 16 bits.
pub fn short(name: &str) -> Option<Value> {
    Some(match name {
        "v_add_u16" => |context, [a, b, _]| unsigned(context, 16, i128::from((a & 0xffff) + (b & 0xffff))),
        "v_sub_u16" => {
            |context, [a, b, _]| unsigned(context, 16, i128::from(a & 0xffff) - i128::from(b & 0xffff))
        }
        "v_subrev_u16" => {
            |context, [a, b, _]| unsigned(context, 16, i128::from(b & 0xffff) - i128::from(a & 0xffff))
        }
        "v_add_i16" => {
            |context, [a, b, _]| signed(context, 16, i128::from(i16_of(a)) + i128::from(i16_of(b)))
        }
        "v_sub_i16" => {
            |context, [a, b, _]| signed(context, 16, i128::from(i16_of(a)) - i128::from(i16_of(b)))
        }
        "v_mul_lo_u16" => |_, [a, b, _]| a.wrapping_mul(b) & 0xffff,
        "v_mad_u16" | "v_mad_legacy_u16" => {
            |context, [a, b, c]| unsigned(context, 16, i128::from((a & 0xffff) * (b & 0xffff) + (c & 0xffff)))
        }
        "v_mad_i16" | "v_mad_legacy_i16" => |context, [a, b, c]| {
            let product = i128::from(i16_of(a)) * i128::from(i16_of(b));
            signed(context, 16, product + i128::from(i16_of(c)))
        },
        "v_lshlrev_b16" => |_, [a, b, _]| b << (a & 15) & 0xffff,
        "v_lshrrev_b16" => |_, [a, b, _]| (b & 0xffff) >> (a & 15),
        "v_ashrrev_i16" => |_, [a, b, _]| (i16_of(b) >> (a & 15)) as u16 as u64,
        "v_min_u16" => |_, [a, b, _]| (a as u16).min(b as u16).into(),
        "v_max_u16" => |_, [a, b, _]| (a as u16).max(b as u16).into(),
        "v_min_i16" => |_, [a, b, _]| i16_of(a).min(i16_of(b)) as u16 as u64,
        "v_max_i16" => |_, [a, b, _]| i16_of(a).max(i16_of(b)) as u16 as u64,
        "v_min3_u16" => |_, [a, b, c]| (a as u16).min(b as u16).min(c as u16).into(),
        "v_max3_u16" => |_, [a, b, c]| (a as u16).max(b as u16).max(c as u16).into(),
        "v_min3_i16" => |_, [a, b, c]| i16_of(a).min(i16_of(b)).min(i16_of(c)) as u16 as u64,
        "v_max3_i16" => |_, [a, b, c]| i16_of(a).max(i16_of(b)).max(i16_of(c)) as u16 as u64,
        "v_med3_u16" => |_, sources| middle(sources.map(|value| i64::from(value as u16))),
        "v_med3_i16" => |_, sources| middle(sources.map(|value| i64::from(i16_of(value)))) & 0xffff,
        _ => return None,
    })
}
