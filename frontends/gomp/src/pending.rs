//! Constructs that nobody waits for, and the threads that see to them.
//!
//! A construct is begun by the thread that comes to it, if that does not hold the thread up:
//! a driver waits for copies from the device to memory that is not pinned. Otherwise, and if
//! the construct depends on others that are not done, a helper begins it. Whoever waits for a
//! construct does what is left to do of it. So all constructs end, even where no helper can be
//! had.

use crate::words::WORDS;
use gangway_frontend::construct::UnderWay;
use gangway_frontend::policy;
use gangway_frontend::race_check::{Task, wait_for_task};
use gangway_runtime::{Result, events};
use std::collections::VecDeque;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Helpers that there are at most.
const HELPERS: usize = 4;

/// Constructs that are issued ahead at most. Each of them has a stream of its own, with the stacks
/// and the tables of arguments that its kernel uses, and the device runs no more at once.
const AHEAD: usize = 32;

/// Constructs under way: issued, and not ended.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// Whether as many constructs are under way as are worth it: whoever comes to another one lets
/// one of them end before.
#[inline]
pub(crate) fn are_enough() -> bool {
    UNDER_WAY.load(Ordering::Relaxed) >= AHEAD
}

/// A construct that owns what it is made of.
pub(crate) trait Deferred: Send {
    /// Issues it; `None` if the host has done it instead.
    fn issue(&self) -> Option<Result<UnderWay>>;

    /// Whether a driver may hold up the thread that issues it.
    fn holds_up(&self) -> bool;

    /// Whether outside of parallel regions it has to be done when its call returns, as libgomp's
    /// are; it may have dependences.
    fn is_due_at_once(&self, has_dependences: bool) -> bool;
}

/// A construct on its way.
pub(crate) struct Pending {
    progress: Mutex<Progress>,
    changed: Condvar,
    /// For who looks for races, where this library has what libgomp has no task for.
    task: Option<Task>,
    /// The process that it is of: a forked child has none of the device's work.
    process: u32,
}

struct Progress {
    stage: Stage,
    /// Here as long as the device may read what it owns.
    construct: Option<Box<dyn Deferred>>,
    /// Those that it comes after, done or not.
    follows: Vec<Task>,
    /// Those that it waits for, and how many of them are not done.
    before: Vec<Arc<Pending>>,
    unfinished: usize,
    /// Those that wait for it.
    after: Vec<Arc<Pending>>,
}

enum Stage {
    /// To be issued.
    New,
    /// Whoever takes it ends it.
    Issued(UnderWay),
    /// Some thread is issuing or ending it.
    Busy,
    Done,
}

impl Pending {
    /// Begins a construct, of which a task of libgomp's has the rest.
    pub fn begin(construct: Box<dyn Deferred>) -> Arc<Self> {
        Self::begin_behind(construct, Vec::new(), None)
    }

    /// Begins a construct when those `before` it are done.
    pub fn begin_as_task(construct: Box<dyn Deferred>, before: Vec<Arc<Self>>) -> Arc<Self> {
        Self::begin_behind(construct, before, Task::made())
    }

    fn begin_behind(construct: Box<dyn Deferred>, before: Vec<Arc<Self>>, task: Option<Task>) -> Arc<Self> {
        let holds_up = construct.holds_up();
        let progress = Progress {
            stage: Stage::New,
            construct: Some(construct),
            before: Vec::new(),
            follows: before.iter().filter_map(|other| other.task).collect(),
            // This thread, until all are counted.
            unfinished: 1,
            after: Vec::new(),
        };
        let (progress, changed) = (Mutex::new(progress), Condvar::new());
        let this = Arc::new(Self { progress, changed, task, process: process::id() });
        let before: Vec<_> = before.into_iter().filter(|other| other.is_before(&this)).collect();
        match (this.is_ready(before, holds_up), holds_up) {
            (true, false) => this.issue(),
            (true, true) => HELP.ask(&this),
            (false, _) => {}
        }
        this
    }

