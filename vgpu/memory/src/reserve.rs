//! The calls to the operating system: reserving the range, opening and closing pages.
//!
//! Called by `space` and `classes`. All functions take addresses inside the reserved range
//! and must never be given others: what they do to pages cannot be undone.

use std::ffi::c_void;

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect};

use crate::{BASE, SIZE};

/// The unit of protection.
pub(crate) const PAGE: u64 = 4096;
/// What the kernel calls a huge page.
pub(crate) const HUGE: u64 = 2 << 20;

fn pointer(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Takes the whole range, without access to any of it.
pub(crate) fn reserve() -> Result<(), String> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
    // SAFETY: FIXED_NOREPLACE replaces no mapping of anybody else.
    let mapped = unsafe { mmap_anonymous(pointer(BASE), SIZE as usize, ProtFlags::empty(), flags) };
    match mapped {
        Ok(at) if at.addr() as u64 == BASE => {
            at.expose_provenance();
            Ok(())
        }
        // Kernels before 4.17 take the address as a hint.
        Ok(at) => {
            // SAFETY: it was just mapped, and nobody knows of it.
            let _ = unsafe { rustix::mm::munmap(at, SIZE as usize) };
            Err("something else is mapped there".to_owned())
        }
        Err(Errno::EXIST) => Err("something else is mapped there".to_owned()),
        Err(Errno::NOMEM) => {
            Err("the kernel refuses so much address space (is there a limit, `ulimit -v`?)".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Makes pages readable and writable; they read as zero until they are written. `huge` asks for huge
/// pages where the pages make whole ones.
pub(crate) fn open(start: u64, length: u64, huge: bool) -> Result<(), Errno> {
    if length == 0 {
        return Ok(());
    }
    // SAFETY: the pages are in the reserved range, and the caller owns them.
    unsafe { mprotect(pointer(start), length as usize, MprotectFlags::READ | MprotectFlags::WRITE) }?;
    if huge && length >= HUGE {
        // Only a hint: kernels without huge pages refuse it.
        // SAFETY: this advice does not change contents.
        let _ = unsafe { madvise(pointer(start), length as usize, Advice::LinuxHugepage) };
    }
    Ok(())
}

/// Gives pages back to the kernel and makes them inaccessible. A new mapping in place of
/// the old one, rather than a change of its protection: only so can the kernel merge it
/// with what is around it, and a process may have no more than some 65,000 mappings.
pub(crate) fn close(start: u64, length: u64) -> Result<(), Errno> {
    if length == 0 {
        return Ok(());
    }
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
    // SAFETY: the pages are in the reserved range, the caller owns them, and nobody may
    // use them any more.
    unsafe { mmap_anonymous(pointer(start), length as usize, ProtFlags::empty(), flags) }.map(|_| ())
}

/// Gives pages back to the kernel, and leaves them accessible: they read as zero.
pub(crate) fn clear(start: u64, length: u64) -> Result<(), Errno> {
    // SAFETY: as for `close`.
    unsafe { madvise(pointer(start), length as usize, Advice::LinuxDontNeed) }
}

/// How many mappings a process may have.
pub(crate) fn mappings() -> usize {
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count");
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(65530)
}
