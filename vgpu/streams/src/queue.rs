//! The queue of a stream: which thread runs its operations, when they may begin, and which threads
//! are told that they have ended.
//!
//! Called by streams and by the pool. This is the part that must not lose a wake-up, and what
//! `loom_tests` checks. Rules that it lives by:
//!
//! * Positions are counted: the n-th entry of a stream's life is done when `completed >= n`.
//! * A thread that moves the state to `Running`, under the lock, runs entries until it moves it
//!   away again. No other thread touches the front of the queue meanwhile.
//! * A stream whose state is `Ready` is in the pool, or will be as soon as the thread that made it
//!   so goes on. It may be in the pool without being ready: then another thread was quicker, and
//!   the worker leaves it alone.
//! * A stream whose front waits for another stream is `Blocked` and among the other's dependents.
//!   Streams only ever wait for positions that exist already, so there are no cycles.
//! * When the context fails, threads that wait for a position stop waiting, unless work of the
//!   device is under way. That work ends by itself, and may be using memory of the thread that
//!   waits. What has not begun by then never will, but callbacks.
//! * One queue's lock is never held while that of another queue or of the pool is taken, and none
//!   while an operation runs. The context's `order` is taken before a queue's lock.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use crate::clock::{Clock, Known};
use crate::error::Failure;
use crate::id::next_id;
use crate::known;
use crate::order::{Domain, Member};
use crate::pool::{PRIORITIES, Pool, Work};
use crate::process::{self, Running, has_stack};
use crate::sync::{AtomicBool, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, Spin, lock, sleep};
use crate::task::Task;

/// After so many operations a worker looks whether other streams wait for one.
const TURN: u32 = 16;

/// A thread that waits looks after so many rounds whether there is something it can do.
const HELP: u32 = 32;

/// Everything up to `sequence` in a stream.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    pub(crate) queue: Arc<Queue>,
    pub(crate) sequence: u64,
    /// What comes before it, where that is kept.
    known: Option<Arc<Clock>>,
}

impl Position {
    pub(crate) fn reached(&self) -> bool {
        self.queue.reached(self.sequence)
    }

    /// Whether nobody has to wait for it, nor to know that it comes before what follows.
    pub(crate) fn is_past(&self) -> bool {
        self.queue.is_past(self.sequence)
    }

    /// The program knows that it has been reached.
    pub(crate) fn tell_program(&self) {
        known::program_learns(self.known.as_ref());
    }

    /// Reached, or never to be: what has failed is not waited for.
    fn passed(&self) -> bool {
        self.reached() || self.queue.domain.has_failed()
    }
}

/// Which threads may run a task, and what becomes of it when the context has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Work of the device: anybody may run it; skipped after a failure.
    Device,
    /// A function of the program, or something that waits for the program: only workers run it;
    /// skipped after a failure.
    Host,
    /// As `Host`, but it is called after a failure too, and told.
    Callback,
    /// As `Callback`, but the program does not hear of it.
    Notice,
}

/// An entry of a queue.
pub(crate) enum Operation {
    /// The next one comes after these.
    Know(Arc<Clock>),
    Run(Task, Class),
    Wait(Position),
    /// Notes the time in the event, if it is still this record that counts.
    Stamp(Arc<dyn Stamped>, u64),
}

/// What has a time when it is passed: an event.
pub(crate) trait Stamped: Send + Sync {
    /// The place of a record has been passed.
    fn stamp(&self, record: u64);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Ready,
    Running,
    Blocked,
}

/// The operations of a stream, which they outlive while they are not done. No two share a cache
/// line, as different threads use them.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Queue {
    pub(crate) domain: Arc<Domain<Self>>,
    inner: Mutex<Inner>,
    /// For threads that sleep until a position is reached.
    progress: Condvar,
    /// Positions of the last entry submitted and of the last that has ended. Written under the
    /// lock.
    submitted: AtomicU64,
    completed: AtomicU64,
    /// Among the streams that the legacy stream is to wait for. Belongs to the context's `order`.
    pub(crate) listed: AtomicBool,
    is_legacy: bool,
    priority: i32,
    id: u64,
    /// What its last operation, and so the next one, comes after.
    known: Known,
    /// Where it is kept what comes before what: its number there, and on whose behalf its last operation was submitted.
    number: std::sync::atomic::AtomicU64,
    submitter: std::sync::atomic::AtomicU64,
    /// What the operation that runs, or runs next, comes after.
    next: Mutex<Option<Arc<Clock>>>,
}

