//! Device memory as the interpreter sees it, and the windows of generic addresses.

use std::collections::BTreeMap;

use crate::fault::Kind;

/// Global and constant memory. The interpreter runs one lane at a time, so an atomic
/// operation is a read and a write; it is not atomic towards other users of the memory.
pub trait Memory {
    /// Fills `bytes` from `address`, or fails when an allocation does not cover it all.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Kind>;

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Kind>;

    /// New memory, zero-filled, for a module's variables.
    fn allocate(&mut self, size: u64, align: u64) -> Result<u64, Kind>;
}

/// Where windows of generic addresses begin: shared memory, the block's own; local memory and
/// parameters, the lane's own; and what a function's address counts from.
pub(crate) use gangway_device_memory::{FUNCTIONS, LOCAL_WINDOW, SHARED_WINDOW};
/// The length of the first two.
pub const WINDOW: u64 = gangway_device_memory::LOCAL_SIZE;

/// Separate allocations with a gap after each, checked to the byte.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    allocations: BTreeMap<u64, Vec<u8>>,
    next: u64,
}

impl Flat {
    pub fn new() -> Flat {
        Flat { allocations: BTreeMap::new(), next: 0x10_0000 }
    }

    fn find(&self, address: u64, size: usize, write: bool) -> Result<(u64, usize), Kind> {
        let outside = Kind::OutOfBounds { address, size, write };
        let Some((&start, bytes)) = self.allocations.range(..=address).next_back() else {
            return Err(outside);
        };
        let offset = (address - start) as usize;
        let fits = offset.checked_add(size).is_some_and(|end| end <= bytes.len());
        if fits { Ok((start, offset)) } else { Err(outside) }
    }
}

impl Memory for Flat {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Kind> {
        let (start, offset) = self.find(address, bytes.len(), false)?;
        bytes.copy_from_slice(&self.allocations[&start][offset..offset + bytes.len()]);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Kind> {
        let (start, offset) = self.find(address, bytes.len(), true)?;
        let allocation = self.allocations.get_mut(&start).expect("it was just found");
        allocation[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn allocate(&mut self, size: u64, align: u64) -> Result<u64, Kind> {
        const GAP: u64 = 256;
        let too_large = || Kind::Launch(format!("{size} bytes are too many"));
        let length = usize::try_from(size).ok().filter(|&length| length <= 1 << 32).ok_or_else(too_large)?;
        let start = self.next.next_multiple_of(align.max(256));
        self.next = start + size + GAP;
        self.allocations.insert(start, vec![0; length]);
        Ok(start)
    }
}
