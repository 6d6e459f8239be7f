//! What is copied back behind all constructs that use an entry.
//!
//! A construct gives its references up when its operations have been issued, not when they are done. Whoever
//! gives up the last one copies back (OpenMP 6.0 section 7.9.6), in its own stream. Kernels of other
//! constructs that had references before may be under way in other streams then, and what they write
//! would be lost: two `target nowait` regions that map the same variable are not ordered, and may both
//! update it by atomic operations. So the construct leaves the copy to the entry, and the last construct that
//! is done with the entry makes it. That may be any of them.

use super::EntryRef;
use crate::label::Label;
use crate::state::Snapshot;
#[cfg(not(loom))]
use gangway_sync::MutexGuard;
use gangway_sync::{Mutex, lock};

/// A part of an entry that is to be copied back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwedCopy {
    /// First host byte.
    pub begin: usize,
    /// Bytes.
    pub size: usize,
    /// The list item's name.
    pub label: Label,
}

/// Those of an entry. The state word says whether there are some; what stands here otherwise is of an
/// earlier life.
#[derive(Debug)]
pub(crate) struct OwedCopies(Mutex<Vec<OwedCopy>>);

impl OwedCopies {
    pub(crate) fn none() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Takes its lock, for a fork.
    #[cfg(not(loom))]
    pub(crate) fn hold(&self) -> MutexGuard<'_, Vec<OwedCopy>> {
        lock(&self.0)
    }
}

impl EntryRef<'_> {
    /// Leaves a copy to the last construct that uses the entry: it owes it. The caller uses it, and ends that
    /// with [`finish_unmapping`](crate::PresentTable::finish_unmapping).
    pub fn owe_copy(self, copy: OwedCopy) {
        let mut copies = lock(&self.entry().owed_copies.0);
        if !self.snapshot().is_some_and(|snapshot| snapshot.owing) {
            copies.clear();
        }
        let end = copy.begin + copy.size;
        if !copies.iter().any(|other| other.begin <= copy.begin && end <= other.begin + other.size) {
            copies.push(copy);
        }
        self.set_owing(true);
    }

    /// Takes the copies for the caller to make, which uses the entry.
    #[must_use]
    pub fn take_owed_copies(self) -> Vec<OwedCopy> {
        let mut copies = lock(&self.entry().owed_copies.0);
        self.set_owing(false);
        std::mem::take(&mut copies)
    }

    fn set_owing(self, owing: bool) {
        self.update(|snapshot| Some((Snapshot { owing, ..snapshot }, ())));
    }
}
