//! The worker threads of an engine, which all its launches share.
//!
//! The launching thread takes part in its own launch, so a launch of one block needs no other.
//! Others wake up as there are blocks for them. Threads start when they are of use. They end
//! with the engine, and when there has been nothing for them for a while: a process goes on as long
//! as it has threads, and its main thread may have left by `pthread_exit`.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use gangway_interpreter::FaultKind;

use super::job::Job;
use super::worker::Worker;
use crate::device::Device;
use crate::fault::{Fault, Place};

/// Blocks that a worker keeps between launches.
const KEPT_BLOCKS: usize = 4;
/// Workers of launching threads that are kept.
const KEPT_WORKERS: usize = 32;
/// So long does a thread with nothing to do look for more before it sleeps: the next launch often
/// comes right after the last, and to wake a thread takes longer than many launches do.
const LOOKS: Duration = Duration::from_micros(100);
/// So long does a thread stay that has nothing to do.
const STAYS: Duration = Duration::from_secs(1);
/// So long without letting other threads have the processor.
const SPINS: Duration = Duration::from_micros(10);

pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// What launching threads work with.
    free: Mutex<Vec<Worker>>,
}

#[derive(Debug)]
struct Shared {
    device: Arc<Device>,
    /// Of the device, launching threads included.
    workers: usize,
    state: Mutex<State>,
    /// There is a launch with blocks, or the engine ends.
    wake: Condvar,
    /// A worker has left a launch.
    left: Condvar,
    /// Goes up when there is a launch with blocks, or the engine ends: what workers look at before
    /// they sleep.
    offers: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Entry>,
    /// Threads of the pool that have nothing to do.
    idle: usize,
    /// Those of them that sleep.
    asleep: usize,
    /// Numbers of workers that have no thread; the last is used next.
    free: Vec<u32>,
    ends: bool,
}

#[derive(Debug)]
struct Entry {
    job: Arc<Job>,
    /// Threads of the pool that are at it.
    at_it: usize,
}

/// Takes part in a launch. A panic is an error of the engine's own; it ends the launch, and not
/// the process.
fn run(worker: &mut Worker, device: &Device, job: &Job, number: u32) {
    if catch_unwind(AssertUnwindSafe(|| worker.run(device, job, number))).is_err() {
        *worker = Worker::default();
        let kind = FaultKind::Launch("the engine panicked".to_owned());
        job.ending.fail(Fault::new(device, job.kernel.name(), &kind, &Place::default()));
    }
    worker.trim(KEPT_BLOCKS);
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes others while a launch has blocks for them. A thread that wakes does the same, so that
    /// many are woken soon and no thread has to wake them all.
    fn call(&self, job: &Job, asleep: usize) {
        const AT_ONCE: usize = 2;
        for _ in 0..AT_ONCE.min(asleep) {
            if job.handout.has_more() {
                self.wake.notify_one();
            }
        }
    }

    /// What a thread of the pool does.
    fn work(&self, number: u32) {
        let mut worker = Worker::default();
        let mut state = self.lock();
        loop {
            let open = state
                .jobs
                .iter_mut()
                .find(|entry| entry.job.handout.has_more() && !entry.job.ending.has_come());
            if let Some(entry) = open {
                entry.at_it += 1;
                let (job, asleep) = (entry.job.clone(), state.asleep);
                drop(state);
                self.call(&job, asleep);
                run(&mut worker, &self.device, &job, number);
                state = self.lock();
                if let Some(entry) = state.jobs.iter_mut().find(|entry| entry.job.id == job.id) {
                    entry.at_it -= 1;
                }
                self.left.notify_all();
            } else if state.ends {
                return;
            } else {
                state.idle += 1;
                let offered;
                (state, offered) = self.rest(state);
                state.idle -= 1;
                if !offered {
                    state.free.push(number);
                    return;
                }
            }
        }
    }

    /// Waits for something to do: looks for a while, and then sleeps. `false` if nothing came.
    fn rest<'a>(&'a self, state: MutexGuard<'a, State>) -> (MutexGuard<'a, State>, bool) {
        let seen = self.offers.load(Ordering::Relaxed);
        drop(state);
        let found = look(|| self.offers.load(Ordering::Relaxed) != seen);
        let mut state = self.lock();
        // The offering thread has the lock: nothing can have come since.
        if !found && self.offers.load(Ordering::Relaxed) == seen {
            let nothing = |_: &mut State| self.offers.load(Ordering::Relaxed) == seen;
            state.asleep += 1;
            let woken = self.wake.wait_timeout_while(state, STAYS, nothing);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
            state.asleep -= 1;
        }
        let offered = self.offers.load(Ordering::Relaxed) != seen;
        (state, offered)
    }
}

