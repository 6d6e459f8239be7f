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

use super::block::{Block, BlockRef};
use super::entry::{Entry, EntryRef, NewEntry};
use super::leaves::{Directory, LEAF, Leaf, Torn};
use super::ready::{Ready, ReadyRef};
use super::reverse::Reverse;
use super::state::{Phase, Snapshot};
use super::stock::Stock;
use crate::label::Label;
use crate::sync::{AtomicPtr, AtomicUsize, Mutex, MutexGuard, Ordering, fence, lock, spin_hint};
use gangway_backend::DevicePtr;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Leaves a first directory has room for.
const FIRST_DIRECTORY: usize = if cfg!(loom) { 2 } else { 16 };
/// Entries allocated at a time.
const ENTRY_CHUNK: usize = if cfg!(loom) { 2 } else { 32 };
/// How often a reader repeats before it takes the writers' lock.
const OPTIMISTIC_TRIES: usize = if cfg!(loom) { 1 } else { 64 };

/// How a host range relates to the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Relation<'t> {
    /// Wholly inside a mapped range (a zero-length section: it starts in one, or
    /// between a variable's base address and its mapped section).
    Contained(EntryRef<'t>),
    /// It starts or ends in a mapped range but is not inside it.
    Partial(EntryRef<'t>),
    /// It touches nothing that is mapped.
    Absent,
}

/// What is left to do for an entry that has been removed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Removed<'t> {
    /// Device memory to free, if it is in no block; none for associated storage.
    pub allocation: Option<DevicePtr>,
    /// The block it is part of, of which one use is the caller's to give up.
    pub block: Option<BlockRef<'t>>,
    /// Its point, of which one use is the caller's to give up.
    pub ready: Option<ReadyRef<'t>>,
    /// First host byte of the range.
    pub host_begin: usize,
    /// One past the last host byte.
    pub host_end: usize,
    /// Device address of the range.
    pub device_begin: DevicePtr,
    /// The name it was mapped under.
    pub label: Label,
}

/// Why an association cannot be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAssociated {
    /// No range starts at that address.
    Absent,
    /// The range was mapped, not associated.
    Mapped,
    /// A structured region holds it.
    Held,
}

/// What only the holder of the lock touches.
#[derive(Default)]
pub(super) struct Writer {
    // The boxes are what makes addresses stable; clippy cannot see the raw
    // pointers kept into them.
    #[allow(clippy::vec_box)]
    all_leaves: Vec<Box<Leaf>>,
    #[allow(clippy::vec_box)]
    all_directories: Vec<Box<Directory>>,
    all_entries: Vec<Box<[Entry]>>,
    free_leaves: Vec<NonNull<Leaf>>,
    /// First in, first out: the longer an entry rests, the surer a late reader's
    /// handle is out of date by its generation and not by luck.
    free_entries: VecDeque<NonNull<Entry>>,
}

// SAFETY: the pointers lead into the boxes of the same struct.
unsafe impl Send for Writer {}

/// The present table of one device. See the [module](super) for the protocol.
pub struct PresentTable {
    version: AtomicUsize,
    directory: AtomicPtr<Directory>,
    pub(super) writer: Mutex<Writer>,
    pub(super) points: Stock<Ready>,
    pub(super) blocks: Stock<Block>,
    pub(super) reverse: Reverse,
    /// Attached pointers that point to what is not there any more, and pointers that are
    /// about to be written.
    pub(super) dangling: AtomicUsize,
}

