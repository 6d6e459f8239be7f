//! The sixteen barriers of a block, which count threads.
//!
//! Lanes arrive. The barrier is complete when as many have come as the instruction says. Hardware
//! counts whole warps there: lanes that have exited, or that the block does not have, count with
//! the other lanes of their warp. Where the instruction says nothing, all threads of the block that
//! have not exited must come. Lanes of one warp may arrive at different times and places. A lane
//! that waits keeps the generation in which it came, and waits until that has passed.

use crate::support::Arrivals;

/// How many barriers a block has.
pub(crate) const BARRIERS: usize = 16;
/// The most warps that a block has.
const WARPS: usize = 32;
/// A generation's result is kept until so many more have passed.
const KEPT: usize = 4;

/// Lanes of a warp that come to a barrier together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub warp: usize,
    pub lanes: u32,
    /// The warp's lanes that have exited, or that the block does not have.
    pub gone: u32,
    /// How many of the lanes come with a true predicate.
    pub holds: u32,
    /// How many threads the barrier is for; all that are left where the instruction does not say.
    pub count: Option<u32>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Barrier {
    arrived: u32,
    holds: u32,
    /// How many threads it is for; all that are left where no instruction said.
    count: Option<u32>,
    /// By warp: the lanes that have come, and those that are gone.
    came: [u32; WARPS],
    gone: [u32; WARPS],
    generation: u32,
    results: [Arrivals; KEPT],
}

impl Barrier {
    /// Threads come; the generation that they wait for to pass. `alive` are all threads of the
    /// block that have not exited.
    pub fn arrive(&mut self, arrival: Arrival, alive: u32) -> u32 {
        let Arrival { warp, lanes, gone, holds, count } = arrival;
        let generation = self.generation;
        self.arrived += lanes.count_ones();
        self.came[warp] |= lanes;
        self.gone[warp] = gone;
        self.holds += holds;
        self.count = count;
        self.settle(alive);
        generation
    }

    /// The lanes `gone` of a warp are not there any more; whether that has completed it.
    pub fn exit(&mut self, warp: usize, gone: u32, alive: u32) -> bool {
        self.gone[warp] = gone;
        self.settle(alive)
    }

    /// Completes it if no thread is missing any more; whether it was completed.
    fn settle(&mut self, alive: u32) -> bool {
        let complete = self.missing(alive) == Some(0);
        if complete {
            let crossing = Arrivals { arrived: self.arrived, holds: self.holds };
            self.results[self.generation as usize % KEPT] = crossing;
            self.generation = self.generation.wrapping_add(1);
            (self.arrived, self.holds, self.count) = (0, 0, None);
            self.came = [0; WARPS];
        }
        complete
    }

    /// How many threads are missing, if somebody has come.
    #[must_use]
    pub fn missing(&self, alive: u32) -> Option<u32> {
        if self.arrived == 0 {
            return None;
        }
        let missing = self.count.unwrap_or(alive).saturating_sub(self.arrived);
        if missing == 0 || self.count.is_none() {
            return Some(missing);
        }
        // Lanes that have come and are gone since have been counted.
        let warps = self.came.iter().zip(&self.gone).filter(|&(&came, _)| came != 0);
        let gone: u32 = warps.map(|(came, gone)| (gone & !came).count_ones()).sum();
        Some(missing.saturating_sub(gone))
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

    const WARP: u32 = u32::MAX;

    fn comes(warp: usize, lanes: u32, count: Option<u32>) -> Arrival {
        Arrival { warp, lanes, gone: 0, holds: 0, count }
    }

    #[test]
    fn all_that_are_left() {
        let mut barrier = Barrier::default();
        let first = barrier.arrive(Arrival { holds: 5, ..comes(0, WARP, None) }, 96);
        assert_eq!(barrier.crossed(first), None);
        barrier.arrive(Arrival { holds: 32, ..comes(1, WARP, None) }, 96);
        assert_eq!(barrier.missing(96), Some(32));
        // The third warp exits.
        assert!(barrier.exit(2, WARP, 64));
        assert_eq!(barrier.crossed(first), Some(Arrivals { arrived: 64, holds: 37 }));
    }

    #[test]
    fn a_counted_barrier_and_its_next_generation() {
        let mut barrier = Barrier::default();
        let first = barrier.arrive(comes(0, WARP, Some(64)), 1024);
        let same = barrier.arrive(comes(1, WARP, Some(64)), 1024);
        assert_eq!(first, same);
        let next = barrier.arrive(comes(0, WARP, Some(64)), 1024);
        assert!(barrier.crossed(first).is_some() && barrier.crossed(next).is_none());
    }

    #[test]
    fn a_count_is_of_whole_warps() {
        let mut barrier = Barrier::default();
        let first = barrier.arrive(comes(0, WARP, Some(64)), 48);
        // Of the second warp there are 16 lanes.
        barrier.arrive(Arrival { gone: 0xffff_0000, ..comes(1, 1, Some(64)) }, 48);
        assert_eq!(barrier.missing(48), Some(15));
        assert!(!barrier.exit(1, 0xffff_ff00, 40));
        assert_eq!(barrier.missing(40), Some(7));
        barrier.arrive(Arrival { gone: 0xffff_ff00, ..comes(1, 0xfe, Some(64)) }, 40);
        assert_eq!(barrier.crossed(first), Some(Arrivals { arrived: 40, holds: 0 }));
    }

    #[test]
    fn lanes_that_come_and_exit_count_once() {
        let mut barrier = Barrier::default();
        let first = barrier.arrive(comes(0, WARP, Some(96)), 96);
        assert!(!barrier.exit(0, WARP, 64));
        barrier.arrive(comes(2, WARP, Some(96)), 64);
        assert_eq!(barrier.missing(64), Some(32));
        barrier.arrive(comes(1, WARP, Some(96)), 64);
        assert!(barrier.crossed(first).is_some());
    }
}
