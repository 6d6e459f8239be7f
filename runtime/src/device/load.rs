//! What is queued on a device, for decisions by load.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counted only if somebody decides by it ([`placement`](crate::placement)). The counts are not exact
/// at any moment, and decide nothing but where a construct runs.
#[derive(Debug, Default)]
pub(crate) struct Load {
    /// Constructs that are under way.
    constructs: AtomicUsize,
    /// Threads whose home it is.
    homes: AtomicUsize,
}

impl Load {
    pub(crate) fn constructs(&self) -> usize {
        self.constructs.load(Ordering::Relaxed)
    }

    pub(crate) fn homes(&self) -> usize {
        self.homes.load(Ordering::Relaxed)
    }

    /// One more construct.
    pub(crate) fn begin(&self) {
        self.constructs.fetch_add(1, Ordering::Relaxed);
    }

    /// The same, if there are still as many as the caller has seen.
    pub(crate) fn begin_if(&self, seen: usize) -> bool {
        self.constructs.compare_exchange(seen, seen + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// One of them is done.
    pub(crate) fn end(&self) {
        self.constructs.fetch_sub(1, Ordering::Relaxed);
    }

    /// One more thread has its home here.
    pub(crate) fn settle(&self) {
        self.homes.fetch_add(1, Ordering::Relaxed);
    }

    /// One of them has ended.
    pub(crate) fn leave(&self) {
        self.homes.fetch_sub(1, Ordering::Relaxed);
    }
}
