//! What comes before what, for who looks for races.
//!
//! An operation comes after those before it in its stream, after what its stream waits for, and after what the program had
//! waited for when it was submitted. That it happened to run after another one says nothing. All threads of the program
//! count as one: what one of them has waited for may be known to the others.
//!
//! The program is a stream as well, of which what it accesses itself is an operation. Its threads run tasks that move data
//! (`nowait`) behind its back: what such a thread has waited for is known to the program when that waits for its tasks,
//! and what the program does and learns once it has made the task is not known to what the task submits. A task that depends
//! on others comes after those, and after what the program has done in tasks.
//!
//! Nothing is kept unless somebody has asked for it, once and for all, by [`watch`].

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::{Clock, Known, Moment};
use crate::task_known::{self, TaskKnown};

static WATCHED: AtomicBool = AtomicBool::new(false);

/// Has kept what comes before what, of what is submitted from now on.
pub fn watch() {
    WATCHED.store(true, Ordering::Relaxed);
}

pub(crate) fn is_watched() -> bool {
    WATCHED.load(Ordering::Relaxed)
}

/// The program as a stream: what it does outside of tasks, and in them. No other stream has these numbers.
const PROGRAM_ITSELF: u64 = 0;
const IN_TASKS: u64 = u64::MAX;

/// What the program has waited for.
static PROGRAM: Known = Known::new();

/// What threads have waited for that move data in tasks.
static TASKS: Known = Known::new();

/// What has been waited for on behalf of all: see [`prepare`].
static PREPARED: Known = Known::new();

/// The moment that the program is in. It ends where the program learns or submits something, or makes a task.
static MOMENT: AtomicU64 = AtomicU64::new(1);

/// Parallel regions within tasks, whose threads do what the task does.
static WITHIN_TASKS: AtomicUsize = AtomicUsize::new(0);

/// Ends the moment, and says which it was.
fn end_moment() -> u64 {
    MOMENT.fetch_add(1, Ordering::Relaxed)
}

/// A task that a thread of the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// It runs code of the program.
    OfProgram,
    /// It moves data and launches kernels, and was made at a [moment](task_made).
    ForDevice { made: u64 },
}

/// The program makes a task: the moment at which it does.
#[must_use]
pub fn task_made() -> u64 {
    let now = end_moment();
    // What else a task makes is known to that task alone.
    let clock = acting().map_or_else(|| PROGRAM.get(), |task| Some(task.clock));
    task_known::made(now, clock.unwrap_or_default());
    now
}

/// Whom the task that the calling thread begins next comes after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// All tasks of which anything is known.
    All,
    /// One that runs code of the program.
    OfProgram,
    /// One that moves data, and was made at this moment.
    ForDevice(u64),
}

/// The task that the calling thread begins next comes after others.
pub fn task_follows(other: Follows) {
    let learn = |known: Option<Arc<Clock>>| {
        if let Some(known) = known {
            FOLLOWS.with_borrow_mut(|follows| follows.get_or_insert_default().join(&known));
        }
    };
    match other {
        Follows::All => {
            learn(TASKS.get());
            learn(PROGRAM.get());
        }
        Follows::OfProgram => learn(PROGRAM.get()),
        Follows::ForDevice(made) => match task_known::get(made) {
            Some(task) => learn(Some(task.clock)),
            None => learn(TASKS.get()),
        },
    }
}

/// The task that was made at a moment begins. `since`: what the program has done in tasks until then comes before it.
pub fn task_begins(made: u64, since: Option<u64>) {
    if let Some(follows) = FOLLOWS.take() {
        task_known::learns(made, &follows);
    }
    if let Some(since) = since {
        task_known::begins(made, since);
    }
}

/// The program has waited for the task that was made at a moment.
pub fn task_met(made: u64) {
    match task_known::get(made) {
        Some(task) => PROGRAM.learn(Some(&task.clock)),
        // One of the program's own: it knows that.
        None if made == 0 => {}
        None => PROGRAM.learn(TASKS.get().as_ref()),
    }
    end_moment();
}

/// The moment at which the task was made, if it is one that moves data, that the calling thread runs or waits on behalf of.
/// No task was made at 0.
fn acting_for() -> Option<u64> {
    match TASK.get() {
        Some(Task::ForDevice { made }) => Some(made),
        _ => Some(FOR_TASK.get()).filter(|&made| made != 0),
    }
}

