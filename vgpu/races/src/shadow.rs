//! The last accesses of each word of memory.

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Bytes of a word.
pub const WORD: u64 = 4;

/// What is kept of a word. Threads of the host write here at the same time: what gets lost then
/// hides a race.
#[derive(Debug, Default)]
pub struct Word {
    /// The value of the last write, which is noted before the write itself.
    pub value: AtomicU32,
    pub write: AtomicU64,
    pub reads: [AtomicU64; 2],
}

/// Words that are shadowed together, of 64 KiB of memory.
const PART_BITS: u32 = 16;
const PART_WORDS: usize = 1 << (PART_BITS - 2);
/// Parts that are listed together, of 1 GiB of memory.
const LIST_BITS: u32 = 30;
const LIST_PARTS: usize = 1 << (LIST_BITS - PART_BITS);
/// Lists, of 4 TiB: the range of device memory.
const LISTS: usize = 1 << 12;

type Part = [Word; PART_WORDS];
type List = [AtomicPtr<Part>; LIST_PARTS];

/// The shadow of device memory: made where memory is used, and kept.
#[derive(Debug)]
pub struct Shadow {
    /// Where the range begins.
    base: u64,
    lists: Box<[AtomicPtr<List>]>,
}

impl Shadow {
    /// For a range from `base` on.
    #[must_use]
    pub fn new(base: u64) -> Self {
        Shadow { base, lists: (0..LISTS).map(|_| AtomicPtr::default()).collect() }
    }

    /// The word at an address; `None` outside of the range, or without memory for it.
    #[must_use]
    pub fn word(&self, address: u64) -> Option<&Word> {
        let offset = address.checked_sub(self.base)?;
        let list = made(self.lists.get((offset >> LIST_BITS) as usize)?)?;
        let part = made(&list[(offset >> PART_BITS) as usize & (LIST_PARTS - 1)])?;
        Some(&part[(offset / WORD) as usize & (PART_WORDS - 1)])
    }

    /// Forgets the accesses of a range.
    pub fn forget(&self, address: u64, size: u64) {
        let mut at = address & !(WORD - 1);
        let end = address.saturating_add(size);
        while at < end {
            let next = ((at >> PART_BITS) + 1) << PART_BITS;
            match self.part(at) {
                // Nothing has been done there.
                None => at = next,
                Some(part) => {
                    part[(at / WORD) as usize & (PART_WORDS - 1)].clear();
                    at += WORD;
                }
            }
        }
    }

    /// The part that an address is in, if there is one yet.
    fn part(&self, address: u64) -> Option<&Part> {
        let offset = address.checked_sub(self.base)?;
        let list = self.lists.get((offset >> LIST_BITS) as usize)?.load(Ordering::Acquire);
        // SAFETY: what is there stays until the shadow ends.
        let list = unsafe { list.as_ref() }?;
        let part = list[(offset >> PART_BITS) as usize & (LIST_PARTS - 1)].load(Ordering::Acquire);
        // SAFETY: as above.
        unsafe { part.as_ref() }
    }

    /// Forgets all accesses. Nobody else uses the shadow meanwhile, or what they note may get lost.
    pub fn clear(&self) {
        let there = |list: &AtomicPtr<List>| {
            // SAFETY: what is there stays until the shadow ends.
            unsafe { list.load(Ordering::Acquire).as_ref() }
        };
        for part in self.lists.iter().filter_map(there).flatten() {
            // SAFETY: as above.
            let Some(part) = (unsafe { part.load(Ordering::Acquire).as_ref() }) else { continue };
            part.iter().for_each(Word::clear);
        }
    }
}

impl Word {
    pub fn clear(&self) {
        for cell in [&self.write, &self.reads[0], &self.reads[1]] {
            cell.store(0, Ordering::Relaxed);
        }
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        for list in &mut self.lists {
            let list = *list.get_mut();
            if list.is_null() {
                continue;
            }
            // SAFETY: `made` has made it of a box, and nobody else has the shadow.
            let mut list = unsafe { Box::from_raw(list) };
            for part in list.iter_mut().map(|part| *part.get_mut()).filter(|part| !part.is_null()) {
                // SAFETY: as above.
                drop(unsafe { Box::from_raw(part) });
            }
        }
    }
}

/// What is to be behind a pointer; made if it is not yet, all of zeros.
fn made<T>(place: &AtomicPtr<T>) -> Option<&T> {
    let found = place.load(Ordering::Acquire);
    if !found.is_null() {
        // SAFETY: it was made below, and stays until the shadow ends.
        return Some(unsafe { &*found });
    }
    let layout = std::alloc::Layout::new::<T>();
    // SAFETY: none of the types has no size.
    let new = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<T>();
    if new.is_null() {
        return None;
    }
    // Zeros are cells without accesses, and null pointers.
    match place.compare_exchange(std::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: made just now.
        Ok(_) => Some(unsafe { &*new }),
        Err(other) => {
            // SAFETY: nobody else knows of it, and it was allocated with this layout.
            unsafe { std::alloc::dealloc(new.cast(), layout) };
            // SAFETY: another thread has made it.
            Some(unsafe { &*other })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_apart_and_stay() {
        let shadow = Shadow::new(1 << 45);
        let at = |offset: u64| shadow.word((1 << 45) + offset);
        for (offset, value) in [(0, 1), (4, 2), (1 << 16, 3), (1 << 30, 4), ((1 << 42) - 4, 5)] {
            at(offset).unwrap().write.store(value, Ordering::Relaxed);
        }
        for (offset, value) in [(0, 1), (3, 1), (4, 2), (1 << 16, 3), (1 << 30, 4), ((1 << 42) - 1, 5)] {
            assert_eq!(at(offset).unwrap().write.load(Ordering::Relaxed), value, "{offset}");
        }
        assert!(at(1 << 42).is_none() && shadow.word(8).is_none());
        shadow.forget((1 << 45) + 4, 1 << 20);
        let left = |offset| at(offset).unwrap().write.load(Ordering::Relaxed);
        assert_eq!([left(0), left(4), left(1 << 16), left(1 << 30)], [1, 0, 0, 4]);
        shadow.clear();
        assert_eq!(at(0).unwrap().write.load(Ordering::Relaxed), 0);
    }
}
