//! Registers and constants.

use std::fmt::{self, Display, Formatter};

use crate::operand::{Float, Operand, Special, scalar};
use crate::table::{Constant, Slot};

/// What the text of a constant depends on.
#[derive(Clone, Copy)]
pub enum Place {
    Constant(Constant),
    /// A literal that the instruction always has.
    Literal,
    Other,
}

impl Place {
    pub fn of(slot: &Slot) -> Self {
        match *slot {
            Slot::ScalarSource(_, constant) | Slot::Source(_, constant) | Slot::MatrixSum(_, constant) => {
                Self::Constant(constant)
            }
            Slot::Literal(_) => Self::Literal,
            _ => Self::Other,
        }
    }
}

/// Writes what stands before an operand: a space, then commas.
#[derive(Default)]
pub struct Commas(bool);

impl Commas {
    pub fn next(&mut self, out: &mut Formatter<'_>) -> fmt::Result {
        let text = if self.0 { ", " } else { " " };
        self.0 = true;
        out.write_str(text)
    }
}

pub fn write(operand: Operand, place: Place, out: &mut Formatter<'_>) -> fmt::Result {
    match operand {
        Operand::Scalar { first, words } => scalar_register(first, words, out),
        Operand::Vector { first, words } => group("v", first, words, out),
        Operand::Accumulator { first, words } => group("a", first, words, out),
        Operand::Integer(value) => write!(out, "{value}"),
        Operand::Float(value) => float(value, place, out),
        Operand::Literal(value) => literal(value, place, out),
        Operand::Special(special) => out.write_str(special_name(special)),
        Operand::Immediate(value) => write!(out, "{value}"),
    }
}

fn group(file: &str, first: u8, words: u8, out: &mut Formatter<'_>) -> fmt::Result {
    match words {
        1 => write!(out, "{file}{first}"),
        _ => write!(out, "{file}[{first}:{}]", u16::from(first) + u16::from(words) - 1),
    }
}

fn scalar_register(first: u8, words: u8, out: &mut Formatter<'_>) -> fmt::Result {
    let named = |name: &str, base: u8, out: &mut Formatter<'_>| match (words, first - base) {
        (1, 0) => write!(out, "{name}_lo"),
        (1, _) => write!(out, "{name}_hi"),
        _ => out.write_str(name),
    };
    match first {
        scalar::FLAT_SCRATCH..scalar::XNACK_MASK => named("flat_scratch", scalar::FLAT_SCRATCH, out),
        scalar::XNACK_MASK..scalar::VCC => named("xnack_mask", scalar::XNACK_MASK, out),
        scalar::VCC..scalar::TTMP0 => named("vcc", scalar::VCC, out),
        scalar::TTMP0..scalar::M0 => group("ttmp", first - scalar::TTMP0, words, out),
        scalar::M0 => out.write_str("m0"),
        scalar::NULL => out.write_str("null"),
        scalar::EXEC.. => named("exec", scalar::EXEC, out),
        _ => group("s", first, words, out),
    }
}

fn special_name(special: Special) -> &'static str {
    match special {
        Special::SharedBase => "src_shared_base",
        Special::SharedLimit => "src_shared_limit",
        Special::PrivateBase => "src_private_base",
        Special::PrivateLimit => "src_private_limit",
        Special::PopsExitingWave => "src_pops_exiting_wave_id",
        Special::VccZero => "src_vccz",
        Special::ExecZero => "src_execz",
        Special::Scc => "src_scc",
        Special::LdsDirect => "src_lds_direct",
    }
}

/// A number of 32 bits, as an inline constant would be written if there is one.
pub fn value(value: u32, out: &mut Formatter<'_>) -> fmt::Result {
    let number = value.cast_signed();
    if (-16..=64).contains(&number) {
        return write!(out, "{number}");
    }
    match Float::ALL.into_iter().find(|float| float.single() == value) {
        Some(known) => float(known, Place::Other, out),
        None => write!(out, "{value:#x}"),
    }
}

fn float(value: Float, place: Place, out: &mut Formatter<'_>) -> fmt::Result {
    match (value, place) {
        // Integers of 16 bits see the number's bits.
        (_, Place::Constant(Constant::Short)) => write!(out, "{:#x}", value.half()),
        (Float::InverseTwoPi, Place::Constant(Constant::Wide | Constant::Double)) => {
            out.write_str("0.15915494309189532")
        }
        (Float::InverseTwoPi, _) => out.write_str("0.15915494"),
        _ => out.write_str(["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", ""][value as usize]),
    }
}

/// A literal; one that an inline constant could replace is marked, so that assembling the text gives
/// the same code.
fn literal(value: u32, place: Place, out: &mut Formatter<'_>) -> fmt::Result {
    let small = |value: i64| (-16..=64).contains(&value);
    let half = |value: u16| Float::ALL.iter().any(|float| float.half() == value);
    let Place::Constant(constant) = place else { return write!(out, "{value:#x}") };
    let (inline, shown) = match constant {
        Constant::Word | Constant::Short => {
            let single = Float::ALL.iter().any(|float| float.single() == value);
            let shown = if constant == Constant::Short { value & 0xffff } else { value };
            (small(i64::from(value.cast_signed())) || single, shown)
        }
        Constant::Wide => (small(i64::from(value)), value),
        // This one is written as the number that it is.
        Constant::Double => {
            let bits = u64::from(value) << 32;
            return match Float::ALL.into_iter().find(|float| float.double() == bits) {
                Some(known) => float(known, place, out),
                None if value == 0 => out.write_str("0"),
                None => write!(out, "{value:#x}"),
            };
        }
        Constant::Half => {
            let low = value as u16;
            (small(i64::from(low.cast_signed())) || half(low), u32::from(low))
        }
        Constant::Packed => {
            let whole = u16::try_from(value).is_ok_and(half);
            (small(i64::from(value.cast_signed())) || whole, value)
        }
    };
    if inline { write!(out, "lit({value:#x})") } else { write!(out, "{shown:#x}") }
}

/// A number with its sign before the `0x`.
pub struct SignedHex(pub i32);

impl Display for SignedHex {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(out, "{sign}{:#x}", self.0.unsigned_abs())
    }
}
