//! Entries that come and go together: those of the small data that one construct maps.
//!
//! All of them enter the index under one lock, in one step of the version, and so do they
//! leave it: what a single insertion or removal costs besides its place in the index is paid
//! once.

use super::{PresentTable, Writer};
use crate::answers::Relation;
use crate::block::BlockRef;
use crate::entry::{Entry, EntryRef, NewEntry, PartOfBlock};
use crate::leaves::{LEAF, Leaf};
use gangway_backend::DevicePtr;
use gangway_sync::{MutexGuard, Ordering, lock};
use std::ptr::NonNull;

/// Entries that are to be made together, each with its part of one block and something of the
/// user's.
#[derive(Debug, Default)]
pub struct Batch<'t, U> {
    parts: Vec<Part<'t, U>>,
    /// First address and place among the parts, in the order of addresses.
    order: Vec<(usize, usize)>,
}

#[derive(Debug)]
struct Part<'t, U> {
    new: NewEntry,
    storage: DevicePtr,
    user: U,
    /// When it has been made.
    entry: Option<EntryRef<'t>>,
}

impl<'t, U> Batch<'t, U> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Adds an entry that begins where its part of the block does.
    #[inline]
    pub fn push(&mut self, new: NewEntry, storage: DevicePtr, user: U) {
        self.parts.push(Part { new, storage, user, entry: None });
    }

    /// Keeps the memory for the next ones.
    #[inline]
    pub fn clear(&mut self) {
        self.parts.clear();
    }

    /// What has been added, in that order, and the entries that have been made of it.
    pub fn iter(&self) -> impl Iterator<Item = (&NewEntry, &U, Option<EntryRef<'t>>)> {
        self.parts.iter().map(|part| (&part.new, &part.user, part.entry))
    }

    /// In the order of their addresses: what has been added, and its storage.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = (&NewEntry, DevicePtr)> {
        let parts = self.order.iter().map(|&(_, place)| &self.parts[place]);
        parts.map(|part| (&part.new, part.storage))
    }

    /// The entries that have been made, in the order of their addresses.
    pub(crate) fn set_entries(&mut self, entries: impl Iterator<Item = EntryRef<'t>>) {
        for (&(_, place), entry) in self.order.iter().zip(entries) {
            self.parts[place].entry = Some(entry);
        }
    }

    /// Brings the parts into the order of their addresses. False: two of them overlap.
    pub(crate) fn sort(&mut self) -> bool {
        let places = self.parts.iter().enumerate();
        self.order.clear();
        self.order.extend(places.map(|(place, part)| (part.new.host_begin, place)));
        // Arrays that were allocated one after the other mostly stand in order, one or the other.
        if self.order.first() > self.order.last() {
            self.order.reverse();
        }
        if !self.order.is_sorted() {
            self.order.sort_unstable();
        }
        let parts = &self.parts;
        let apart = |pair: &[(usize, usize)]| pair[0].0 + parts[pair[0].1].new.size <= pair[1].0;
        self.order.windows(2).all(apart)
    }
}

/// Whether the entries of a batch have been made, all of them or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    /// Two of them overlap, or one touches what is mapped.
    Not,
    /// Nothing has been mapped since they were absent.
    AtOnce,
    /// They are absent again, if they were not all the time. What the host has there may have changed
    /// since: another construct may have copied it back.
    Later,
}

