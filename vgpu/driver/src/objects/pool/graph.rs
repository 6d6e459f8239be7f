//! Allocations in graphs. A node that allocates has its address from the beginning, so that other
//! nodes can use it.
//!
//! The memory behind the address exists as long as a graph, an executable graph or a launch
//! refers to it. It also exists from when the node has run until something frees it: a node,
//! `cuMemFreeAsync` or `cuMemFree`.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use gangway_device_memory::{AllocationKind, Request};
use gangway_streams::{Outcome, Payload};

use crate::abi::number::{graph_memory_attribute, node_type};
use crate::abi::{CUdevice, CUdeviceptr, Result, Status};
use crate::objects::device::Device;
use crate::objects::memory;

/// Memory of a node.
#[derive(Debug)]
pub struct GraphMemory {
    pub address: CUdeviceptr,
    pub size: u64,
    pub device: &'static Device,
}

/// What is known of the memory of graphs.
#[derive(Default)]
struct Known {
    /// All of it that there is, by address.
    all: HashMap<u64, Weak<GraphMemory>>,
    /// What a node has allocated and has not been freed.
    live: HashMap<u64, Arc<GraphMemory>>,
    usage: BTreeMap<CUdevice, Usage>,
}

/// Bytes of a device: what is live, and what there is of it.
#[derive(Clone, Copy, Default)]
struct Usage {
    used: u64,
    used_high: u64,
    reserved: u64,
    reserved_high: u64,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

fn known<T>(work: impl FnOnce(&mut Known) -> T) -> T {
    work(KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

impl Known {
    fn usage(&mut self, memory: &GraphMemory) -> &mut Usage {
        self.usage.entry(memory.device.number()).or_default()
    }
}

impl GraphMemory {
    pub fn new(device: &'static Device, size: u64) -> Result<Arc<Self>> {
        if size == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let request = Request::new(device.ordinal(), size, AllocationKind::Device);
        let request = request.name("cuGraphAddMemAllocNode");
        let address = memory::obtain(&request)?;
        let memory = Arc::new(Self { address, size, device });
        known(|known| {
            known.all.insert(address, Arc::downgrade(&memory));
            let usage = known.usage(&memory);
            usage.reserved += size;
            usage.reserved_high = usage.reserved_high.max(usage.reserved);
        });
        Ok(memory)
    }

    /// The memory that begins at an address, if it is a graph's.
    #[must_use]
    pub fn find(address: CUdeviceptr) -> Option<Arc<Self>> {
        known(|known| known.all.get(&address)?.upgrade())
    }

    /// Ends what running the node began. False if it had ended.
    pub fn free(&self) -> bool {
        let freed = known(|known| {
            let freed = known.live.remove(&self.address);
            if let Some(memory) = &freed {
                known.usage(memory).used -= memory.size;
            }
            freed
        });
        // Dropped here, where nothing is locked: it may have been the last reference.
        freed.is_some()
    }
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        known(|known| {
            known.all.remove(&self.address);
            known.usage(self).reserved -= self.size;
        });
        // An error would mean that it is gone already.
        let _ = memory::give_back(self.address);
    }
}

/// A node that allocates.
#[derive(Clone, Debug)]
pub struct AllocateNode(pub Arc<GraphMemory>);

impl Payload for AllocateNode {
    fn run(&self) -> Outcome {
        known(|known| {
            if known.live.insert(self.0.address, Arc::clone(&self.0)).is_none() {
                let usage = known.usage(&self.0);
                usage.used += self.0.size;
                usage.used_high = usage.used_high.max(usage.used);
            }
        });
        Ok(())
    }

    fn sort(&self) -> u32 {
        node_type::ALLOCATE
    }
}

/// A node, or an operation of a stream, that frees what a graph has allocated.
#[derive(Clone, Debug)]
pub struct FreeNode(pub Arc<GraphMemory>);

impl Payload for FreeNode {
    fn run(&self) -> Outcome {
        self.0.free();
        Ok(())
    }

    fn sort(&self) -> u32 {
        node_type::FREE
    }
}

/// `cuDeviceGetGraphMemAttribute`
pub fn attribute_of(device: &Device, attribute: u32) -> Result<u64> {
    let usage = known(|known| known.usage.get(&device.number()).copied().unwrap_or_default());
    match attribute {
        graph_memory_attribute::USED_MEM_CURRENT => Ok(usage.used),
        graph_memory_attribute::USED_MEM_HIGH => Ok(usage.used_high),
        graph_memory_attribute::RESERVED_MEM_CURRENT => Ok(usage.reserved),
        graph_memory_attribute::RESERVED_MEM_HIGH => Ok(usage.reserved_high),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// `cuDeviceSetGraphMemAttribute`: high marks can be reset.
pub fn set_attribute(device: &Device, attribute: u32, value: u64) -> Result {
    known(|known| {
        let usage = known.usage.entry(device.number()).or_default();
        match (attribute, value) {
            (graph_memory_attribute::USED_MEM_HIGH, 0) => usage.used_high = usage.used,
            (graph_memory_attribute::RESERVED_MEM_HIGH, 0) => usage.reserved_high = usage.reserved,
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    })
}
