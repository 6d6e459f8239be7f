//! Giving list items up.
//!
//! Items of one construct may share an entry. It is copied back if the construct gives
//! up its last reference, whichever of the items does that: what an earlier one was
//! mapped for (`from`) holds all the same (OpenMP 6.0 section 7.9.6: the count is
//! compared when all items of the construct have been seen). So there are two passes.
//! The first gives up references and copies what is known to be the last; the second
//! copies the rest, and is left out unless there may be some.

use super::count::Progress;
use super::enter::check_kind;
use super::reports;
use super::tell;
use super::work::{Declined, Work, around};
use crate::constants;
use crate::error::{ErrorKind, HostRange, MappedAction, Result};
use crate::events;
use crate::items::{Components, Item, Items};
use crate::map_kind::MapKind;
use gangway_present::{EntryRef, OwedCopy, Relation, Release};

/// What has become of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing is left to do.
    Done,
    /// It would have been copied back from an entry without other references.
    Declined,
}

impl Work {
    /// Gives up the references of a region whose items `enter` made present.
    ///
    /// # Errors
    /// A copy back failed; the remaining items are given up all the same.
    #[inline]
    pub(crate) fn exit_entered(&mut self, items: &impl Items) -> Result<()> {
        self.given_up.begin();
        let mut result = Ok(());
        let mut declined = false;
        let deferred = self.release_deferred();
        for index in (0..items.len()).rev() {
            let kind = items.kind(index);
            let mut counts = kind.counts();
            if kind.has(MapKind::NOT_MAPPED | MapKind::SHARES_REFERENCE) {
                if kind.has(MapKind::NOT_MAPPED) {
                    continue;
                }
                counts = self.holdings.of(index).counted.is_some();
            }
            let item = items.item(index);
            if deferred && let Some(device) = self.holdings.deferred(index) {
                self.operations.pack.copy_deferred_out(&item, device);
                continue;
            }
            let done = match (items.has_mapper(index), self.holdings.of(index).entry) {
                (true, _) => self.exit_components(index),
                (false, Some(entry)) => self
                    .exit_entry(&item, entry, counts)
                    .map(|outcome| declined |= outcome == Outcome::Declined),
                (false, None) => Ok(()),
            };
            result = result.and(done);
        }
        // Found again here, so that a launch need not write them down.
        if declined && self.given_up.has_released() {
            self.note_declined(items);
        }
        let result = result.and(self.copy_released()).and(self.operations.fetch_pack(&self.construct));
        // Now that it shows which entries leave: their pointers need no other value.
        result.and(self.detach_attached())
    }

    /// Adds a region's items that may have been declined.
    #[cold]
    fn note_declined(&mut self, items: &impl Items) {
        for index in (0..items.len()).rev() {
            let item = items.item(index);
            let copied = MapKind::FROM | MapKind::ALWAYS | MapKind::NOT_MAPPED;
            if item.kind.only(copied) == MapKind::FROM
                && item.size != 0
                && !items.has_mapper(index)
                && let Some(entry) = self.holdings.of(index).entry
            {
                self.given_up.decline(&item, entry);
            }
        }
    }

    /// Copies back what was declined, of entries whose last reference has been given
    /// up after all, and what has not been copied for another item.
    #[inline]
    fn copy_released(&mut self) -> Result<()> {
        if self.given_up.may_be_due() { self.copy_declined() } else { Ok(()) }
    }

    #[cold]
    fn copy_declined(&mut self) -> Result<()> {
        let Self { construct, operations, given_up, in_use, .. } = self;
        let mut result = Ok(());
        // Items of an entry mostly come one after the other: it is looked at once for them.
        let mut looked_at = None;
        let (due, detached) = given_up.due(operations.pack.ranges_out());
        for &Declined { entry, begin, size, label, .. } in due {
            let others = match looked_at {
                Some((of, others)) if of == entry => others,
                _ => in_use.is_used_by_others(construct, entry),
            };
            looked_at = Some((entry, others));
            let done = operations.order.wait_until_ready(construct, entry).and_then(|()| {
                if others {
                    owe_copy(entry, OwedCopy { begin, size, label }, detached);
                    return Ok(());
                }
                operations.copy_out(construct, entry, begin, size, label, detached)
            });
            result = result.and(done);
        }
        result
    }

