//! Why bytes are no instruction.

use std::fmt;

use crate::table::Encoding;

/// Why bytes are not decoded. None of it is a fault of the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The bytes end within the instruction.
    Truncated,
    /// The first word belongs to no encoding of the processor.
    Encoding(u32),
    /// The encoding has no such instruction on the processor.
    Opcode(Encoding, u16),
    /// A field has a value that the instruction does not allow.
    Field(&'static str, u32),
    /// An operand that is no register or constant the instruction can have.
    Operand(u16),
    /// Registers that begin at a number where no such group begins, or that go beyond the last.
    Group(u16, u8),
    /// Graphics: not for compute kernels.
    Graphics(&'static str),
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated => write!(out, "the code ends within an instruction"),
            Self::Encoding(word) => write!(out, "the word {word:#010x} begins no instruction"),
            Self::Opcode(encoding, opcode) => {
                write!(out, "{encoding:?} has no instruction {opcode:#x} on this processor")
            }
            Self::Field(name, value) => write!(out, "the field {name} cannot be {value:#x} here"),
            Self::Operand(code) => write!(out, "the operand {code} is nothing that this instruction reads"),
            Self::Group(code, words) => write!(out, "no group of {words} registers begins at {code}"),
            Self::Graphics(what) => write!(out, "{what} are for graphics, which Gangway does not run"),
        }
    }
}

impl std::error::Error for Refusal {}
