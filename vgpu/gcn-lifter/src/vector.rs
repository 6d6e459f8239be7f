//! Vector instructions: their operands, and where results go. What they compute is in `compute` and `float`.

use gangway_gcn::instruction::{Form, Packed, Part, Scale, Shape, Unused, Vector};
use gangway_gcn::operand::scalar;
use gangway_gcn::table::Slot;
use gangway_gcn::table::row::{READS_DESTINATION, READS_VCC, WRITES_EXEC};
use gangway_gcn::{Instruction, Operand};

use crate::node::{Op, Type, Value};
use crate::state::{Result, Sources, State, bits, unknown};
use crate::{compare, compute, demand, exchange, float, half, indexed};

pub fn lift(s: &mut State, instruction: &Instruction) -> Result {
    let Form::Vector(form) = &instruction.form else { return unknown("a form") };
    let row = instruction.row;
    if s.indexed != 0 {
        return indexed::lift(s, instruction, form);
    }
    if exchange::lift(s, instruction, form)? {
        return Ok(());
    }
    let (clamp, scale) = match form.shape {
        Shape::Long(long) => (long.clamp, long.scale),
        Shape::Sdwa(sdwa) => (sdwa.clamp, sdwa.scale),
        Shape::Packed(packed) => (packed.clamp, Scale::One),
        Shape::Short | Shape::Dpp(_) => (false, Scale::One),
        Shape::Matrix(_) => return unknown(row.name),
    };
    if let Shape::Packed(packed) = form.shape {
        return match row.name.strip_prefix("v_pk_") {
            Some(name) if demand::is_result(row.name) => packed_halves(s, instruction, form, packed, name),
            _ if clamp => unknown(format!("{} with clamp", row.name)),
            _ => packed_pair(s, instruction, form, packed),
        };
    }
    let sources = sources(s, instruction, form)?;
    if let Some(bit) = compare::lift(s, row, &sources) {
        let mask = s.mask_of(bit);
        if let Some(Operand::Scalar { first, .. }) = form.to.first() {
            s.set_pair(*first, mask);
        }
        if row.effects.any(WRITES_EXEC) {
            s.set_pair(scalar::EXEC, mask);
        }
        return Ok(());
    }
    if clamp && let Some(value) = compute::clamped(s, row.name, &sources) {
        write(s, instruction, form, value)?;
        s.only = None;
        return Ok(());
    }
    let (value, carry) = match compute::lift(s, row.name, &sources) {
        Some(found) => found,
        None => match float::lift(s, row.name, &sources) {
            Some(found) => found,
            None => return unknown(row.name),
        },
    };
    let mut value = value;
    if clamp || scale != Scale::One {
        let ty = if row.name.ends_with("_f32") && s.f.ty(value) == Type::Word { "f32" } else { "" };
        if ty.is_empty() {
            return unknown(format!("{} with clamp or a factor", row.name));
        }
        let factor = match scale {
            Scale::One => None,
            Scale::Two => Some(2.0f32),
            Scale::Four => Some(4.0),
            Scale::Half => Some(0.5),
        };
        if let Some(factor) = factor {
            let factor = s.f.word(factor.to_bits());
            value = s.f.plain("mul.rn.f32", &[value, factor]);
        }
        if clamp {
            value = s.f.plain("cvt.sat.f32.f32", &[value]);
        }
    }
    write(s, instruction, form, value)?;
    s.only = None;
    if let Some(carry) = carry {
        let mask = s.mask_of(carry);
        let to = form.to.iter().find_map(|to| match to {
            Operand::Scalar { first, .. } => Some(*first),
            _ => None,
        });
        if let Some(to) = to {
            s.set_pair(to, mask);
        }
    }
    Ok(())
}

fn sources(s: &mut State, instruction: &Instruction, form: &Vector) -> Result<Sources> {
    let row = instruction.row;
    let mut found = Sources { values: Vec::new(), bit: None };
    if row.effects.any(READS_VCC) {
        let vcc = s.pair(scalar::VCC);
        found.bit = Some(s.bit_of(vcc));
    }
    for (index, operand) in form.from.iter().enumerate() {
        if row.from[index] == Slot::Mask {
            let mask = s.source(row, &Slot::Mask, operand)?;
            found.bit = Some(s.bit_of(mask));
            continue;
        }
        let slot = row.wide_source(index);
        let value = match (form.shape, index) {
            (Shape::Dpp(dpp), 0) => exchange::dpp(s, operand, &dpp)?,
            _ => s.source(row, &slot, operand)?,
        };
        let value = modified(s, form, (index, operand), &slot, value)?;
        found.values.push(value);
    }
    if row.effects.any(READS_DESTINATION)
        && found.values.len() < 3
        && let Some(first) = form.to.first().and_then(State::vector)
    {
        let words = match form.to[0] {
            Operand::Vector { words, .. } | Operand::Accumulator { words, .. } => words,
            _ => 1,
        };
        found.values.push(if words > 1 { s.pair_on(first) } else { s.get_on(first) });
    }
    Ok(found)
}

