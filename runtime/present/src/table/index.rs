//! The ranges of a present table, ordered by host address.
//!
//! Two levels: a directory of leaves, each leaf a short sorted array. Finding a
//! range is a binary search of the directory and a scan of one leaf; with the
//! few entries that most programs have it is the scan alone.
//!
//! Readers take no lock. They note the version, search, and repeat if the
//! version changed meanwhile (a seqlock; all data are atomics, so a torn read is
//! a wrong answer that is thrown away, never undefined behaviour). Leaves and
//! directories are recycled or kept until the table is dropped, so whatever
//! pointer a torn read follows leads to memory of the right type.

use super::deferred::Deferred;
use super::{PresentTable, Writer};
use crate::answers::Relation;
use crate::entry::Entry;
use crate::leaves::{Directory, LEAF, Leaf, Torn};
use gangway_sync::{AtomicUsize, Ordering, fence, lock, spin_hint};
use std::ops::Range;
use std::ptr::NonNull;

/// Leaves a first directory has room for.
const FIRST_DIRECTORY: usize = if cfg!(loom) { 2 } else { 16 };
/// How often a reader repeats before it takes the writers' lock.
const OPTIMISTIC_TRIES: usize = if cfg!(loom) { 1 } else { 64 };

/// What a search does not answer.
enum Missed<'t> {
    /// It ran into a writer.
    Torn,
    /// The range has to do with entries that are to be made first.
    Deferred(&'t Deferred),
}

impl From<Torn> for Missed<'_> {
    fn from(Torn: Torn) -> Self {
        Self::Torn
    }
}

/// Position of a range: leaf number and place in the leaf.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    leaf: usize,
    slot: usize,
}

