//! What kernels have accessed, as devices tell it that note every access.

/// Which bytes of a range kernels have accessed: a number for each byte, which [`Device::access_place`] knows; 0 stands
/// for no access.
///
/// [`Device::access_place`]: crate::Device::access_place
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// The first read of a byte that no kernel had written before.
    pub first_reads: Vec<u32>,
    /// The last write.
    pub writes: Vec<u32>,
}

/// Where a kernel has accessed memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessPlace {
    pub function: String,
    pub instruction: String,
    /// File, line and column.
    pub source: Option<(String, u32, u32)>,
}
