//! Bytes on either side of a block that nobody may write.
//!
//! They hold the pattern of poisoned memory, so that a read beyond the section gives what an
//! uninitialised one would. A write of the very same bytes cannot be seen.

use super::state::Block;
use crate::memory::POISON;
use std::fmt::Write as _;
use std::ptr;

/// Bytes on either side. A multiple of what blocks are aligned to.
pub(super) const GUARD: usize = 4096;

/// What an address holds if nobody has written there.
const fn expected(address: usize) -> u8 {
    POISON.to_le_bytes()[address % 8]
}

/// Fills the guards of a block.
///
/// # Safety
/// The guards belong to the block.
pub(super) unsafe fn fill(begin: usize, size: usize) {
    for address in (begin - GUARD..begin).chain(begin + size..begin + size + GUARD) {
        // SAFETY: the caller's promise.
        unsafe { ptr::with_exposed_provenance_mut::<u8>(address).write(expected(address)) };
    }
}

/// What has been written into the guards of a block, in words. They are as new afterwards.
///
/// # Safety
/// The block is live.
pub(super) unsafe fn damage(begin: usize, block: &Block) -> Vec<String> {
    let end = begin + block.size;
    // SAFETY: the caller's promise.
    let sides = unsafe { [changed(begin - GUARD, begin), changed(end, end + GUARD)] };
    if sides.iter().all(Option::is_none) {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { fill(begin, block.size) };
    // Of a structure, what is mapped may begin behind the beginning of the block.
    let section = begin + block.padding;
    let [before, after] = sides;
    let before = before.map(|changed| {
        let distance = section - 1 - changed.last;
        describe(block, "before the beginning of", changed, distance, section)
    });
    let after = after.map(|changed| {
        let distance = changed.first - end;
        describe(block, "past the end of", changed, distance, section)
    });
    before.into_iter().chain(after).collect()
}

/// Changed bytes of a guard.
#[derive(Clone, Copy)]
struct Changed {
    first: usize,
    last: usize,
    count: usize,
}

/// # Safety
/// The range is readable.
unsafe fn changed(begin: usize, end: usize) -> Option<Changed> {
    let mut changed: Option<Changed> = None;
    let mut address = begin;
    // Volatile, as kernels on other threads may be writing there.
    while address < end {
        if address.is_multiple_of(8) && end - address >= 8 {
            // SAFETY: the caller's promise; the address is aligned.
            let word = unsafe { ptr::with_exposed_provenance::<u64>(address).read_volatile() };
            if word == POISON {
                address += 8;
                continue;
            }
        }
        // SAFETY: the caller's promise.
        let byte = unsafe { ptr::with_exposed_provenance::<u8>(address).read_volatile() };
        if byte != expected(address) {
            let seen = changed.get_or_insert(Changed { first: address, last: address, count: 0 });
            seen.last = address;
            seen.count += 1;
        }
        address += 1;
    }
    changed
}

fn describe(block: &Block, side: &str, changed: Changed, distance: usize, section: usize) -> String {
    let Changed { first, last, count } = changed;
    let offset = |address: usize| address.wrapping_sub(section).cast_signed();
    let plural = |count| if count == 1 { "byte" } else { "bytes" };
    let mut text = format!("{count} {} {side} {block} ", plural(count));
    let _ = write!(text, "{} been written", if count == 1 { "has" } else { "have" });
    let _ = write!(text, "\n  written: {distance} {} away from it", plural(distance));
    let _ = match (offset(first), offset(last)) {
        (first, last) if first == last => write!(text, ", byte {first} of the section"),
        (first, last) => write!(text, ", among bytes {first} to {last} of the section"),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of 40 bytes with its guards, in which these offsets are written.
    fn damaged(offsets: &[isize]) -> Vec<String> {
        let mut memory = vec![0_u64; (2 * GUARD + 40) / 8];
        let begin = memory.as_mut_ptr().expose_provenance() + GUARD;
        // SAFETY: the memory has room for the guards, and each offset lies in it.
        unsafe {
            fill(begin, 40);
            for offset in offsets {
                ptr::with_exposed_provenance_mut::<u8>(begin.wrapping_add_signed(*offset)).write(1);
            }
            let block = Block::new(0, 40);
            let told = damage(begin, &block);
            assert_eq!(damage(begin, &block), Vec::<String>::new(), "told once");
            told
        }
    }

    #[test]
    fn sides_and_distances_are_told() {
        assert_eq!(damaged(&[0, 17, 39]), Vec::<String>::new());
        let block = "40 bytes that no variable is mapped to";
        assert_eq!(
            damaged(&[40]),
            [format!(
                "1 byte past the end of {block} has been written\n  \
                 written: 0 bytes away from it, byte 40 of the section"
            )]
        );
        assert_eq!(
            damaged(&[-8, -7, 48, 55]),
            [
                format!(
                    "2 bytes before the beginning of {block} have been written\n  \
                     written: 6 bytes away from it, among bytes -8 to -7 of the section"
                ),
                format!(
                    "2 bytes past the end of {block} have been written\n  \
                     written: 8 bytes away from it, among bytes 48 to 55 of the section"
                ),
            ]
        );
        let guard = GUARD.cast_signed();
        assert_eq!(damaged(&[-guard, 39 + guard]).len(), 2, "up to their ends");
    }
}
