//! What a launch is asked for.

use std::sync::Arc;

use crate::program::{KernelId, Program};

/// A kernel launch.
#[derive(Clone, Copy, Debug)]
pub struct KernelLaunch<'a> {
    pub program: &'a Arc<Program>,
    pub kernel: KernelId,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// As long as [`Kernel::parameter_size`](crate::Kernel::parameter_size).
    pub parameters: &'a [u8],
    /// All blocks run at once and may wait for each other.
    pub cooperative: bool,
}
