//! Scalar instructions: what they compute, and what they write.

use gangway_gcn::instruction::{Form, Scalar};
use gangway_gcn::operand::scalar as number;
use gangway_gcn::table::Immediate;
use gangway_gcn::{Instruction, Operand, Row};

use crate::integer::{extend, i32_of};
use crate::operands;
use crate::wave::{Result, Stop, Wave};

/// From two sources and SCC to a value and the new SCC. An instruction that keeps a part of its
/// destination gets it as its second source, or where it has two, as none.
type Compute = fn([u64; 2], bool) -> (u64, Option<bool>);

/// What a scalar instruction does.
#[derive(Clone, Copy)]
pub enum Action {
    Compute(Compute),
    /// EXEC becomes this of the source and EXEC; the old one is kept, or the new one is.
    Exec {
        of: fn(u64, u64) -> u64,
        saves: bool,
    },
    /// Registers whose number M0 is added to.
    MoveFrom,
    MoveTo,
    /// Vector registers are indexed from here on.
    IndexOn,
    IndexNumber,
}

/// A value with 32 bits, and whether it is not 0.
const fn word(value: u64) -> (u64, Option<bool>) {
    let value = value & 0xffff_ffff;
    (value, Some(value != 0))
}

const fn wide(value: u64) -> (u64, Option<bool>) {
    (value, Some(value != 0))
}

const fn plain(value: u64) -> (u64, Option<bool>) {
    (value, None)
}

const fn test(holds: bool) -> (u64, Option<bool>) {
    (0, Some(holds))
}

pub fn action(row: &Row) -> Option<Action> {
    let compute = arithmetic(row.name)
        .or_else(|| logic(row.name))
        .or_else(|| shifts(row.name))
        .or_else(|| bits(row.name))
        .or_else(|| moves(row.name))
        .or_else(|| comparison(row.name));
    compute.map(Action::Compute).or_else(|| exec(row.name)).or_else(|| indexed(row.name))
}

fn arithmetic(name: &str) -> Option<Compute> {
    Some(match name {
        "s_add_u32" => |[a, b], _| (a + b, Some(a + b > 0xffff_ffff)),
        "s_sub_u32" => |[a, b], _| (a.wrapping_sub(b), Some(b > a)),
        "s_addc_u32" => |[a, b], scc| {
            let sum = a + b + u64::from(scc);
            (sum, Some(sum > 0xffff_ffff))
        },
        "s_subb_u32" => |[a, b], scc| {
            let taken = b + u64::from(scc);
            (a.wrapping_sub(taken), Some(taken > a))
        },
        "s_add_i32" | "s_addk_i32" => |[a, b], _| {
            let (sum, over) = i32_of(a).overflowing_add(i32_of(b));
            (sum as u64, Some(over))
        },
        "s_sub_i32" => |[a, b], _| {
            let (difference, over) = i32_of(a).overflowing_sub(i32_of(b));
            (difference as u64, Some(over))
        },
        "s_min_i32" => |[a, b], _| (i32_of(a).min(i32_of(b)) as u64, Some(i32_of(a) < i32_of(b))),
        "s_min_u32" => |[a, b], _| (a.min(b), Some(a < b)),
        "s_max_i32" => |[a, b], _| (i32_of(a).max(i32_of(b)) as u64, Some(i32_of(a) > i32_of(b))),
        "s_max_u32" => |[a, b], _| (a.max(b), Some(a > b)),
        "s_mul_i32" | "s_mulk_i32" => |[a, b], _| plain(a.wrapping_mul(b)),
        "s_mul_hi_u32" => |[a, b], _| plain((a * b) >> 32),
        "s_mul_hi_i32" => |[a, b], _| plain((i64::from(i32_of(a)) * i64::from(i32_of(b))) as u64 >> 32),
        "s_absdiff_i32" => |[a, b], _| word(i32_of(a).wrapping_sub(i32_of(b)).unsigned_abs().into()),
        "s_abs_i32" => |[a, _], _| word(i32_of(a).unsigned_abs().into()),
        "s_lshl1_add_u32" => |[a, b], _| shifted_sum(a, b, 1),
        "s_lshl2_add_u32" => |[a, b], _| shifted_sum(a, b, 2),
        "s_lshl3_add_u32" => |[a, b], _| shifted_sum(a, b, 3),
        "s_lshl4_add_u32" => |[a, b], _| shifted_sum(a, b, 4),
        _ => return None,
    })
}

