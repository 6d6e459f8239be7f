//! Allocating, copying and registering memory (HSA runtime 1.2, 2.8).

use super::entry::{Call, entry};
use crate::abi::handle::Handle;
use crate::abi::pointer::Opaque;
use crate::abi::{Out, Result, Status};
use crate::objects::agent::Agent;
use crate::objects::agent::region::Region;
use crate::objects::memory::{self, access, locked};

/// Allocates memory of a region.
#[entry]
fn hsa_memory_allocate(call: &Call, region: Handle, size: usize, pointer: Out<Opaque>) -> Result {
    let region = Region::get(region)?;
    pointer.check()?;
    pointer.put(Opaque::from_address(memory::allocate(region, size as u64, call.name())?))
}

/// Frees what `hsa_memory_allocate` or a pool has given.
#[entry]
fn hsa_memory_free(_: &Call, pointer: Opaque) -> Result {
    memory::free(pointer.address())
}

/// Copies memory; it is done when the call returns.
#[entry]
fn hsa_memory_copy(call: &Call, to: Opaque, from: Opaque, size: usize) -> Result {
    if to.is_null() || from.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    access::copy(to.address(), from.address(), size as u64, call.name())
}

/// Says that an agent is to use an allocation now. Its owner always may.
#[entry]
fn hsa_memory_assign_agent(_: &Call, pointer: Opaque, agent: Handle, access: u32) -> Result {
    Agent::get(agent)?;
    if pointer.is_null() || !(1..=3).contains(&access) {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    Ok(())
}

/// Lets kernels use host memory.
#[entry]
fn hsa_memory_register(_: &Call, pointer: Opaque, size: usize) -> Result {
    if pointer.is_null() && size == 0 {
        return Ok(());
    }
    locked::lock(pointer.address(), size as u64)
}

/// Takes a registration back; what has none is left as it is.
#[entry]
fn hsa_memory_deregister(_: &Call, pointer: Opaque, _size: usize) -> Result {
    let _ = locked::unlock(pointer.address());
    Ok(())
}