impl PresentTable {
    /// Makes all entries of a batch, in phase [`Phase::Filling`](crate::Phase::Filling), or none. All were
    /// absent at that version. Each takes a use of the block from the caller.
    pub fn insert_together<'t, U>(
        &'t self,
        batch: &mut Batch<'t, U>,
        block: BlockRef<'t>,
        absent: usize,
    ) -> Together {
        if !batch.sort() {
            return Together::Not;
        }
        let mut writer = lock(&self.writer);
        let made = self.are_absent(&mut writer, batch, absent);
        if made == Together::Not {
            return made;
        }
        let since = self.version.load(Ordering::Relaxed).wrapping_add(2);
        let entries = writer.take_entries(batch.parts.len());
        for (part, entry) in batch.parts.iter_mut().zip(entries) {
            let storage = PartOfBlock { block, storage: part.storage, padding: 0 };
            // SAFETY: entries of the writer's chunks live as long as the table.
            unsafe { entry.as_ref() }.begin_life(&part.new, since, Some(storage));
            part.entry = Some(EntryRef::new(entry));
        }
        self.edit(|table| table.place_together(&mut writer, batch));
        made
    }

    /// Whether nothing of a batch is mapped, which was so at that version.
    pub(crate) fn are_absent<U>(&self, writer: &mut Writer, batch: &Batch<'_, U>, absent: usize) -> Together {
        let mut is_free = |part: &Part<'_, U>| {
            self.search_locked(writer, part.new.host_begin, part.new.size) == Relation::Absent
        };
        if self.version.load(Ordering::Relaxed) == absent {
            Together::AtOnce
        } else if batch.parts.iter().all(&mut is_free) {
            Together::Later
        } else {
            Together::Not
        }
    }

    /// Puts entries into the index whose ranges are sorted.
    fn place_together<U>(&self, writer: &mut Writer, batch: &Batch<'_, U>) {
        let range = |&(begin, place): &(usize, usize)| {
            let part = &batch.parts[place];
            let entry = part.entry.expect("it has just been made").entry();
            (begin, begin + part.new.size, NonNull::from(entry))
        };
        let mut rest = &batch.order[..];
        while let [first, others @ ..] = rest {
            let leaf = self.leaf_for(first.0);
            let Some((number, leaf, range_of_leaf)) = leaf.filter(|(_, leaf, _)| leaf.has_room()) else {
                let (begin, end, entry) = range(first);
                self.place(writer, begin, end, entry);
                rest = others;
                continue;
            };
            let room = LEAF - leaf.len.load(Ordering::Relaxed);
            let fitting = rest.iter().take(room).take_while(|(begin, _)| *begin < range_of_leaf.end);
            let (now, later) = rest.split_at(fitting.count());
            leaf.merge(now.iter().map(range));
            self.settle_leaf(writer, number, leaf);
            rest = later;
        }
    }

    /// Takes entries out of the index whose lives have ended.
    pub(crate) fn take_out_together(&self, writer: &mut MutexGuard<'_, Writer>, entries: &[EntryRef<'_>]) {
        match *entries {
            [] => return,
            [entry] => return self.take_out(writer, entry),
            _ => {}
        }
        self.edit(|table| table.unplace_together(writer, entries));
        for entry in entries {
            self.end_pointers(writer, entry.entry());
            self.drop_attachments(writer, entry.entry());
            writer.free_entries.push_back(NonNull::from(entry.entry()));
        }
    }

    fn unplace_together(&self, writer: &mut Writer, entries: &[EntryRef<'_>]) {
        // The addresses of the leaf that has been cleared last.
        let mut cleared = 0..0;
        for entry in entries {
            let begin = entry.host_begin();
            if !cleared.contains(&begin)
                && let Some((number, leaf, addresses)) = self.leaf_for(begin)
            {
                leaf.keep_living();
                self.settle_leaf(writer, number, leaf);
                cleared = addresses;
            }
        }
    }
}

impl Leaf {
    fn has_room(&self) -> bool {
        self.len.load(Ordering::Relaxed) < LEAF
    }

    /// Adds ranges in the order of their addresses, for which there is room.
    fn merge(
        &self,
        new: impl DoubleEndedIterator<Item = (usize, usize, NonNull<Entry>)> + ExactSizeIterator,
    ) {
        let old = self.len.load(Ordering::Relaxed);
        let (mut from, mut to) = (old, old + new.len());
        self.len.store(to, Ordering::Relaxed);
        for (begin, end, entry) in new.rev() {
            while from > 0 && self.begins[from - 1].load(Ordering::Relaxed) > begin {
                (from, to) = (from - 1, to - 1);
                self.copy_slot(to, self, from);
            }
            to -= 1;
            self.set(to, begin, end, entry.as_ptr());
        }
    }

