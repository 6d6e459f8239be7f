//! The memory of the index: sorted leaves and the directory of them.
//!
//! All fields are atomics, as readers look while a writer moves them; only
//! [`index`](super::index) does either, and it says in which order. Nothing here
//! knows about versions or locks.

use crate::entry::{Entry, EntryRef};
use gangway_sync::{AtomicPtr, AtomicUsize, Ordering, prefetch};
use std::ptr::NonNull;

/// Entries per leaf. Two under the model checker, so that small tables split.
pub(crate) const LEAF: usize = if cfg!(loom) { 2 } else { 32 };

/// A read that ran into a writer.
pub(crate) struct Torn;

/// Neighbouring ranges in address order.
pub(crate) struct Leaf {
    pub(crate) len: AtomicUsize,
    pub(crate) begins: [AtomicUsize; LEAF],
    pub(crate) ends: [AtomicUsize; LEAF],
    pub(crate) entries: [AtomicPtr<Entry>; LEAF],
}

/// The leaves in address order.
pub(crate) struct Directory {
    pub(crate) len: AtomicUsize,
    /// First `begin` of each leaf.
    pub(crate) firsts: Box<[AtomicUsize]>,
    pub(crate) leaves: Box<[AtomicPtr<Leaf>]>,
}

impl Leaf {
    pub(crate) fn empty() -> Self {
        Self {
            len: AtomicUsize::new(0),
            begins: std::array::from_fn(|_| AtomicUsize::new(0)),
            ends: std::array::from_fn(|_| AtomicUsize::new(0)),
            entries: std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut())),
        }
    }

    /// Asks for the lines that a search of the leaf reads, so that they come side by side. Each
    /// step of the search would wait for its own in a table that is larger than the caches.
    #[inline]
    pub(crate) fn prefetch(&self) {
        const PER_LINE: usize = 64 / size_of::<AtomicUsize>();
        for begin in self.begins.iter().step_by(PER_LINE) {
            prefetch(begin);
        }
        prefetch(&self.len);
    }

    #[inline]
    pub(crate) fn entry(&self, slot: usize) -> Result<EntryRef<'_>, Torn> {
        NonNull::new(self.entries[slot].load(Ordering::Relaxed)).map(EntryRef::new).ok_or(Torn)
    }

    pub(crate) fn set(&self, slot: usize, begin: usize, end: usize, entry: *mut Entry) {
        self.begins[slot].store(begin, Ordering::Relaxed);
        self.ends[slot].store(end, Ordering::Relaxed);
        self.entries[slot].store(entry, Ordering::Relaxed);
    }

    pub(crate) fn copy_slot(&self, to: usize, source: &Self, from: usize) {
        self.set(
            to,
            source.begins[from].load(Ordering::Relaxed),
            source.ends[from].load(Ordering::Relaxed),
            source.entries[from].load(Ordering::Relaxed),
        );
    }

    pub(crate) fn insert(&self, slot: usize, begin: usize, end: usize, entry: NonNull<Entry>) {
        let len = self.len.load(Ordering::Relaxed);
        for place in (slot..len).rev() {
            self.copy_slot(place + 1, self, place);
        }
        self.set(slot, begin, end, entry.as_ptr());
        self.len.store(len + 1, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, slot: usize) {
        let len = self.len.load(Ordering::Relaxed);
        for place in slot + 1..len {
            self.copy_slot(place - 1, self, place);
        }
        self.len.store(len - 1, Ordering::Relaxed);
    }

    pub(crate) fn split_into(&self, upper: &Self) {
        let len = self.len.load(Ordering::Relaxed);
        let half = len / 2;
        for place in half..len {
            upper.copy_slot(place - half, self, place);
        }
        upper.len.store(len - half, Ordering::Relaxed);
        self.len.store(half, Ordering::Relaxed);
    }
}

impl Directory {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            len: AtomicUsize::new(0),
            firsts: (0..capacity).map(|_| AtomicUsize::new(0)).collect(),
            leaves: (0..capacity).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect(),
        }
    }

    #[inline]
    pub(crate) fn leaf(&self, number: usize) -> Result<&Leaf, Torn> {
        // SAFETY: leaves are only freed when the table is dropped.
        unsafe { self.leaves[number].load(Ordering::Acquire).as_ref() }.ok_or(Torn)
    }

    pub(crate) fn copy_slot(&self, to: usize, source: &Self, from: usize) {
        self.firsts[to].store(source.firsts[from].load(Ordering::Relaxed), Ordering::Relaxed);
        self.leaves[to].store(source.leaves[from].load(Ordering::Relaxed), Ordering::Release);
    }

    pub(crate) fn copy_from(&self, source: &Self) {
        let len = source.len.load(Ordering::Relaxed);
        for number in 0..len {
            self.copy_slot(number, source, number);
        }
        self.len.store(len, Ordering::Relaxed);
    }

    pub(crate) fn insert(&self, number: usize, first: usize, leaf: NonNull<Leaf>) {
        let len = self.len.load(Ordering::Relaxed);
        for place in (number..len).rev() {
            self.copy_slot(place + 1, self, place);
        }
        self.firsts[number].store(first, Ordering::Relaxed);
        self.leaves[number].store(leaf.as_ptr(), Ordering::Release);
        self.len.store(len + 1, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, number: usize) {
        let len = self.len.load(Ordering::Relaxed);
        for place in number + 1..len {
            self.copy_slot(place - 1, self, place);
        }
        self.len.store(len - 1, Ordering::Relaxed);
    }
}
