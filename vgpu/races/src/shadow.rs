//! The lines of memory: of the device's, and of the host's.

use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::thread::yield_now;

use crate::line::{LINE, Line, WORD, WORDS, between};

/// The values that were written last to the words of a line, which are noted before they are written.
pub type Written = [u32; WORDS];

/// Lines that are made together, of 1 MiB of memory: what is not used of them takes no room.
const PART_BITS: u32 = 20;
const PART_LINES: usize = 1 << (PART_BITS - LINE.trailing_zeros());
/// Parts that are listed together, of 1 GiB of memory.
const LIST_BITS: u32 = 30;
const LIST_PARTS: usize = 1 << (LIST_BITS - PART_BITS);

/// A line that one thread of the host at a time has. It is not aligned to more than memory of the allocator is: that
/// would be filled with zeros by hand, and be there before it is used.
#[derive(Debug)]
#[repr(C)]
struct Entry {
    taken: AtomicBool,
    line: UnsafeCell<Line>,
}

#[derive(Debug)]
struct Part {
    lines: [Entry; PART_LINES],
    /// Apart, as most lines are only read. Whoever has the line has them.
    written: [UnsafeCell<Written>; PART_LINES],
}

// SAFETY: what is in cells is used by whoever has the entry.
unsafe impl Sync for Part {}

type List = [AtomicPtr<Part>; LIST_PARTS];

/// The lines of a range of memory: made where memory is used, and kept.
#[derive(Debug)]
pub struct Shadow {
    /// Where the range begins.
    base: u64,
    lists: Box<[AtomicPtr<List>]>,
}

/// A line that is had until this is dropped.
pub struct Had<'s> {
    entry: &'s Entry,
    written: &'s UnsafeCell<Written>,
}

/// How often to look before other threads are let run.
const LOOKS: u32 = 100;

impl Part {
    fn take(&self, number: usize) -> Had<'_> {
        let entry = &self.lines[number];
        let mut looks = 0;
        while entry.taken.swap(true, Ordering::Acquire) {
            while entry.taken.load(Ordering::Relaxed) {
                looks += 1;
                if looks % LOOKS == 0 { yield_now() } else { spin_loop() }
            }
        }
        Had { entry, written: &self.written[number] }
    }

    /// The line, unless it is had for long.
    fn take_soon(&self, number: usize) -> Option<Had<'_>> {
        let entry = &self.lines[number];
        for _ in 0..100 * LOOKS {
            if !entry.taken.swap(true, Ordering::Acquire) {
                return Some(Had { entry, written: &self.written[number] });
            }
            yield_now();
        }
        None
    }
}

impl Had<'_> {
    pub fn get(&mut self) -> (&mut Line, &mut Written) {
        // SAFETY: nobody else has the line.
        unsafe { (&mut *self.entry.line.get(), &mut *self.written.get()) }
    }
}

impl Drop for Had<'_> {
    fn drop(&mut self) {
        self.entry.taken.store(false, Ordering::Release);
    }
}

impl Shadow {
    /// For a range of so many bytes from `base` on.
    #[must_use]
    pub fn new(base: u64, size: u64) -> Self {
        let lists = size >> LIST_BITS;
        Shadow { base, lists: (0..lists).map(|_| AtomicPtr::default()).collect() }
    }

