//! Bytes on either side of a block that nobody may write.
//!
//! They hold the pattern of poisoned memory, so that a read beyond the section gives what an
//! uninitialised one would. A write of the very same bytes cannot be seen.

use super::block::Block;
use super::place::GUARD;
use crate::memory::POISON;
use std::fmt::Write as _;
use std::ptr;

/// What an address holds if nobody has written there.
const fn expected(address: usize) -> u8 {
    POISON.to_le_bytes()[address % 8]
}

/// Fills the guards of a block.
///
/// # Safety
/// The block has been placed.
pub(crate) unsafe fn fill(begin: usize, block: &Block) {
    let end = begin + block.size;
    for address in (begin - GUARD..begin).chain(end..end + block.place.behind) {
        // SAFETY: the caller's promise.
        unsafe { ptr::with_exposed_provenance_mut::<u8>(address).write(expected(address)) };
    }
}

/// Bytes of a guard that have been written.
#[derive(Debug)]
pub(crate) struct Damage {
    block: Block,
    is_before: bool,
    /// The written bytes that are first and last, from the beginning of what is mapped.
    first: isize,
    last: isize,
    count: usize,
}

/// What has been written into the guards of a block. They are as new afterwards.
///
/// # Safety
/// The block is live.
pub(crate) unsafe fn damage(begin: usize, block: &Block) -> Vec<Damage> {
    let end = begin + block.size;
    // SAFETY: the caller's promise.
    let sides = unsafe { [changed(begin - GUARD, begin), changed(end, end + block.place.behind)] };
    if sides.iter().all(Option::is_none) {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { fill(begin, block) };
    // Of a structure, what is mapped may begin behind the beginning of the block.
    let section = begin + block.padding;
    let offset = |address: usize| address.wrapping_sub(section).cast_signed();
    let [before, after] = sides;
    let damage = |changed: Changed, is_before| Damage {
        block: *block,
        is_before,
        first: offset(changed.first),
        last: offset(changed.last),
        count: changed.count,
    };
    let (before, after) = (before.map(|one| damage(one, true)), after.map(|one| damage(one, false)));
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

impl Damage {
    /// What has been written, in words. Another program may be asked for the elements' names.
    pub fn describe(&self) -> String {
        let Self { ref block, is_before, first, last, count } = *self;
        let plural = |count| if count == 1 { "byte" } else { "bytes" };
        let side = if is_before { "before the beginning of" } else { "past the end of" };
        let mut text = format!("{count} {} {side} {block} ", plural(count));
        let _ = write!(text, "{} been written\n  written: ", if count == 1 { "has" } else { "have" });
        let _ = self.write_elements(&mut text);
        let distance = block.distance(if is_before { last } else { first });
        let _ = write!(text, "{distance} {} away from it", plural(distance));
        let _ = match first == last {
            true => write!(text, ", byte {first} of the section"),
            false => write!(text, ", among bytes {first} to {last} of the section"),
        };
        text
    }

    /// `` `a[100]`,  `` or `` `a[100]` to `a[107]`,  ``, if that is known.
    fn write_elements(&self, text: &mut String) -> std::fmt::Result {
        let Some(first) = self.block.element(self.first) else { return Ok(()) };
        write!(text, "`{}`", first.as_str())?;
        let last = if self.first == self.last { None } else { self.block.element(self.last) };
        if let Some(last) = last.filter(|last| last.as_str() != first.as_str()) {
            write!(text, " to `{}`", last.as_str())?;
        }
        text.write_str(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Place;
    use super::*;

    /// A block of 40 bytes with its guards, in which these offsets are written.
    fn damaged(offsets: &[isize]) -> Vec<String> {
        let mut memory = vec![0_u64; (2 * GUARD + 40) / 8];
        let begin = memory.as_mut_ptr().expose_provenance() + GUARD;
        // SAFETY: the memory has room for the guards, and each offset lies in it.
        unsafe {
            let place = Place::choose(begin - GUARD, 40, false).1;
            let block = Block::new(0, 40, place);
            fill(begin, &block);
            for offset in offsets {
                ptr::with_exposed_provenance_mut::<u8>(begin.wrapping_add_signed(*offset)).write(1);
            }
            let told = damage(begin, &block);
            assert!(damage(begin, &block).is_empty(), "told once");
            told.iter().map(Damage::describe).collect()
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
