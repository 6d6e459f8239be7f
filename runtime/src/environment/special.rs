//! Making items present that are not the usual kind: structures with a number of members,
//! references that count once, what has to be new, attachments, pointers, device addresses
//! for the caller.

use super::enter::structure_padding;
use super::wanted::{Count, Wanted, mapped_by};
use super::work::{AttachRequest, Construct, Held, Work};
use crate::error::{Error, ErrorKind, HostRange, Result};
use crate::items::{Item, Items};
use crate::map_kind::MapKind;
use gangway_backend::DevicePtr;
use gangway_present::{EntryRef, Relation};
use std::ops::Range;

impl Work {
    /// An item with one of the meanings of [`MapKind::SPECIAL`].
    #[inline(never)]
    pub(super) fn enter_special(&mut self, item: Item, index: usize, next: Option<MapKind>) -> Result<Held> {
        let kind = item.kind;
        if kind.has(MapKind::DETACH) {
            return Ok(Held::NOTHING);
        }
        if kind.has(MapKind::NEW) {
            self.check_new(&item)?;
        }
        let count = match kind.parent() {
            Some(_) => Count::No,
            None if kind.has(MapKind::UNCOUNTED) => Count::No,
            None if kind.has(MapKind::ONCE) => Count::Once,
            None => Count::Yes,
        };
        let held = self.enter_section(&item, index, next, count)?;
        if kind.has(MapKind::NULL_IF_ABSENT) && held.entry.is_none() {
            // A kernel gets the address of the base.
            return Ok(Held { device: DevicePtr(item.begin.wrapping_sub(item.base)), ..Held::NOTHING });
        }
        Ok(held)
    }

    /// Nothing of an item may be there, except what this construct has made (its structure)
    /// and what others are about to remove.
    fn check_new(&self, item: &Item) -> Result<()> {
        let (Relation::Contained(entry) | Relation::Partial(entry)) =
            self.construct.table().lookup(item.begin, item.size)
        else {
            return Ok(());
        };
        let own = self.unpublished.contains(entry);
        if own || entry.snapshot().is_none_or(|counts| counts.total() == 0) {
            return Ok(());
        }
        let wanted = HostRange { begin: item.begin, size: item.size, label: item.label };
        Err(self.construct.fail(ErrorKind::AlreadyPresent { wanted, mapped: mapped_by(entry) }))
    }

    /// Makes a structure present as far as the next items are its members; they find it
    /// there. Those that count once share an entry, on which the structure counts for them. Others
    /// have [entries of their own](Self::enter_members).
    #[cold]
    pub(super) fn enter_structure(&mut self, items: &impl Items, index: usize) -> Result<Held> {
        let item = items.item(index);
        let left = items.len() - index - 1;
        let Some(hull) = hull_of_members(items, index, &item) else {
            return Err(damaged_structure(&self.construct, &item, index, left));
        };
        if !item.kind.has(MapKind::ONCE) {
            let members: Vec<Item> = members_of(items, index, &item).collect();
            return self.enter_members(&item, &members);
        }
        let wanted = Wanted {
            begin: hull.start,
            base: item.base,
            size: hull.end.wrapping_sub(hull.start),
            padding: structure_padding(item.base, hull.start),
            label: item.label,
            kind: item.kind,
            count: Count::Once,
        };
        let held = self.make_present(&wanted)?;
        // The kernel gets the address of the structure, of which not all need be there.
        let device = held.entry.map_or(DevicePtr(item.begin), |entry| entry.translate(item.begin));
        Ok(Held { device, ..held })
    }

    /// Gives up the references to structures that their members have taken over.
    #[inline]
    pub(super) fn give_up_structures(&mut self) {
        while let Some(held) = self.holdings.pop_structure() {
            self.in_use.give_up_held(&self.construct, held);
        }
    }

    /// What is left to do about an item that has been made present: a pointer is attached,
    /// the caller gets its address.
    #[inline(never)]
    pub(super) fn follow(&mut self, items: &impl Items, index: usize, held: Held) {
        let item = items.item(index);
        if item.kind.has(MapKind::POINTER) {
            let (pointer, pointee, size) = (item.begin, items.pointee(index), item.size);
            let mut kind =
                MapKind::ATTACH | item.kind.only(MapKind::NULL_IF_ABSENT | MapKind::KEEP_IF_ABSENT);
            if size > size_of::<usize>() && held.entry.is_some_and(|entry| is_behind(entry, pointer)) {
                kind = kind.with(MapKind::ALWAYS);
            }
            self.attachments.request(AttachRequest { pointer, pointee, size, kind });
        }
        if item.kind.has(MapKind::RETURN_ADDRESS) {
            let base = if item.kind.has(MapKind::POINTER_AND_POINTEE) {
                // SAFETY: the compiler says that the base is the address of a pointer.
                unsafe { *(item.base as *const usize) }
            } else {
                item.base
            };
            items.return_address(index, held.device.0.wrapping_sub(item.begin.wrapping_sub(base)));
        }
    }
}

fn damaged_structure(construct: &Construct, item: &Item, argument: usize, left: usize) -> Box<Error> {
    let encoding = format!("a structure of {} members is followed by {left} items", item.size);
    construct.fail(ErrorKind::UnknownKind { label: item.label, encoding, argument })
}

/// Whether the device's descriptor may be of what a Fortran array was before: it is a variable that the
/// device has for good, and the data have come to be there without it (`acc_create`). libgomp's
/// `gomp_map_vars` copies such a descriptor anew where the array is allocated.
fn is_behind(entry: EntryRef<'static>, descriptor: usize) -> bool {
    // SAFETY: the compiler says that a descriptor is there, which begins with the array's address.
    entry.is_lasting() && unsafe { *(descriptor as *const usize) } != 0
}

/// From the first byte of a structure's members to the last: the next items, as many as its size
/// says. Nothing if there are not so many, or none of them is mapped. Members without bytes, as which
/// GCC 14 hands on pointers that are only attached, make nothing present that is not.
#[inline]
pub(super) fn hull_of_members(items: &impl Items, index: usize, structure: &Item) -> Option<Range<usize>> {
    if structure.size > items.len() - index - 1 {
        return None;
    }
    hull_of(members_of(items, index, structure))
}

/// The members of a structure that are mapped: so many of the next items, of which there are enough.
fn members_of(items: &impl Items, index: usize, structure: &Item) -> impl Iterator<Item = Item> {
    let members = (index + 1..=index + structure.size).map(|member| items.item(member));
    members.filter(|member| !member.kind.has(MapKind::NOT_MAPPED))
}

/// From the first byte of members to the last.
pub(super) fn hull_of(members: impl Iterator<Item = impl std::borrow::Borrow<Item>>) -> Option<Range<usize>> {
    let hulls = members.map(|member| {
        let member = member.borrow();
        member.begin..member.begin.wrapping_add(member.size)
    });
    hulls.reduce(|hull, member| match (hull.is_empty(), member.is_empty()) {
        (true, false) => member,
        (_, true) => hull,
        (false, false) => hull.start.min(member.start)..hull.end.max(member.end),
    })
}
