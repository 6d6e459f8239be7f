//! What a construct has given up.

use super::ranges::Ranges;
use crate::constants;
use crate::items::Item;
use gangway_present::{EntryRef, Label};
use std::cmp::Reverse;

/// What a construct has given up so far, and what it has to copy back after all.
///
/// An item is declined where its entry has other references. Should another item turn out to have
/// the last of them, it is [due](Self::due).
#[derive(Default)]
pub(in crate::environment) struct GivenUp {
    /// By item of an end of data: its entry, and whether it gives up a reference.
    found: Vec<Option<(EntryRef<'static>, bool)>>,
    /// Pointers that it has detached: first byte and size. Nothing is copied back from them, as another
    /// construct may attach them again before a copy of the rest is done, and the host's value is what
    /// they have been given.
    detached: Vec<(usize, usize)>,
    /// Entries of which it has given up the last reference.
    released: Vec<EntryRef<'static>>,
    /// Host ranges that it has copied back; those that are fetched with the block are not there.
    copied: Vec<(usize, usize)>,
    /// Items that were not copied back, as their entries had other references.
    declined: Vec<Declined>,
    /// The same ranges as a set, while declined items are looked at.
    done: Ranges,
}

/// An item that is copied back if another one takes the entry's last reference.
#[derive(Clone, Copy)]
pub(in crate::environment) struct Declined {
    pub(in crate::environment) entry: EntryRef<'static>,
    pub(in crate::environment) begin: usize,
    pub(in crate::environment) size: usize,
    pub(in crate::environment) label: Label,
    /// Its place among the others.
    order: usize,
}

impl GivenUp {
    /// A construct begins to give up.
    #[inline]
    pub(in crate::environment) fn begin(&mut self) {
        self.found.clear();
        self.detached.clear();
        self.released.clear();
        self.copied.clear();
        self.declined.clear();
    }

    /// The entry of the next item has been found, and whether the item gives up a reference; or there
    /// is nothing to give up.
    #[inline]
    pub(in crate::environment) fn find(&mut self, entry: Option<(EntryRef<'static>, bool)>) {
        self.found.push(entry);
    }

    /// What has been found for an item.
    #[inline]
    pub(in crate::environment) fn found(&self, index: usize) -> Option<(EntryRef<'static>, bool)> {
        self.found[index]
    }

    /// A pointer has been detached.
    pub(in crate::environment) fn detach(&mut self, pointer: usize, size: usize) {
        self.detached.push((pointer, size));
    }

    /// What has been detached.
    #[inline]
    pub(in crate::environment) fn detached(&self) -> &[(usize, usize)] {
        &self.detached
    }

    /// The last reference of an entry has been given up.
    #[inline]
    pub(in crate::environment) fn release(&mut self, entry: EntryRef<'static>) {
        self.released.push(entry);
    }

    /// Whether a last reference has been given up.
    #[inline]
    pub(in crate::environment) fn has_released(&self) -> bool {
        !self.released.is_empty()
    }

    /// A range has been copied back.
    pub(in crate::environment) fn copy(&mut self, begin: usize, end: usize) {
        self.copied.push((begin, end));
    }

    /// An item has not been copied back.
    pub(in crate::environment) fn decline(&mut self, item: &Item, entry: EntryRef<'static>) {
        let Item { begin, size, label, .. } = *item;
        self.declined.push(Declined { entry, begin, size, label, order: 0 });
    }

    /// Whether declined items may be due.
    #[inline]
    pub(in crate::environment) fn may_be_due(&self) -> bool {
        !self.declined.is_empty() && self.has_released()
    }

    /// The declined items whose entry's last reference has been given up after all, as far as
    /// they have not been copied for another item, and what has been detached; `fetched` are the ranges
    /// that come with the block.
    pub(in crate::environment) fn due(
        &mut self,
        fetched: impl Iterator<Item = (usize, usize)>,
    ) -> (&[Declined], &[(usize, usize)]) {
        let Self { released, copied, declined, done, detached, .. } = self;
        released.sort_unstable_by_key(|entry| entry.key());
        done.clear();
        copied.extend(fetched);
        // In order, as a set of ranges is made fastest.
        copied.sort_unstable();
        for &(begin, end) in &*copied {
            done.insert(begin, end);
        }
        declined.retain(|item| released.binary_search_by_key(&item.entry.key(), |entry| entry.key()).is_ok());
        for (order, item) in declined.iter_mut().enumerate() {
            (item.begin, item.size) = item.entry.part_of(item.begin, item.size);
            item.order = order;
        }
        // Larger ones first, so that what they contain is found to be there; then as the
        // items come.
        declined.sort_unstable_by_key(|item| (item.begin, Reverse(item.size)));
        declined.retain(|item| {
            item.size != 0
                && !constants::has(item.begin, item.size)
                && done.insert(item.begin, item.begin + item.size)
        });
        declined.sort_unstable_by_key(|item| item.order);
        (declined, detached)
    }
}
