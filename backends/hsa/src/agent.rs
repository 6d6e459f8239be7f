//! One GPU: calls of the library on its behalf, its memory pools, what it is.

use crate::driver::types::{
    AgentInfo, Code, Handle, PoolInfo, SEGMENT_GLOBAL, SEGMENT_GROUP, SUCCESS, pool_flag,
};
use crate::driver::{Driver, visited};
use gangway_backend::{Error, Result};

/// An agent that runs kernels.
pub(crate) struct Agent {
    pub driver: &'static Driver,
    pub handle: Handle,
    pub pools: Pools,
    pub properties: Properties,
}

/// Where memory comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pools {
    /// The device's own.
    pub device: Handle,
    /// The host's: what one side writes the other sees.
    pub host: Handle,
    /// The host's, for the arguments of kernels.
    pub arguments: Handle,
}

/// What gfx9 has, where the library does not say it.
const GROUP_SIZE: u32 = 1024;
const WAVES: u32 = 40;
const SIMDS: u32 = 4;
const TICK_RATE: u64 = 100_000_000;

/// Vector registers that the waves of a unit share, for each lane; processors that have matrix registers among
/// them have more.
const REGISTERS: u32 = 256;
const UNIFIED_REGISTERS: u32 = 512;
const UNIFIED: [&str; 3] = ["gfx90a", "gfx942", "gfx950"];

/// What a device is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Properties {
    /// `gfx90a`
    pub processor: String,
    pub product: String,
    pub vendor: String,
    pub unique_id: String,
    pub compute_units: u32,
    /// Megahertz.
    pub clock: u32,
    /// Bytes.
    pub memory: usize,
    /// Bytes that a work-group can share.
    pub group_memory: usize,
    /// Work-items of a work-group, at most.
    pub group_size: u32,
    /// Waves of a compute unit, at most, and units of it that run them.
    waves: u32,
    simds: u32,
    /// Packets that a queue has room for, at most.
    pub queue_size: u32,
    /// Ticks per second of the clock that kernels read.
    pub tick_rate: u64,
}

impl Agent {
    /// The GPU of a number.
    ///
    /// # Errors
    /// It lacks a pool, or what the library says.
    pub fn open(driver: &'static Driver, ordinal: usize) -> Result<Self> {
        let handle = driver.gpus.get(ordinal).copied().unwrap_or_default();
        let mut agent = Self {
            driver,
            handle,
            pools: Pools { device: handle, host: handle, arguments: handle },
            properties: Properties::default(),
        };
        let (own, hosts) = (agent.pools_of(handle)?, agent.pools_of(driver.host)?);
        let find = |pools: &[Pool], flag: u32, what: &str| {
            let found = pools.iter().find(|pool| pool.is_usable() && pool.flags & flag != 0);
            found.map(|pool| pool.handle).ok_or_else(|| Error::Device {
                code: 0,
                message: format!("the HSA runtime has no memory pool {what}"),
            })
        };
        agent.pools = Pools {
            device: find(&own, pool_flag::COARSE_GRAINED, "of the device's memory")?,
            host: find(&hosts, pool_flag::FINE_GRAINED, "of the host's memory")?,
            arguments: find(&hosts, pool_flag::KERNEL_ARGUMENTS, "for the arguments of kernels")?,
        };
        agent.properties = Properties::of(driver, handle, &own);
        Ok(agent)
    }

    fn pools_of(&self, agent: Handle) -> Result<Vec<Pool>> {
        let found = visited(|visit, data| {
            // SAFETY: the library calls the function with the data.
            unsafe { (self.driver.api.iterate_pools)(agent, visit, data) }
        });
        let found = found.map_err(|code| self.failure(code, "hsa_amd_agent_iterate_memory_pools"))?;
        Ok(found.into_iter().map(|handle| Pool::of(self.driver, handle)).collect())
    }

    /// Turns a status into a result.
    #[inline]
    pub fn checked(&self, code: Code, operation: &'static str) -> Result<()> {
        if code == SUCCESS { Ok(()) } else { Err(self.failure(code, operation)) }
    }

    /// The error for a status that is not success.
    #[cold]
    pub fn failure(&self, code: Code, operation: &'static str) -> Error {
        Error::Device { code: code.into(), message: format!("{operation}: {}", self.driver.describe(code)) }
    }