    /// Gives up the items of a `target exit data` or the end of `target data`, but those that have been
    /// given up by counting.
    ///
    /// All items are looked up before the first one is given up: others may take out an entry as soon
    /// as this construct has no reference to it, and put a new one in its place, of which this
    /// construct has nothing. For the same reason pointers are detached first.
    ///
    /// # Errors
    /// `present` and not present, or a copy back failed; the remaining items are
    /// given up all the same.
    pub(crate) fn exit(&mut self, items: &impl Items, counted: &Progress) -> Result<()> {
        self.given_up.begin();
        let none = MapKind::NOT_MAPPED | MapKind::STRUCTURE;
        let is_mapped = |index| items.has_mapper(index) && !items.kind(index).has(none);
        let mut failure = None;
        let mut detaches = false;
        for index in 0..items.len() {
            let mut leaving = None;
            if !counted.has(index) && !is_mapped(index) {
                match self.find_leaving(items, index) {
                    Ok(found) => leaving = found,
                    Err(error) => failure = Some((index, error)),
                }
            }
            detaches |= items.kind(index).has(MapKind::DETACH);
            self.given_up.find(leaving);
        }
        let mut result = Ok(());
        if detaches {
            for index in (0..items.len()).rev().filter(|&index| items.kind(index).has(MapKind::DETACH)) {
                let item = items.item(index);
                if counted.has(index) {
                    self.given_up.detach(item.base, size_of::<usize>());
                } else {
                    result = result.and(self.detach(&item));
                }
            }
        }
        for index in (0..items.len()).rev() {
            let done = match self.given_up.found(index) {
                Some((entry, counts)) => self.exit_noting(&items.item(index), entry, counts),
                None if is_mapped(index) && !counted.has(index) => self.exit_mapped(items, index),
                // Told where it stands: the first failure is the one to report.
                None => match failure.take_if(|(at, _)| *at == index) {
                    Some((_, error)) => Err(error),
                    None => Ok(()),
                },
            };
            result = result.and(done);
        }
        result.and(self.copy_released()).and(self.operations.fetch_pack(&self.construct))
    }

    /// The entry of an item, and whether the item gives up a reference of it. Of items that count once
    /// between them the first one does: the entry stays until it comes, the last of all.
    fn find_leaving(
        &mut self,
        items: &impl Items,
        index: usize,
    ) -> Result<Option<(EntryRef<'static>, bool)>> {
        let item = items.item(index);
        check_kind(&self.construct, items, &item, index)?;
        if item.kind.has(MapKind::NOT_MAPPED | MapKind::STRUCTURE) {
            return Ok(None);
        }
        let implicit = item.kind.has(MapKind::IMPLICIT);
        let entry = match self.lookups.recent.lookup(self.construct.table(), item.begin, item.size) {
            Relation::Contained(entry) => Some(entry),
            Relation::Partial(entry) if implicit => Some(entry),
            Relation::Partial(_) | Relation::Absent => None,
        };
        // One that another thread is still making is given up when it is made: it has no storage to
        // copy from or to free before.
        let Some(entry) = entry.filter(|entry| entry.wait_filled()) else {
            return self.nothing_to_exit(&item).map(|()| None);
        };
        let mut counts = item.kind.counts();
        if item.kind.has(MapKind::ONCE) {
            counts &= self.holdings.count_once(entry) || item.kind.has(MapKind::DELETE);
        }
        Ok(Some((entry, counts)))
    }

