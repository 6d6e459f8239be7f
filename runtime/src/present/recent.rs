//! A thread's memory of what it looked up recently.
//!
//! Programs launch the same regions with the same arrays over and over. As long
//! as the table's version has not changed, the last answer for an address is
//! still the answer, and finding it is one probe of a small hash table instead of
//! a search.

use super::entry::EntryRef;
use super::index::Relation;
use super::table::PresentTable;

/// Addresses remembered; a power of two.
const SLOTS: usize = 64;

/// Answers of one thread, of any tables.
pub(crate) struct Recent {
    slots: Box<[Slot; SLOTS]>,
}

#[derive(Clone, Copy)]
struct Slot {
    host: usize,
    end: usize,
    version: usize,
    table: *const PresentTable,
    entry: Option<EntryRef<'static>>,
}

// SAFETY: the pointer is compared, never followed; the rest is plain data.
unsafe impl Send for Recent {}

impl Default for Recent {
    fn default() -> Self {
        let empty = Slot { host: 0, end: 0, version: 0, table: std::ptr::null(), entry: None };
        Self { slots: Box::new([empty; SLOTS]) }
    }
}

impl Recent {
    /// As [`PresentTable::lookup`].
    #[inline(always)]
    pub(crate) fn lookup(
        &mut self,
        table: &'static PresentTable,
        host: usize,
        size: usize,
    ) -> Relation<'static> {
        self.lookup_at(table, host, size).0
    }

    /// As [`PresentTable::lookup_at`].
    // Always: the answer stays in registers, where a call would write it to memory.
    #[inline(always)]
    pub(crate) fn lookup_at(
        &mut self,
        table: &'static PresentTable,
        host: usize,
        size: usize,
    ) -> (Relation<'static>, usize) {
        // Allocations are aligned, and arrays of one program often equally spaced.
        let slot = &mut self.slots[((host >> 4) ^ (host >> 10)) % SLOTS];
        if slot.host == host
            && std::ptr::eq(slot.table, table)
            && slot.version == table.version()
            && let Some(entry) = slot.entry
            && host.checked_add(size).is_some_and(|end| end <= slot.end)
        {
            return (Relation::Contained(entry), slot.version);
        }
        Self::search(slot, table, host, size)
    }

    #[inline(never)]
    fn search(
        slot: &mut Slot,
        table: &'static PresentTable,
        host: usize,
        size: usize,
    ) -> (Relation<'static>, usize) {
        let (relation, version) = table.lookup_at(host, size);
        if let Relation::Contained(entry) = relation
            && size != 0
        {
            *slot = Slot { host, end: entry.host_end(), version, table, entry: Some(entry) };
        }
        (relation, version)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::state::{Counter, Release};
    use super::super::table::plain;
    use super::*;

    #[test]
    fn answers_change_with_the_table() {
        let table: &'static PresentTable = Box::leak(Box::new(PresentTable::new()));
        let mut recent = Recent::default();
        let first = table.insert(&plain(4096, 64)).unwrap();
        for _ in 0..2 {
            assert_eq!(recent.lookup(table, 4096, 64), Relation::Contained(first));
            assert_eq!(recent.lookup(table, 4096, 65), Relation::Partial(first));
            assert_eq!(recent.lookup(table, 4096, 0), Relation::Contained(first));
        }
        assert_eq!(first.release(Counter::Dynamic, false, false).unwrap().1, Release::Last);
        table.finish_unmapping(first).unwrap();
        assert_eq!(recent.lookup(table, 4096, 64), Relation::Absent);
        let second = table.insert(&plain(4096, 128)).unwrap();
        assert_eq!(recent.lookup(table, 4096, 128), Relation::Contained(second));
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
