//! What goes on in equal steps while a loop goes round: values, and accesses of memory.

use gangway_simt::Base;

use super::text::Value;

/// A value that changes by so much each turn: all 32 bits, or all 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub first: Value,
    pub step: Value,
}

impl Line {
    pub fn fixed(value: Value) -> Self {
        Line { first: value, step: Value::constant(value.ty, 0) }
    }

    pub fn is_fixed(self) -> bool {
        self.step.bits() == Some(0)
    }

    /// How much it goes up each turn, if that is known.
    pub fn step(self) -> Option<i64> {
        self.step.bits().map(|step| step as i64)
    }
}

/// An access whose address does.
pub(super) struct Planned {
    pub operation: u32,
    /// What its address is counted from.
    pub base: Base,
    pub writes: bool,
    pub line: Line,
    pub offset: i64,
    pub bytes: u64,
}
