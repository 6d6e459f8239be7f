//! A warp's memory: its state, its fiber, its local memory. Kept from block to block and
//! from launch to launch.

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::mem::offset_of;
use std::ops::Range;
use std::ptr::{self, NonNull};

use corosensei::CoroutineResult;
use gangway_device_memory::{Space, shadow};
use gangway_interpreter::FaultKind;

use super::barriers::Barriers;
use super::fiber::{End, Fiber, FiberStack, FiberYielder, Pause, RESERVE};
use super::job::Job;
use super::local::LocalMemory;
use super::trap::{self, Running};
use super::warp::WarpHost;
use crate::abi::{ALL, Converged, Flavour, LANES, Masked, Warp};
use crate::support::{HELPERS, Host, start};

/// What a warp did when it was let run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It gave way because its fuel was spent.
    Turn,
    /// It waits now.
    Waits,
    /// It has ended.
    Done,
    /// It cannot go on: what happened is in its host.
    Failed,
}

/// What the warp's fiber and the scheduler both use, in turns.
struct State {
    warp: UnsafeCell<Warp>,
    host: WarpHost,
    /// What `warp.host` points to.
    interface: Cell<*const dyn Host>,
}

/// A warp that a fiber runs.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    host: *const WarpHost,
    warp: *mut Warp,
}

/// What a fiber runs: a warp of a block, or all warps of some blocks one after the other.
pub(crate) struct Part {
    /// The first block, and how many there are.
    pub block: [u32; 3],
    pub blocks: u64,
    pub members: *const [Member],
    /// The address of the block's shared memory.
    pub shared: u64,
    pub worker: u32,
}

impl Part {
    /// # Safety
    /// As for [`Slot::start`], on the fiber that the yielder is of.
    unsafe fn run(self, yielder: *const FiberYielder) {
        // SAFETY: by the caller; what members point to lives as long.
        let members = unsafe { &*self.members };
        // SAFETY: as above.
        let job = unsafe { &*members[0].host }.job();
        // So many of a block's run before the next block's do.
        let together = job.order.together(members.len());
        for members in members.chunks(together) {
            let mut block = self.block;
            for number in 0..self.blocks {
                if number > 0 {
                    block = job.extent.after(block);
                    shadow::undefine(self.shared, job.room.undefined);
                }
                for &Member { host, warp } in members {
                    // SAFETY: as above.
                    unsafe {
                        trap::go_on((*host).failures.trap());
                        (*host).yielder.set(yielder);
                        prepare(&*host, &mut *warp, block, self.shared, self.worker);
                        run_kernel(&*host, warp);
                        (*host).tell_of_lines(&*warp);
                    }
                }
                if self.blocks > 1 {
                    if job.ending.has_come() {
                        return;
                    }
                    // SAFETY: as above.
                    unsafe { &*members[0].host }.barriers().start(job.extent.threads);
                }
            }
        }
    }
}

/// Makes a warp ready for a block.
fn prepare(host: &WarpHost, warp: &mut Warp, block: [u32; 3], shared: u64, worker: u32) {
    let missing = host.job().extent.missing(warp.warp_index);
    warp.block = block;
    warp.shared = ptr::with_exposed_provenance_mut(shared as usize);
    warp.worker = worker;
    warp.exited = missing;
    warp.local_top = host.job().room.local_start;
    warp.fuel = host.time.ration();
    warp.carry = 0;
    (warp.spins, warp.rations, warp.spent_at, warp.spent_in) = (0, 0, 0, 0);
    (warp.frame, warp.frames, warp.waiting.meeting, warp.turns) = (ptr::null_mut(), ptr::null_mut(), 0, 0);
    host.start(missing);
}

pub(crate) struct Slot {
    /// Owned; behind a pointer, because the fiber keeps one to it.
    state: NonNull<State>,
    fiber: Option<Fiber>,
    /// The fiber's stack, while there is no fiber.
    stack: Option<FiberStack>,
    /// The addresses below the stack.
    pub guard: Range<usize>,
    local: Option<(LocalMemory, u64)>,
    running: Option<Running>,
    pub done: bool,
}

