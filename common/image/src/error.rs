//! The one error of this crate: what is wrong, where, and what was expected.

use std::borrow::Cow;
use std::fmt;

/// Why an input cannot be read. Offsets count from the start of the slice given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Something reaches beyond the end of the input.
    Truncated { what: &'static str, offset: u64, size: u64, length: u64 },
    /// The input contradicts its format.
    Malformed { what: &'static str, offset: u64, expected: &'static str, found: Cow<'static, str> },
    /// The input is in a format, or a version of one, that this crate does not read.
    Unsupported { what: &'static str, offset: u64, expected: &'static str, found: Cow<'static, str> },
    /// The input does not start like any known format.
    Unrecognised { start: [u8; 8], length: u64 },
}

impl Error {
    pub(crate) fn malformed(
        what: &'static str,
        offset: u64,
        expected: &'static str,
        found: impl Into<Cow<'static, str>>,
    ) -> Error {
        Error::Malformed { what, offset, expected, found: found.into() }
    }

    /// The same error for a slice that starts at `base` of a larger one.
    #[must_use]
    pub fn moved_by(mut self, base: u64) -> Error {
        match &mut self {
            Error::Truncated { offset, length, .. } => {
                *offset = offset.saturating_add(base);
                *length = length.saturating_add(base);
            }
            Error::Malformed { offset, .. } | Error::Unsupported { offset, .. } => {
                *offset = offset.saturating_add(base);
            }
            Error::Unrecognised { .. } => {}
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Truncated { what, offset, size, length } => write!(
                out,
                "truncated: {what} at offset {offset:#x} takes {size} bytes, but the data ends at {length:#x}"
            ),
            Error::Malformed { what, offset, expected, found } => {
                write!(out, "corrupt: {what} at offset {offset:#x} is {found}, expected {expected}")
            }
            Error::Unsupported { what, offset, expected, found } => {
                write!(
                    out,
                    "not supported: {what} at offset {offset:#x} is {found}; Gangway reads {expected}"
                )
            }
            Error::Unrecognised { length: 0, .. } => write!(out, "empty: there is no image at all"),
            Error::Unrecognised { start, length } => {
                write!(out, "not recognised: {length} bytes that start with")?;
                let shown = start.len().min(usize::try_from(*length).unwrap_or(usize::MAX));
                for byte in &start[..shown] {
                    write!(out, " {byte:02x}")?;
                }
                write!(out, ", which is no ELF, PTX, LLVM bitcode, SPIR-V, CUDA fat binary or offload binary")
            }
        }
    }
}

impl std::error::Error for Error {}

pub(crate) type Result<T> = std::result::Result<T, Error>;
