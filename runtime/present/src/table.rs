//! A present table: entries come, are counted, and go.
//!
//! [`index`] keeps the ranges in order. [`attachments`], [`pointers`] and [`shared`] have what
//! entries have to do with each other, [`batch`] those that come and go together. [`deferred`] ones
//! are never made unless somebody asks, and [`reverse`] leads back to host addresses.

use crate::answers::{Finished, NotAssociated, PartsTaken, Relation, Removed};
use crate::block::{Block, BlockRef};
use crate::entry::{Entry, EntryRef, NewEntry, PartOfBlock};
use crate::leaves::{Directory, Leaf};
use crate::ready::{Ready, ReadyRef};
use crate::state::{Finish, Phase, Snapshot};
use crate::stock::Stock;
use gangway_sync::{AtomicPtr, AtomicUsize, Mutex, MutexGuard, Ordering, lock};
use std::collections::VecDeque;
use std::ptr::NonNull;

mod attachments;
mod batch;
mod deferred;
#[cfg(not(loom))]
mod fork;
mod index;
mod pointers;
mod reverse;
mod shared;

pub use batch::{Batch, Together};
use deferred::{Deferred, Deferrers};
pub use deferred::{DeferredRef, MadeWhen};
#[cfg(not(loom))]
pub use fork::TableLocks;
pub use pointers::Dangling;
use reverse::Reverse;

/// The present table of one device. See the [crate](crate) for the protocol.
///
/// Aligned: which of its fields share a cache line does not depend on what stands beside it. A
/// region that maps fresh data takes a fifth longer where they fall badly.
#[repr(align(128))]
pub struct PresentTable {
    pub(crate) version: AtomicUsize,
    pub(crate) directory: AtomicPtr<Directory>,
    pub(crate) writer: Mutex<Writer>,
    pub(crate) deferrers: Deferrers,
    pub(crate) points: Stock<Ready>,
    pub(crate) blocks: Stock<Block>,
    pub(crate) reverse: Reverse,
    /// Attached pointers that point to what is not there any more, and pointers that are
    /// about to be written.
    pub(crate) dangling: AtomicUsize,
}

/// Entries that are taken out under one lock, at most: others do not wait long for it.
pub(crate) const PARTS_AT_ONCE: usize = 32;

/// Entries allocated at a time.
const ENTRY_CHUNK: usize = if cfg!(loom) { 2 } else { 32 };

/// What only the holder of the lock touches.
#[derive(Default)]
pub(crate) struct Writer {
    // The boxes are what makes addresses stable; clippy cannot see the raw
    // pointers kept into them.
    #[allow(clippy::vec_box)]
    all_leaves: Vec<Box<Leaf>>,
    #[allow(clippy::vec_box)]
    pub(crate) all_directories: Vec<Box<Directory>>,
    #[allow(clippy::vec_box)]
    pub(crate) all_deferred: Vec<Box<Deferred>>,
    pub(crate) free_deferred: Vec<NonNull<Deferred>>,
    pub(crate) all_entries: Vec<Box<[Entry]>>,
    pub(crate) free_leaves: Vec<NonNull<Leaf>>,
    /// First in, first out: the longer an entry rests, the surer a late reader's
    /// handle is out of date by its generation and not by luck.
    pub(crate) free_entries: VecDeque<NonNull<Entry>>,
}

// SAFETY: the pointers lead into the boxes of the same struct.
unsafe impl Send for Writer {}

impl Writer {
    pub(crate) fn take_entry(&mut self) -> NonNull<Entry> {
        self.take_entries(1).next().expect("a chunk was just added")
    }

    /// So many entries that are not in use.
    pub(crate) fn take_entries(&mut self, count: usize) -> impl Iterator<Item = NonNull<Entry>> {
        while self.free_entries.len() < count {
            let chunk: Box<[Entry]> = (0..ENTRY_CHUNK).map(|_| Entry::free()).collect();
            self.free_entries.extend(chunk.iter().map(NonNull::from));
            self.all_entries.push(chunk);
        }
        self.free_entries.drain(..count)
    }

    pub(crate) fn take_leaf(&mut self) -> NonNull<Leaf> {
        self.free_leaves.pop().unwrap_or_else(|| {
            self.all_leaves.push(Box::new(Leaf::empty()));
            NonNull::from(&**self.all_leaves.last().expect("just pushed"))
        })
    }
}

impl Default for PresentTable {
    fn default() -> Self {
        Self::new()
    }
}