/// Position of a range: leaf number and place in the leaf.
#[derive(Clone, Copy)]
struct Position {
    leaf: usize,
    slot: usize,
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
            points: Stock::default(),
            blocks: Stock::default(),
            reverse: Reverse::default(),
            dangling: AtomicUsize::new(0),
        }
    }

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
    pub(crate) fn lookup_at(&self, host: usize, size: usize) -> (Relation<'_>, usize) {
        for _ in 0..OPTIMISTIC_TRIES {
            let before = self.version.load(Ordering::Acquire);
            if before & 1 == 0
                && let Ok(relation) = self.search(host, size)
            {
                fence(Ordering::Acquire);
                if self.version.load(Ordering::Relaxed) == before {
                    return (relation, before);
                }
            }
            spin_hint();
        }
        let _writer = lock(&self.writer);
        (self.search_locked(host, size), self.version.load(Ordering::Relaxed))
    }

    /// Changes whenever a range is added or removed: as long as it stays, earlier
    /// answers do.
    #[inline]
    pub(crate) fn version(&self) -> usize {
        self.version.load(Ordering::Acquire)
    }

    fn search_locked(&self, host: usize, size: usize) -> Relation<'_> {
        self.search(host, size).unwrap_or(Relation::Absent)
    }

    /// The search proper: consistent under the lock, otherwise to be validated.
    #[inline(always)]
    fn search(&self, host: usize, size: usize) -> Result<Relation<'_>, Torn> {
        let Some(directory) = self.directory() else { return Ok(Relation::Absent) };
        let leaves = directory.len.load(Ordering::Relaxed).min(directory.leaves.len());
        // The last leaf whose first range starts at or before `host`.
        let leaf_number =
            directory.firsts[..leaves].partition_point(|first| first.load(Ordering::Relaxed) <= host);
        let mut follower = None;
        if leaf_number > 0 {
            let leaf = directory.leaf(leaf_number - 1)?;
            let len = leaf.len.load(Ordering::Relaxed).min(LEAF);
            let after = leaf.begins[..len].partition_point(|begin| begin.load(Ordering::Relaxed) <= host);
            if after == 0 {
                return Err(Torn);
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

    /// Adds an entry in phase [`Phase::Allocating`] (associated: live) with one
    /// reference.
    ///
    /// # Errors
    /// The range touches a mapped one, which is returned; it may be on its way
    /// out, in which case the caller's next lookup no longer finds it.
    pub fn insert(&self, new: &NewEntry) -> Result<EntryRef<'_>, Relation<'_>> {
        let mut writer = lock(&self.writer);
        match self.search_locked(new.host_begin, new.size) {
            Relation::Absent => {}
            taken => return Err(taken),
        }
        let entry = writer.take_entry();
        let since = self.version.load(Ordering::Relaxed).wrapping_add(2);
        // SAFETY: entries of the writer's chunks live as long as the table.
        unsafe { entry.as_ref() }.begin_life(new, since);
        self.edit(|table| table.place(&mut writer, new.host_begin, new.host_begin + new.size, entry));
        Ok(EntryRef::new(entry))
    }

    /// Ends a construct's use of an entry that began with
    /// [`Release::Last`](super::Release::Last) or
    /// [`Release::InUse`](super::Release::InUse). `Some`: the entry has left the
    /// table and the caller frees its memory. Locks only if that may be so.
    pub fn finish_unmapping<'t>(&'t self, entry: EntryRef<'t>) -> Option<Removed<'t>> {
        if entry.leave() {
            return None;
        }
        let mut writer = lock(&self.writer);
        let removed = Removed::of(entry);
        if !entry.finish_unmapping() {
            return None;
        }
        let removed = Removed { ready: entry.take_ready(), block: entry.take_block(), ..removed };
        self.take_out(&mut writer, entry);
        Some(removed)
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
        let removed = Removed { ready: entry.take_ready(), ..removed };
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
        let Relation::Contained(entry) = self.search_locked(host, 1) else {
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
        let _writer = lock(&self.writer);
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
        let _writer = lock(&self.writer);
        self.locked_entries()
    }

    /// As [`entries`](Self::entries), for who has the lock.
    pub(super) fn locked_entries(&self) -> Vec<EntryRef<'_>> {
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

    fn directory(&self) -> Option<&Directory> {
        // SAFETY: directories are only freed when the table is dropped.
        unsafe { self.directory.load(Ordering::Acquire).as_ref() }
    }

    fn locked_leaves(&self) -> impl Iterator<Item = &Leaf> {
        let directory = self.directory();
        let len = directory.map_or(0, |d| d.len.load(Ordering::Relaxed));
        (0..len).filter_map(move |number| directory?.leaf(number).ok())
    }

    /// Runs a change of the index between two steps of the version.
    fn edit(&self, change: impl FnOnce(&Self)) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        change(self);
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    fn take_out(&self, writer: &mut MutexGuard<'_, Writer>, entry: EntryRef<'_>) {
        let begin = entry.host_begin();
        if let Some(position) = self.position_of(begin) {
            self.edit(|table| table.unplace(writer, position));
        }
        self.end_pointers(entry.entry());
        self.drop_attachments(entry.entry());
        writer.free_entries.push_back(NonNull::from(entry.entry()));
    }

    /// All entries there have ever been, in use or not.
    #[cfg(not(loom))]
    pub(super) fn entries_ever(&self, writer: &Writer) -> impl Iterator<Item = &Entry> {
        let chunks: Vec<NonNull<[Entry]>> =
            writer.all_entries.iter().map(|chunk| NonNull::from(&**chunk)).collect();
        // SAFETY: entries live as long as their table.
        chunks.into_iter().flat_map(|chunk| unsafe { chunk.as_ref() })
    }

    /// Ends the life of an entry, whoever has references to it.
    #[cfg(not(loom))]
    pub(super) fn remove(&self, writer: &mut MutexGuard<'_, Writer>, entry: EntryRef<'_>) {
        entry.entry().end_life();
        self.take_out(writer, entry);
    }

    fn position_of(&self, begin: usize) -> Option<Position> {
        let directory = self.directory()?;
        let len = directory.len.load(Ordering::Relaxed);
        let after = directory.firsts[..len].partition_point(|first| first.load(Ordering::Relaxed) <= begin);
        let leaf = after.checked_sub(1)?;
        let place = directory.leaf(leaf).ok()?;
        let count = place.len.load(Ordering::Relaxed);
        let slot = place.begins[..count].iter().position(|b| b.load(Ordering::Relaxed) == begin)?;
        Some(Position { leaf, slot })
    }

    fn place(&self, writer: &mut Writer, begin: usize, end: usize, entry: NonNull<Entry>) {
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

    fn unplace(&self, writer: &mut Writer, position: Position) {
        let Some(directory) = self.directory() else { return };
        let Ok(leaf) = directory.leaf(position.leaf) else { return };
        leaf.remove(position.slot);
        if leaf.len.load(Ordering::Relaxed) == 0 {
            writer.free_leaves.push(NonNull::from(leaf));
            directory.remove(position.leaf);
        } else if position.slot == 0 {
            directory.firsts[position.leaf].store(leaf.begins[0].load(Ordering::Relaxed), Ordering::Relaxed);
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

impl Removed<'_> {
    fn of(entry: EntryRef<'_>) -> Self {
        Self {
            allocation: entry.allocation(),
            ready: None,
            block: None,
            host_begin: entry.host_begin(),
            host_end: entry.host_end(),
            device_begin: entry.translate(entry.host_begin()),
            label: entry.label(),
        }
    }
}

impl Writer {
    fn take_entry(&mut self) -> NonNull<Entry> {
        if self.free_entries.is_empty() {
            let chunk: Box<[Entry]> = (0..ENTRY_CHUNK).map(|_| Entry::free()).collect();
            self.free_entries.extend(chunk.iter().map(NonNull::from));
            self.all_entries.push(chunk);
        }
        self.free_entries.pop_front().expect("a chunk was just added")
    }

    fn take_leaf(&mut self) -> NonNull<Leaf> {
        self.free_leaves.pop().unwrap_or_else(|| {
            self.all_leaves.push(Box::new(Leaf::empty()));
            NonNull::from(&**self.all_leaves.last().expect("just pushed"))
        })
    }
}

/// A new entry of `size` bytes at `host` with one dynamic reference and no name.
#[cfg(test)]
pub(crate) fn plain(host: usize, size: usize) -> NewEntry {
    use super::state::Counter;
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
    use super::super::state::{Counter, Release};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn remove(table: &PresentTable, host: usize) {
        let Relation::Contained(entry) = table.lookup(host, 1) else { panic!("not mapped") };
        assert_eq!(entry.release(Counter::Dynamic, false, false).unwrap().1, Release::Last);
        assert!(table.finish_unmapping(entry).is_some());
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
    fn a_handle_of_an_earlier_life_does_nothing() {
        let table = PresentTable::new();
        let old = table.insert(&plain(64, 8)).unwrap();
        remove(&table, 64);
        let new = table.insert(&plain(64, 8)).unwrap();
        assert!(old.acquire(Counter::Dynamic).is_none() || old == new);
        assert!(old.release(Counter::Dynamic, true, false).is_none() || old == new);
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
