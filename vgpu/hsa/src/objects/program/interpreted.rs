//! How long kernels are interpreted that could be compiled together with the others of their code object: until it is
//! likely that compiling them pays.
//!
//! Launches that are interpreted are in a list as long as they run. A thread looks at the list, and does what a launch
//! wants done when kernels of its code object have been interpreted long enough.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// For so long a code object's kernels are interpreted. That is what it takes to compile libgomp, with which all of GCC's
/// come: no program takes more than twice as long as it would with what is better for it, and most tests have ended before.
const ENOUGH: Duration = Duration::from_secs(3);
/// How often the thread looks, and how often at an empty list before it waits for somebody to come.
const SLEEP: Duration = Duration::from_millis(50);
const IDLE: u32 = 40;

/// How long something has been interpreted, without the launches that run.
pub type Spent = Arc<Mutex<Duration>>;

/// A launch that is interpreted.
struct Running {
    number: u64,
    spent: Spent,
    since: Instant,
    work: Box<dyn FnOnce() + Send>,
}

impl Running {
    fn is_due(&self) -> bool {
        *lock(&self.spent) + self.since.elapsed() >= ENOUGH
    }
}

struct List {
    running: Vec<Running>,
    next: u64,
    thread: Thread,
}

/// What the thread does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thread {
    Missing,
    Looks,
    Waits,
}

static LIST: Mutex<List> = Mutex::new(List { running: Vec::new(), next: 0, thread: Thread::Missing });
static ADDED: Condvar = Condvar::new();

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A launch runs, interpreted, as long as this exists.
#[must_use]
pub struct Interpreted {
    number: u64,
    spent: Spent,
    since: Instant,
}

impl Interpreted {
    /// A launch begins. When what it is of has been interpreted long enough `work` is done, once, by another thread; never if
    /// the launch ends before, or there is no thread.
    pub fn begin(spent: &Spent, work: impl FnOnce() + Send + 'static) -> Self {
        let since = Instant::now();
        let mut list = lock(&LIST);
        let number = list.next;
        list.next += 1;
        list.running.push(Running { number, spent: Arc::clone(spent), since, work: Box::new(work) });
        match list.thread {
            Thread::Looks => {}
            Thread::Waits => ADDED.notify_one(),
            Thread::Missing => {
                let spawned = thread::Builder::new().name("gangway-hsa-code".to_owned()).spawn(look);
                if spawned.is_ok() {
                    list.thread = Thread::Looks;
                }
            }
        }
        Self { number, spent: Arc::clone(spent), since }
    }
}

impl Drop for Interpreted {
    fn drop(&mut self) {
        let mut list = lock(&LIST);
        let place = list.running.iter().position(|running| running.number == self.number);
        let ended = place.map(|place| list.running.swap_remove(place));
        drop(list);
        *lock(&self.spent) += self.since.elapsed();
        // Not under the lock: what the work holds goes with it.
        drop(ended);
    }
}

/// The thread's work, as long as the process runs.
fn look() {
    gangway_engine::lower_priority();
    let mut idle = 0;
    loop {
        let mut list = lock(&LIST);
        let due = list.running.iter().position(Running::is_due);
        let due = due.map(|place| list.running.swap_remove(place));
        idle = if due.is_none() && list.running.is_empty() { idle + 1 } else { 0 };
        if idle > IDLE {
            list.thread = Thread::Waits;
            while list.running.is_empty() {
                list = ADDED.wait(list).unwrap_or_else(PoisonError::into_inner);
            }
            list.thread = Thread::Looks;
        }
        drop(list);
        match due {
            // A bug in one launch's work leaves the others theirs; the launch itself is interpreted to its end.
            Some(running) => drop(catch_unwind(AssertUnwindSafe(running.work))),
            None => thread::sleep(SLEEP),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Work is done while a launch runs whose code has been interpreted long enough, and for no other.
    #[test]
    fn what_has_been_interpreted_long_enough_is_compiled() {
        let (sender, receiver) = mpsc::channel();
        let begin = |spent: Duration, name: &'static str| {
            let (spent, sender) = (Arc::new(Mutex::new(spent)), sender.clone());
            let launch = Interpreted::begin(&spent, move || sender.send(name).expect("the test waits"));
            (spent, launch)
        };
        let (spent, launch) = begin(Duration::ZERO, "soon");
        drop(launch);
        assert!(*lock(&spent) > Duration::ZERO, "the launch counts");
        let _young = begin(Duration::ZERO, "young");
        // Work that panics is the end of itself alone.
        let _wrong = Interpreted::begin(&Arc::new(Mutex::new(ENOUGH)), || panic!("a bug, for the test"));
        let _old = begin(ENOUGH, "old");
        assert_eq!(receiver.recv(), Ok("old"));
        assert_eq!(receiver.recv_timeout(2 * SLEEP), Err(mpsc::RecvTimeoutError::Timeout));
    }
}
