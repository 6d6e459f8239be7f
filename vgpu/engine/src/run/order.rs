//! In which order the warps of blocks run.

use crate::abi::LANES;
use crate::launch::KernelLaunch;

/// Which warps share a fiber, and in which order they run there.
#[derive(Debug)]
pub(crate) struct Order {
    /// The kernel never gives way, so the warps of a block may share a fiber.
    pub straight: bool,
    /// Of several blocks at once, the first warps of all come first: a warp has a row or some of
    /// them, which the next block goes on with.
    by_rows: bool,
}

impl Order {
    #[must_use]
    pub fn of(launch: &KernelLaunch<'_>, watched: bool) -> Self {
        // Who watches a block sees its warps beside each other.
        let straight = launch.program.is_straight(launch.kernel) && !launch.cooperative && !watched;
        let [width, height, depth] = launch.block;
        // Blocks that have shared memory would have the same.
        let shared = launch.program.describe(launch.kernel).static_shared + launch.shared;
        let by_rows = straight && shared == 0 && width <= LANES as u32 && height * depth > 1;
        Order { straight, by_rows }
    }

    /// How many of a block's warps a fiber has.
    #[must_use]
    pub fn on_a_fiber(&self, warps: usize) -> usize {
        if self.straight { warps } else { 1 }
    }

    /// How many of a fiber's warps run in one block before the same ones run in the next.
    #[must_use]
    pub fn together(&self, warps: usize) -> usize {
        if self.by_rows { 1 } else { warps }
    }
}
