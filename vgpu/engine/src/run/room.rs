//! The memory that a launch gives its blocks and threads.

use gangway_ptx::WORD;

use super::local::{self, LOCAL_START};
use crate::device::Held;
use crate::launch::KernelLaunch;

/// How much memory there is of each kind, and what is in it from the beginning.
#[derive(Debug)]
pub(crate) struct Room {
    pub parameters: Box<[u8]>,
    pub dynamic_shared: u32,
    /// Bytes of shared memory of a block.
    pub shared: u64,
    /// How far the local memory of lanes is apart.
    pub local_stride: u64,
    /// Where the local memory of a lane begins to be used.
    pub local_start: u64,
    /// Bytes of shared memory that nothing has written when a block starts, where that matters.
    pub undefined: u64,
    /// For cooperative groups; only cooperative launches have it.
    pub workspace: Option<Held>,
}

impl Room {
    /// `stack` is how many bytes of local memory a thread has at least.
    #[must_use]
    pub fn of(launch: &KernelLaunch<'_>, stack: u64) -> Self {
        let local = launch.program.describe(launch.kernel).local;
        let shared = (launch.program.shared() + u64::from(launch.shared)).next_multiple_of(WORD);
        let init = launch.program.init().is_some();
        let own = if init { gangway_init::OWN_START } else { 0 };
        Room {
            parameters: launch.parameters.into(),
            dynamic_shared: launch.shared,
            shared,
            local_stride: local::stride(stack.max(local.into()) + own),
            local_start: own + LOCAL_START,
            undefined: if init { shared } else { 0 },
            workspace: None,
        }
    }

    /// The address of the workspace; 0 where there is none.
    #[must_use]
    pub fn workspace(&self) -> u64 {
        self.workspace.as_ref().map_or(0, |workspace| workspace.address)
    }
}
