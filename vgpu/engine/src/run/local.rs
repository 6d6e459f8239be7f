//! Local memory: each lane's variables, for one warp.
//!
//! Lanes lie one after another at a stride that is no multiple of a page. So the same variable of
//! 32 lanes does not fall into the same set of the cache. Pages come as they are used.

use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// The first bytes stay unused, so that a null pointer is no variable's address.
pub(crate) const LOCAL_START: u64 = 256;
/// What a lane's memory is longer than whole pages: a line of the cache.
const SKEW: u64 = 64;

#[derive(Debug)]
pub(crate) struct LocalMemory {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: it is memory that it alone owns.
unsafe impl Send for LocalMemory {}

/// How far lanes are apart that have `size` bytes each.
pub(crate) fn stride(size: u64) -> u64 {
    (size + LOCAL_START).next_multiple_of(4096) + SKEW
}

impl LocalMemory {
    pub fn new(stride: u64, lanes: usize) -> Result<Self, String> {
        let length = stride as usize * lanes;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a new mapping, wherever the kernel likes.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), length, access, flags) };
        let start = start.map_err(|error| format!("no local memory of {length} bytes: {error}"))?;
        // Each lane uses a page or two of its own, far from the next lane's.
        // SAFETY: the mapping is new; the advice does not change contents.
        let _ = unsafe { madvise(start, length, Advice::LinuxNoHugepage) };
        Ok(LocalMemory { start: NonNull::new(start.cast()).expect("not null"), length })
    }

    #[must_use]
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for LocalMemory {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; no warp has it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}