/// So often is a stream taken for another one: who looks for races keeps all numbers.
const MOST_TIMES: u64 = 1 << 10;

/// The pool of the process.
#[cfg(not(loom))]
pub(crate) fn shared_pool() -> Arc<Pool<Queue>> {
    static SHARED: std::sync::OnceLock<Arc<Pool<Queue>>> = std::sync::OnceLock::new();
    SHARED.get_or_init(Pool::for_processors).clone()
}

struct Inner {
    operations: VecDeque<Operation>,
    state: State,
    /// In the pool, or about to be put there.
    queued: bool,
    /// Work of the device is under way; never so when `state` is not `Running`.
    at_work: bool,
    /// Blocked streams, each with the position it waits for.
    dependents: Vec<(u64, Arc<Queue>)>,
    /// The lowest position that a sleeping thread waits for.
    wake_at: u64,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the streams: they may wait for each other's neighbours, and print on and on.
        f.debug_struct("Inner")
            .field("operations", &self.operations.len())
            .field("state", &self.state)
            .finish()
    }
}

/// What [`Queue::push`] did.
pub(crate) struct Pushed {
    /// The position after which everything that was pushed is done.
    pub(crate) sequence: u64,
    /// The caller must call [`Queue::announce`], when it holds no lock.
    pub(crate) announce: bool,
}

impl Work for Queue {
    fn priority(&self) -> i32 {
        self.priority
    }

    fn run_by_worker(self: &Arc<Self>) {
        let mut inner = lock(&self.inner);
        inner.queued = false;
        if inner.state == State::Ready {
            inner.state = State::Running;
            self.execute(inner, None);
        }
    }
}

impl Member for Queue {
    fn release_waiters(&self) {
        let mut inner = lock(&self.inner);
        let dependents = std::mem::take(&mut inner.dependents);
        drop(inner);
        self.progress.notify_all();
        for (_, queue) in dependents {
            queue.unblock();
        }
    }
}

impl Queue {
    pub(crate) fn new(domain: &Arc<Domain<Self>>, is_legacy: bool, priority: i32) -> Arc<Self> {
        let queue = Arc::new(Self {
            domain: domain.clone(),
            inner: Mutex::new(Inner {
                operations: VecDeque::new(),
                state: State::Idle,
                queued: false,
                at_work: false,
                dependents: Vec::new(),
                wake_at: u64::MAX,
            }),
            progress: Condvar::new(),
            submitted: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            listed: AtomicBool::new(false),
            is_legacy,
            priority: priority.clamp(*PRIORITIES.start(), *PRIORITIES.end()),
            id: next_id(),
            known: Known::new(),
            number: std::sync::atomic::AtomicU64::new(next_id()),
            submitter: std::sync::atomic::AtomicU64::new(0),
            next: Mutex::new(None),
        });
        domain.add(&queue);
        queue
    }

    pub(crate) fn is_legacy(&self) -> bool {
        self.is_legacy
    }

