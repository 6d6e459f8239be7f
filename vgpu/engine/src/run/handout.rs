//! The blocks of a launch that no worker has yet.

use std::sync::atomic::{AtomicU64, Ordering};

/// A share of the blocks is about one of so many for each worker, and of so many blocks at most.
const SHARES: u64 = 16;
const MOST: u64 = 16;

/// What all workers write, on cache lines of its own: the rest of a launch is what all of them read
/// all the time.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

/// Hands out blocks by their numbers.
#[derive(Debug)]
pub(crate) struct Handout {
    total: u64,
    /// How many blocks a worker gets at once.
    share: u64,
    next: Apart<AtomicU64>,
}

impl Handout {
    /// Kernels that never give way cannot wait for other blocks, so of those workers get `several`
    /// at once: blocks next to each other mostly use the same memory. Of all others they get one,
    /// because a block that a worker does not run yet may be waited for.
    #[must_use]
    pub fn new(total: u64, workers: u32, several: bool) -> Self {
        let many = total / (SHARES * u64::from(workers.max(1)));
        let share = if several { many.clamp(1, MOST) } else { 1 };
        Handout { total, share, next: Apart(AtomicU64::new(0)) }
    }

    /// Leaves out the blocks before this one.
    pub fn begin_at(&mut self, first: u64) {
        self.next = Apart(AtomicU64::new(first.min(self.total)));
    }

    /// The next block that no worker has, and how many from there on the caller gets. All workers
    /// write the counter, so it is not even looked at before: it may run over the number of blocks,
    /// but never as far as where it would begin again.
    #[must_use]
    pub fn take(&self) -> Option<(u64, u64)> {
        let number = self.next.0.fetch_add(self.share, Ordering::Relaxed);
        let left = self.total.checked_sub(number).filter(|&left| left > 0)?;
        Some((number, self.share.min(left)))
    }

    /// Whether there is a block that no worker has.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.next.0.load(Ordering::Relaxed) < self.total
    }

    /// How many workers it has blocks for, of so many.
    #[must_use]
    pub fn employs(&self, workers: usize) -> usize {
        self.total.min(workers as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(handout: &Handout) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| handout.take()).collect()
    }

    #[test]
    fn every_block_is_handed_out_once() {
        assert_eq!(taken(&Handout::new(3, 4, false)), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!(taken(&Handout::new(3, 4, true)), [(0, 1), (1, 1), (2, 1)]);
        let handout = Handout::new(100, 2, true);
        assert!(handout.has_more());
        let shares = taken(&handout);
        assert!(!handout.has_more() && handout.take().is_none());
        assert_eq!(shares[..2], [(0, 3), (3, 3)]);
        assert_eq!(shares.last(), Some(&(99, 1)));
        assert_eq!(shares.iter().map(|&(_, count)| count).sum::<u64>(), 100);
    }

    #[test]
    fn blocks_before_the_first_are_left_out() {
        let mut handout = Handout::new(5, 2, false);
        handout.begin_at(3);
        assert_eq!(taken(&handout), [(3, 1), (4, 1)]);
        handout.begin_at(u64::MAX);
        assert!(!handout.has_more() && handout.take().is_none());
    }

    #[test]
    fn a_share_has_a_bound() {
        assert_eq!(Handout::new(1 << 40, 1, true).take(), Some((0, MOST)));
        assert_eq!(Handout::new(1 << 40, 1, false).take(), Some((0, 1)));
    }
}
