//! Wrong accesses.

use std::fmt;

/// What is wrong with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No allocation is there, or it ends before the access does.
    OutOfBounds,
    /// The memory was freed.
    Freed,
    /// A kernel writes constant memory.
    ReadOnly,
    /// Host memory that is not registered.
    Host,
}

/// A wrong access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub fault: Fault,
    pub address: u64,
    pub size: u64,
    pub write: bool,
    /// What the first wrong byte is near to, as [`Space::describe`](crate::Space::describe) says it.
    pub place: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.write { "write" } else { "read" };
        let bytes = if self.size == 1 { "byte" } else { "bytes" };
        write!(f, "{what} of {} {bytes} at {:#x}", self.size, self.address)?;
        match self.fault {
            Fault::ReadOnly => write!(f, ": {}, which kernels cannot write", self.place),
            _ => write!(f, ": {}", self.place),
        }
    }
}

impl std::error::Error for Violation {}
