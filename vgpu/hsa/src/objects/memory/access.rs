//! Copies and fills by the host. What is device memory must be allocated; the rest is the caller's.

use gangway_device_memory::{Hold, Space, is_device_address};

use super::status;
use crate::abi::{Result, Status};
use crate::objects::agent;
use crate::objects::process::report::report;

/// Where the host reads and writes a range, and what keeps it there.
struct Place<'a> {
    address: u64,
    _held: Option<Hold<'a>>,
}

impl<'a> Place<'a> {
    /// For the function with this name.
    fn of(space: &'a Space, address: u64, size: u64, by: &str) -> Result<Self> {
        if !is_device_address(address) {
            return Ok(Self { address, _held: None });
        }
        let Some(held) = space.hold(address, size) else {
            let wrong = space.describe(space.first_wrong(address, size));
            report!("{by}: {size} bytes at {address:#x} are not all allocated: {wrong}");
            return Err(Status::ERROR_INVALID_ALLOCATION);
        };
        Ok(Self { address: space.host_address(address), _held: Some(held) })
    }
}

/// Copies between any memory; the ranges may overlap.
pub fn copy(to: u64, from: u64, size: u64, by: &str) -> Result {
    if size == 0 {
        return Ok(());
    }
    let space = agent::space()?;
    let from = Place::of(space, from, size, by)?;
    let to = Place::of(space, to, size, by)?;
    let pointer = |place: &Place<'_>| std::ptr::with_exposed_provenance_mut::<u8>(place.address as usize);
    // SAFETY: device memory is held, and the caller promises that host memory is there.
    unsafe { std::ptr::copy(pointer(&from).cast_const(), pointer(&to), size as usize) };
    Ok(())
}

/// A box in memory with pitched rows (`hsa_pitched_ptr_t`).
#[derive(Clone, Copy, Debug)]
pub struct Pitched {
    pub base: u64,
    pub pitch: u64,
    pub slice: u64,
    /// In bytes, rows and slices.
    pub offset: [u32; 3],
}

impl Pitched {
    fn row(&self, row: u32, slice: u32) -> Option<u64> {
        let rows = u64::from(self.offset[1]) + u64::from(row);
        let slices = u64::from(self.offset[2]) + u64::from(slice);
        let offset = slices.checked_mul(self.slice)?.checked_add(rows.checked_mul(self.pitch)?)?;
        self.base.checked_add(offset)?.checked_add(u64::from(self.offset[0]))
    }
}

/// Copies a box: bytes of a row, rows, slices.
pub fn copy_box(to: &Pitched, from: &Pitched, range: [u32; 3], by: &str) -> Result {
    for slice in 0..range[2] {
        for row in 0..range[1] {
            let places = to.row(row, slice).zip(from.row(row, slice));
            let (to, from) = places.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
            copy(to, from, u64::from(range[0]), by)?;
        }
    }
    Ok(())
}

/// Fills memory with words.
pub fn fill(address: u64, value: u32, count: u64, by: &str) -> Result {
    let size = count.checked_mul(4).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    if size == 0 {
        return Ok(());
    }
    let space = agent::space()?;
    if space.find(address).is_none() && !space.is_host_usable(address, size) {
        return Err(Status::ERROR_INVALID_ALLOCATION);
    }
    let place = Place::of(space, address, size, by)?;
    let words = std::ptr::with_exposed_provenance_mut::<u32>(place.address as usize);
    for at in 0..count as usize {
        // SAFETY: the memory is held, or the program has locked it and keeps it there.
        unsafe { words.add(at).write(value) };
    }
    Ok(())
}

/// Reads device memory for a look at what kernels find there.
pub fn read(address: u64, bytes: &mut [u8]) -> Result {
    // SAFETY: locked host memory stays mapped while it is locked, as the program promises.
    unsafe { agent::space()?.read(address, bytes) }.map_err(|error| status(&error))
}
