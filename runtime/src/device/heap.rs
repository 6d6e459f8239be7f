//! `malloc` in code of a device whose own heap has no room: the device's other memory.
//!
//! Nothing here may wait for a kernel, since the caller's waits for the answer. So memory comes in the
//! order of an idle stream where the back end can do that, as drivers may have other allocations
//! wait, and goes back in the same way. The pool of mapped data cannot give any, as its
//! memory does not come so.
//!
//! Blocks that a program does not free stay, also beyond their kernel, as those of the device's own heap do.

use super::{Device, Opened};
use crate::pool::{GivenBack, Pool};
use gangway_backend::{AllocationKind, DevicePtr};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Drivers align memory so, and so does the pool.
const ALIGNMENT: usize = 256;
/// The largest alignment: that of memory pages on GPUs.
const LARGEST_ALIGNMENT: usize = 2 << 20;

/// What is allocated on one device.
#[derive(Default)]
pub(super) struct Heap {
    /// Small blocks.
    pool: Pool,
    /// Where the memory of a block begins, by its address.
    blocks: Mutex<HashMap<usize, DevicePtr>>,
}

impl Heap {
    /// A new block; `None` if there is no memory.
    pub(super) fn allocate(
        &self,
        device: &Device,
        opened: &Opened,
        bytes: usize,
        alignment: usize,
    ) -> Option<DevicePtr> {
        if bytes == 0 || !alignment.is_power_of_two() || alignment > LARGEST_ALIGNMENT {
            return None;
        }
        let before = if alignment > ALIGNMENT { alignment } else { 0 };
        let size = bytes.checked_add(before).filter(|&size| isize::try_from(size).is_ok())?;
        let memory = self.pool.take(size).or_else(|| self.extend(device, opened, size))?;
        let block = DevicePtr(memory.0.next_multiple_of(alignment));
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner).insert(block.0, memory);
        Some(block)
    }

    /// Memory of the driver's: of a chunk for more blocks, if there is room for one. Where a device looks for mistakes, each block
    /// has memory of its own: who gets it next has nothing to do with who has freed it, and what is left is the program's.
    fn extend(&self, device: &Device, opened: &Opened, size: usize) -> Option<DevicePtr> {
        let shares = opened.pool.is_some() && !opened.capabilities.host_copies;
        if shares
            && let Some(bytes) = self.pool.chunk_for(size)
            && let Some(chunk) = ask_driver(device, opened, bytes)
        {
            return Some(self.pool.add(size, chunk, bytes));
        }
        ask_driver(device, opened, size).or_else(|| {
            // What constructs have freed in the order of streams may be what is missing.
            device.settle_idle_streams();
            ask_driver(device, opened, size)
        })
    }

    /// Frees a block. False: there is no such block here.
    pub(super) fn free(&self, device: &Device, opened: &Opened, address: DevicePtr) -> bool {
        // Whoever removes the block frees it: a second call finds none.
        let block = self.blocks.lock().unwrap_or_else(PoisonError::into_inner).remove(&address.0);
        let Some(memory) = block else { return false };
        match self.pool.give_back(memory) {
            GivenBack::Kept => {}
            GivenBack::Surplus(chunk) => give_to_driver(device, opened, chunk),
            GivenBack::Foreign => give_to_driver(device, opened, memory),
        }
        true
    }
}

fn ask_driver(device: &Device, opened: &Opened, size: usize) -> Option<DevicePtr> {
    let mut memory = None;
    let asked = device.at_once(opened, |stream| {
        memory = Some(if opened.capabilities.stream_ordered_memory {
            stream.allocate_promptly(size)?
        } else {
            opened.device.allocate(size, AllocationKind::Device, false)?
        });
        Ok(())
    });
    memory.filter(|_| asked.is_ok())
}

fn give_to_driver(device: &Device, opened: &Opened, memory: DevicePtr) {
    // Nothing can be done about memory that cannot be freed.
    let _ = device.at_once(opened, |stream| {
        // SAFETY: it is of `ask_driver`, and whoever has freed the last block in it has done with it.
        unsafe {
            if opened.capabilities.stream_ordered_memory {
                stream.deallocate_in_order(memory)
            } else {
                opened.device.deallocate(memory, AllocationKind::Device)
            }
        }
    });
}
