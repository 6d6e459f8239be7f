//! Device memory that is no memory of this process: addresses are numbers, so a
//! wrong one is noticed and never followed.

use gangway_backend::{DevicePtr, poison};
use std::collections::BTreeMap;

/// Where device addresses begin. No host address looks like this.
pub const FIRST_ADDRESS: usize = 0x7dec_0000_0000_0000;

/// What new memory contains, aligned as it is.
pub fn new_memory(size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    poison(&mut bytes);
    bytes
}

/// All allocations of a device that are alive, by address. Addresses are never
/// used twice.
pub struct DeviceMemory {
    allocations: BTreeMap<usize, Box<[u8]>>,
    next: usize,
    in_use: usize,
    limit: usize,
    /// What was done against the rules of the interface.
    pub violations: Vec<String>,
}

impl DeviceMemory {
    pub fn new(limit: usize) -> Self {
        Self { allocations: BTreeMap::new(), next: FIRST_ADDRESS, in_use: 0, limit, violations: Vec::new() }
    }

    /// Has the next allocation at this address.
    pub fn go_on_at(&mut self, address: usize) {
        self.next = address;
    }

    /// `None`: beyond the limit.
    pub fn allocate(&mut self, size: usize) -> Option<DevicePtr> {
        if size == 0 {
            self.violations.push("allocation of 0 bytes".to_owned());
        }
        if self.in_use + size > self.limit {
            return None;
        }
        self.in_use += size;
        Some(self.place(size))
    }

    /// As [`allocate`](Self::allocate), but it may not be used before
    /// [`begin`](Self::begin).
    pub fn reserve(&mut self, size: usize) -> Option<DevicePtr> {
        let memory = self.allocate(size)?;
        self.allocations.remove(&memory.0);
        Some(memory)
    }

    /// From here on reserved memory may be used.
    pub fn begin(&mut self, memory: DevicePtr, size: usize) {
        self.allocations.insert(memory.0, new_memory(size).into());
    }

    /// Room for an image's globals, which do not count.
    pub fn place(&mut self, size: usize) -> DevicePtr {
        let address = self.next;
        self.next += size.next_multiple_of(256) + 256;
        self.allocations.insert(address, new_memory(size).into());
        DevicePtr(address)
    }

    /// Takes an image's globals away again.
    pub fn displace(&mut self, pointer: DevicePtr) {
        self.allocations.remove(&pointer.0);
    }

    pub fn free(&mut self, pointer: DevicePtr) {
        match self.allocations.remove(&pointer.0) {
            Some(memory) => self.in_use -= memory.len(),
            None => self.violations.push(format!("free of {:#x}, which is not allocated", pointer.0)),
        }
    }

    /// Makes all but these ranges look like new memory: what a pool keeps has old contents.
    pub fn poison_except(&mut self, ranges: &[(DevicePtr, usize)]) {
        for (&begin, memory) in &mut self.allocations {
            let mut kept = memory.clone();
            poison(memory);
            for &(DevicePtr(start), size) in ranges {
                if (begin..begin + memory.len()).contains(&start) {
                    let range = start - begin..start - begin + size;
                    memory[range.clone()].swap_with_slice(&mut kept[range]);
                }
            }
        }
    }

    /// Start and size of the allocation that contains an address.
    pub fn allocation_of(&self, address: usize) -> Option<(usize, usize)> {
        let (&begin, memory) = self.allocations.range(..=address).next_back()?;
        (address < begin + memory.len()).then_some((begin, memory.len()))
    }

    /// Number of allocations that are alive.
    pub fn alive(&self) -> usize {
        self.allocations.len()
    }

    /// The bytes at a device address; noted as a violation if they are not there.
    pub fn bytes(&mut self, pointer: DevicePtr, size: usize, what: &str) -> Option<&mut [u8]> {
        let found =
            self.allocation_of(pointer.0).filter(|(begin, length)| pointer.0 + size <= begin + length);
        let Some((begin, _)) = found else {
            self.violations
                .push(format!("{what} of {size} bytes at {:#x}, which is not allocated", pointer.0));
            return None;
        };
        if size == 0 {
            self.violations.push(format!("{what} of 0 bytes"));
        }
        let offset = pointer.0 - begin;
        Some(&mut self.allocations.get_mut(&begin)?[offset..offset + size])
    }
}