impl Slot {
    pub fn new() -> Result<Self, FaultKind> {
        let stack = FiberStack::new().map_err(FaultKind::Launch)?;
        let state = Box::new(State {
            // SAFETY: all zeros is a state of a warp: numbers, and pointers that are null.
            warp: UnsafeCell::new(unsafe { std::mem::zeroed() }),
            host: WarpHost::default(),
            interface: Cell::new(ptr::null::<WarpHost>()),
        });
        let slot = Slot {
            state: NonNull::from(Box::leak(state)),
            fiber: None,
            guard: stack.guard(),
            stack: Some(stack),
            local: None,
            running: None,
            done: true,
        };
        slot.state().interface.set(slot.host());
        // SAFETY: nothing else has the warp yet.
        let warp = unsafe { &mut *slot.warp() };
        warp.host = slot.state().interface.as_ptr().cast();
        warp.stack_limit = (slot.guard.end + RESERVE) as u64;
        Ok(slot)
    }

    fn state(&self) -> &State {
        // SAFETY: it is freed when the slot is dropped; all of it is behind cells.
        unsafe { self.state.as_ref() }
    }

    #[must_use]
    pub fn host(&self) -> &WarpHost {
        &self.state().host
    }

    /// The warp's state, to be used only while its fiber does not run.
    #[must_use]
    pub fn warp(&self) -> *mut Warp {
        self.state().warp.get()
    }

    /// Makes it a warp of the blocks of a launch: number `index` of each.
    pub fn assign(&mut self, job: &Job, index: u32, barriers: *const Barriers) -> Result<(), FaultKind> {
        if self.local.as_ref().is_none_or(|(_, stride)| *stride != job.room.local_stride) {
            self.local = None;
            let memory = LocalMemory::new(job.room.local_stride, LANES).map_err(FaultKind::Launch)?;
            self.local = Some((memory, job.room.local_stride));
        }
        self.host().assign(job, index, barriers);
        let functions = job.program().functions();
        // SAFETY: the fiber does not run.
        let warp = unsafe { &mut *self.warp() };
        warp.functions = job.kernel.functions().as_ptr();
        warp.helpers = HELPERS.as_ptr().cast();
        warp.symbols = functions.symbols().as_ptr();
        warp.parameters = job.room.parameters.as_ptr();
        warp.shared_size = job.room.shared;
        warp.local = self.local.as_ref().map_or(ptr::null_mut(), |(memory, _)| memory.start());
        warp.local_stride = job.room.local_stride;
        warp.grid = job.extent.grid;
        warp.threads = job.extent.block;
        warp.warp_index = index;
        warp.warps = job.extent.warps() as u32;
        warp.workers = job.workers;
        warp.dynamic_shared = job.room.dynamic_shared;
        warp.grid_id = job.id;
        if let Ok(space) = Space::get() {
            warp.windows.refresh(space);
            warp.freed = space.freed();
        }
        warp.workspace = job.room.workspace();
        for lane in 0..LANES {
            let thread = job.extent.thread(index * LANES as u32 + lane as u32);
            for (side, place) in warp.thread.iter_mut().zip(thread) {
                side[lane] = place;
            }
        }
        Ok(())
    }

    /// What a fiber needs of the warp.
    #[must_use]
    pub fn member(&self) -> Member {
        Member { host: self.host(), warp: self.warp() }
    }

    /// Starts a fiber that runs its part of a launch.
    ///
    /// # Safety
    /// The members are those of slots that are assigned to the launch and live as long as the
    /// fiber, and stay where they are as long.
    pub unsafe fn start(&mut self, part: Part) {
        self.done = false;
        let Some(stack) = self.stack.take() else { return };
        let fiber = Fiber::with_stack(stack, move |yielder, ()| {
            // SAFETY: by the caller; the yielder lives as long as the fiber.
            unsafe { part.run(yielder) };
            End::Done
        });
        self.running =
            Some(Running { handler: fiber.trap_handler(), notes: Cell::new(self.host().failures.trap()) });
        self.fiber = Some(fiber);
    }