/// What that task knows.
fn acting() -> Option<TaskKnown> {
    task_known::get(acting_for()?)
}

/// A number that operations have in common that the calling thread submits on behalf of one task; 0 for the program itself.
pub(crate) fn submitter() -> u64 {
    acting_for().unwrap_or(0)
}

/// From now on the calling thread runs a task, or what it was at before, which this answers.
#[expect(clippy::must_use_candidate, reason = "what was before is for who puts it back")]
pub fn run_task(task: Option<Task>) -> Option<Task> {
    TASK.replace(task)
}

/// The task of the program's that begins depends on others, which may have waited for something.
#[must_use]
pub fn task_depends() -> u64 {
    end_moment()
}

/// The program has waited for its tasks.
pub fn tasks_met() {
    PROGRAM.learn(TASKS.get().as_ref());
    end_moment();
}

/// A task of the program's goes on in several threads, or has done so.
pub fn task_spreads(begins: bool) {
    match begins {
        true => WITHIN_TASKS.fetch_add(1, Ordering::Relaxed),
        false => WITHIN_TASKS.fetch_sub(1, Ordering::Relaxed),
    };
}

/// From now on what the calling thread waits for is known to the task that was made at a moment, and where tasks are
/// [waited for](tasks_met); 0 ends that. The task for which it was so before.
#[expect(clippy::must_use_candidate, reason = "what was before is for who puts it back")]
pub fn wait_for_task(made: u64) -> u64 {
    FOR_TASK.replace(made)
}

/// The moment at which the task was made that the calling thread runs, if it moves data; otherwise 0.
#[must_use]
pub fn task_for_device() -> u64 {
    match TASK.get() {
        Some(Task::ForDevice { made }) => made,
        _ => 0,
    }
}

/// The program goes on behind something, unless it is somebody who watches that has waited.
pub(crate) fn program_learns(known: Option<&Arc<Clock>>) {
    if known.is_none() || UNSEEN.get() {
        return;
    }
    match acting_for() {
        Some(made) if !PREPARES.get() => {
            TASKS.learn(known);
            if let Some(known) = known {
                task_known::learns(made, known);
            }
        }
        _ => {
            if PREPARES.get() {
                PREPARED.learn(known);
            }
            PROGRAM.learn(known);
            end_moment();
        }
    }
}

/// From now on the calling thread waits for somebody who watches the program, which learns nothing by that; or it does not.
/// Answers whether that was so.
#[expect(clippy::must_use_candidate, reason = "what was before is for who puts it back")]
pub fn watch_unseen(is: bool) -> bool {
    UNSEEN.replace(is)
}

/// From now on the calling thread prepares a device, on behalf of all who use it: what it waits for is known to the program, and to
/// its tasks. Answers whether that was so.
#[expect(clippy::must_use_candidate, reason = "what was before is for who puts it back")]
pub fn prepare(is: bool) -> bool {
    PREPARES.replace(is)
}

/// What the next operation comes after that the calling thread submits: what the program knows, and does until now.
pub(crate) fn program_knows() -> Arc<Clock> {
    let now = end_moment();
    let (known, itself, in_tasks) = match (acting_for(), acting()) {
        (Some(made), Some(TaskKnown { clock, since })) => {
            let mut clock = Arc::unwrap_or_clone(clock);
            if let Some(prepared) = PREPARED.get() {
                clock.join(&prepared);
            }
            (Some(Arc::new(clock)), made, since)
        }
        // It is one of very many: nothing is known of it.
        (Some(made), None) => (PROGRAM.get(), made, now),
        (None, _) => (PROGRAM.get(), now, now),
    };
    let mut clock = known.map_or_else(Clock::default, Arc::unwrap_or_clone);
    clock.has_up_to(PROGRAM_ITSELF, itself);
    clock.has_up_to(IN_TASKS, in_tasks);
    Arc::new(clock)
}

/// The moment that the calling thread of the program is in.
#[must_use]
pub fn program_moment() -> Moment {
    let in_task = TASK.get().is_some() || WITHIN_TASKS.load(Ordering::Relaxed) != 0;
    (if in_task { IN_TASKS } else { PROGRAM_ITSELF }, MOMENT.load(Ordering::Relaxed))
}