/// The sum has all bits that the shift makes.
const fn shifted_sum(a: u64, b: u64, by: u32) -> (u64, Option<bool>) {
    let sum = (a << by) + b;
    (sum, Some(sum > 0xffff_ffff))
}

fn logic(name: &str) -> Option<Compute> {
    Some(match name {
        "s_and_b32" => |[a, b], _| word(a & b),
        "s_and_b64" => |[a, b], _| wide(a & b),
        "s_or_b32" => |[a, b], _| word(a | b),
        "s_or_b64" => |[a, b], _| wide(a | b),
        "s_xor_b32" => |[a, b], _| word(a ^ b),
        "s_xor_b64" => |[a, b], _| wide(a ^ b),
        "s_andn2_b32" => |[a, b], _| word(a & !b),
        "s_andn2_b64" => |[a, b], _| wide(a & !b),
        "s_orn2_b32" => |[a, b], _| word(a | !b),
        "s_orn2_b64" => |[a, b], _| wide(a | !b),
        "s_nand_b32" => |[a, b], _| word(!(a & b)),
        "s_nand_b64" => |[a, b], _| wide(!(a & b)),
        "s_nor_b32" => |[a, b], _| word(!(a | b)),
        "s_nor_b64" => |[a, b], _| wide(!(a | b)),
        "s_xnor_b32" => |[a, b], _| word(!(a ^ b)),
        "s_xnor_b64" => |[a, b], _| wide(!(a ^ b)),
        "s_not_b32" => |[a, _], _| word(!a),
        "s_not_b64" => |[a, _], _| wide(!a),
        _ => return None,
    })
}

fn shifts(name: &str) -> Option<Compute> {
    Some(match name {
        "s_lshl_b32" => |[a, b], _| word(a << (b & 31)),
        "s_lshl_b64" => |[a, b], _| wide(a << (b & 63)),
        "s_lshr_b32" => |[a, b], _| word(a >> (b & 31)),
        "s_lshr_b64" => |[a, b], _| wide(a >> (b & 63)),
        "s_ashr_i32" => |[a, b], _| word((i32_of(a) >> (b & 31)) as u64),
        "s_ashr_i64" => |[a, b], _| wide((a.cast_signed() >> (b & 63)).cast_unsigned()),
        "s_bfm_b32" => |[a, b], _| plain(((1 << (a & 31)) - 1) << (b & 31)),
        "s_bfm_b64" => |[a, b], _| plain(((1 << (a & 63)) - 1) << (b & 63)),
        "s_bfe_u32" => |[a, b], _| word(field(a, b as u32 & 31, b) & 0xffff_ffff),
        "s_bfe_u64" => |[a, b], _| wide(field(a, b as u32 & 63, b)),
        "s_bfe_i32" => |[a, b], _| word(signed_field(extend(a, 32), b as u32 & 31, b)),
        "s_bfe_i64" => |[a, b], _| wide(signed_field(a.cast_signed(), b as u32 & 63, b)),
        "s_pack_ll_b32_b16" => |[a, b], _| plain(b << 16 | a & 0xffff),
        "s_pack_lh_b32_b16" => |[a, b], _| plain(b & 0xffff_0000 | a & 0xffff),
        "s_pack_hh_b32_b16" => |[a, b], _| plain(b & 0xffff_0000 | a >> 16),
        _ => return None,
    })
}

/// The width of a field is in bits 16 to 22.
const fn width(field: u64) -> u32 {
    (field >> 16) as u32 & 127
}

