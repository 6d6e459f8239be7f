//! Which bytes of device memory kernels have accessed, and where, for those who ask after each kernel.
//!
//! A word of four bytes has the number of the first read before any write, and that of the last write, with a bit for each
//! byte that is meant. Which of two threads came first is not asked: what is told is of whole kernels. Bytes of one word
//! that several instructions access go by the last that writes, and the first that reads.
//!
//! Most reads are of no interest, as nobody has anything newer than what is read. So reads are noted by the word only in
//! pages that somebody has [asked](Accesses::watch_reads) for, and of all others only that there were some. What a launch
//! costs that way goes by what it writes. A page that kernels have accessed has a byte of flags, by which it is found.

use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use gangway_device_memory::range;
use gangway_races::Place;
use rustc_hash::FxHashMap;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Bytes whose notes are together.
const PAGE: u64 = 4096;
/// Bytes of a word.
const WORD: u64 = 4;
const WORDS: usize = (PAGE / WORD) as usize;

/// A note: its lowest bits say which bytes are meant, those above have the number of the instruction.
const BYTES: u32 = 0xf;
const NUMBER: u32 = 4;

type Notes = [AtomicU32; WORDS];

/// The notes of a page.
#[derive(Debug)]
struct Page {
    reads: Notes,
    writes: Notes,
}

/// What is known of a page as a whole, as flags.
mod flags {
    /// Kernels have read of it.
    pub const READ: u8 = 1;
    /// Kernels have written of it.
    pub const WRITTEN: u8 = 2;
    /// Reads of its words are noted.
    pub const WATCHED: u8 = 4;
    /// Something else than a kernel has written of it.
    pub const CHANGED: u8 = 8;
    /// Who takes notes does so of a part of it: reads are noted always, and what else is known stays.
    pub const SHARED: u8 = 16;
}

/// How memory has been accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Kernels have read it, before any write. Without a number: of the range they have read something.
    Read,
    /// Kernels have written it, last by the instruction of the number.
    Write,
    /// Something else may have written it, as a copy.
    Change,
}

/// A range of memory that has been accessed in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accessed {
    pub address: u64,
    pub size: u64,
    pub kind: Kind,
    /// Of the instruction, 0 where that is not known.
    pub number: u32,
}

/// A value for each page of the devices' range, zero at first: those of pages that nobody uses take no memory.
#[derive(Debug)]
struct Each<T> {
    first: *const T,
    count: usize,
}

// SAFETY: it is a slice of what may be shared.
unsafe impl<T: Sync> Sync for Each<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Each<T> {}

impl<T> Each<T> {
    /// # Safety
    /// Zeros are a value.
    unsafe fn new(count: usize) -> Option<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: new memory, which nothing else has.
        let mapped =
            unsafe { mmap_anonymous(std::ptr::null_mut(), count * size_of::<T>(), protection, flags) };
        Some(Self { first: mapped.ok()?.cast(), count })
    }

    fn get(&self, number: u64) -> Option<&T> {
        // SAFETY: there are so many, and they stay.
        ((number as usize) < self.count).then(|| unsafe { &*self.first.add(number as usize) })
    }
}

impl<T> Drop for Each<T> {
    fn drop(&mut self) {
        // SAFETY: `new` has mapped it, and nobody else has it any more.
        let _ = unsafe { munmap(self.first.cast_mut().cast(), self.count * size_of::<T>()) };
    }
}

/// What is noted of a device.
#[derive(Debug)]
pub(crate) struct Accesses {
    /// Where the range begins.
    base: u64,
    flags: Each<AtomicU8>,
    pages: Each<AtomicPtr<Page>>,
    /// All that have been made.
    made: Mutex<Vec<PageBox>>,
    sites: Mutex<Sites>,
    /// Launches whose accesses nobody has noted.
    unseen: AtomicU64,
}

