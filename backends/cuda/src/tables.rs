//! Tables of arguments for GCC's kernels, which get a pointer to one: in pinned memory of the
//! host that the device sees.
//!
//! A launch writes its table with plain stores, so it allocates nothing and copies nothing.
//! Tables stand one behind the other. When everything in the stream is done, the memory is
//! used again from its beginning. It grows if a program launches more without ever waiting.
//!
//! What a process may pin is bounded. Where there is none left, tables stand in the device's memory,
//! and each launch copies its own behind what is in the stream.
//!
//! The parameters of the kernel would hold a table, too. But GCC's code follows a generic pointer,
//! and only `cvta.param` makes one to a parameter: PTX 7.7, for `sm_70` and later. GCC 12 writes
//! older PTX for older devices, so each entry would need a wrapper of ours, and older cards this
//! memory still. Besides, parameters end at 4 KiB, which is 512 items.

use crate::context::Context;
use crate::driver::types::{Address, Handle};
use crate::memory;
use crate::symbol;
use gangway_backend::{Error, Result, VisibleMemory};
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
    memory: Memory,
    slots: usize,
}

#[derive(Debug)]
enum Memory {
    Pinned(VisibleMemory),
    Device(Address),
}

impl Tables {
    /// Writes a table; answers where the device sees it. The caller holds the stream's lock
    /// until the kernel is in the stream.
    pub fn write(&mut self, context: &Context, stream: Handle, arguments: &[u64]) -> Result<Address> {
        if arguments.is_empty() {
            return Ok(0);
        }
        while self.blocks.get(self.current).is_some_and(|block| block.slots - self.used < arguments.len()) {
            (self.current, self.used) = (self.current + 1, 0);
        }
        if self.current == self.blocks.len() {
            self.blocks.push(Block::allocate(context, arguments.len().max(SLOTS))?);
        }
        let address = self.blocks[self.current].write(context, stream, self.used, arguments)?;
        self.used += arguments.len();
        self.written += 1;
        Ok(address)
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
            result = result.and(match block.memory {
                // SAFETY: allocated below, and the stream is idle.
                Memory::Pinned(memory) => unsafe { memory::free_visible(context, memory) },
                Memory::Device(address) => {
                    symbol::free_now(context, address);
                    Ok(())
                }
            });
        }
        result
    }
}

impl Block {
    fn allocate(context: &Context, slots: usize) -> Result<Self> {
        let bytes = slots * size_of::<u64>();
        let memory = match memory::allocate_visible(context, bytes) {
            Ok(memory) => Memory::Pinned(memory),
            Err(error @ Error::Fault { .. }) => return Err(error),
            Err(_) => Memory::Device(symbol::allocate_now(context, bytes)?),
        };
        Ok(Self { memory, slots })
    }

    /// Writes a table into free slots; answers where the device sees it.
    #[inline]
    fn write(&self, context: &Context, stream: Handle, slot: usize, arguments: &[u64]) -> Result<Address> {
        let offset = slot * size_of::<u64>();
        match &self.memory {
            Memory::Pinned(memory) => {
                // SAFETY: so many slots are free, and the table alone gets them.
                unsafe {
                    let slots: NonNull<u64> = memory.host.cast();
                    slots
                        .add(slot)
                        .copy_from_nonoverlapping(NonNull::from(arguments).cast(), arguments.len());
                }
                Ok((memory.device.0 + offset) as Address)
            }
            &Memory::Device(address) => {
                let (to, from, size) =
                    (address + offset as Address, arguments.as_ptr().cast(), size_of_val(arguments));
                // SAFETY: as above. Ordinary memory has been read when the call returns.
                context.with("cuMemcpyHtoDAsync", |api| unsafe {
                    (api.copy_to_device)(to, from, size, stream)
                })?;
                Ok(to)
            }
        }
    }
}