const fn field(value: u64, offset: u32, of: u64) -> u64 {
    let shifted = value >> offset;
    match width(of) {
        width @ 0..64 => shifted & ((1 << width) - 1),
        _ => shifted,
    }
}

const fn signed_field(value: i64, offset: u32, of: u64) -> u64 {
    let shifted = (value >> offset).cast_unsigned();
    match width(of) {
        0 => 0,
        width @ 1..64 => extend(shifted, width).cast_unsigned(),
        _ => shifted,
    }
}

fn bits(name: &str) -> Option<Compute> {
    Some(match name {
        "s_brev_b32" => |[a, _], _| plain((a as u32).reverse_bits().into()),
        "s_brev_b64" => |[a, _], _| plain(a.reverse_bits()),
        "s_bcnt0_i32_b32" => |[a, _], _| word((a as u32).count_zeros().into()),
        "s_bcnt0_i32_b64" => |[a, _], _| word(a.count_zeros().into()),
        "s_bcnt1_i32_b32" => |[a, _], _| word((a as u32).count_ones().into()),
        "s_bcnt1_i32_b64" => |[a, _], _| word(a.count_ones().into()),
        "s_ff0_i32_b32" => |[a, _], _| plain(position((a as u32).trailing_ones(), 32)),
        "s_ff0_i32_b64" => |[a, _], _| plain(position(a.trailing_ones(), 64)),
        "s_ff1_i32_b32" => |[a, _], _| plain(position((a as u32).trailing_zeros(), 32)),
        "s_ff1_i32_b64" => |[a, _], _| plain(position(a.trailing_zeros(), 64)),
        "s_flbit_i32_b32" => |[a, _], _| plain(position((a as u32).leading_zeros(), 32)),
        "s_flbit_i32_b64" => |[a, _], _| plain(position(a.leading_zeros(), 64)),
        "s_flbit_i32" => |[a, _], _| {
            let differing = (i32_of(a) ^ i32_of(a) >> 31).cast_unsigned();
            plain(position(differing.leading_zeros(), 32))
        },
        "s_flbit_i32_i64" => |[a, _], _| {
            let differing = (a.cast_signed() ^ a.cast_signed() >> 63).cast_unsigned();
            plain(position(differing.leading_zeros(), 64))
        },
        "s_bitset0_b32" => |[a, old], _| plain(old & !(1 << (a & 31))),
        "s_bitset0_b64" => |[a, old], _| plain(old & !(1 << (a & 63))),
        "s_bitset1_b32" => |[a, old], _| plain(old | 1 << (a & 31)),
        "s_bitset1_b64" => |[a, old], _| plain(old | 1 << (a & 63)),
        "s_wqm_b32" | "s_wqm_b64" => |[a, _], _| wide(quads(a) * 15),
        "s_quadmask_b32" | "s_quadmask_b64" => |[a, _], _| {
            let quads = quads(a);
            wide((0..16).fold(0, |found, quad| found | (quads >> (4 * quad) & 1) << quad))
        },
        "s_bitreplicate_b64_b32" => {
            |[a, _], _| plain((0..32).fold(0, |found, bit| found | ((a >> bit & 1) * 3) << (2 * bit)))
        }
        _ => return None,
    })
}

/// -1 where there is no such bit.
const fn position(found: u32, bits: u32) -> u64 {
    if found == bits { 0xffff_ffff } else { found as u64 }
}

/// The lowest bit of each four of which any is set.
const fn quads(value: u64) -> u64 {
    let pairs = value | value >> 1;
    (pairs | pairs >> 2) & 0x1111_1111_1111_1111
}

fn moves(name: &str) -> Option<Compute> {
    Some(match name {
        "s_mov_b32" | "s_mov_b64" | "s_movk_i32" => |[a, _], _| plain(a),
        "s_cmov_b32" | "s_cmov_b64" | "s_cmovk_i32" => |[a, old], scc| plain(if scc { a } else { old }),
        "s_cselect_b32" | "s_cselect_b64" => |[a, b], scc| plain(if scc { a } else { b }),
        "s_sext_i32_i8" => |[a, _], _| plain(extend(a, 8).cast_unsigned()),
        "s_sext_i32_i16" => |[a, _], _| plain(extend(a, 16).cast_unsigned()),
        _ => return None,
    })
}

