//! Device memory in the place of group memory that a kernel cannot have
//! (`dyn_groupprivate(fallback(default_mem): ...)`): a part for each team, and the launch environment that
//! says where. Each stream has one such memory, which is kept.

use super::environment::{LaunchEnvironment, Reduction, Replacement};
use crate::growing::Growing;
use crate::memory::StreamMemory;
use gangway_backend::{Error, Result};

/// Where the teams' parts begin, behind the launch environment; and what each is aligned to.
const PARTS: usize = 256;
/// The device runtime rounds a part's size up to it (`device/gpu/src/share.rs`).
const ALIGNMENT: usize = 16;

/// The memory of a stream, which keeps it until it is idle.
#[derive(Default)]
pub struct Replacements {
    memory: Growing,
    /// What has been copied to launch environments. They stay where they are: the driver may read them later.
    #[allow(clippy::vec_box, reason = "an image keeps its address when others come")]
    images: Vec<Box<LaunchEnvironment>>,
}

impl Replacements {
    /// A launch environment for so many teams with so many bytes each: its device address. `reduction`: how
    /// the kernel reduces across teams, and its buffer.
    ///
    /// # Errors
    /// There is no memory for it, the kernel cannot have it, or the driver fails.
    pub fn prepare<M: StreamMemory>(
        &mut self,
        memory: &M,
        reduction: Option<(Reduction, u64)>,
        teams: u32,
        bytes: u32,
    ) -> Result<u64> {
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
            None => self.memory.grow(memory, size)?,
        };
        let image = Replacement { parts: address + PARTS as u64, bytes }.environment(buffer);
        let at = self.images.iter().position(|known| **known == image).unwrap_or_else(|| {
            self.images.push(Box::new(image));
            self.images.len() - 1
        });
        // SAFETY: the block has room for the image, which goes with the stream, when that is idle.
        unsafe { memory.copy_kept(address, &*self.images[at]) }?;
        Ok(address)
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// The stream is idle.
    ///
    /// # Errors
    /// The driver fails; all else has been freed.
    pub unsafe fn free<M: StreamMemory>(self, memory: &M) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.memory.free(memory) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::TestMemory;

    #[test]
    fn teams_have_parts_behind_the_launch_environment() {
        let (memory, mut replacements) = (TestMemory::default(), Replacements::default());
        let reduction = Some((Reduction::AtOnce(8), 77));
        let address = replacements.prepare(&memory, reduction, 3, 20).unwrap();
        assert_eq!((memory.word(address), memory.word(address + 8)), (77, address + 256));
        assert_eq!(memory.word(address + 16) >> 32, 20);
        assert_eq!(replacements.prepare(&memory, None, 6, 16), Ok(address));
        assert_eq!((memory.word(address), memory.blocks()), (0, 1));
        let refused = replacements.prepare(&memory, Some((Reduction::InTurns(8), 77)), 1, 1);
        assert!(matches!(refused, Err(Error::Unsupported { .. })));
        // SAFETY: nobody uses it.
        unsafe { replacements.free(&memory) }.unwrap();
        assert_eq!(memory.blocks(), 0);
    }
}
