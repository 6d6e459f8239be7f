//! Tables of arguments for GCC's kernels, which get a pointer to one: in pinned memory of the
//! host that the device sees.
//!
//! A launch writes its table with plain stores, so it allocates nothing and copies nothing.
//! Tables stand one behind the other. When everything in the stream is done, the memory is
//! used again from its beginning. It grows if a program launches more without ever waiting.
//!
//! The parameters of the kernel would hold a table, too. But GCC's code follows a generic pointer,
//! and only `cvta.param` makes one to a parameter: PTX 7.7, for `sm_70` and later. GCC 12 writes
//! older PTX for older devices, so each entry would need a wrapper of ours, and older cards this
//! memory still. Besides, parameters end at 4 KiB, which is 512 items.

use crate::context::Context;
use crate::driver::types::Address;
use crate::memory;
use gangway_backend::{Result, VisibleMemory};
use std::ptr::NonNull;

/// Slots of a block: the tables of several hundred launches.
const SLOTS: usize = 8 << 10;

/// The tables of a stream.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    blocks: Vec<Block>,
    /// The block with free slots, and how many of it are used.
    current: usize,
    used: usize,
    /// Tables written so far.
    written: u64,
}

#[derive(Debug)]
struct Block {
    memory: VisibleMemory,
    slots: usize,
}

impl Tables {
    /// Writes a table; answers where the device sees it. The caller holds the stream's lock
    /// until the kernel is in the stream.
    pub fn write(&mut self, context: &Context, arguments: &[u64]) -> Result<Address> {
        if arguments.is_empty() {
            return Ok(0);
        }
        while self.blocks.get(self.current).is_some_and(|block| block.slots - self.used < arguments.len()) {
            (self.current, self.used) = (self.current + 1, 0);
        }
        if self.current == self.blocks.len() {
            self.blocks.push(Block::allocate(context, arguments.len().max(SLOTS))?);
        }
        let block = &self.blocks[self.current];
        // SAFETY: so many slots are free, and the table alone gets them.
        unsafe {
            let slots: NonNull<u64> = block.memory.host.cast();
            slots.add(self.used).copy_from_nonoverlapping(NonNull::from(arguments).cast(), arguments.len());
        }
        let address = block.memory.device.0 + self.used * size_of::<u64>();
        self.used += arguments.len();
        self.written += 1;
        Ok(address as Address)
    }

    /// How many tables have been written: their kernels are in the stream.
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// The kernels of so many tables are done. Answers whether there are no others: the
    /// memory is used again from its beginning.
    pub const fn done(&mut self, tables: u64) -> bool {
        if tables == self.written {
            (self.current, self.used) = (0, 0);
        }
        tables == self.written
    }

    /// Gives the memory back; the stream is idle.
    pub fn free(self, context: &Context) -> Result<()> {
        let mut result = Ok(());
        for block in self.blocks {
            // All of them, whatever becomes of one.
            // SAFETY: allocated below, and the stream is idle.
            result = result.and(unsafe { memory::free_visible(context, block.memory) });
        }
        result
    }
}

impl Block {
    fn allocate(context: &Context, slots: usize) -> Result<Self> {
        Ok(Self { memory: memory::allocate_visible(context, slots * size_of::<u64>())?, slots })
    }
}
