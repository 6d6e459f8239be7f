//! A thread's memory of what it looked up recently.
//!
//! Programs launch the same regions with the same arrays over and over. As long
//! as the table's version has not changed, the last answer for an address is
//! still the answer, and finding it is one probe of a small hash table instead of
//! a search.

use crate::answers::Relation;
use crate::entry::EntryRef;
use crate::table::PresentTable;

/// Places for addresses; a power of two.
const PLACES: usize = 64;
/// Addresses remembered per place.
const WAYS: usize = 2;

/// Gaps remembered.
const GAPS: usize = 4;

/// Addresses of which nothing is mapped.
#[derive(Clone, Copy)]
pub struct Gap {
    begin: usize,
    end: usize,
}

impl Gap {
    /// Whether all of a range is in it; no range of no bytes is.
    #[inline(always)]
    pub fn has(self, host: usize, size: usize) -> bool {
        self.begin <= host && host < self.end && size <= self.end - host && size != 0
    }
}

const NOWHERE: Gap = Gap { begin: 0, end: 0 };

/// Answers of one thread, of any tables.
pub struct Recent {
    places: Box<[[Slot; WAYS]; PLACES]>,
    gaps: Gaps,
}

/// Where nothing is mapped in one version of one table.
struct Gaps {
    table: *const PresentTable,
    version: usize,
    /// First address and end; those that are not in use are empty.
    ranges: [(usize, usize); GAPS],
    /// The one that is forgotten next.
    oldest: usize,
    /// The one that had the last range in it: arrays mostly share one.
    last: Gap,
}

#[derive(Clone, Copy)]
struct Slot {
    host: usize,
    end: usize,
    version: usize,
    table: *const PresentTable,
    entry: Option<EntryRef<'static>>,
}

// SAFETY: the pointers are compared, never followed; the rest is plain data.
unsafe impl Send for Recent {}

impl Default for Recent {
    fn default() -> Self {
        let empty = Slot { host: 0, end: 0, version: 0, table: std::ptr::null(), entry: None };
        let gaps =
            Gaps { table: std::ptr::null(), version: 0, ranges: [(0, 0); GAPS], oldest: 0, last: NOWHERE };
        Self { places: Box::new([[empty; WAYS]; PLACES]), gaps }
    }
}

impl Gaps {
    /// The gap that has a whole range in it; no range of no bytes has one.
    #[inline(always)]
    fn around(&self, host: usize, size: usize) -> Option<usize> {
        let end = host.checked_add(size).filter(|_| size != 0)?;
        self.ranges.iter().position(|gap| gap.0 <= host && end <= gap.1)
    }

    fn use_gap(&mut self, place: usize) {
        let (begin, end) = self.ranges[place];
        self.last = Gap { begin, end };
    }

    fn add(&mut self, gap: (usize, usize)) {
        self.ranges[self.oldest] = gap;
        self.oldest = (self.oldest + 1) % GAPS;
    }
}

impl Slot {
    /// The entry that contains the range, if this is about its first address and holds.
    #[inline(always)]
    fn answer(
        &self,
        table: &PresentTable,
        version: usize,
        host: usize,
        size: usize,
    ) -> Option<EntryRef<'static>> {
        let about = self.host == host && std::ptr::eq(self.table, table) && self.version == version;
        self.entry.filter(|_| about && host.checked_add(size).is_some_and(|end| end <= self.end))
    }
}

/// Allocations are aligned, and arrays of one program often equally spaced. The factor is one
/// that has been found to spread them at all usual distances.
#[inline(always)]
fn place_of(host: usize) -> usize {
    const SPREAD: u64 = 0x107a_8c55_1563_1395;
    ((host as u64 >> 4).wrapping_mul(SPREAD) >> (u64::BITS - PLACES.ilog2())) as usize
}

impl Recent {
    /// The entry that contains a range, if this thread has found it since the table has changed
    /// last, and the table's version.
    #[inline(always)]
    pub fn known(
        &self,
        table: &PresentTable,
        host: usize,
        size: usize,
    ) -> (Option<EntryRef<'static>>, usize) {
        let version = table.version();
        let [first, second] = &self.places[place_of(host)];
        let known = first.answer(table, version, host, size);
        (known.or_else(|| second.answer(table, version, host, size)), version)
    }