/// A page that stays as long as the notes.
#[derive(Debug)]
struct PageBox(#[expect(dead_code, reason = "it is what a pointer leads to")] Box<Page>);

#[derive(Debug, Default)]
struct Sites {
    /// By program and code.
    numbers: FxHashMap<(u64, u64), u32>,
    places: Vec<Place>,
}

/// The bytes of a word that are in a range, which has some of it.
fn bytes_of(word: u64, range: &Range<u64>) -> u32 {
    let (begin, end) = (range.start.max(word) - word, range.end.min(word + WORD) - word);
    ((1 << end) - 1) & !((1 << begin) - 1)
}

impl Page {
    fn new() -> Box<Self> {
        let none = || [const { AtomicU32::new(0) }; WORDS];
        Box::new(Self { reads: none(), writes: none() })
    }

    /// A range of its bytes is accessed.
    fn note(&self, range: &Range<u64>, reads: bool, writes: bool, site: u32) {
        let words = (range.start / WORD) as usize..range.end.div_ceil(WORD) as usize;
        let whole = range.start.is_multiple_of(WORD) && range.end.is_multiple_of(WORD);
        if reads {
            for word in words.clone() {
                let bytes = if whole { BYTES } else { bytes_of(word as u64 * WORD, range) };
                self.read(word, bytes, site);
            }
        }
        if !writes {
            return;
        }
        if whole {
            let note = site << NUMBER | BYTES;
            self.writes[words].iter().for_each(|word| word.store(note, Ordering::Relaxed));
            return;
        }
        for word in words {
            let bytes = bytes_of(word as u64 * WORD, range);
            let next = |now: u32| Some(site << NUMBER | now & BYTES | bytes);
            let _ = self.writes[word].fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        }
    }

    fn read(&self, word: usize, bytes: u32, site: u32) {
        let written = self.writes[word].load(Ordering::Relaxed);
        let now = self.reads[word].load(Ordering::Relaxed);
        if bytes & !written & !now == 0 {
            return;
        }
        let next = |now: u32| {
            let new = bytes & !written & !now;
            let first = if now == 0 { site << NUMBER } else { now };
            (new != 0).then_some(first | new)
        };
        let _ = self.reads[word].fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }
}

/// Puts together what is accessed in one way.
struct Runs<'r> {
    kind: Kind,
    pending: Option<Accessed>,
    receive: &'r mut dyn FnMut(Accessed),
}

impl Runs<'_> {
    fn add(&mut self, range: Range<u64>, number: u32) {
        match &mut self.pending {
            Some(last) if last.number == number && last.address + last.size == range.start => {
                last.size = range.end - last.address;
            }
            pending => {
                let (address, size) = (range.start, range.end - range.start);
                let next = Accessed { address, size, kind: self.kind, number };
                if let Some(last) = pending.replace(next) {
                    (self.receive)(last);
                }
            }
        }
    }

    /// Takes the notes of words from an address on, as far as they are in a range.
    fn take(&mut self, words: &[AtomicU32], first: u64, within: &Range<u64>) {
        for (word, address) in words.iter().zip((first..).step_by(WORD as usize)) {
            // Most have none, and are not written for that. Another kernel that notes this very word at this moment is
            // one that nothing orders with those whose notes are taken.
            let note = word.load(Ordering::Relaxed);
            if note == 0 {
                continue;
            }
            let inside = bytes_of(address, within);
            let bytes = note & BYTES & inside;
            let left = if note & BYTES & !inside == 0 { 0 } else { note & !inside };
            word.store(left, Ordering::Relaxed);
            if bytes == BYTES {
                self.add(address..address + WORD, note >> NUMBER);
                continue;
            }
            for byte in (0..WORD).filter(|byte| bytes >> byte & 1 != 0) {
                self.add(address + byte..address + byte + 1, note >> NUMBER);
            }
        }
    }

    fn end(&mut self) {
        if let Some(last) = self.pending.take() {
            (self.receive)(last);
        }
    }
}

impl Accesses {
    /// None: there is no room for them.
    pub fn new() -> Option<Self> {
        let count = (range().size / PAGE) as usize;
        Some(Self {
            base: range().base,
            // SAFETY: zeros are no flags, and no page.
            flags: unsafe { Each::new(count)? },
            // SAFETY: as above.
            pages: unsafe { Each::new(count)? },
            made: Mutex::default(),
            sites: Mutex::default(),
            unseen: AtomicU64::new(0),
        })
    }

    /// The number of an instruction.
    pub fn site(&self, program: u64, code: u64, place: impl FnOnce() -> Place) -> u32 {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = sites.numbers.get(&(program, code)) {
            return *number;
        }
        sites.places.push(place());
        let number = sites.places.len() as u32;
        sites.numbers.insert((program, code), number);
        number
    }

    /// What has a number.
    pub fn place(&self, number: u32) -> Option<Place> {
        let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        sites.places.get((number as usize).checked_sub(1)?).cloned()
    }

    fn page(&self, number: u64) -> Option<&Page> {
        // SAFETY: a page that has been made stays.
        unsafe { self.pages.get(number)?.load(Ordering::Acquire).as_ref() }
    }

