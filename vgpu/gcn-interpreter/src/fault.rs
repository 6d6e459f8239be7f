//! How a kernel fails.

use std::fmt;

/// Why it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// No allocation covers all of the access.
    OutOfBounds { address: u64, size: usize, write: bool },
    /// An atomic operation at no multiple of its size.
    Misaligned { address: u64, size: usize },
    /// The address is beyond the work-group's LDS.
    OutsideGroup { address: u64, size: usize, limit: usize, write: bool },
    /// The address is beyond the work-item's private memory: its stack is full as a rule.
    OutsidePrivate { address: u64, size: usize, limit: usize, write: bool },
    /// `s_trap` with this number was executed. Compilers have 2 for what must not be reached.
    Trap(u8),
    /// The bytes at the program counter are no instruction.
    Illegal(String),
    /// The program counter left the code, or is no multiple of 4.
    BadTarget(u64),
    /// A register that the kernel's descriptor does not give to its waves.
    BadRegister(String),
    /// The waves that are left wait for each other for ever.
    Deadlock,
    /// The launch was told to stop.
    Stopped,
    /// The interpreter has no such instruction, or not with such operands.
    Unsupported(String),
    /// The packet, the descriptor or the scratch memory is wrong.
    Launch(String),
}

/// A failure and where it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// The address of the kernel's descriptor.
    pub kernel: u64,
    /// The address of the instruction.
    pub address: u64,
    /// From the kernel's first instruction to this one; it may be in a function before or behind it.
    pub offset: i64,
    /// LLVM's text of it; empty where there is none.
    pub instruction: String,
    pub group: [u32; 3],
    /// Its number in the work-group.
    pub wave: u32,
    /// Whose access or value it was, where it was one lane's.
    pub lane: Option<Lane>,
}

/// A lane of a wave, and the work-item that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    pub number: u8,
    pub item: [u32; 3],
}

impl fmt::Display for FaultKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = |write: bool| if write { "write" } else { "read" };
        match self {
            Self::OutOfBounds { address, size, write } => {
                write!(out, "{} of {size} bytes at {address:#x}, which is in no allocation", verb(*write))
            }
            Self::Misaligned { address, size } => {
                write!(out, "atomic access of {size} bytes at {address:#x} is misaligned")
            }
            Self::OutsideGroup { address, size, limit, write } => write!(
                out,
                "{} of {size} bytes at {address:#x} in LDS, of which the work-group has {limit} bytes",
                verb(*write)
            ),
            Self::OutsidePrivate { address, size, limit, write } => write!(
                out,
                "{} of {size} bytes at {address:#x} in private memory, of which a work-item has {limit} bytes",
                verb(*write)
            ),
            Self::Trap(number) => write!(out, "trap {number}"),
            Self::Illegal(why) => write!(out, "no instruction: {why}"),
            Self::BadTarget(target) => write!(out, "{target:#x} is no address of code"),
            Self::BadRegister(what) => out.write_str(what),
            Self::Deadlock => out.write_str("all waves of the work-group wait for each other"),
            Self::Stopped => out.write_str("the launch was stopped"),
            Self::Unsupported(what) => write!(out, "{what} is not supported by the interpreter"),
            Self::Launch(what) => out.write_str(what),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.kind)?;
        if !self.instruction.is_empty() {
            let sign = if self.offset < 0 { "-" } else { "+" };
            write!(out, ", in '{}' at kernel{sign}{:#x}", self.instruction, self.offset.unsigned_abs())?;
        }
        let [x, y, z] = self.group;
        write!(out, ", work-group ({x}, {y}, {z}), wave {}", self.wave)?;
        match self.lane {
            Some(Lane { number, item: [x, y, z] }) => {
                write!(out, ", lane {number}, work-item ({x}, {y}, {z})")
            }
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}
