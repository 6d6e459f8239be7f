//! What is allocated from pools, and freeing it in a stream's turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use gangway_device_memory::AllocationKind;
use gangway_streams::{Failure, Outcome};

use super::Pool;
use super::graph::GraphMemory;
use crate::abi::{CUmemoryPool, Result, Status};
use crate::objects::memory;

/// An allocation of a pool, or an ordinary one that a stream will free.
struct PoolAllocation {
    pool: Option<Arc<Pool>>,
    size: u64,
    /// A stream will free it.
    freeing: bool,
}

/// All allocations of pools and the others that are being freed, by address.
static ALLOCATIONS: Mutex<Option<HashMap<u64, PoolAllocation>>> = Mutex::new(None);

fn allocations<T>(work: impl FnOnce(&mut HashMap<u64, PoolAllocation>) -> T) -> T {
    work(ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// A pool has handed out memory.
pub(super) fn keep(address: u64, pool: &Arc<Pool>, size: u64) {
    let allocation = PoolAllocation { pool: Some(Arc::clone(pool)), size, freeing: false };
    allocations(|allocations| allocations.insert(address, allocation));
}

/// Frees in the turn of a stream what a pool, or an ordinary allocation, has at an address.
///
/// A stream whose context fails drops it without a turn: then the allocation is as before.
#[derive(Debug)]
#[must_use = "nothing is freed unless it runs"]
pub struct FreeOperation {
    address: u64,
}

impl FreeOperation {
    /// Refuses what is not allocated, or is being freed already.
    pub fn prepare(address: u64) -> Result<Self> {
        allocations(|allocations| {
            if let Some(allocation) = allocations.get_mut(&address) {
                let twice = std::mem::replace(&mut allocation.freeing, true);
                return if twice { Err(Status::INVALID_VALUE) } else { Ok(()) };
            }
            let found = memory::owned_allocation(address, &[AllocationKind::Device])?;
            let size = found.ok_or(Status::INVALID_VALUE)?.size;
            allocations.insert(address, PoolAllocation { pool: None, size, freeing: true });
            Ok(())
        })?;
        Ok(Self { address })
    }

    /// The stream's turn has come.
    pub fn run(self) -> Outcome {
        let address = self.address;
        // From here on the address may be another allocation's.
        std::mem::forget(self);
        release(address).map(drop).map_err(|status| Failure::known(status.0))
    }
}

impl Drop for FreeOperation {
    fn drop(&mut self) {
        allocations(|allocations| {
            if let Some(allocation) = allocations.get_mut(&self.address) {
                allocation.freeing = false;
                if allocation.pool.is_none() {
                    allocations.remove(&self.address);
                }
            }
        });
    }
}

/// Frees an allocation of a pool or of a graph, now. False if neither has it.
pub fn release(address: u64) -> Result<bool> {
    if let Some(memory) = GraphMemory::find(address) {
        return if memory.free() { Ok(true) } else { Err(Status::INVALID_VALUE) };
    }
    match allocations(|allocations| allocations.remove(&address)) {
        None => Ok(false),
        Some(PoolAllocation { pool: Some(pool), size, .. }) => pool.give_back(address, size).map(|()| true),
        Some(PoolAllocation { pool: None, .. }) => {
            memory::free(address, &[AllocationKind::Device]).map(|()| true)
        }
    }
}

/// The pool that an allocation belongs to.
#[must_use]
pub fn pool_of(address: u64) -> Option<CUmemoryPool> {
    allocations(|allocations| allocations.get(&address)?.pool.as_ref().map(|pool| pool.handle))
}
