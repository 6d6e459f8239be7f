//! The threads that run what no waiting thread runs.
//!
//! A stream is put here when it has work that may begin. There are as many workers as processors.
//! More are started when all are busy for a while and streams still wait: the operations may be
//! waiting for each other. A kernel may wait for a flag that another sets, a host function for
//! anything. Workers beyond the usual number end when they have nothing to do. The others end when
//! they have had nothing to do for a while: a process goes on as long as it has threads, and its main
//! thread may have left by `pthread_exit`.
//!
//! One worker at a time looks for work for a moment before it sleeps. So a program that launches
//! and synchronises in a loop makes no system calls.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::process;
use crate::sync::{AtomicUsize, Condvar, Mutex, Ordering, Spin, lock, sleep_for, thread};

/// The lowest and the highest priority a stream can have (low numbers go first).
pub(crate) const PRIORITIES: std::ops::RangeInclusive<i32> = -5..=0;
const LANES: usize = 6;

/// As many operations as a card runs at once.
#[cfg(not(loom))]
const MOST_WORKERS: usize = 128;
/// As much as main threads have: host functions are the program's, and launches compile kernels.
#[cfg(not(loom))]
const WORKER_STACK: usize = 8 << 20;
/// So long does a worker without work stay.
const STAYS: std::time::Duration = std::time::Duration::from_secs(1);
/// How long streams wait before one more worker is started.
#[cfg(not(loom))]
const PATIENCE: std::time::Duration = std::time::Duration::from_micros(200);
/// Looks without need before the watch ends.
#[cfg(not(loom))]
const CALM: u32 = 50;

/// What has work for the pool: the queue of a stream.
pub(crate) trait Work: std::fmt::Debug + Send + Sync + 'static {
    /// One of [`PRIORITIES`].
    fn priority(&self) -> i32;

    /// A worker has taken it out of the pool.
    fn run_by_worker(self: &Arc<Self>);
}

#[derive(Debug)]
pub(crate) struct Pool<W> {
    inner: Mutex<Inner<W>>,
    /// For workers that sleep.
    work: Condvar,
    /// Streams in the lanes.
    waiting: AtomicUsize,
    /// The usual number of workers.
    usual: usize,
}

#[derive(Debug)]
struct Inner<W> {
    /// Streams with work, by priority.
    lanes: [VecDeque<Arc<W>>; LANES],
    workers: usize,
    sleeping: usize,
    /// Sleepers that have been notified and do not know it yet.
    notified: usize,
    /// A worker is looking at `waiting`.
    looking: bool,
    /// A thread watches whether all workers are stuck.
    watched: bool,
    /// How many streams have been taken out.
    taken: u64,
    closed: bool,
}

impl<W> Inner<W> {
    fn new() -> Self {
        Self {
            lanes: [const { VecDeque::new() }; LANES],
            workers: 0,
            sleeping: 0,
            notified: 0,
            looking: false,
            watched: false,
            taken: 0,
            closed: false,
        }
    }

    fn is_empty(&self) -> bool {
        self.lanes.iter().all(VecDeque::is_empty)
    }

    fn pop(&mut self) -> Option<Arc<W>> {
        self.lanes.iter_mut().find_map(VecDeque::pop_front)
    }
}

/// What is to be called for waiting streams.
#[must_use]
enum Call {
    Nobody,
    Sleeper,
    NewWorker,
    Watch,
}

impl<W: Work> Pool<W> {
    pub(crate) fn new(usual: usize) -> Arc<Self> {
        Arc::new(Self {
            inner: Mutex::new(Inner::new()),
            work: Condvar::new(),
            waiting: AtomicUsize::new(0),
            usual,
        })
    }

