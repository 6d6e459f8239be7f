//! What is wrong with a PTX text, where, and which error the CUDA driver has for it.
//!
//! An [`Error`] holds everything its message needs, so it can outlive the text.

use std::fmt;

/// A range of bytes of the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        Span { start, end }
    }

    #[must_use]
    pub const fn to(self, other: Span) -> Self {
        Span { start: self.start, end: other.end }
    }
}

/// The driver's errors for a module that cannot be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Code {
    /// `CUDA_ERROR_INVALID_PTX`: the text is not PTX, or breaks a rule of the language.
    InvalidPtx = 218,
    /// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`: a `.version` that is newer than we know.
    UnsupportedVersion = 222,
    /// `CUDA_ERROR_NOT_SUPPORTED`: correct PTX that the virtual GPU cannot run yet.
    NotSupported = 801,
}

impl Code {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Code::InvalidPtx => "CUDA_ERROR_INVALID_PTX",
            Code::UnsupportedVersion => "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            Code::NotSupported => "CUDA_ERROR_NOT_SUPPORTED",
        }
    }
}

/// One fault of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub code: Code,
    pub message: String,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in bytes.
    pub column: u32,
    pub span: Span,
    /// The line of the source, shortened when it is very long.
    pub excerpt: String,
    /// Where the marked part begins in `excerpt`, and how long it is.
    marked: (usize, usize),
}

/// A fault as the passes note it; the text turns it into an [`Error`].
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub code: Code,
    pub span: Span,
    pub message: String,
}

impl Fault {
    #[must_use]
    pub fn invalid(span: Span, message: impl Into<String>) -> Self {
        Fault { code: Code::InvalidPtx, span, message: message.into() }
    }

    #[must_use]
    pub fn unsupported(span: Span, message: impl Into<String>) -> Self {
        Fault { code: Code::NotSupported, span, message: message.into() }
    }

    #[must_use]
    pub fn into_error(self, source: &str) -> Error {
        const SHOWN: usize = 100;
        let bytes = source.as_bytes();
        let start = (self.span.start as usize).min(bytes.len());
        let begin = bytes[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let end = bytes[start..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| start + at);
        let line = 1 + bytes[..begin].iter().filter(|&&byte| byte == b'\n').count() as u32;
        // A long line is cut so that the mark stays in view.
        let from = if start - begin > SHOWN / 2 { start - SHOWN / 2 } else { begin };
        let to = end.min(from + SHOWN);
        let shown = |range: &[u8]| String::from_utf8_lossy(range).replace(|c: char| c.is_control(), " ");
        let excerpt = shown(&bytes[from..to]);
        let marked_from = shown(&bytes[from..start.min(to)]).chars().count();
        let marked = shown(&bytes[start.min(to)..(self.span.end as usize).clamp(start.min(to), to)]);
        Error {
            code: self.code,
            message: self.message,
            line,
            column: (start - begin) as u32 + 1,
            span: self.span,
            excerpt,
            marked: (marked_from, marked.chars().count().max(1)),
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, Fault>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.code.name(), self.message)?;
        let width = self.line.to_string().len();
        writeln!(f, "{:width$}--> {}:{}", "", self.line, self.column)?;
        writeln!(f, "{:width$} |", "")?;
        writeln!(f, "{} | {}", self.line, self.excerpt)?;
        let (from, length) = self.marked;
        write!(f, "{:width$} | {:from$}{}", "", "", "^".repeat(length))
    }
}

impl std::error::Error for Error {}

/// All faults that were found in a module; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors(pub Vec<Error>);

impl Errors {
    /// The error that a driver call answers: that of the first fault.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.first().map_or(Code::InvalidPtx, |error| error.code)
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}
