//! Work-groups of a launch that nobody has taken, for those who run it together.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How many work-groups a thread runs by turns, at most.
pub const RESIDENT: u64 = 16;

/// Hands out work-groups by their numbers.
#[derive(Debug)]
pub struct Groups {
    count: u64,
    next: AtomicU64,
    /// Each thread takes one at a time: somebody else may soon run the others faster.
    single: AtomicBool,
}

impl Groups {
    #[must_use]
    pub fn new(count: u64, single: bool) -> Self {
        Self { count, next: AtomicU64::new(0), single: AtomicBool::new(single) }
    }

    /// From now on threads take several at a time. Those that wait for others may need that.
    pub fn several(&self) {
        self.single.store(false, Ordering::Release);
    }

    /// Whether there is one that nobody has taken.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.left() > 0
    }

    /// How many there are that nobody has taken.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.count.saturating_sub(self.next.load(Ordering::Relaxed))
    }

    /// Takes all that are left: they are those from this number on. None if there are none.
    #[must_use]
    pub fn take_rest(&self) -> Option<u64> {
        let first = self.next.swap(self.count, Ordering::AcqRel);
        (first < self.count).then_some(first)
    }

    /// Gives back what [`take_rest`](Self::take_rest) has taken.
    pub fn give_back(&self, first: u64) {
        self.next.store(first, Ordering::Release);
    }

    /// So many may run by turns on one thread now.
    pub(crate) fn at_once(&self) -> usize {
        if self.single.load(Ordering::Acquire) { 1 } else { RESIDENT as usize }
    }

    pub(crate) fn take(&self) -> Option<u64> {
        let taken = |next: u64| (next < self.count).then(|| next + 1);
        self.next.fetch_update(Ordering::AcqRel, Ordering::Acquire, taken).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_taken_once() {
        let groups = Groups::new(3, true);
        assert_eq!((groups.at_once(), groups.take(), groups.is_open()), (1, Some(0), true));
        assert_eq!(groups.left(), 2);
        assert_eq!(groups.take_rest(), Some(1));
        assert_eq!((groups.take_rest(), groups.take(), groups.is_open()), (None, None, false));
        groups.give_back(1);
        groups.several();
        assert_eq!(
            (groups.at_once(), groups.take(), groups.take(), groups.take()),
            (16, Some(1), Some(2), None)
        );
    }
}
