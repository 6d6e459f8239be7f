//! Memory regions, which AMD's extension calls pools: one handle is both, as in ROCm.

use super::Agent;
use crate::abi::handle::Kind;
use crate::abi::number::{global, segment};
use crate::abi::{Handle, Result, Status};

/// What a region's memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Use {
    /// The host's: all agents see each other's writes at once.
    HostFine,
    /// The same for the arguments of kernels.
    HostArguments,
    /// The host's: writes are seen where kernels and copies begin and end.
    HostCoarse,
    /// A device's.
    DeviceCoarse,
    DeviceFine,
    /// LDS. Nobody allocates it but launches.
    Group,
}

const OF_PROCESSOR: [Use; 3] = [Use::HostFine, Use::HostArguments, Use::HostCoarse];
const OF_DEVICE: [Use; 3] = [Use::DeviceCoarse, Use::DeviceFine, Use::Group];

/// Bytes of LDS of a work-group.
pub const GROUP_SIZE: u64 = 64 << 10;
/// In what steps memory is given (`HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE`).
pub const GRANULE: usize = 4096;
/// How allocations are aligned at least.
pub const ALIGNMENT: usize = 256;

/// A region of an agent's.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    pub agent: &'static Agent,
    pub purpose: Use,
}

impl PartialEq for Region {
    fn eq(&self, other: &Self) -> bool {
        self.handle() == other.handle()
    }
}

impl Region {
    /// The agent's own regions: its pools.
    pub fn of(agent: &'static Agent) -> impl Iterator<Item = Self> {
        let uses = if agent.is_gpu() { OF_DEVICE } else { OF_PROCESSOR };
        uses.into_iter().map(move |purpose| Self { agent, purpose })
    }

    /// The regions that an agent can use, its own ones first (`hsa_agent_iterate_regions`). Pools
    /// that only AMD's extension knows are not among them.
    pub fn visible_to(agent: &'static Agent) -> impl Iterator<Item = Self> {
        let hosts = super::all().first().filter(|_| agent.is_gpu());
        let all = Self::of(agent).chain(hosts.into_iter().flat_map(Self::of));
        all.filter(|region| !matches!(region.purpose, Use::HostCoarse | Use::DeviceFine))
    }

    pub fn get(handle: Handle) -> Result<Self> {
        let number = handle.number(Kind::Region).ok_or(Status::ERROR_INVALID_REGION)?;
        let agent = super::all().get((number >> 8) as usize).ok_or(Status::ERROR_INVALID_REGION)?;
        let found = Self::of(agent).find(|region| region.purpose as u64 == number & 0xff);
        found.ok_or(Status::ERROR_INVALID_REGION)
    }

    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle::new(Kind::Region, u64::from(self.agent.number()) << 8 | self.purpose as u64)
    }

    #[must_use]
    pub fn segment(&self) -> u32 {
        if self.purpose == Use::Group { segment::GROUP } else { segment::GLOBAL }
    }

    #[must_use]
    pub fn flags(&self) -> u32 {
        match self.purpose {
            Use::HostFine | Use::DeviceFine => global::FINE_GRAINED,
            Use::HostArguments => global::FINE_GRAINED | global::KERNARG,
            Use::HostCoarse | Use::DeviceCoarse => global::COARSE_GRAINED,
            Use::Group => 0,
        }
    }

    #[must_use]
    pub fn size(&self) -> u64 {
        match self.purpose {
            Use::Group => GROUP_SIZE,
            Use::DeviceCoarse | Use::DeviceFine => self.agent.config().memory,
            _ => gangway_settings::host_memory(),
        }
    }

    /// Whether programs can allocate it.
    #[must_use]
    pub fn is_allocatable(&self) -> bool {
        self.purpose != Use::Group
    }

    #[must_use]
    pub fn is_host(&self) -> bool {
        !self.agent.is_gpu()
    }
}