    /// Whether it is this warp that something happened to.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.host().failures.has_any()
    }

    /// Whether it can go on.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let host = self.host();
        !self.done && host.wait.is_over(|generation| host.job().grid.passed(generation))
    }

    /// What it has used of the fuel that it was last let run with.
    #[must_use]
    pub fn used(&self) -> i64 {
        // SAFETY: the fiber does not run.
        self.host().time.used(unsafe { (*self.warp()).fuel })
    }

    /// Lets it run until it gives back control, with so much fuel.
    pub fn step(&mut self, fuel: i64) -> Step {
        self.host().time.grant(fuel);
        let (Some(fiber), Some(running)) = (self.fiber.as_mut(), self.running.as_ref()) else {
            return Step::Done;
        };
        trap::enter(running);
        let result = fiber.resume(());
        trap::enter(ptr::null());
        match result {
            CoroutineResult::Yield(Pause::Turn) => Step::Turn,
            CoroutineResult::Yield(Pause::Waits) => Step::Waits,
            CoroutineResult::Yield(Pause::Fault) => Step::Failed,
            CoroutineResult::Return(End::Trapped) => Step::Failed,
            CoroutineResult::Return(End::Done) => {
                self.host().note_exits(ALL);
                self.reclaim();
                Step::Done
            }
        }
    }

    /// Gives it up: it has failed, or another warp has.
    pub fn abandon(&mut self) {
        // SAFETY: the fiber does not run.
        self.host().tell_of_lines(unsafe { &*self.warp() });
        self.reclaim();
        // What fails may have used all of its stack.
        if let Some(stack) = &self.stack {
            stack.trim();
        }
    }

    /// Ends it wherever it is, and takes its stack back.
    fn reclaim(&mut self) {
        self.done = true;
        self.running = None;
        if let Some(mut fiber) = self.fiber.take() {
            // SAFETY: nothing on a fiber's stack needs dropping, by the rules of helpers.
            unsafe { fiber.force_reset() };
            self.stack = Some(fiber.into_stack());
        }
    }
}

/// The engine's side of a warp that runs, for functions that the engine provides.
///
/// # Safety
/// The warp is a slot's, and `'a` no longer than its fiber runs.
pub(crate) unsafe fn host_of<'a>(warp: *mut Warp) -> &'a WarpHost {
    // SAFETY: `Slot::new` has made the pointer lead to a field of the state.
    unsafe { &(*(*warp).host.byte_sub(offset_of!(State, interface)).cast::<State>()).host }
}

/// Runs a kernel with the lanes of a warp that are there.
///
/// # Safety
/// `warp` is ready to run, on this fiber.
unsafe fn run_kernel(host: &WarpHost, warp: *mut Warp) {
    // SAFETY: the state is as the ABI says, and the code is the kernel's.
    unsafe {
        let exited = (*warp).exited;
        let kernel = &host.job().kernel;
        let function = kernel.function;
        let (flavour, code) = match exited {
            0 => kernel.entry(),
            _ => (Flavour::Masked, host.code(&mut *warp, function, Flavour::Masked, !exited)),
        };
        let none: *const *mut c_void = ptr::null();
        if flavour == Flavour::Converged {
            let run: Converged = std::mem::transmute(code);
            run(warp, none);
        } else if host.waits(function) {
            start(warp, function, none, !exited);
        } else {
            let run: Masked = std::mem::transmute(code);
            run(warp, none, ptr::null_mut(), !exited);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.reclaim();
        // SAFETY: it came from a box in `new`, and the fiber that used it is gone.
        drop(unsafe { Box::from_raw(self.state.as_ptr()) });
    }
}
