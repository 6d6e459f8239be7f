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
        /// What happened in the kernel, if the driver tells.
        report: Option<Box<FaultReport>>,
    },
}

/// What a driver tells of the failure of a kernel. What it does not tell is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultReport {
    /// What happened: `trap`, or the access in the driver's words.
    pub what: String,
    /// The access that was refused, if that is the failure.
    pub access: Option<Access>,
    /// What its address is near to, for the driver: `a null pointer`.
    pub near: String,
    /// Another sentence of the driver's.
    pub remark: String,
    /// The symbol of the function it happened in; empty in the kernel itself.
    pub function: String,
    /// The instruction.
    pub instruction: String,
    /// Which team, and which of its threads.
    pub threads: String,
    /// File, line and column of the program's source; column 0 if it is not known.
    pub source: Option<(String, u32, u32)>,
    /// What the runtime knows of the address: sentences in lines of their own. Back ends leave it empty.
    pub place: Vec<String>,
    /// What to do about it, a line each.
    pub help: Vec<String>,
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() && !self.what.is_empty() {
            write!(f, "\n  {}", self.what)?;
        }
        self.place.iter().try_for_each(|line| write!(f, "\n  {line}"))?;
        let mut at = Vec::new();
        if let Some((file, line, column)) = &self.source {
            at.push(if *column == 0 { format!("{file}:{line}") } else { format!("{file}:{line}:{column}") });
        }
        let mut add = |before: &str, text: &str, quote: &str| {
            if !text.is_empty() {
                at.push(format!("{before}{quote}{text}{quote}"));
            }
        };
        add("in ", &self.function, "`");
        add("instruction ", &self.instruction, "");
        add("", &self.threads, "");
        if !at.is_empty() {
            write!(f, "\n  at {}", at.join(", "))?;
        }
        if !self.remark.is_empty() {
            write!(f, "\n  {}", self.remark)?;
        }
        self.help.iter().try_for_each(|line| write!(f, "\n  help: {line}"))
    }
}

/// An access of a kernel to memory that it cannot use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The first byte that it cannot use.
    pub address: usize,
    /// Bytes of the access; 0 if the driver does not tell that, nor whether it was to write.
    pub size: usize,
    /// It was to write.
    pub write: bool,
    /// The address is no device's: a null pointer, or one of the host's.
    pub foreign: bool,
    /// The device uses the host's memory, too.
    pub unified: bool,
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
            Self::Fault { code, message, report, .. } => {
                f.write_str(message)?;
                if *code != 0 {
                    write!(f, " (error {code})")?;
                }
                report.iter().try_for_each(|report| report.fmt(f))
            }
        }
    }
}

impl std::error::Error for Error {}
