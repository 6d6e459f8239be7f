//! What vector instructions compute for one lane: the rows of the decoder's table, by name.
//!
//! What is not found here, nor among the instructions that move values between lanes, is refused
//! with its name. The test `coverage` has the list.

mod compare;
mod convert;
mod float;
mod integer;
mod packed;

use gangway_gcn::{Encoding, Row};

use crate::format::Format;
use crate::mode::Context;

pub use compare::Order;
pub use packed::Mix;

/// From the sources' bits, zero-extended, to the result's.
pub type Value = fn(&Context, [u64; 3]) -> u64;

/// How a lane's result comes about.
#[derive(Clone, Copy)]
pub enum Compute {
    Value(Value),
    /// Besides the value there is a bit for the mask.
    ValueAndBit(fn(&Context, [u64; 3]) -> (u64, bool)),
    /// A bit alone.
    Bit(fn(&Context, [u64; 3]) -> bool),
    /// A comparison is true of these results: less, equal, greater, unordered.
    Compare(Order, u8),
    /// The same for both halves of 16 or 32 bits.
    Packed(Value, u32),
    /// Sources that are halves or whole numbers.
    Mix(Mix),
}

/// A row's meaning.
#[derive(Clone, Copy)]
pub struct Operation {
    pub compute: Compute,
    /// What the result is, where it is a number that modifiers scale and clamp.
    pub format: Option<Format>,
    /// The result's bits.
    pub bits: u32,
}

impl Operation {
    const fn integer(bits: u32, value: Value) -> Self {
        Self { compute: Compute::Value(value), format: None, bits }
    }

    const fn float(format: Format, value: Value) -> Self {
        Self { compute: Compute::Value(value), format: Some(format), bits: format.bits() }
    }

    /// What a row computes, if the interpreter knows.
    pub fn of(row: &Row) -> Option<Self> {
        match row.encoding {
            Encoding::Vopc => compare::operation(row),
            Encoding::Vop3p => packed::operation(row.name),
            Encoding::Vop1 | Encoding::Vop2 | Encoding::Vop3 => integer::operation(row.name)
                .or_else(|| convert::operation(row.name))
                .or_else(|| float::operation(row.name))
                .or_else(|| packed::short(row.name)),
            _ => None,
        }
    }
}