    /// Removes the ranges of entries whose lives have ended.
    fn keep_living(&self) {
        let mut kept = 0;
        for slot in 0..self.len.load(Ordering::Relaxed) {
            // SAFETY: entries live as long as their table, and with the lock a leaf has no others.
            let ended = unsafe { self.entries[slot].load(Ordering::Relaxed).as_ref() };
            if ended.is_none_or(Entry::has_ended) {
                continue;
            }
            if kept != slot {
                self.copy_slot(kept, self, slot);
            }
            kept += 1;
        }
        self.len.store(kept, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::ready::Point;
    use crate::state::{Counter, Phase};
    use crate::stream::StreamRef;
    use crate::table::plain;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const UNIT: usize = 16;

    /// Makes entries of these ranges together. `None`: none has been made.
    fn insert<'t>(
        table: &'t PresentTable,
        ranges: &[(usize, usize)],
        version: usize,
    ) -> Option<Vec<EntryRef<'t>>> {
        let block = table.begin_block(DevicePtr(1 << 20), ranges.len() * UNIT, 1 + ranges.len());
        let mut batch = Batch::default();
        for (number, &(host, size)) in ranges.iter().enumerate() {
            batch.push(plain(host, size), DevicePtr((1 << 20) + number * UNIT), ());
        }
        assert_eq!((batch.len(), batch.is_empty()), (ranges.len(), ranges.is_empty()));
        let made = table.insert_together(&mut batch, block, version) != Together::Not;
        let entries: Vec<_> = batch.iter().filter_map(|(_, (), entry)| entry).collect();
        if made {
            for (number, (&entry, &(host, size))) in entries.iter().zip(ranges).enumerate() {
                assert_eq!((entry.host_begin(), entry.host_end()), (host, host + size));
                assert_eq!(entry.translate(host), DevicePtr((1 << 20) + number * UNIT));
                assert_eq!(
                    entry.snapshot().map(|counts| (counts.phase, counts.dynamic)),
                    Some((Phase::Filling, 1))
                );
                assert!(entry.is_newer_than(version));
            }
        } else {
            assert!(table.leave_block(block, 1 + ranges.len()).is_some());
        }
        made.then_some(entries)
    }

    /// Ends them as the construct does that has made them.
    fn remove(table: &PresentTable, entries: &[EntryRef<'_>]) {
        let Some(block) = entries.first().and_then(|entry| entry.pin_block(usize::MAX)) else { return };
        let ready = table.begin_ready(Point::EndOf(StreamRef::fake(1)), entries.len());
        for entry in entries {
            entry.set_ready(ready);
            entry.publish();
            entry.release(Counter::Dynamic, false, true).unwrap();
        }
        let taken = table.finish_parts(&mut entries.to_vec(), block, Some(ready));
        assert_eq!((taken.uses, taken.points), (entries.len(), entries.len()));
        assert!(table.leave(ready, 1 + taken.points).is_some());
        assert!(table.leave_block(block, 2 + taken.uses).is_some());
    }

    proptest! {
        /// Batches come and go among other entries: the table has what a plain ordered map has,
        /// and each batch is one step of the version.
        #[test]
        fn agrees_with_an_ordered_map(
            steps in prop::collection::vec(
                (prop::collection::vec((0usize..2000, 1usize..6), 0..40), any::<bool>(), any::<bool>()),
                1..30,
            )
        ) {
            let table = PresentTable::new();
            let mut model: BTreeMap<usize, usize> = BTreeMap::new();
            let mut batches: Vec<Vec<EntryRef<'_>>> = Vec::new();
            for (ranges, remove_one, outdated) in steps {
                let ranges: Vec<_> = ranges.into_iter().map(|(host, size)| (host + 8, size)).collect();
                let version = table.version();
                // Somebody else changes the table after the look that found all absent.
                if outdated && table.insert(&plain(5000 + version, 1)).is_ok() {
                    model.insert(5000 + version, 5000 + version + 1);
                }
                let mut after = model.clone();
                let free = ranges.iter().all(|&(host, size)| {
                    let before = after.range(..host + size).next_back().is_none_or(|(_, &end)| end <= host);
                    before && after.insert(host, host + size).is_none()
                });
                let known = free || outdated || ranges.iter().all(|&(host, size)| {
                    model.range(..host + size).next_back().is_none_or(|(_, &end)| end <= host)
                });
                let before = table.version();
                // What is not absent is only offered as of another version.
                let made = insert(&table, &ranges, if known && !outdated { before } else { version.wrapping_sub(2) });
                prop_assert_eq!(made.is_some(), free);
                prop_assert_eq!(table.version(), before + if free { 2 } else { 0 });
                if let Some(entries) = made {
                    model = after;
                    batches.push(entries);
                }
                if remove_one && !batches.is_empty() {
                    let entries = batches.swap_remove(ranges.len() % batches.len());
                    for entry in &entries {
                        model.remove(&entry.host_begin());
                    }
                    let before = table.version();
                    remove(&table, &entries);
                    let steps = entries.len().div_ceil(crate::table::PARTS_AT_ONCE);
                    prop_assert_eq!(table.version(), before + 2 * steps);
                }
                let all: Vec<_> = table.entries().iter().map(|e| (e.host_begin(), e.host_end())).collect();
                prop_assert_eq!(all, model.clone().into_iter().collect::<Vec<_>>());
                for (&begin, &end) in &model {
                    prop_assert!(matches!(table.lookup(begin, end - begin), Relation::Contained(e) if e.host_begin() == begin));
                }
            }
        }
    }
}
