//! The pools of each device: the one that it has from the beginning, and the one in use.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gangway_device_memory::MAX_DEVICES;

use super::Pool;
use crate::abi::{CUmemoryPool, Result, Status};
use crate::objects::device::Device;

/// The pools of a device.
struct DevicePools {
    default: OnceLock<Arc<Pool>>,
    /// What `cuMemAllocAsync` uses, if that is not the default one.
    current: Mutex<Option<CUmemoryPool>>,
}

static POOLS: [DevicePools; MAX_DEVICES] =
    [const { DevicePools { default: OnceLock::new(), current: Mutex::new(None) } }; MAX_DEVICES];

fn pools(device: &Device) -> &'static DevicePools {
    &POOLS[device.ordinal() as usize]
}

/// The pool that a device has from the beginning.
pub fn default_of(device: &Device) -> Result<Arc<Pool>> {
    let default = &pools(device).default;
    if let Some(pool) = default.get() {
        return Ok(Arc::clone(pool));
    }
    let pool = Pool::create(device.number(), 0)?;
    let used = default.get_or_init(|| Arc::clone(&pool));
    if !Arc::ptr_eq(used, &pool) {
        // Another thread was quicker.
        pool.handle.remove()?;
    }
    Ok(Arc::clone(used))
}

/// The pool that `cuMemAllocAsync` takes from. A destroyed one makes way for the default one.
pub fn current_of(device: &Device) -> Result<Arc<Pool>> {
    let current = *pools(device).current.lock().unwrap_or_else(PoisonError::into_inner);
    match current.map(|handle| handle.get()) {
        Some(Ok(pool)) => Ok(pool),
        _ => default_of(device),
    }
}

pub fn set_current(device: &Device, handle: CUmemoryPool) -> Result {
    if handle.get()?.device != device.number() {
        return Err(Status::INVALID_VALUE);
    }
    *pools(device).current.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle);
    Ok(())
}

/// `cuMemPoolDestroy`: what is allocated stays until it is freed. A default pool stays.
pub fn destroy(handle: CUmemoryPool) -> Result {
    let pool = handle.get()?;
    if Arc::ptr_eq(&default_of(Device::get(pool.device)?)?, &pool) {
        return Err(Status::INVALID_VALUE);
    }
    handle.remove()?;
    pool.retire();
    Ok(())
}
