//! Device memory in the place of group memory that a kernel cannot have
//! (`dyn_groupprivate(fallback(default_mem): ...)`): a part for each team, and the launch environment that
//! says where. Each stream has one such memory, which is kept.

use crate::context::Context;
use crate::driver::types::Address;
use crate::growing::Growing;
use gangway_backend::{Error, Result};
use gangway_device_code::llvm::{LaunchEnvironment, Reduction, Replacement};

/// Where the teams' parts begin, behind the launch environment; and what each is aligned to.
const PARTS: usize = 256;
/// The device runtime rounds a part's size up to it (`device/gpu/src/share.rs`).
const ALIGNMENT: usize = 16;

/// The memory of a stream.
#[derive(Default)]
pub(crate) struct Replacements {
    memory: Growing,
    /// What has been copied to launch environments. They stay where they are: the driver may read them later.
    #[allow(clippy::vec_box, reason = "an image keeps its address when others come")]
    images: Vec<Box<LaunchEnvironment>>,
}

impl Replacements {
    /// A launch environment for so many teams with so many bytes each: its device address. `reduction`: how
    /// the kernel reduces across teams, and its buffer.
    pub fn prepare(
        &mut self,
        context: &Context,
        stream: usize,
        reduction: Option<(Reduction, Address)>,
        teams: u32,
        bytes: u32,
    ) -> Result<Address> {
        let buffer = match reduction {
            None => 0,
            Some((Reduction::AtOnce(_), buffer)) => buffer,
            // Their launch environment has no room for it.
            Some((Reduction::InTurns(_), _)) => {
                let operation = "memory in the place of group memory for kernels of clang 22 and before";
                return Err(Error::Unsupported { operation });
            }
        };
        let parts = (bytes as usize).next_multiple_of(ALIGNMENT).saturating_mul(teams as usize);
        let size = PARTS.saturating_add(parts);
        let address = match self.memory.fitting(size) {
            Some(address) => address,
            None => self.memory.grow(context, size)?,
        };
        let image = Replacement { parts: address + PARTS as u64, bytes }.environment(buffer);
        let at = self.images.iter().position(|known| **known == image).unwrap_or_else(|| {
            self.images.push(Box::new(image));
            self.images.len() - 1
        });
        let (from, length) = (self.images[at].as_ptr().cast(), image.len());
        context.with("cuMemcpyHtoDAsync", |api| {
            // SAFETY: the block has room for the image, which outlives the copy.
            unsafe { (api.copy_to_device)(address, from, length, stream) }
        })?;
        Ok(address)
    }

    /// Gives the memory back; the stream is idle.
    pub fn free(self, context: &Context) -> Result<()> {
        self.memory.free(context)
    }
}
