//! What is wrong with a file, at the line of the user's.

use std::fmt;
use std::path::PathBuf;

/// What one file's translation ends with when it fails: the first thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The user's source, at a line.
    Source { file: PathBuf, line: usize, message: String },
    /// What clang says of the source, in its own form.
    Clang(String),
    /// libclang is missing or unfit.
    Library(String),
    /// A file cannot be read.
    File(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source { file, line, message } => {
                write!(f, "{}:{line}: error: {message}", file.display())
            }
            Self::Clang(text) | Self::Library(text) | Self::File(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

/// What is wrong, with its place in the file that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The byte that it is about.
    pub at: usize,
    pub message: String,
}

impl Complaint {
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}