    /// All that it waits for is counted. Whether that is done; if so, and it does not hold up
    /// this thread, it is this thread's to issue.
    fn is_ready(&self, before: Vec<Arc<Self>>, holds_up: bool) -> bool {
        let mut progress = self.progress();
        progress.before = before;
        progress.unfinished -= 1;
        let ready = progress.unfinished == 0;
        if ready && !holds_up {
            progress.stage = Stage::Busy;
        }
        ready
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has `other` wait for this one; false if it is done.
    fn is_before(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        let mut progress = self.progress();
        if matches!(progress.stage, Stage::Done) {
            return false;
        }
        // Under the lock: it may be done right after. Locks are taken from older to newer ones.
        other.progress().unfinished += 1;
        progress.after.push(Arc::clone(other));
        let under_way = matches!(progress.stage, Stage::Issued(_));
        drop(progress);
        if under_way {
            // Nobody else may be there who ends it.
            HELP.ask(self);
        }
        true
    }

    /// Issues it on this thread; it is [`Stage::Busy`] by this thread's doing.
    fn issue(self: &Arc<Self>) {
        let mut progress = self.progress();
        let follows = std::mem::take(&mut progress.follows);
        let Some(construct) = progress.construct.take() else { return };
        drop(progress);
        let issue = || events::without_waiting(|| construct.issue());
        let issued = match self.task {
            Some(task) => task.run(!follows.is_empty(), follows, issue),
            None => issue(),
        };
        match issued {
            None => self.end(),
            Some(Ok(under_way)) => {
                UNDER_WAY.fetch_add(1, Ordering::Relaxed);
                let mut progress = self.progress();
                progress.construct = Some(construct);
                progress.stage = Stage::Issued(under_way.outlives_its_call());
                let awaited = !progress.after.is_empty();
                drop(progress);
                self.changed.notify_all();
                if awaited {
                    HELP.ask(self);
                }
            }
            // The construct has returned: there is no host version left to run.
            Some(Err(error)) => policy::terminate(&error, WORDS),
        }
    }

    /// Whether it is done; if the device is, this ends it.
    pub fn is_done(self: &Arc<Self>) -> bool {
        let mut progress = self.progress();
        let idle = match &mut progress.stage {
            Stage::Done => return true,
            Stage::Issued(under_way) => wait_for_task(self.task, || under_way.is_idle()),
            Stage::New | Stage::Busy => false,
        };
        drop(progress);
        if idle {
            self.proceed();
        }
        idle
    }

    /// The program need not wait for it any more.
    pub fn met(&self) {
        self.task.iter().for_each(|task| task.met());
    }

    /// Waits until it is done, as the program asks for it.
    pub fn wait(self: &Arc<Self>) {
        if self.process == process::id() {
            self.wait_for_end();
            self.met();
        }
    }

    fn wait_for_end(self: &Arc<Self>) {
        let before = std::mem::take(&mut self.progress().before);
        before.iter().for_each(Self::wait);
        loop {
            if self.proceed() {
                return;
            }
            let progress = self.progress();
            let stuck = |progress: &mut Progress| match progress.stage {
                Stage::Busy => true,
                Stage::New => progress.unfinished > 0,
                Stage::Issued(_) | Stage::Done => false,
            };
            drop(self.changed.wait_while(progress, stuck).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Does the next step, if there is one for this thread. Whether the construct is done.
    fn proceed(self: &Arc<Self>) -> bool {
        let mut progress = self.progress();
        match std::mem::replace(&mut progress.stage, Stage::Busy) {
            Stage::Done => {
                progress.stage = Stage::Done;
                true
            }
            Stage::Busy => false,
            Stage::New if progress.unfinished > 0 => {
                progress.stage = Stage::New;
                false
            }
            Stage::New => {
                drop(progress);
                self.issue();
                false
            }
            Stage::Issued(under_way) => {
                drop(progress);
                let completed = wait_for_task(self.task, || under_way.complete());
                UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
                if let Err(error) = completed {
                    policy::terminate(&error, WORDS);
                }
                self.end();
                true
            }
        }
    }

    /// Lets those go on that wait for it.
    fn end(&self) {
        let mut progress = self.progress();
        progress.stage = Stage::Done;
        let after = std::mem::take(&mut progress.after);
        let owned = (progress.construct.take(), std::mem::take(&mut progress.before));
        drop(progress);
        drop(owned);
        self.changed.notify_all();
        for other in after {
            let mut progress = other.progress();
            progress.unfinished -= 1;
            let ready = progress.unfinished == 0 && matches!(progress.stage, Stage::New);
            drop(progress);
            if ready {
                other.changed.notify_all();
                HELP.ask(&other);
            }
        }
    }
}

/// The helpers, and what they are asked to see to.
struct Help {
    state: Mutex<Asked>,
    asked: Condvar,
}

struct Asked {
    constructs: VecDeque<Arc<Pending>>,
    /// Helpers that there are, and how many of them have nothing to do.
    helpers: usize,
    idle: usize,
    /// The process that they are threads of.
    process: u32,
}

static HELP: Help = Help {
    state: Mutex::new(Asked { constructs: VecDeque::new(), helpers: 0, idle: 0, process: 0 }),
    asked: Condvar::new(),
};

/// Takes the lock of this module, for a fork.
pub(crate) fn hold() -> impl Sized + 'static {
    HELP.state()
}

impl Help {
    fn state(&self) -> MutexGuard<'_, Asked> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a helper do what is left to do of a construct.
    fn ask(&'static self, construct: &Arc<Pending>) {
        let mut state = self.state();
        let process = process::id();
        if state.process != process {
            *state = Asked { constructs: VecDeque::new(), helpers: 0, idle: 0, process };
        }
        state.constructs.push_back(Arc::clone(construct));
        let wanted = state.idle < state.constructs.len() && state.helpers < HELPERS;
        if wanted {
            state.helpers += 1;
        }
        drop(state);
        self.asked.notify_one();
        if wanted {
            let helper = thread::Builder::new().name("gangway-nowait".into()).spawn(|| self.help());
            if helper.is_err() {
                // Whoever waits for the construct sees to it.
                self.state().helpers -= 1;
            }
        }
    }

    fn help(&self) {
        loop {
            let mut state = self.state();
            state.idle += 1;
            let empty = |state: &mut Asked| state.constructs.is_empty();
            let waited = self.asked.wait_while(state, empty);
            let mut state = waited.unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
            let construct = state.constructs.pop_front();
            drop(state);
            if let Some(construct) = construct {
                // Issued, then ended; another thread may do either.
                while !construct.proceed() && construct.is_issued() {}
            }
        }
    }
}

impl Pending {
    /// Whether the next step is to end it.
    fn is_issued(&self) -> bool {
        matches!(self.progress().stage, Stage::Issued(_))
    }
}
