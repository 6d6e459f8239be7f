//! The one error of this crate.

use std::borrow::Cow;
use std::fmt;

/// Why a code object cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Something reaches beyond the end of what it is in.
    Truncated { what: &'static str, offset: u64, size: u64 },
    /// The image contradicts its format.
    Malformed { what: &'static str, found: Cow<'static, str>, expected: &'static str },
    /// A version or a kind of image that this crate does not read.
    Unsupported { what: &'static str, found: Cow<'static, str>, expected: &'static str },
    /// Something that must be there is not.
    Missing { what: &'static str, name: String },
    /// A kernel's metadata, descriptor and code do not fit together.
    Kernel { kernel: String, what: Cow<'static, str> },
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn malformed(
        what: &'static str,
        found: impl Into<Cow<'static, str>>,
        expected: &'static str,
    ) -> Self {
        Self::Malformed { what, found: found.into(), expected }
    }

    pub(crate) fn unsupported(
        what: &'static str,
        found: impl Into<Cow<'static, str>>,
        expected: &'static str,
    ) -> Self {
        Self::Unsupported { what, found: found.into(), expected }
    }

    pub(crate) fn missing(what: &'static str, name: impl Into<String>) -> Self {
        Self::Missing { what, name: name.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { what, offset, size } => {
                write!(out, "truncated: {what} at {offset:#x} takes {size} bytes, which are not there")
            }
            Self::Malformed { what, found, expected } => {
                write!(out, "corrupt: {what} is {found}, expected {expected}")
            }
            Self::Unsupported { what, found, expected } => {
                write!(out, "not supported: {what} is {found}; Gangway reads {expected}")
            }
            Self::Missing { what, name } if name.is_empty() => write!(out, "corrupt: there is no {what}"),
            Self::Missing { what, name } => write!(out, "corrupt: there is no {what} {name}"),
            Self::Kernel { kernel, what } => write!(out, "corrupt: kernel {kernel}: {what}"),
        }
    }
}

impl std::error::Error for Error {}
