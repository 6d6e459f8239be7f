//! Memory for the private variables of kernels.

use gangway_device_memory::{AllocationKind, Request};
use gangway_gcn_interpreter::{Packet, Scratch};

use crate::abi::{Result, Status};
use crate::objects::agent::{self, Agent};
use crate::objects::memory::status;

/// So many work-groups of a kernel are there at a time, on one thread, where it has private memory.
const GROUPS_AT_ONCE: u64 = 16;
/// The memory of a thread is at most this, or what one work-group needs.
const MOST: u64 = 1 << 30;
/// The memory of all work-groups at once is at most this. Only the pages that they touch are there.
const MOST_OF_ALL: u64 = 64 << 30;

/// What one thread needs to run work-groups of a launch. It is given back at the end.
#[derive(Debug)]
pub(super) struct Private(Scratch);

impl Private {
    pub fn new(agent: &Agent, packet: &Packet) -> Result<Self> {
        let group = packet.group_scratch();
        if group == 0 {
            return Ok(Self(Scratch::default()));
        }
        let groups: u64 = packet.groups().iter().map(|&count| u64::from(count)).product();
        let at_once = groups.min(GROUPS_AT_ONCE).min(MOST / group).max(1);
        let size = group.checked_mul(at_once).ok_or(Status::ERROR_OUT_OF_RESOURCES)?;
        let device = agent.device().ok_or(Status::ERROR_INVALID_AGENT)?;
        let request = Request::new(device, size, AllocationKind::Arena);
        let base = agent::space()?.allocate(&request).map_err(|error| status(&error))?;
        Ok(Self(Scratch { base, size }))
    }

    /// What all work-groups of a launch need, each for itself; none if that is too much.
    pub fn of_all(agent: &Agent, packet: &Packet) -> Option<Self> {
        let groups = packet.groups().iter().try_fold(1u64, |all, &count| all.checked_mul(count.into()))?;
        let size = packet.group_scratch().checked_mul(groups).filter(|size| *size <= MOST_OF_ALL)?;
        if size == 0 {
            return Some(Self(Scratch::default()));
        }
        let request = Request::new(agent.device()?, size, AllocationKind::Arena);
        let base = agent::space().ok()?.allocate(&request).ok()?;
        Some(Self(Scratch { base, size }))
    }

    pub fn scratch(&self) -> Scratch {
        self.0
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        if let (Ok(space), true) = (agent::space(), self.0.size > 0) {
            // It was allocated when this was made.
            let _ = space.free(self.0.base);
        }
    }
}