fn comparison(name: &str) -> Option<Compute> {
    Some(match name {
        "s_cmp_eq_i32" | "s_cmpk_eq_i32" | "s_cmp_eq_u32" | "s_cmpk_eq_u32" | "s_cmp_eq_u64" => {
            |[a, b], _| test(a == b)
        }
        "s_cmp_lg_i32" | "s_cmpk_lg_i32" | "s_cmp_lg_u32" | "s_cmpk_lg_u32" | "s_cmp_lg_u64" => {
            |[a, b], _| test(a != b)
        }
        "s_cmp_gt_i32" | "s_cmpk_gt_i32" => |[a, b], _| test(i32_of(a) > i32_of(b)),
        "s_cmp_ge_i32" | "s_cmpk_ge_i32" => |[a, b], _| test(i32_of(a) >= i32_of(b)),
        "s_cmp_lt_i32" | "s_cmpk_lt_i32" => |[a, b], _| test(i32_of(a) < i32_of(b)),
        "s_cmp_le_i32" | "s_cmpk_le_i32" => |[a, b], _| test(i32_of(a) <= i32_of(b)),
        "s_cmp_gt_u32" | "s_cmpk_gt_u32" => |[a, b], _| test(a > b),
        "s_cmp_ge_u32" | "s_cmpk_ge_u32" => |[a, b], _| test(a >= b),
        "s_cmp_lt_u32" | "s_cmpk_lt_u32" => |[a, b], _| test(a < b),
        "s_cmp_le_u32" | "s_cmpk_le_u32" => |[a, b], _| test(a <= b),
        "s_bitcmp0_b32" => |[a, b], _| test(a >> (b & 31) & 1 == 0),
        "s_bitcmp1_b32" => |[a, b], _| test(a >> (b & 31) & 1 != 0),
        "s_bitcmp0_b64" => |[a, b], _| test(a >> (b & 63) & 1 == 0),
        "s_bitcmp1_b64" => |[a, b], _| test(a >> (b & 63) & 1 != 0),
        _ => return None,
    })
}

fn exec(name: &str) -> Option<Action> {
    let (of, saves): (fn(u64, u64) -> u64, bool) = match name {
        "s_and_saveexec_b64" => (|a, exec| a & exec, true),
        "s_or_saveexec_b64" => (|a, exec| a | exec, true),
        "s_xor_saveexec_b64" => (|a, exec| a ^ exec, true),
        "s_andn2_saveexec_b64" => (|a, exec| a & !exec, true),
        "s_orn2_saveexec_b64" => (|a, exec| a | !exec, true),
        "s_nand_saveexec_b64" => (|a, exec| !(a & exec), true),
        "s_nor_saveexec_b64" => (|a, exec| !(a | exec), true),
        "s_xnor_saveexec_b64" => (|a, exec| !(a ^ exec), true),
        "s_andn1_saveexec_b64" => (|a, exec| !a & exec, true),
        "s_orn1_saveexec_b64" => (|a, exec| !a | exec, true),
        "s_andn1_wrexec_b64" => (|a, exec| !a & exec, false),
        "s_andn2_wrexec_b64" => (|a, exec| a & !exec, false),
        _ => return None,
    };
    Some(Action::Exec { of, saves })
}

fn indexed(name: &str) -> Option<Action> {
    Some(match name {
        "s_movrels_b32" | "s_movrels_b64" => Action::MoveFrom,
        "s_movreld_b32" | "s_movreld_b64" => Action::MoveTo,
        "s_set_gpr_idx_on" => Action::IndexOn,
        "s_set_gpr_idx_idx" => Action::IndexNumber,
        _ => return None,
    })
}

