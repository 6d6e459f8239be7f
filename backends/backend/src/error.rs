//! What can go wrong below the runtime, sorted by whose fault it is.

use crate::source::SourceText;
use std::fmt;

/// Result of a back-end operation.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure reported by a back end.
///
/// The variants separate what the runtime treats differently: running out of
/// memory is reported with the device's figures, a bad image names what is wrong
/// with it, an unsupported operation makes the runtime look for another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The device has no room for `requested` bytes.
    OutOfMemory {
        /// Size of the allocation that failed, in bytes.
        requested: usize,
    },
    /// The image cannot be loaded on this device.
    InvalidImage {
        /// What was found and what was expected.
        reason: String,
    },
    /// The image has no such kernel or global.
    NoSuchSymbol {
        /// Symbol name as the compiler spelled it.
        name: String,
    },
    /// The back end does not do this.
    Unsupported {
        /// The operation, in the words of the interface.
        operation: &'static str,
    },
    /// The device or its driver failed.
    Device {
        /// The driver's own error code; 0 where it has none.
        code: i64,
        /// The driver's words.
        message: String,
    },
    /// A kernel that was launched earlier has failed, and the device cannot be used any
    /// more. Whichever operation comes next answers this, also those of other threads.
    Fault {
        /// The driver's own error code; 0 where it has none.
        code: i64,
        /// The driver's words.
        message: String,
        /// The kernels that may have been under way; one of them has failed.
        suspects: Vec<Suspect>,
        /// What it did, if the driver tells.
        access: Option<Box<Access>>,
    },
}

/// An access of a kernel to memory that it cannot use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The first byte that it cannot use.
    pub address: usize,
    /// Bytes of the access.
    pub size: usize,
    /// It was to write.
    pub write: bool,
    /// The address is no device's: a null pointer, or one of the host's.
    pub foreign: bool,
    /// What the runtime knows of the address: sentences in lines of their own. Back ends leave it empty.
    pub place: Vec<String>,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

/// A kernel that may have failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    /// Its symbol name.
    pub kernel: String,
    /// Its construct.
    pub source: SourceText,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory { requested } => {
                write!(f, "out of device memory: {requested} bytes requested")
            }
            Self::InvalidImage { reason } => write!(f, "image cannot be loaded: {reason}"),
            Self::NoSuchSymbol { name } => write!(f, "the device image has no symbol `{name}`"),
            Self::Unsupported { operation } => {
                write!(f, "this back end does not support {operation}")
            }
            Self::Device { code: 0, message } => f.write_str(message),
            Self::Device { code, message } => write!(f, "{message} (error {code})"),
            Self::Fault { code, message, access, .. } => {
                f.write_str(message)?;
                if *code != 0 {
                    write!(f, " (error {code})")?;
                }
                access.iter().try_for_each(|access| access.fmt(f))
            }
        }
    }
}

impl std::error::Error for Error {}
