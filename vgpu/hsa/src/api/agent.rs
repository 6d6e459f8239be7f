//! Agents and their caches (HSA runtime 1.2, 2.3).

use super::entry::{Call, entry};
use crate::abi::handle::Handle;
use crate::abi::number::{self, amd_agent, device, feature, rounding};
use crate::abi::pointer::{Opaque, Value};
use crate::abi::structure::{ClockCounters, Dim3};
use crate::abi::{Out, Result, Status};
use crate::objects::agent::cache::{self, Cache};
use crate::objects::agent::info::{self, CACHELINE, DEVICE_CLOCK, GROUP_LIMIT};
use crate::objects::agent::isa::Isa;
use crate::objects::agent::{self, Agent};
use crate::objects::process::clock;

/// What a caller's function says to a thing of a list.
pub(super) type Visitor<T = Handle> = Option<extern "C" fn(T, Opaque) -> Status>;

/// Calls a function for each thing, until it answers something else than success.
pub(super) fn visit<T>(things: impl Iterator<Item = T>, visitor: Visitor<T>, data: Opaque) -> Result {
    let visitor = visitor.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    // No lock is held: the list is a copy where it can change.
    things.into_iter().try_for_each(|thing| visitor(thing, data).result())
}

/// Calls a function for each agent.
#[entry]
fn hsa_iterate_agents(_: &Call, visitor: Visitor, data: Opaque) -> Result {
    visit(agent::all().iter().map(Agent::handle), visitor, data)
}

/// An attribute of an agent.
#[entry]
fn hsa_agent_get_info(_: &Call, agent: Handle, attribute: u32, value: Value) -> Result {
    let agent = Agent::get(agent)?;
    value.check()?;
    if attribute >= amd_agent::CHIP_ID {
        amd_info(agent, attribute, value)
    } else {
        info(agent, attribute, value)
    }
}

