//! The sixteen barriers of a block, which count threads.
//!
//! Lanes arrive. The barrier is complete when as many have come as the instruction says. Where it
//! says nothing, all threads of the block that have not exited must come. Lanes of one warp may
//! arrive at different times and places. A lane that waits keeps the generation in which it came,
//! and waits until that has passed.

use crate::support::Arrivals;

/// How many barriers a block has.
pub(crate) const BARRIERS: usize = 16;
/// A generation's result is kept until so many more have passed.
const KEPT: usize = 4;

#[derive(Clone, Debug, Default)]
pub(crate) struct Barrier {
    arrived: u32,
    holds: u32,
    /// How many threads it is for; all that are left where no instruction said.
    count: Option<u32>,
    generation: u32,
    results: [Arrivals; KEPT],
}

impl Barrier {
    /// Threads come; the generation that they wait for to pass. `alive` are all threads of the
    /// block that have not exited.
    pub fn arrive(&mut self, threads: u32, holds: u32, count: Option<u32>, alive: u32) -> u32 {
        let generation = self.generation;
        self.arrived += threads;
        self.holds += holds;
        self.count = count;
        self.settle(alive);
        generation
    }

    /// Completes it if no thread is missing any more; whether it was completed.
    pub fn settle(&mut self, alive: u32) -> bool {
        let complete = self.arrived > 0 && self.arrived >= self.count.unwrap_or(alive);
        if complete {
            let crossing = Arrivals { arrived: self.arrived, holds: self.holds };
            self.results[self.generation as usize % KEPT] = crossing;
            self.generation = self.generation.wrapping_add(1);
            (self.arrived, self.holds, self.count) = (0, 0, None);
        }
        complete
    }

    /// How many threads are missing, if somebody has come.
    #[must_use]
    pub fn missing(&self, alive: u32) -> Option<u32> {
        (self.arrived > 0).then(|| self.count.unwrap_or(alive).saturating_sub(self.arrived))
    }

    /// The result of a generation that has passed.
    #[must_use]
    pub fn crossed(&self, generation: u32) -> Option<Arrivals> {
        (self.generation != generation).then(|| self.results[generation as usize % KEPT])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_are_left() {
        let mut barrier = Barrier::default();
        let first = barrier.arrive(32, 5, None, 96);
        assert_eq!(barrier.crossed(first), None);
        barrier.arrive(32, 32, None, 96);
        assert!(!barrier.settle(96));
        // The third warp exits.
        assert!(barrier.settle(64));
        assert_eq!(barrier.crossed(first), Some(Arrivals { arrived: 64, holds: 37 }));
    }

    #[test]
    fn a_counted_barrier_and_its_next_generation() {
        let mut barrier = Barrier::default();
        let first = barrier.arrive(32, 0, Some(64), 1024);
        let same = barrier.arrive(32, 0, Some(64), 1024);
        assert_eq!(first, same);
        let next = barrier.arrive(32, 1, Some(64), 1024);
        assert!(barrier.crossed(first).is_some() && barrier.crossed(next).is_none());
    }
}
