//! Vector instructions.

use super::operand::{self, LITERAL, VECTOR};
use super::{Decoded, Words, bit, bits};
use crate::error::Refusal;
use crate::gpu::Gpu;
use crate::instruction::{
    Dpp, Exchange, Form, Long, Matrix, Packed, Part, Scale, Sdwa, Shape, Unused, Vector,
};
use crate::operand::{Operand, Operands, Special, scalar};
use crate::table::row::{
    CLAMP, DOT, DPP, DPP_WIDE, IDLE0, MATRIX, MIX, OMOD, SDWA, SDWA_IDLE, SDWA_OMOD, SDWA_WHOLE, SELECT,
    SELECT_TWO, SIGN0, SPARSE,
};
use crate::table::{Encoding, Row, Slot};

/// The numbers of a source that say there is a second word of parts or of an exchange.
const IS_SDWA: u32 = 249;
const IS_DPP: u32 = 250;

const VCC: Operand = Operand::Scalar { first: scalar::VCC, words: 2 };

/// The opcode of the form of two words (Vega ISA, 12.9).
pub fn long_opcode(row: &Row) -> u16 {
    row.opcode
        + match row.encoding {
            Encoding::Vop2 => 0x100,
            Encoding::Vop1 => 0x140,
            _ => 0,
        }
}

/// VOP1, VOP2, VOPC.
pub fn short(gpu: Gpu, row: &Row, words: Words) -> Result<Decoded, Refusal> {
    let word = words.first;
    let first = bits(word, 0, 9);
    let has_source = !row.from.is_empty();
    // Of the two without operands, the other one ignores the field.
    if row.encoding == Encoding::Vop1 && row.opcode == 0 && matches!(first, IS_SDWA | IS_DPP) {
        return Err(Refusal::Field("src0", first));
    }
    if has_source && first == IS_SDWA && row.allows.any(SDWA) {
        return sdwa(gpu, row, word, words.second()?);
    }
    if has_source && first == IS_DPP && row.allows.any(DPP) {
        return dpp(gpu, row, word, words.second()?);
    }
    let mut size = 1;
    let mut literal = || {
        size = 2;
        words.second().map(Operand::Literal)
    };
    let to = short_destination(gpu, row, word)?;
    let mut from = Operands::EMPTY;
    let mut codes = [first, bits(word, 9, 8) + u32::from(VECTOR)].into_iter();
    for slot in row.from {
        from.push(match slot {
            Slot::Mask => VCC,
            Slot::Literal(_) => literal()?,
            slot => match codes.next().unwrap_or_default() {
                code if code == u32::from(LITERAL) && matches!(slot, Slot::Source(..)) => literal()?,
                code => source(gpu, slot, code)?,
            },
        });
    }
    Ok((Form::Vector(Vector { to, from, shape: Shape::Short }), size))
}

/// What VOP1 and VOP2 write, and the mask of VOPC.
fn short_destination(gpu: Gpu, row: &Row, word: u32) -> Result<Operands, Refusal> {
    let code = bits(word, 17, 8);
    let mut to = Operands::EMPTY;
    for slot in row.to {
        to.push(match *slot {
            Slot::Mask => VCC,
            Slot::Vector(words) => operand::vector(gpu, code, words)?,
            Slot::Accumulator(words) => operand::accumulator(gpu, code, words)?,
            _ => value_of_lane(code)?,
        });
    }
    if row.to.is_empty() && code != 0 {
        return Err(Refusal::Field("vdst", code));
    }
    Ok(to)
}

/// A scalar register in a field of eight or nine bits.
fn small_scalar(code: u32, words: u8) -> Result<Operand, Refusal> {
    if code >= 128 {
        return Err(Refusal::Operand(code as u16));
    }
    operand::scalar(code, words)
}

/// The scalar register that a lane's value goes to: any but M0.
fn value_of_lane(code: u32) -> Result<Operand, Refusal> {
    if code == u32::from(scalar::M0) {
        return Err(Refusal::Operand(code as u16));
    }
    small_scalar(code, 1)
}

