//! How many teams and threads a launch of a kernel of GCC's for AMD's GPUs gets. Pure arithmetic, called by every
//! launch.
//!
//! A thread of OpenMP, and a worker of OpenACC, is a wave of 64 lanes. Teams are the first dimension of a grid, lanes
//! the second and threads the third: GCC's code asks for its numbers there. The rules are those of libgomp's plugin in
//! GCC 12.

use crate::launch::{Asked, Geometry, Wishes};
use std::num::NonZeroU32;

/// Lanes of a wave, as GCC compiles for.
pub const LANES: u32 = 64;
/// Waves of a team, for which GCC's device libraries have room.
const MOST: u32 = 16;
/// The default on a processor that stops with more (Vega 10).
const DEFAULT_ON_GFX900: u32 = 4;
/// Vector registers of a lane of each of the four units that run the waves of a work-group.
const REGISTERS: u32 = 256;
const UNITS: u32 = 4;

/// What a kernel can have, worked out once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaveBounds {
    registers: u32,
    /// Waves of a team.
    waves: u32,
    /// Waves of a team that nobody has said anything about.
    usual: u32,
}

impl WaveBounds {
    /// The bounds of a kernel whose lanes have so many vector registers, on a processor.
    #[must_use]
    pub fn new(registers: u32, processor: &str) -> Self {
        let at_once = REGISTERS / registers.next_multiple_of(UNITS).max(UNITS) * UNITS;
        let waves = at_once.clamp(1, MOST);
        let usual = if processor == "gfx900" { DEFAULT_ON_GFX900.min(waves) } else { waves };
        Self { registers, waves, usual }
    }

    /// Vector registers of a lane.
    #[must_use]
    pub const fn registers(&self) -> u32 {
        self.registers
    }

    /// Waves of a team, at most.
    #[must_use]
    pub const fn most_waves(&self) -> u32 {
        self.waves
    }

    /// Lanes of a team, at most.
    #[must_use]
    pub const fn most_lanes(&self) -> u32 {
        self.waves * LANES
    }

    /// The shape of a launch of a kernel for OpenMP, on a device with so many compute units.
    #[must_use]
    pub fn openmp(&self, asked: &Asked, wishes: &Wishes, compute_units: u32) -> Geometry {
        let least = |wish: Option<NonZeroU32>, usual: u32| wish.map_or(usual, |wish| wish.get().min(usual));
        let waves = match asked.threads[0] {
            0 => least(wishes.thread_limit, self.usual),
            limit => limit.min(self.waves),
        };
        let teams = match asked.teams[0] {
            0 => least(wishes.num_teams, compute_units),
            teams => teams,
        };
        shape(teams, waves)
    }

    /// The shape of a launch of a kernel for OpenACC: `threads` are lanes and workers.
    #[must_use]
    pub fn openacc(&self, asked: &Asked) -> Geometry {
        shape(asked.teams[0].max(1), asked.threads[1].clamp(1, self.waves))
    }
}

const fn shape(teams: u32, waves: u32) -> Geometry {
    Geometry { teams: [teams, 1, 1], threads: [1, LANES, waves] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openmp(registers: u32, processor: &str, teams: u32, threads: u32, wishes: &Wishes) -> (u32, u32) {
        let asked = Asked { teams: [teams, 1, 1], threads: [threads, 1, 1], trip_count: 0 };
        let geometry = WaveBounds::new(registers, processor).openmp(&asked, wishes, 60);
        assert_eq!(geometry.threads[..2], [1, LANES]);
        (geometry.teams[0], geometry.threads[2])
    }

    #[test]
    fn threads_are_waves_as_in_libgomp() {
        let open = Wishes::default();
        assert_eq!(openmp(64, "gfx906", 0, 0, &open), (60, 16));
        assert_eq!(openmp(64, "gfx900", 0, 0, &open), (60, 4));
        assert_eq!(openmp(64, "gfx900", 7, 99, &open), (7, 16));
        assert_eq!(openmp(64, "gfx906", 5000, 3, &open), (5000, 3));
        // With many registers fewer waves run at a time.
        assert_eq!(openmp(101, "gfx906", 0, 0, &open), (60, 8));
        assert_eq!(openmp(256, "gfx906", 0, 99, &open), (60, 4));
        assert_eq!(WaveBounds::new(512, "gfx90a").most_lanes(), 64);
        let few = Wishes { num_teams: NonZeroU32::new(3), thread_limit: NonZeroU32::new(2), ..open };
        assert_eq!(openmp(64, "gfx906", 0, 0, &few), (3, 2));
        assert_eq!(openmp(64, "gfx906", 9, 9, &few), (9, 9));
    }

    #[test]
    fn gangs_and_workers_are_the_programs() {
        let bounds = WaveBounds::new(64, "gfx900");
        let asked = |gangs, workers| Asked { teams: [gangs, 1, 1], threads: [64, workers, 1], trip_count: 0 };
        assert_eq!(bounds.openacc(&asked(9, 8)), shape(9, 8));
        assert_eq!(bounds.openacc(&asked(0, 99)), shape(1, 16));
    }
}
