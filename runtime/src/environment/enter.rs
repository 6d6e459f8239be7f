//! Making list items present.

use super::create::without_entry;
use super::reports;
use super::tell;
use super::wanted::{Count, Wanted, mapped_by};
use super::work::{AttachRequest, Component, Construct, Held, Work};
use crate::error::{Error, ErrorKind, HostRange, Result};
use crate::events::{self, MappingChange};
use crate::items::{Components, Item, Items};
use crate::map_kind::MapKind;
use gangway_present::Label;
use gangway_present::{Counter, EntryRef, Relation};
use gangway_sync::back_off;

/// Structures whose mapped part does not start at their beginning are allocated
/// with this alignment of their base, so that members stay aligned on the device.
const STRUCTURE_ALIGNMENT: usize = 16;

/// Attempts (see [`back_off`]) to wait for an overlapping entry that is being
/// unmapped: some tens of milliseconds.
pub(super) const PATIENCE: u32 = 1000;

impl Work {
    /// Makes all items present, copies and attaches as their kinds say. What it makes is
    /// not for others to use before [`publish`](Self::publish).
    /// On failure everything done so far is undone.
    ///
    /// # Errors
    /// See [`ErrorKind`]; the device data environment is as before.
    #[inline]
    pub(crate) fn enter(&mut self, items: &impl Items) -> Result<()> {
        let entered = self.enter_all(items);
        if entered.is_err() { self.give_up_entering(entered) } else { entered }
    }

    /// As [`enter`](Self::enter), for a construct without items, which has no [`exit`](Self::exit_entered).
    #[inline]
    pub(crate) fn enter_nothing(&mut self) {
        self.holdings.begin();
        self.operations.pack.plan.begin_nothing();
    }

    /// What is wrong with an item that waits is told first, as it stands before the others.
    #[cold]
    fn give_up_entering(&mut self, entered: Result<()>) -> Result<()> {
        let result = self.enter_batch().and(entered);
        self.abandon();
        result
    }

    #[inline]
    fn enter_all(&mut self, items: &impl Items) -> Result<()> {
        self.holdings.begin();
        self.lookups.begin(self.construct.table(), items.len(), self.construct.is_region());
        self.operations.pack.plan.begin(&self.construct, items);
        // Behind those that have been counted.
        let mut next = self.holdings.len();
        while next < items.len() {
            let index = next;
            next += 1;
            let item = items.item(index);
            self.holdings.see(item.kind);
            check_kind(&self.construct, items, &item, index)?;
            if item.kind.only_attaches() && !items.has_mapper(index) {
                self.attachments.request(AttachRequest::of(&item));
                self.holdings.push(Held::NOTHING);
                continue;
            }
            if item.kind.is_plain_value() && !items.has_mapper(index) {
                self.plan_pack_from(items, index, &item);
                self.holdings.push(Held::NOTHING);
                continue;
            }
            let usual = item.kind.is_usual() && item.size != 0 && !items.has_mapper(index);
            let known =
                usual.then(|| self.lookups.recent.known(self.construct.table(), item.begin, item.size).0);
            if let Some(Some(entry)) = known {
                if self.hold_known(&item, entry)? {
                    continue;
                }
            } else {
                self.plan_pack_from(items, index, &item);
                let followed = index + 1 < items.len() && items.kind(index + 1).parent() == Some(index);
                if usual && !followed && self.lookups.remember_gaps() {
                    let waiting = self.hold_run(items, index)?;
                    if waiting != 0 {
                        next = index + waiting;
                        continue;
                    }
                    if self.hold_beside_batch(&item)? || self.hold_new(&item)? {
                        continue;
                    }
                }
            }
            self.enter_batch()?;
            let held = if item.kind.has(MapKind::LITERAL | MapKind::PRIVATE | MapKind::STRUCTURE) {
                let structure = item.kind.has(MapKind::STRUCTURE);
                if structure { self.enter_structure(items, index)? } else { Held::NOTHING }
            } else if items.has_mapper(index) {
                self.enter_mapped(items, index)?
            } else {
                let next = (index + 1 < items.len()).then(|| items.kind(index + 1));
                self.enter_item(&item, index, next)?
            };
            if item.kind.has(MapKind::POINTER | MapKind::RETURN_ADDRESS) {
                self.follow(items, index, held);
            }
            self.holdings.push(held);
        }
        self.enter_last_batch()?;
        self.give_up_structures();
        self.attach_all()
    }

