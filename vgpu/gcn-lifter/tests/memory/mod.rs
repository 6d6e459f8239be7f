//! Device memory for tests: that of the engine.

use gangway_device_memory::{AllocationKind, Request, Space};
use gangway_gcn_interpreter::{FaultKind, Memory};

use crate::support::Heap;

pub struct DeviceMemory {
    space: &'static Space,
}

impl DeviceMemory {
    pub fn new() -> Self {
        Self { space: Space::of_amd().expect("a range of addresses") }
    }

    fn pointer(&self, address: u64, size: usize, write: bool) -> Result<*mut u8, FaultKind> {
        let fine = self.space.check(address, size as u64, write);
        fine.map_err(|_| FaultKind::OutOfBounds { address, size, write })?;
        Ok(std::ptr::with_exposed_provenance_mut(address as usize))
    }
}

impl Heap for DeviceMemory {
    fn allocate(&self, size: usize, align: u64) -> u64 {
        let request = Request::new(0, size.max(1) as u64, AllocationKind::Device).align(align.max(256));
        self.space.allocate(&request).expect("memory")
    }
}

impl Memory for DeviceMemory {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), FaultKind> {
        let from = self.pointer(address, bytes.len(), false)?;
        // SAFETY: so much is allocated there, and no kernel runs.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), FaultKind> {
        let to = self.pointer(address, bytes.len(), true)?;
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    fn update(
        &self,
        _address: u64,
        _size: usize,
        _operation: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, FaultKind> {
        Err(FaultKind::Unsupported("an atomic operation of these tests".to_owned()))
    }
}
