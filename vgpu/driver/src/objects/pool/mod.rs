//! Memory pools: memory that is allocated and freed in the order of streams.
//!
//! An allocation has its address at once. Freeing happens in the stream's turn: then the memory goes back to the
//! system, or is kept by the pool for the next allocation of the same size as long as the pool
//! has no more than its release threshold. What a pool has belongs to the device, not to a context.

pub mod graph;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use gangway_device_memory::{Kind, MAX_DEVICES, Request};
use gangway_streams::{Failure, Outcome, Payload};

use crate::abi::status::{Result, Status};
use crate::abi::types::{CUdevice, CUmemLocation, CUmemPoolProps, CUmemoryPool};
use crate::objects::device::Device;
use crate::objects::memory;
use crate::objects::pool::graph::GraphMemory;
use crate::objects::process::report::report;
use crate::objects::stream::{StreamRef, sort};
use crate::objects::table::{Object, object};

/// `CUmemPool_attribute`
pub mod attribute {
    pub const REUSE_FOLLOW_EVENT_DEPENDENCIES: u32 = 1;
    pub const REUSE_ALLOW_INTERNAL_DEPENDENCIES: u32 = 3;
    pub const RELEASE_THRESHOLD: u32 = 4;
    pub const RESERVED_MEM_CURRENT: u32 = 5;
    pub const RESERVED_MEM_HIGH: u32 = 6;
    pub const USED_MEM_CURRENT: u32 = 7;
    pub const USED_MEM_HIGH: u32 = 8;
}

/// `CU_MEM_ALLOCATION_TYPE_PINNED`
const PINNED: u32 = 1;
/// `CU_MEM_LOCATION_TYPE_DEVICE`
pub const LOCATION_DEVICE: u32 = 1;
/// `CUmemAccess_flags`
const READ_WRITE: u32 = 3;

#[derive(Debug)]
pub struct Pool {
    pub handle: CUmemoryPool,
    pub device: CUdevice,
    state: Mutex<State>,
}

object!(Pool, 12, invalid: Status::INVALID_VALUE);

#[derive(Debug)]
struct State {
    /// Memory that is free, by size.
    kept: BTreeMap<u64, Vec<u64>>,
    /// Bytes that are allocated or kept, and the most there have been.
    reserved: u64,
    reserved_high: u64,
    /// Bytes that are allocated, and the most there have been.
    used: u64,
    used_high: u64,
    /// Bytes that may be kept.
    threshold: u64,
    /// 0 stands for no limit.
    most: u64,
    /// The three attributes that tell how memory may be used again. Hints.
    reuse: [u32; 3],
    /// Access of other devices, by their numbers.
    access: BTreeMap<CUdevice, u32>,
}

/// An allocation of a pool, or an ordinary one that a stream will free.
struct Allocation {
    pool: Option<Arc<Pool>>,
    size: u64,
    /// A stream will free it.
    freeing: bool,
}

/// All allocations of pools and the others that are being freed, by address.
static ALLOCATIONS: Mutex<Option<HashMap<u64, Allocation>>> = Mutex::new(None);