    /// Plans the construct's block where an item is the first that may need room there.
    #[inline(always)]
    fn plan_pack_from(&mut self, items: &impl Items, first: usize, item: &Item) {
        self.operations.pack.plan.add_from(&self.construct, &mut self.lookups, items, first, item);
    }

    /// Does what [`enter_item`](Self::enter_item) would for an item whose entry is known, if
    /// that is to count it and nothing else.
    ///
    /// Of a launch whose data is present this is all. What is found is written where it stays:
    /// the general way hands it on through memory, and reading it there waits for the stores.
    #[inline(always)]
    pub(super) fn hold_known(&mut self, item: &Item, entry: EntryRef<'static>) -> Result<bool> {
        if events::observed() || !entry.acquire_live() {
            return Ok(false);
        }
        if !self.construct.is_region() {
            entry.set_region_of(0);
        }
        let device = entry.translate(item.begin);
        self.holdings.push(Held { entry: Some(entry), device, counted: Some(Counter::Dynamic) });
        // If this fails, the reference is given up with the others.
        self.operations.order.wait_until_ready(&self.construct, entry)?;
        Ok(true)
    }

    /// The same for an item of which nothing is present, and which is no structure: an entry is
    /// made, and nothing else is to be done. False: it is not so.
    #[inline(never)]
    fn hold_new(&mut self, item: &Item) -> Result<bool> {
        let unless = MapKind::PRESENT | MapKind::IF_PRESENT;
        if self.construct.has_unified_shared_memory() || item.begin == 0 || item.kind.has(unless) {
            return Ok(false);
        }
        let Some(version) = self.lookups.absent(self.construct.table(), item.begin, item.size) else {
            return Ok(false);
        };
        // It may be like one of those that wait.
        self.enter_batch()?;
        let wanted = Wanted::of(item);
        let Some(entry) = self.create(&wanted, version)? else { return Ok(false) };
        self.holdings.push(Held::of_new(entry, &wanted));
        Ok(true)
    }

    /// Expands an item by its mapper. The first component stands for the item.
    #[cold]
    fn enter_mapped(&mut self, items: &impl Items, argument: usize) -> Result<Held> {
        let components = Components::of(items, argument);
        let mut first = None;
        for (index, component) in components.iter().enumerate() {
            check_kind(&self.construct, items, &component, index)?;
            let kind = component.kind;
            let held = if kind.has(MapKind::STRUCTURE) {
                self.enter_structure(&components, index)?
            } else if kind.has(MapKind::LITERAL | MapKind::PRIVATE) {
                Held::NOTHING
            } else {
                let next = (index + 1 < components.len()).then(|| components.kind(index + 1));
                self.enter_item(&component, index, next)?
            };
            if kind.has(MapKind::POINTER) {
                self.follow(&components, index, held);
            }
            first.get_or_insert(held);
            self.holdings.push_component(Component { argument, item: component, held });
        }
        // The references are those of the components, so the argument itself must not count.
        Ok(first.map_or(Held::NOTHING, |held| Held { counted: None, ..held }))
    }

    // Always: a call would hand what it finds over in memory, which costs a launch more than
    // the look-up.
    #[inline(always)]
    fn enter_item(&mut self, item: &Item, index: usize, next: Option<MapKind>) -> Result<Held> {
        if item.kind.has(MapKind::SPECIAL | MapKind::ATTACH) {
            // Of clang's items for pointers every other one is an attachment.
            if item.kind.has(MapKind::ATTACH) {
                self.attachments.request(AttachRequest::of(item));
                return Ok(Held::NOTHING);
            }
            return self.enter_special(*item, index, next);
        }
        let count = if item.kind.parent().is_none() { Count::Yes } else { Count::No };
        self.enter_section(item, index, next, count)
    }

