//! Soft stacks: device memory with a stack for each warp of each team, which GCC's OpenMP
//! kernels expect.
//!
//! The kernels of a stream run one after the other, so each stream has one block, which
//! grows and is kept. Regions of several host threads overlap. A block is large: 128 KiB for
//! each warp. Where memory does not do for as many teams as the device can run, a launch gets
//! fewer of them.

use crate::context::Context;
use crate::driver::types::Address;
use crate::symbol::allocate_now;
use gangway_backend::{Error, Result};

/// Bytes of a stack, as in libgomp's plugin.
pub(crate) const STACK: usize = 128 << 10;

/// The block of a stream.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    current: Option<Block>,
    /// Outgrown blocks, which earlier kernels of the stream may be using.
    outgrown: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    address: Address,
    stacks: usize,
}

impl Stacks {
    /// Stacks for `teams` teams of `warps` warps, or of fewer teams if memory is short: where
    /// they are, and for how many teams.
    pub fn prepare(&mut self, context: &Context, teams: u32, warps: u32) -> Result<(Address, u32)> {
        let mut teams = teams.max(1);
        loop {
            let stacks = teams as usize * warps as usize;
            if let Some(block) = self.current.as_ref().filter(|block| block.stacks >= stacks) {
                return Ok((block.address, teams));
            }
            match Block::allocate(context, stacks) {
                Ok(block) => self.outgrown.extend(self.current.replace(block)),
                Err(Error::OutOfMemory { .. }) if teams > 1 => teams /= 2,
                Err(error) => return Err(error),
            }
        }
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
    fn allocate(context: &Context, stacks: usize) -> Result<Self> {
        let address = allocate_now(context, stacks * STACK)?;
        Ok(Self { address, stacks })
    }

    fn free(self, context: &Context) -> Result<()> {
        // SAFETY: allocated above, and the stream is idle.
        let code = context.code_within(|api| unsafe { (api.memory_free)(self.address) });
        if context.frees_by_itself(code) { Ok(()) } else { context.checked(code, "cuMemFree") }
    }
}