fn allocations<T>(work: impl FnOnce(&mut HashMap<u64, Allocation>) -> T) -> T {
    work(ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

impl Pool {
    /// A new pool; `most` bytes at once, 0 for no limit.
    pub fn create(device: CUdevice, most: u64) -> Result<Arc<Pool>> {
        let state = State {
            kept: BTreeMap::new(),
            reserved: 0,
            reserved_high: 0,
            used: 0,
            used_high: 0,
            threshold: 0,
            most,
            reuse: [1; 3],
            access: BTreeMap::new(),
        };
        Pool::table().insert_with(|handle| Arc::new(Pool { handle, device, state: Mutex::new(state) }))
    }

    /// The device that properties ask for. Pools are of devices, and of one process, only.
    pub fn device_of(properties: &CUmemPoolProps) -> Result<&'static Device> {
        if properties.allocation_type != PINNED || properties.location.kind != LOCATION_DEVICE {
            return Err(Status::INVALID_VALUE);
        }
        if properties.handle_types != 0 {
            report!("the virtual GPU does not support memory pools that processes share");
            return Err(Status::NOT_SUPPORTED);
        }
        Device::get(properties.location.id)
    }

    /// The properties that ask for memory of a device.
    pub fn properties(device: &Device) -> CUmemPoolProps {
        CUmemPoolProps {
            allocation_type: PINNED,
            handle_types: 0,
            location: CUmemLocation { kind: LOCATION_DEVICE, id: device.number() },
            win32_security_attributes: std::ptr::null_mut(),
            max_size: 0,
            usage: 0,
            reserved: [0; 54],
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory that operations of the stream may use from here on.
    pub fn allocate(self: &Arc<Self>, size: usize, stream: &StreamRef) -> Result<u64> {
        let size = size as u64;
        if size == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let address = match self.take(size) {
            // What streams are about to free may be enough. Whoever may not wait cannot have it.
            Err(Status::OUT_OF_MEMORY) => {
                stream.context.queues.synchronize().map_err(|_| Status::OUT_OF_MEMORY)?;
                self.take(size)?
            }
            outcome => outcome?,
        };
        let allocation = Allocation { pool: Some(Arc::clone(self)), size, freeing: false };
        allocations(|allocations| allocations.insert(address, allocation));
        Ok(address)
    }

    fn take(&self, size: u64) -> Result<u64> {
        let mut state = self.state();
        let kept = state.kept.get_mut(&size).and_then(Vec::pop);
        let address = match kept {
            Some(address) => address,
            None => {
                if state.most != 0 && state.reserved + size > state.most {
                    return Err(Status::OUT_OF_MEMORY);
                }
                let request = Request::new(self.device as u32, size, Kind::Device).name("cuMemAllocAsync");
                let space = memory::space()?;
                let address = match space.allocate(&request).map_err(Status::from) {
                    Err(Status::OUT_OF_MEMORY) if state.reserved > state.used => {
                        state.trim(0);
                        space.allocate(&request)?
                    }
                    outcome => outcome?,
                };
                state.reserved += size;
                address
            }
        };
        state.used += size;
        state.reserved_high = state.reserved_high.max(state.reserved);
        state.used_high = state.used_high.max(state.used);
        Ok(address)
    }

    fn give_back(&self, address: u64, size: u64) -> Result {
        let mut state = self.state();
        state.used -= size;
        if state.reserved <= state.threshold {
            state.kept.entry(size).or_default().push(address);
            return Ok(());
        }
        state.reserved -= size;
        Ok(memory::space()?.free(address)?)
    }

    /// Gives memory that is kept back to the system, until no more than this is reserved.
    pub fn trim(&self, keep: u64) {
        self.state().trim(keep);
    }

    pub fn attribute(&self, attribute: u32) -> Result<u64> {
        let state = self.state();
        Ok(match attribute {
            attribute::REUSE_FOLLOW_EVENT_DEPENDENCIES..=attribute::REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                state.reuse[attribute as usize - 1].into()
            }
            attribute::RELEASE_THRESHOLD => state.threshold,
            attribute::RESERVED_MEM_CURRENT => state.reserved,
            attribute::RESERVED_MEM_HIGH => state.reserved_high,
            attribute::USED_MEM_CURRENT => state.used,
            attribute::USED_MEM_HIGH => state.used_high,
            _ => return Err(Status::INVALID_VALUE),
        })
    }

    /// High marks can only be reset.
    pub fn set_attribute(&self, attribute: u32, value: u64) -> Result {
        let mut state = self.state();
        match attribute {
            attribute::REUSE_FOLLOW_EVENT_DEPENDENCIES..=attribute::REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                state.reuse[attribute as usize - 1] = u32::from(value != 0);
            }
            attribute::RELEASE_THRESHOLD => state.threshold = value,
            attribute::RESERVED_MEM_HIGH if value == 0 => state.reserved_high = state.reserved,
            attribute::USED_MEM_HIGH if value == 0 => state.used_high = state.used,
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }

    /// Whether an attribute is an `int`; the others are 64 bits.
    pub fn is_int(attribute: u32) -> bool {
        (attribute::REUSE_FOLLOW_EVENT_DEPENDENCIES..=attribute::REUSE_ALLOW_INTERNAL_DEPENDENCIES)
            .contains(&attribute)
    }

    /// What a device may do with the pool's memory.
    pub fn access(&self, device: CUdevice) -> u32 {
        if device == self.device {
            READ_WRITE
        } else {
            self.state().access.get(&device).copied().unwrap_or(0)
        }
    }

    /// The pool's own device keeps its access.
    pub fn set_access(&self, device: CUdevice, flags: u32) -> Result {
        if !matches!(flags, 0 | 1 | READ_WRITE) || (device == self.device && flags != READ_WRITE) {
            return Err(Status::INVALID_VALUE);
        }
        self.state().access.insert(device, flags);
        Ok(())
    }
}

impl State {
    fn trim(&mut self, keep: u64) {
        let Ok(space) = memory::space() else { return };
        while self.reserved > keep
            && let Some(mut entry) = self.kept.last_entry()
        {
            let size = *entry.key();
            if let Some(address) = entry.get_mut().pop() {
                // An error would mean that it is gone already.
                let _ = space.free(address);
                self.reserved -= size;
            }
            if entry.get().is_empty() {
                entry.remove();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.trim(0);
    }
}

/// Frees in the turn of a stream what a pool, or an ordinary allocation, has at an address.
#[derive(Debug)]
pub struct Free {
    address: u64,
}

impl Free {
    /// Refuses what is not allocated, or is being freed already.
    pub fn prepare(address: u64) -> Result<Free> {
        allocations(|allocations| {
            if let Some(allocation) = allocations.get_mut(&address) {
                let twice = std::mem::replace(&mut allocation.freeing, true);
                return if twice { Err(Status::INVALID_VALUE) } else { Ok(()) };
            }
            let found = memory::space()?.find(address);
            let found = found.filter(|found| found.address == address && found.kind == Kind::Device);
            let size = found.ok_or(Status::INVALID_VALUE)?.size;
            allocations.insert(address, Allocation { pool: None, size, freeing: true });
            Ok(())
        })?;
        Ok(Free { address })
    }

    /// The request was not carried out: the allocation is as before.
    pub fn cancel(address: u64) {
        allocations(|allocations| {
            if let Some(allocation) = allocations.get_mut(&address) {
                allocation.freeing = false;
                if allocation.pool.is_none() {
                    allocations.remove(&address);
                }
            }
        });
    }
}

impl Payload for Free {
    fn run(&self) -> Outcome {
        release(self.address).map(drop).map_err(|status| Failure::known(status.0))
    }

    fn sort(&self) -> u32 {
        sort::FREE
    }
}

/// Frees an allocation of a pool or of a graph, now. False if neither has it.
pub fn release(address: u64) -> Result<bool> {
    if let Some(memory) = GraphMemory::find(address) {
        return if memory.free() { Ok(true) } else { Err(Status::INVALID_VALUE) };
    }
    match allocations(|allocations| allocations.remove(&address)) {
        None => Ok(false),
        Some(Allocation { pool: Some(pool), size, .. }) => pool.give_back(address, size).map(|()| true),
        Some(Allocation { pool: None, .. }) => memory::free(address, &[Kind::Device]).map(|()| true),
    }
}

/// The pool that an allocation belongs to.
pub fn of(address: u64) -> Option<CUmemoryPool> {
    allocations(|allocations| allocations.get(&address)?.pool.as_ref().map(|pool| pool.handle))
}

/// The pools of a device.
struct Pools {
    default: OnceLock<Arc<Pool>>,
    /// What `cuMemAllocAsync` uses, if that is not the default one.
    current: Mutex<Option<CUmemoryPool>>,
}

static POOLS: [Pools; MAX_DEVICES] =
    [const { Pools { default: OnceLock::new(), current: Mutex::new(None) } }; MAX_DEVICES];

fn pools(device: &Device) -> &'static Pools {
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
    // What it keeps is of no use to anybody; what is still to come is not kept.
    pool.state().threshold = 0;
    pool.trim(0);
    Ok(())
}
