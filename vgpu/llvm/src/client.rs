//! This process's way to LLVM: one process at a time, and another one where that has failed, a few times.

use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use crate::installed;
use crate::message::{Made, Target};
use crate::session::{Answer, Failure, MOST, Request, Session};

/// So often the process may end on a function, or not start. Then it is not asked again.
const MOST_FAILURES: u32 = 4;

/// Nanoseconds of processor time that LLVM has taken for this process.
static SPENT: AtomicU64 = AtomicU64::new(0);

/// What is known of LLVM.
#[derive(Debug, Default)]
struct Known {
    session: Option<Arc<Session>>,
    /// What it makes code for. It is that of the first process: code is kept by it.
    target: Option<Arc<Target>>,
    failures: u32,
    /// Why it is not asked any more.
    absent: Option<String>,
}

/// One for each process: a child that is forked has its parent's memory, but none of its threads. It may have its
/// locks, as they were.
#[derive(Debug)]
struct Process {
    number: u32,
    program: OnceLock<Result<PathBuf, String>>,
    known: Mutex<Known>,
}

impl Process {
    /// This process's. A child leaves its parent's alone.
    fn own() -> &'static Process {
        static PROCESS: AtomicPtr<Process> = AtomicPtr::new(ptr::null_mut());
        let number = std::process::id();
        let mut there = PROCESS.load(Ordering::Acquire);
        loop {
            // SAFETY: it is null, or one of those below, which stay for ever.
            match unsafe { there.as_ref() } {
                Some(process) if process.number == number => return process,
                _ => {}
            }
            let new = Process { number, program: OnceLock::new(), known: Mutex::default() };
            let new = Box::into_raw(Box::new(new));
            match PROCESS.compare_exchange(there, new, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: it has just been made, and stays.
                Ok(_) => return unsafe { &*new },
                Err(other) => {
                    // SAFETY: nobody else has seen it.
                    drop(unsafe { Box::from_raw(new) });
                    there = other;
                }
            }
        }
    }

    fn program(&self) -> Result<&PathBuf, &String> {
        self.program.get_or_init(installed::program).as_ref()
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process of LLVM's: that which is there, or a new one. Others who ask wait for it.
    fn session(&self) -> Result<(Arc<Session>, Arc<Target>), String> {
        let mut known = self.known();
        if let Some(why) = &known.absent {
            return Err(why.clone());
        }
        if let (Some(session), Some(target)) = (&known.session, &known.target) {
            return Ok((session.clone(), target.clone()));
        }
        let started = self.program().map_err(|why| Failure::Absent(why.clone()));
        match started.and_then(|program| count(Session::start(program, MOST))) {
            Ok((_, target)) if known.target.as_deref().is_some_and(|known| *known != target) => {
                Err(known.fail(Failure::Absent("there is another LLVM now".to_owned())))
            }
            Ok((session, target)) => {
                let session = Arc::new(session);
                let target = known.target.get_or_insert_with(|| Arc::new(target)).clone();
                known.session = Some(session.clone());
                Ok((session, target))
            }
            Err(failure) => Err(known.fail(failure)),
        }
    }
}

impl Known {
    /// A session has ended. There may be another one already.
    fn forget(&mut self, session: &Arc<Session>) {
        self.session.take_if(|known| Arc::ptr_eq(known, session));
    }

    /// Notes what has gone wrong, and says it.
    fn fail(&mut self, failure: Failure) -> String {
        match failure {
            Failure::Refused(why) => why,
            Failure::Ended(why) => {
                self.failures += 1;
                if self.failures >= MOST_FAILURES {
                    self.absent = Some(format!("LLVM's process has failed {MOST_FAILURES} times: {why}"));
                }
                why
            }
            Failure::Absent(why) => {
                self.absent = Some(why.clone());
                why
            }
        }
    }
}

/// Counts the processor time of an answer.
fn count<T>((answer, spent): Answer<T>) -> Result<T, Failure> {
    SPENT.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
    answer
}

/// The processor time that LLVM has taken for this process, in others.
#[must_use]
pub fn spent() -> Duration {
    Duration::from_nanos(SPENT.load(Ordering::Relaxed))
}

/// Whether LLVM and the program that it runs in seem to be installed. Nothing is started.
#[must_use]
pub fn is_installed() -> bool {
    Process::own().program().is_ok() && installed::has_library()
}

/// What LLVM makes code for, or why it cannot be used. The first call starts its process.
pub fn target() -> Result<Arc<Target>, String> {
    let process = Process::own();
    let known = process.known();
    match (&known.absent, &known.target) {
        (Some(why), _) => return Err(why.clone()),
        (None, Some(target)) => return Ok(target.clone()),
        (None, None) => drop(known),
    }
    Ok(process.session()?.1)
}

/// Has LLVM make an object file of a module's text, for this machine's processor; `shown`: and the text behind its passes.
/// Any number of threads may ask; they are answered one after the other.
pub fn compile(text: &str, shown: bool) -> Result<Made, String> {
    let process = Process::own();
    loop {
        let (session, _) = process.session()?;
        let (answer, answers) = mpsc::channel();
        let asked = session.requests.send(Request { text: text.to_owned(), shown, answer });
        let Some(answer) = asked.ok().and_then(|()| answers.recv().ok()) else {
            // It has ended, as it had nothing to do, or on what another thread has asked before.
            process.known().forget(&session);
            continue;
        };
        return count(answer).map_err(|failure| {
            let mut known = process.known();
            if matches!(failure, Failure::Ended(_)) {
                known.forget(&session);
            }
            known.fail(failure)
        });
    }
}
