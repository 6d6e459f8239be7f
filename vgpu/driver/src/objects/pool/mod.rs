//! Memory that is allocated and freed in the order of streams: that of pools, and that of graphs.
//!
//! An allocation has its address at once. Freeing happens in the stream's turn. Then the pool keeps
//! the memory for the next allocation of the same size, as long as it has no more than its release
//! threshold. Otherwise the memory goes back to the system. What a pool has belongs to the device,
//! not to a context.
//!
//! Here is the pool itself; `device` has those of each device, `allocation` knows what is
//! allocated and frees it, `graph` has the memory of graphs.

pub mod allocation;
pub mod device;
pub mod graph;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gangway_device_memory::{AllocationKind, Request};

use crate::abi::number::{access_flags, pool_attribute};
use crate::abi::{CUdevice, CUmemoryPool, Result, Status, kind};
use crate::objects::device::Device;
use crate::objects::memory;
use crate::objects::stream::StreamRef;
use crate::objects::table::backed;

#[derive(Debug)]
pub struct Pool {
    pub handle: CUmemoryPool,
    pub device: CUdevice,
    state: Mutex<PoolState>,
}

backed!(kind::Pool, Pool);

#[derive(Debug)]
struct PoolState {
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
    /// The three attributes that tell how memory may be used again: the last one is
    /// [`lets_streams_wait`](Pool::lets_streams_wait), the others are hints.
    reuse: [u32; 3],
    /// Access of other devices, by their numbers.
    access: BTreeMap<CUdevice, u32>,
}

impl Pool {
    /// A new pool; `most` bytes at once, 0 for no limit.
    pub fn create(device: CUdevice, most: u64) -> Result<Arc<Self>> {
        let state = PoolState {
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
        CUmemoryPool::insert_with(|handle| Arc::new(Self { handle, device, state: Mutex::new(state) }))
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory that operations of the stream may use from here on.
    pub fn allocate(self: &Arc<Self>, size: usize, stream: &StreamRef) -> Result<u64> {
        let size = size as u64;
        if size == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let address = match self.take(size) {
            // What streams are about to free may be enough. A caller that may not wait cannot have
            // it, nor one whose pool makes no streams depend on others.
            Err(Status::OUT_OF_MEMORY) if self.lets_streams_wait() => {
                stream.context.queues.synchronize().map_err(|_| Status::OUT_OF_MEMORY)?;
                self.take(size)?
            }
            outcome => outcome?,
        };
        allocation::keep(address, self, size);
        Ok(address)
    }

    /// Whether an allocation may have its stream wait for another, which is about to free memory.
    fn lets_streams_wait(&self) -> bool {
        self.state().reuse[pool_attribute::REUSE_ALLOW_INTERNAL_DEPENDENCIES as usize - 1] != 0
    }

    fn take(&self, size: u64) -> Result<u64> {
        let mut state = self.state();
        let kept = state.kept.get_mut(&size).and_then(Vec::pop);
        let address = match kept {
            Some(address) => address,
            None => {
                let reserved = state.reserved.checked_add(size).ok_or(Status::OUT_OF_MEMORY)?;
                if state.most != 0 && reserved > state.most {
                    // What is kept for later makes room for what is wanted now.
                    let rest = state.most.checked_sub(size).ok_or(Status::OUT_OF_MEMORY)?;
                    state.trim(rest);
                    if state.reserved > rest {
                        return Err(Status::OUT_OF_MEMORY);
                    }
                }
                let request = Request::new(self.device as u32, size, AllocationKind::Device);
                let request = request.name("cuMemAllocAsync");
                let address = match memory::obtain(&request) {
                    Err(Status::OUT_OF_MEMORY) if state.reserved > state.used => {
                        state.trim(0);
                        memory::obtain(&request)?
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

    pub(super) fn give_back(&self, address: u64, size: u64) -> Result {
        // Where accesses are checked, memory that has been freed is not to be touched any more, and
        // what the program has freed is no leak.
        let is_checked = Device::get(self.device)?.checks_accesses();
        let mut state = self.state();
        state.used -= size;
        if !is_checked && state.reserved <= state.threshold {
            state.kept.entry(size).or_default().push(address);
            return Ok(());
        }
        state.reserved -= size;
        memory::give_back(address)
    }

    /// Gives memory that is kept back to the system, until no more than this is reserved.
    pub fn trim(&self, keep: u64) {
        self.state().trim(keep);
    }

    /// The pool has been destroyed: nothing is kept from here on.
    fn retire(&self) {
        let mut state = self.state();
        state.threshold = 0;
        state.trim(0);
    }

    pub fn attribute(&self, attribute: u32) -> Result<u64> {
        let state = self.state();
        Ok(match attribute {
            _ if Self::is_int(attribute) => state.reuse[attribute as usize - 1].into(),
            pool_attribute::RELEASE_THRESHOLD => state.threshold,
            pool_attribute::RESERVED_MEM_CURRENT => state.reserved,
            pool_attribute::RESERVED_MEM_HIGH => state.reserved_high,
            pool_attribute::USED_MEM_CURRENT => state.used,
            pool_attribute::USED_MEM_HIGH => state.used_high,
            _ => return Err(Status::INVALID_VALUE),
        })
    }

    /// High marks can only be reset.
    pub fn set_attribute(&self, attribute: u32, value: u64) -> Result {
        let mut state = self.state();
        match attribute {
            _ if Self::is_int(attribute) => {
                state.reuse[attribute as usize - 1] = u32::from(value != 0);
            }
            pool_attribute::RELEASE_THRESHOLD => state.threshold = value,
            pool_attribute::RESERVED_MEM_HIGH if value == 0 => state.reserved_high = state.reserved,
            pool_attribute::USED_MEM_HIGH if value == 0 => state.used_high = state.used,
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }

    /// Whether an attribute is an `int`; the others are 64 bits.
    #[must_use]
    pub fn is_int(attribute: u32) -> bool {
        (pool_attribute::REUSE_FOLLOW_EVENT_DEPENDENCIES..=pool_attribute::REUSE_ALLOW_INTERNAL_DEPENDENCIES)
            .contains(&attribute)
    }

    /// What a device may do with the pool's memory.
    #[must_use]
    pub fn access(&self, device: CUdevice) -> u32 {
        if device == self.device {
            access_flags::READ_WRITE
        } else {
            self.state().access.get(&device).copied().unwrap_or(0)
        }
    }

    /// The pool's own device keeps its access.
    pub fn set_access(&self, device: CUdevice, flags: u32) -> Result {
        if !matches!(flags, access_flags::NONE | access_flags::READ | access_flags::READ_WRITE)
            || (device == self.device && flags != access_flags::READ_WRITE)
        {
            return Err(Status::INVALID_VALUE);
        }
        self.state().access.insert(device, flags);
        Ok(())
    }
}

impl PoolState {
    fn trim(&mut self, keep: u64) {
        while self.reserved > keep
            && let Some(mut entry) = self.kept.last_entry()
        {
            let size = *entry.key();
            if let Some(address) = entry.get_mut().pop() {
                // An error would mean that it is gone already.
                let _ = memory::give_back(address);
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
