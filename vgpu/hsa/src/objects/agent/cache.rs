//! Caches of agents, as `hsa_agent_iterate_caches` tells them. Nothing behaves as if they were there.

use super::Agent;
use crate::abi::handle::Kind;
use crate::abi::{Handle, Result, Status};

/// A cache: the agent's number, and the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    agent: &'static str,
    pub level: u8,
    /// In bytes.
    pub size: u32,
    number: u64,
}

/// Sizes of the caches of a GPU and of the processor, from level 1.
const GPU: [u32; 2] = [16 << 10, 8 << 20];
const PROCESSOR: [u32; 3] = [32 << 10, 1 << 20, 32 << 20];

/// The sizes of an agent's caches.
#[must_use]
pub fn sizes(agent: &Agent) -> &'static [u32] {
    if agent.is_gpu() { &GPU } else { &PROCESSOR }
}

impl Cache {
    /// The caches of an agent.
    pub fn all(agent: &Agent) -> impl Iterator<Item = Self> + use<> {
        let (number, kind) = (u64::from(agent.number()), if agent.is_gpu() { "GPU" } else { "CPU" });
        let cache = move |(at, &size): (usize, &u32)| Self {
            agent: kind,
            level: at as u8 + 1,
            size,
            number: number << 8 | at as u64,
        };
        sizes(agent).iter().enumerate().map(cache)
    }

    pub fn get(handle: Handle) -> Result<Self> {
        let number = handle.number(Kind::Cache).ok_or(Status::ERROR_INVALID_CACHE)?;
        let agent = super::all().get((number >> 8) as usize).ok_or(Status::ERROR_INVALID_CACHE)?;
        Self::all(agent).nth((number & 0xff) as usize).ok_or(Status::ERROR_INVALID_CACHE)
    }

    #[must_use]
    pub fn handle(self) -> Handle {
        Handle::new(Kind::Cache, self.number)
    }

    #[must_use]
    pub fn name(self) -> String {
        format!("{} L{}", self.agent, self.level)
    }
}
