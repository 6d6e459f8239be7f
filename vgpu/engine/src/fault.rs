//! How a kernel fails, as the driver reports it.

use std::fmt;

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
    /// The whole report: kernel, function, instruction, block, thread, address, source position, nearest
    /// allocation. Several lines, without an end of line at the end.
    pub report: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report)
    }
}

impl std::error::Error for Fault {}
