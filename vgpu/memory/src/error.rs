//! Why a request for memory is refused. The driver maps each case to one of CUDA's codes.

use crate::range::range;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The range of addresses could not be reserved: nothing can be allocated in this process.
    NotReserved(String),
    /// The device's limit would be exceeded. All in bytes.
    LimitExceeded { device: u32, size: u64, used: u64, limit: u64 },
    /// The range is used up, or the kernel has no memory.
    OutOfMemory { size: u64, reason: String },
    /// An alignment that is no power of two or larger than the largest allocation.
    BadAlignment(u64),
    /// A device number of [`MAX_DEVICES`](crate::MAX_DEVICES) or above.
    NoSuchDevice(u32),
    /// What should be freed is no start of an allocation; the text says what it is.
    NotAnAllocation { address: u64, what: String },
    /// Part of the host memory is registered already.
    AlreadyRegistered { address: u64, size: u64 },
    /// The address is no start of registered host memory.
    NotRegistered(u64),
    /// An empty or overflowing range of host addresses, or one of device memory.
    BadHostRange { address: u64, size: u64 },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReserved(reason) => {
                let (base, end) = (range().base, range().base + range().size);
                write!(f, "cannot reserve the addresses {base:#x} to {end:#x} for device memory: {reason}")
            }
            Self::LimitExceeded { device, size, used, limit } => {
                write!(f, "{size} bytes on device {device}: {used} of its {limit} bytes are in use")
            }
            Self::OutOfMemory { size, reason } => write!(f, "no memory for {size} bytes: {reason}"),
            Self::BadAlignment(align) => write!(f, "memory cannot be aligned to {align} bytes"),
            Self::NoSuchDevice(device) => write!(f, "there is no device {device}"),
            Self::NotAnAllocation { address, what } => {
                write!(f, "{address:#x} is not the start of an allocation; it is {what}")
            }
            Self::AlreadyRegistered { address, size } => {
                write!(f, "{size} bytes of host memory at {address:#x}: part of it is registered already")
            }
            Self::NotRegistered(address) => write!(f, "{address:#x} is no start of registered host memory"),
            Self::BadHostRange { address, size } => {
                write!(f, "{size} bytes at {address:#x} are no host memory that could be registered")
            }
        }
    }
}

impl std::error::Error for Error {}