    /// Unique in the process.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn position(self: &Arc<Self>, sequence: u64) -> Position {
        Position { queue: self.clone(), sequence, known: self.known() }
    }

    /// What its last operation comes after, that itself included, where that is kept.
    pub(crate) fn known(&self) -> Option<Arc<Clock>> {
        if known::is_watched() { self.known.get() } else { None }
    }

    /// The operations as they are submitted where it is kept what comes before what: what is submitted comes after
    /// what the program knows and after `awaited`.
    pub(crate) fn with_clocks(
        &self,
        operations: impl IntoIterator<Item = Operation>,
        awaited: Option<&Arc<Clock>>,
    ) -> Vec<Operation> {
        let operations: Vec<Operation> = operations.into_iter().collect();
        // What the program does next is something else only where something has been submitted.
        if operations.iter().any(|operation| matches!(operation, Operation::Run(..))) {
            self.begin_anew();
            self.known.learn(Some(&known::program_knows()));
        }
        self.known.learn(awaited);
        let mut all = Vec::new();
        for operation in operations {
            match &operation {
                Operation::Wait(position) => self.known.learn(position.known.as_ref()),
                Operation::Run(..) => {
                    all.push(Operation::Know(self.known.step(self.number.load(Ordering::Relaxed))));
                }
                Operation::Know(_) | Operation::Stamp(..) => {}
            }
            all.push(operation);
        }
        all
    }

    /// Takes the stream for another one where a task has used it, and somebody else does now: who keeps streams for tasks
    /// gives the next one whichever has nothing left to do, by which nothing is ordered.
    fn begin_anew(&self) {
        static TIMES: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let submitter = known::submitter();
        let before = self.submitter.swap(submitter, Ordering::Relaxed);
        let is_idle = || self.reached(self.submitted());
        if before != submitter && is_idle() && TIMES.fetch_add(1, Ordering::Relaxed) < MOST_TIMES {
            self.known.forget();
            self.number.store(next_id(), Ordering::Relaxed);
        }
    }

    /// The position of the last operation that was submitted.
    pub(crate) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    /// Everything up to that position has ended, and what it wrote is visible.
    pub(crate) fn reached(&self, sequence: u64) -> bool {
        self.completed.load(Ordering::Acquire) >= sequence
    }

    /// Reached, and nobody has to know that it comes before what follows.
    pub(crate) fn is_past(&self, sequence: u64) -> bool {
        self.reached(sequence) && !known::is_watched()
    }

    /// Appends `operations`, all of them or (if there are none) nothing.
    pub(crate) fn push(&self, operations: impl IntoIterator<Item = Operation>) -> Pushed {
        let mut inner = lock(&self.inner);
        let before = inner.operations.len();
        inner.operations.extend(operations);
        let added = (inner.operations.len() - before) as u64;
        let sequence = self.submitted.load(Ordering::Relaxed) + added;
        self.submitted.store(sequence, Ordering::Release);
        process::submitted(added);
        let mut announce = false;
        if inner.state == State::Idle && added > 0 {
            inner.state = State::Ready;
            announce = !std::mem::replace(&mut inner.queued, true);
        }
        Pushed { sequence, announce }
    }

    /// Hands the stream to the pool, after its `queued` has been set.
    pub(crate) fn announce(self: &Arc<Self>) {
        self.domain.pool.announce(self.clone());
    }

    /// Runs operations. The caller has moved the state to `Running`.
    ///
    /// A worker has no `goal` and goes on as long as it can. A thread that waits for a position
    /// stops there, and leaves to the workers what is theirs.
    fn execute<'a>(self: &'a Arc<Self>, mut inner: MutexGuard<'a, Inner>, goal: Option<u64>) {
        for count in 1_u32.. {
            let Some(front) = inner.operations.front() else {
                inner.state = State::Idle;
                return;
            };
            let leave = match (front, goal) {
                (Operation::Wait(position), _) if !position.passed() && self.honours(position) => {
                    let position = position.clone();
                    inner.state = State::Blocked;
                    drop(inner);
                    if position.queue.add_dependent(position.sequence, self) {
                        return;
                    }
                    // Reached in between: go on, unless the end of the context has called another
                    // thread.
                    inner = lock(&self.inner);
                    if inner.state != State::Blocked {
                        return;
                    }
                    inner.state = State::Running;
                    false
                }
                (Operation::Run(_, class), Some(_)) => {
                    *class != Class::Device || self.reached(goal.unwrap_or(0))
                }
                (_, Some(goal)) => self.reached(goal),
                (_, None) => count.is_multiple_of(TURN) && self.domain.pool.has_waiting(),
            };
            if leave {
                inner.state = State::Ready;
                let announce = !std::mem::replace(&mut inner.queued, true);
                drop(inner);
                if announce {
                    self.announce();
                }
                return;
            }
            let operation = inner.operations.pop_front();
            inner.at_work = matches!(operation, Some(Operation::Run(_, Class::Device)));
            drop(inner);
            if let Some(operation) = operation {
                self.perform(operation);
            }
            self.complete();
            inner = lock(&self.inner);
        }
    }

    /// Streams of a context that ends wait for none of another context.
    fn honours(&self, position: &Position) -> bool {
        !self.domain.retired() || Arc::ptr_eq(&self.domain, &position.queue.domain)
    }

    fn perform(&self, operation: Operation) {
        match operation {
            Operation::Wait(_) => {}
            Operation::Know(clock) => *lock(&self.next) = Some(clock),
            Operation::Stamp(event, record) => event.stamp(record),
            Operation::Run(task, class) => {
                let failure = self.domain.failure();
                if failure.is_some() && !matches!(class, Class::Callback | Class::Notice) {
                    return;
                }
                let stream = Running { id: self.id(), legacy: self.is_legacy() };
                let task = || std::panic::catch_unwind(AssertUnwindSafe(|| task.run(failure)));
                let run = || {
                    process::as_operation_of(stream, || match self.take_clock(class) {
                        Some(clock) => known::after(clock, task),
                        None => task(),
                    })
                };
                let outcome = if class == Class::Device { run() } else { process::as_host_function(run) };
                if let Err(failure) = outcome.unwrap_or(Err(Failure::UNKNOWN)) {
                    self.domain.fail(failure);
                }
            }
        }
    }

    /// What the operation that is about to run comes after. A function of the program may tell the program of that.
    fn take_clock(&self, class: Class) -> Option<Arc<Clock>> {
        if !known::is_watched() {
            return None;
        }
        let clock = lock(&self.next).take();
        if matches!(class, Class::Host | Class::Callback) {
            known::program_learns(clock.as_ref());
        }
        clock
    }

    /// The entry at the front has ended: those that wait for that are told.
    fn complete(&self) {
        let mut inner = lock(&self.inner);
        let completed = self.completed.load(Ordering::Relaxed) + 1;
        self.completed.store(completed, Ordering::Release);
        process::completed();
        inner.at_work = false;
        let notify = completed >= inner.wake_at || self.domain.has_failed();
        if notify {
            // Those that wait for later positions say so again.
            inner.wake_at = u64::MAX;
        }
        let ready: Vec<_> = if inner.dependents.is_empty() {
            Vec::new()
        } else {
            inner.dependents.extract_if(.., |(sequence, _)| *sequence <= completed).collect()
        };
        drop(inner);
        if notify {
            self.progress.notify_all();
        }
        for (_, queue) in ready {
            queue.unblock();
        }
    }

    /// False if the position has been reached already, or never will be.
    fn add_dependent(&self, sequence: u64, queue: &Arc<Self>) -> bool {
        let mut inner = lock(&self.inner);
        let wait = !self.reached(sequence) && !self.domain.has_failed();
        if wait {
            inner.dependents.push((sequence, queue.clone()));
        }
        wait
    }

    /// What the front waits for, or was waiting for, has been reached; or nothing is to be waited
    /// for any more. The thread that takes the stream looks again.
    pub(crate) fn unblock(self: &Arc<Self>) {
        let mut inner = lock(&self.inner);
        if inner.state != State::Blocked {
            return;
        }
        inner.state = State::Ready;
        let announce = !std::mem::replace(&mut inner.queued, true);
        drop(inner);
        if announce {
            self.announce();
        }
    }

    /// Returns when the position is reached, or the context has failed and no work of the device is
    /// under way in this stream. Runs what stands before the position meanwhile, if no other thread
    /// does.
    pub(crate) fn wait_until(self: &Arc<Self>, sequence: u64) {
        if !self.reached(sequence) {
            process::waiting(|| self.wait_for(sequence));
        }
    }

    fn wait_for(self: &Arc<Self>, sequence: u64) {
        let mut spin = Spin::new();
        let mut round = 0_u32;
        while !self.reached(sequence) {
            // Not every time: the thread that makes progress wants the lock.
            if round.is_multiple_of(HELP) && has_stack() {
                self.help(sequence);
            }
            round += 1;
            if !spin.again() {
                break;
            }
        }
        let mut inner = lock(&self.inner);
        while !self.reached(sequence) && (inner.at_work || !self.domain.has_failed()) {
            inner.wake_at = inner.wake_at.min(sequence);
            inner = sleep(&self.progress, inner);
        }
    }

    /// Runs operations on the way to a position: those of this stream or, if it is blocked, those
    /// of the stream it waits for. Ends when there is nothing it may run.
    fn help(self: &Arc<Self>, sequence: u64) {
        let mut target = self.position(sequence);
        loop {
            let mut inner = lock(&target.queue.inner);
            let next = match (inner.state, inner.operations.front()) {
                (State::Ready, Some(Operation::Run(_, class))) if *class != Class::Device => return,
                (State::Ready, _) => {
                    inner.state = State::Running;
                    target.queue.execute(inner, Some(target.sequence));
                    if self.reached(sequence) {
                        return;
                    }
                    self.position(sequence)
                }
                (State::Blocked, Some(Operation::Wait(position))) if !position.passed() => {
                    let position = position.clone();
                    drop(inner);
                    position
                }
                // Another thread is at it, or will be at once.
                _ => return,
            };
            target = next;
        }
    }
}
