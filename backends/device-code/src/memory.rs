//! Memory that kernels need besides the program's, as back ends give it.

use gangway_backend::{Result, VisibleMemory};

/// What a back end does for the kernels of one stream. They run one after the other, and use the
/// same memory. Launches call this: a back end implements it for a value on its stack, and each
/// call is a direct one.
pub trait StreamMemory {
    /// Allocates device memory.
    ///
    /// # Errors
    /// [`OutOfMemory`](gangway_backend::Error::OutOfMemory) where there is none left; or the driver
    /// fails.
    fn allocate(&self, bytes: usize) -> Result<u64>;

    /// Frees what [`allocate`](Self::allocate) gave. Memory that has gone with its device is free.
    ///
    /// # Safety
    /// It came from there, and the stream is idle.
    ///
    /// # Errors
    /// The driver fails.
    unsafe fn free(&self, address: u64) -> Result<()>;

    /// Copies to the device behind what is in the stream. The bytes have been read when this
    /// returns.
    ///
    /// # Safety
    /// There is room for them.
    ///
    /// # Errors
    /// The driver fails.
    unsafe fn copy(&self, to: u64, from: &[u8]) -> Result<()>;

    /// As [`copy`](Self::copy), but the bytes may be read later.
    ///
    /// # Safety
    /// There is room for them, and they stay what and where they are until the stream is done.
    ///
    /// # Errors
    /// The driver fails.
    unsafe fn copy_kept(&self, to: u64, from: &[u8]) -> Result<()>;

    /// Allocates memory that host and device see, aligned to a page.
    ///
    /// # Errors
    /// There is none left, or the driver fails.
    fn allocate_visible(&self, bytes: usize) -> Result<VisibleMemory>;

    /// Frees what [`allocate_visible`](Self::allocate_visible) gave. Memory that has gone with its
    /// device is free.
    ///
    /// # Safety
    /// It came from there, and the stream is idle.
    ///
    /// # Errors
    /// The driver fails.
    unsafe fn free_visible(&self, memory: VisibleMemory) -> Result<()>;
}

/// Memory of the process, for tests. Copies are done at once.
#[cfg(test)]
#[derive(Debug, Default)]
pub(crate) struct TestMemory {
    /// Bytes that there are still, if they are bounded.
    pub room: std::cell::Cell<Option<usize>>,
    /// Nothing can be pinned.
    pub unpinned: std::cell::Cell<bool>,
    blocks: std::cell::RefCell<Vec<Box<[u64]>>>,
}

#[cfg(test)]
impl TestMemory {
    /// Blocks that have not been freed.
    pub fn blocks(&self) -> usize {
        self.blocks.borrow().len()
    }

    /// The word at an address.
    pub fn word(&self, address: u64) -> u64 {
        let blocks = self.blocks.borrow();
        let at = |block: &[u64]| (address as usize).wrapping_sub(block.as_ptr().addr()) / 8;
        let block = blocks.iter().find(|block| at(block) < block.len()).unwrap();
        block[at(block)]
    }
}

#[cfg(test)]
impl StreamMemory for TestMemory {
    fn allocate(&self, bytes: usize) -> Result<u64> {
        if let Some(room) = self.room.get() {
            let left = room.checked_sub(bytes);
            self.room.set(Some(left.ok_or(gangway_backend::Error::OutOfMemory { requested: bytes })?));
        }
        let block = vec![0_u64; bytes.div_ceil(8)].into_boxed_slice();
        let address = block.as_ptr().expose_provenance() as u64;
        self.blocks.borrow_mut().push(block);
        Ok(address)
    }

    unsafe fn free(&self, address: u64) -> Result<()> {
        self.blocks.borrow_mut().retain(|block| block.as_ptr().addr() as u64 != address);
        Ok(())
    }

    unsafe fn copy(&self, to: u64, from: &[u8]) -> Result<()> {
        let to = std::ptr::with_exposed_provenance_mut::<u8>(to as usize);
        // SAFETY: the caller's promise; device addresses are the process's here.
        unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
        Ok(())
    }

    unsafe fn copy_kept(&self, to: u64, from: &[u8]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy(to, from) }
    }

    fn allocate_visible(&self, bytes: usize) -> Result<VisibleMemory> {
        if self.unpinned.get() {
            return Err(gangway_backend::Error::Unsupported { operation: "pinning" });
        }
        let device = gangway_backend::DevicePtr(self.allocate(bytes)? as usize);
        let host = std::ptr::with_exposed_provenance_mut(device.0);
        Ok(VisibleMemory { host: std::ptr::NonNull::new(host).unwrap(), device })
    }

    unsafe fn free_visible(&self, memory: VisibleMemory) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.free(memory.device.0 as u64) }
    }
}
