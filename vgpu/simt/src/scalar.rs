//! What one lane has in a slot, or gives to an operation.

/// A predicate, or bits. Those of integers are extended to more by their sign, others by zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    Predicate,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    /// Numbers that are no integers, and pairs of those.
    F32,
    F64,
}

impl Scalar {
    /// An integer of so many bits: 8, 16, 32 or 64; none for others.
    #[must_use]
    pub const fn of(bits: u32, signed: bool) -> Option<Self> {
        Some(match (bits, signed) {
            (8, false) => Scalar::U8,
            (16, false) => Scalar::U16,
            (32, false) => Scalar::U32,
            (64, false) => Scalar::U64,
            (8, true) => Scalar::S8,
            (16, true) => Scalar::S16,
            (32, true) => Scalar::S32,
            (64, true) => Scalar::S64,
            _ => return None,
        })
    }

    /// In bytes; a predicate counts as one.
    #[must_use]
    pub const fn size(self) -> u32 {
        match self {
            Scalar::Predicate | Scalar::U8 | Scalar::S8 => 1,
            Scalar::U16 | Scalar::S16 => 2,
            Scalar::U32 | Scalar::S32 | Scalar::F32 => 4,
            Scalar::U64 | Scalar::S64 | Scalar::F64 => 8,
        }
    }

    #[must_use]
    pub const fn bits(self) -> u32 {
        self.size() * 8
    }

    /// Whether what is made longer takes the sign.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Scalar::S8 | Scalar::S16 | Scalar::S32 | Scalar::S64)
    }

    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// Whether a lane has it in 64 bits, and not in 32.
    #[must_use]
    pub const fn is_wide(self) -> bool {
        matches!(self, Scalar::U64 | Scalar::S64 | Scalar::F64)
    }
}
