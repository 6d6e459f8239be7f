//! Code that is made later: of functions that run already, by a thread of its own.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Processor time of the process from when work is asked for until it is done. A program that has ended by then needs
/// no better code, nor does one that computes nothing. Elapsed time would say little on a machine that is busy.
const DELAY: Duration = Duration::from_millis(100);
/// What the process computes after some work, times what that took, before the next one is begun: what gains nothing
/// takes a small part of a program's time, however short that is.
const PAUSE: u32 = 2;
/// How long the thread sleeps before it looks again, at least, and at most where nothing is computed.
const SLEEP: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(500)];
/// How much nicer the thread is than the process, and with it LLVM's process, which it starts: less than half of a
/// worker's share where all processors are busy. The lowest priority of all got none of them for minutes there.
const NICER: i32 = 4;

/// Some work, and how much the process has computed when it is to be done.
struct Job {
    at: Duration,
    work: Box<dyn FnOnce() + Send>,
}

struct Queue {
    /// The later they have been asked for, the farther behind.
    jobs: Vec<Job>,
    /// Nothing is done before the process has computed for so long.
    pause: Duration,
    /// There is a thread that does them.
    runs: bool,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { jobs: Vec::new(), pause: Duration::ZERO, runs: false });

fn queue() -> std::sync::MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    /// The work to do next: of what may be done, the youngest. A kernel's loop stands in a function that is called
    /// when many others have been; those had their turn before, and mostly have nothing that would gain. Otherwise
    /// how much is to be computed before; none where nothing is left.
    fn next(&mut self, now: Duration) -> Option<Result<Job, Duration>> {
        let oldest = self.jobs.first()?;
        let due = oldest.at.max(self.pause);
        if due > now {
            return Some(Err(due - now));
        }
        let due = self.jobs.iter().take_while(|job| job.at <= now).count();
        Some(Ok(self.jobs.remove(due - 1)))
    }
}

/// A processor time, by the clock that counts it.
fn processor_time(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

/// The processor time of the process so far. What LLVM takes, in a process of its own, is no part of it.
fn spent() -> Duration {
    processor_time(ClockId::ProcessCPUTime)
}

/// The processor time of this thread and of LLVM for it.
fn own() -> Duration {
    processor_time(ClockId::ThreadCPUTime) + gangway_llvm::spent()
}

/// Has some work done in a while, one after the other. Nothing is said where there is no thread for it.
pub(super) fn ask(work: impl FnOnce() + Send + 'static) {
    let mut queue = queue();
    queue.jobs.push(Job { at: spent() + DELAY, work: Box::new(work) });
    if queue.runs {
        return;
    }
    queue.runs = std::thread::Builder::new().name("gangway-later".to_owned()).spawn(run).is_ok();
    if !queue.runs {
        queue.jobs.clear();
    }
}

/// Makes this thread nicer than the process, as those are that make code while kernels run.
pub fn lower_priority() {
    // SAFETY: both have no preconditions, and are about this thread alone: 0 is its number.
    unsafe {
        let nice = libc::getpriority(libc::PRIO_PROCESS, 0);
        libc::setpriority(libc::PRIO_PROCESS, 0, nice + NICER);
    }
}

fn run() {
    lower_priority();
    let [least, most] = SLEEP;
    let mut sleep = least;
    loop {
        let mut queue = queue();
        let next = queue.next(spent());
        queue.runs = next.is_some();
        drop(queue);
        match next {
            Some(Ok(job)) => {
                let before = own();
                (job.work)();
                let took = own().saturating_sub(before);
                self::queue().pause = spent() + PAUSE * took;
                sleep = least;
            }
            Some(Err(missing)) => {
                std::thread::sleep(sleep.max(missing).min(most));
                sleep = (sleep * 2).min(most);
            }
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Of what is due the youngest comes first, and what is not due has to wait.
    #[test]
    fn the_youngest_comes_first() {
        let (sender, receiver) = mpsc::channel();
        let job = |number: u64| {
            let sender = sender.clone();
            let work = Box::new(move || sender.send(number).expect("the test waits"));
            Job { at: Duration::from_secs(number), work }
        };
        let mut queue = Queue { jobs: (1..=4).map(job).collect(), pause: Duration::ZERO, runs: true };
        let now = Duration::from_secs;
        assert_eq!(queue.next(now(0)).expect("some").err(), Some(now(1)));
        // There is a pause after each.
        queue.pause = now(3);
        assert_eq!(queue.next(now(2)).expect("some").err(), Some(now(1)));
        for (seconds, number) in [(3, 3), (3, 2), (9, 4), (9, 1)] {
            let Some(Ok(job)) = queue.next(now(seconds)) else { panic!("nothing is due after {seconds} s") };
            (job.work)();
            assert_eq!(receiver.recv(), Ok(number));
        }
        assert!(queue.next(now(9)).is_none());
    }
}