    #[inline(always)]
    pub(super) fn enter_section(
        &mut self,
        item: &Item,
        index: usize,
        next: Option<MapKind>,
        count: Count,
    ) -> Result<Held> {
        let kind = item.kind;
        let is_structure = kind.parent().is_none() && next.is_some_and(|next| next.parent() == Some(index));
        let padding = if is_structure { structure_padding(item.base, item.begin) } else { 0 };
        let mut wanted = Wanted {
            begin: item.begin,
            base: item.base,
            size: item.size,
            padding,
            label: item.label,
            kind,
            count,
        };
        let mut pointer = None;
        if kind.has(MapKind::POINTER_AND_POINTEE) {
            pointer = self.enter_pointer(item)?;
            // SAFETY: the compiler says that the base is the address of a host pointer.
            wanted.base = unsafe { *(item.base as *const usize) };
            wanted.count = Count::Yes;
        }
        let held = self.make_present(&wanted)?;
        if let (Some(pointer), Some(pointee)) = (pointer, held.entry) {
            let request = AttachRequest {
                pointer: item.base,
                pointee: item.begin,
                size: size_of::<usize>(),
                kind: MapKind::ATTACH | MapKind::ALWAYS,
            };
            if let Err(error) = self.attach_to(pointer, &request, pointee) {
                self.drop_held(held);
                return Err(error);
            }
        }
        if events::observed() && held.entry.is_none() && kind.parent().is_none() {
            tell::missing(&self.construct, item);
        }
        Ok(held)
    }

