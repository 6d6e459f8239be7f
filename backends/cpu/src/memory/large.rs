//! Blocks of more than 16 KiB, from the C library's heap.
//!
//! `malloc` already caches and returns such blocks well, and an address-checking
//! tool that replaces it then sees them too. A header in front of the block
//! makes a wrong free an error instead of a damaged heap. Only
//! [`memory`](super) calls this.

use std::ptr;

/// Room for the header, and the alignment of blocks: a cache line.
const HEADER: usize = 64;

/// From this size on, the kernel is asked to back the block with huge pages.
const HUGE: usize = 4 << 20;

/// Marks a live block; combined with its address, so that a copy of the header
/// elsewhere is not taken for one.
const LIVE: u64 = 0x6761_6e67_7761_7921;

struct Header {
    mark: u64,
    device: usize,
    size: usize,
    raw: *mut libc::c_void,
}

const _: () = assert!(size_of::<Header>() <= HEADER);

/// What the header of a live block says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Live {
    pub device: usize,
    pub size: usize,
}

/// A block of `size` bytes for `device`.
pub(crate) fn allocate(device: usize, size: usize) -> Option<*mut u8> {
    let total = size.checked_add(2 * HEADER)?;
    // SAFETY: any size may be asked for.
    let raw = unsafe { libc::malloc(total) };
    if raw.is_null() {
        return None;
    }
    let block = raw.cast::<u8>().wrapping_add(HEADER);
    let block = block.wrapping_add(block.align_offset(HEADER));
    let header = Header { mark: LIVE ^ block.addr() as u64, device, size, raw };
    // SAFETY: `raw` has room for the alignment, the header and the block.
    unsafe { block.sub(HEADER).cast::<Header>().write(header) };
    if size >= HUGE {
        let page = 4096;
        let start = block.addr().next_multiple_of(page);
        let length = (block.addr() + size - start) / page * page;
        // SAFETY: advice on whole pages inside the block; a refusal changes nothing.
        unsafe { libc::madvise(ptr::with_exposed_provenance_mut(start), length, libc::MADV_HUGEPAGE) };
    }
    Some(block)
}

/// What stands at `address`, if a live block does. Any address may be asked about.
pub(crate) fn find(address: usize) -> Option<Live> {
    if !address.is_multiple_of(HEADER) || address < HEADER || !readable(address - HEADER) {
        return None;
    }
    let header: *const Header = ptr::with_exposed_provenance(address - HEADER);
    // SAFETY: the line is readable; any bytes make a header, whose mark says whether it is one.
    let header = unsafe { header.read() };
    (header.mark == LIVE ^ address as u64).then_some(Live { device: header.device, size: header.size })
}

/// Frees a block that [`find`] has found.
///
/// # Safety
/// The block is live, and nobody else frees it.
pub(crate) unsafe fn free(block: *mut u8) {
    let header = block.wrapping_sub(HEADER).cast::<Header>();
    // SAFETY: the caller's promise. The mark is written volatile, as the compiler
    // may drop a store to memory that is then freed.
    unsafe {
        let raw = (*header).raw;
        (&raw mut (*header).mark).write_volatile(0);
        libc::free(raw);
    }
}

/// Whether the 8 bytes at `address` can be read.
///
/// The kernel copies the set in before it looks at the (here impossible) first
/// argument, so it answers "bad address" or "bad argument" and does nothing.
fn readable(address: usize) -> bool {
    // SAFETY: an unknown `how` changes no signal mask.
    unsafe {
        let set = ptr::with_exposed_provenance::<u8>(address);
        let status = libc::syscall(libc::SYS_rt_sigprocmask, -1_i64, set, ptr::null_mut::<u8>(), 8_usize);
        // A null set is not copied, and the call succeeds.
        status == -1 && *libc::__errno_location() == libc::EINVAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_and_junk_is_not() {
        let block = allocate(2, 100_000).unwrap();
        assert_eq!(block.addr() % HEADER, 0);
        // SAFETY: the block has that many bytes.
        unsafe { block.write_bytes(1, 100_000) };
        assert_eq!(find(block.addr()), Some(Live { device: 2, size: 100_000 }));
        for junk in [0, 64, 4096, block.addr() + 8, block.addr() + 64, usize::MAX - 63, 0x7FF4_DEAD_7FF4_DE80]
        {
            assert_eq!(find(junk), None, "{junk:#x}");
        }
        // SAFETY: live, and freed once.
        unsafe { free(block) };
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(allocate(0, usize::MAX).is_none());
        assert!(allocate(0, usize::MAX / 2).is_none());
    }

    #[test]
    fn huge_blocks_work() {
        let size = 9 << 20;
        let block = allocate(0, size).unwrap();
        // SAFETY: both bytes are in the block, which is freed once.
        unsafe {
            block.write(1);
            block.add(size - 1).write(2);
            free(block);
        }
    }
}
