//! How many teams and threads a launch of a kernel of GCC's gets. Pure arithmetic, called by
//! every launch.

use crate::launch::{Asked, DeviceLimits, Geometry, Wishes};
use std::num::NonZeroU32;

/// Threads, each a warp, of a team that nobody has said anything about, as in libgomp.
const DEFAULT_WARPS: u32 = 8;

/// Warps in a team: GCC's device libraries have room for so many.
const WARPS_IN_TEAM: u32 = 32;

/// What a kernel for OpenMP can have, worked out once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarpBounds {
    warp: u32,
    /// Warps of a team.
    warps: u32,
    /// Teams at most.
    teams: u32,
}

impl WarpBounds {
    /// The bounds of a kernel whose code can run with `function_threads` threads.
    #[must_use]
    pub fn new(function_threads: u32, device: &DeviceLimits) -> Self {
        let threads = device.threads.min(function_threads.max(1));
        let warps = (threads / device.warp).clamp(1, WARPS_IN_TEAM);
        Self { warp: device.warp, warps, teams: device.teams }
    }

    /// The shape of a launch of a kernel for OpenMP: a thread of OpenMP is a warp, whose lanes
    /// are those of `simd`. A launch never gets more teams than the device can run at once:
    /// GCC's code makes several rounds where it has been asked for more.
    pub fn geometry(
        &self,
        asked: &Asked,
        wishes: &Wishes,
        teams_at_once: impl FnOnce(u32) -> u32,
    ) -> Geometry {
        let most = self.warps;
        let wished = |wish: Option<NonZeroU32>, most: u32| wish.map_or(most, |wish| wish.get().min(most));
        let warps = match asked.threads[0] {
            0 => wished(wishes.thread_limit, DEFAULT_WARPS).min(most),
            limit => limit.min(most),
        };
        let room = teams_at_once(self.warp * warps).clamp(1, self.teams);
        let teams = match asked.teams[0] {
            0 => wished(wishes.num_teams, room),
            teams => teams.min(room),
        };
        Geometry { teams: [teams, 1, 1], threads: [self.warp, warps, 1] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: DeviceLimits = DeviceLimits::CARD;

    fn shape(function_threads: u32, teams: u32, threads: u32, wishes: &Wishes) -> (u32, u32) {
        let asked = Asked { teams: [teams, 1, 1], threads: [threads, 1, 1], trip_count: 0 };
        let geometry = WarpBounds::new(function_threads, &DEVICE).geometry(&asked, wishes, |threads| {
            assert_eq!(threads % 32, 0);
            1000
        });
        assert_eq!((&geometry.teams[1..], geometry.threads[0], geometry.threads[2]), (&[1, 1][..], 32, 1));
        (geometry.teams[0], geometry.threads[1])
    }

    #[test]
    fn threads_are_warps_and_teams_run_at_once() {
        let open = Wishes::default();
        assert_eq!(shape(1024, 0, 0, &open), (1000, 8));
        assert_eq!(shape(1024, 7, 4, &open), (7, 4));
        assert_eq!(shape(1024, 5000, 99, &open), (1000, 32));
        // A kernel with many registers has fewer.
        assert_eq!(shape(100, 0, 0, &open), (1000, 3));
        assert_eq!(shape(0, 0, 0, &open), (1000, 1));
        let few = Wishes { num_teams: NonZeroU32::new(3), thread_limit: NonZeroU32::new(2), ..open };
        assert_eq!((shape(1024, 0, 0, &few), shape(1024, 9, 9, &few)), ((3, 2), (9, 9)));
    }
}