/// A source that is no literal.
fn source(gpu: Gpu, slot: &Slot, code: u32) -> Result<Operand, Refusal> {
    let refused = Err(Refusal::Operand(code as u16));
    match *slot {
        Slot::Source(words, _) => operand::source(gpu, code, words),
        Slot::Vector(words) if code >= 256 => operand::vector(gpu, code - 256, words),
        Slot::Accumulator(words) if code >= 256 => operand::accumulator(gpu, code - 256, words),
        Slot::VectorOrLds if code >= 256 => operand::vector(gpu, code - 256, 1),
        Slot::VectorOrLds if code == 254 => Ok(Operand::Special(Special::LdsDirect)),
        Slot::Lane => operand::scalar_or_constant(code, 1),
        Slot::Mask => small_scalar(code, 2),
        _ => refused,
    }
}

/// VOP3, of instructions that have it alone and of those that have a short form, too.
pub fn long(gpu: Gpu, row: &Row, words: Words) -> Result<Decoded, Refusal> {
    let (word, second) = (words.first, words.second()?);
    let code = bits(word, 0, 8);
    // A mask besides a vector register has a field of its own, in the place of signs.
    let beside = row.to.len() == 2;
    let mut to = Operands::EMPTY;
    for slot in row.to {
        to.push(match *slot {
            Slot::Mask if beside => small_scalar(bits(word, 8, 7), 2)?,
            Slot::Mask => small_scalar(code, 2)?,
            Slot::Vector(words) => operand::vector(gpu, code, words)?,
            _ => value_of_lane(code)?,
        });
    }
    if row.to.is_empty() && code != 0 {
        return Err(Refusal::Field("vdst", code));
    }
    let codes = [bits(second, 0, 9), bits(second, 9, 9), bits(second, 18, 9)];
    let mut from = Operands::EMPTY;
    for (index, code) in codes.into_iter().take(row.from.len()).enumerate() {
        from.push(source(gpu, &row.wide_source(index), code)?);
    }
    let (negative, absolute) = (bits(second, 29, 3), if beside { 0 } else { bits(word, 8, 3) });
    let select = if beside { 0 } else { bits(word, 11, 4) };
    let allowed = signs(row) | idle(row);
    field("neg", negative, allowed)?;
    field("abs", absolute, allowed)?;
    field("clamp", bits(word, 15, 1), u32::from(row.allows.any(CLAMP)))?;
    field("omod", bits(second, 27, 2), if row.allows.any(OMOD) { 3 } else { 0 })?;
    if row.allows.any(SELECT_TWO) {
        field("op_sel", select, 0b1011)?;
    }
    let long = Long {
        negative: (negative & signs(row)) as u8,
        absolute: (absolute & signs(row)) as u8,
        select: if row.allows.any(SELECT | SELECT_TWO) { select as u8 } else { 0 },
        clamp: bit(word, 15),
        scale: scale(bits(second, 27, 2)),
    };
    Ok((Form::Vector(Vector { to, from, shape: Shape::Long(long) }), 2))
}

/// A field may have these bits only.
fn field(name: &'static str, value: u32, allowed: u32) -> Result<(), Refusal> {
    if value & !allowed == 0 { Ok(()) } else { Err(Refusal::Field(name, value)) }
}

/// Which sources have signs, and which have bits for them that do nothing.
fn signs(row: &Row) -> u32 {
    (row.allows.0 / SIGN0) as u32 & 7
}

fn idle(row: &Row) -> u32 {
    (row.allows.0 / IDLE0) as u32 & 7
}

fn scale(bits: u32) -> Scale {
    [Scale::One, Scale::Two, Scale::Four, Scale::Half][bits as usize & 3]
}