impl PresentTable {
    /// An empty table. Allocates nothing until the first insertion.
    #[must_use]
    pub fn new() -> Self {
        Self {
            version: AtomicUsize::new(0),
            directory: AtomicPtr::new(std::ptr::null_mut()),
            writer: Mutex::new(Writer::default()),
            deferrers: Deferrers::default(),
            points: Stock::default(),
            blocks: Stock::default(),
            reverse: Reverse::default(),
            dangling: AtomicUsize::new(0),
        }
    }

    /// Adds an entry in phase [`Phase::Allocating`] (associated: live) with one
    /// reference.
    ///
    /// # Errors
    /// The range touches a mapped one, which is returned; it may be on its way
    /// out, in which case the caller's next lookup no longer finds it.
    pub fn insert(&self, new: &NewEntry) -> Result<EntryRef<'_>, Relation<'_>> {
        self.insert_unless_taken(new, None, None)
    }

    /// As [`insert`](Self::insert), after [`lookup_at`](Self::lookup_at) has answered that the
    /// range was absent at that version: while that is the table's, it is absent still. With
    /// storage that is there already the entry begins in phase [`Phase::Filling`].
    pub fn insert_absent<'t>(
        &'t self,
        new: &NewEntry,
        version: usize,
        part: Option<PartOfBlock<'t>>,
    ) -> Result<EntryRef<'t>, Relation<'t>> {
        self.insert_unless_taken(new, Some(version), part)
    }

    #[inline(always)]
    fn insert_unless_taken<'t>(
        &'t self,
        new: &NewEntry,
        absent: Option<usize>,
        part: Option<PartOfBlock<'t>>,
    ) -> Result<EntryRef<'t>, Relation<'t>> {
        let mut writer = lock(&self.writer);
        let version = self.version.load(Ordering::Relaxed);
        if absent != Some(version) {
            match self.search_locked(&mut writer, new.host_begin, new.size) {
                Relation::Absent => {}
                taken => return Err(taken),
            }
        }
        let entry = writer.take_entry();
        let since = version.wrapping_add(2);
        // SAFETY: entries of the writer's chunks live as long as the table.
        unsafe { entry.as_ref() }.begin_life(new, since, part);
        self.edit(|table| table.place(&mut writer, new.host_begin, new.host_begin + new.size, entry));
        Ok(EntryRef::new(entry))
    }

    /// Ends a construct's use of an entry that began with
    /// [`Release::Last`](crate::Release::Last) or
    /// [`Release::InUse`](crate::Release::InUse). `Some`: the entry has left the
    /// table and the caller frees its memory. Locks only if that may be so.
    pub fn finish_unmapping<'t>(&'t self, entry: EntryRef<'t>) -> Finished<'t> {
        if entry.leave() {
            return Finished::Left;
        }
        self.finish_locked(&mut lock(&self.writer), entry)
    }

    fn finish_locked<'t>(&'t self, writer: &mut MutexGuard<'_, Writer>, entry: EntryRef<'t>) -> Finished<'t> {
        let removed = Removed::of(entry);
        match entry.finish_unmapping() {
            Finish::Left => Finished::Left,
            Finish::Owing => Finished::Owing,
            Finish::Ended => {
                let removed = Removed { ready: entry.take_ready(), block: entry.take_block(), ..removed };
                self.take_out(writer, entry);
                Finished::Removed(removed)
            }
        }
    }

    /// As [`finish_unmapping`](Self::finish_unmapping) for the entries of a list that are parts
    /// of a block, under one lock and in one step of the version for many of them. The others
    /// stay in the list, in order.
    /// `own`: the point of the entries that the caller's construct has made.
    pub fn finish_parts<'t>(
        &'t self,
        entries: &mut Vec<EntryRef<'t>>,
        block: BlockRef<'t>,
        own: Option<ReadyRef<'t>>,
    ) -> PartsTaken {
        let mut taken = PartsTaken::default();
        let Some(&first) = entries.first() else { return taken };
        let (mut kept, mut next) = (0, 0);
        while next < entries.len() {
            let (mut writer, mut held) = (None, 0);
            let (mut ended, mut count) = ([first; PARTS_AT_ONCE], 0);
            while next < entries.len() && held < PARTS_AT_ONCE {
                let entry = entries[next];
                next += 1;
                if entry.leave() {
                    continue;
                }
                let has_own = own.is_some_and(|own| entry.has_point(own));
                if !entry.is_part_of(block) || !(has_own || entry.is_ready()) {
                    entries[kept] = entry;
                    kept += 1;
                    continue;
                }
                writer.get_or_insert_with(|| lock(&self.writer));
                held += 1;
                let finish = if entry.finish_own() { Finish::Ended } else { entry.finish_unmapping() };
                if finish == Finish::Owing {
                    // Its copies are not made under the lock.
                    entries[kept] = entry;
                    kept += 1;
                }
                if finish == Finish::Ended {
                    entry.take_block();
                    taken.uses += 1;
                    if has_own {
                        entry.forget_point();
                        taken.points += 1;
                    }
                    ended[count] = entry;
                    count += 1;
                }
            }
            if let Some(writer) = &mut writer {
                self.take_out_together(writer, &ended[..count]);
            }
        }
        entries.truncate(kept);
        taken
    }

    /// As [`finish_unmapping`](Self::finish_unmapping), but if others use the entry, or it
    /// has references again, the caller's use goes on.
    pub fn withdraw<'t>(&'t self, entry: EntryRef<'t>) -> Option<Removed<'t>> {
        if !entry.snapshot().is_some_and(Snapshot::is_last_use) {
            return None;
        }
        let mut writer = lock(&self.writer);
        let removed = Removed::of(entry);
        if !entry.withdraw() {
            return None;
        }
        let removed = Removed { ready: entry.take_ready(), block: entry.take_block(), ..removed };
        self.take_out(&mut writer, entry);
        Some(removed)
    }

    /// Removes an entry whose allocation failed. Waiting threads see its life end.
    pub fn abandon(&self, entry: EntryRef<'_>) {
        let mut writer = lock(&self.writer);
        if entry.snapshot().is_some_and(|s| s.phase == Phase::Allocating) {
            entry.entry().end_life();
            self.take_out(&mut writer, entry);
        }
    }

    /// Removes the association that starts at `host`.
    ///
    /// # Errors
    /// There is none there; see [`NotAssociated`].
    pub fn disassociate(&self, host: usize) -> Result<Removed<'_>, NotAssociated> {
        let mut writer = lock(&self.writer);
        let Relation::Contained(entry) = self.search_locked(&mut writer, host, 1) else {
            return Err(NotAssociated::Absent);
        };
        if entry.host_begin() != host {
            return Err(NotAssociated::Absent);
        }
        let snapshot = entry.snapshot().ok_or(NotAssociated::Absent)?;
        if snapshot.hold > 0 {
            return Err(NotAssociated::Held);
        }
        if !snapshot.is_infinite() {
            return Err(NotAssociated::Mapped);
        }
        let removed = Removed::of(entry);
        entry.entry().end_life();
        self.take_out(&mut writer, entry);
        Ok(removed)
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        let mut writer = lock(&self.writer);
        self.make_all(&mut writer);
        self.locked_leaves().map(|leaf| leaf.len.load(Ordering::Relaxed)).sum()
    }

    /// Whether nothing is mapped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entries in address order, as they are at one moment.
    #[must_use]
    pub fn entries(&self) -> Vec<EntryRef<'_>> {
        let mut writer = lock(&self.writer);
        self.make_all(&mut writer);
        self.locked_entries()
    }

    /// As [`entries`](Self::entries), for who has the lock. Those that are deferred are not among
    /// them.
    pub(crate) fn locked_entries(&self) -> Vec<EntryRef<'_>> {
        let mut all = Vec::new();
        for leaf in self.locked_leaves() {
            for slot in 0..leaf.len.load(Ordering::Relaxed) {
                all.extend(leaf.entry(slot).ok());
            }
        }
        all
    }

    /// How many bytes of `[begin, end)` are in mapped ranges.
    #[must_use]
    pub fn bytes_in(&self, begin: usize, end: usize) -> usize {
        let part = |entry: EntryRef<'_>| entry.part_of(begin, end - begin).1;
        self.entries().into_iter().map(part).sum()
    }

    /// Up to `limit` entries closest to `host` in the address order, for messages.
    #[must_use]
    pub fn neighbours(&self, host: usize, limit: usize) -> Vec<EntryRef<'_>> {
        let mut all = self.entries();
        all.sort_by_key(|entry| entry.host_begin().abs_diff(host).min(entry.host_end().abs_diff(host)));
        all.truncate(limit);
        all
    }

    pub(crate) fn take_out(&self, writer: &mut MutexGuard<'_, Writer>, entry: EntryRef<'_>) {
        let begin = entry.host_begin();
        if let Some(position) = self.position_of(begin) {
            self.edit(|table| table.unplace(writer, position));
        }
        self.end_pointers(writer, entry.entry());
        self.drop_attachments(writer, entry.entry());
        writer.free_entries.push_back(NonNull::from(entry.entry()));
    }
}

