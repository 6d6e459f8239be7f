//! Device memory for the reductions of kernels: the launch environment with its counters,
//! and a slot for each team's result.
//!
//! Each stream has one such memory, which is kept. The stock runtime allocates and frees two
//! blocks per launch.

use crate::context::Context;
use crate::driver::types::Address;
use crate::environment::LaunchEnvironment;
use crate::growing::Growing;
use gangway_backend::Result;

/// Where the slots begin, behind the launch environment; slots are aligned to it.
const SLOTS: usize = 256;

/// The first bytes of a block before each launch. They stay where they are: the driver may read
/// them later.
type Image = Box<[u8; size_of::<LaunchEnvironment>()]>;

/// The memory of a stream.
#[derive(Default)]
pub(crate) struct Reductions {
    memory: Growing,
    /// Of each block, also of those that have been outgrown.
    images: Vec<Image>,
}

impl Reductions {
    /// A launch environment with a reduction buffer of `size` bytes, whose counters will be
    /// zero at this point of the stream: its device address.
    pub fn prepare(&mut self, context: &Context, stream: usize, size: usize) -> Result<Address> {
        let address = match self.memory.fitting(SLOTS + size) {
            Some(address) => address,
            None => self.grow(context, SLOTS + size)?,
        };
        if let Some(image) = self.images.last() {
            let (from, bytes) = (image.as_ptr().cast(), image.len());
            context.with("cuMemcpyHtoDAsync", |api| {
                // SAFETY: the block has room for its image, which outlives the copy.
                unsafe { (api.copy_to_device)(address, from, bytes, stream) }
            })?;
        }
        Ok(address)
    }

    #[cold]
    fn grow(&mut self, context: &Context, size: usize) -> Result<Address> {
        let address = self.memory.grow(context, size)?;
        let environment =
            LaunchEnvironment { reduction_buffer: address + SLOTS as u64, ..LaunchEnvironment::default() };
        self.images.push(Box::new(environment.bytes()));
        Ok(address)
    }

    /// Gives the memory back; the stream is idle.
    pub fn free(self, context: &Context) -> Result<()> {
        self.memory.free(context)
    }
}
