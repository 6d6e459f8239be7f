//! A warp as the engine sees it: what helpers of compiled code ask for while it runs.
//!
//! The methods run on the warp's fiber. They may suspend it, and it may never be resumed:
//! nothing here holds what needs dropping, or a lock, while it suspends. A block's warps run on
//! one thread, one at a time; so plain cells are enough.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use gangway_interpreter::Kind;
use gangway_ptx::Module;

use super::barrier::{BARRIERS, Barrier};
use super::clock;
use super::fiber::{FiberYielder, Pause};
use super::job::Job;
use super::trap::Trap;
use crate::abi::{Flavour, Warp};
use crate::program::Program;
use crate::support::{Arrivals, Host, Ticket};

/// Steps back until a warp gives way.
pub(crate) const FUEL: i64 = 1024;

/// The state of a block that its warps share.
#[derive(Debug, Default)]
pub(crate) struct BlockState {
    barriers: RefCell<[Barrier; BARRIERS]>,
    /// Whether a thread has come to one of them: most kernels have none, and warps that only end
    /// should not look through all.
    used: Cell<bool>,
    /// Threads that have not exited.
    pub alive: Cell<u32>,
    /// Whether a barrier has been completed since the scheduler last looked.
    pub completed: Cell<bool>,
}

impl BlockState {
    /// For a block of so many threads that starts.
    pub fn start(&self, threads: u32) {
        if self.used.take() {
            self.barriers.borrow_mut().fill(Barrier::default());
        }
        self.alive.set(threads);
        self.completed.set(false);
    }
}

/// What a warp cannot go on for.
#[derive(Debug)]
pub(crate) struct Failure {
    pub kind: Kind,
    /// The lanes that it happened to, as far as is known; any of the warp's when none.
    pub lanes: u32,
    /// The address in compiled code.
    pub pc: usize,
}

/// The engine's side of a warp: what `Warp::host` leads to.
#[derive(Debug)]
pub(crate) struct WarpHost {
    pub job: Cell<*const Job>,
    pub block: Cell<*const BlockState>,
    pub yielder: Cell<*const FiberYielder>,
    /// Whether it waits for a barrier of the block to be completed, whichever it is: what its lanes
    /// wait for, compiled code knows.
    pub waits: Cell<bool>,
    /// The generation of the grid's barrier that it waits in.
    pub grid: Cell<Option<u64>>,
    /// Lanes whose exit is already counted in [`BlockState::alive`].
    counted: Cell<u32>,
    pub failure: RefCell<Option<Failure>>,
    /// The signal that it raised.
    pub trap: Cell<Option<Trap>>,
}

impl Default for WarpHost {
    fn default() -> WarpHost {
        WarpHost {
            job: Cell::new(ptr::null()),
            block: Cell::new(ptr::null()),
            yielder: Cell::new(ptr::null()),
            waits: Cell::new(false),
            grid: Cell::new(None),
            counted: Cell::new(0),
            failure: RefCell::new(None),
            trap: Cell::new(None),
        }
    }
}

impl WarpHost {
    /// For a warp of the blocks of a launch.
    pub fn assign(&self, job: *const Job, block: *const BlockState) {
        self.job.set(job);
        self.block.set(block);
        self.waits.set(false);
        self.grid.set(None);
        self.failure.replace(None);
        self.trap.set(None);
    }

    /// For a warp that starts, of which the lanes `missing` were never there. The one before has ended: it waits
    /// for nothing, and nothing has happened to it, because that would have ended the launch.
    pub fn start(&self, missing: u32) {
        self.counted.set(missing);
    }

    pub fn job(&self) -> &Job {
        // SAFETY: set before the warp starts; the launch that it belongs to outlives it.
        unsafe { &*self.job.get() }
    }

    pub fn block(&self) -> &BlockState {
        // SAFETY: set before the warp starts, and the block outlives its warps.
        unsafe { &*self.block.get() }
    }

    fn program(&self) -> &Arc<Program> {
        self.job().program()
    }

    fn suspend(&self, pause: Pause) {
        // SAFETY: the fiber has set it when it started, and it is the fiber that runs.
        unsafe { (*self.yielder.get()).suspend(pause) }
    }

    /// Brings the count of living threads up to date; barriers may be complete by that.
    pub fn note_exits(&self, exited: u32) {
        let new = exited & !self.counted.get();
        if new == 0 {
            return;
        }
        self.counted.set(exited);
        let block = self.block();
        block.alive.set(block.alive.get() - new.count_ones());
        if block.used.get() {
            for barrier in block.barriers.borrow_mut().iter_mut() {
                if barrier.settle(block.alive.get()) {
                    block.completed.set(true);
                }
            }
        }
        self.job().grid.exit(new.count_ones());
    }

    /// Waits until all threads of the grid that have not exited have come.
    pub fn grid_barrier(&self, warp: &mut Warp, lanes: u32) {
        self.note_exits(warp.exited);
        let grid = &self.job().grid;
        let generation = grid.arrive(lanes.count_ones());
        while !grid.passed(generation) {
            self.grid.set(Some(generation));
            self.suspend(Pause::Waits);
        }
        warp.fuel = FUEL;
    }
}

impl Host for WarpHost {
    fn module(&self) -> &Module {
        self.program().module()
    }

    fn fault(&self, warp: &mut Warp, lanes: u32, kind: Kind) -> ! {
        let pc = warp.called_from as usize;
        self.failure.replace(Some(Failure { kind, lanes, pc }));
        loop {
            // The scheduler does not come back to a warp that has failed.
            self.suspend(Pause::Fault);
        }
    }

    fn turn(&self, warp: &mut Warp) {
        warp.fuel = FUEL;
        self.note_exits(warp.exited);
        self.suspend(Pause::Turn);
    }

    fn arrive(&self, warp: &mut Warp, barrier: u32, count: Option<u32>, lanes: u32, holds: u32) -> Ticket {
        self.note_exits(warp.exited);
        if barrier as usize >= BARRIERS {
            self.fault(warp, lanes, Kind::BadTarget(barrier.into()));
        }
        let block = self.block();
        block.used.set(true);
        let (generation, complete) = {
            let state = &mut block.barriers.borrow_mut()[barrier as usize];
            let generation = state.arrive(lanes.count_ones(), holds, count, block.alive.get());
            (generation, state.crossed(generation).is_some())
        };
        if complete {
            block.completed.set(true);
            // Whoever comes last lets the others go first. GCC's OpenACC code has the first
            // warp broadcast through memory that the others may still be reading from: with
            // hardware's warps side by side they have always read it by then.
            if self.job().warps() > 1 {
                self.suspend(Pause::Turn);
            }
        }
        Ticket { barrier, generation }
    }

    fn passed(&self, _warp: &mut Warp, ticket: Ticket) -> Option<Arrivals> {
        self.block().barriers.borrow()[ticket.barrier as usize].crossed(ticket.generation)
    }

    fn wait(&self, warp: &mut Warp, _lanes: u32) {
        self.note_exits(warp.exited);
        self.waits.set(true);
        self.suspend(Pause::Waits);
        warp.fuel = FUEL;
    }

    fn code(&self, warp: &mut Warp, function: u32, flavour: Flavour, lanes: u32) -> *const c_void {
        match self.job().code(function, flavour) {
            Ok(code) => code,
            Err(kind) => self.fault(warp, lanes, kind),
        }
    }

    fn clock(&self, _warp: &Warp) -> u64 {
        clock::cycles()
    }

    fn nanoseconds(&self, _warp: &Warp) -> u64 {
        clock::nanoseconds()
    }
}