    /// Whether nothing of a range is mapped, and the version of the table that has it so. A gap
    /// is looked for once: variables of one function, and arrays that come and go together,
    /// mostly share one.
    #[inline(always)]
    pub fn absent(&mut self, table: &PresentTable, host: usize, size: usize) -> Option<usize> {
        let version = table.version();
        let gaps = &self.gaps;
        if std::ptr::eq(gaps.table, table) && gaps.version == version && gaps.last.has(host, size) {
            return Some(version);
        }
        self.absent_elsewhere(table, host, size)
    }

    /// The gap that has a range in it, and the version of the table that has it so.
    pub fn gap_around(&mut self, table: &PresentTable, host: usize, size: usize) -> Option<(Gap, usize)> {
        let version = self.absent(table, host, size)?;
        Some((self.gaps.last, version))
    }

    #[inline(never)]
    fn absent_elsewhere(&mut self, table: &PresentTable, host: usize, size: usize) -> Option<usize> {
        let version = table.version();
        let gaps = &mut self.gaps;
        if !std::ptr::eq(gaps.table, table) || gaps.version != version {
            (gaps.table, gaps.version, gaps.ranges) = (table, version, [(0, 0); GAPS]);
            gaps.last = NOWHERE;
        } else if let Some(place) = gaps.around(host, size) {
            gaps.use_gap(place);
            return Some(version);
        }
        self.find_gap(table, host, size)
    }

    fn find_gap(&mut self, table: &PresentTable, host: usize, size: usize) -> Option<usize> {
        let (gap, version) = table.gap_at(host)?;
        let gaps = &mut self.gaps;
        if version != gaps.version {
            (gaps.version, gaps.ranges, gaps.last) = (version, [(0, 0); GAPS], NOWHERE);
        }
        // Once each: what is inserted is taken out of one of them.
        if !gaps.ranges.contains(&gap) {
            gaps.add(gap);
        }
        let place = gaps.around(host, size)?;
        gaps.use_gap(place);
        Some(version)
    }

    /// The caller has inserted a range that was [`absent`](Self::absent) at that version. If
    /// nobody else has changed the table, what is left of the gap is one still.
    #[inline]
    pub fn fill_gap(&mut self, table: &PresentTable, version: usize, host: usize, size: usize) {
        let gaps = &mut self.gaps;
        let next = version.wrapping_add(2);
        if std::ptr::eq(gaps.table, table)
            && gaps.version == version
            && table.version() == next
            && let Some(place) = gaps.around(host, size)
        {
            let (begin, end) = gaps.ranges[place];
            gaps.version = next;
            gaps.ranges[place] = (host + size, end);
            gaps.add((begin, host));
            gaps.last = NOWHERE;
        }
    }

