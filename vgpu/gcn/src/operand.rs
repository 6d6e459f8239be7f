//! Registers and constants, as instructions name them.

use crate::table::{Constant, Row, Slot};

/// What an instruction reads or writes in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Scalar registers, by the number that encodings have for the first.
    Scalar { first: u8, words: u8 },
    /// Vector registers.
    Vector { first: u8, words: u8 },
    /// Accumulation registers.
    Accumulator { first: u8, words: u8 },
    /// A small integer, -16 to 64.
    Integer(i8),
    /// A floating-point number; its type is that of the place.
    Float(Float),
    /// The word behind the instruction. In a place of 64 bits it is the low half of an integer and the
    /// high half of a floating-point number, as the place's [`Constant`](crate::table::Constant) says.
    Literal(u32),
    /// A value that is no register's.
    Special(Special),
    /// A number of 16 bits.
    Immediate(u16),
}

impl Operand {
    /// The value of a constant in a place of an instruction: inline floating-point numbers and literals are of the
    /// place's type (Vega ISA, 4.1.1). None: it is a register's, or no constant.
    #[must_use]
    pub fn constant(self, row: &Row, slot: &Slot) -> Option<u64> {
        let kind = match *slot {
            Slot::ScalarSource(_, kind)
            | Slot::Source(_, kind)
            | Slot::MatrixSum(_, kind)
            | Slot::Literal(kind) => kind,
            _ => Constant::Word,
        };
        Some(match self {
            Self::Integer(value) => i64::from(value).cast_unsigned(),
            Self::Float(float) => match kind {
                Constant::Word => float.single().into(),
                Constant::Wide | Constant::Double => float.double(),
                Constant::Half | Constant::Short | Constant::Packed => float.half().into(),
            },
            Self::Literal(value) => match kind {
                Constant::Double => u64::from(value) << 32,
                Constant::Wide if row.name.ends_with("_i64") => {
                    i64::from(value.cast_signed()).cast_unsigned()
                }
                _ => u64::from(value),
            },
            Self::Immediate(value) => u64::from(value),
            Self::Scalar { .. } | Self::Vector { .. } | Self::Accumulator { .. } | Self::Special(_) => {
                return None;
            }
        })
    }
}

/// Numbers of scalar registers that have names (Vega ISA, 5.1).
pub mod scalar {
    pub const FLAT_SCRATCH: u8 = 102;
    pub const XNACK_MASK: u8 = 104;
    pub const VCC: u8 = 106;
    pub const TTMP0: u8 = 108;
    pub const M0: u8 = 124;
    /// Reads as 0; nothing is written.
    pub const NULL: u8 = 125;
    pub const EXEC: u8 = 126;
}

/// The floating-point numbers that need no literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Float {
    Half,
    MinusHalf,
    One,
    MinusOne,
    Two,
    MinusTwo,
    Four,
    MinusFour,
    /// 1 / (2 pi)
    InverseTwoPi,
}

impl Float {
    pub(crate) const ALL: [Self; 9] = [
        Self::Half,
        Self::MinusHalf,
        Self::One,
        Self::MinusOne,
        Self::Two,
        Self::MinusTwo,
        Self::Four,
        Self::MinusFour,
        Self::InverseTwoPi,
    ];

    /// Its bits in half precision.
    #[must_use]
    pub const fn half(self) -> u16 {
        [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118][self as usize]
    }

    /// Its bits in single precision.
    #[must_use]
    pub const fn single(self) -> u32 {
        [
            0x3f00_0000,
            0xbf00_0000,
            0x3f80_0000,
            0xbf80_0000,
            0x4000_0000,
            0xc000_0000,
            0x4080_0000,
            0xc080_0000,
            0x3e22_f983,
        ][self as usize]
    }

    /// Its bits in double precision.
    #[must_use]
    pub const fn double(self) -> u64 {
        match self {
            Self::InverseTwoPi => 0x3fc4_5f30_6dc9_c882,
            Self::Half => 0x3fe0_0000_0000_0000,
            Self::MinusHalf => 0xbfe0_0000_0000_0000,
            Self::One => 0x3ff0_0000_0000_0000,
            Self::MinusOne => 0xbff0_0000_0000_0000,
            Self::Two => 0x4000_0000_0000_0000,
            Self::MinusTwo => 0xc000_0000_0000_0000,
            Self::Four => 0x4010_0000_0000_0000,
            Self::MinusFour => 0xc010_0000_0000_0000,
        }
    }
}

/// Values that are no register's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Where LDS lies in the flat address space, and its last address.
    SharedBase,
    SharedLimit,
    /// The same of private memory.
    PrivateBase,
    PrivateLimit,
    /// Of graphics.
    PopsExitingWave,
    /// Whether VCC is 0, EXEC is 0, and SCC.
    VccZero,
    ExecZero,
    Scc,
    /// LDS at the address in M0.
    LdsDirect,
}

/// A few operands, in their order.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    list: [Operand; 4],
    len: u8,
}

impl Operands {
    pub(crate) const EMPTY: Self = Self { list: [Operand::Integer(0); 4], len: 0 };

    pub(crate) fn push(&mut self, operand: Operand) {
        self.list[usize::from(self.len)] = operand;
        self.len += 1;
    }
}

impl std::ops::Deref for Operands {
    type Target = [Operand];

    fn deref(&self) -> &[Operand] {
        &self.list[..usize::from(self.len)]
    }
}

impl Default for Operands {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl PartialEq for Operands {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Operands {}
