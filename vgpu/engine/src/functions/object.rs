//! Machine code that can run: the executable memory that it is in, and the way back from an address
//! in it to a PTX instruction.
//!
//! Memory is first written, then made executable, and never both (W^X). Code objects live at least
//! as long as the programs that use them; the registry of address ranges is asked only after a fault.

use std::ptr::NonNull;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use crate::code::Compiled;

/// Code that can run.
#[derive(Debug)]
pub(crate) struct CodeObject {
    start: NonNull<u8>,
    mapped: usize,
    length: usize,
    /// The function that it is the code of.
    pub function: u32,
    /// It calls code of regions by another generator, if there is that.
    pub regions: bool,
    positions: Vec<(u32, u32)>,
}

// SAFETY: the memory is never written again, and unmapped only when the object is dropped.
unsafe impl Send for CodeObject {}
// SAFETY: as above.
unsafe impl Sync for CodeObject {}

impl CodeObject {
    pub fn new(function: u32, compiled: Compiled) -> Result<Self, String> {
        let length = compiled.code.len();
        let mapped = length.max(1).next_multiple_of(4096);
        let wrong = |error| format!("no memory for {length} bytes of machine code: {error}");
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, wherever the kernel likes.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), mapped, access, MapFlags::PRIVATE) };
        let start = start.map_err(wrong)?.cast::<u8>();
        // SAFETY: the mapping is at least as long as the code, and nothing else knows of it.
        let executable = unsafe {
            std::ptr::copy_nonoverlapping(compiled.code.as_ptr(), start, length);
            mprotect(start.cast(), mapped, MprotectFlags::READ | MprotectFlags::EXEC)
        };
        if let Err(error) = executable {
            // SAFETY: as above.
            let _ = unsafe { munmap(start.cast(), mapped) };
            return Err(wrong(error));
        }
        let start = NonNull::new(start).expect("mmap does not give null");
        let Compiled { positions, regions, .. } = compiled;
        Ok(CodeObject { start, mapped, length, function, regions, positions })
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.mapped
    }

    /// Bytes of the code itself.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Where it is entered.
    #[must_use]
    pub fn entry(&self) -> *const u8 {
        self.start.as_ptr()
    }

    #[must_use]
    pub fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.start.as_ptr() as usize) < self.length
    }

    /// The instruction whose code is at an address in it.
    #[must_use]
    pub fn instruction(&self, address: usize) -> Option<u32> {
        let offset = address.checked_sub(self.start.as_ptr() as usize)? as u32;
        let after = self.positions.partition_point(|&(start, _)| start <= offset);
        Some(self.positions[after.checked_sub(1)?].1)
    }
}

impl Drop for CodeObject {
    fn drop(&mut self) {
        // SAFETY: it was mapped by `new`; nothing of it runs any more when it is dropped.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.mapped) };
    }
}
