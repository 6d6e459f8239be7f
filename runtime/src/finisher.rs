//! Ending jobs that nobody waits for: a thread of the runtime's ends them when their device
//! says that they are done, and tells whoever has issued them.
//!
//! The device's own thread only hands a job over, as it must not call the back end.
//! The thread is started with the first such job.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Ends a job, and tells of it.
pub(crate) type End = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    done: VecDeque<End>,
    running: bool,
}

static STATE: Mutex<State> = Mutex::new(State { done: VecDeque::new(), running: false });
static ARRIVED: Condvar = Condvar::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sees to it that the thread runs. False: it cannot be started.
pub(crate) fn start() -> bool {
    let mut state = state();
    if state.running {
        return true;
    }
    let builder = std::thread::Builder::new().name("gangway-finish".to_owned());
    state.running = builder.spawn(work).is_ok();
    state.running
}

/// Has a job ended that is done on the device. Calls nobody.
pub(crate) fn hand_over(end: End) {
    state().done.push_back(end);
    ARRIVED.notify_one();
}

fn work() {
    loop {
        let empty = |state: &mut State| state.done.is_empty();
        let mut state = ARRIVED.wait_while(state(), empty).unwrap_or_else(PoisonError::into_inner);
        let Some(end) = state.done.pop_front() else { continue };
        drop(state);
        // Later jobs are not to wait for ever because of one that panics.
        let _ = catch_unwind(AssertUnwindSafe(end));
    }
}

/// The lock of the jobs, for a fork.
pub(crate) struct FinisherLock(MutexGuard<'static, State>);

/// Takes the lock, for a fork.
pub(crate) fn hold() -> FinisherLock {
    FinisherLock(state())
}

impl FinisherLock {
    /// In the child the thread is gone. What has been handed over is the parent's to end.
    pub(crate) fn in_child(mut self) {
        self.0.running = false;
        std::mem::forget(std::mem::take(&mut self.0.done));
    }
}