/// A source with its signs, its half or its part.
fn modified(
    s: &mut State,
    form: &Vector,
    (index, operand): (usize, &Operand),
    slot: &Slot,
    value: Value,
) -> Result<Value> {
    let mut value = value;
    let bit = |bits: u8| bits >> index & 1 != 0;
    let (negative, absolute) = match form.shape {
        Shape::Long(long) => {
            if bit(long.select) {
                if bits(slot) != 16 {
                    return unknown("a half of a source of 32 bits");
                }
                // Of a constant both halves are the same here.
                if State::vector(operand).is_some() {
                    let sixteen = s.f.word(16);
                    value = s.f.plain("shr.u32", &[value, sixteen]);
                }
            }
            (bit(long.negative), bit(long.absolute))
        }
        Shape::Sdwa(sdwa) => (bit(sdwa.negative), bit(sdwa.absolute)),
        Shape::Dpp(dpp) => (bit(dpp.negative), bit(dpp.absolute)),
        Shape::Short | Shape::Packed(_) | Shape::Matrix(_) => (false, false),
    };
    if let Shape::Sdwa(sdwa) = form.shape
        && let Some(part) = sdwa.from.get(index)
    {
        let (from, count) = place(*part);
        let name = if bit(sdwa.signed) { "bfe.s32" } else { "bfe.u32" };
        if count < 32 {
            let (from, count) = (s.f.word(from), s.f.word(count));
            value = s.f.plain(name, &[value, from, count]);
        }
    }
    match bits(slot) {
        16 => {
            if absolute {
                let rest = s.f.word(0x7fff);
                value = s.f.plain("and.b32", &[value, rest]);
            }
            if negative {
                let sign = s.f.word(0x8000);
                value = s.f.plain("xor.b32", &[value, sign]);
            }
        }
        64 => {
            if absolute {
                let rest = s.f.wide(u64::MAX >> 1);
                value = s.f.plain_wide("and.b64", &[value, rest]);
            }
            if negative {
                let sign = s.f.wide(1 << 63);
                value = s.f.plain_wide("xor.b64", &[value, sign]);
            }
        }
        _ => {
            if absolute {
                let rest = s.f.word(u32::MAX >> 1);
                value = s.f.plain("and.b32", &[value, rest]);
            }
            if negative {
                let sign = s.f.word(1 << 31);
                value = s.f.plain("xor.b32", &[value, sign]);
            }
        }
    }
    Ok(value)
}

/// Where a part begins, and its bits.
const fn place(part: Part) -> (u32, u32) {
    match part {
        Part::Byte(number) => (8 * number as u32, 8),
        Part::Word(number) => (16 * number as u32, 16),
        Part::Whole => (0, 32),
    }
}

fn write(s: &mut State, instruction: &Instruction, form: &Vector, value: Value) -> Result {
    let Some(first) = form.to.first().and_then(State::vector) else { return Ok(()) };
    let mut value = value;
    if let Shape::Long(long) = form.shape
        && demand::is_kept(instruction, form)
    {
        let (old, from) = (s.get_on(first), s.f.word(u32::from(long.select >> 3 & 1) * 16));
        let count = s.f.word(16);
        value = s.f.plain("bfi.b32", &[value, old, from, count]);
    }
    if let Shape::Sdwa(sdwa) = form.shape {
        let (from, count) = place(sdwa.to);
        if count < 32 {
            let (from_word, count_word) = (s.f.word(from), s.f.word(count));
            value = match sdwa.unused {
                Unused::Preserve => {
                    let old = s.get_on(first);
                    s.f.plain("bfi.b32", &[value, old, from_word, count_word])
                }
                Unused::Zero => {
                    let mask = s.f.word(u32::MAX >> (32 - count));
                    let part = s.f.plain("and.b32", &[value, mask]);
                    s.f.plain("shl.b32", &[part, from_word])
                }
                Unused::Sign => {
                    let zero = s.f.word(0);
                    let part = s.f.plain("bfe.s32", &[value, zero, count_word]);
                    s.f.plain("shl.b32", &[part, from_word])
                }
            };
        }
    }
    s.set_vector(first, value);
    Ok(())
}

