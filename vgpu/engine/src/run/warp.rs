//! A warp as the engine sees it: what helpers of compiled code ask for while it runs.
//!
//! The methods run on the warp's fiber. They may suspend it, and it may never be resumed:
//! nothing here holds what needs dropping, or a lock, while it suspends. A block's warps run on
//! one thread, one at a time; so plain cells are enough.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use gangway_interpreter::{FaultKind, barrier_count};
use gangway_ptx::Module;

use super::arena::Arena;
use super::barrier::{Arrival, BARRIERS, Barrier};
use super::clock;
use super::fiber::{FiberYielder, Pause};
use super::job::Job;
use super::pace::SHORT;
use super::place::place;
use super::trap::Trap;
use crate::abi::{Flavour, Warp};
use crate::program::Program;
use crate::support::{Arrivals, Host, Ticket};
use crate::unified::Made;

/// Steps back until a warp gives way, where warps are not kept abreast.
pub(crate) const FUEL: i64 = 1024;

/// What a barrier takes, in the time of warps that are kept abreast.
const BARRIER: i64 = 16;

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

    /// Whether none of the barriers that threads have come to will ever be complete, as only `free`
    /// threads do not wait, and each comes to a barrier, which it waits at, or exits.
    #[must_use]
    pub fn is_stuck(&self, free: u32) -> bool {
        let (barriers, alive) = (self.barriers.borrow(), self.alive.get());
        barriers.iter().filter_map(|barrier| barrier.missing(alive)).all(|missing| missing > free)
    }
}

/// What a warp cannot go on for.
#[derive(Debug)]
pub(crate) struct Failure {
    pub kind: FaultKind,
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
    /// The fuel that it goes on with when it is resumed.
    pub ration: Cell<i64>,
    /// Whether fuel is time, because the warps of the block are kept abreast.
    abreast: Cell<bool>,
    /// Whether it has met others since the scheduler last looked.
    pub met: Cell<bool>,
    /// Its number in the block.
    index: Cell<usize>,
    /// Lanes whose exit is already counted in [`BlockState::alive`].
    counted: Cell<u32>,
    /// The frames of functions that lanes wait in.
    frames: Arena,
    pub failure: RefCell<Option<Failure>>,
    /// The signal that it raised.
    pub trap: Cell<Option<Trap>>,
}

impl Default for WarpHost {
    fn default() -> Self {
        WarpHost {
            job: Cell::new(ptr::null()),
            block: Cell::new(ptr::null()),
            yielder: Cell::new(ptr::null()),
            waits: Cell::new(false),
            grid: Cell::new(None),
            ration: Cell::new(FUEL),
            abreast: Cell::new(false),
            met: Cell::new(false),
            index: Cell::new(0),
            counted: Cell::new(0),
            frames: Arena::default(),
            failure: RefCell::new(None),
            trap: Cell::new(None),
        }
    }
}

impl WarpHost {
    /// For a warp of the blocks of a launch: number `index` of each.
    pub fn assign(&self, job: *const Job, index: u32, block: *const BlockState) {
        self.index.set(index as usize);
        self.job.set(job);
        self.block.set(block);
        self.waits.set(false);
        self.grid.set(None);
        self.ration.set(FUEL);
        // SAFETY: the launch outlives its warps.
        self.abreast.set(unsafe { &*job }.program().functions().keep_abreast());
        self.met.set(false);
        self.failure.replace(None);
        self.trap.set(None);
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

    #[must_use]
    pub fn block(&self) -> &BlockState {
        // SAFETY: set before the warp starts, and the block outlives its warps.
        unsafe { &*self.block.get() }
    }

    fn program(&self) -> &Program {
        self.job().program()
    }

    /// Gives control to the scheduler. The warp goes on with new fuel.
    fn suspend(&self, warp: &mut Warp, pause: Pause) {
        // SAFETY: the fiber has set it when it started, and it is the fiber that runs.
        unsafe { (*self.yielder.get()).suspend(pause) }
        warp.fuel = self.ration.get();
    }

    /// The warp does what others may wait for: at a barrier, or with the device's heap. Where warps
    /// are kept abreast, that takes so much time, and no long slice goes on behind it.
    pub fn meet(&self, warp: &mut Warp, time: i64) {
        if !self.abreast.get() {
            return;
        }
        self.met.set(true);
        let cut = (warp.fuel - SHORT).max(0);
        self.ration.set(self.ration.get() - cut);
        warp.fuel -= cut + time;
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
                if barrier.exit(self.index.get(), exited, block.alive.get()) {
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
            self.suspend(warp, Pause::Waits);
        }
    }
}

impl Host for WarpHost {
    fn module(&self) -> &Module {
        self.program().module()
    }

    fn signature(&self, function: usize) -> Option<u64> {
        self.program().functions().signature(function)
    }

    fn fault(&self, warp: &mut Warp, lanes: u32, kind: FaultKind) -> ! {
        let pc = warp.called_from as usize;
        self.failure.replace(Some(Failure { kind, lanes, pc }));
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
        let block = self.block();
        block.used.set(true);
        self.meet(warp, BARRIER);
        let (generation, complete) = {
            let state = &mut block.barriers.borrow_mut()[barrier as usize];
            let arrival = Arrival { warp: self.index.get(), lanes, gone: self.counted.get(), holds, count };
            let generation = state.arrive(arrival, block.alive.get());
            (generation, state.crossed(generation).is_some())
        };
        if complete {
            block.completed.set(true);
            // The lane that comes last lets the others go first. GCC's OpenACC code has the first
            // warp broadcast through memory that the others may still be reading from: with
            // hardware's warps side by side they have always read it by then.
            if self.job().extent.warps() > 1 {
                self.suspend(warp, Pause::Turn);
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
