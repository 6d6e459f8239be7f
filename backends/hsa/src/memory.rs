//! Memory of a device, and host memory that it reaches.

use crate::agent::Agent;
use crate::driver::types::{Handle, INVALID_ALLOCATION, OUT_OF_RESOURCES, PointerInfo, SUCCESS};
use gangway_backend::{AllocationKind, DevicePtr, Error, Result};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// Memory of one device.
#[derive(Default)]
pub(crate) struct Memory {
    /// Host memory that the device reaches by the same address: where each range ends, and whether it is locked.
    reached: Mutex<BTreeMap<usize, usize>>,
}

impl Memory {
    /// Allocates memory of a kind. What host and device share stands in the host's memory.
    pub fn allocate(&self, agent: &Agent, size: usize, kind: AllocationKind) -> Result<DevicePtr> {
        match kind {
            AllocationKind::Device => from_pool(agent, agent.pools.device, size),
            AllocationKind::Host | AllocationKind::Shared => self.allocate_host(agent, size),
        }
    }

    /// Frees what [`allocate`](Self::allocate) gave.
    ///
    /// # Safety
    /// It came from there, and is not in use.
    pub unsafe fn free(&self, agent: &Agent, pointer: DevicePtr) -> Result<()> {
        self.forget(pointer.0);
        // SAFETY: the caller's promise.
        unsafe { free(agent, pointer) }
    }

    fn allocate_host(&self, agent: &Agent, size: usize) -> Result<DevicePtr> {
        let pointer = visible(agent, agent.pools.host, size)?;
        self.add(pointer.0, size);
        Ok(pointer)
    }

    /// Locks host memory: its address on the device.
    ///
    /// # Safety
    /// The range is valid until it is unlocked.
    pub unsafe fn pin(&self, agent: &Agent, host: *mut u8, size: usize) -> Result<DevicePtr> {
        // SAFETY: the caller's promise.
        let device = unsafe { lock(agent, host, size) }?;
        if device.0 == host.addr() {
            self.add(device.0, size);
        }
        Ok(device)
    }

    /// Undoes [`pin`](Self::pin).
    ///
    /// # Safety
    /// The memory has been locked and is not in use.
    pub unsafe fn unpin(&self, agent: &Agent, host: *mut u8) -> Result<()> {
        self.forget(host.addr());
        // SAFETY: the caller's promise.
        unsafe { unlock(agent, host) }
    }

    /// Whether the device reaches so many bytes of the host at their own address.
    pub fn reaches(&self, address: usize, size: usize) -> bool {
        let reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        let range = reached.range(..=address).next_back();
        range.is_some_and(|(_, end)| address.checked_add(size).is_some_and(|last| last <= *end))
    }

    fn add(&self, begin: usize, size: usize) {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner).insert(begin, begin.saturating_add(size));
    }

    fn forget(&self, begin: usize) {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner).remove(&begin);
    }
}

/// Locks host memory for all agents: its address on them.
///
/// # Safety
/// The range is valid until it is unlocked.
pub(crate) unsafe fn lock(agent: &Agent, host: *mut u8, size: usize) -> Result<DevicePtr> {
    let mut device: *mut c_void = std::ptr::null_mut();
    // SAFETY: the caller's promise; the library writes one pointer.
    let code = unsafe {
        (agent.driver.api.memory_lock)(host.cast(), size, std::ptr::null_mut(), 0, &raw mut device)
    };
    agent.checked(code, "hsa_amd_memory_lock")?;
    Ok(DevicePtr(device.expose_provenance()))
}

/// Undoes [`lock`].
///
/// # Safety
/// The memory has been locked and is not in use.
pub(crate) unsafe fn unlock(agent: &Agent, host: *mut u8) -> Result<()> {
    // SAFETY: the caller's promise.
    agent.checked(unsafe { (agent.driver.api.memory_unlock)(host.cast()) }, "hsa_amd_memory_unlock")
}

/// Allocates memory of a pool.
pub(crate) fn from_pool(agent: &Agent, pool: Handle, size: usize) -> Result<DevicePtr> {
    let mut pointer: *mut c_void = std::ptr::null_mut();
    // SAFETY: the library writes one pointer.
    match unsafe { (agent.driver.api.pool_allocate)(pool, size, 0, &raw mut pointer) } {
        SUCCESS => Ok(DevicePtr(pointer.expose_provenance())),
        OUT_OF_RESOURCES | INVALID_ALLOCATION => Err(Error::OutOfMemory { requested: size }),
        code => Err(agent.failure(code, "hsa_amd_memory_pool_allocate")),
    }
}

