//! The pattern that device memory holds before the program writes to it.
//!
//! Host and device share one memory here, so a forgotten `map(to:)` would go
//! unnoticed: the block might hold the right values from an earlier use. The
//! pattern makes it show. As the 32-bit word `0x7FF4DEAD`, repeated, it is a NaN
//! for `half`, `bfloat16`, `float` and `double` (and spreads through every sum),
//! an absurdly large integer and index, and as a pointer an address that no
//! x86-64 program can have, so dereferencing it faults.

pub(crate) use gangway_backend::POISON as PATTERN;
use std::hint::black_box;

/// The repeated word; [`PATTERN`] is two of them, what a pointer-sized load from poisoned memory gives.
const WORD: u32 = PATTERN as u32;

/// Blocks up to this size are filled completely.
const WHOLE: usize = 1 << 20;

/// Of larger blocks, this much at either end is filled. The rest is not touched:
/// filling it from the allocating thread would cost as much as a kernel and would
/// place every page on that thread's NUMA node, where the stock library leaves
/// placement to the first kernel that writes.
const EDGE: usize = 256 << 10;

/// Freed blocks up to this size are filled again, so that a use after unmapping
/// shows. Larger ones are not: see [`EDGE`].
const FREED: usize = 4096;

/// What is poisoned (`GANGWAY_CPU_POISON`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Poison {
    /// Nothing (`0`).
    Off,
    /// New blocks up to 1 MiB and the ends of larger ones; freed ones up to 4 KiB (`1`, the default).
    Bounded,
    /// All of every block, new or freed (`all`).
    Everything,
}

impl Poison {
    /// In words, for `gangway info`.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Bounded => "new blocks (the ends of those above 1 MiB), freed ones up to 4 KiB",
            Self::Everything => "all, new and freed",
        }
    }

    /// Poisons a new block.
    ///
    /// # Safety
    /// `block` is valid for writing `size` bytes, and 8-byte aligned.
    #[inline]
    pub unsafe fn allocated(self, block: *mut u8, size: usize) {
        match self {
            Self::Off => {}
            Self::Bounded if size > WHOLE => {
                // SAFETY: both ranges lie in the block; `size - EDGE` is rounded down to keep the alignment.
                unsafe {
                    fill(block, EDGE);
                    let tail = (size - EDGE) & !7;
                    fill(block.add(tail), size - tail);
                }
            }
            // SAFETY: the caller's promise.
            Self::Bounded | Self::Everything => unsafe { fill(block, size) },
        }
    }

    /// Poisons a block that is about to be freed.
    ///
    /// # Safety
    /// As [`allocated`](Self::allocated).
    #[inline]
    pub unsafe fn freed(self, block: *mut u8, size: usize) {
        if self == Self::Everything || (self == Self::Bounded && size <= FREED) {
            // SAFETY: the caller's promise.
            unsafe { fill(block, size) }
        }
    }
}

/// # Safety
/// As [`Poison::allocated`].
#[inline]
unsafe fn fill(block: *mut u8, size: usize) {
    let words = size / 8;
    // SAFETY: the caller's promise; the tail is written bytewise.
    unsafe {
        std::slice::from_raw_parts_mut(block.cast::<std::mem::MaybeUninit<u64>>(), words)
            .fill(std::mem::MaybeUninit::new(PATTERN));
        for i in words * 8..size {
            block.add(i).write(PATTERN.to_le_bytes()[i % 8]);
        }
    }
    // The compiler may drop stores to memory that it then sees freed.
    black_box(block);
}

/// Whether `value` was loaded from poisoned memory, or computed from such a
/// pointer by adding an offset.
pub(crate) const fn looks_poisoned(value: u64) -> bool {
    (value >> 32) as u32 == WORD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_is_a_nan_of_every_width_and_no_address() {
        assert!(f64::from_bits(PATTERN).is_nan());
        assert!(f32::from_bits(WORD).is_nan());
        // half: exponent 0x1F and a fraction; bfloat16: exponent 0xFF and a fraction.
        let high = WORD >> 16;
        assert!(high & 0x7C00 == 0x7C00 && high & 0x03FF != 0);
        assert!(high & 0x7F80 == 0x7F80 && high & 0x007F != 0);
        let sign_bits = PATTERN >> 47;
        assert!(sign_bits != 0 && sign_bits != 0x1_FFFF, "not canonical");
        assert!(looks_poisoned(PATTERN) && looks_poisoned(PATTERN + 8000) && looks_poisoned(PATTERN - 64));
        assert!(!looks_poisoned(0x7fff_dead_beef) && !looks_poisoned(0));
    }

    #[test]
    fn odd_sizes_are_filled_to_the_last_byte_and_not_beyond() {
        for size in 0..64 {
            let mut block = [0_u64; 9];
            // SAFETY: the block has 72 bytes.
            unsafe { Poison::Bounded.allocated(block.as_mut_ptr().cast(), size) };
            let bytes: Vec<u8> = block.iter().flat_map(|w| w.to_le_bytes()).collect();
            let expected: Vec<u8> = PATTERN.to_le_bytes().into_iter().cycle().take(size).collect();
            assert_eq!(&bytes[..size], expected);
            assert!(bytes[size..].iter().all(|b| *b == 0));
        }
    }

    #[test]
    fn large_blocks_are_filled_at_the_ends_only() {
        let size = (4 << 20) + 12;
        let mut block = vec![0_u64; size / 8 + 1];
        let pointer = block.as_mut_ptr().cast::<u8>();
        // SAFETY: the block has at least `size` bytes.
        unsafe { Poison::Bounded.allocated(pointer, size) };
        assert_eq!(block[0], PATTERN);
        assert_eq!(block[EDGE / 8 - 1], PATTERN);
        assert_eq!(block[EDGE / 8], 0);
        assert_eq!(block[size / 8 - 1], PATTERN);
        assert_eq!(block[size / 8] as u32, WORD);
        // SAFETY: as above.
        unsafe { Poison::Everything.freed(pointer, size) };
        assert!(block[..size / 8].iter().all(|w| *w == PATTERN));
    }
}
