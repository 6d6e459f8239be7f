//! Which bytes of device memory kernels have accessed, and where, for those who ask after each kernel.
//!
//! A byte has the number of the first read before any write, and that of the last write. Which of two threads came
//! first is not asked: what is told is of whole kernels.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use gangway_races::Place;
use rustc_hash::FxHashMap;

/// Bytes whose notes are together.
const PAGE: u64 = 4096;

type Notes = [AtomicU32; PAGE as usize];

/// The notes of some bytes.
#[derive(Debug)]
pub(crate) struct Page {
    reads: Notes,
    writes: Notes,
}

/// What is noted of a device.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    pages: RwLock<FxHashMap<u64, Arc<Page>>>,
    sites: Mutex<Sites>,
}

#[derive(Debug, Default)]
struct Sites {
    /// By program and code.
    numbers: FxHashMap<(u64, u64), u32>,
    places: Vec<Place>,
}

/// The notes that one block was at last.
#[derive(Debug, Default)]
pub(crate) struct Recent(Option<(u64, Arc<Page>)>);

impl Page {
    fn new() -> Self {
        let none = || [const { AtomicU32::new(0) }; PAGE as usize];
        Self { reads: none(), writes: none() }
    }
}

impl Accesses {
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

    fn page(&self, number: u64) -> Option<Arc<Page>> {
        self.pages.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }

    fn page_or_new(&self, number: u64) -> Arc<Page> {
        self.page(number).unwrap_or_else(|| {
            let mut pages = self.pages.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(pages.entry(number).or_insert_with(|| Arc::new(Page::new())))
        })
    }

    /// An instruction accesses so many bytes.
    pub fn note(&self, recent: &mut Recent, address: u64, size: u64, reads: bool, writes: bool, site: u32) {
        for byte in address..address + size {
            let number = byte / PAGE;
            let page = match &recent.0 {
                Some((known, page)) if *known == number => page,
                _ => &recent.0.insert((number, self.page_or_new(number))).1,
            };
            let at = (byte % PAGE) as usize;
            if reads
                && page.writes[at].load(Ordering::Relaxed) == 0
                && page.reads[at].load(Ordering::Relaxed) == 0
            {
                page.reads[at].store(site, Ordering::Relaxed);
            }
            if writes {
                page.writes[at].store(site, Ordering::Relaxed);
            }
        }
    }

    /// Takes what is noted of a range: the first reads, and the last writes.
    pub fn take(&self, address: u64, reads: &mut [u32], writes: &mut [u32]) {
        let mut at = 0;
        while at < reads.len() {
            let byte = address + at as u64;
            let begin = (byte % PAGE) as usize;
            let length = (PAGE as usize - begin).min(reads.len() - at);
            if let Some(page) = self.page(byte / PAGE) {
                for (offset, place) in (begin..begin + length).enumerate() {
                    reads[at + offset] = page.reads[place].swap(0, Ordering::Relaxed);
                    writes[at + offset] = page.writes[place].swap(0, Ordering::Relaxed);
                }
            }
            at += length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_reads_and_last_writes_are_noted_until_they_are_taken() {
        let accesses = Accesses::default();
        let mut recent = Recent::default();
        let site = |code| accesses.site(1, code, Place::default);
        let (read, write, later) = (site(10), site(20), site(30));
        assert_eq!((site(10), site(30)), (read, later));
        let begin = 2 * PAGE - 4;
        accesses.note(&mut recent, begin, 8, true, false, read);
        accesses.note(&mut recent, begin, 4, true, false, later);
        accesses.note(&mut recent, begin + 6, 4, false, true, write);
        accesses.note(&mut recent, begin + 8, 2, true, false, read);
        let (mut reads, mut writes) = ([0; 12], [0; 12]);
        accesses.take(begin, &mut reads, &mut writes);
        assert_eq!(reads, [[read; 8].as_slice(), &[0; 4]].concat()[..]);
        assert_eq!(writes, [[0; 6].as_slice(), &[write; 4], &[0; 2]].concat()[..]);
        accesses.take(begin, &mut reads, &mut writes);
        assert_eq!((reads, writes), ([0; 12], [0; 12]));
    }
}
