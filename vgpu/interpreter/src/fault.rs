//! How a kernel fails.

use std::fmt;

use crate::exchange::LANES;

/// Why it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// No allocation covers all of the access.
    OutOfBounds { address: u64, size: usize, write: bool },
    /// The address is no multiple of the access's size.
    Misaligned { address: u64, size: usize },
    /// `trap` was executed.
    Trap,
    /// An assertion of the program failed: place and condition.
    Assert(String),
    /// `free` of what is no block of the device's heap.
    BadFree { address: u64, what: String },
    /// The lanes that are left wait for each other for ever.
    Deadlock,
    /// Calls and local variables need more than the stack holds.
    StackOverflow,
    /// An indirect call or branch goes nowhere.
    BadTarget(u64),
    /// An indirect call's prototype and the function that it gets to differ in what is passed.
    BadPrototype { function: String, takes: String, returns: String },
    /// A barrier is for so many threads, which is no multiple of a warp, or more than the block has
    /// in whole warps.
    BadCount { count: u32, threads: u32 },
    /// A lane executes a `.sync` instruction whose mask it is not part of.
    NotInMask(u32),
    /// These lanes of a warp execute an instruction that is for all of it, and others do not.
    Apart(u32),
    /// The launch has run as many instructions as it may.
    TooLong,
    /// A function or variable is only declared in the module.
    Undefined(String),
    /// The interpreter has no such instruction.
    Unsupported(String),
    /// The launch itself is wrong.
    Launch(String),
}

/// A failure and where it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub function: String,
    /// The opcode, as in the source.
    pub instruction: String,
    pub block: [u32; 3],
    pub thread: [u32; 3],
    /// File, line and column of the program's own source, where `.loc` tells them.
    pub source: Option<(String, u32, u32)>,
}

/// For how many threads a barrier is: all of the block where no count is given, or zero.
///
/// # Errors
/// A count that the threads of a block, which come in whole warps, can never make up.
pub fn barrier_count(count: Option<u32>, block: u32) -> Result<Option<u32>, FaultKind> {
    let threads = block.next_multiple_of(LANES as u32);
    match count {
        None | Some(0) => Ok(None),
        Some(count) if count.is_multiple_of(LANES as u32) && count <= threads => Ok(Some(count)),
        Some(count) => Err(FaultKind::BadCount { count, threads }),
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::OutOfBounds { address, size, write } => {
                let what = if *write { "write" } else { "read" };
                write!(f, "{what} of {size} bytes at {address:#x}, which is in no allocation")
            }
            FaultKind::Misaligned { address, size } => {
                write!(f, "access of {size} bytes at {address:#x} is misaligned")
            }
            FaultKind::Trap => f.write_str("trap"),
            FaultKind::Assert(what) => f.write_str(what),
            FaultKind::BadFree { address, what } => write!(f, "free of {address:#x}, which is {what}"),
            FaultKind::Deadlock => f.write_str("all threads of the block wait for each other"),
            FaultKind::StackOverflow => f.write_str("the stack is full"),
            FaultKind::BadTarget(target) => write!(f, "{target:#x} is no target of this call or branch"),
            FaultKind::BadPrototype { function, takes, returns } => {
                write!(
                    f,
                    "the prototype of the call is not that of '{function}', which takes ({takes}) and returns ({returns})"
                )
            }
            FaultKind::BadCount { count, threads } => {
                write!(
                    f,
                    "a barrier for {count} threads; in this block it has to be a multiple of 32 up to {threads}"
                )
            }
            FaultKind::Apart(lanes) => {
                write!(f, "the instruction is for a whole warp, and only the lanes {lanes:#010x} execute it")
            }
            FaultKind::NotInMask(mask) => write!(f, "the lane is not in its own member mask {mask:#010x}"),
            FaultKind::TooLong => f.write_str("the limit of instructions is reached"),
            FaultKind::Undefined(name) => write!(f, "'{name}' is declared and not defined"),
            FaultKind::Unsupported(what) => write!(f, "'{what}' is not supported by the interpreter"),
            FaultKind::Launch(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(f, "{} in '{}', {}", self.kind, self.function, self.instruction)?;
        write!(f, ", block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})")?;
        match &self.source {
            Some((file, line, column)) => write!(f, ", {file}:{line}:{column}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}
