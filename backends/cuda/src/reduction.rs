//! Device memory for the reductions of kernels: the launch environment with its counters,
//! and a slot for each team's result.
//!
//! Each stream has one such memory, which is kept. The stock runtime allocates and frees two
//! blocks per launch.

use crate::context::Context;
use crate::driver::types::Address;
use crate::growing::Growing;
use gangway_backend::Result;
use gangway_device_code::llvm::{LaunchEnvironment, Reduction};

/// Where the slots begin, behind the launch environment; slots are aligned to it.
const SLOTS: usize = 256;

/// The first bytes of a block before each launch of a kind of reduction. They stay where they are: the
/// driver may read them later.
type Image = Box<LaunchEnvironment>;

/// The memory of a stream.
#[derive(Default)]
pub(crate) struct Reductions {
    memory: Growing,
    /// Of each block, also of those that have been outgrown: for reductions in turns and at once.
    images: Vec<[Image; 2]>,
}

impl Reductions {
    /// A launch environment with a buffer for so many teams, whose counters will be
    /// zero at this point of the stream: its device address.
    pub fn prepare(
        &mut self,
        context: &Context,
        stream: usize,
        reduction: Reduction,
        teams: u32,
    ) -> Result<Address> {
        let size = reduction.buffer(teams);
        let address = match self.memory.fitting(SLOTS + size) {
            Some(address) => address,
            None => self.grow(context, SLOTS + size)?,
        };
        if let Some([in_turns, at_once]) = self.images.last() {
            let image = match reduction {
                Reduction::InTurns(_) => in_turns,
                Reduction::AtOnce(_) => at_once,
            };
            let (from, bytes) = (image.as_ptr().cast(), image.len());
            context.with("cuMemcpyHtoDAsync", |api| {
                // SAFETY: the block has room for its image, which outlives the copy.
                unsafe { (api.copy_to_device)(address, from, bytes, stream) }
            })?;
        }
        Ok(address)
    }

    /// Where the buffer is of a launch environment that [`prepare`](Self::prepare) has made.
    pub fn buffer(environment: Address) -> Address {
        environment + SLOTS as u64
    }

    #[cold]
    fn grow(&mut self, context: &Context, size: usize) -> Result<Address> {
        let address = self.memory.grow(context, size)?;
        let kinds = [Reduction::InTurns(0), Reduction::AtOnce(0)];
        self.images.push(kinds.map(|kind| Box::new(kind.environment(Self::buffer(address)))));
        Ok(address)
    }

    /// Gives the memory back; the stream is idle.
    pub fn free(self, context: &Context) -> Result<()> {
        self.memory.free(context)
    }
}