    /// Bytes of its memory that are free; 0 if that is not known.
    pub fn free_memory(&self) -> usize {
        let free = self.driver.agent_value::<u64>(self.handle, AgentInfo::MemoryAvailable);
        free.unwrap_or(0) as usize
    }
}

/// A pool, as the library describes it.
struct Pool {
    handle: Handle,
    segment: u32,
    flags: u32,
    size: usize,
    is_allowed: bool,
}

impl Pool {
    fn of(driver: &Driver, handle: Handle) -> Self {
        Self {
            handle,
            segment: pool_value(driver, handle, PoolInfo::Segment),
            flags: pool_value(driver, handle, PoolInfo::GlobalFlags),
            size: pool_value(driver, handle, PoolInfo::Size),
            is_allowed: pool_value::<u8>(driver, handle, PoolInfo::AllocationAllowed) != 0,
        }
    }

    fn is_usable(&self) -> bool {
        self.segment == SEGMENT_GLOBAL && self.is_allowed
    }
}

/// A number that describes a pool; 0 if the library does not know the question.
fn pool_value<T: Copy + Default>(driver: &Driver, pool: Handle, attribute: PoolInfo) -> T {
    let mut value = T::default();
    // SAFETY: the attribute's value has the caller's type, see `hsa_ext_amd.h`.
    let code = unsafe { (driver.api.pool_get_info)(pool, attribute as u32, (&raw mut value).cast()) };
    if code == SUCCESS { value } else { T::default() }
}

impl Properties {
    fn of(driver: &Driver, agent: Handle, pools: &[Pool]) -> Self {
        let size = |segment: u32| {
            pools.iter().filter(|pool| pool.segment == segment).map(|pool| pool.size).max().unwrap_or(0)
        };
        Self {
            processor: driver.agent_text(agent, AgentInfo::Name),
            product: driver.agent_text(agent, AgentInfo::ProductName),
            vendor: driver.agent_text(agent, AgentInfo::VendorName),
            unique_id: driver.agent_text(agent, AgentInfo::Uuid),
            compute_units: driver.agent_value(agent, AgentInfo::ComputeUnits).unwrap_or(1).max(1),
            clock: driver.agent_value(agent, AgentInfo::ClockFrequency).unwrap_or(0),
            memory: size(SEGMENT_GLOBAL),
            group_memory: size(SEGMENT_GROUP),
            group_size: driver.agent_value(agent, AgentInfo::WorkgroupMaxSize).unwrap_or(GROUP_SIZE).max(1),
            waves: driver.agent_value(agent, AgentInfo::MaxWaves).unwrap_or(WAVES).max(1),
            simds: driver.agent_value(agent, AgentInfo::Simds).unwrap_or(SIMDS).max(1),
            tick_rate: driver.agent_value(agent, AgentInfo::TimestampFrequency).unwrap_or(TICK_RATE),
            queue_size: driver.agent_value(agent, AgentInfo::QueueMaxSize).unwrap_or(64).max(64),
        }
    }

    /// Whether matrix registers are among the vector registers, which are then given out by eights.
    pub fn has_unified_registers(&self) -> bool {
        UNIFIED.contains(&&*self.processor)
    }

    /// Waves with so many vector registers that a compute unit runs at the same time.
    pub fn waves_at_once(&self, registers: u32) -> u32 {
        let there = if self.has_unified_registers() { UNIFIED_REGISTERS } else { REGISTERS };
        let by_registers = (there / registers.max(1)).max(1).saturating_mul(self.simds);
        by_registers.min(self.waves)
    }

    /// Waves that the device runs at the same time, at most.
    pub fn parallelism(&self) -> u32 {
        self.waves.saturating_mul(self.compute_units)
    }

    /// Lines for `gangway info`.
    pub fn describe(&self, driver: &Driver) -> Vec<(String, String)> {
        let (major, minor) = driver.version();
        let lines = [
            ("name", self.product.clone()),
            ("vendor", self.vendor.clone()),
            ("processor", self.processor.clone()),
            ("memory", format!("{} MiB", self.memory >> 20)),
            ("memory of a work-group", format!("{} KiB", self.group_memory >> 10)),
            ("compute units", self.compute_units.to_string()),
            ("clock", format!("{} MHz", self.clock)),
            ("unique id", self.unique_id.clone()),
            ("driver", format!("HSA {major}.{minor}")),
        ];
        lines.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
