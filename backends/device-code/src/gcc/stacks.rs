//! Soft stacks: device memory with a stack for each warp of each team, which GCC's OpenMP
//! kernels expect.
//!
//! Each stream has its own, which are kept, so that regions of several host threads overlap. They
//! are large: 128 KiB for each warp that the device can run at once, which is as much as libgomp's
//! plugin has for the whole device. 132 multiprocessors with 64 warps each make 1.1 GB. So the
//! stacks of a stream have at most a sixteenth of the device's memory. Where that, or what is
//! free, does not do for as many teams as the device can run, a launch gets fewer of them.

use crate::growing::Growing;
use crate::memory::StreamMemory;
use gangway_backend::{Error, Result};

/// Bytes of a stack, as in libgomp's plugin.
pub const STACK: usize = 128 << 10;

/// The part of a device's memory that the stacks of a stream have at most.
const SHARE: usize = 16;

/// The stacks of a stream.
#[derive(Debug, Default)]
pub struct Stacks(Growing);

impl Stacks {
    /// Stacks for `teams` teams of `warps` warps on a device with so much memory, or for as many
    /// teams as there is room for: where they are, and for how many teams.
    ///
    /// # Errors
    /// There is no memory for one team, or the driver fails.
    pub fn prepare<M: StreamMemory>(
        &mut self,
        memory: &M,
        device_memory: usize,
        teams: u32,
        warps: u32,
    ) -> Result<(u64, u32)> {
        // What is there has been granted before.
        if let Some(address) = self.0.fitting(teams as usize * warps as usize * STACK) {
            return Ok((address, teams));
        }
        let mut teams = most_teams(device_memory, warps).min(teams).max(1);
        loop {
            let bytes = teams as usize * warps as usize * STACK;
            if let Some(address) = self.0.fitting(bytes) {
                return Ok((address, teams));
            }
            match self.0.grow(memory, bytes) {
                Ok(address) => return Ok((address, teams)),
                Err(Error::OutOfMemory { .. }) if teams > 1 => teams /= 2,
                Err(error) => return Err(error),
            }
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

/// How many teams of so many warps have stacks in a device's memory.
fn most_teams(memory: usize, warps: u32) -> u32 {
    let team = warps.max(1) as usize * STACK;
    u32::try_from(memory / SHARE / team).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::TestMemory;

    #[test]
    fn stacks_take_a_part_of_the_memory() {
        // A large device runs all the teams that it can, a small one fewer.
        assert!(most_teams(80 << 30, 8) > 132 * 8);
        assert_eq!(most_teams(8 << 30, 8), 512);
        assert_eq!(most_teams(1 << 20, 8), 0);
    }

    #[test]
    fn short_memory_makes_teams_fewer() {
        let (memory, mut stacks) = (TestMemory::default(), Stacks::default());
        let room = |teams: usize| memory.room.set(Some(teams * 2 * STACK));
        room(7);
        let (first, teams) = stacks.prepare(&memory, 80 << 30, 16, 2).unwrap();
        assert_eq!(teams, 4);
        assert_eq!(stacks.prepare(&memory, 80 << 30, 3, 2), Ok((first, 3)));
        // Where there is none for more, what is there does for fewer.
        room(0);
        assert_eq!(stacks.prepare(&memory, 80 << 30, 8, 2), Ok((first, 4)));
        let refused = Stacks::default().prepare(&memory, 80 << 30, 8, 2);
        assert!(matches!(refused, Err(Error::OutOfMemory { .. })));
        // SAFETY: nobody uses them.
        unsafe { stacks.free(&memory) }.unwrap();
        assert_eq!(memory.blocks(), 0);
    }
}