/// Parts of registers (Vega ISA, 12.8.4).
fn sdwa(gpu: Gpu, row: &Row, word: u32, second: u32) -> Result<Decoded, Refusal> {
    let comparison = row.encoding == Encoding::Vopc;
    let sources = row.from.iter().filter(|slot| **slot != Slot::Mask).count();
    let to = if comparison {
        let mut to = Operands::EMPTY;
        to.push(if bit(second, 15) { operand::scalar(bits(second, 8, 7), 2)? } else { VCC });
        to
    } else {
        short_destination(gpu, row, word)?
    };
    let whole = row.allows.any(SDWA_WHOLE);
    if whole && bits(second, 8, 3) != 6 {
        return Err(Refusal::Field("dst_sel", bits(second, 8, 3)));
    }
    let codes = [(bits(second, 0, 8), bit(second, 23)), (bits(word, 9, 8), bit(second, 31))];
    let mut codes = codes.into_iter();
    let mut from = Operands::EMPTY;
    for slot in row.from {
        from.push(match slot {
            Slot::Mask => VCC,
            _ => match codes.next().unwrap_or_default() {
                (code, false) => operand::vector(gpu, code, 1)?,
                (254, true) => Operand::Special(Special::LdsDirect),
                (code, true) => operand::scalar_or_constant(code, 1)?,
            },
        });
    }
    let mut parts = [Part::Whole; 2];
    let (mut signed, mut negative, mut absolute) = (0, 0, 0);
    for index in 0..2 {
        let modifiers = bits(second, 16 + 8 * index, 6);
        if index as usize >= sources {
            field("src1", modifiers | bits(second, 31, 1), 0)?;
            continue;
        }
        parts[index as usize] = part(bits(modifiers, 0, 3))?;
        let sign = signs(row) >> index & 1 != 0;
        let idle = row.allows.any(SDWA_IDLE);
        let allowed = if sign || idle { 0b11_0000 } else { 0b1000 };
        field("source modifiers", modifiers & 0b11_1000, allowed)?;
        if !idle {
            signed |= (modifiers >> 3 & 1) << index;
            negative |= (modifiers >> 4 & 1) << index;
            absolute |= (modifiers >> 5 & 1) << index;
        }
    }
    let (unused, clamp, omod) = if comparison {
        (Unused::Zero, false, 0)
    } else {
        field("omod", bits(second, 14, 2), if row.allows.any(SDWA_OMOD) { 3 } else { 0 })?;
        let unused = match bits(second, 11, 2) {
            _ if whole => Unused::Zero,
            0 => Unused::Zero,
            1 => Unused::Sign,
            2 => Unused::Preserve,
            value => return Err(Refusal::Field("dst_unused", value)),
        };
        (unused, bit(second, 13), bits(second, 14, 2))
    };
    let shape = Shape::Sdwa(Sdwa {
        to: if comparison { Part::Whole } else { part(bits(second, 8, 3))? },
        unused,
        from: parts,
        signed: signed as u8,
        negative: negative as u8,
        absolute: absolute as u8,
        clamp,
        scale: scale(omod),
    });
    Ok((Form::Vector(Vector { to, from, shape }), 2))
}

fn part(select: u32) -> Result<Part, Refusal> {
    Ok(match select {
        0..4 => Part::Byte(select as u8),
        4 | 5 => Part::Word(select as u8 - 4),
        6 => Part::Whole,
        _ => return Err(Refusal::Field("sel", select)),
    })
}

/// A source of another lane (Vega ISA, 12.8.5).
fn dpp(gpu: Gpu, row: &Row, word: u32, second: u32) -> Result<Decoded, Refusal> {
    let to = short_destination(gpu, row, word)?;
    let mut codes = [bits(second, 0, 8), bits(word, 9, 8)].into_iter();
    let mut from = Operands::EMPTY;
    for slot in row.from {
        from.push(match *slot {
            Slot::Mask => VCC,
            Slot::Source(words, _) | Slot::Vector(words) => {
                operand::vector(gpu, codes.next().unwrap_or_default(), words)?
            }
            _ => return Err(Refusal::Operand(IS_DPP as u16)),
        });
    }
    let exchange = exchange(gpu, bits(second, 8, 9))?;
    if row.allows.any(DPP_WIDE) && gpu.unified_registers() && !matches!(exchange, Exchange::RowBroadcast(_)) {
        return Err(Refusal::Field("dpp_ctrl", bits(second, 8, 9)));
    }
    let modifiers = bits(second, 20, 4);
    let allowed = signs(row) | idle(row);
    let of_first = if bit(allowed, 0) { 0b11 } else { 0 };
    let of_second = if bit(allowed, 1) { 0b1100 } else { 0 };
    field("source modifiers", modifiers, of_first | of_second)?;
    let of = |low: u32| (bits(modifiers, low, 1) | bits(modifiers, low + 2, 1) << 1) & signs(row);
    let shape = Shape::Dpp(Dpp {
        exchange,
        negative: of(0) as u8,
        absolute: of(1) as u8,
        rows: bits(second, 28, 4) as u8,
        banks: bits(second, 24, 4) as u8,
        bound: bit(second, 19),
    });
    Ok((Form::Vector(Vector { to, from, shape }), 2))
}

