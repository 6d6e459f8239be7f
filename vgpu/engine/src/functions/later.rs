//! Code that is made later: of functions that run already, by a thread that takes what processors have to spare.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A program that has ended by then needs no better code.
const DELAY: Duration = Duration::from_millis(50);
/// Of the thread: it runs where nobody else wants to.
const NICE: i32 = 19;

/// Some work, and when it is to be done.
struct Job {
    at: Instant,
    work: Box<dyn FnOnce() + Send>,
}

struct Queue {
    jobs: VecDeque<Job>,
    /// There is a thread that does them.
    runs: bool,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { jobs: VecDeque::new(), runs: false });

fn queue() -> std::sync::MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has some work done in a while, one after the other. Nothing is said where there is no thread for it.
pub(super) fn ask(work: impl FnOnce() + Send + 'static) {
    let mut queue = queue();
    queue.jobs.push_back(Job { at: Instant::now() + DELAY, work: Box::new(work) });
    if queue.runs {
        return;
    }
    queue.runs = std::thread::Builder::new().name("gangway-later".to_owned()).spawn(run).is_ok();
    if !queue.runs {
        queue.jobs.clear();
    }
}

fn run() {
    // SAFETY: it has no preconditions, and is about this thread alone: 0 is its number.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    loop {
        let mut queue = queue();
        let Some(job) = queue.jobs.pop_front() else {
            queue.runs = false;
            return;
        };
        drop(queue);
        std::thread::sleep(job.at.saturating_duration_since(Instant::now()));
        (job.work)();
    }
}
