//! Threads that run work-groups of kernels beside the queues' own threads, as many as `GANGWAY_VGPU_WORKERS`
//! says, less one.
//!
//! A queue's thread runs its kernel itself and offers it to them. Whoever has time takes work-groups until
//! there are none left.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use gangway_device_memory::Space;
use gangway_gcn_interpreter::{Dispatch, Fault, FaultKind, Scratch, launch_part};

use super::Queue;
use super::memory::Device;
use super::scratch::Private;
use crate::objects::agent::Agent;

/// A kernel that runs.
pub(super) struct Job {
    pub queue: Arc<Queue>,
    pub agent: &'static Agent,
    pub space: &'static Space,
    /// With the scratch memory of the queue's thread.
    pub dispatch: Dispatch,
    /// The first work-group that nobody has taken.
    next: AtomicU64,
    groups: u64,
    state: Mutex<State>,
    done: Condvar,
}

#[derive(Default)]
struct State {
    helpers: u32,
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
    pub fn new(queue: &Arc<Queue>, agent: &'static Agent, space: &'static Space, dispatch: Dispatch) -> Self {
        let groups = dispatch.packet.groups().map(u64::from).iter().product();
        let (next, state, done) = (AtomicU64::new(0), Mutex::default(), Condvar::new());
        Self { queue: Arc::clone(queue), agent, space, dispatch, next, groups, state, done }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_open(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.groups
    }

    /// Runs the kernel to its end.
    pub fn run(self) -> Result<(), Box<Fault>> {
        let helpers = u64::from(self.agent.config().workers - 1).min(self.groups.saturating_sub(1));
        let job = Arc::new(self);
        if helpers > 0 {
            job.offer(helpers as u32);
        }
        job.work(job.dispatch.scratch);
        if helpers > 0 {
            pool().jobs.retain(|other| !Arc::ptr_eq(other, &job));
        }
        let mut state = job.state();
        while state.helpers > 0 {
            state = job.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.fault.take().map_or(Ok(()), Err)
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
        if let Err(fault) = launch_part(&Device::new(self.space), &dispatch, &self.next, stop) {
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
                if let Some(job) = pool.jobs.iter().find(|job| job.is_open()) {
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
                job.fail(FaultKind::Unsupported("what a bug in the virtual GPU has broken".to_owned()));
            }
        }
        job.state().helpers -= 1;
        job.done.notify_all();
    }
}
