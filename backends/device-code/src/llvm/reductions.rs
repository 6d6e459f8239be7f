//! Device memory for the reductions of kernels: the launch environment with its counters,
//! and a slot for each team's result.
//!
//! Each stream has one such memory, which is kept. The stock runtime allocates and frees two
//! blocks per launch.

use super::environment::{LaunchEnvironment, Reduction};
use crate::growing::Growing;
use crate::memory::StreamMemory;
use gangway_backend::Result;

/// Where the slots begin, behind the launch environment; slots are aligned to it.
const SLOTS: usize = 256;

/// The first bytes of a block before each launch of a kind of reduction. They stay where they are: the
/// driver may read them later.
type Image = Box<LaunchEnvironment>;

/// The memory of a stream, which keeps it until it is idle.
#[derive(Default)]
pub struct Reductions {
    memory: Growing,
    /// Of each block, also of those that have been outgrown: for reductions in turns and at once.
    images: Vec<[Image; 2]>,
}

impl Reductions {
    /// A launch environment with a buffer for so many teams, whose counters will be
    /// zero at this point of the stream: its device address.
    ///
    /// # Errors
    /// There is no memory for it, or the driver fails.
    pub fn prepare<M: StreamMemory>(&mut self, memory: &M, reduction: Reduction, teams: u32) -> Result<u64> {
        let size = reduction.buffer(teams);
        let address = match self.memory.fitting(SLOTS + size) {
            Some(address) => address,
            None => self.grow(memory, SLOTS + size)?,
        };
        if let Some([in_turns, at_once]) = self.images.last() {
            let image = match reduction {
                Reduction::InTurns(_) => in_turns,
                Reduction::AtOnce(_) => at_once,
            };
            // SAFETY: the block has room for its image, which goes with the stream, when that is idle.
            unsafe { memory.copy_kept(address, &**image) }?;
        }
        Ok(address)
    }

    /// Where the buffer is of a launch environment that [`prepare`](Self::prepare) has made.
    #[must_use]
    pub fn buffer(environment: u64) -> u64 {
        environment + SLOTS as u64
    }

    #[cold]
    fn grow<M: StreamMemory>(&mut self, memory: &M, size: usize) -> Result<u64> {
        let address = self.memory.grow(memory, size)?;
        let kinds = [Reduction::InTurns(0), Reduction::AtOnce(0)];
        self.images.push(kinds.map(|kind| Box::new(kind.environment(Self::buffer(address)))));
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
    fn launches_share_a_block_until_it_is_too_small() {
        let (memory, mut reductions) = (TestMemory::default(), Reductions::default());
        let first = reductions.prepare(&memory, Reduction::AtOnce(64), 4).unwrap();
        let buffer = Reductions::buffer(first);
        assert_eq!((buffer, memory.word(first), memory.word(first + 8)), (first + 256, buffer, 0));
        // The other kind looks for the buffer's address elsewhere.
        assert_eq!(reductions.prepare(&memory, Reduction::InTurns(256), 1000), Ok(first));
        assert_eq!((memory.word(first), memory.word(first + 8)), (0, buffer));
        let second = reductions.prepare(&memory, Reduction::AtOnce(64), 5).unwrap();
        assert_eq!((memory.word(second), memory.blocks()), (second + 256, 2));
        // SAFETY: nobody uses it.
        unsafe { reductions.free(&memory) }.unwrap();
        assert_eq!(memory.blocks(), 0);
    }
}