    /// As [`PresentTable::lookup`].
    #[inline(always)]
    pub fn lookup(&mut self, table: &'static PresentTable, host: usize, size: usize) -> Relation<'static> {
        self.lookup_at(table, host, size).0
    }

    /// As [`PresentTable::lookup_at`].
    // Always: the answer stays in registers, where a call would write it to memory.
    #[inline(always)]
    pub fn lookup_at(
        &mut self,
        table: &'static PresentTable,
        host: usize,
        size: usize,
    ) -> (Relation<'static>, usize) {
        match self.known(table, host, size) {
            (Some(entry), version) => (Relation::Contained(entry), version),
            (None, _) => self.search(table, host, size),
        }
    }

    #[inline(never)]
    fn search(
        &mut self,
        table: &'static PresentTable,
        host: usize,
        size: usize,
    ) -> (Relation<'static>, usize) {
        let (relation, version) = table.lookup_at(host, size);
        if let Relation::Contained(entry) = relation
            && size != 0
        {
            let place = &mut self.places[place_of(host)];
            // An older answer for the address itself is of no use any more.
            if place[0].host != host {
                place[1] = place[0];
            }
            place[0] = Slot { host, end: entry.host_end(), version, table, entry: Some(entry) };
        }
        (relation, version)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::state::{Counter, Release};
    use crate::table::plain;

    #[test]
    fn answers_change_with_the_table() {
        let table: &'static PresentTable = Box::leak(Box::new(PresentTable::new()));
        let mut recent = Recent::default();
        let first = table.insert(&plain(4096, 64)).unwrap();
        for _ in 0..2 {
            assert_eq!(recent.lookup(table, 4096, 64), Relation::Contained(first));
            assert_eq!(recent.lookup(table, 4096, 65), Relation::Partial(first));
            assert_eq!(recent.lookup(table, 4096, 0), Relation::Contained(first));
            assert_eq!(recent.known(table, 4096, 64).0, Some(first));
            assert_eq!(recent.known(table, 4096, 65).0, None);
        }
        assert_eq!(first.release(Counter::Dynamic, false, false).unwrap().1, Release::Last);
        table.finish_unmapping(first).removed().unwrap();
        assert_eq!(recent.known(table, 4096, 64).0, None);
        assert_eq!(recent.lookup(table, 4096, 64), Relation::Absent);
        let second = table.insert(&plain(4096, 128)).unwrap();
        assert_eq!(recent.lookup(table, 4096, 128), Relation::Contained(second));
    }

    #[test]
    fn arrays_at_equal_distances_are_all_remembered() {
        let (page, large) = (1 << 12, 1 << 20);
        let distances = [16, 64, 128, 1024, page, 2 * page, large, large + 64, large + page, 3 << 22];
        for first in [0x7f12_3456_7010, 0x5555_0000_02a0] {
            for distance in distances {
                let mut taken = [0; PLACES];
                (0..20).for_each(|array| taken[place_of(first + array * distance)] += 1);
                assert!(taken.iter().all(|&taken| taken <= WAYS), "at a distance of {distance:#x}");
            }
        }
    }

    #[test]
    fn two_answers_for_one_place() {
        let table: &'static PresentTable = Box::leak(Box::new(PresentTable::new()));
        let mut recent = Recent::default();
        let same = |host: &usize| place_of(*host) == place_of(64);
        let hosts: Vec<usize> = (64..1 << 20).step_by(64).filter(same).take(WAYS + 1).collect();
        let entries: Vec<_> = hosts.iter().map(|&host| table.insert(&plain(host, 16)).unwrap()).collect();
        for _ in 0..2 {
            for (&host, &entry) in hosts.iter().zip(&entries) {
                assert_eq!(recent.lookup(table, host, 16), Relation::Contained(entry));
                assert_eq!(recent.known(table, host, 16).0, Some(entry));
            }
        }
        let known = hosts.iter().filter(|&&host| recent.known(table, host, 16).0.is_some());
        assert_eq!(known.count(), WAYS);
    }

    #[test]
    fn gaps_are_those_of_the_table() {
        let table: &'static PresentTable = Box::leak(Box::new(PresentTable::new()));
        let mut recent = Recent::default();
        let mut random = 1usize;
        let mut next = |most: usize| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (random >> 33) % most
        };
        for _ in 0..10_000 {
            let (host, size) = (64 + 8 * next(400), 8 * (1 + next(6)));
            let expected = table.lookup(host, size);
            let absent = recent.absent(table, host, size);
            assert_eq!(absent.is_some(), expected == Relation::Absent, "{size} bytes at {host}");
            assert_eq!(recent.absent(table, host, 0), None);
            match (next(4), absent, expected) {
                (0, Some(version), _) => {
                    table.insert_absent(&plain(host, size), version, None).unwrap();
                    recent.fill_gap(table, version, host, size);
                }
                // Somebody else does.
                (1, Some(_), _) => _ = table.insert(&plain(host, size)).unwrap(),
                (2 | 3, None, Relation::Contained(entry) | Relation::Partial(entry)) => {
                    assert_eq!(entry.release(Counter::Dynamic, false, false).unwrap().1, Release::Last);
                    table.finish_unmapping(entry).removed().unwrap();
                }
                _ => {}
            }
        }
        assert!(!table.is_empty());
    }

    #[test]
    fn tables_are_told_apart() {
        let tables: [&'static PresentTable; 2] =
            std::array::from_fn(|_| &*Box::leak(Box::new(PresentTable::new())));
        let mut recent = Recent::default();
        let entry = tables[0].insert(&plain(64, 8)).unwrap();
        assert_eq!(recent.lookup(tables[0], 64, 8), Relation::Contained(entry));
        assert_eq!(recent.lookup(tables[1], 64, 8), Relation::Absent);
    }
}