    /// Gives up what the mapper of an argument has named at the beginning: the kernel
    /// may have changed what it would name now.
    #[cold]
    fn exit_components(&mut self, argument: usize) -> Result<()> {
        let mut result = Ok(());
        while let Some(component) = self.holdings.pop_component_of(argument) {
            if !component.item.kind.has(MapKind::NOT_MAPPED)
                && let Some(entry) = component.held.entry
            {
                let counts = component.item.kind.counts() && component.held.counted.is_some();
                result = result.and(self.exit_noting(&component.item, entry, counts));
            }
        }
        result
    }

    #[cold]
    fn exit_mapped(&mut self, items: &impl Items, argument: usize) -> Result<()> {
        check_kind(&self.construct, items, &items.item(argument), argument)?;
        let components = Components::of(items, argument);
        let mut result = Ok(());
        // All of them, whatever fails.
        for index in (0..components.len()).rev() {
            let exited = if components.kind(index).has(MapKind::DETACH) {
                self.detach(&components.item(index))
            } else {
                self.find_leaving(&components, index).and_then(|leaving| match leaving {
                    Some((entry, counts)) => self.exit_noting(&components.item(index), entry, counts),
                    None => Ok(()),
                })
            };
            result = result.and(exited);
        }
        result
    }

    /// Gives an item up and notes whether it has been declined.
    fn exit_noting(&mut self, item: &Item, entry: EntryRef<'static>, counts: bool) -> Result<()> {
        if self.exit_entry(item, entry, counts)? == Outcome::Declined {
            self.given_up.decline(item, entry);
        }
        Ok(())
    }

    /// OpenMP 5.2 section 5.8.6: an item that is not present is ignored, unless
    /// `present` says that it is an error.
    #[cold]
    fn nothing_to_exit(&self, item: &Item) -> Result<()> {
        if self.construct.has_unified_shared_memory() {
            return Ok(());
        }
        let wanted = HostRange { begin: item.begin, size: item.size, label: item.label };
        if item.kind.has(MapKind::PRESENT) {
            let near = self.construct.device().near(item.begin);
            return Err(self.construct.fail(ErrorKind::NotPresent { wanted, near }));
        }
        if item.size != 0 && !item.kind.has(MapKind::IF_PRESENT) {
            let delete = item.kind.has(MapKind::DELETE);
            let action = if delete { MappedAction::Delete } else { MappedAction::Unmap };
            reports::never_mapped(&self.construct, wanted, action);
        }
        Ok(())
    }

    #[inline]
    fn exit_entry(&mut self, item: &Item, entry: EntryRef<'static>, counts: bool) -> Result<Outcome> {
        let in_use = self.construct.stream().is_some();
        let unusual = MapKind::HOLD | MapKind::DELETE | MapKind::ALWAYS;
        // What others have, too, is usually only counted.
        if counts && !item.kind.has(unusual) && !events::observed() && entry.release_shared(in_use) {
            if in_use {
                self.in_use.add(entry);
            }
            let wanted = item.kind.has(MapKind::FROM) && item.size != 0;
            return Ok(if wanted { Outcome::Declined } else { Outcome::Done });
        }
        // And what the construct alone has is its own to give up.
        if counts && !item.kind.has(unusual) && !events::observed() && entry.release_own() {
            self.in_use.add(entry);
            self.given_up.release(entry);
            self.operations.order.wait_until_ready(&self.construct, entry)?;
            if item.kind.has(MapKind::FROM) && item.size != 0 {
                self.copy_back(item, entry)?;
            }
            return Ok(Outcome::Done);
        }
        let (counter, delete) = (item.kind.counter(), item.kind.has(MapKind::DELETE));
        let (snapshot, last) = if counts {
            match entry.release(counter, delete, in_use) {
                // Another thread has deleted it: ignored, as if never mapped.
                None => return Ok(Outcome::Done),
                Some((_, Release::Crowded)) => return self.exit_crowded(item, entry),
                Some((snapshot, release)) => {
                    if release != Release::Shared {
                        self.in_use.add(entry);
                    }
                    if release == Release::Last {
                        self.given_up.release(entry);
                        // Otherwise every construct that uses it is done with it.
                        if delete {
                            self.construct.deletes(entry);
                        }
                    }
                    (snapshot, release == Release::Last)
                }
            }
        } else {
            match entry.snapshot() {
                None => return Ok(Outcome::Done),
                // What becomes of the entry is decided by the item it is part of.
                Some(snapshot) => (snapshot, false),
            }
        };
        if events::observed() {
            let last = if counts { last } else { snapshot.would_be_last(counter, delete) };
            tell::exit(&self.construct, item, entry, snapshot, counts, last);
        }
        let wanted = item.kind.has(MapKind::FROM) && item.size != 0;
        let copy = wanted && (last || item.kind.has(MapKind::ALWAYS));
        if last || copy {
            // Neither copied back nor freed before it has been filled.
            self.operations.order.wait_until_ready(&self.construct, entry)?;
        }
        if !wanted {
            return Ok(Outcome::Done);
        }
        if !copy {
            return Ok(Outcome::Declined);
        }
        if last && self.owes(item, entry) {
            return Ok(Outcome::Done);
        }
        self.copy_back(item, entry).map(|()| Outcome::Done)
    }

