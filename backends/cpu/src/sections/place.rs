//! Where a block lies in what the device has allocated for it: between two guards, and with
//! `GANGWAY_CHECK=2` before a page that nobody may touch.
//!
//! The page finds reads, and tells the line. It lies as near as the alignment of blocks allows; the
//! bytes up to it are a guard.

use std::ptr;

/// Bytes of a guard. A multiple of what blocks are aligned to.
pub(super) const GUARD: usize = 4096;

/// Of blocks, as a CPU device gives them: a cache line.
const ALIGNMENT: usize = 64;

const PAGE: usize = 4096;

/// Of a block, which begins behind a guard.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Where the device's allocation begins.
    pub allocation: usize,
    /// Bytes of the guard behind the block.
    pub behind: usize,
    /// The page behind that cannot be touched.
    fence: Option<usize>,
}

impl Place {
    /// Bytes that the device has to allocate.
    pub fn room(size: usize, fenced: bool) -> Option<usize> {
        size.checked_add(if fenced { GUARD + ALIGNMENT + 2 * PAGE } else { 2 * GUARD })
    }

    /// The beginning of a block of `size` bytes in an allocation that has the [room](Self::room).
    pub fn choose(allocation: usize, size: usize, fenced: bool) -> (usize, Self) {
        if !fenced {
            return (allocation + GUARD, Self { allocation, behind: GUARD, fence: None });
        }
        let end = allocation + GUARD + size + ALIGNMENT + 2 * PAGE;
        let fence = end / PAGE * PAGE - PAGE;
        let begin = (fence - size) / ALIGNMENT * ALIGNMENT;
        (begin, Self { allocation, behind: fence - (begin + size), fence: Some(fence) })
    }

    /// Takes the page away. Where the system does not (too many mappings), a use of it is not seen.
    pub fn close(&self) {
        self.protect(libc::PROT_NONE);
    }

    /// Gives it back, before the allocation is freed.
    pub fn open(&self) {
        self.protect(libc::PROT_READ | libc::PROT_WRITE);
    }

    /// Whether an address is in that page.
    pub fn is_fenced(&self, address: usize) -> bool {
        self.fence.is_some_and(|fence| (fence..fence + PAGE).contains(&address))
    }

    fn protect(&self, protection: i32) {
        let Some(fence) = self.fence else { return };
        // SAFETY: a page inside of the allocation in which nothing is kept.
        unsafe { libc::mprotect(ptr::with_exposed_provenance_mut(fence), PAGE, protection) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_ends_at_its_fence_or_a_few_bytes_before() {
        for size in [1, 8, 63, 64, 65, 800, 4096, 5000] {
            for allocation in (0..2 * PAGE).step_by(ALIGNMENT).map(|offset| (1 << 20) + offset) {
                let (begin, place) = Place::choose(allocation, size, true);
                let fence = place.fence.unwrap();
                let end = allocation + Place::room(size, true).unwrap();
                assert!(begin >= allocation + GUARD && fence + PAGE <= end);
                assert!(begin.is_multiple_of(ALIGNMENT) && fence.is_multiple_of(PAGE));
                assert_eq!(begin + size + place.behind, fence);
                assert!(place.behind < ALIGNMENT);
            }
        }
        let (begin, place) = Place::choose(1 << 20, 100, false);
        assert_eq!((begin, place.behind, place.fence), ((1 << 20) + GUARD, GUARD, None));
        assert_eq!(Place::room(usize::MAX - GUARD, false), None);
    }
}
