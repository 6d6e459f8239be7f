//! Entries that a construct uses and that are not published yet.

use super::ranges::Ranges;
use gangway_present::{Attachment, BlockRef, EntryRef, Label, ReadyRef};

/// The construct's own entries until they are published, and those of others until they are.
///
/// A construct publishes its own before it waits for others', so that no two threads wait for
/// each other.
#[derive(Default)]
pub(in crate::environment) struct Unpublished {
    /// Entries it has created.
    own: Vec<Filling>,
    /// Parts of them that have been copied to the device.
    copied: Ranges,
    /// Entries of others.
    awaited: Vec<EntryRef<'static>>,
}

/// An entry that the construct fills.
pub(super) struct Filling {
    pub(super) entry: EntryRef<'static>,
    /// All of it has been copied to the device.
    whole: bool,
}

impl Unpublished {
    /// Another construct begins.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.copied.clear();
    }

    /// Whether there is nothing to publish and nothing to wait for.
    #[inline]
    pub(in crate::environment) fn is_empty(&self) -> bool {
        !self.has_own() && self.awaited.is_empty()
    }

    /// Whether the construct has created entries.
    #[inline]
    pub(in crate::environment) fn has_own(&self) -> bool {
        !self.own.is_empty()
    }

    /// How many it has created.
    pub(super) fn own_entries(&self) -> usize {
        self.own.len()
    }

    /// Makes room for so many more.
    #[inline]
    pub(in crate::environment) fn reserve(&mut self, entries: usize) {
        self.own.reserve(entries);
    }

    /// The construct has created an entry; `whole`: all of it is copied.
    #[inline]
    pub(in crate::environment) fn add(&mut self, entry: EntryRef<'static>, whole: bool) {
        self.own.push(Filling { entry, whole });
    }

    /// Whether the construct has created the entry.
    pub(in crate::environment) fn contains(&self, entry: EntryRef<'static>) -> bool {
        self.own.iter().any(|filling| filling.entry == entry)
    }

    /// Whether it has created an entry that has an address of the host's in it.
    pub(in crate::environment) fn has(&self, host: usize) -> bool {
        self.own.iter().any(|filling| filling.entry.has(host))
    }

    /// Which of the construct's own entries it is. `None`: it is another one's, and waited for.
    pub(in crate::environment) fn find_or_await(&mut self, entry: EntryRef<'static>) -> Option<usize> {
        let found = self.own.iter().position(|filling| filling.entry == entry);
        if found.is_none() {
            self.awaited.push(entry);
        }
        found
    }

    /// Has another one's entry waited for, of which that may be known already.
    pub(in crate::environment) fn await_once(&mut self, entry: EntryRef<'static>) {
        if !self.awaited.contains(&entry) {
            self.awaited.push(entry);
        }
    }

    /// An entry to wait for, now that the construct's own are published.
    pub(in crate::environment) fn pop_awaited(&mut self) -> Option<EntryRef<'static>> {
        debug_assert!(!self.has_own(), "a construct publishes before it waits");
        self.awaited.pop()
    }

    /// Waits for none of them.
    pub(in crate::environment) fn await_nothing(&mut self) {
        self.awaited.clear();
    }

    /// Whether part of one of the construct's own entries has not been copied yet. It
    /// will have been.
    pub(in crate::environment) fn is_new_to(&mut self, own: usize, begin: usize, size: usize) -> bool {
        let Filling { entry, whole } = &mut self.own[own];
        if *whole {
            return false;
        }
        *whole = begin == entry.host_begin() && begin + size == entry.host_end();
        self.copied.insert(begin, begin + size)
    }

    /// Has written what other threads have attached inside the construct's own entries, now that
    /// it will not copy over it any more: those get no more of it. Its block is `block`.
    #[inline]
    pub(in crate::environment) fn seal<E>(
        &self,
        block: Option<BlockRef<'static>>,
        mut write: impl FnMut(&Attachment, Label) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut sealed = false;
        for filling in &self.own {
            let entry = filling.entry;
            // Parts of the block are sealed by the first of them.
            let is_part = block.is_some_and(|block| entry.is_part_of(block));
            if is_part && sealed {
                continue;
            }
            while !entry.seal() {
                let those = self.own.iter().map(|filling| filling.entry);
                write_left(those.filter(|other| other.seals_with(entry)), &mut write)?;
            }
            sealed |= is_part;
        }
        Ok(())
    }

    /// Other streams wait for that point before they use the construct's own entries.
    pub(super) fn set_ready(&self, ready: ReadyRef<'static>) {
        for filling in &self.own {
            filling.entry.set_ready(ready);
        }
    }

    /// Publishes the construct's own entries.
    pub(super) fn publish(&self) {
        for filling in &self.own {
            filling.entry.publish();
        }
    }

    /// The construct's own entries have been published: they go behind those of `published`.
    pub(super) fn give_published(&mut self, published: &mut Vec<Filling>) {
        if published.is_empty() {
            std::mem::swap(published, &mut self.own);
        } else {
            published.append(&mut self.own);
        }
    }

    /// The construct's own entries have been published, and nothing more is to be done for them.
    pub(super) fn forget_published(&mut self) {
        self.own.clear();
    }
}

#[cold]
fn write_left<E>(
    entries: impl Iterator<Item = EntryRef<'static>>,
    write: &mut impl FnMut(&Attachment, Label) -> Result<(), E>,
) -> Result<(), E> {
    for entry in entries {
        for attachment in entry.take_left() {
            write(&attachment, entry.label())?;
        }
    }
    Ok(())
}