fn exchange(gpu: Gpu, control: u32) -> Result<Exchange, Refusal> {
    let lanes = (control & 15) as u8;
    Ok(match control {
        0..=0xff => Exchange::Quad(control as u8),
        0x101..=0x10f => Exchange::RowShiftLeft(lanes),
        0x111..=0x11f => Exchange::RowShiftRight(lanes),
        0x121..=0x12f => Exchange::RowRotateRight(lanes),
        0x130 => Exchange::WaveShiftLeft,
        0x134 => Exchange::WaveRotateLeft,
        0x138 => Exchange::WaveShiftRight,
        0x13c => Exchange::WaveRotateRight,
        0x140 => Exchange::RowMirror,
        0x141 => Exchange::RowHalfMirror,
        0x142 => Exchange::Broadcast15,
        0x143 => Exchange::Broadcast31,
        0x150..=0x15f if gpu.unified_registers() => Exchange::RowBroadcast(lanes),
        _ => return Err(Refusal::Field("dpp_ctrl", control)),
    })
}

/// VOP3P.
pub fn packed(gpu: Gpu, row: &Row, words: Words) -> Result<Decoded, Refusal> {
    let (word, second) = (words.first, words.second()?);
    let matrix = row.allows.any(MATRIX);
    let codes = [bits(second, 0, 9), bits(second, 9, 9), bits(second, 18, 9)];
    // On gfx908 the sum is always in accumulation registers.
    let sum = !gpu.unified_registers() || bit(word, 15);
    let mut to = Operands::EMPTY;
    for slot in row.to {
        let code = bits(word, 0, 8);
        to.push(match *slot {
            Slot::Matrix(words) => operand::either(gpu, sum, code, words)?,
            Slot::Accumulator(words) => operand::accumulator(gpu, code, words)?,
            Slot::Vector(words) => operand::vector(gpu, code, words)?,
            _ => unreachable!("packed instructions write vector registers"),
        });
    }
    let mut from = Operands::EMPTY;
    for (index, (slot, code)) in row.from.iter().zip(codes).enumerate() {
        let accumulation = bit(second, 27 + index as u32);
        from.push(match *slot {
            Slot::MatrixSource(words) if code >= 256 => {
                operand::either(gpu, accumulation, code - 256, words)?
            }
            Slot::MatrixSum(words, _) if code >= 256 => operand::either(gpu, sum, code - 256, words)?,
            Slot::MatrixSum(..) if (128..=208).contains(&code) || (240..=248).contains(&code) => {
                operand::scalar_or_constant(code, 1)?
            }
            ref slot => source(gpu, slot, code)?,
        });
    }
    let shape = if matrix {
        let blgp = bits(second, 29, 3);
        field("blgp", blgp, if row.allows.any(SPARSE) { 0 } else { 7 })?;
        let (cbsz, abid) = (bits(word, 8, 3) as u8, bits(word, 11, 4) as u8);
        Shape::Matrix(Matrix { cbsz, abid, blgp: blgp as u8 })
    } else {
        Shape::Packed(packed_modifiers(row, word, second)?)
    };
    Ok((Form::Vector(Vector { to, from, shape }), 2))
}

fn packed_modifiers(row: &Row, word: u32, second: u32) -> Result<Packed, Refusal> {
    use crate::table::row::PACKED;

    // A bit for each source.
    let sources = (1 << row.from.len()) - 1;
    let (negative, high) = (bits(second, 29, 3), bits(word, 8, 3));
    let select = bits(word, 11, 3);
    // Without bits for it, an operand's upper half is its upper half.
    let select_high = bits(second, 27, 2) | bits(word, 14, 1) << 2;
    if !row.allows.any(PACKED | MIX | DOT) {
        field("neg", negative | high | select, 0)?;
        return Ok(Packed { select: 0, select_high: 0, negative: 0, negative_high: 0, clamp: false });
    }
    field("neg", negative | high, sources)?;
    field("op_sel", select, if row.allows.any(DOT) { 0 } else { sources })?;
    Ok(Packed {
        select: select as u8,
        select_high: if row.allows.any(DOT) { sources as u8 } else { (select_high & sources) as u8 },
        negative: negative as u8,
        negative_high: high as u8,
        clamp: row.allows.any(CLAMP) && bit(word, 15),
    })
}
