//! Scalar instructions and scalar memory.

use super::operand::{self, LITERAL};
use super::{Decoded, Words, bit, bits};
use crate::error::Refusal;
use crate::instruction::{Form, Scalar, ScalarMemory, ScalarOffset};
use crate::operand::{Operand, Operands};
use crate::table::row::GLC;
use crate::table::{Encoding, Immediate, Row, Slot};

/// SOP2, SOPK, SOP1, SOPC, SOPP.
pub fn scalar(row: &Row, words: Words) -> Result<Decoded, Refusal> {
    let word = words.first;
    let mut size = 1;
    let mut literal = || {
        size = 2;
        words.second().map(Operand::Literal)
    };
    let mut to = Operands::EMPTY;
    for slot in row.to {
        let &Slot::Scalar(count) = slot else { unreachable!("scalar instructions write scalar registers") };
        to.push(operand::scalar(bits(word, 16, 7), count)?);
    }
    // Where the next register or constant that is read stands.
    let places: [(u32, u32); 2] = match row.encoding {
        Encoding::Sopk => [(16, 7), (0, 0)],
        _ => [(0, 8), (8, 8)],
    };
    let mut places = places.into_iter();
    let mut from = Operands::EMPTY;
    for slot in row.from {
        from.push(match *slot {
            Slot::Immediate(Immediate::IndexMode) if row.encoding == Encoding::Sopc => {
                Operand::Immediate(bits(word, 8, 8) as u16)
            }
            Slot::Immediate(_) => Operand::Immediate(word as u16),
            Slot::Literal(_) => literal()?,
            ref slot => {
                let (low, count) = places.next().unwrap_or_default();
                let code = bits(word, low, count);
                match *slot {
                    Slot::ScalarSource(..) if code == u32::from(LITERAL) => literal()?,
                    Slot::ScalarSource(words, _) => operand::scalar_or_constant(code, words)?,
                    Slot::Scalar(words) if code < 128 => operand::scalar(code, words)?,
                    _ => return Err(Refusal::Operand(code as u16)),
                }
            }
        });
    }
    let none_behind = row.encoding == Encoding::Sopp && row.from.is_empty() && word as u16 != 0;
    if none_behind {
        return Err(Refusal::Field("simm16", u32::from(word as u16)));
    }
    Ok((Form::Scalar(Scalar { to, from }), size))
}

/// SMEM.
pub fn memory(row: &Row, words: Words) -> Result<Decoded, Refusal> {
    let word = words.first;
    let second = words.second()?;
    let (data, immediate) = (bits(word, 6, 7), bit(word, 17));
    let mut to = Operands::EMPTY;
    for slot in row.to {
        let &Slot::Scalar(count) = slot else { unreachable!("scalar memory writes scalar registers") };
        to.push(data_register(data, count)?);
    }
    let mut from = Operands::EMPTY;
    let count = row.from.len();
    for (index, slot) in row.from.iter().enumerate() {
        from.push(match *slot {
            Slot::Scalar(words) if index + 1 == count => operand::scalar(bits(word, 0, 6) * 2, words)?,
            Slot::Scalar(words) => data_register(data, words)?,
            _ => Operand::Immediate(data as u16),
        });
    }
    let offset = if row.from.is_empty() {
        if immediate {
            return Err(Refusal::Field("imm", 1));
        }
        ScalarOffset::None
    } else {
        // 21 bits with a sign (Vega ISA, 12.6.1).
        let constant = bits(second, 0, 21).cast_signed() << 11 >> 11;
        let register = |code| operand::scalar(code, 1).map(ScalarOffset::Register);
        match (bit(word, 14), immediate) {
            (true, true) => ScalarOffset::Both(operand::scalar(bits(second, 25, 7), 1)?, constant),
            (true, false) => register(bits(second, 25, 7))?,
            (false, true) => ScalarOffset::Constant(constant),
            (false, false) => register(bits(second, 0, 7))?,
        }
    };
    let glc = row.allows.any(GLC) && bit(word, 16);
    Ok((Form::ScalarMemory(ScalarMemory { to, from, offset, glc }), 2))
}

/// Neither M0 nor EXEC can be loaded or stored.
fn data_register(code: u32, words: u8) -> Result<Operand, Refusal> {
    if matches!(code, 124 | 126 | 127) {
        return Err(Refusal::Operand(code as u16));
    }
    operand::scalar(code, words)
}
