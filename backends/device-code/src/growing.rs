//! Device memory of a stream that grows. The kernels of a stream run one after the other, so they
//! use the same block. One that is outgrown may be in use by earlier kernels: it is kept until
//! the stream is idle and everything is freed.

use crate::memory::StreamMemory;
use gangway_backend::Result;

/// The blocks of a stream, of which the last one is used.
#[derive(Debug, Default)]
pub(crate) struct Growing(Vec<Block>);

#[derive(Debug)]
struct Block {
    address: u64,
    size: usize,
}

impl Growing {
    /// The block, if it has so many bytes.
    #[inline]
    pub fn fitting(&self, size: usize) -> Option<u64> {
        self.0.last().filter(|block| block.size >= size).map(|block| block.address)
    }

    /// Replaces the block by one of so many bytes.
    pub fn grow<M: StreamMemory>(&mut self, memory: &M, size: usize) -> Result<u64> {
        let address = memory.allocate(size)?;
        self.0.push(Block { address, size });
        Ok(address)
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// The stream is idle.
    pub unsafe fn free<M: StreamMemory>(self, memory: &M) -> Result<()> {
        let mut result = Ok(());
        for Block { address, .. } in self.0 {
            // All of them, whatever becomes of one.
            // SAFETY: allocated above, and the stream is idle by the caller's promise.
            result = result.and(unsafe { memory.free(address) });
        }
        result
    }
}
