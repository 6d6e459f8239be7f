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

use crate::memory::StreamMemory;
use gangway_backend::{Error, Result, VisibleMemory};
use std::ptr::NonNull;

/// Slots of a block: the tables of several hundred launches.
const SLOTS: usize = 8 << 10;

/// The tables of a stream.
#[derive(Debug, Default)]
pub struct Tables {
    blocks: Vec<Block>,
    /// The block with free slots, and how many of it are used.
    current: usize,
    used: usize,
    /// Tables written so far.
    written: u64,
}

#[derive(Debug)]
struct Block {
    place: Place,
    slots: usize,
}

#[derive(Debug)]
enum Place {
    Pinned(VisibleMemory),
    Device(u64),
}

impl Tables {
    /// Writes a table; answers where the device sees it. The caller holds the stream's lock
    /// until the kernel is in the stream.
    ///
    /// # Errors
    /// There is no memory for it, or the driver fails.
    pub fn write<M: StreamMemory>(&mut self, memory: &M, arguments: &[u64]) -> Result<u64> {
        if arguments.is_empty() {
            return Ok(0);
        }
        while self.blocks.get(self.current).is_some_and(|block| block.slots - self.used < arguments.len()) {
            (self.current, self.used) = (self.current + 1, 0);
        }
        if self.current == self.blocks.len() {
            self.blocks.push(Block::allocate(memory, arguments.len().max(SLOTS))?);
        }
        let address = self.blocks[self.current].write(memory, self.used, arguments)?;
        self.used += arguments.len();
        self.written += 1;
        Ok(address)
    }

    /// How many tables have been written: their kernels are in the stream.
    #[must_use]
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

    /// Gives the memory back.
    ///
    /// # Safety
    /// The stream is idle.
    ///
    /// # Errors
    /// The driver fails; all else has been freed.
    pub unsafe fn free<M: StreamMemory>(self, memory: &M) -> Result<()> {
        let mut result = Ok(());
        for block in self.blocks {
            // All of them, whatever becomes of one.
            result = result.and(match block.place {
                // SAFETY: allocated below, and the stream is idle by the caller's promise.
                Place::Pinned(pages) => unsafe { memory.free_visible(pages) },
                Place::Device(address) => {
                    // SAFETY: as above. A failure has never been told.
                    let _ = unsafe { memory.free(address) };
                    Ok(())
                }
            });
        }
        result
    }
}

impl Block {
    fn allocate<M: StreamMemory>(memory: &M, slots: usize) -> Result<Self> {
        let bytes = slots * size_of::<u64>();
        let place = match memory.allocate_visible(bytes) {
            Ok(pages) => Place::Pinned(pages),
            Err(error @ Error::Fault { .. }) => return Err(error),
            Err(_) => Place::Device(memory.allocate(bytes)?),
        };
        Ok(Self { place, slots })
    }

    /// Writes a table into free slots; answers where the device sees it.
    #[inline]
    fn write<M: StreamMemory>(&self, memory: &M, slot: usize, arguments: &[u64]) -> Result<u64> {
        let offset = slot * size_of::<u64>();
        match &self.place {
            Place::Pinned(pages) => {
                // SAFETY: so many slots are free, and the table alone gets them.
                unsafe {
                    let slots: NonNull<u64> = pages.host.cast();
                    slots
                        .add(slot)
                        .copy_from_nonoverlapping(NonNull::from(arguments).cast(), arguments.len());
                }
                Ok((pages.device.0 + offset) as u64)
            }
            &Place::Device(address) => {
                let to = address + offset as u64;
                // SAFETY: numbers are bytes, too.
                let bytes =
                    unsafe { std::slice::from_raw_parts(arguments.as_ptr().cast(), size_of_val(arguments)) };
                // SAFETY: so many slots are free.
                unsafe { memory.copy(to, bytes) }?;
                Ok(to)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::TestMemory;

    #[test]
    fn tables_stand_behind_each_other_until_all_are_done() {
        for unpinned in [false, true] {
            let (memory, mut tables) = (TestMemory::default(), Tables::default());
            memory.unpinned.set(unpinned);
            assert_eq!(tables.write(&memory, &[]), Ok(0));
            let first = tables.write(&memory, &[1, 2]).unwrap();
            assert_eq!(tables.write(&memory, &[3]), Ok(first + 16));
            assert_eq!([0, 8, 16].map(|at| memory.word(first + at)), [1, 2, 3]);
            // One has come since the stream was asked.
            assert!(!tables.done(1));
            assert!(tables.done(2));
            assert_eq!(tables.write(&memory, &[4]), Ok(first));
            let large = tables.write(&memory, &[5; SLOTS]).unwrap();
            assert_eq!((memory.word(large), memory.blocks(), tables.written()), (5, 2, 4));
            // SAFETY: nobody uses them.
            unsafe { tables.free(&memory) }.unwrap();
            assert_eq!(memory.blocks(), 0);
        }
    }
}
