//! Device memory of a stream that grows. The kernels of a stream run one after the other, so they
//! use the same block. One that is outgrown may be in use by earlier kernels: it is kept until
//! the stream is idle and everything is freed.

use crate::context::Context;
use crate::driver::types::Address;
use crate::symbol::allocate_now;
use gangway_backend::Result;

/// The blocks of a stream, of which the last one is used.
#[derive(Debug, Default)]
pub(crate) struct Growing(Vec<Block>);

#[derive(Debug)]
struct Block {
    address: Address,
    size: usize,
}

impl Growing {
    /// The block, if it has so many bytes.
    pub fn fitting(&self, size: usize) -> Option<Address> {
        self.0.last().filter(|block| block.size >= size).map(|block| block.address)
    }

    /// Replaces the block by one of so many bytes.
    pub fn grow(&mut self, context: &Context, size: usize) -> Result<Address> {
        let address = allocate_now(context, size)?;
        self.0.push(Block { address, size });
        Ok(address)
    }

    /// Gives the memory back; the stream is idle.
    pub fn free(self, context: &Context) -> Result<()> {
        let mut result = Ok(());
        for Block { address, .. } in self.0 {
            // SAFETY: allocated above, and the stream is idle.
            let code = context.code_within(|api| unsafe { (api.memory_free)(address) });
            // All of them, whatever becomes of one.
            if !context.frees_by_itself(code) {
                result = result.and(context.checked(code, "cuMemFree"));
            }
        }
        result
    }
}
