//! What the changes of a present table work with: leaves and entries, in use or not.

use crate::deferred::Deferred;
use crate::entry::Entry;
use crate::leaves::{Directory, Leaf};
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Entries allocated at a time.
const ENTRY_CHUNK: usize = if cfg!(loom) { 2 } else { 32 };

/// What only the holder of the lock touches.
#[derive(Default)]
pub(crate) struct Writer {
    // The boxes are what makes addresses stable; clippy cannot see the raw
    // pointers kept into them.
    #[allow(clippy::vec_box)]
    all_leaves: Vec<Box<Leaf>>,
    #[allow(clippy::vec_box)]
    pub(crate) all_directories: Vec<Box<Directory>>,
    #[allow(clippy::vec_box)]
    pub(crate) all_deferred: Vec<Box<Deferred>>,
    pub(crate) free_deferred: Vec<NonNull<Deferred>>,
    pub(crate) all_entries: Vec<Box<[Entry]>>,
    pub(crate) free_leaves: Vec<NonNull<Leaf>>,
    /// First in, first out: the longer an entry rests, the surer a late reader's
    /// handle is out of date by its generation and not by luck.
    pub(crate) free_entries: VecDeque<NonNull<Entry>>,
}

// SAFETY: the pointers lead into the boxes of the same struct.
unsafe impl Send for Writer {}

impl Writer {
    pub(crate) fn take_entry(&mut self) -> NonNull<Entry> {
        self.take_entries(1).next().expect("a chunk was just added")
    }

    /// So many entries that are not in use.
    pub(crate) fn take_entries(&mut self, count: usize) -> impl Iterator<Item = NonNull<Entry>> {
        while self.free_entries.len() < count {
            let chunk: Box<[Entry]> = (0..ENTRY_CHUNK).map(|_| Entry::free()).collect();
            self.free_entries.extend(chunk.iter().map(NonNull::from));
            self.all_entries.push(chunk);
        }
        self.free_entries.drain(..count)
    }

    pub(crate) fn take_leaf(&mut self) -> NonNull<Leaf> {
        self.free_leaves.pop().unwrap_or_else(|| {
            self.all_leaves.push(Box::new(Leaf::empty()));
            NonNull::from(&**self.all_leaves.last().expect("just pushed"))
        })
    }
}