/// Two operations on halves.
fn packed_halves(
    s: &mut State,
    instruction: &Instruction,
    form: &Vector,
    packed: Packed,
    name: &str,
) -> Result {
    let row = instruction.row;
    let Some((base, ty)) = name.rsplit_once('_') else { return unknown(row.name) };
    let mut words = Vec::new();
    for (slot, operand) in row.from.iter().zip(form.from.iter()) {
        words.push(match operand {
            // Halves are halves, also where two of them are in a place of 32 bits.
            Operand::Float(float) if ty == "f16" => s.f.word(float.half().into()),
            _ => s.source(row, slot, operand)?,
        });
    }
    if ty == "f16" && packed.clamp {
        return unknown(format!("{} with clamp", row.name));
    }
    let (zero, sixteen, mask, sign) = (s.f.word(0), s.f.word(16), s.f.word(0xffff), s.f.word(0x8000));
    let mut halves = Vec::new();
    for (select, negative) in [(packed.select, packed.negative), (packed.select_high, packed.negative_high)] {
        let mut parts = [zero; 3];
        for (index, (part, word)) in parts.iter_mut().zip(&words).enumerate() {
            *part = match select >> index & 1 != 0 {
                true => s.f.plain("shr.u32", &[*word, sixteen]),
                false => s.f.plain("and.b32", &[*word, mask]),
            };
            if negative >> index & 1 != 0 {
                *part = s.f.plain("xor.b32", &[*part, sign]);
            }
        }
        let single = format!("v_{base}_{ty}");
        let found = match (ty, packed.clamp) {
            ("f16", _) => half::compute(s, base, parts),
            (_, true) => compute::short_clamped(s, &single, parts),
            (_, false) => compute::short(s, &single, parts),
        };
        let Some(found) = found else { return unknown(row.name) };
        halves.push(found);
    }
    let value = half::pair(s, halves[0], halves[1]);
    let to = State::vector_of(form.to.first())?;
    s.set_lanes(to, value);
    Ok(())
}

/// Two single-precision numbers in a pair of registers, or two words that are moved.
fn packed_pair(s: &mut State, instruction: &Instruction, form: &Vector, packed: Packed) -> Result {
    let row = instruction.row;
    let base = match row.name {
        "v_pk_fma_f32" => "fma.rn.f32",
        "v_pk_mul_f32" => "mul.rn.f32",
        "v_pk_add_f32" => "add.rn.f32",
        "v_pk_mov_b32" => "",
        _ => return unknown(row.name),
    };
    let mut wide = Vec::new();
    for (slot, operand) in row.from.iter().zip(form.from.iter()) {
        wide.push((
            s.source(row, slot, operand)?,
            !matches!(operand, Operand::Scalar { .. } | Operand::Vector { .. }),
        ));
    }
    let mut halves = Vec::new();
    for element in 0..2u8 {
        let (select, negative) = match element {
            0 => (packed.select, packed.negative),
            _ => (packed.select_high, packed.negative_high),
        };
        if base.is_empty() {
            // Each half has a source of its own.
            let index = usize::from(element);
            let Some((value, _)) = wide.get(index).copied() else { return unknown(row.name) };
            halves.push(if packed.select >> index & 1 == 0 { s.f.low(value) } else { s.f.high(value) });
            continue;
        }
        let mut args = Vec::new();
        for (index, (value, is_constant)) in wide.iter().enumerate() {
            let high = select >> index & 1 != 0;
            if high && *is_constant {
                return unknown("the upper half of a constant");
            }
            let mut part = if high { s.f.high(*value) } else { s.f.low(*value) };
            if negative >> index & 1 != 0 {
                let sign = s.f.word(1 << 31);
                part = s.f.plain("xor.b32", &[part, sign]);
            }
            args.push(part);
        }
        halves.push(s.f.make(Op::Plain(base), &args, Type::Word));
    }
    let to = State::vector_of(form.to.first())?;
    s.set_lanes(to, halves[0]);
    s.set_lanes(to + 1, halves[1]);
    Ok(())
}