impl PresentTable {
    /// Finds what the `size` bytes at `host` have on the device. Lock-free
    /// unless writers keep interfering.
    #[inline]
    #[must_use]
    pub fn lookup(&self, host: usize, size: usize) -> Relation<'_> {
        self.lookup_at(host, size).0
    }

    /// As [`lookup`](Self::lookup), with the [`version`](Self::version) at which
    /// the answer was right.
    #[inline(always)]
    pub fn lookup_at(&self, host: usize, size: usize) -> (Relation<'_>, usize) {
        for _ in 0..OPTIMISTIC_TRIES {
            let before = self.version.load(Ordering::Acquire);
            if before & 1 == 0 {
                match self.search(host, size) {
                    Ok(relation) => {
                        fence(Ordering::Acquire);
                        if self.version.load(Ordering::Relaxed) == before {
                            return (relation, before);
                        }
                    }
                    Err(Missed::Deferred(_)) => break,
                    Err(Missed::Torn) => {}
                }
            }
            spin_hint();
        }
        let mut writer = lock(&self.writer);
        (self.search_locked(&mut writer, host, size), self.version.load(Ordering::Relaxed))
    }

    /// The gap that an address lies in, from the end of what is mapped before it to what is
    /// mapped behind it, and the version of the table that has it so. `None`: the address is
    /// mapped, or writers keep interfering.
    pub(crate) fn gap_at(&self, host: usize) -> Option<((usize, usize), usize)> {
        for _ in 0..OPTIMISTIC_TRIES {
            let before = self.version.load(Ordering::Acquire);
            if before & 1 == 0
                && let Ok(gap) = self.search_gap(host)
            {
                let gap = gap.and_then(|gap| self.gap_between_deferred(host, gap));
                fence(Ordering::Acquire);
                if self.version.load(Ordering::Relaxed) == before {
                    return gap.map(|gap| (gap, before));
                }
            }
            spin_hint();
        }
        None
    }

    fn search_gap(&self, host: usize) -> Result<Option<(usize, usize)>, Torn> {
        let Some(directory) = self.directory() else { return Ok(Some((0, usize::MAX))) };
        let leaves = directory.len.load(Ordering::Relaxed).min(directory.leaves.len());
        let leaf_number =
            directory.firsts[..leaves].partition_point(|first| first.load(Ordering::Relaxed) <= host);
        let mut gap = (0, usize::MAX);
        if leaf_number < leaves {
            gap.1 = directory.firsts[leaf_number].load(Ordering::Relaxed);
        }
        if leaf_number > 0 {
            let leaf = directory.leaf(leaf_number - 1)?;
            leaf.prefetch();
            let len = leaf.len.load(Ordering::Relaxed).min(LEAF);
            let after = leaf.begins[..len].partition_point(|begin| begin.load(Ordering::Relaxed) <= host);
            if after == 0 {
                return Err(Torn);
            }
            gap.0 = leaf.ends[after - 1].load(Ordering::Relaxed);
            if after < len {
                gap.1 = leaf.begins[after].load(Ordering::Relaxed);
            }
        }
        Ok((gap.0 <= host).then_some(gap))
    }

    /// Changes whenever a range is added or removed: as long as it stays, earlier
    /// answers do.
    #[inline]
    pub fn version(&self) -> usize {
        self.version.load(Ordering::Acquire)
    }

    /// With the lock: what a search answers, when entries that have been deferred are made.
    pub(crate) fn search_locked(&self, writer: &mut Writer, host: usize, size: usize) -> Relation<'_> {
        loop {
            match self.search(host, size) {
                Ok(relation) => return relation,
                Err(Missed::Deferred(deferred)) => self.make(writer, deferred),
                Err(Missed::Torn) => return Relation::Absent,
            }
        }
    }

    /// The search proper: consistent under the lock, otherwise to be validated.
    #[inline(always)]
    fn search(&self, host: usize, size: usize) -> Result<Relation<'_>, Missed<'_>> {
        if let Some(deferred) = self.deferred_at(host, size) {
            return Err(Missed::Deferred(deferred));
        }
        let Some(directory) = self.directory() else { return Ok(Relation::Absent) };
        let leaves = directory.len.load(Ordering::Relaxed).min(directory.leaves.len());
        // The last leaf whose first range starts at or before `host`.
        let leaf_number =
            directory.firsts[..leaves].partition_point(|first| first.load(Ordering::Relaxed) <= host);
        let mut follower = None;
        if leaf_number > 0 {
            let leaf = directory.leaf(leaf_number - 1)?;
            leaf.prefetch();
            let len = leaf.len.load(Ordering::Relaxed).min(LEAF);
            let after = leaf.begins[..len].partition_point(|begin| begin.load(Ordering::Relaxed) <= host);
            if after == 0 {
                return Err(Missed::Torn);
            }
            let end = leaf.ends[after - 1].load(Ordering::Relaxed);
            if host < end {
                let entry = leaf.entry(after - 1)?;
                let inside = host.checked_add(size).is_some_and(|last| last <= end);
                return Ok(if inside { Relation::Contained(entry) } else { Relation::Partial(entry) });
            }
            if after < len {
                follower = Some((leaf, after));
            }
        }
        if follower.is_none() && leaf_number < leaves {
            follower = Some((directory.leaf(leaf_number)?, 0));
        }
        let Some((leaf, slot)) = follower else { return Ok(Relation::Absent) };
        let begin = leaf.begins[slot].load(Ordering::Relaxed);
        let entry = leaf.entry(slot)?;
        Ok(if size == 0 {
            // OpenMP 6.0 section 7.9.6: a zero-length section corresponds to the array whose
            // mapped section follows, as long as it belongs to the same base.
            if host >= entry.host_base() { Relation::Contained(entry) } else { Relation::Absent }
        } else if host.saturating_add(size) > begin {
            Relation::Partial(entry)
        } else {
            Relation::Absent
        })
    }

    fn directory(&self) -> Option<&Directory> {
        // SAFETY: directories are only freed when the table is dropped.
        unsafe { self.directory.load(Ordering::Acquire).as_ref() }
    }

    pub(crate) fn locked_leaves(&self) -> impl Iterator<Item = &Leaf> {
        let directory = self.directory();
        let len = directory.map_or(0, |d| d.len.load(Ordering::Relaxed));
        (0..len).filter_map(move |number| directory?.leaf(number).ok())
    }

    /// Runs a change of the index between two steps of the version.
    pub(crate) fn edit(&self, change: impl FnOnce(&Self)) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        change(self);
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    pub(crate) fn position_of(&self, begin: usize) -> Option<Position> {
        let directory = self.directory()?;
        let len = directory.len.load(Ordering::Relaxed);
        let after = directory.firsts[..len].partition_point(|first| first.load(Ordering::Relaxed) <= begin);
        let leaf = after.checked_sub(1)?;
        let place = directory.leaf(leaf).ok()?;
        let count = place.len.load(Ordering::Relaxed);
        let slot = place.begins[..count].iter().position(|b| b.load(Ordering::Relaxed) == begin)?;
        Some(Position { leaf, slot })
    }

    pub(crate) fn place(&self, writer: &mut Writer, begin: usize, end: usize, entry: NonNull<Entry>) {
        let directory = match self.directory() {
            Some(directory) => directory,
            None => self.replace_directory(writer, FIRST_DIRECTORY),
        };
        let len = directory.len.load(Ordering::Relaxed);
        if len == 0 {
            let leaf = writer.take_leaf();
            self.insert_leaf(writer, 0, begin, leaf);
            // SAFETY: leaves live as long as the table.
            unsafe { leaf.as_ref() }.insert(0, begin, end, entry);
            return;
        }
        let after = directory.firsts[..len].partition_point(|first| first.load(Ordering::Relaxed) <= begin);
        let mut number = after.saturating_sub(1);
        let Ok(mut leaf) = directory.leaf(number) else { return };
        if leaf.len.load(Ordering::Relaxed) == LEAF {
            let upper = writer.take_leaf();
            // SAFETY: leaves live as long as the table.
            let upper_leaf = unsafe { upper.as_ref() };
            leaf.split_into(upper_leaf);
            let first = upper_leaf.begins[0].load(Ordering::Relaxed);
            self.insert_leaf(writer, number + 1, first, upper);
            if begin >= first {
                number += 1;
                leaf = upper_leaf;
            }
        }
        let count = leaf.len.load(Ordering::Relaxed);
        let slot = leaf.begins[..count].partition_point(|b| b.load(Ordering::Relaxed) < begin);
        leaf.insert(slot, begin, end, entry);
        if slot == 0
            && let Some(directory) = self.directory()
        {
            directory.firsts[number].store(begin, Ordering::Relaxed);
        }
    }

    pub(crate) fn unplace(&self, writer: &mut Writer, position: Position) {
        let Some(directory) = self.directory() else { return };
        let Ok(leaf) = directory.leaf(position.leaf) else { return };
        leaf.remove(position.slot);
        self.settle_leaf(writer, position.leaf, leaf);
    }

    /// With the lock: the leaf that a range belongs to, its number, and the addresses that belong
    /// to it. `None`: the table is empty.
    pub(crate) fn leaf_for(&self, begin: usize) -> Option<(usize, &Leaf, Range<usize>)> {
        let directory = self.directory()?;
        let firsts = &directory.firsts[..directory.len.load(Ordering::Relaxed)];
        let after = firsts.partition_point(|first| first.load(Ordering::Relaxed) <= begin);
        let number = after.saturating_sub(1);
        let leaf = if firsts.is_empty() { None } else { directory.leaf(number).ok() }?;
        let bound = |first: &AtomicUsize| first.load(Ordering::Relaxed);
        let since = if number == 0 { 0 } else { bound(&firsts[number]) };
        Some((number, leaf, since..firsts.get(number + 1).map_or(usize::MAX, bound)))
    }

    /// The ranges of a leaf have changed: gives up one that has none, and has the directory know
    /// the first range of another.
    pub(crate) fn settle_leaf(&self, writer: &mut Writer, number: usize, leaf: &Leaf) {
        let Some(directory) = self.directory() else { return };
        if leaf.len.load(Ordering::Relaxed) == 0 {
            writer.free_leaves.push(NonNull::from(leaf));
            directory.remove(number);
        } else {
            directory.firsts[number].store(leaf.begins[0].load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    fn insert_leaf(&self, writer: &mut Writer, number: usize, first: usize, leaf: NonNull<Leaf>) {
        let Some(mut directory) = self.directory() else { return };
        let len = directory.len.load(Ordering::Relaxed);
        if len == directory.leaves.len() {
            directory = self.replace_directory(writer, len * 2);
        }
        directory.insert(number, first, leaf);
    }

    /// Makes a larger directory current. The old one stays for late readers; as
    /// each is twice its predecessor they add up to less than the present one.
    fn replace_directory(&self, writer: &mut Writer, capacity: usize) -> &Directory {
        let new = Box::new(Directory::with_capacity(capacity));
        if let Some(old) = self.directory() {
            new.copy_from(old);
        }
        writer.all_directories.push(new);
        let current: *const Directory = &raw const **writer.all_directories.last().expect("just pushed");
        self.directory.store(current.cast_mut(), Ordering::Release);
        // SAFETY: directories are only freed when the table is dropped.
        unsafe { &*current }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::entry::NewEntry;
    use crate::state::{Counter, Release};
    use crate::table::plain;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn remove(table: &PresentTable, host: usize) {
        let Relation::Contained(entry) = table.lookup(host, 1) else { panic!("not mapped") };
        assert_eq!(entry.release(Counter::Dynamic, false, false).unwrap().1, Release::Last);
        assert!(table.finish_unmapping(entry).removed().is_some());
    }

    /// The relation by definition, from a plain ordered map.
    fn expected(model: &BTreeMap<usize, usize>, host: usize, size: usize) -> (u8, usize) {
        if let Some((&begin, &end)) = model.range(..=host).next_back()
            && host < end
        {
            return (if host + size <= end { 2 } else { 1 }, begin);
        }
        match model.range(host..).next() {
            Some((&begin, _)) if size > 0 && host + size > begin => (1, begin),
            _ => (0, 0),
        }
    }

    proptest! {
        #[test]
        fn agrees_with_an_ordered_map(steps in prop::collection::vec((0usize..400, 1usize..6, any::<bool>()), 1..600)) {
            let table = PresentTable::new();
            let mut model = BTreeMap::new();
            for (host, size, add) in steps {
                // Address 0 is never mapped; start at 8.
                let host = host + 8;
                if add {
                    let free = expected(&model, host, size).0 == 0;
                    prop_assert_eq!(table.insert(&plain(host, size)).is_ok(), free);
                    if free { model.insert(host, host + size); }
                } else if let Some((&begin, _)) = model.range(host..).next() {
                    remove(&table, begin);
                    model.remove(&begin);
                }
                for (probe, length) in [(host, size), (host, 0), (host.saturating_sub(3), 4), (host + 1, 1)] {
                    let found = match table.lookup(probe, length) {
                        Relation::Contained(entry) => (2, entry.host_begin()),
                        Relation::Partial(entry) => (1, entry.host_begin()),
                        Relation::Absent => (0, 0),
                    };
                    prop_assert_eq!(found, expected(&model, probe, length));
                }
            }
            let order: Vec<usize> = table.entries().iter().map(|e| e.host_begin()).collect();
            prop_assert_eq!(order, model.keys().copied().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_hundred_thousand_entries() {
        let table = PresentTable::new();
        let scatter = |i: usize| ((i * 7919) % 100_003 + 1) * 64;
        for i in 0..100_000 {
            table.insert(&plain(scatter(i), 48)).unwrap();
        }
        for i in 0..100_000 {
            assert!(
                matches!(table.lookup(scatter(i) + 47, 1), Relation::Contained(e) if e.host_begin() == scatter(i))
            );
            assert_eq!(table.lookup(scatter(i) + 48, 16), Relation::Absent);
        }
        for i in 0..100_000 {
            remove(&table, scatter(i));
        }
        assert!(table.is_empty());
    }

    #[test]
    fn zero_length_sections_find_the_array_they_belong_to() {
        let table = PresentTable::new();
        table.insert(&NewEntry { host_base: 1000, ..plain(1100, 50) }).unwrap();
        assert!(matches!(table.lookup(1000, 0), Relation::Contained(_)));
        assert!(matches!(table.lookup(1149, 0), Relation::Contained(_)));
        assert_eq!(table.lookup(999, 0), Relation::Absent);
        assert_eq!(table.lookup(1150, 0), Relation::Absent);
    }

    #[test]
    fn readers_and_writers_together() {
        let table = PresentTable::new();
        for i in 0..64 {
            table.insert(&plain(4096 + i * 1024, 512)).unwrap();
        }
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let table = &table;
                scope.spawn(move || {
                    // Private ranges come and go in between the permanent ones.
                    for round in 0..20_000 {
                        let host = 4096 + (round % 64) * 1024 + 600 + thread * 100;
                        table.insert(&plain(host, 50)).unwrap();
                        remove(table, host);
                    }
                });
            }
            for _ in 0..2 {
                scope.spawn(|| {
                    for round in 0..200_000usize {
                        let host = 4096 + (round % 64) * 1024;
                        let Relation::Contained(entry) = table.lookup(host + 5, 100) else {
                            panic!("lost an entry")
                        };
                        assert_eq!(entry.host_begin(), host);
                        entry.acquire(Counter::Dynamic).unwrap().unwrap();
                        assert_eq!(entry.release(Counter::Dynamic, false, false).unwrap().1, Release::Shared);
                    }
                });
            }
        });
        assert_eq!(table.len(), 64);
    }
}
