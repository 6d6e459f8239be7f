//! What kernels have accessed, as devices tell it that note every access.

use crate::DevicePtr;

/// How a range of memory has been accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Kernels have read it, before any write. Without a number: they have read something of the range.
    Read,
    /// Kernels have written it.
    Write,
    /// Something else may have written it, as a copy.
    Change,
}

/// A range of a device's memory that has been accessed in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accessed {
    pub from: DevicePtr,
    pub size: usize,
    pub kind: AccessKind,
    /// Of the first read or the last write, which [`Device::access_place`] knows; 0 stands for none.
    ///
    /// [`Device::access_place`]: crate::Device::access_place
    pub number: u32,
}

/// What kernels have accessed of a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Those of one kind in the order of their addresses.
    pub accessed: Vec<Accessed>,
    /// How many kernels have run so far whose accesses nobody has noted.
    pub unseen: u64,
}

/// Where a kernel has accessed memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessPlace {
    pub function: String,
    pub instruction: String,
    /// File, line and column.
    pub source: Option<(String, u32, u32)>,
}
