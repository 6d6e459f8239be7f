//! What is to be made present.

use crate::error::HostRange;
use crate::items::Item;
use crate::map_kind::MapKind;
use gangway_present::{EntryRef, Label, NewEntry};

/// One range to be made present.
pub(super) struct Wanted {
    pub(super) begin: usize,
    pub(super) base: usize,
    pub(super) size: usize,
    pub(super) padding: usize,
    pub(super) label: Label,
    pub(super) kind: MapKind,
    pub(super) count: Count,
}

/// Whether the construct's reference is counted on an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    No,
    Yes,
    /// Unless another item's has been.
    Once,
}

impl Wanted {
    /// What an item wants that is no structure.
    #[inline]
    pub(super) fn of(item: &Item) -> Self {
        let Item { base, begin, size, kind, label } = *item;
        Self { begin, base, size, padding: 0, label, kind, count: Count::Yes }
    }

    /// The entry that it gets if there is none.
    #[inline]
    pub(super) fn new_entry(&self) -> NewEntry {
        NewEntry {
            host_begin: self.begin,
            size: self.size,
            host_base: self.base,
            label: self.label,
            counter: self.kind.counter(),
            associated: None,
        }
    }

    pub(super) fn range(&self) -> HostRange {
        HostRange { begin: self.begin, size: self.size, label: self.label }
    }
}

/// What an entry maps, for messages.
pub(super) fn mapped_by(entry: EntryRef<'static>) -> HostRange {
    let (begin, end) = (entry.host_begin(), entry.host_end());
    HostRange { begin, size: end - begin, label: entry.label() }
}
