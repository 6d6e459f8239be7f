//! Shapes of launches: what bounds them, what is asked for, and what comes out.

use std::num::NonZeroU32;

/// Threads that a team keeps when its loop is short, as in LLVM's runtime.
const THREADS_FOR_SHORT_LOOPS: u32 = 32;

/// What a device can run.
#[derive(Debug, Clone, Copy)]
pub struct DeviceLimits {
    pub warp: u32,
    /// Threads in a team.
    pub threads: u32,
    /// Teams in the first dimension.
    pub teams: u32,
    pub multiprocessors: u32,
    /// Threads of a multiprocessor that advance at the same time, and not one warp after the other.
    pub threads_at_once: u32,
}

#[cfg(test)]
impl DeviceLimits {
    /// A card, as tests of geometries have it.
    pub const CARD: Self =
        Self { warp: 32, threads: 1024, teams: i32::MAX as u32, multiprocessors: 132, threads_at_once: 128 };
}

/// What the environment says about launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wishes {
    /// Teams of a region without a `num_teams` clause, at most.
    pub num_teams: Option<NonZeroU32>,
    /// Threads per team of a region without a `thread_limit` clause, at most.
    pub thread_limit: Option<NonZeroU32>,
    /// Threads that a team keeps when a loop is too short for all teams.
    pub threads_for_short_loops: u32,
    /// Whether teams work on several parts of a long loop instead of there being more.
    pub fewer_teams_for_long_loops: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            num_teams: None,
            thread_limit: None,
            threads_for_short_loops: THREADS_FOR_SHORT_LOOPS,
            fewer_teams_for_long_loops: true,
        }
    }
}

/// What a construct asks for; 0 leaves it open.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    pub teams: [u32; 3],
    pub threads: [u32; 3],
    pub trip_count: u64,
}

/// The shape of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    pub teams: [u32; 3],
    pub threads: [u32; 3],
}

impl Geometry {
    /// What constructors of variables run with.
    pub const ONE_THREAD: Self = Self { teams: [1; 3], threads: [1; 3] };

    /// The shape of a launch all of whose dimensions are the program's own.
    #[inline]
    #[must_use]
    pub fn as_asked(asked: &Asked) -> Self {
        let at_least_one = |dimensions: [u32; 3]| dimensions.map(|size| size.max(1));
        Self { teams: at_least_one(asked.teams), threads: at_least_one(asked.threads) }
    }
}