/// A new entry of `size` bytes at `host` with one dynamic reference and no name.
#[cfg(test)]
pub fn plain(host: usize, size: usize) -> NewEntry {
    use crate::label::Label;
    use crate::state::Counter;
    NewEntry {
        host_begin: host,
        size,
        host_base: host,
        label: Label::NONE,
        counter: Counter::Dynamic,
        associated: None,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use gangway_backend::DevicePtr;

    use super::*;
    use crate::ready::Point;
    use crate::state::Counter;
    use crate::stream::StreamRef;

    /// The block of an entry that leaves before its operations are done has a use less when they are.
    #[test]
    fn a_part_of_a_block_that_is_withdrawn_leaves_it() {
        let table = PresentTable::new();
        let block = table.begin_block(DevicePtr(4096), 64, 1);
        let part = PartOfBlock { block, storage: DevicePtr(4160), padding: 0 };
        let entry = table.insert_absent(&plain(64, 16), table.version(), Some(part)).unwrap();
        entry.publish();
        entry.release(Counter::Dynamic, false, true).unwrap();
        let removed = table.withdraw(entry).unwrap();
        assert_eq!((removed.block, removed.allocation), (Some(block), Some(DevicePtr(4160))));
        assert_eq!(table.leave_block(block, 1), Some(DevicePtr(4096)));
    }

    /// Many parts of a block are given up at once: those that others have, or that are parts of
    /// no block, stay, and all uses of block and point are accounted for.
    #[test]
    fn parts_of_a_block_end_together() {
        const PARTS: usize = 3 * PARTS_AT_ONCE;
        let table = PresentTable::new();
        for _ in 0..3 {
            let block = table.begin_block(DevicePtr(4096), PARTS * 64, 1 + PARTS);
            let part = |number: usize| {
                let storage = DevicePtr(4096 + number * 64);
                Some(PartOfBlock { block, storage, padding: 8 })
            };
            let entries: Vec<_> = (0..PARTS)
                .map(|number| {
                    let host = 64 + number * 64;
                    let entry = table.insert_absent(&plain(host, 16), table.version(), part(number)).unwrap();
                    assert_eq!(entry.snapshot().map(|counts| counts.phase), Some(Phase::Filling));
                    assert_eq!(entry.translate(host), DevicePtr(4096 + number * 64 + 8));
                    entry
                })
                .collect();
            let apart = table.insert(&plain(1 << 20, 16)).unwrap();
            apart.set_allocation(DevicePtr(1 << 30), 0);
            let ready = table.begin_ready(Point::EndOf(StreamRef::fake(1)), PARTS);
            for &entry in &entries {
                entry.set_ready(ready);
                entry.publish();
            }
            apart.publish();
            let shared = entries[40];
            shared.acquire(Counter::Dynamic).unwrap().unwrap();
            let mut list: Vec<_> = entries.iter().copied().chain([apart]).collect();
            for entry in &list {
                entry.release(Counter::Dynamic, false, true).unwrap();
            }
            let taken = table.finish_parts(&mut list, block, Some(ready));
            assert_eq!(taken, PartsTaken { uses: PARTS - 1, points: PARTS - 1 });
            assert_eq!(list, [apart]);
            assert_eq!(table.entries(), [shared, apart]);
            assert!(shared.retire(ready) && !entries[0].retire(ready));
            assert_eq!(table.leave(ready, PARTS), None);
            assert!(table.leave(ready, 1).is_some());
            // The construct leaves the block, and the last entry does later.
            assert_eq!(table.leave_block(block, 1 + taken.uses), None);
            shared.release(Counter::Dynamic, false, false).unwrap();
            let removed = table.finish_unmapping(shared).removed().unwrap();
            assert_eq!((removed.block, removed.ready), (Some(block), None));
            assert_eq!(table.leave_block(block, 1), Some(DevicePtr(4096)));
            assert_eq!(table.finish_unmapping(apart).removed().unwrap().block, None);
            assert!(table.is_empty());
        }
    }

    #[test]
    fn a_handle_of_an_earlier_life_does_nothing() {
        let table = PresentTable::new();
        let old = table.insert(&plain(64, 8)).unwrap();
        old.release(Counter::Dynamic, false, false).unwrap();
        table.finish_unmapping(old).removed().unwrap();
        let new = table.insert(&plain(64, 8)).unwrap();
        assert!(old.acquire(Counter::Dynamic).is_none() || old == new);
        assert!(old.release(Counter::Dynamic, true, false).is_none() || old == new);
    }
}
