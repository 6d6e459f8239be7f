//! The barriers of a block that runs, and the threads that they wait for.

use std::cell::{Cell, RefCell};

use super::barrier::{Arrival, BARRIERS, Barrier};
use super::job::Job;
use super::meetings::Meetings;
use super::watch::Watch;
use crate::support::{Arrivals, Ticket};

/// What the warps of a block share.
#[derive(Debug, Default)]
pub(crate) struct Barriers {
    each: RefCell<[Barrier; BARRIERS]>,
    /// Whether a thread has come to one of them: most kernels have none, and warps that only end
    /// should not look through all.
    used: Cell<bool>,
    /// Threads that have not exited.
    alive: Cell<u32>,
    /// Whether one has been completed since the scheduler last looked.
    completed: Cell<bool>,
    /// Where the block is watched for races.
    watch: RefCell<Option<Box<Watch>>>,
    /// Who has come to them, where that is checked.
    meetings: RefCell<Option<Box<Meetings>>>,
}

impl Barriers {
    /// For a block of so many threads that starts.
    pub fn start(&self, threads: u32) {
        if self.used.take() {
            self.each.borrow_mut().fill(Barrier::default());
        }
        self.alive.set(threads);
        self.completed.set(false);
    }

    /// The block of a launch that starts is watched, if that is asked for.
    pub fn watch(&self, job: &Job, block: [u32; 3]) {
        let mut watch = self.watch.borrow_mut();
        match job.races.is_some() || job.accesses.is_some() {
            false => *watch = None,
            true => watch.get_or_insert_default().start(job, block),
        }
        let mut meetings = self.meetings.borrow_mut();
        match &job.sync {
            None => *meetings = None,
            Some(_) => meetings.get_or_insert_default().start(job, block),
        }
    }

    /// What is told to who looks at meetings of the block's threads, if somebody does.
    pub fn meetings<R>(&self, tell: impl FnOnce(&mut Meetings) -> R) -> Option<R> {
        self.meetings.borrow_mut().as_mut().map(|meetings| tell(meetings))
    }

    /// What the watch of the block is told, if it is watched.
    pub fn tell(&self, tell: impl FnOnce(&mut Watch)) {
        if let Some(watch) = &mut *self.watch.borrow_mut() {
            tell(watch);
        }
    }

    /// Lanes of a warp come to one of them: what they wait for, and whether they are the last.
    pub fn arrive(&self, barrier: u32, arrival: Arrival) -> (Ticket, bool) {
        self.used.set(true);
        let state = &mut self.each.borrow_mut()[barrier as usize];
        let generation = state.arrive(arrival, self.alive.get());
        let complete = state.crossed(generation).is_some();
        if complete {
            self.completed.set(true);
        }
        (Ticket { barrier, generation }, complete)
    }

    /// So many threads of a warp exit, of which the lanes `gone` are not there any more; barriers
    /// may be complete by that. Which are, a bit each.
    pub fn exit(&self, warp: usize, gone: u32, threads: u32) -> u32 {
        self.alive.set(self.alive.get() - threads);
        let mut completed = 0;
        if self.used.get() {
            for (barrier, number) in self.each.borrow_mut().iter_mut().zip(0..) {
                completed |= u32::from(barrier.exit(warp, gone, self.alive.get())) << number;
            }
            if completed != 0 {
                self.completed.set(true);
            }
        }
        completed
    }

    /// What came of a barrier that lanes wait for, if it is complete.
    #[must_use]
    pub fn crossed(&self, ticket: Ticket) -> Option<Arrivals> {
        self.each.borrow()[ticket.barrier as usize].crossed(ticket.generation)
    }

    /// Whether one has been completed since this was last asked.
    #[must_use]
    pub fn take_completed(&self) -> bool {
        self.completed.take()
    }

    /// Whether none of those that threads have come to will ever be complete, as only `free`
    /// threads do not wait, and each comes to a barrier, which it waits at, or exits.
    #[must_use]
    pub fn are_stuck(&self, free: u32) -> bool {
        let (each, alive) = (self.each.borrow(), self.alive.get());
        each.iter().filter_map(|barrier| barrier.missing(alive)).all(|missing| missing > free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comes(warp: usize) -> Arrival {
        Arrival { warp, lanes: u32::MAX, gone: 0, holds: 0, count: None }
    }

    #[test]
    fn the_last_to_come_and_who_exits_complete_a_barrier() {
        let barriers = Barriers::default();
        barriers.start(96);
        let (ticket, complete) = barriers.arrive(3, comes(0));
        assert!(!complete && barriers.crossed(ticket).is_none() && !barriers.take_completed());
        assert!(!barriers.are_stuck(64) && barriers.are_stuck(63));
        barriers.exit(2, u32::MAX, 32);
        assert!(!barriers.take_completed());
        assert!(barriers.arrive(3, comes(1)).1);
        assert_eq!(barriers.crossed(ticket), Some(Arrivals { arrived: 64, holds: 0 }));
        assert!(barriers.take_completed() && !barriers.take_completed());
        let (ticket, _) = barriers.arrive(3, comes(0));
        barriers.exit(1, u32::MAX, 32);
        assert!(barriers.take_completed() && barriers.crossed(ticket).is_some());
    }

    #[test]
    fn the_next_block_finds_nobody_there() {
        let barriers = Barriers::default();
        barriers.start(64);
        let _ = barriers.arrive(0, comes(0));
        barriers.start(64);
        assert!(!barriers.arrive(0, comes(1)).1);
    }
}
