//! Threads that run work-groups of kernels beside the queues' own threads, as many as `GANGWAY_VGPU_WORKERS`
//! says, less one.
//!
//! A queue's thread runs its kernel itself and offers it to them. Whoever has time takes work-groups until
//! there are none left.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use gangway_device_memory::Space;
use gangway_gcn_interpreter::{Dispatch, Fault, FaultKind, Groups, Scratch, launch_part};

use super::Queue;
use super::memory::Device;
use super::scratch::Private;
use crate::objects::agent::Agent;

/// What has no place in the kernel.
const BUG: &str = "what a bug in the virtual GPU has broken";

/// How long a launch waits for its code before it begins without.
const PATIENCE: Duration = Duration::from_millis(20);

/// A kernel that runs.
pub(super) struct Job {
    pub queue: Arc<Queue>,
    pub agent: &'static Agent,
    pub space: &'static Space,
    /// With the scratch memory of the queue's thread.
    pub dispatch: Dispatch,
    groups: Groups,
    state: Mutex<State>,
    done: Condvar,
}

#[derive(Default)]
struct State {
    helpers: u32,
    /// Code may come for what nobody has taken.
    waits: bool,
    fault: Option<Box<Fault>>,
}

struct Pool {
    jobs: Vec<Arc<Job>>,
    threads: u32,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { jobs: Vec::new(), threads: 0 });
static OFFERED: Condvar = Condvar::new();

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Job {
    /// A launch of which code `waits` to run a part, or not.
    pub fn new(
        queue: &Arc<Queue>,
        agent: &'static Agent,
        space: &'static Space,
        dispatch: Dispatch,
        waits: bool,
    ) -> Arc<Self> {
        let groups = Groups::new(dispatch.packet.groups().map(u64::from).iter().product(), waits);
        let state = Mutex::new(State { waits, ..State::default() });
        let (queue, done) = (Arc::clone(queue), Condvar::new());
        Arc::new(Self { queue, agent, space, dispatch, groups, state, done })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits a moment for code: most kernels have it soon.
    pub fn wait(&self) {
        let waited = self.done.wait_timeout_while(self.state(), PATIENCE, |state| state.waits);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// There is code for work-groups that nobody has taken, which `run` runs from a number on, or there is none. `run`
    /// answers `None` if it has not run any after all.
    pub fn hand_over(&self, run: Option<impl FnOnce(u64) -> Option<Result<(), Box<Fault>>>>) {
        let mut state = self.state();
        state.helpers += 1;
        let first = run.and_then(|run| self.groups.take_rest().map(|first| (first, run)));
        self.groups.several();
        state.waits = false;
        drop(state);
        self.done.notify_all();
        if let Some((first, run)) = first {
            match catch_unwind(AssertUnwindSafe(|| run(first))) {
                Ok(Some(Ok(()))) => {}
                Ok(Some(Err(fault))) => self.note(fault),
                Ok(None) => self.groups.give_back(first),
                Err(_) => self.fail(FaultKind::Unsupported(BUG.to_owned())),
            }
        }
        self.leave();
    }

    /// Runs the kernel to its end.
    pub fn run(self: &Arc<Self>) -> Result<(), Box<Fault>> {
        let workers = u64::from(self.agent.config().workers);
        loop {
            // This thread takes one itself.
            let helpers = self.groups.left().min(workers).saturating_sub(1);
            if helpers > 0 {
                self.offer(helpers as u32);
            }
            self.work(self.dispatch.scratch);
            if helpers > 0 {
                pool().jobs.retain(|other| !Arc::ptr_eq(other, self));
            }
            let mut state = self.state();
            while state.helpers > 0 {
                state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if let Some(fault) = state.fault.take() {
                // Code that comes now has nothing to run.
                let _ = self.groups.take_rest();
                return Err(fault);
            }
            // Some may have been given back.
            if !self.groups.is_open() {
                return Ok(());
            }
        }
    }

    fn leave(&self) {
        self.state().helpers -= 1;
        self.done.notify_all();
    }

    fn offer(self: &Arc<Self>, helpers: u32) {
        let mut pool = pool();
        while pool.threads < self.agent.config().workers - 1 {
            let thread = thread::Builder::new().name("gangway-hsa-work".to_owned());
            if thread.spawn(help).is_err() {
                break;
            }
            pool.threads += 1;
        }
        pool.jobs.push(Arc::clone(self));
        drop(pool);
        (0..helpers).for_each(|_| OFFERED.notify_one());
    }

    /// Runs work-groups until there are none left. The first failure stops the others.
    fn work(&self, scratch: Scratch) {
        let dispatch = Dispatch { scratch, ..self.dispatch };
        let stop = &self.queue.stop;
        // Most accesses of unoptimised code are to private memory.
        let held = self.space.hold(scratch.base, scratch.size);
        let memory = held.as_ref().map_or_else(
            || Device::new(self.space),
            |held| Device::within(self.space, scratch.base, scratch.size, held),
        );
        if let Err(fault) = launch_part(&memory, &dispatch, &self.groups, stop) {
            self.note(fault);
        }
    }

    /// Some of the kernel has failed.
    fn note(&self, fault: Box<Fault>) {
        let mut state = self.state();
        let known = state.fault.as_ref().is_some_and(|known| known.kind != FaultKind::Stopped);
        if !known {
            state.fault = Some(fault);
        }
        // No packet comes after one that has failed, so the queue is not to go on.
        self.queue.stop.store(true, Ordering::Release);
    }

    /// It has failed at no known place.
    fn fail(&self, kind: FaultKind) {
        let kernel = self.dispatch.packet.kernel_object;
        let instruction = String::new();
        self.note(Box::new(Fault {
            kind,
            kernel,
            address: 0,
            offset: 0,
            instruction,
            group: [0; 3],
            wave: 0,
            lane: None,
        }));
    }
}

/// The work of a thread of the pool.
fn help() {
    loop {
        let job = {
            let mut pool = pool();
            loop {
                if let Some(job) = pool.jobs.iter().find(|job| job.groups.is_open()) {
                    // Under the lock: the queue's thread does not miss it.
                    job.state().helpers += 1;
                    break Arc::clone(job);
                }
                pool = OFFERED.wait(pool).unwrap_or_else(PoisonError::into_inner);
            }
        };
        // Without memory for another part the others run it.
        if let Ok(private) = Private::new(job.agent, &job.dispatch.packet) {
            let worked = catch_unwind(AssertUnwindSafe(|| job.work(private.scratch())));
            if worked.is_err() {
                job.fail(FaultKind::Unsupported(BUG.to_owned()));
            }
        }
        job.leave();
    }
}