    /// A pool for this machine.
    #[cfg(not(loom))]
    pub(crate) fn for_processors() -> Arc<Self> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self::new(processors.clamp(2, MOST_WORKERS))
    }

    /// Streams wait for a worker.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Takes a stream that has work. Called with no lock held.
    pub(crate) fn announce(self: &Arc<Self>, stream: Arc<W>) {
        let mut inner = lock(&self.inner);
        let lane = stream.priority() - PRIORITIES.start();
        inner.lanes[lane as usize].push_back(stream);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let call = self.whom_to_call(&mut inner);
        drop(inner);
        self.call(call);
    }

    fn whom_to_call(&self, inner: &mut Inner<W>) -> Call {
        if inner.looking || inner.is_empty() {
            Call::Nobody
        } else if inner.sleeping > inner.notified {
            inner.notified += 1;
            Call::Sleeper
        } else if inner.workers < self.usual {
            inner.workers += 1;
            Call::NewWorker
        } else if inner.watched {
            Call::Nobody
        } else {
            inner.watched = true;
            Call::Watch
        }
    }

    fn call(self: &Arc<Self>, call: Call) {
        match call {
            Call::Nobody => {}
            Call::Sleeper => self.work.notify_one(),
            Call::NewWorker => self.start_worker(),
            Call::Watch => self.start_watch(),
        }
    }

    /// Starts a worker that has been counted already.
    fn start_worker(self: &Arc<Self>) {
        let pool = self.clone();
        let worker = thread::Builder::new().name("vgpu-stream".into());
        #[cfg(not(loom))]
        let worker = worker.stack_size(WORKER_STACK);
        let started = process::without_signals(|| worker.spawn(move || pool.work()));
        if started.is_err() {
            let mut inner = lock(&self.inner);
            inner.workers -= 1;
            let alone = inner.workers == 0;
            drop(inner);
            // No thread is to be had: the caller must do it now, or it is never done.
            while alone && let Some(stream) = self.take() {
                stream.run_by_worker();
            }
        }
    }

    /// The life of a worker.
    fn work(self: &Arc<Self>) {
        while let Some(stream) = self.next() {
            stream.run_by_worker();
        }
    }

    fn take(&self) -> Option<Arc<W>> {
        let mut inner = lock(&self.inner);
        let stream = inner.pop()?;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        inner.taken += 1;
        Some(stream)
    }

    /// The next stream with work; none if the worker is to end.
    fn next(self: &Arc<Self>) -> Option<Arc<W>> {
        let mut inner = lock(&self.inner);
        let mut looked = false;
        loop {
            if let Some(stream) = inner.pop() {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                inner.taken += 1;
                let call = self.whom_to_call(&mut inner);
                drop(inner);
                self.call(call);
                return Some(stream);
            }
            if inner.closed || inner.sleeping >= self.usual {
                inner.workers -= 1;
                return None;
            }
            if !inner.looking && !looked {
                inner.looking = true;
                drop(inner);
                let mut spin = Spin::new();
                while !self.has_waiting() && spin.again() {}
                inner = lock(&self.inner);
                inner.looking = false;
                looked = true;
                continue;
            }
            inner.sleeping += 1;
            let slept;
            (inner, slept) = sleep_for(&self.work, inner, STAYS);
            inner.sleeping -= 1;
            // Whoever has been notified is as good as another: all sleep for the same.
            if slept && inner.notified == 0 && inner.is_empty() {
                inner.workers -= 1;
                return None;
            }
            inner.notified = inner.notified.saturating_sub(1);
            looked = false;
        }
    }

    #[cfg(loom)]
    fn start_watch(&self) {}

    /// Starts the thread that starts more workers when all are stuck.
    #[cfg(not(loom))]
    fn start_watch(self: &Arc<Self>) {
        let pool = self.clone();
        let started = process::without_signals(|| {
            thread::Builder::new().name("vgpu-watch".into()).spawn(move || pool.watch())
        });
        if started.is_err() {
            lock(&self.inner).watched = false;
        }
    }

    #[cfg(not(loom))]
    fn watch(self: &Arc<Self>) {
        let mut taken = u64::MAX;
        let mut calm = 0;
        loop {
            thread::sleep(PATIENCE);
            let mut inner = lock(&self.inner);
            if inner.is_empty() {
                calm += 1;
                if calm > CALM {
                    inner.watched = false;
                    return;
                }
            } else {
                calm = 0;
                if inner.taken == taken && inner.workers < MOST_WORKERS {
                    inner.workers += 1;
                    drop(inner);
                    self.start_worker();
                    continue;
                }
            }
            taken = inner.taken;
        }
    }

    /// Without workers, and without a watch that would start one.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn without_workers() -> Arc<Self> {
        let pool = Self::new(0);
        lock(&pool.inner).watched = true;
        pool
    }

    /// Lets the workers end once there is nothing left to do. Only models end.
    #[cfg(all(test, loom))]
    pub(crate) fn close(&self) {
        lock(&self.inner).closed = true;
        self.work.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Numbered {
        priority: i32,
        number: usize,
    }

    impl Work for Numbered {
        fn priority(&self) -> i32 {
            self.priority
        }

        fn run_by_worker(self: &Arc<Self>) {}
    }

    #[test]
    fn urgent_streams_are_taken_first_and_equal_ones_in_turn() {
        let pool = Pool::without_workers();
        for (number, priority) in [0, -1, -5, -1].into_iter().enumerate() {
            pool.announce(Arc::new(Numbered { priority, number }));
        }
        assert!(pool.has_waiting());
        let taken: Vec<_> = std::iter::from_fn(|| pool.take()).map(|work| work.number).collect();
        assert_eq!(taken, [2, 1, 3, 0]);
        assert!(!pool.has_waiting());
    }
}
