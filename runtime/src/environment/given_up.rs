//! What a construct has given up.

use crate::items::Item;
use gangway_present::{EntryRef, Label};

/// What a construct has given up so far.
#[derive(Default)]
pub(super) struct Exit {
    /// Entries of which it has given up the last reference.
    pub(super) released: Vec<EntryRef<'static>>,
    /// Host ranges that it has copied back; those that are fetched with the block are there.
    pub(super) copied: Vec<(usize, usize)>,
    /// Items that were not copied back, as their entries had other references.
    pub(super) declined: Vec<Declined>,
}

/// An item that is copied back if another one takes the entry's last reference.
#[derive(Clone, Copy)]
pub(super) struct Declined {
    pub(super) entry: EntryRef<'static>,
    pub(super) begin: usize,
    pub(super) size: usize,
    pub(super) label: Label,
    /// Its place among the others.
    pub(super) order: usize,
}

impl Declined {
    pub(super) fn new(item: &Item, entry: EntryRef<'static>) -> Self {
        Self { entry, begin: item.begin, size: item.size, label: item.label, order: 0 }
    }
}

impl Exit {
    #[inline]
    pub(super) fn begin(&mut self) {
        self.released.clear();
        self.copied.clear();
        self.declined.clear();
    }
}