    #[cold]
    fn new_page(&self, number: u64) -> Option<&Page> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if self.page(number).is_none() {
            let page = Page::new();
            self.pages.get(number)?.store((&raw const *page).cast_mut(), Ordering::Release);
            made.push(PageBox(page));
        }
        self.page(number)
    }

    /// Has an act done for each page of a range: with its number, and the bytes of it.
    fn each_page(&self, address: u64, size: u64, mut act: impl FnMut(u64, Range<u64>)) {
        let (mut at, end) = (address.wrapping_sub(self.base), address.wrapping_sub(self.base) + size);
        while at < end {
            let next = end.min((at / PAGE + 1) * PAGE);
            let begin = at % PAGE;
            act(at / PAGE, begin..begin + (next - at));
            at = next;
        }
    }

    /// Whether reads of a range tell nothing that is not known; a range of many pages is not looked at.
    #[inline]
    pub fn are_known(&self, range: &Range<u64>) -> bool {
        let page = |address: u64| address.wrapping_sub(self.base) / PAGE;
        let pages = [page(range.start), page(range.end - 1)];
        let is_known = |flags: &AtomicU8| {
            let all = flags::READ | flags::WATCHED | flags::SHARED;
            flags.load(Ordering::Relaxed) & all == flags::READ
        };
        pages[1] <= pages[0] + 1 && pages.into_iter().all(|page| self.flags.get(page).is_some_and(is_known))
    }

    /// An instruction accesses so many bytes.
    #[inline]
    pub fn note(&self, address: u64, size: u64, reads: bool, writes: bool, site: u32) {
        self.each_page(address, size, |number, range| {
            let Some(flags) = self.flags.get(number) else { return };
            let words = reads && flags.load(Ordering::Relaxed) & (flags::WATCHED | flags::SHARED) != 0;
            if (words || writes)
                && let Some(page) = self.page(number).or_else(|| self.new_page(number))
            {
                page.note(&range, words, writes, site);
            }
            // Behind that: whoever takes notes meanwhile finds them the next time.
            let wanted = if reads { flags::READ } else { 0 } | if writes { flags::WRITTEN } else { 0 };
            if flags.load(Ordering::Relaxed) & wanted != wanted {
                flags.fetch_or(wanted, Ordering::Relaxed);
            }
        });
    }

    /// Something else than a kernel writes so many bytes.
    pub fn change(&self, address: u64, size: u64) {
        self.each_page(address, size, |number, _| {
            if let Some(flags) = self.flags.get(number) {
                flags.fetch_or(flags::CHANGED, Ordering::Relaxed);
            }
        });
    }

    /// A kernel has run whose accesses nobody has noted.
    pub fn lose(&self) {
        self.unseen.fetch_add(1, Ordering::Relaxed);
    }

    /// How many such there were.
    pub fn unseen(&self) -> u64 {
        self.unseen.load(Ordering::Relaxed)
    }

    /// Has reads noted by the word, or not any more.
    pub fn watch_reads(&self, address: u64, size: u64, whether: bool) {
        self.each_page(address, size, |number, _| {
            let Some(flags) = self.flags.get(number) else { return };
            match whether {
                true => flags.fetch_or(flags::WATCHED, Ordering::Relaxed),
                false => flags.fetch_and(!flags::WATCHED, Ordering::Relaxed),
            };
        });
    }

    /// Takes what is noted of a range.
    pub fn take(&self, address: u64, size: u64, receive: &mut dyn FnMut(Accessed)) {
        self.take_kind(Kind::Change, address, size, receive);
        self.take_kind(Kind::Read, address, size, receive);
        self.take_kind(Kind::Write, address, size, receive);
        self.each_page(address, size, |number, range| {
            let Some(flags) = self.flags.get(number) else { return };
            let now = flags.load(Ordering::Relaxed);
            if range != (0..PAGE) {
                flags.fetch_or(flags::SHARED, Ordering::Relaxed);
            } else if now & (flags::READ | flags::CHANGED) != 0 {
                // Written pages have lost that before their notes were taken.
                flags.fetch_and(!(flags::READ | flags::CHANGED), Ordering::Relaxed);
            }
        });
    }

    fn take_kind(&self, kind: Kind, address: u64, size: u64, receive: &mut dyn FnMut(Accessed)) {
        let mut runs = Runs { kind, pending: None, receive };
        self.each_page(address, size, |number, range| {
            let Some(flags) = self.flags.get(number) else { return };
            let now = flags.load(Ordering::Relaxed);
            let first = self.base + number * PAGE;
            let within = first + range.start..first + range.end;
            let notes = |of: fn(&Page) -> &Notes| {
                let words = (range.start / WORD) as usize..range.end.div_ceil(WORD) as usize;
                self.page(number).map(|page| (&of(page)[words], first + range.start / WORD * WORD))
            };
            match kind {
                Kind::Change if now & flags::CHANGED != 0 => runs.add(within, 0),
                Kind::Read if now & flags::READ != 0 => match notes(|page| &page.reads) {
                    Some((words, first)) if now & (flags::WATCHED | flags::SHARED) != 0 => {
                        runs.take(words, first, &within);
                    }
                    _ => runs.add(within, 0),
                },
                Kind::Write if now & flags::WRITTEN != 0 => {
                    if range == (0..PAGE) {
                        flags.fetch_and(!flags::WRITTEN, Ordering::Relaxed);
                    }
                    if let Some((words, first)) = notes(|page| &page.writes) {
                        runs.take(words, first, &within);
                    }
                }
                _ => {}
            }
        });
        runs.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: u64 = gangway_device_memory::BASE + 2 * PAGE;

    fn taken(accesses: &Accesses, address: u64, size: u64) -> Vec<(Kind, u64, u64, u32)> {
        let mut taken = Vec::new();
        accesses.take(address, size, &mut |run| {
            taken.push((run.kind, run.address.wrapping_sub(BEGIN), run.size, run.number));
        });
        taken
    }

    fn sites(accesses: &Accesses) -> [u32; 3] {
        let site = |code| accesses.site(1, code, Place::default);
        let sites = [site(10), site(20), site(30)];
        assert_eq!((site(10), site(30)), (sites[0], sites[2]));
        sites
    }

    #[test]
    fn first_reads_and_last_writes_are_noted_until_they_are_taken() {
        let accesses = Accesses::new().expect("there is room");
        let [read, write, later] = sites(&accesses);
        accesses.watch_reads(BEGIN - PAGE, 2 * PAGE, true);
        // Across the border of two pages.
        let at = BEGIN - 4;
        accesses.note(at, 8, true, false, read);
        accesses.note(at, 4, true, false, later);
        accesses.note(at + 6, 4, false, true, write);
        accesses.note(at + 8, 8, true, false, later);
        let expected = [
            (Kind::Read, 4_u64.wrapping_neg(), 8, read),
            (Kind::Read, 6, 6, later),
            (Kind::Write, 2, 4, write),
        ];
        assert_eq!(taken(&accesses, BEGIN - PAGE, 2 * PAGE), expected);
        assert_eq!(taken(&accesses, BEGIN - PAGE, 2 * PAGE), []);
    }

    #[test]
    fn reads_that_nobody_watches_are_told_by_the_page() {
        let accesses = Accesses::new().expect("there is room");
        let [site, ..] = sites(&accesses);
        accesses.note(BEGIN + PAGE + 8, 4, true, false, site);
        accesses.note(BEGIN + 16, PAGE, false, true, site);
        accesses.change(BEGIN + 3 * PAGE - 1, 2);
        let expected = [
            (Kind::Change, 2 * PAGE, 2 * PAGE, 0),
            (Kind::Read, PAGE, PAGE, 0),
            (Kind::Write, 16, PAGE, site),
        ];
        assert_eq!(taken(&accesses, BEGIN, 8 * PAGE), expected);
        assert_eq!(taken(&accesses, BEGIN, 8 * PAGE), []);
        accesses.watch_reads(BEGIN, PAGE, true);
        accesses.watch_reads(BEGIN, PAGE, false);
        accesses.note(BEGIN, 4, true, true, site);
        assert_eq!(taken(&accesses, BEGIN, PAGE), [(Kind::Read, 0, PAGE, 0), (Kind::Write, 0, 4, site)]);
    }

    #[test]
    fn variables_of_one_page_are_told_apart() {
        let accesses = Accesses::new().expect("there is room");
        let [first, second, _] = sites(&accesses);
        // Who has asked once is told of reads by the word from then on.
        assert_eq!(taken(&accesses, BEGIN, 6), []);
        accesses.note(BEGIN, 8, true, false, first);
        accesses.note(BEGIN, 8, false, true, second);
        assert_eq!(taken(&accesses, BEGIN, 6), [(Kind::Read, 0, 6, first), (Kind::Write, 0, 6, second)]);
        assert_eq!(taken(&accesses, BEGIN, 6), []);
        assert_eq!(taken(&accesses, BEGIN + 6, 10), [(Kind::Read, 6, 2, first), (Kind::Write, 6, 2, second)]);
        assert_eq!(taken(&accesses, BEGIN + 6, 10), []);
    }
}
