//! How a kernel fails, as the driver reports it.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write;

use gangway_device_memory::is_device_address;
use gangway_interpreter::FaultKind;

use crate::device::Device;

/// What sort of failure it is: decides the driver's error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `CUDA_ERROR_ILLEGAL_ADDRESS` (700)
    IllegalAddress,
    /// `CUDA_ERROR_MISALIGNED_ADDRESS` (716)
    MisalignedAddress,
    /// `CUDA_ERROR_ILLEGAL_INSTRUCTION` (715)
    IllegalInstruction,
    /// `CUDA_ERROR_INVALID_PC` (718): an indirect call or branch that goes nowhere.
    InvalidPc,
    /// `CUDA_ERROR_ASSERT` (710): `__assertfail`.
    Assert,
    /// `CUDA_ERROR_LAUNCH_FAILED` (719): `trap`, stack overflow, a deadlock.
    Failed,
    /// `CUDA_ERROR_LAUNCH_TIMEOUT` (702): the launch was told to end.
    Timeout,
    /// `CUDA_ERROR_NOT_SUPPORTED` (801)
    NotSupported,
}

/// A failure and where it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub reason: Reason,
    /// The whole report: kernel, function, instruction, block, thread, address, source position,
    /// nearest allocation. Several lines, without an end of line at the end.
    pub report: String,
    /// What it is made of, for who has a report of its own.
    pub facts: Facts,
}

/// What is known of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The kernel's symbol.
    pub kernel: String,
    /// What happened: `read of 8 bytes at 0x10, which is in no allocation`.
    pub what: String,
    /// The access, if it was one to global memory that was refused.
    pub access: Option<Access>,
    /// The same of an access to shared or local memory, whose addresses count from its beginning.
    pub own_access: Option<Access>,
    /// What the access's address is near to: `4 bytes after the 64-byte allocation at ...`.
    pub near: Option<String>,
    /// Another sentence about it.
    pub remark: Option<String>,
    /// A thread's stack is full.
    pub stack_full: bool,
    /// The function, which may be the kernel itself.
    pub function: Option<String>,
    /// The opcode, as in the source.
    pub instruction: Option<String>,
    /// File, line and column of the program's own source.
    pub source: Option<(String, u32, u32)>,
    /// `block (0, 0, 0), thread (1, 0, 0)`
    pub threads: Option<String>,
    /// The block, and the thread where it is known.
    pub block: Option<[u32; 3]>,
    pub thread: Option<[u32; 3]>,
}

/// An access to global memory that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The first byte that is wrong.
    pub address: u64,
    pub size: u64,
    pub write: bool,
    /// No device has this address.
    pub foreign: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report)
    }
}

impl std::error::Error for Fault {}

/// Where a kernel failed, as far as is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub function: Option<String>,
    /// The opcode, as in the source.
    pub instruction: Option<String>,
    /// File, line and column of the program's own source.
    pub source: Option<(String, u32, u32)>,
    pub block: Option<[u32; 3]>,
    pub threads: Threads,
    /// Bytes of shared memory that each block of the launch has.
    pub shared: Option<u64>,
}

impl Place {
    /// How much shared memory there is, where that is what the instruction's address counts from:
    /// `st.volatile.shared.u32`. A copy to shared memory has an address of another space.
    fn shared_accessed(&self) -> Option<u64> {
        let mut words = self.instruction.as_deref()?.split('.');
        let accesses = matches!(words.next(), Some("ld" | "st" | "atom" | "red"));
        let shared = words.any(|word| word == "shared" || word.starts_with("shared::"));
        self.shared.filter(|_| accesses && shared)
    }
}

/// Which threads of a block failed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Threads {
    #[default]
    Unknown,
    One([u32; 3]),
    /// One of those between the two, which are a warp.
    Among([u32; 3], [u32; 3]),
}