fn info(agent: &Agent, attribute: u32, value: Value) -> Result {
    use number::agent::*;
    let gpu = agent.is_gpu();
    let only_gpu = |number: u32| if gpu { number } else { 0 };
    match attribute {
        NAME => value.put_field::<64>(&agent.name()),
        VENDOR_NAME => value.put_field::<64>(if gpu { "AMD" } else { "CPU" }),
        FEATURE => value.put(only_gpu(feature::KERNEL_DISPATCH)),
        MACHINE_MODEL => value.put(1u32),
        // AMD's GPUs are of the base profile, as they do not see all of the host's memory.
        PROFILE => value.put(u32::from(!gpu || agent::shares_host())),
        DEFAULT_FLOAT_ROUNDING_MODE => value.put(rounding::NEAR),
        BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES => value.put(only_gpu(1 << rounding::NEAR)),
        FAST_F16_OPERATION => value.put(gpu),
        WAVEFRONT_SIZE => value.put(only_gpu(info::WAVEFRONT_SIZE)),
        WORKGROUP_MAX_DIM => value.put([only_gpu(GROUP_LIMIT) as u16; 3]),
        WORKGROUP_MAX_SIZE => value.put(only_gpu(GROUP_LIMIT)),
        GRID_MAX_DIM => {
            let most = only_gpu(u32::MAX);
            value.put(Dim3 { x: most, y: most, z: most })
        }
        GRID_MAX_SIZE => value.put(only_gpu(u32::MAX)),
        FBARRIER_MAX_SIZE => value.put(only_gpu(32)),
        QUEUES_MAX => value.put(only_gpu(info::QUEUES_MAX)),
        QUEUE_MIN_SIZE => value.put(only_gpu(info::QUEUE_MIN_SIZE)),
        QUEUE_MAX_SIZE => value.put(only_gpu(info::QUEUE_MAX_SIZE)),
        QUEUE_TYPE => value.put(number::queue::MULTI),
        NODE => value.put(agent.number()),
        DEVICE => value.put(if gpu { device::GPU } else { device::CPU }),
        CACHE_SIZE => {
            let mut sizes = [0u32; 4];
            sizes.iter_mut().zip(cache::sizes(agent)).for_each(|(place, &size)| *place = size);
            value.put(sizes)
        }
        ISA if gpu => value.put(Isa::of(agent.config()).handle()),
        ISA => value.put(Handle::NULL),
        EXTENSIONS => value.put([0u8; 128]),
        VERSION_MAJOR | VERSION_MINOR => value.put(1u16),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

fn amd_info(agent: &'static Agent, attribute: u32, value: Value) -> Result {
    use amd_agent::*;
    let gpu = agent.is_gpu();
    let only_gpu = |number: u32| if gpu { number } else { 0 };
    let processor = agent.config().processor;
    match attribute {
        CHIP_ID => value.put(only_gpu(info::chip(processor))),
        CACHELINE_SIZE => value.put(CACHELINE),
        COMPUTE_UNIT_COUNT | COOPERATIVE_COMPUTE_UNIT_COUNT => value.put(agent.units()),
        // MHz; nothing is as fast as any clock here.
        MAX_CLOCK_FREQUENCY | MEMORY_MAX_FREQUENCY => value.put(1000u32),
        DRIVER_NODE_ID | DRIVER_UID => value.put(agent.number()),
        MAX_ADDRESS_WATCH_POINTS => value.put(0u32),
        BDFID => value.put(only_gpu(agent.bdf())),
        MEMORY_WIDTH => value.put(only_gpu(4096)),
        PRODUCT_NAME => value.put_field::<64>(&agent.product()),
        MAX_WAVES_PER_CU => value.put(only_gpu(info::waves_per_unit(processor))),
        NUM_SIMDS_PER_CU => value.put(only_gpu(4)),
        NUM_SHADER_ENGINES | NUM_SHADER_ARRAYS_PER_SE | NUM_XCC => value.put(only_gpu(1)),
        // No cache stands between the host and a device's memory.
        HDP_FLUSH => value.put([0u64; 2]),
        DOMAIN | ASIC_REVISION | ASIC_FAMILY_ID | UCODE_VERSION | SDMA_UCODE_VERSION => value.put(0u32),
        COOPERATIVE_QUEUES => value.put(false),
        UUID => value.put_field::<21>(&agent.uuid()),
        SVM_DIRECT_HOST_ACCESS => value.put(gpu),
        MEMORY_AVAIL => match agent.device() {
            Some(device) => value.put(agent::space()?.available(device).unwrap_or(0)),
            None => Err(Status::ERROR_INVALID_ARGUMENT),
        },
        TIMESTAMP_FREQUENCY => value.put(if gpu { DEVICE_CLOCK } else { clock::FREQUENCY }),
        NUM_SDMA_ENG => value.put(only_gpu(2)),
        NUM_SDMA_XGMI_ENG | IOMMU_SUPPORT => value.put(0u32),
        NEAREST_CPU => value.put(agent::processor()?.handle()),
        MEMORY_PROPERTIES | AQL_EXTENSIONS => value.put([0u8; 8]),
        SCRATCH_LIMIT_MAX | SCRATCH_LIMIT_CURRENT => value.put(if gpu { agent.config().memory } else { 0 }),
        CLOCK_COUNTERS => {
            let now = clock::now();
            let gpu = now / (clock::FREQUENCY / DEVICE_CLOCK);
            value.put(ClockCounters { gpu, cpu: now, system: now, frequency: clock::FREQUENCY })
        }
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

/// How exceptions of an agent's kernels can be handled: there are no policies to choose.
#[entry]
fn hsa_agent_get_exception_policies(_: &Call, agent: Handle, profile: u32, mask: Out<u16>) -> Result {
    Agent::get(agent)?;
    mask.check()?;
    if profile > number::profile::FULL {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    mask.put(0)
}

/// Calls a function for each cache of an agent.
#[entry]
fn hsa_agent_iterate_caches(_: &Call, agent: Handle, visitor: Visitor, data: Opaque) -> Result {
    visit(Cache::all(Agent::get(agent)?).map(Cache::handle), visitor, data)
}

/// An attribute of a cache.
#[entry]
fn hsa_cache_get_info(_: &Call, cache: Handle, attribute: u32, value: Value) -> Result {
    let cache = Cache::get(cache)?;
    value.check()?;
    match attribute {
        number::cache::NAME_LENGTH => value.put(cache.name().len() as u32),
        number::cache::NAME => value.put_bytes(format!("{}\0", cache.name()).as_bytes()),
        number::cache::LEVEL => value.put(cache.level),
        number::cache::SIZE => value.put(cache.size),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}
