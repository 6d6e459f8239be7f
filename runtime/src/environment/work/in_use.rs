//! What a construct's operations use, and what becomes of it when they are done.

use super::construct::Construct;
use super::holdings::Held;
use super::operations::make_owed_copies;
use super::storage::Storage;
use crate::error::Result;
use crate::events;
use gangway_backend::DevicePtr;
use gangway_present::{BlockRef, Counter, EntryRef, Finished, PartsTaken, ReadyRef, Release};
use std::collections::HashSet;

/// Entries and device memory that the construct's operations may use still.
///
/// A construct is a user of each of these entries once for each time it stands here. What has no
/// other user then leaves the table, and its memory is freed.
#[derive(Default)]
pub(in crate::environment) struct InUse {
    /// Entries that it has released and still uses, as it was the last or has device
    /// operations under way.
    entries: Vec<EntryRef<'static>>,
    /// Memory that is freed.
    memory: Vec<Storage>,
}

impl InUse {
    /// Whether it uses nothing.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.memory.is_empty()
    }

    /// The construct is a user of the entry.
    #[inline]
    pub(in crate::environment) fn add(&mut self, entry: EntryRef<'static>) {
        self.entries.push(entry);
    }

    /// The construct is a user of the entries.
    pub(in crate::environment) fn add_all(&mut self, entries: impl Iterator<Item = EntryRef<'static>>) {
        self.entries.extend(entries);
    }

    /// The construct has allocated memory for itself.
    pub(in crate::environment) fn add_memory(&mut self, memory: DevicePtr) {
        self.memory.push(Storage::own(memory));
    }

    /// The entry that it has become a user of last.
    pub(in crate::environment) fn last(&self) -> Option<EntryRef<'static>> {
        self.entries.last().copied()
    }

    /// Gives up a reference, if it is one.
    pub(in crate::environment) fn give_up_held(&mut self, construct: &Construct, held: Held) {
        if let Held { entry: Some(entry), counted: Some(counter), .. } = held {
            self.give_up(construct, entry, counter);
        }
    }

    /// Gives up a reference without a copy.
    pub(in crate::environment) fn give_up(
        &mut self,
        construct: &Construct,
        entry: EntryRef<'static>,
        counter: Counter,
    ) {
        match entry.release(counter, false, construct.stream().is_some()) {
            Some((_, Release::Last | Release::InUse)) => self.add(entry),
            Some((_, Release::Crowded)) => {
                let _ = construct.settle();
                if let Some((_, Release::Last)) = entry.release(counter, false, false) {
                    self.add(entry);
                }
            }
            Some((_, Release::Shared)) | None => {}
        }
    }

    /// Whether kernels of other constructs may write to an entry still that this one uses.
    ///
    /// Not for constructs in queues, which the program orders by waits; those that have gone before in the
    /// same queue use the entry as well.
    pub(in crate::environment) fn is_used_by_others(
        &self,
        construct: &Construct,
        entry: EntryRef<'static>,
    ) -> bool {
        let uses = entry.snapshot().map_or(0, |snapshot| snapshot.unmapping as usize);
        if uses < 2 || construct.is_queued() || construct.stream().is_none() {
            return false;
        }
        // Each of the items that share it has a use; they mostly came one after the other.
        self.entries.iter().rev().filter(|own| **own == entry).take(uses).count() < uses
    }

    /// Whether this construct uses one of the entries until it is done.
    pub(super) fn has_any(&self, entries: &[EntryRef<'static>]) -> bool {
        self.entries.iter().any(|entry| entries.contains(entry))
    }

    /// Takes the entries out of the present table before the operations are done, unless others use
    /// them; their memory is freed at the end.
    pub(super) fn withdraw(&mut self, construct: &Construct) {
        let Self { entries, memory } = self;
        let table = construct.table();
        let mut seen: HashSet<(usize, u32)> = HashSet::with_capacity(entries.len());
        // An entry that several items have given up is used once from here on.
        entries
            .retain(|entry| seen.insert(entry.key()) || table.finish_unmapping(*entry).removed().is_some());
        entries.retain(|&entry| match table.withdraw(entry) {
            None => true,
            Some(removed) => {
                memory.extend(Storage::of_removed(construct, removed));
                false
            }
        });
    }

    /// Entries that nobody has a reference of: once this construct has tried to have them
    /// [leave](Self::withdraw), those that others use still.
    pub(super) fn contested(&self) -> Vec<EntryRef<'static>> {
        self.entries.iter().copied().filter(|&entry| is_unreferenced(entry)).collect()
    }

    /// Gives up the uses of the entries, which another construct frees behind this one.
    pub(super) fn hand_over(&mut self, construct: &Construct, entries: &[EntryRef<'static>]) {
        let table = construct.table();
        self.entries
            .retain(|entry| !entries.contains(entry) || table.finish_unmapping(*entry).removed().is_some());
    }

    /// Takes those entries in a block out of the table whose end needs nothing else. What they had of the
    /// block, and of the construct's own point, is the caller's to give up.
    pub(super) fn finish_parts(
        &mut self,
        construct: &Construct,
        block: BlockRef<'static>,
        own: Option<ReadyRef<'static>>,
    ) -> PartsTaken {
        if events::observed() || construct.opened().capabilities.mapping_notices {
            return PartsTaken::default();
        }
        construct.table().finish_parts(&mut self.entries, block, own)
    }

    /// The operations are done: has the entries leave, unless somebody uses them or has come
    /// back to them. All of them, even if some fail; the first failure is returned.
    pub(super) fn end_entries(&mut self, construct: &mut Construct) -> Result<()> {
        let mut result = Ok(());
        // First come, first gone, as observers expect it.
        for &entry in &self.entries {
            result = result.and(unmap(construct, entry));
        }
        self.entries.clear();
        result
    }

    /// The operations are done: frees the memory. All of it, even if some fails; the first failure is
    /// returned.
    pub(super) fn free_memory(&mut self, construct: &mut Construct) -> Result<()> {
        let mut result = Ok(());
        while let Some(storage) = self.memory.pop() {
            // SAFETY: allocated by this construct, whose operations are done, or of an entry that
            // has left the table.
            result = result.and(unsafe { storage.free(construct) });
        }
        result
    }
}

