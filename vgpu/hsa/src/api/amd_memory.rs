//! Memory pools, locked host memory, access (AMD's extension).

use super::entry::{Call, entry};
use super::region::pool;
use crate::abi::handle::Handle;
use crate::abi::pointer::Opaque;
use crate::abi::{List, Out, Result, Status};
use crate::objects::agent::Agent;
use crate::objects::memory::{self, Freed, access, locked};

/// `HSA_AMD_MEMORY_POOL_PCIE_FLAG` and its kin: how memory is to be placed, which makes no difference here.
const FLAGS: u32 = 0xff;

/// Allocates memory of a pool.
#[entry]
fn hsa_amd_memory_pool_allocate(
    call: &Call,
    handle: Handle,
    size: usize,
    flags: u32,
    pointer: Out<Opaque>,
) -> Result {
    pointer.check()?;
    if size == 0 || flags & !FLAGS != 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    pointer.put(Opaque::from_address(memory::allocate(pool(handle)?, size as u64, call.name())?))
}

/// Frees memory of a pool.
#[entry]
fn hsa_amd_memory_pool_free(_: &Call, pointer: Opaque) -> Result {
    memory::free(pointer.address())
}

fn agents(list: List<Handle>, count: u32) -> Result<Vec<&'static Agent>> {
    list.get(count as usize)?.into_iter().map(Agent::get).collect()
}

/// Lets exactly these agents access an allocation, and its owner.
#[entry]
fn hsa_amd_agents_allow_access(
    _: &Call,
    count: u32,
    list: List<Handle>,
    flags: *const u32,
    pointer: Opaque,
) -> Result {
    if count == 0 || list.is_null() || !flags.is_null() || pointer.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    memory::allow(pointer.address(), &agents(list, count)?)
}

/// Locks host memory: kernels use it at its own address.
#[entry]
fn hsa_amd_memory_lock(
    _: &Call,
    host: Opaque,
    size: usize,
    list: List<Handle>,
    count: i32,
    pointer: Out<Opaque>,
) -> Result {
    lock(host, size, list, count, pointer)
}

/// The same, with the properties of a pool of the processor's.
#[entry]
fn hsa_amd_memory_lock_to_pool(
    _: &Call,
    host: Opaque,
    size: usize,
    list: List<Handle>,
    count: i32,
    handle: Handle,
    flags: u32,
    pointer: Out<Opaque>,
) -> Result {
    if !pool(handle)?.is_host() || flags != 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    lock(host, size, list, count, pointer)
}

fn lock(host: Opaque, size: usize, list: List<Handle>, count: i32, pointer: Out<Opaque>) -> Result {
    pointer.check()?;
    let count = u32::try_from(count).map_err(|_| Status::ERROR_INVALID_ARGUMENT)?;
    if host.is_null() || size == 0 || list.is_null() != (count == 0) {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    agents(list, count)?;
    locked::lock(host.address(), size as u64)?;
    pointer.put(host)
}

/// Takes a lock back.
#[entry]
fn hsa_amd_memory_unlock(_: &Call, host: Opaque) -> Result {
    if host.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    locked::unlock(host.address())
}

/// Fills memory with words.
#[entry]
fn hsa_amd_memory_fill(call: &Call, pointer: Opaque, value: u32, count: usize) -> Result {
    if pointer.is_null() || !pointer.address().is_multiple_of(4) {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    access::fill(pointer.address(), value, count as u64, call.name())
}

/// Has a function called when memory is freed.
#[entry]
fn hsa_amd_register_deallocation_callback(
    _: &Call,
    pointer: Opaque,
    callback: Option<Freed>,
    data: Opaque,
) -> Result {
    let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    memory::watch_freeing(pointer.address(), callback, data)
}

/// Does not have it called any more.
#[entry]
fn hsa_amd_deregister_deallocation_callback(_: &Call, pointer: Opaque, callback: Option<Freed>) -> Result {
    let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    memory::unwatch_freeing(pointer.address(), callback).map_err(|_| Status::ERROR_INVALID_ARGUMENT)
}