/// Allocates memory of a pool of the host's, and lets the agent use it.
pub(crate) fn visible(agent: &Agent, pool: Handle, size: usize) -> Result<DevicePtr> {
    let pointer = from_pool(agent, pool, size)?;
    let address = std::ptr::with_exposed_provenance(pointer.0);
    // SAFETY: the memory has just been allocated.
    let code = unsafe { (agent.driver.api.allow_access)(1, &agent.handle, std::ptr::null(), address) };
    if code != SUCCESS {
        // SAFETY: nobody has it.
        let _ = unsafe { free(agent, pointer) };
        return Err(agent.failure(code, "hsa_amd_agents_allow_access"));
    }
    Ok(pointer)
}

/// Frees memory of a pool.
///
/// # Safety
/// It came from one, and is not in use.
pub(crate) unsafe fn free(agent: &Agent, pointer: DevicePtr) -> Result<()> {
    let address = std::ptr::with_exposed_provenance_mut(pointer.0);
    // SAFETY: the caller's promise.
    agent.checked(unsafe { (agent.driver.api.pool_free)(address) }, "hsa_amd_memory_pool_free")
}

/// Copies at once, from and to any memory. No operation that is under way uses it.
///
/// # Safety
/// Both ranges are valid.
pub(crate) unsafe fn copy(agent: &Agent, to: *mut u8, from: *const u8, size: usize) -> Result<()> {
    // SAFETY: the caller's promise.
    let code = unsafe { (agent.driver.api.memory_copy)(to.cast(), from.cast(), size) };
    agent.checked(code, "hsa_memory_copy")
}

/// Sets words at once. No operation that is under way uses them.
///
/// # Safety
/// There are so many.
pub(crate) unsafe fn fill(agent: &Agent, to: *mut u32, word: u32, count: usize) -> Result<()> {
    // SAFETY: the caller's promise.
    agent.checked(unsafe { (agent.driver.api.memory_fill)(to.cast(), word, count) }, "hsa_amd_memory_fill")
}

/// Lets two devices use the allocation that an address is in.
pub(crate) fn share(agent: &Agent, peer: Handle, address: DevicePtr) -> Result<()> {
    let base = known(agent, address).map_or(address.0, |known| known.agent_base as usize);
    let (both, base) = ([agent.handle, peer], std::ptr::with_exposed_provenance(base));
    // SAFETY: the address is one of an allocation of the library's.
    let code = unsafe { (agent.driver.api.allow_access)(2, both.as_ptr(), std::ptr::null(), base) };
    agent.checked(code, "hsa_amd_agents_allow_access")
}

/// Copies when what is under way is done, which `behind` says; `signal` says when the copy is.
///
/// # Safety
/// Both ranges are valid until then, and so are the signals.
pub(crate) unsafe fn copy_behind(
    agent: &Agent,
    to: *mut u8,
    from: *const u8,
    size: usize,
    to_agent: Handle,
    behind: &[Handle],
    signal: Handle,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let code = unsafe {
        (agent.driver.api.memory_copy_async)(
            to.cast(),
            to_agent,
            from.cast(),
            agent.handle,
            size,
            behind.len() as u32,
            behind.as_ptr(),
            signal,
        )
    };
    agent.checked(code, "hsa_amd_memory_async_copy")
}

/// What the library knows of an address.
fn known(agent: &Agent, address: DevicePtr) -> Option<PointerInfo> {
    let mut known = PointerInfo { size: size_of::<PointerInfo>() as u32, ..PointerInfo::default() };
    let pointer = std::ptr::with_exposed_provenance(address.0);
    // SAFETY: the library writes as many bytes as the structure says it has, and no list of agents.
    let code = unsafe {
        let ask = agent.driver.api.pointer_info;
        ask(pointer, &raw mut known, std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut())
    };
    (code == SUCCESS && known.kind != 0).then_some(known)
}

/// Whether so many bytes at an address are in an allocation that the agent's kernels use.
pub(crate) fn is_known(agent: &Agent, address: DevicePtr, size: usize) -> bool {
    let Some(known) = known(agent, address) else { return false };
    let inside = |begin: u64| {
        let offset = (address.0 as u64).checked_sub(begin);
        offset.is_some_and(|offset| offset.saturating_add(size as u64) <= known.bytes as u64)
    };
    inside(known.agent_base) || inside(known.host_base)
}
