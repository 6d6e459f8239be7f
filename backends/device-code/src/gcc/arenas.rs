//! Arenas: device memory with a piece for each team, from which the libraries of GCC for AMD's GPUs allocate what ends
//! with a team.
//!
//! Each stream has its own, which is kept.

use crate::growing::Growing;
use crate::memory::StreamMemory;
use gangway_backend::Result;

/// Bytes of a team's piece: as many as the device libraries of GCC 12 take for it.
const PIECE: usize = 64 << 10;

/// The arenas of a stream.
#[derive(Debug, Default)]
pub struct Arenas(Growing);

impl Arenas {
    /// Arenas for so many teams: where they are.
    ///
    /// # Errors
    /// There is no memory for them, or the driver fails.
    pub fn prepare<M: StreamMemory>(&mut self, memory: &M, teams: u32) -> Result<u64> {
        let bytes = teams as usize * PIECE;
        match self.0.fitting(bytes) {
            Some(address) => Ok(address),
            None => self.0.grow(memory, bytes),
        }
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
        unsafe { self.0.free(memory) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::TestMemory;

    #[test]
    fn arenas_are_kept_and_grow() {
        let (memory, mut arenas) = (TestMemory::default(), Arenas::default());
        let first = arenas.prepare(&memory, 4).unwrap();
        assert_eq!((arenas.prepare(&memory, 3), memory.blocks()), (Ok(first), 1));
        arenas.prepare(&memory, 5).unwrap();
        assert_eq!(memory.blocks(), 2);
        // SAFETY: nobody uses them.
        unsafe { arenas.free(&memory) }.unwrap();
        assert_eq!(memory.blocks(), 0);
    }
}
