//! Making entries for what is absent.

use super::reports;
use super::tell;
use super::wanted::{Count, Wanted};
use super::work::{Construct, Held, Work};
use crate::error::{ErrorKind, Result};
use crate::events::{self, MappingChange};
use crate::map_kind::MapKind;
use gangway_backend::RangeChange;
use gangway_present::EntryRef;

impl Work {
    /// Makes an entry for what was absent at that version of the table. It holds a reference of
    /// the construct that made it, whether or not this item would have counted on an existing
    /// one. `None`: another thread was faster.
    pub(super) fn create(&mut self, wanted: &Wanted, version: usize) -> Result<Option<EntryRef<'static>>> {
        let Wanted { begin, size, padding, label, .. } = *wanted;
        check_memory(&self.construct, wanted)?;
        let new = wanted.new_entry();
        // Where it is part of a block, storage costs no call and is there before the entry.
        let part = if self.construct.packs() {
            self.operations.pack.part_for_entry(&self.construct, size, padding)?
        } else {
            None
        };
        let Ok(entry) = self.construct.table().insert_absent(&new, version, part) else {
            part.into_iter().for_each(|part| self.operations.pack.take_part_back(part));
            return Ok(None);
        };
        self.lookups.note_inserted(self.construct.table(), version, begin, size);
        if self.construct.is_region() {
            entry.set_region_of(gangway_sync::this_thread());
        }
        let copy = wanted.kind.has(MapKind::TO);
        let zero = wanted.kind.has(MapKind::ZERO) && !copy;
        match part {
            Some(part) if events::observed() => {
                tell::part(&self.construct, part, padding + size, begin, label)
            }
            Some(_) => {}
            None => self.allocate_for(entry, wanted, copy || zero)?,
        }
        if wanted.count == Count::Once {
            self.holdings.count_once(entry);
        }
        let mapped = RangeChange::Mapped(entry.translate(begin));
        self.construct.notice(begin, size, mapped, label);
        self.unpublished.add(entry, copy);
        if events::observed()
            && let Some(counts) = entry.snapshot()
        {
            tell::entry(&self.construct, MappingChange::Created, entry, wanted, counts);
        }
        let filled = match (copy, zero) {
            (true, _) => self.operations.copy_in(&self.construct, entry, begin, size, label),
            (false, true) => self.operations.zero(&self.construct, entry, begin, size, label),
            (false, false) => Ok(()),
        };
        if let Err(error) = filled {
            self.drop_held(Held::of_new(entry, wanted));
            return Err(error);
        }
        Ok(Some(entry))
    }

    /// Gives a new entry device memory of its own.
    fn allocate_for(&mut self, entry: EntryRef<'static>, wanted: &Wanted, copy: bool) -> Result<()> {
        let Wanted { begin: host, padding, label, .. } = *wanted;
        let size = padding + wanted.size;
        let overwritten = copy && padding == 0;
        match self.construct.allocate(host, size, overwritten, label) {
            Ok(allocation) => {
                entry.set_allocation(allocation, padding);
                Ok(())
            }
            Err(error) => {
                self.construct.table().abandon(entry);
                Err(error)
            }
        }
    }
}

/// The cases in which an absent item gets no entry, if this is one.
#[cold]
pub(super) fn without_entry(construct: &Construct, wanted: &Wanted) -> Result<Option<Held>> {
    let Wanted { begin, size, label, kind, .. } = *wanted;
    // An optional dummy argument that is absent: flang gives it the size of a present one. There is
    // nothing to map, and the region sees that it is absent. In other languages it is a mistake.
    if begin == 0 && label.location().is_some_and(|location| location.is_fortran()) {
        return Ok(Some(Held::host(0)));
    }
    if construct.has_unified_shared_memory() && !kind.has(MapKind::CLOSE) && size != 0 {
        if events::observed() {
            events::tell(|observer| observer.host_address_used(construct.device().number(), begin, size));
        }
        construct.notice(begin, size, RangeChange::UsedInPlace, label);
        return Ok(Some(Held::host(begin)));
    }
    if kind.has(MapKind::PRESENT) {
        let near = construct.device().near(begin);
        return Err(construct.fail(ErrorKind::NotPresent { wanted: wanted.range(), near }));
    }
    let nothing = size == 0 || kind.has(MapKind::IF_PRESENT);
    if nothing && construct.is_region() && !kind.has(MapKind::IF_PRESENT) {
        reports::host_pointer(construct, wanted);
    }
    Ok(nothing.then_some(Held::host(begin)))
}

impl Held {
    /// What an item holds whose entry has been made for it.
    pub(super) fn of_new(entry: EntryRef<'static>, wanted: &Wanted) -> Self {
        let device = entry.translate(wanted.begin);
        Self { entry: Some(entry), device, counted: Some(wanted.kind.counter()) }
    }
}

/// A range that ends beyond the last address is no range, and data at null can neither be
/// read nor written.
#[inline]
fn check_memory(construct: &Construct, wanted: &Wanted) -> Result<()> {
    let copied = wanted.kind.has(MapKind::TO | MapKind::FROM) && wanted.size != 0;
    if (wanted.begin != 0 || !copied) && wanted.begin.checked_add(wanted.size).is_some() {
        return Ok(());
    }
    Err(construct.fail(ErrorKind::NoMemory { wanted: wanted.range() }))
}
