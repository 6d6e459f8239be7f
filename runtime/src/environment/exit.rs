//! Giving list items up.
//!
//! Items of one construct may share an entry. It is copied back if the construct gives
//! up its last reference, whichever of the items does that: what an earlier one was
//! mapped for (`from`) holds all the same (OpenMP 6.0 section 7.9.6: the count is
//! compared when all items of the construct have been seen). So there are two passes.
//! The first gives up references and copies what is known to be the last; the second
//! copies the rest, and is left out unless there may be some.

use super::given_up::Declined;
use super::wanted::Wanted;
use super::work::Work;
use crate::constants;
use crate::error::{ErrorKind, HostRange, MappedAction, Result};
use crate::events::{self, MappingChange, MappingEvent};
use crate::inside::WritableMemory;
use crate::items::{Components, Item, Items};
use crate::map_kind::MapKind;
use gangway_present::{EntryRef, OwedCopy, Relation, Release, Snapshot};
use std::cmp::Reverse;

/// Reports items that were to be unmapped or updated and are not mapped, pointers to what is not
/// mapped, and structures of which members are mapped. OpenMP 5.2 sections 5.8.6 and 5.9 have them ignored, so this is only done on
/// request (`GANGWAY_CHECK`).
pub type NeverMappedReport = fn(Box<crate::error::Error>);

static NEVER_MAPPED: std::sync::OnceLock<NeverMappedReport> = std::sync::OnceLock::new();

/// Asks for [`ErrorKind::NeverMapped`], [`ErrorKind::HostPointer`], [`ErrorKind::InnerPointer`] and
/// [`ErrorKind::PartlyMapped`] reports for the rest of the process.
pub fn report_never_mapped(report: NeverMappedReport) {
    let _ = NEVER_MAPPED.set(report);
}

