//! Device memory for the reductions of kernels: the launch environment with its counters,
//! and a slot for each team's result.
//!
//! The kernels of a stream run one after the other, so each stream has one such memory,
//! which grows and is kept. The stock runtime allocates and frees two blocks per launch.

use crate::context::Context;
use crate::driver::types::Address;
use crate::environment::LaunchEnvironment;
use crate::symbol::allocate_now;
use gangway_backend::{Error, Result};

/// Where the slots begin, behind the launch environment; slots are aligned to it.
const SLOTS: usize = 256;

/// The memory of a stream.
#[derive(Default)]
pub(crate) struct Reductions {
    current: Option<Block>,
    /// Outgrown blocks, which earlier kernels of the stream may be using.
    outgrown: Vec<Block>,
}

struct Block {
    address: Address,
    /// Bytes of the slots.
    size: usize,
    /// What the block's first bytes are set to before each launch. It stays where it is:
    /// the driver may read it later.
    image: Box<[u8; size_of::<LaunchEnvironment>()]>,
}

impl Reductions {
    /// A launch environment with a reduction buffer of `size` bytes, whose counters will be
    /// zero at this point of the stream: its device address.
    pub fn prepare(&mut self, context: &Context, stream: usize, size: usize) -> Result<Address> {
        if self.current.as_ref().is_none_or(|block| block.size < size) {
            let block = Block::allocate(context, size)?;
            self.outgrown.extend(self.current.replace(block));
        }
        let Some(block) = &self.current else { return Err(Error::OutOfMemory { requested: size }) };
        let from = block.image.as_ptr().cast();
        let bytes = block.image.len();
        context.with("cuMemcpyHtoDAsync", |api| {
            // SAFETY: the block has room for its image, which outlives the copy.
            unsafe { (api.copy_to_device)(block.address, from, bytes, stream) }
        })?;
        Ok(block.address)
    }

    /// Gives the memory back; the stream is idle.
    pub fn free(self, context: &Context) -> Result<()> {
        let mut result = Ok(());
        for block in self.current.into_iter().chain(self.outgrown) {
            // All of them, whatever becomes of one.
            result = result.and(block.free(context));
        }
        result
    }
}

impl Block {
    fn allocate(context: &Context, size: usize) -> Result<Self> {
        let address = allocate_now(context, SLOTS + size)?;
        let environment =
            LaunchEnvironment { reduction_buffer: address + SLOTS as u64, ..LaunchEnvironment::default() };
        Ok(Self { address, size, image: Box::new(environment.bytes()) })
    }

    fn free(self, context: &Context) -> Result<()> {
        // SAFETY: allocated above, and the stream is idle.
        let code = context.code_within(|api| unsafe { (api.memory_free)(self.address) });
        if context.frees_by_itself(code) { Ok(()) } else { context.checked(code, "cuMemFree") }
    }
}
