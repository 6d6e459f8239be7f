//! A warp as the engine sees it: what helpers of compiled code ask for while it runs.
//!
//! The methods run on the warp's fiber. They may suspend it, and it may never be resumed:
//! nothing here holds what needs dropping, or a lock, while it suspends. A block's warps run on
//! one thread, one at a time; so plain cells are enough.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use gangway_interpreter::{FaultKind, barrier_count};
use gangway_ptx::Module;

use super::arena::Arena;
use super::barrier::{Arrival, BARRIERS};
use super::barriers::Barriers;
use super::clock;
use super::failure::{Failure, Failures};
use super::fiber::{FiberYielder, Pause};
use super::job::Job;
use super::place::place;
use super::sync::{Doing, Groups, Rule};
use super::time::Time;
use super::wait::Wait;
use crate::abi::{Flavour, Warp};
use crate::program::Program;
use crate::runtimes::is_of_atomics;
use crate::support::{Arrivals, Began, Host, Noted, Passed, Ticket};
use crate::unified::Made;

/// What a barrier takes, in the time of warps that are kept abreast.
const BARRIER: i64 = 16;

/// The engine's side of a warp: what `Warp::host` leads to.
#[derive(Debug)]
pub(crate) struct WarpHost {
    job: Cell<*const Job>,
    barriers: Cell<*const Barriers>,
    pub yielder: Cell<*const FiberYielder>,
    pub wait: Wait,
    pub time: Time,
    /// Its number in the block.
    index: Cell<usize>,
    /// Lanes whose exit is already counted.
    counted: Cell<u32>,
    /// The frames of functions that lanes wait in.
    frames: Arena,
    pub failures: Failures,
}

impl Default for WarpHost {
    fn default() -> Self {
        WarpHost {
            job: Cell::new(ptr::null()),
            barriers: Cell::new(ptr::null()),
            yielder: Cell::new(ptr::null()),
            wait: Wait::default(),
            time: Time::default(),
            index: Cell::new(0),
            counted: Cell::new(0),
            frames: Arena::default(),
            failures: Failures::default(),
        }
    }
}

impl WarpHost {
    /// For a warp of the blocks of a launch: number `index` of each.
    pub fn assign(&self, job: *const Job, index: u32, barriers: *const Barriers) {
        self.index.set(index as usize);
        self.job.set(job);
        self.barriers.set(barriers);
        self.wait.clear();
        // SAFETY: the launch outlives its warps.
        self.time.assign(unsafe { &*job }.program().functions().keep_abreast());
        self.failures.clear();
    }

    /// For a warp that starts, of which the lanes `missing` were never there. The one before has
    /// ended: it waits for nothing, and nothing has happened to it, because that would have ended
    /// the launch.
    pub fn start(&self, missing: u32) {
        self.counted.set(missing);
        self.frames.clear();
    }

    #[must_use]
    pub fn job(&self) -> &Job {
        // SAFETY: set before the warp starts; the launch that it belongs to outlives it.
        unsafe { &*self.job.get() }
    }

    /// Those of its block.
    #[must_use]
    pub fn barriers(&self) -> &Barriers {
        // SAFETY: set before the warp starts, and the block outlives its warps.
        unsafe { &*self.barriers.get() }
    }

    fn program(&self) -> &Program {
        self.job().program()
    }

    /// Gives control to the scheduler. The warp goes on with new fuel.
    fn suspend(&self, warp: &mut Warp, pause: Pause) {
        // SAFETY: the fiber has set it when it started, and it is the fiber that runs.
        unsafe { (*self.yielder.get()).suspend(pause) }
        warp.fuel = self.time.ration();
    }

    /// Brings the count of living threads up to date; barriers may be complete by that.
    pub fn note_exits(&self, exited: u32) {
        let new = exited & !self.counted.get();
        if new == 0 {
            return;
        }
        self.counted.set(exited);
        let completed = self.barriers().exit(self.index.get(), exited, new.count_ones());
        self.barriers().meetings(|meetings| {
            meetings.exit(self.index.get(), exited);
            (0..BARRIERS as u32)
                .filter(|barrier| completed >> barrier & 1 != 0)
                .for_each(|barrier| meetings.complete(self.job(), barrier));
        });
        self.job().grid.exit(new.count_ones());
    }

    /// Tells who watches accesses of what the warp remembers: what orders that is to come.
    pub fn tell_of_lines(&self, warp: &Warp) {
        if !warp.lines.is_empty() {
            self.barriers().tell(|watch| watch.tell_of_lines(self.job(), warp, self.index.get()));
        }
    }

    /// Waits until all threads of the grid that have not exited have come.
    pub fn grid_barrier(&self, warp: &mut Warp, lanes: u32) {
        self.note_exits(warp.exited);
        self.tell_of_lines(warp);
        let grid = &self.job().grid;
        let index = self.index.get();
        // Before it comes, as the last to come lets all others go.
        self.barriers().tell(|watch| watch.block.arrive_at_grid(index, grid.generation()));
        let generation = grid.arrive(lanes.count_ones());
        while !grid.passed(generation) {
            self.wait.begin_for_grid(generation);
            self.suspend(warp, Pause::Waits);
        }
        self.barriers().tell(|watch| watch.block.pass_grid(index, generation, !warp.exited));
        if let Some(found) = self.job().sync.as_ref().filter(|_| grid.has_lost(generation)) {
            let at = self.program().functions().find((warp.called_from as usize).wrapping_sub(1));
            let mut groups = Groups::default();
            groups.add(Doing::WaitForGrid, place(self.job(), warp, at, 0), index, lanes);
            found.note(self.job().launched(), Rule::Grid, warp.block, groups);
        }
    }
}