    /// The line at an address; `None` outside of the range, or without memory for it.
    #[must_use]
    pub fn line(&self, address: u64) -> Option<Had<'_>> {
        let offset = address.checked_sub(self.base)?;
        let list = made(self.lists.get((offset >> LIST_BITS) as usize)?)?;
        let part = made(&list[(offset >> PART_BITS) as usize & (LIST_PARTS - 1)])?;
        Some(part.take((offset / LINE) as usize & (PART_LINES - 1)))
    }

    /// The line at an address will be asked for soon: who takes it then need not wait for memory.
    #[inline]
    pub fn expect(&self, address: u64) {
        if let Some(part) = self.part(address) {
            let number = (address.wrapping_sub(self.base) / LINE) as usize & (PART_LINES - 1);
            // What is used of most lines is at their beginning, in one or two lines of the processor's caches.
            let entry = &raw const part.lines[number];
            prefetch(entry.cast::<u8>());
            prefetch(entry.cast::<u8>().wrapping_add(56));
        }
    }

    /// The values that were written to the line at an address will be written soon.
    #[inline]
    pub fn expect_values(&self, address: u64) {
        if let Some(part) = self.part(address) {
            let number = (address.wrapping_sub(self.base) / LINE) as usize & (PART_LINES - 1);
            let values = part.written[number].get().cast::<u8>();
            prefetch(values);
            prefetch(values.wrapping_add(64));
        }
    }

    /// Forgets the accesses of a range.
    pub fn forget(&self, address: u64, size: u64) {
        self.forget_unless(address, size, |part, line| Some(part.take(line)));
    }

    /// Forgets the accesses of a range, but for lines that others have for long: of the calling thread's own
    /// callers may be one that has a line.
    pub fn forget_patiently(&self, address: u64, size: u64) {
        self.forget_unless(address, size, Part::take_soon);
    }

    fn forget_unless<'s>(
        &'s self,
        address: u64,
        size: u64,
        take: impl Fn(&'s Part, usize) -> Option<Had<'s>>,
    ) {
        let mut at = address & !(WORD - 1);
        let end = address.saturating_add(size).next_multiple_of(WORD);
        while at < end {
            // Nothing has been done where there is no part.
            let Some(part) = self.part(at) else {
                at = ((at >> PART_BITS) + 1) << PART_BITS;
                continue;
            };
            let line = at & !(LINE - 1);
            let next = end.min(line + LINE);
            if let Some(mut had) = take(part, ((at - self.base) / LINE) as usize & (PART_LINES - 1)) {
                had.get().0.forget(between(at - line, next - line));
            }
            at = next;
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
            (0..PART_LINES).for_each(|line| part.take(line).get().0.clear());
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

/// Has the processor load what is at an address, without waiting for it.
#[inline]
fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it accesses nothing, and every such processor has the instruction.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
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
    // Zeros are lines without accesses that nobody has, and null pointers.
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
    fn lines_are_apart_and_stay() {
        let shadow = Shadow::new(1 << 45, 1 << 42);
        let at = |offset: u64| shadow.line((1 << 45) + offset);
        let written = |offset: u64| at(offset).map(|mut had| had.get().1[1]);
        for (offset, value) in [(0, 1), (128, 2), (1 << 20, 3), (1 << 30, 4), ((1 << 42) - 128, 5)] {
            at(offset).expect("inside").get().1[1] = value;
        }
        for (offset, value) in [(0, 1), (127, 1), (128, 2), (1 << 20, 3), (1 << 30, 4), ((1 << 42) - 1, 5)] {
            assert_eq!(written(offset), Some(value), "{offset}");
        }
        assert!(at(1 << 42).is_none() && shadow.line(8).is_none());
    }

    #[test]
    fn what_is_new_has_no_accesses() {
        let shadow = Shadow::new(1 << 45, 1 << 42);
        let at = |offset: u64| shadow.line((1 << 45) + offset).expect("inside");
        for offset in [0, 128, 1 << 30] {
            at(offset).get().0.words().iter_mut().for_each(|word| word.write = 7);
        }
        shadow.forget((1 << 45) + 4, 1 << 20);
        let writes = |offset, word: usize| at(offset).get().0.words()[word].write;
        assert_eq!([writes(0, 0), writes(0, 1), writes(128, 0), writes(1 << 30, 3)], [7, 0, 0, 7]);
        shadow.forget((1 << 45) + (1 << 30) + 15, 1);
        assert_eq!([writes(1 << 30, 2), writes(1 << 30, 3), writes(1 << 30, 4)], [7, 0, 7]);
        shadow.clear();
        assert_eq!([writes(0, 0), writes(1 << 30, 4)], [0, 0]);
    }

    #[test]
    fn a_line_that_stays_taken_keeps_nobody() {
        let shadow = Shadow::new(0, 1 << 32);
        let mut had = shadow.line(256).expect("inside");
        had.get().0.words()[0].write = 7;
        shadow.forget_patiently(256, 256);
        assert_eq!(had.get().0.words()[0].write, 7);
        drop(had);
        shadow.forget_patiently(256, 256);
        assert_eq!(shadow.line(256).expect("inside").get().0.words()[0].write, 0);
    }

    #[test]
    fn one_thread_at_a_time_has_a_line() {
        let shadow = Shadow::new(1 << 45, 1 << 42);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        let mut had = shadow.line(1 << 45).expect("inside");
                        let (_, written) = had.get();
                        written[0] += 1;
                    }
                });
            }
        });
        assert_eq!(shadow.line(1 << 45).expect("inside").get().1[0], 40_000);
    }
}
