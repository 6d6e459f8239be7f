//! The atomic operations that have a fast path, packed into a number for helpers.

use gangway_simt::{Atomic, AtomicOperator};

/// The operations that have a fast path, on 32 and 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(super) kind: Operating,
    pub(super) signed: bool,
    /// Whether what was there before is wanted.
    pub(super) keeps: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operating {
    /// The sum of floating-point values, which no processor has an atomic instruction for.
    AddFloat,
    Words(OnWords),
}

/// What processors do with shared words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnWords {
    Add,
    Exchange,
    And,
    Or,
    Xor,
    Minimum,
    Maximum,
    CompareExchange,
}

const ON_WORDS: [OnWords; 8] = {
    use OnWords::*;
    [Add, Exchange, And, Or, Xor, Minimum, Maximum, CompareExchange]
};

impl Operation {
    #[must_use]
    pub fn of(atomic: &Atomic) -> Option<Self> {
        let kind = match atomic.operator {
            AtomicOperator::AddFloat => Operating::AddFloat,
            AtomicOperator::Add => Operating::Words(OnWords::Add),
            AtomicOperator::Exchange => Operating::Words(OnWords::Exchange),
            AtomicOperator::And => Operating::Words(OnWords::And),
            AtomicOperator::Or => Operating::Words(OnWords::Or),
            AtomicOperator::Xor => Operating::Words(OnWords::Xor),
            AtomicOperator::Min => Operating::Words(OnWords::Minimum),
            AtomicOperator::Max => Operating::Words(OnWords::Maximum),
            AtomicOperator::CompareAndSwap => Operating::Words(OnWords::CompareExchange),
            AtomicOperator::Other => return None,
        };
        Some(Operation { kind, signed: atomic.ty.is_signed(), keeps: atomic.returns })
    }

    /// Never zero, which stands for none.
    #[must_use]
    pub fn bits(self) -> i64 {
        let kind = match self.kind {
            Operating::AddFloat => 1,
            Operating::Words(on_words) => on_words as i64 + 2,
        };
        kind | i64::from(self.signed) << 6 | i64::from(self.keeps) << 7
    }

    #[must_use]
    pub fn from_bits(bits: u8) -> Option<Self> {
        let kind = match usize::from(bits & 63) {
            1 => Operating::AddFloat,
            number => Operating::Words(*ON_WORDS.get(number.checked_sub(2)?)?),
        };
        Some(Operation { kind, signed: bits >> 6 & 1 != 0, keeps: bits >> 7 != 0 })
    }
}
