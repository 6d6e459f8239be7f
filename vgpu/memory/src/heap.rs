//! The device's heap: `malloc` and `free` of device code.
//!
//! Its memory is one allocation. What is known about its blocks is kept outside of it. So a kernel
//! that writes past a block spoils other blocks and never the heap itself.

use std::sync::Arc;

use crate::blocks::{Block, Blocks};
use crate::error::Error;
use crate::records::AllocationKind;
use crate::reserve::PAGE;
use crate::space::{Request, Space};
use crate::{filled, poison, shadow};

/// Memory that kernels allocate from. Dropping it frees all of it.
#[derive(Debug)]
pub struct DeviceHeap {
    space: &'static Space,
    blocks: Arc<Blocks>,
}

impl DeviceHeap {
    /// Takes `size` bytes of a device's memory, rounded up to whole pages.
    pub fn new(space: &'static Space, device: u32, size: u64) -> Result<Arc<Self>, Error> {
        let none = || Error::OutOfMemory { size, reason: "no heap is that large".to_owned() };
        let size = size.checked_next_multiple_of(PAGE).filter(|size| size / PAGE < u64::from(u32::MAX));
        let size = size.ok_or_else(none)?;
        let base =
            space.allocate(&Request::new(device, size, AllocationKind::Heap).align(PAGE).name("malloc"))?;
        let blocks = Arc::new(Blocks::new(device, base, size));
        space.add_heap(&blocks);
        Ok(Arc::new(Self { space, blocks }))
    }

    /// A block, aligned to 16 bytes; `None` when there is no room. A block of 0 bytes
    /// has an address of its own.
    #[must_use]
    pub fn malloc(&self, size: u64) -> Option<u64> {
        let address = self.blocks.take(size)?;
        if self.space.poisons() {
            // SAFETY: the block is inside the heap's memory, and nothing knows of it yet.
            unsafe { filled::fill(address, size, poison::PATTERN) };
        }
        shadow::undefine(address, size);
        Some(address)
    }

    /// Frees a block. A null pointer is fine.
    pub fn free(&self, address: u64) -> Result<(), Error> {
        if address == 0 || self.blocks.give(address, || self.space.note_freed()) {
            return Ok(());
        }
        Err(Error::NotAnAllocation { address, what: self.space.describe(address) })
    }

    /// Where it begins and how long it is.
    #[must_use]
    pub fn range(&self) -> (u64, u64) {
        self.blocks.range()
    }

    /// Bytes that kernels have allocated and not freed.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.blocks.used()
    }

    /// The blocks that are not freed, in order of addresses.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        self.blocks.blocks()
    }
}

impl Drop for DeviceHeap {
    fn drop(&mut self) {
        // It can only fail if the memory has been freed already, which is then gone as wanted.
        let (base, _) = self.range();
        let _ = self.space.free(base);
    }
}
