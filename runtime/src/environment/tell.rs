//! What observers are told of a construct's mappings.
//!
//! Called only where somebody watches; nothing here changes the data environment.

use super::wanted::Wanted;
use super::work::{Construct, Work};
use crate::events::{self, MappingChange, MappingEvent, Step};
use crate::items::{Item, Items};
use crate::map_kind::MapKind;
use gangway_present::{EntryRef, Label, PartOfBlock, Snapshot};

impl Work {
    /// The entries whose device addresses the kernel is given.
    #[cold]
    pub(crate) fn tell_kernel_arguments(&self, items: &impl Items) {
        let form = MapKind::PARAMETER | MapKind::LITERAL | MapKind::PRIVATE;
        for (index, item) in items.iter().enumerate() {
            if item.kind.only(form) == MapKind::PARAMETER
                && let Some(entry) = self.holdings.of(index).entry
            {
                let size = if item.kind.has(MapKind::STRUCTURE) { 0 } else { item.size };
                found(&self.construct, entry, item.begin, size);
            }
        }
    }
}

/// An entry was looked up for a range, and nothing counted on it.
#[cold]
pub(super) fn found(construct: &Construct, entry: EntryRef<'static>, host: usize, size: usize) {
    construct.tell_mapping(&MappingEvent {
        change: MappingChange::Found,
        implicit: false,
        hold: false,
        host_base: host,
        host,
        size,
        allocation: entry.allocation(),
        device: entry.translate(host),
        counts: entry.snapshot(),
        label: Label::NONE,
    });
}

/// An item has been made present, or found to be: `change` says which.
#[cold]
pub(super) fn entry(
    construct: &Construct,
    change: MappingChange,
    entry: EntryRef<'static>,
    wanted: &Wanted,
    counts: Snapshot,
) {
    construct.tell_mapping(&MappingEvent {
        change,
        implicit: wanted.kind.has(MapKind::IMPLICIT),
        hold: wanted.kind.has(MapKind::HOLD),
        host_base: wanted.base,
        host: wanted.begin,
        size: wanted.size,
        allocation: entry.allocation(),
        device: entry.translate(wanted.begin),
        counts: Some(counts),
        label: wanted.label,
    });
}

/// An item has been given up.
#[cold]
pub(super) fn exit(
    construct: &Construct,
    item: &Item,
    entry: EntryRef<'static>,
    counts: Snapshot,
    counted: bool,
    last: bool,
) {
    let delete = item.kind.has(MapKind::DELETE);
    let structure = item.kind.has(MapKind::STRUCTURE);
    let size = if structure { entry.host_end() - entry.host_begin() } else { item.size };
    construct.tell_mapping(&MappingEvent {
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

/// An item that is mapped has no storage on the device.
#[cold]
pub(super) fn missing(construct: &Construct, item: &Item) {
    let said = item.kind != MapKind::ALLOC && !item.kind.has(MapKind::IMPLICIT);
    if said && !construct.has_unified_shared_memory() {
        events::tell(|observer| observer.without_counterpart(construct.device().number(), item.label));
    }
}

/// Observers are told of storage, wherever it comes from.
#[cold]
pub(super) fn part(
    construct: &Construct,
    part: PartOfBlock<'static>,
    size: usize,
    host: usize,
    label: Label,
) {
    let step = || Step::Allocate { host, device: Some(part.storage), size, label };
    events::step(construct.device().number(), &construct.site(), step, || (), |()| step());
}