/// The sources' values, constants of 16 bits with their sign where it counts.
fn sources(wave: &Wave, row: &Row, scalar: &Scalar) -> Result<[u64; 2]> {
    let mut found = [0; 2];
    let slots = row.from.iter().zip(scalar.from.iter());
    for (found, (slot, operand)) in found.iter_mut().zip(slots) {
        let mut value = operands::scalar(wave, row, slot, *operand)?;
        let is_constant = matches!(slot, gangway_gcn::table::Slot::Immediate(Immediate::Signed));
        if is_constant && !row.name.ends_with("_u32") {
            value = extend(value, 16).cast_unsigned() & 0xffff_ffff;
        }
        *found = value;
    }
    if row.effects.any(gangway_gcn::table::row::READS_DESTINATION)
        && let Some(Operand::Scalar { first, words }) = scalar.to.first()
    {
        found[1] = if *words == 1 { u64::from(wave.scalar[usize::from(*first)]) } else { wave.pair(*first) };
    }
    Ok(found)
}

fn write(wave: &mut Wave, scalar: &Scalar, value: u64) {
    match scalar.to.first() {
        Some(Operand::Scalar { first, words: 1 }) => wave.set_scalar(*first, value as u32),
        Some(Operand::Scalar { first, .. }) => wave.set_pair(*first, value),
        _ => {}
    }
}

pub fn run(wave: &mut Wave, action: Action, instruction: &Instruction) -> Result {
    let Form::Scalar(scalar) = &instruction.form else { return Ok(()) };
    let row = instruction.row;
    if matches!(action, Action::MoveFrom | Action::MoveTo) {
        return moved(wave, matches!(action, Action::MoveFrom), row, scalar);
    }
    let found = sources(wave, row, scalar)?;
    match action {
        Action::Compute(compute) => {
            let (value, scc) = compute(found, wave.scc);
            write(wave, scalar, value);
            wave.scc = scc.unwrap_or(wave.scc);
        }
        Action::Exec { of, saves } => {
            let old = wave.exec();
            let new = of(found[0], old);
            write(wave, scalar, if saves { old } else { new });
            wave.set_exec(new);
            wave.scc = new != 0;
        }
        Action::IndexOn => {
            set_index(wave, Some(found[0] as u32), Some(found[1] as u32));
            wave.mode.set_indexing(true);
        }
        Action::IndexNumber => set_index(wave, Some(found[0] as u32), None),
        Action::MoveFrom | Action::MoveTo => {}
    }
    Ok(())
}

/// M0 has the index in its lowest byte, and in bits 12 to 15 which operands it is for.
pub fn set_index(wave: &mut Wave, index: Option<u32>, operands: Option<u32>) {
    let mut value = wave.m0();
    if let Some(index) = index {
        value = value & !0xff | index & 0xff;
    }
    if let Some(operands) = operands {
        value = value & !0xf000 | (operands & 15) << 12;
    }
    wave.set_scalar(number::M0, value);
}

/// Moves of registers that are M0 further on than they say.
fn moved(wave: &mut Wave, from: bool, row: &Row, scalar: &Scalar) -> Result {
    let index = |first: u8, words: u8, by: u32| {
        let at = u32::from(first).saturating_add(by);
        // Beyond the general registers nothing is indexed.
        u8::try_from(at).ok().filter(|at| u32::from(*at) + u32::from(words) <= 102)
    };
    let outside = || Stop::unsupported("an index beyond the scalar registers");
    let Some(Operand::Scalar { first, words }) = scalar.to.first().copied() else { return Ok(()) };
    let by = wave.m0();
    let (value, to) = if from {
        let Some(Operand::Scalar { first: source, .. }) = scalar.from.first().copied() else { return Ok(()) };
        let source = index(source, words, by).ok_or_else(outside)?;
        let value = if words == 1 { u64::from(wave.scalar[usize::from(source)]) } else { wave.pair(source) };
        (value, first)
    } else {
        (sources(wave, row, scalar)?[0], index(first, words, by).ok_or_else(outside)?)
    };
    if words == 1 {
        wave.set_scalar(to, value as u32);
    } else {
        wave.set_pair(to, value);
    }
    Ok(())
}