    /// The pointer of a pointer-and-pointee pair: usually present already, as
    /// part of its structure or as a declare-target global.
    fn enter_pointer(&mut self, item: &Item) -> Result<Option<EntryRef<'static>>> {
        let modifiers = MapKind::IMPLICIT | MapKind::CLOSE | MapKind::PRESENT | MapKind::HOLD;
        let wanted = Wanted {
            begin: item.base,
            base: item.base,
            size: size_of::<usize>(),
            padding: 0,
            label: Label::NONE,
            kind: item.kind.only(modifiers),
            count: Count::No,
        };
        let held = self.make_present(&wanted)?;
        if held.counted.is_some() {
            self.holdings.push_pointer(held);
        }
        Ok(held.entry)
    }

    /// The heart of it: finds the range's entry or makes one.
    #[inline(always)]
    pub(super) fn make_present(&mut self, wanted: &Wanted) -> Result<Held> {
        let implicit = wanted.kind.has(MapKind::IMPLICIT);
        for attempt in 0.. {
            let (relation, version) =
                self.lookups.recent.lookup_at(self.construct.table(), wanted.begin, wanted.size);
            match relation {
                Relation::Contained(entry) => {
                    if let Some(held) = self.use_entry(entry, wanted)? {
                        return Ok(held);
                    }
                }
                // OpenMP 5.2 section 5.8.6: implicit maps may extend beyond what is present.
                Relation::Partial(entry) if implicit => {
                    if let Some(held) = self.use_entry(entry, wanted)? {
                        reports::partly_mapped(&self.construct, wanted, entry);
                        return Ok(held);
                    }
                }
                Relation::Partial(entry) => {
                    // One that another thread is unmapping will soon be out of the
                    // way; not for ever, as that thread may be waiting for this one.
                    let leaving = entry.snapshot().is_none_or(|counts| counts.total() == 0);
                    if !leaving || attempt > PATIENCE {
                        return Err(partly_present(&self.construct, entry, wanted.range()));
                    }
                }
                Relation::Absent => {
                    if (self.construct.has_unified_shared_memory()
                        || wanted.size == 0
                        || wanted.begin == 0
                        || wanted.kind.has(MapKind::PRESENT | MapKind::IF_PRESENT))
                        && let Some(held) = without_entry(&self.construct, wanted)?
                    {
                        return Ok(held);
                    }
                    if let Some(entry) = self.create(wanted, version)? {
                        return Ok(Held::of_new(entry, wanted));
                    }
                }
            }
            back_off(attempt);
        }
        unreachable!("the loop ends by returning")
    }

    /// Uses an entry that is there. `None`: it has gone meanwhile.
    #[inline]
    fn use_entry(&mut self, entry: EntryRef<'static>, wanted: &Wanted) -> Result<Option<Held>> {
        let counter = wanted.kind.counter();
        let count = match wanted.count {
            Count::Yes => true,
            Count::No => false,
            Count::Once => self.holdings.count_once(entry),
        };
        let counts = if count {
            match entry.acquire(counter) {
                None => return Ok(None),
                Some(None) => {
                    return Err(self.construct.fail(ErrorKind::TooManyReferences { wanted: wanted.range() }));
                }
                Some(Some(counts)) => counts,
            }
        } else {
            match entry.snapshot() {
                None => return Ok(None),
                Some(counts) => counts,
            }
        };
        if !self.construct.is_region() {
            entry.set_region_of(0);
        }
        let mut filling = None;
        if counts.phase != gangway_present::Phase::Live {
            if !entry.wait_allocated() {
                return Ok(None);
            }
            filling = self.unpublished.find_or_await(entry);
        }
        let device = entry.translate(wanted.begin);
        let held = Held { entry: Some(entry), device, counted: count.then_some(counter) };
        if let Err(error) = self.operations.order.wait_until_ready(&self.construct, entry) {
            self.drop_held(held);
            return Err(error);
        }
        if events::observed() {
            let change = if count { MappingChange::Acquired } else { MappingChange::Seen };
            tell::entry(&self.construct, change, entry, wanted, counts);
        }
        let copy = wanted.kind.has(MapKind::TO)
            && (filling.is_some() || wanted.kind.has(MapKind::ALWAYS))
            && wanted.size != 0;
        // A member of a structure that has become present with the others.
        let zero = wanted.kind.has(MapKind::ZERO) && !copy && filling.is_some() && wanted.size != 0;
        if copy || zero {
            let (begin, size) = entry.part_of(wanted.begin, wanted.size);
            let new = filling.is_none_or(|index| self.unpublished.is_new_to(index, begin, size));
            let filled = match (new, copy) {
                (false, _) => Ok(()),
                (true, true) => self.operations.copy_in(&self.construct, entry, begin, size, wanted.label),
                (true, false) => self.operations.zero(&self.construct, entry, begin, size, wanted.label),
            };
            if let Err(error) = filled {
                self.drop_held(held);
                return Err(error);
            }
        }
        Ok(Some(held))
    }

    /// Gives up what an item had when something else about it has failed.
    pub(super) fn drop_held(&mut self, held: Held) {
        self.publish_quietly();
        self.in_use.give_up_held(&self.construct, held);
    }
}

/// Every kind has to be one that the runtime knows.
#[inline]
pub(super) fn check_kind(
    construct: &Construct,
    items: &impl Items,
    item: &Item,
    argument: usize,
) -> Result<()> {
    if items.knows(item.kind) {
        return Ok(());
    }
    Err(unknown_kind(construct, items, item.label, item.kind, argument))
}

#[cold]
fn unknown_kind(
    construct: &Construct,
    items: &impl Items,
    label: Label,
    kind: MapKind,
    argument: usize,
) -> Box<Error> {
    let encoding = items.explain_unknown(kind);
    construct.fail(ErrorKind::UnknownKind { label, encoding, argument })
}

#[cold]
pub(super) fn partly_present(
    construct: &Construct,
    entry: EntryRef<'static>,
    wanted: HostRange,
) -> Box<Error> {
    construct.fail(ErrorKind::PartlyPresent { wanted, mapped: mapped_by(entry) })
}

/// Bytes to put before a structure's mapped part, so that its members keep the
/// alignment they have on the host.
pub(super) fn structure_padding(base: usize, begin: usize) -> usize {
    let alignment = (1usize << base.trailing_zeros().min(63)).min(STRUCTURE_ALIGNMENT);
    begin % alignment
}
