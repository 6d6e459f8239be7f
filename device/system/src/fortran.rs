//! Output statements of Fortran: the calls that flang makes of one, as bytes.
//!
//! The device collects them and the host repeats them with the program's own library. A statement
//! is a row of items. Each is a word, of which eight bits are its [`Kind`] and the others its
//! bytes, and these bytes, filled up to a multiple of eight. The first item begins the statement.
//!
//! | Item | Bytes |
//! |---|---|
//! | those that begin | words: unit, or length of the variable; line; lengths of file and format. The two texts |
//! | `Integer`, `Real`, `Complex`, `Logical`, `Text` | the value |
//! | `Array` | words: rank, type (as in `ISO_Fortran_binding.h`), bytes of an element, extents. The elements |
//! | `Setting` | a word: [`Setting`]. Its text |
//! | `Number` | words: [`Number`], value |
//! | `Handlers` | five truth values |
//! | `Message` | what the variable of `iomsg` holds |

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    ExternalList = 1,
    ExternalFormatted = 2,
    InternalList = 3,
    InternalFormatted = 4,
    Flush = 5,
    Integer = 6,
    Real = 7,
    Complex = 8,
    Logical = 9,
    Text = 10,
    Array = 11,
    Setting = 12,
    Number = 13,
    Handlers = 14,
    Message = 15,
}

impl Kind {
    const ALL: [Self; 15] = [
        Self::ExternalList,
        Self::ExternalFormatted,
        Self::InternalList,
        Self::InternalFormatted,
        Self::Flush,
        Self::Integer,
        Self::Real,
        Self::Complex,
        Self::Logical,
        Self::Text,
        Self::Array,
        Self::Setting,
        Self::Number,
        Self::Handlers,
        Self::Message,
    ];

    /// The kind of a number.
    #[must_use]
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    /// Whether a statement writes to a variable.
    #[must_use]
    pub const fn is_internal(self) -> bool {
        matches!(self, Self::InternalList | Self::InternalFormatted)
    }
}

/// The word before an item's bytes.
#[must_use]
pub const fn head(kind: Kind, bytes: u64) -> u64 {
    kind as u64 | bytes << 8
}

/// Specifiers whose value is a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Setting {
    Advance = 1,
    Decimal = 2,
    Delimiter = 3,
    Round = 4,
    Sign = 5,
}

impl Setting {
    /// The specifier of a number.
    #[must_use]
    pub fn of(number: u64) -> Option<Self> {
        let all = [Self::Advance, Self::Decimal, Self::Delimiter, Self::Round, Self::Sign];
        all.into_iter().find(|setting| *setting as u64 == number)
    }
}

/// Specifiers whose value is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Number {
    Record = 1,
    Position = 2,
}

impl Number {
    /// The specifier of a number.
    #[must_use]
    pub fn of(number: u64) -> Option<Self> {
        [Self::Record, Self::Position].into_iter().find(|one| *one as u64 == number)
    }
}

/// The largest rank of an array.
pub const RANKS: usize = 15;

/// How a program ends: the second word of [`Operation::FortranEnd`](crate::Operation::FortranEnd).
pub mod end {
    /// `stop` with a number, which is the first word.
    pub const STOP: u64 = 0;
    /// `stop` with the text.
    pub const STOP_TEXT: u64 = 1;
    /// `call exit`.
    pub const EXIT: u64 = 2;
    /// `call abort`.
    pub const ABORT: u64 = 3;
    /// An error that the program's own code has found: a message, a null byte and the file. The
    /// first word is the line.
    pub const ERROR: u64 = 4;
    /// Of `stop`: it is `error stop`.
    pub const IS_ERROR: u64 = 1 << 8;
    /// Of `stop`: it says nothing.
    pub const IS_QUIET: u64 = 1 << 9;
}
