//! The barrier of a whole grid, for cooperative launches, and finding out that no thread will ever
//! come to it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state of the grid's barrier. All workers of the launch use it.
#[derive(Debug)]
pub(crate) struct Grid {
    /// Whether the launch is cooperative; otherwise nothing is counted.
    cooperative: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Threads of the grid, and those that have not exited.
    threads: u64,
    alive: u64,
    arrived: u64,
    generation: u64,
    /// Workers that have blocks, and those of them that found nothing to run in this generation.
    holders: u32,
    idle: u32,
    /// The first generation that passed without threads that had exited.
    lost: Option<u64>,
}

impl Grid {
    #[must_use]
    pub fn new(cooperative: bool, threads: u64) -> Self {
        let state =
            State { threads, alive: threads, arrived: 0, generation: 0, holders: 0, idle: 0, lost: None };
        Grid { cooperative, state: Mutex::new(state) }
    }

    #[must_use]
    pub fn is_cooperative(&self) -> bool {
        self.cooperative
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one that whoever comes next waits for.
    pub fn generation(&self) -> u64 {
        self.lock().generation
    }

    /// Threads come; the generation that they wait for to pass.
    pub fn arrive(&self, threads: u32) -> u64 {
        let mut state = self.lock();
        let generation = state.generation;
        state.arrived += u64::from(threads);
        state.settle();
        generation
    }

    /// Threads exit: no barrier waits for them.
    pub fn exit(&self, threads: u32) {
        if self.cooperative {
            let mut state = self.lock();
            state.alive -= u64::from(threads);
            state.settle();
        }
    }

    #[must_use]
    pub fn passed(&self, generation: u64) -> bool {
        self.lock().generation != generation
    }

    /// Whether a generation has passed without threads of the grid, which had exited.
    #[must_use]
    pub fn has_lost(&self, generation: u64) -> bool {
        self.lock().lost.is_some_and(|first| first <= generation)
    }

    /// A worker has blocks of the launch, or has no more.
    pub fn hold(&self, holds: bool) {
        if self.cooperative {
            let mut state = self.lock();
            state.holders = if holds { state.holders + 1 } else { state.holders - 1 };
        }
    }

    /// A worker finds nothing to run: the generation in which that is so. None if there is
    /// something after all: `waits` says whether all that it has waits for a generation to pass.
    /// That is asked while no generation can pass; a worker that counted as idle and was not would
    /// make a grid look stuck that goes on.
    #[must_use]
    pub fn rest(&self, waits: impl Fn(u64) -> bool) -> Option<u64> {
        let mut state = self.lock();
        let generation = state.generation;
        waits(generation).then(|| {
            state.idle += 1;
            generation
        })
    }

    /// Whether everybody waits for ever.
    #[must_use]
    pub fn is_stuck(&self, generation: u64) -> bool {
        let state = self.lock();
        state.generation == generation && state.idle >= state.holders
    }
}

impl State {
    fn settle(&mut self) {
        if self.arrived > 0 && self.arrived >= self.alive {
            if self.alive < self.threads {
                self.lost.get_or_insert(self.generation);
            }
            self.arrived = 0;
            self.idle = 0;
            self.generation += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_exit_are_not_waited_for() {
        let grid = Grid::new(true, 96);
        let generation = grid.arrive(64);
        assert!(!grid.passed(generation));
        grid.exit(32);
        assert!(grid.passed(generation) && grid.has_lost(generation));
    }

    #[test]
    fn stuck_when_all_who_have_blocks_rest() {
        let grid = Grid::new(true, 96);
        grid.hold(true);
        grid.hold(true);
        let generation = grid.rest(|_| true).expect("it waits");
        assert!(!grid.is_stuck(generation));
        assert_eq!(grid.rest(|_| true), Some(generation));
        assert!(grid.is_stuck(generation));
        // The last thread comes after all: a worker that rests finds its generation passed.
        grid.arrive(96);
        assert!(!grid.is_stuck(generation));
    }

    #[test]
    fn who_finds_its_generation_passed_does_not_rest() {
        let grid = Grid::new(true, 96);
        grid.hold(true);
        grid.hold(true);
        let first = grid.arrive(32);
        // The others come before the worker says that it has nothing to run.
        grid.arrive(64);
        assert_eq!(grid.rest(|generation| generation == first), None);
        // Then it runs, and its threads come again: it is the only one that rests.
        let second = grid.arrive(32);
        assert_eq!(grid.rest(|generation| generation == second), Some(second));
        assert!(!grid.is_stuck(second));
    }
}
