//! The calls to the operating system: reserving the range, opening and closing pages.
//!
//! Called by `space` and `classes`. All functions take addresses inside the reserved range
//! and must never be given others: what they do to pages cannot be undone.

use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MprotectFlags, MremapFlags, ProtFlags, madvise, mmap_anonymous, mprotect, mremap_fixed,
};

use crate::SIZE;
use crate::range::range;

/// Constants are mapped twice: where kernels read them, and this much further on, where the host
/// writes them. A change of protection for each write would let kernels write meanwhile.
pub(crate) const MIRROR: u64 = SIZE;

/// The unit of protection.
pub(crate) const PAGE: u64 = 4096;
/// What the kernel calls a huge page.
pub(crate) const HUGE: u64 = 2 << 20;

/// What is at an address.
pub(crate) fn pointer<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Takes the whole range with its shadows and its mirror, without access to any of it.
pub(crate) fn reserve() -> Result<(), String> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
    let (first, length) = (range().first, (range().end - range().first) as usize);
    // SAFETY: FIXED_NOREPLACE replaces no mapping of anybody else.
    let mapped = unsafe { mmap_anonymous(pointer(first), length, ProtFlags::empty(), flags) };
    match mapped {
        Ok(at) if at.addr() as u64 == first => {
            at.expose_provenance();
            Ok(())
        }
        // Kernels before 4.17 take the address as a hint.
        Ok(at) => {
            // SAFETY: it was just mapped, and nothing knows of it.
            let _ = unsafe { rustix::mm::munmap(at, length) };
            Err("something else is mapped there".to_owned())
        }
        Err(Errno::EXIST) => Err("something else is mapped there".to_owned()),
        Err(Errno::NOMEM) => {
            Err("the kernel refuses so much address space (is there a limit, `ulimit -v`?)".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Makes pages readable and writable; they read as zero until they are written. `huge` asks for
/// huge pages where the pages make whole ones.
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

/// Makes pages readable, and the same pages writable in the mirror. What fails may be done in part.
pub(crate) fn open_constant(start: u64, length: u64) -> Result<(), Errno> {
    if length == 0 {
        return Ok(());
    }
    if !range().is_full {
        return Err(Errno::OPNOTSUPP);
    }
    let (mirror, size) = (pointer(start + MIRROR), length as usize);
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::SHARED | MapFlags::NORESERVE | MapFlags::FIXED;
    // SAFETY: both are in what is reserved, and the caller owns the pages. Moving none of the old
    // pages maps the same ones once more.
    unsafe {
        mmap_anonymous(mirror, size, access, flags)?;
        mremap_fixed(mirror, 0, size, MremapFlags::MAYMOVE, pointer(start))?;
        mprotect(pointer(start), size, MprotectFlags::READ)
    }
}

/// Gives pages that are mapped twice back to the kernel; in a dense slot they are accessible
/// afterwards.
pub(crate) fn close_constant(start: u64, length: u64, dense: bool) -> Result<(), Errno> {
    close(start + MIRROR, length)?;
    close(start, length)?;
    if dense { open(start, length, false) } else { Ok(()) }
}

/// Gives pages back to the kernel and makes them inaccessible. A new mapping in place of the old
/// one, rather than a change of its protection. Only so can the kernel merge it with what is around
/// it. A process may have no more than some 65,000 mappings.
pub(crate) fn close(start: u64, length: u64) -> Result<(), Errno> {
    if length == 0 {
        return Ok(());
    }
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
    // SAFETY: the pages are in the reserved range, the caller owns them, and nothing may use them
    // any more.
    unsafe { mmap_anonymous(pointer(start), length as usize, ProtFlags::empty(), flags) }.map(|_| ())
}

/// Gives pages back to the kernel, and leaves them accessible: they read as zero.
pub(crate) fn clear(start: u64, length: u64) -> Result<(), Errno> {
    // SAFETY: as for `close`.
    unsafe { madvise(pointer(start), length as usize, Advice::LinuxDontNeed) }
}

/// Puts new pages of small size in the place of whatever pages there are: they are accessible and read as zero.
pub(crate) fn renew(start: u64, length: u64) -> Result<(), Errno> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
    let (at, length) = (pointer(start), length as usize);
    // SAFETY: as for `close`.
    unsafe {
        mmap_anonymous(at, length, ProtFlags::READ | ProtFlags::WRITE, flags)?;
        // As what is around it, so that it becomes one with that again.
        let _ = madvise(at, length, Advice::LinuxNoHugepage);
    }
    Ok(())
}

/// How many mappings a process may have.
pub(crate) fn mappings() -> usize {
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count");
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(65530)
}