/// Waits for queues whose constructs use what a construct that somebody has waited for has
/// given up: when it is over nothing of it is mapped. Such a construct may have been done
/// for long, if nobody has come to its queue since.
#[cold]
pub(super) fn end_uses_in_queues(construct: &Construct, mut given_up: Vec<EntryRef<'static>>) {
    given_up.retain(|&entry| is_unreferenced(entry));
    if given_up.is_empty() {
        return;
    }
    let queues = construct.device().all_queues();
    queues.iter().filter(|queue| queue.uses_any(&given_up)).for_each(|queue| queue.drain());
}

/// Whether nobody has a reference of an entry that is in the table still: constructs use it.
#[inline]
fn is_unreferenced(entry: EntryRef<'static>) -> bool {
    entry.snapshot().is_some_and(|counts| counts.total() == 0)
}

/// Gives up a reference, if it is one, of an entry that no operation of the construct uses. What nobody has then
/// leaves the table at once, as others may wait for that, this construct among them.
///
/// # Errors
/// The device has failed.
#[cold]
pub(in crate::environment) fn give_up_unused(construct: &mut Construct, held: Held) -> Result<()> {
    let Held { entry: Some(entry), counted: Some(counter), .. } = held else { return Ok(()) };
    match entry.release(counter, false, false) {
        Some((_, Release::Last)) => unmap(construct, entry),
        _ => Ok(()),
    }
}

/// Removes an entry unless somebody has come back to it.
fn unmap(construct: &mut Construct, entry: EntryRef<'static>) -> Result<()> {
    let mut result = Ok(());
    loop {
        match construct.table().finish_unmapping(entry) {
            Finished::Left => return result,
            Finished::Owing => result = result.and(make_owed_copies(construct, entry)),
            Finished::Removed(removed) => {
                let Some(storage) = Storage::of_removed(construct, removed) else { return result };
                // SAFETY: the entry has left the table.
                return result.and(unsafe { storage.free(construct) });
            }
        }
    }
}