/// Waits a little for something that is soon to be expected, whether it has come.
fn look(mut come: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..32 {
            if come() {
                return true;
            }
            std::hint::spin_loop();
        }
        let elapsed = start.elapsed();
        if elapsed > LOOKS {
            return false;
        }
        if elapsed > SPINS {
            thread::yield_now();
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl Pool {
    #[must_use]
    pub fn new(device: Arc<Device>, workers: usize) -> Self {
        let workers = workers.max(1);
        let state = State { free: (1..workers as u32).rev().collect(), ..State::default() };
        let (state, wake, left) = (Mutex::new(state), Condvar::new(), Condvar::new());
        let offers = AtomicU64::new(0);
        let shared = Arc::new(Shared { device, workers, state, wake, left, offers });
        Pool { shared, threads: Mutex::default(), free: Mutex::default() }
    }

    /// Runs a launch to its end.
    #[must_use]
    pub fn run(&self, job: Job) -> Arc<Job> {
        let job = Arc::new(job);
        let others = job.handout.employs(self.shared.workers).saturating_sub(1);
        if others > 0 {
            self.offer(&job, others);
        }
        let mut worker = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        run(&mut worker, &self.shared.device, &job, 0);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < KEPT_WORKERS {
            free.push(worker);
        }
        drop(free);
        if others > 0 {
            self.withdraw(&job);
        }
        job
    }

    /// Lets threads of the pool take blocks of a launch.
    fn offer(&self, job: &Arc<Job>, others: usize) {
        let mut state = self.shared.lock();
        state.jobs.push_back(Entry { job: job.clone(), at_it: 0 });
        let stay = state.free.len().saturating_sub(others.saturating_sub(state.idle));
        let numbers = state.free.split_off(stay);
        let asleep = state.asleep;
        self.shared.offers.fetch_add(1, Ordering::Relaxed);
        drop(state);
        self.shared.call(job, asleep);
        for number in numbers.into_iter().rev() {
            let shared = self.shared.clone();
            let name = format!("gangway-vgpu-{number}");
            let Ok(thread) = thread::Builder::new().name(name).spawn(move || shared.work(number)) else {
                // The launch goes on with fewer.
                self.shared.lock().free.push(number);
                continue;
            };
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            threads.retain(|thread| !thread.is_finished());
            threads.push(thread);
        }
    }

    /// Waits until no thread of the pool is at a launch any more.
    fn withdraw(&self, job: &Arc<Job>) {
        // Most of the time they are in their last blocks.
        look(|| self.shared.lock().jobs.iter().all(|entry| entry.job.id != job.id || entry.at_it == 0));
        let mut state = self.shared.lock();
        loop {
            let Some(at) = state.jobs.iter().position(|entry| entry.job.id == job.id) else { return };
            if state.jobs[at].at_it == 0 {
                state.jobs.remove(at);
                return;
            }
            state = self.shared.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.ends = true;
        self.shared.offers.fetch_add(1, Ordering::Relaxed);
        drop(state);
        self.shared.wake.notify_all();
        for thread in self.threads.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // A worker that panicked has said so.
            let _ = thread.join();
        }
    }
}
