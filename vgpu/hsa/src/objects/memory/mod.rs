//! Memory that programs allocate, and what is known of it beyond what device memory knows itself.

pub mod access;
pub mod locked;

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use gangway_device_memory::{AllocationKind, Error, Request};

use crate::abi::pointer::Opaque;
use crate::abi::{Result, Status};
use crate::objects::agent::region::Region;
use crate::objects::agent::{self, Agent};
use crate::objects::process::report::report;

/// What is called when memory is freed (`hsa_amd_deallocation_callback_t`).
pub type Freed = extern "C" fn(Opaque, Opaque);

/// An allocation of a program's.
#[derive(Clone, Debug)]
pub struct Allocation {
    pub address: u64,
    pub size: u64,
    pub region: Region,
    /// The agents that may access it, one bit each.
    pub accessible: u64,
    pub user_data: u64,
    freed: Vec<(Freed, Opaque)>,
}

static ALLOCATIONS: RwLock<BTreeMap<u64, Allocation>> = RwLock::new(BTreeMap::new());

fn read() -> std::sync::RwLockReadGuard<'static, BTreeMap<u64, Allocation>> {
    ALLOCATIONS.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> std::sync::RwLockWriteGuard<'static, BTreeMap<u64, Allocation>> {
    ALLOCATIONS.write().unwrap_or_else(PoisonError::into_inner)
}

/// The status for what device memory refuses.
#[must_use]
pub fn status(error: &Error) -> Status {
    match error {
        Error::NotAnAllocation { .. } => Status::ERROR_INVALID_ALLOCATION,
        Error::BadHostRange { .. } | Error::BadAlignment(_) | Error::NotRegistered(_) => {
            Status::ERROR_INVALID_ARGUMENT
        }
        _ => Status::ERROR_OUT_OF_RESOURCES,
    }
}

/// Allocates memory of a region, by a function with this name (HSA runtime 1.2, 2.8).
pub fn allocate(region: Region, size: u64, by: &str) -> Result<u64> {
    if size == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    if !region.is_allocatable() || size > region.size() {
        return Err(Status::ERROR_INVALID_ALLOCATION);
    }
    let (device, kind) = match region.agent.device() {
        Some(device) => (device, AllocationKind::Device),
        None => (0, AllocationKind::Pinned),
    };
    let request = Request::new(device, size, kind).name(by);
    let address = agent::space()?.allocate(&request).map_err(|error| {
        report!("{by}: {error}");
        status(&error)
    })?;
    // A processor's memory is everybody's, a device's is its own.
    let accessible = if region.is_host() { u64::MAX } else { 1 | 1 << region.agent.number() };
    let allocation = Allocation { address, size, region, accessible, user_data: 0, freed: Vec::new() };
    write().insert(address, allocation);
    Ok(address)
}

/// Frees memory by its address, after its callbacks. A null pointer is none.
pub fn free(address: u64) -> Result {
    if address == 0 {
        return Ok(());
    }
    let Some(allocation) = write().remove(&address) else {
        let what = agent::space()?.describe(address);
        report!("{address:#x} is to be freed, but it is not the start of an allocation: it is {what}");
        return Err(Status::ERROR_INVALID_ALLOCATION);
    };
    for (callback, data) in allocation.freed {
        callback(Opaque::from_address(address), data);
    }
    agent::space()?.free(address).map_err(|error| status(&error))
}

/// Frees all that programs have allocated; the last `hsa_shut_down` does.
pub fn free_all() {
    let all = std::mem::take(&mut *write());
    if let Ok(space) = agent::space() {
        for address in all.into_keys() {
            // It is there: nothing else frees what this table has.
            let _ = space.free(address);
        }
    }
}

/// What a program has allocated and not freed, in words.
#[must_use]
pub fn leaks() -> Option<String> {
    let space = agent::space().ok()?;
    let found: Vec<_> = read().keys().filter_map(|&address| space.find(address)).collect();
    space.leak_report(&found)
}

/// The allocation that an address is in.
#[must_use]
pub fn find(address: u64) -> Option<Allocation> {
    let all = read();
    let (_, found) = all.range(..=address).next_back()?;
    (address - found.address < found.size).then(|| found.clone())
}

/// Changes the allocation that begins at an address.
fn change<T>(address: u64, action: impl FnOnce(&mut Allocation) -> T) -> Result<T> {
    write().get_mut(&address).map(action).ok_or(Status::ERROR_INVALID_ALLOCATION)
}

/// Lets exactly these agents access an allocation, and those that always may.
pub fn allow(address: u64, agents: &[&'static Agent]) -> Result {
    let bits = agents.iter().fold(0, |bits, agent| bits | 1 << agent.number());
    let found = find(address).ok_or(Status::ERROR_INVALID_ALLOCATION)?;
    change(found.address, |allocation| {
        let owner = allocation.region.agent.number();
        allocation.accessible = if owner == 0 { u64::MAX } else { bits | 1 | 1 << owner };
    })
}

pub fn set_user_data(address: u64, data: u64) -> Result {
    let found = find(address).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    change(found.address, |allocation| allocation.user_data = data)
}

/// Has a function called when an allocation is freed.
pub fn watch_freeing(address: u64, callback: Freed, data: Opaque) -> Result {
    change(address, |allocation| allocation.freed.push((callback, data)))
}

/// Does not have it called any more. It is not told with which data.
pub fn unwatch_freeing(address: u64, callback: Freed) -> Result {
    let found = change(address, |allocation| {
        let at = allocation.freed.iter().position(|(known, _)| std::ptr::fn_addr_eq(*known, callback));
        at.map(|at| allocation.freed.remove(at)).is_some()
    })?;
    if found { Ok(()) } else { Err(Status::ERROR_INVALID_ARGUMENT) }
}