fn reason(kind: &FaultKind) -> Reason {
    match kind {
        FaultKind::OutOfBounds { .. } | FaultKind::BadFree { .. } => Reason::IllegalAddress,
        FaultKind::Assert(_) => Reason::Assert,
        FaultKind::Misaligned { .. } => Reason::MisalignedAddress,
        FaultKind::NotInMask(_) | FaultKind::Apart(_) | FaultKind::BadCount { .. } => {
            Reason::IllegalInstruction
        }
        FaultKind::BadTarget(_) => Reason::InvalidPc,
        FaultKind::TooLong => Reason::Timeout,
        FaultKind::Undefined(_) | FaultKind::Unsupported(_) => Reason::NotSupported,
        _ => Reason::Failed,
    }
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

impl Fault {
    /// The report of what happened in a kernel.
    pub(crate) fn new(device: &Device, kernel: &str, kind: &FaultKind, place: &Place) -> Box<Self> {
        let what = match kind {
            // The interpreter's own words name the interpreter, also where compiled code failed.
            FaultKind::Unsupported(what) => format!("'{what}' is not supported"),
            FaultKind::OutOfBounds { address, size, write: true } if device.is_constant(*address, *size) => {
                format!("write of {size} bytes at {address:#x}, in a constant, which kernels cannot write")
            }
            kind => kind.to_string(),
        };
        let mut facts = Facts { kernel: kernel.to_owned(), what, ..Facts::default() };
        if let FaultKind::OutOfBounds { address, size, write } = kind {
            match (place.shared_accessed(), device.describe_access(*address, *size)) {
                (Some(bytes), _) => {
                    let (address, size, write) = (*address, *size as u64, *write);
                    facts.own_access = Some(Access { address, size, write, foreign: false });
                    facts.remark = Some(format!(
                        "{address:#x} is an offset into shared memory, of which a block has {bytes} bytes"
                    ));
                }
                (None, Some((address, near))) => {
                    let foreign = !is_device_address(address);
                    facts.access = Some(Access { address, size: *size as u64, write: *write, foreign });
                    facts.near = Some(near);
                }
                (None, None) => {}
            }
        }
        facts.stack_full = matches!(kind, FaultKind::StackOverflow);
        facts.function.clone_from(&place.function);
        facts.instruction.clone_from(&place.instruction);
        // Line 0 is the compiler's word for an instruction that no line has asked for.
        facts.source = place.source.clone().filter(|(_, line, _)| *line != 0);
        facts.threads = place.block.map(|block| told_threads(block, place.threads));
        facts.block = place.block;
        facts.thread = match place.threads {
            Threads::One(thread) => Some(thread),
            Threads::Unknown | Threads::Among(..) => None,
        };
        Box::new(Fault { reason: reason(kind), report: facts.report(Cow::Borrowed), facts })
    }
}

fn told_threads(block: [u32; 3], threads: Threads) -> String {
    let block = format!("block {}", triple(block));
    match threads {
        Threads::Unknown => block,
        Threads::One(thread) => format!("{block}, thread {}", triple(thread)),
        Threads::Among(first, last) => {
            let (first, last) = (triple(first), triple(last));
            format!("{block}, one of the threads {first} to {last}; GANGWAY_VGPU_CHECK=memory tells which")
        }
    }
}

impl Facts {
    /// The report. `name` says how a kernel or function is called in it.
    pub fn report<'a>(&'a self, name: impl Fn(&'a str) -> Cow<'a, str>) -> String {
        let mut report = format!("kernel '{}' failed: {}", name(&self.kernel), self.what);
        // Writing to a string does not fail.
        if let (Some(near), Some(access)) = (&self.near, &self.access) {
            let _ = write!(report, "\n  address {:#x} is {near}", access.address);
        }
        if let Some(remark) = &self.remark {
            let _ = write!(report, "\n  {remark}");
        }
        if let Some(function) = &self.function {
            let _ = write!(report, "\n  in function '{}'", name(function));
            if let Some(instruction) = &self.instruction {
                let _ = write!(report, ", instruction {instruction}");
            }
        }
        if let Some((file, line, column)) = &self.source {
            let _ = write!(report, "\n  at {file}:{line}");
            if *column != 0 {
                let _ = write!(report, ":{column}");
            }
        }
        if let Some(threads) = &self.threads {
            let _ = write!(report, "\n  {threads}");
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_shared_memory_are_known_by_the_instruction() {
        let accessed = |instruction: &str| {
            let instruction = Some(instruction.to_owned());
            Place { instruction, shared: Some(96), ..Place::default() }.shared_accessed()
        };
        for shared in ["st.volatile.shared.b32", "ld.shared::cta.v2.u64", "atom.shared.add.u32"] {
            assert_eq!(accessed(shared), Some(96), "{shared}");
        }
        for other in ["st.global.b32", "ld.u32", "cp.async.ca.shared.global", "cvta.shared.u64"] {
            assert_eq!(accessed(other), None, "{other}");
        }
        assert_eq!(Place::default().shared_accessed(), None);
    }
}