/// What the program's moment comes after.
#[must_use]
pub fn program_after(moment: Moment) -> Arc<Clock> {
    let mut clock = PROGRAM.get().map_or_else(Clock::default, Arc::unwrap_or_clone);
    clock.is_at(moment);
    clock.has_up_to(PROGRAM_ITSELF, moment.1);
    clock.has_up_to(IN_TASKS, moment.1);
    Arc::new(clock)
}

thread_local! {
    static UNSEEN: Cell<bool> = const { Cell::new(false) };
    static FOR_TASK: Cell<u64> = const { Cell::new(0) };
    static FOLLOWS: RefCell<Option<Clock>> = const { RefCell::new(None) };
    static PREPARES: Cell<bool> = const { Cell::new(false) };
    static TASK: Cell<Option<Task>> = const { Cell::new(None) };
    static RUNNING: RefCell<Option<Arc<Clock>>> = const { RefCell::new(None) };
}

/// What the operation that the calling thread runs comes after, where that is kept.
#[must_use]
pub fn running_after() -> Option<Arc<Clock>> {
    RUNNING.with_borrow(Clone::clone)
}

/// All operations that run.
static ALL_RUNNING: Mutex<Vec<Arc<Clock>>> = Mutex::new(Vec::new());

fn all_running() -> MutexGuard<'static, Vec<Arc<Clock>>> {
    ALL_RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs an operation that comes after others.
pub(crate) fn after<T>(clock: Arc<Clock>, call: impl FnOnce() -> T) -> T {
    struct Leave(Arc<Clock>, Option<Arc<Clock>>);
    impl Drop for Leave {
        fn drop(&mut self) {
            let mut all = all_running();
            if let Some(at) = all.iter().position(|clock| Arc::ptr_eq(clock, &self.0)) {
                all.swap_remove(at);
            }
            RUNNING.set(self.1.take());
        }
    }
    all_running().push(clock.clone());
    let _leave = Leave(clock.clone(), RUNNING.replace(Some(clock)));
    call()
}

/// The program begins something that a kernel asks it for and waits for. Which one it is, is not said: it goes on behind all
/// that run.
pub fn serve_kernels() {
    let running = all_running().clone();
    running.iter().for_each(|clock| PROGRAM.learn(Some(clock)));
    end_moment();
}

/// The running operation tells somebody of itself through memory: the program, or another stream that looks there.
pub fn hand_on() {
    program_learns(running_after().as_ref());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learned_comes_before_what_follows() {
        let (one, other) = (Known::new(), Known::new());
        let first = one.step(1);
        let apart = other.step(2);
        assert_eq!((first.own(), apart.own()), ((1, 1), (2, 1)));
        assert!(!apart.has(first.own()) && !first.has(apart.own()) && first.has((1, 1)));
        other.learn(Some(&first));
        let (behind, second) = (other.step(2), one.step(1));
        assert!(behind.has(first.own()) && behind.has(apart.own()) && !behind.has(second.own()));
        assert!(second.has(first.own()) && !second.has(apart.own()));
    }

    #[test]
    fn what_a_kernel_asks_for_comes_after_it() {
        let stream = Known::new();
        let (kernel, next) = (stream.step(1 << 42), stream.step(1 << 42));
        after(kernel.clone(), || {
            assert!(!program_knows().has(kernel.own()));
            serve_kernels();
        });
        serve_kernels();
        assert!(program_knows().has(kernel.own()) && !program_knows().has(next.own()));
    }

    #[test]
    fn what_prepares_a_device_is_known_to_all() {
        let [one, other] = [(); 2].map(|()| Known::new());
        let (mine, shared) = (one.step(1 << 40), other.step(1 << 41));
        let made = task_made();
        run_task(Some(Task::ForDevice { made }));
        program_learns(Some(&mine));
        assert!(program_knows().has(mine.own()));
        assert!(!prepare(true));
        program_learns(Some(&shared));
        assert!(prepare(false));
        run_task(None);
        assert!(!program_knows().has(mine.own()) && program_knows().has(shared.own()));
        run_task(Some(Task::ForDevice { made: task_made() }));
        assert!(program_knows().has(shared.own()));
        run_task(None);
        task_met(made);
        assert!(program_knows().has(mine.own()));
    }

    #[test]
    fn an_operation_is_known_while_it_runs() {
        assert_eq!(running_after(), None);
        let clock = Known::new().step(7);
        after(clock.clone(), || assert_eq!(running_after(), Some(clock)));
        assert_eq!(running_after(), None);
    }
}
