//! How large a construct's block is to be.

use super::{ALIGNMENT, LARGEST_BLOCK, LARGEST_PART};
use crate::environment::cells::room_for;
use crate::environment::work::construct::Construct;
use crate::environment::work::lookups::Lookups;
use crate::items::{Item, Items};
use crate::map_kind::MapKind;

/// An upper bound of what there will be in the block.
///
/// A construct whose items are all present has nothing planned for them, and none is looked up
/// for that. The first item that may need room has all from there on planned at once.
#[derive(Default)]
pub(in crate::environment) struct Plan {
    /// 0 where nothing is packed.
    bytes: usize,
    /// No item has been seen yet that may need room: what is planned is the table alone.
    open: bool,
}

impl Plan {
    /// A construct begins with its items. Nothing is allocated before something is put into
    /// its block.
    #[inline]
    pub(in crate::environment) fn begin(&mut self, construct: &Construct, items: &impl Items) {
        let packs = construct.packs();
        let table = if construct.is_region() { size_of::<u64>() * items.len() + ALIGNMENT } else { 0 };
        self.bytes = if packs { table.min(LARGEST_BLOCK) } else { 0 };
        self.open = packs;
    }

    /// A construct begins that has no items.
    #[inline]
    pub(in crate::environment) fn begin_nothing(&mut self) {
        *self = Self::default();
    }

    /// There is no memory for what has been planned so far.
    pub(super) fn give_up(&mut self) {
        self.bytes = 0;
    }

    /// Whether nothing is packed.
    #[inline]
    pub(super) fn is_nothing(&self) -> bool {
        self.bytes == 0
    }

    /// Bytes that the block is to have.
    pub(super) fn capacity(&self) -> usize {
        self.bytes.next_multiple_of(ALIGNMENT)
    }

    /// Plans the items from `first` on, if that is the first one which may need room.
    #[inline(always)]
    pub(in crate::environment) fn add_from(
        &mut self,
        construct: &Construct,
        lookups: &mut Lookups,
        items: &impl Items,
        first: usize,
        item: &Item,
    ) {
        if self.open && !takes_no_room(item) {
            self.add_all(construct, lookups, items, first);
        }
    }

    #[cold]
    fn add_all(&mut self, construct: &Construct, lookups: &mut Lookups, items: &impl Items, first: usize) {
        // Small new items mostly share a gap of the table.
        let item = items.item(first);
        let gap = lookups.gap_around(construct.table(), item.begin, item.size);
        let mut mapped = 0;
        for index in first..items.len() {
            let item = items.item(index);
            if takes_no_room(&item) || items.has_mapper(index) {
                continue;
            }
            let is_new = item.kind.is_usual() && gap.is_some_and(|gap| gap.has(item.begin, item.size));
            mapped += if is_new { room_of_new(&item) } else { room_of(construct, lookups, &item) };
        }
        self.bytes = (self.bytes + mapped).min(LARGEST_BLOCK);
        self.open = false;
    }
}

/// Upper bound of what an item takes of the block that may take something.
fn room_of(construct: &Construct, lookups: &mut Lookups, item: &Item) -> usize {
    if item.kind.has(MapKind::PRIVATE) {
        return if item.kind.has(MapKind::PARAMETER) { room_for(item) } else { 0 };
    }
    // Members are inside their structure.
    let pair = item.kind.has(MapKind::POINTER_AND_POINTEE);
    if item.kind.parent().is_some() && !pair {
        return 0;
    }
    let absent = lookups.absent(construct.table(), item.begin, item.size).is_some();
    if absent { room_of_new(item) } else { 0 }
}

/// Whether it shows that an item has no part of the block, without a look at what is present.
#[inline(always)]
fn takes_no_room(item: &Item) -> bool {
    let nothing = item.size == 0 || item.kind.has(MapKind::ATTACH);
    item.size > LARGEST_PART
        || item.kind.has(MapKind::LITERAL)
        || (nothing && !item.kind.has(MapKind::PRIVATE))
}

/// Upper bound of what the entry of an item takes.
#[inline(always)]
fn room_of_new(item: &Item) -> usize {
    (item.size + ALIGNMENT).next_multiple_of(ALIGNMENT)
}
