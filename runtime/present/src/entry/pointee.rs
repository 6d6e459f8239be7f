//! Which entry an attached pointer points to, and how many such pointers an entry has.

use super::{Entry, EntryRef};
use gangway_sync::{AtomicU64, Ordering};
use std::ptr::NonNull;

/// An entry in one of its lives, which an attached pointer points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointee {
    entry: NonNull<Entry>,
    pub(crate) generation: u32,
}

// SAFETY: entries may be used from any thread, and live as long as their table. So does what
// has a pointee: another entry of the table.
unsafe impl Send for Pointee {}

/// How many attached pointers point to an entry: its generation, and the number. Changed with the
/// writers' lock alone, which who ends a life has anyway: a pointer counts here or among those
/// that dangle. Read without it.
#[derive(Debug)]
pub(crate) struct Pointers(AtomicU64);

/// No entry is alive.
const OVER: u64 = u64::MAX;

const COUNT: u64 = u32::MAX as u64;

impl Pointers {
    pub(crate) fn none() -> Self {
        Self(AtomicU64::new(OVER))
    }

    /// The entry begins a life.
    pub(crate) fn begin(&self, generation: u32) {
        self.0.store(u64::from(generation) << 32, Ordering::Relaxed);
    }

    /// The entry's life is over. Answers how many pointers dangle now.
    pub(crate) fn end(&self) -> usize {
        let word = self.0.load(Ordering::Relaxed);
        self.0.store(OVER, Ordering::Release);
        if word == OVER { 0 } else { (word & COUNT) as usize }
    }

    /// Changes the number if the entry is in that life.
    pub(crate) fn change(&self, generation: u32, change: impl Fn(u64) -> u64) -> bool {
        let word = self.0.load(Ordering::Relaxed);
        let same = word != OVER && word >> 32 == u64::from(generation);
        if same {
            self.0.store(change(word), Ordering::Release);
        }
        same
    }
}

impl Pointee {
    pub(crate) fn of(entry: EntryRef<'_>) -> Self {
        Self { entry: NonNull::from(entry.entry()), generation: entry.key().1 }
    }

    pub(crate) fn pointers(&self) -> &Pointers {
        // SAFETY: entries live as long as their table, which the caller has.
        unsafe { &self.entry.as_ref().pointers }
    }

    pub(crate) fn is_gone(self) -> bool {
        let word = self.pointers().0.load(Ordering::Acquire);
        word == OVER || word >> 32 != u64::from(self.generation)
    }
}
