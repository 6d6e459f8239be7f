//! The card's memory. It consists of buffers, and an address is the number of a buffer with an
//! offset in it: the first byte of the first buffer has address 0.

use gangway_backend::{DevicePtr, poison};
use std::collections::BTreeMap;

/// Bits of an address that are the offset.
const OFFSET_BITS: u32 = 32;

/// All buffers of a card. Numbers are never used twice.
pub struct Memory {
    buffers: BTreeMap<usize, Box<[u8]>>,
    next: usize,
    in_use: usize,
    size: usize,
}

impl Memory {
    pub fn new(size: usize) -> Self {
        Self { buffers: BTreeMap::new(), next: 0, in_use: 0, size }
    }

    /// `None`: there is no room.
    pub fn allocate(&mut self, size: usize) -> Option<DevicePtr> {
        if size > self.size - self.in_use {
            return None;
        }
        let mut buffer = vec![0; size].into_boxed_slice();
        poison(&mut buffer);
        let address = DevicePtr(self.next << OFFSET_BITS);
        self.buffers.insert(self.next, buffer);
        self.next += 1;
        self.in_use += size;
        Some(address)
    }

    /// False: no buffer begins there.
    pub fn free(&mut self, address: DevicePtr) -> bool {
        let (number, offset) = split(address);
        let buffer = if offset == 0 { self.buffers.remove(&number) } else { None };
        self.in_use -= buffer.as_ref().map_or(0, |buffer| buffer.len());
        buffer.is_some()
    }

    /// Bytes of a buffer; `None`: not all of them are there.
    pub fn bytes(&mut self, address: DevicePtr, size: usize) -> Option<&mut [u8]> {
        let (number, offset) = split(address);
        self.buffers.get_mut(&number)?.get_mut(offset..)?.get_mut(..size)
    }

    /// Buffers that there are.
    pub fn buffers(&self) -> usize {
        self.buffers.len()
    }
}

/// Whether two addresses are in the same buffer.
pub fn is_same_buffer(one: DevicePtr, other: DevicePtr) -> bool {
    split(one).0 == split(other).0
}

fn split(DevicePtr(address): DevicePtr) -> (usize, usize) {
    (address >> OFFSET_BITS, address & ((1 << OFFSET_BITS) - 1))
}
