//! Memory regions and pools (HSA runtime 1.2, 2.8; AMD's extension).

use super::agent::{Visitor, visit};
use super::entry::{Call, entry};
use crate::abi::handle::Handle;
use crate::abi::number::{access, agent_pool, link, region};
use crate::abi::pointer::{Opaque, Value};
use crate::abi::structure::LinkInfo;
use crate::abi::{Out, Result, Status};
use crate::objects::agent::Agent;
use crate::objects::agent::region::{ALIGNMENT, GRANULE, Region};

/// The pool of a handle: the same as a region, but for the status.
pub(super) fn pool(handle: Handle) -> Result<Region> {
    Region::get(handle).map_err(|_| Status::ERROR_INVALID_MEMORY_POOL)
}

/// Calls a function for each region that an agent can use.
#[entry]
fn hsa_agent_iterate_regions(_: &Call, agent: Handle, visitor: Visitor, data: Opaque) -> Result {
    visit(Region::visible_to(Agent::get(agent)?).map(|region| region.handle()), visitor, data)
}

/// Calls a function for each pool of an agent.
#[entry]
fn hsa_amd_agent_iterate_memory_pools(_: &Call, agent: Handle, visitor: Visitor, data: Opaque) -> Result {
    visit(Region::of(Agent::get(agent)?).map(|region| region.handle()), visitor, data)
}

/// An attribute of a region.
#[entry]
fn hsa_region_get_info(_: &Call, handle: Handle, attribute: u32, value: Value) -> Result {
    let found = Region::get(handle)?;
    value.check()?;
    match attribute {
        region::ALLOC_MAX_SIZE => value.put(largest(&found)),
        // Not by the host: launches give it.
        region::ALLOC_MAX_PRIVATE_WORKGROUP_SIZE => value.put(0u32),
        region::HOST_ACCESSIBLE => value.put(found.is_allocatable()),
        region::BASE => value.put(0usize),
        region::BUS_WIDTH => value.put(4096u32),
        region::MAX_CLOCK_FREQUENCY => value.put(1000u32),
        other => common(&found, other, value),
    }
}

/// An attribute of a pool.
#[entry]
fn hsa_amd_memory_pool_get_info(_: &Call, handle: Handle, attribute: u32, value: Value) -> Result {
    let found = pool(handle)?;
    value.check()?;
    match attribute {
        region::POOL_ACCESSIBLE_BY_ALL => value.put(found.is_host()),
        region::POOL_ALLOC_MAX_SIZE => value.put(largest(&found)),
        region::POOL_LOCATION => value.put(u32::from(!found.is_host())),
        region::POOL_REC_GRANULE => value.put(if found.is_allocatable() { GRANULE } else { 0 }),
        other => common(&found, other, value),
    }
}

fn largest(found: &Region) -> usize {
    if found.is_allocatable() { found.size() as usize } else { 0 }
}

/// What regions and pools both have.
fn common(found: &Region, attribute: u32, value: Value) -> Result {
    let if_allocatable = |number| if found.is_allocatable() { number } else { 0 };
    match attribute {
        region::SEGMENT => value.put(found.segment()),
        region::GLOBAL_FLAGS => value.put(found.flags()),
        region::SIZE => value.put(found.size() as usize),
        region::RUNTIME_ALLOC_ALLOWED => value.put(found.is_allocatable()),
        region::RUNTIME_ALLOC_GRANULE => value.put(if_allocatable(GRANULE)),
        region::RUNTIME_ALLOC_ALIGNMENT => value.put(if_allocatable(ALIGNMENT)),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

/// How an agent gets to a pool.
#[entry]
fn hsa_amd_agent_memory_pool_get_info(
    _: &Call,
    agent: Handle,
    handle: Handle,
    attribute: u32,
    value: Value,
) -> Result {
    let (agent, pool) = (Agent::get(agent)?, pool(handle)?);
    value.check()?;
    let (own, group) = (pool.agent.number() == agent.number(), !pool.is_allocatable());
    match attribute {
        agent_pool::ACCESS if group => value.put(access::NEVER_ALLOWED),
        agent_pool::ACCESS if own || pool.is_host() => value.put(access::ALLOWED_BY_DEFAULT),
        agent_pool::ACCESS => value.put(access::DISALLOWED_BY_DEFAULT),
        agent_pool::NUM_LINK_HOPS => value.put(u32::from(!own)),
        agent_pool::LINK_INFO if own => Ok(()),
        agent_pool::LINK_INFO => value.put(LinkInfo {
            min_latency: 0,
            max_latency: 0,
            min_bandwidth: 0,
            max_bandwidth: 0,
            atomics_32: true,
            atomics_64: true,
            coherent: true,
            kind: link::PCIE,
            numa_distance: 20,
        }),
        _ => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

/// Whether memory of one pool can be moved to another: it cannot.
#[entry]
fn hsa_amd_memory_pool_can_migrate(_: &Call, from: Handle, to: Handle, result: Out<bool>) -> Result {
    let _ = (pool(from)?, pool(to)?);
    result.put(false)
}

/// How coherent an agent's fine-grained memory is: completely.
#[entry]
fn hsa_amd_coherency_get_type(_: &Call, agent: Handle, kind: Out<u32>) -> Result {
    Agent::get(agent)?;
    kind.put(0)
}

/// Only old processors could change it; others take the call, as ROCm does.
#[entry]
fn hsa_amd_coherency_set_type(_: &Call, agent: Handle, kind: u32) -> Result {
    Agent::get(agent)?;
    if kind > 1 { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(()) }
}