impl Host for WarpHost {
    fn module(&self) -> &Module {
        self.program().module()
    }

    fn is_unaligned(&self) -> bool {
        self.program().device().unaligned
    }

    fn signature(&self, function: usize) -> Option<u64> {
        self.program().functions().signature(function)
    }

    fn fault(&self, warp: &mut Warp, lanes: u32, kind: FaultKind) -> ! {
        let pc = warp.called_from as usize;
        self.failures.note(Failure { kind, lanes, pc });
        loop {
            // The scheduler does not come back to a warp that has failed.
            self.suspend(warp, Pause::Fault);
        }
    }

    fn note_host_access(&self, warp: &Warp, lane: usize, address: u64, size: u64, write: bool) {
        let (job, pc) = (self.job(), warp.called_from.wrapping_sub(1));
        let source = || place(job, warp, job.program().functions().find(pc as usize), 1 << lane).source;
        Made { address, size, write }.tell(job.kernel.name(), pc, source);
    }

    fn is_of_atomics(&self, warp: &Warp) -> bool {
        let found = self.program().functions().find((warp.called_from as usize).wrapping_sub(1));
        found.is_some_and(|at| is_of_atomics(&self.module().functions[at.function as usize].name))
    }

    fn note_access(&self, warp: &Warp, noted: Noted<'_>) {
        self.barriers().tell(|watch| watch.note(self.job(), warp, self.index.get(), &noted));
    }

    fn is_quiet(&self) -> bool {
        self.job().races.as_ref().is_none_or(|races| races.is_quiet())
    }

    fn begin_line(&self, warp: &Warp, line: Began) -> bool {
        let mut begun = false;
        self.barriers().tell(|watch| begun = watch.begin_line(self.job(), warp, self.index.get(), line));
        begun
    }

    fn note_passed(&self, warp: &Warp, passed: Passed<'_>) {
        self.barriers().tell(|watch| watch.note_passed(self.job(), warp, self.index.get(), &passed));
    }

    fn note_fence(&self, warp: &Warp, narrow: bool) {
        self.tell_of_lines(warp);
        if self.job().races.is_some() {
            self.barriers().tell(|watch| watch.block.fence(self.index.get(), narrow));
        }
    }

    fn note_meeting(&self, warp: &Warp, lanes: u32) {
        self.tell_of_lines(warp);
        if self.job().races.is_some() {
            self.barriers().tell(|watch| watch.block.synchronize(self.index.get(), lanes, !warp.exited));
        }
    }

    fn turn(&self, warp: &mut Warp) {
        self.note_exits(warp.exited);
        self.suspend(warp, Pause::Turn);
    }

    fn arrive(&self, warp: &mut Warp, barrier: u32, count: Option<u32>, lanes: u32, holds: u32) -> Ticket {
        self.note_exits(warp.exited);
        if barrier as usize >= BARRIERS {
            self.fault(warp, lanes, FaultKind::BadTarget(barrier.into()));
        }
        let count = match barrier_count(count, self.job().extent.threads) {
            Ok(count) => count,
            Err(kind) => self.fault(warp, lanes, kind),
        };
        self.time.meet(&mut warp.fuel, BARRIER);
        self.tell_of_lines(warp);
        let arrival = Arrival { warp: self.index.get(), lanes, gone: self.counted.get(), holds, count };
        let masked = lanes != !warp.exited;
        self.barriers().meetings(|meetings| meetings.arrive(self.job(), warp, barrier, arrival, masked));
        let (ticket, complete) = self.barriers().arrive(barrier, arrival);
        self.barriers().tell(|watch| watch.block.arrive(arrival.warp, barrier, ticket.generation, lanes));
        if complete {
            self.barriers().meetings(|meetings| meetings.complete(self.job(), barrier));
            // The lane that comes last lets the others go first. GCC's OpenACC code has the first
            // warp broadcast through memory that the others may still be reading from: with
            // hardware's warps side by side they have always read it by then.
            if self.job().extent.warps() > 1 {
                self.suspend(warp, Pause::Turn);
            }
        }
        ticket
    }

    fn passed(&self, warp: &mut Warp, ticket: Ticket) -> Option<Arrivals> {
        let arrivals = self.barriers().crossed(ticket)?;
        self.tell_of_lines(warp);
        let (index, alive) = (self.index.get(), !warp.exited);
        self.barriers().tell(|watch| watch.block.pass(index, ticket.barrier, ticket.generation, alive));
        Some(arrivals)
    }

    fn wait(&self, warp: &mut Warp, _lanes: u32) {
        self.note_exits(warp.exited);
        self.wait.begin_for_block();
        self.suspend(warp, Pause::Waits);
    }

    fn code(&self, warp: &mut Warp, function: u32, flavour: Flavour, lanes: u32) -> *const c_void {
        // The compiler may need more of the stack than the warp has left, and its locks must not be
        // left behind: it runs on the worker's own. SAFETY: the fiber has set it when it started,
        // and it is the fiber that runs.
        let yielder = unsafe { &*self.yielder.get() };
        let job = self.job();
        match yielder.on_parent_stack(|| job.kernel.code(function, flavour)) {
            Ok(code) => code,
            Err(kind) => self.fault(warp, lanes, kind),
        }
    }

    fn waits(&self, function: u32) -> bool {
        self.program().functions().waits(function)
    }

    fn allocate(&self, size: usize) -> Option<NonNull<u8>> {
        self.frames.allocate(size)
    }

    fn release(&self, memory: NonNull<u8>) {
        self.frames.release(memory);
    }

    fn clock(&self, _warp: &Warp) -> u64 {
        clock::cycles()
    }

    fn nanoseconds(&self, _warp: &Warp) -> u64 {
        clock::nanoseconds()
    }
}
