//! Checks of accesses, to the byte, and raw access by the host.

use crate::error::Error;
use crate::fault::{Fault, Violation};
use crate::hold::Hold;
use crate::range::is_device_address;
use crate::records::{AllocationKind, State};
use crate::reserve::pointer;
use crate::shadow;
use crate::space::Space;

impl Space {
    /// Whether a kernel may make an access. All its bytes are in one allocation, in one block of
    /// the device's heap, or in host memory that it may use; and it does not write constants. What is
    /// fine is found out without a lock, but in a heap.
    pub fn check(&self, address: u64, size: u64, write: bool) -> Result<(), Box<Violation>> {
        let fault = match self.fault_of(address, size, write) {
            None => return Ok(()),
            Some(fault) => fault,
        };
        let wrong = match fault {
            Fault::ReadOnly => address,
            _ => self.first_wrong(address, size),
        };
        let place = self.describe(wrong);
        Err(Box::new(Violation { fault, address, size, write, place }))
    }

    fn fault_of(&self, address: u64, size: u64, write: bool) -> Option<Fault> {
        if !is_device_address(address) {
            let fine = self.is_host_usable(address, size);
            return (!fine).then_some(Fault::Host);
        }
        let record = self.records.slot_of(address).and_then(|place| self.records.record(place));
        let (state, allocation, _) = match record {
            Some(record) => record.read(),
            None => return Some(Fault::OutOfBounds),
        };
        match state {
            State::Freed if allocation.covers(address, 1) => Some(Fault::Freed),
            State::Live if !allocation.covers(address, size) => Some(Fault::OutOfBounds),
            State::Live if write && allocation.kind == AllocationKind::Constant => Some(Fault::ReadOnly),
            State::Live if allocation.kind == AllocationKind::Heap => {
                // Without a heap object the memory is the caller's own to divide.
                self.heap(address).and_then(|heap| heap.fault_of(address, size))
            }
            State::Live => None,
            _ => Some(Fault::OutOfBounds),
        }
    }

    /// The range around an address in which kernels may make accesses until memory is
    /// [freed](Space::freed), start and length: one allocation, one block of the device's heap, or host memory
    /// that is registered as one. What the counter said before is what to remember it with. Constants are
    /// granted to readers alone.
    pub fn grant(&self, address: u64, write: bool) -> Option<(u64, u64)> {
        if !is_device_address(address) {
            return self.find_host(address);
        }
        let record = self.records.record(self.records.slot_of(address)?)?;
        let (state, allocation, _) = record.read();
        if state != State::Live || !allocation.covers(address, 1) {
            return None;
        }
        match allocation.kind {
            AllocationKind::Constant if write => None,
            AllocationKind::Heap => match self.heap(address) {
                Some(heap) => heap.block_at(address),
                None => Some((allocation.address, allocation.size)),
            },
            _ => Some((allocation.address, allocation.size)),
        }
    }

    /// The first byte of a wrong access that is wrong by itself: the one behind the end of an
    /// allocation that the access reaches over. The access's first byte where none is.
    pub fn first_wrong(&self, address: u64, size: u64) -> u64 {
        if self.fault_of(address, size, false).is_none() {
            return address;
        }
        // Accesses are short, and those that are not are copies, whose start or end is wrong.
        let mut bytes = (0..size.min(64)).map(|offset| address.wrapping_add(offset));
        let wrong = bytes.find(|&byte| self.fault_of(byte, 1, false).is_some());
        let end = || self.find(address).map(|allocation| allocation.address + allocation.size);
        wrong.or_else(end).unwrap_or(address)
    }

    /// Copies from device memory to the host.
    ///
    /// # Safety
    /// Registered host memory must stay mapped while it is registered. Bytes that a kernel writes
    /// meanwhile may come old or new.
    pub unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let _held = self.covered(address, bytes.len() as u64)?;
        // SAFETY: the memory is allocated, and held.
        unsafe { std::ptr::copy_nonoverlapping(pointer(address), bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    /// Copies from the host to device memory, constants included.
    ///
    /// # Safety
    /// As for [`read`](Space::read).
    pub unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let _held = self.covered(address, bytes.len() as u64)?;
        let to = pointer(self.host_address(address));
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        shadow::define(address, bytes.len() as u64);
        Ok(())
    }

    /// Copies within device memory; the ranges may overlap.
    ///
    /// # Safety
    /// As for [`read`](Space::read), for both ranges.
    pub unsafe fn copy(&self, to: u64, from: u64, size: u64) -> Result<(), Error> {
        let _from = self.covered(from, size)?;
        let _to = self.covered(to, size)?;
        // Both, since two views of the same pages would not be seen to overlap.
        let (to, from) = (self.host_address(to), self.host_address(from));
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy(pointer::<u8>(from), pointer::<u8>(to), size as usize) };
        Ok(())
    }

    /// Fills device memory with a byte.
    ///
    /// # Safety
    /// As for [`read`](Space::read).
    pub unsafe fn fill(&self, address: u64, byte: u8, size: u64) -> Result<(), Error> {
        let _held = self.covered(address, size)?;
        let start = pointer::<u8>(self.host_address(address));
        // SAFETY: as in `read`.
        unsafe { std::ptr::write_bytes(start, byte, size as usize) };
        Ok(())
    }

    /// Holds a range that one allocation, or registered host memory, covers. An empty range always
    /// is.
    fn covered(&self, address: u64, size: u64) -> Result<Hold<'_>, Error> {
        let wrong = || self.describe(self.first_wrong(address, size));
        self.hold(address, size).ok_or_else(|| Error::NotAnAllocation { address, what: wrong() })
    }
}