/// What is looked through for pointers: what is larger is an array, of which few are used at a time.
const LARGEST_STRUCTURE: usize = 512;

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
        self.exit.begin();
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
                counts = self.held[index].counted.is_some();
            }
            let item = items.item(index);
            // What has been deferred is counted, too, and has no entry.
            if deferred && self.held[index].entry.is_none() && self.held[index].counted.is_some() {
                self.fetch_deferred(&item, self.held[index].device);
                continue;
            }
            let done = match (items.has_mapper(index), self.held[index].entry) {
                (true, _) => self.exit_components(index),
                (false, Some(entry)) => self
                    .exit_entry(&item, entry, counts)
                    .map(|outcome| declined |= outcome == Outcome::Declined),
                (false, None) => Ok(()),
            };
            result = result.and(done);
        }
        // Found again here, so that a launch need not write them down.
        if declined && !self.exit.released.is_empty() {
            self.note_declined(items);
        }
        let result = result.and(self.copy_released()).and(self.fetch_pack());
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
                && let Some(entry) = self.held[index].entry
            {
                self.exit.declined.push(Declined::new(&item, entry));
            }
        }
    }

    /// Copies back what was declined, of entries whose last reference has been given
    /// up after all, and what has not been copied for another item.
    #[inline]
    fn copy_released(&mut self) -> Result<()> {
        if self.exit.declined.is_empty() || self.exit.released.is_empty() {
            return Ok(());
        }
        self.copy_declined()
    }

    #[cold]
    fn copy_declined(&mut self) -> Result<()> {
        let mut exit = std::mem::take(&mut self.exit);
        exit.released.sort_unstable_by_key(|entry| entry.key());
        self.copied.clear();
        exit.copied.extend(self.fetched_parts());
        // In order, as a set of ranges is made fastest.
        exit.copied.sort_unstable();
        for &(begin, end) in &exit.copied {
            self.copied.insert(begin, end);
        }
        exit.declined.retain(|item| {
            exit.released.binary_search_by_key(&item.entry.key(), |entry| entry.key()).is_ok()
        });
        for (order, item) in exit.declined.iter_mut().enumerate() {
            (item.begin, item.size) = item.entry.part_of(item.begin, item.size);
            item.order = order;
        }
        // Larger ones first, so that what they contain is found to be there; then as the
        // items come.
        exit.declined.sort_unstable_by_key(|item| (item.begin, Reverse(item.size)));
        exit.declined.retain(|item| {
            item.size != 0
                && !constants::has(item.begin, item.size)
                && self.copied.insert(item.begin, item.begin + item.size)
        });
        exit.declined.sort_unstable_by_key(|item| item.order);
        let mut result = Ok(());
        // Items of an entry mostly come one after the other: it is looked at once for them.
        let mut looked_at = None;
        for &Declined { entry, begin, size, label, .. } in &exit.declined {
            let others = match looked_at {
                Some((of, others)) if of == entry => others,
                _ => self.is_used_by_others(entry),
            };
            looked_at = Some((entry, others));
            let done = self.wait_until_ready(entry).and_then(|()| {
                if others {
                    Self::owe_copy(entry, OwedCopy { begin, size, label });
                    return Ok(());
                }
                self.copy_out(entry, begin, size, label)
            });
            result = result.and(done);
        }
        // Keeps the memory for the next construct.
        self.exit = exit;
        result
    }

    /// Gives up the first items of a `target exit data` or the end of `target data`: the others have
    /// been.
    ///
    /// # Errors
    /// `present` and not present, or a copy back failed; the remaining items are
    /// given up all the same.
    pub(crate) fn exit(&mut self, items: &impl Items, count: usize) -> Result<()> {
        self.exit.begin();
        let mut result = Ok(());
        for index in (0..count).rev() {
            let none = items.kind(index).has(MapKind::NOT_MAPPED | MapKind::STRUCTURE);
            let mapped = !none && items.has_mapper(index);
            let done = if mapped { self.exit_mapped(items, index) } else { self.exit_listed(items, index) };
            result = result.and(done);
        }
        result.and(self.copy_released()).and(self.fetch_pack())
    }

    /// Gives up an item, or a component, where data ends.
    fn exit_listed(&mut self, items: &impl Items, index: usize) -> Result<()> {
        let item = items.item(index);
        self.check_kind(items, &item, index)?;
        if !item.kind.has(MapKind::NOT_MAPPED | MapKind::STRUCTURE) {
            return self.exit_item(&item);
        }
        if item.kind.has(MapKind::DETACH) { self.detach(&item) } else { Ok(()) }
    }

    /// Gives up what the mapper of an argument has named at the beginning: the kernel
    /// may have changed what it would name now.
    #[cold]
    fn exit_components(&mut self, argument: usize) -> Result<()> {
        let mut result = Ok(());
        while let Some(component) = self.components.pop_if(|component| component.argument == argument) {
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
        self.check_kind(items, &items.item(argument), argument)?;
        let components = Components::of(items, argument);
        let exit = |index| self.exit_listed(&components, index);
        // All of them, whatever fails.
        (0..components.len()).rev().map(exit).fold(Ok(()), Result::and)
    }

    /// Looks the item up and gives it up.
    fn exit_item(&mut self, item: &Item) -> Result<()> {
        let implicit = item.kind.has(MapKind::IMPLICIT);
        match self.recent.lookup(&self.device.table, item.begin, item.size) {
            Relation::Contained(entry) => self.exit_found(item, entry),
            Relation::Partial(entry) if implicit => self.exit_found(item, entry),
            Relation::Partial(_) | Relation::Absent => self.nothing_to_exit(item),
        }
    }

    /// An entry that another thread is still making is given up when it is made:
    /// it has no storage to copy from or to free before.
    fn exit_found(&mut self, item: &Item, entry: EntryRef<'static>) -> Result<()> {
        if !entry.wait_filled() {
            return self.nothing_to_exit(item);
        }
        let mut counts = item.kind.counts();
        if item.kind.has(MapKind::ONCE) {
            counts &= self.once.insert(entry) || item.kind.has(MapKind::DELETE);
        }
        self.exit_noting(item, entry, counts)
    }

    /// Gives an item up and notes whether it has been declined.
    fn exit_noting(&mut self, item: &Item, entry: EntryRef<'static>, counts: bool) -> Result<()> {
        if self.exit_entry(item, entry, counts)? == Outcome::Declined {
            self.exit.declined.push(Declined::new(item, entry));
        }
        Ok(())
    }

    /// OpenMP 5.2 section 5.8.6: an item that is not present is ignored, unless
    /// `present` says that it is an error.
    #[cold]
    fn nothing_to_exit(&self, item: &Item) -> Result<()> {
        if self.unified_shared_memory {
            return Ok(());
        }
        let wanted = HostRange { begin: item.begin, size: item.size, label: item.label };
        if item.kind.has(MapKind::PRESENT) {
            let near = self.device.near(item.begin);
            return Err(self.fail(ErrorKind::NotPresent { wanted, near }));
        }
        if item.size != 0 && !item.kind.has(MapKind::IF_PRESENT) {
            let delete = item.kind.has(MapKind::DELETE);
            self.tell_never_mapped(wanted, if delete { MappedAction::Delete } else { MappedAction::Unmap });
        }
        Ok(())
    }

    /// Reports an item that is not mapped, if such reports are wanted.
    #[cold]
    pub(super) fn tell_never_mapped(&self, wanted: HostRange, action: MappedAction) {
        if let Some(report) = NEVER_MAPPED.get() {
            let near = self.device.near(wanted.begin);
            report(self.fail(ErrorKind::NeverMapped { wanted, action, near }));
        }
    }

    /// Reports a pointer that a region gets with the host's address, if such reports are
    /// wanted and the device knows that the address is not its own.
    #[cold]
    pub(super) fn tell_host_pointer(&self, wanted: &Wanted) {
        let Some(report) = NEVER_MAPPED.get() else { return };
        let foreign = self.opened.device.is_device_memory(wanted.begin) == Some(false);
        if foreign && wanted.begin != 0 && !self.unified_shared_memory {
            let (pointer, near) = (wanted.range(), self.device.near(wanted.begin));
            report(self.fail(ErrorKind::HostPointer { pointer, near }));
        }
    }

    /// Reports a structure of which members are mapped, and that a region gets as a whole, if such
    /// reports are wanted. Of arrays a section may be mapped alone, and often is.
    #[cold]
    pub(super) fn tell_partly_mapped(&self, wanted: &Wanted, entry: EntryRef<'static>) {
        let Some(report) = NEVER_MAPPED.get() else { return };
        let member =
            entry.label().name().zip(wanted.label.name()).and_then(|(part, all)| part.strip_prefix(all));
        if self.is_region && member.is_some_and(|member| member.starts_with('.')) {
            let parts = self.device.parts_of(wanted.begin, wanted.size);
            report(self.fail(ErrorKind::PartlyMapped { wanted: wanted.range(), parts }));
        }
    }

    /// Whether [`tell_inner_pointers`](Self::tell_inner_pointers) has anything to do.
    #[inline]
    pub(crate) fn wants_reports() -> bool {
        NEVER_MAPPED.get().is_some()
    }

    /// Reports pointers in a region's structures that point to what is not mapped.
    #[cold]
    pub(crate) fn tell_inner_pointers(&self, items: &impl Items) {
        let Some(report) = NEVER_MAPPED.get() else { return };
        if self.unified_shared_memory {
            return;
        }
        let memory = WritableMemory::default();
        let small = |item: &Item| item.size <= LARGEST_STRUCTURE && item.kind.has(MapKind::TO);
        for item in items.iter().filter(small) {
            for (offset, value) in crate::inside::pointers_in(&item) {
                let is_mapped = !matches!(self.device.table.lookup(value, 0), Relation::Absent);
                let is_own = self.opened.device.is_device_memory(value) != Some(false);
                if !is_mapped && !is_own && memory.has(value) {
                    let holder = HostRange { begin: item.begin, size: item.size, label: item.label };
                    let member = crate::inside::member(item.label, offset);
                    report(self.fail(ErrorKind::InnerPointer { holder, offset, value, member }));
                }
            }
        }
    }

    #[inline]
    fn exit_entry(&mut self, item: &Item, entry: EntryRef<'static>, counts: bool) -> Result<Outcome> {
        let in_use = self.stream.is_some();
        let unusual = MapKind::HOLD | MapKind::DELETE | MapKind::ALWAYS;
        // What others have, too, is usually only counted.
        if counts && !item.kind.has(unusual) && !events::observed() && entry.release_shared(in_use) {
            if in_use {
                self.unmapping.push(entry);
            }
            let wanted = item.kind.has(MapKind::FROM) && item.size != 0;
            return Ok(if wanted { Outcome::Declined } else { Outcome::Done });
        }
        // And what the construct alone has is its own to give up.
        if counts && !item.kind.has(unusual) && !events::observed() && entry.release_own() {
            self.unmapping.push(entry);
            self.exit.released.push(entry);
            self.wait_until_ready(entry)?;
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
                        self.unmapping.push(entry);
                    }
                    if release == Release::Last {
                        self.exit.released.push(entry);
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
            self.tell_exit(item, entry, snapshot, counts, last);
        }
        let wanted = item.kind.has(MapKind::FROM) && item.size != 0;
        let copy = wanted && (last || item.kind.has(MapKind::ALWAYS));
        if last || copy {
            // Neither copied back nor freed before it has been filled.
            self.wait_until_ready(entry)?;
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
    /// given up the last reference or is about to, if others [use](Self::is_used_by_others) it. False: nobody
    /// does.
    fn owes(&self, item: &Item, entry: EntryRef<'static>) -> bool {
        let others = self.is_used_by_others(entry);
        if others {
            let (begin, size) = entry.part_of(item.begin, item.size);
            Self::owe_copy(entry, OwedCopy { begin, size, label: item.label });
        }
        others
    }

    fn owe_copy(entry: EntryRef<'static>, copy: OwedCopy) {
        if !constants::has(copy.begin, copy.size) {
            entry.owe_copy(copy);
        }
    }

    /// Whether kernels of other constructs may write to an entry still.
    ///
    /// Not for constructs in queues, which the program orders by waits; those that have gone before in the
    /// same queue use the entry as well.
    fn is_used_by_others(&self, entry: EntryRef<'static>) -> bool {
        let uses = entry.snapshot().map_or(0, |snapshot| snapshot.unmapping as usize);
        if uses < 2 || self.queued || self.stream.is_none() {
            return false;
        }
        // Each of the items that share it has a use; they mostly came one after the other.
        self.unmapping.iter().rev().filter(|own| **own == entry).take(uses).count() < uses
    }

    fn copy_back(&mut self, item: &Item, entry: EntryRef<'static>) -> Result<()> {
        let (begin, size) = entry.part_of(item.begin, item.size);
        if constants::has(begin, size) {
            return Ok(());
        }
        if self.packs() {
            self.adopt_block(entry);
            // What is fetched with the block need not be noted a second time.
            if self.fetch_part(entry, begin, size) {
                return Ok(());
            }
        }
        self.exit.copied.push((begin, begin + size));
        self.copy_out(entry, begin, size, item.label)
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
        result = result.and(self.fetch_pack()).and(self.settle());
        if let Some((_, Release::Last)) = entry.release(counter, delete, false) {
            self.unmapping.push(entry);
            self.exit.released.push(entry);
        }
        result.map(|()| if wanted && !copy { Outcome::Declined } else { Outcome::Done })
    }

    #[cold]
    fn tell_exit(&self, item: &Item, entry: EntryRef<'static>, counts: Snapshot, counted: bool, last: bool) {
        let delete = item.kind.has(MapKind::DELETE);
        let structure = item.kind.has(MapKind::STRUCTURE);
        let size = if structure { entry.host_end() - entry.host_begin() } else { item.size };
        self.tell_mapping(&MappingEvent {
            change: if counted { MappingChange::Released { last, delete } } else { MappingChange::Found },
            implicit: false,
            hold: item.kind.has(MapKind::HOLD),
            host_base: item.base,
            host: if structure { entry.host_begin() } else { item.begin },
            size,
            allocation: entry.allocation(),
            device: entry.translate(item.begin),
            counts: Some(counts),
            label: item.label,
        });
    }
}