    /// Leaves an item's copy back to the last construct that is done with the entry, of which this work has
    /// given up the last reference or is about to, if others use it still. False: nobody
    /// does.
    fn owes(&self, item: &Item, entry: EntryRef<'static>) -> bool {
        let others = self.in_use.is_used_by_others(&self.construct, entry);
        if others {
            let (begin, size) = entry.part_of(item.begin, item.size);
            owe_copy(entry, OwedCopy { begin, size, label: item.label }, self.given_up.detached());
        }
        others
    }

    fn copy_back(&mut self, item: &Item, entry: EntryRef<'static>) -> Result<()> {
        let (begin, size) = entry.part_of(item.begin, item.size);
        if constants::has(begin, size) {
            return Ok(());
        }
        if self.construct.packs() {
            let pack = &mut self.operations.pack;
            pack.adopt_block_of(&self.construct, entry);
            // What is fetched with the block need not be noted a second time.
            if pack.copy_entry_out(entry, begin, size) {
                return Ok(());
            }
        }
        self.given_up.copy(begin, begin + size);
        let detached = self.given_up.detached();
        self.operations.copy_out(&self.construct, entry, begin, size, item.label, detached)
    }

    /// Gives an item up that more constructs in flight use than can be counted:
    /// copies back, or leaves that to them, waits, and then needs the entry no more.
    #[cold]
    fn exit_crowded(&mut self, item: &Item, entry: EntryRef<'static>) -> Result<Outcome> {
        let (counter, delete) = (item.kind.counter(), item.kind.has(MapKind::DELETE));
        let last = entry.snapshot().is_some_and(|counts| counts.would_be_last(counter, delete));
        let wanted = item.kind.has(MapKind::FROM) && item.size != 0;
        let copy = wanted && (last || item.kind.has(MapKind::ALWAYS));
        // It is owed while the reference is still there: nobody takes the entry out before.
        let mut result =
            if copy && !(last && self.owes(item, entry)) { self.copy_back(item, entry) } else { Ok(()) };
        result = result.and(self.operations.fetch_pack(&self.construct)).and(self.construct.settle());
        if let Some((_, Release::Last)) = entry.release(counter, delete, false) {
            self.in_use.add(entry);
            self.given_up.release(entry);
        }
        result.map(|()| if wanted && !copy { Outcome::Declined } else { Outcome::Done })
    }
}

/// Leaves a copy back to the last construct that is done with the entry, but for pointers that have been
/// detached.
fn owe_copy(entry: EntryRef<'static>, copy: OwedCopy, detached: &[(usize, usize)]) {
    let OwedCopy { begin, size, label } = copy;
    if constants::has(begin, size) {
        return;
    }
    for (begin, size) in around(begin, size, detached.iter().copied()) {
        entry.owe_copy(OwedCopy { begin, size, label });
    }
}
