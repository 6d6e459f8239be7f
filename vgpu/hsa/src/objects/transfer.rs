//! Copies that run beside the program, once signals say that they may (`hsa_amd_memory_async_copy`).
//!
//! A few threads share one list. Each takes the first copy whose signals are all 0, so that a copy
//! that another one waits for is never behind it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::abi::structure::Times;
use crate::abi::{Result, Status};
use crate::objects::memory::access::{self, Pitched};
use crate::objects::process::clock;
use crate::objects::process::report::report;
use crate::objects::signal::wait::watch;
use crate::objects::signal::{self, Signal};

/// Threads that copy.
const THREADS: usize = 2;

/// What is copied.
#[derive(Clone, Debug)]
pub enum Work {
    Bytes { to: u64, from: u64, size: u64 },
    Box { to: Pitched, from: Pitched, range: [u32; 3] },
}

/// A copy and what goes before and after it.
#[derive(Clone, Debug)]
pub struct Transfer {
    pub work: Work,
    pub dependencies: Vec<Signal>,
    pub completion: Option<Signal>,
    /// The function that asked for it.
    pub by: &'static str,
}

struct Transfers {
    waiting: Vec<Transfer>,
    threads: usize,
}

static TRANSFERS: Mutex<Transfers> = Mutex::new(Transfers { waiting: Vec::new(), threads: 0 });
/// Whether times are noted (`hsa_amd_profiling_async_copy_enable`). They always are; a program
/// can only read them if it has asked for them.
static PROFILING: AtomicBool = AtomicBool::new(false);

fn transfers() -> MutexGuard<'static, Transfers> {
    TRANSFERS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn set_profiling(on: bool) {
    PROFILING.store(on, Ordering::Relaxed);
}

#[must_use]
pub fn is_profiling() -> bool {
    PROFILING.load(Ordering::Relaxed)
}

/// Has a copy done.
pub fn add(transfer: Transfer) -> Result {
    transfer.dependencies.iter().for_each(|signal| signal.be_watched());
    {
        let mut transfers = transfers();
        while transfers.threads < THREADS {
            let thread = std::thread::Builder::new().name("gangway-hsa-copy".to_owned());
            if thread.spawn(run).is_err() {
                break;
            }
            transfers.threads += 1;
        }
        if transfers.threads == 0 {
            return Err(Status::ERROR_OUT_OF_RESOURCES);
        }
        transfers.waiting.push(transfer);
    }
    signal::wake_watchers();
    Ok(())
}

/// Copies that have not begun are not made any more.
pub fn forget_all() {
    transfers().waiting.clear();
}

fn run() {
    loop {
        let transfer = watch(|| !transfers().waiting.is_empty(), next);
        make(&transfer);
    }
}

/// Takes the first copy that may begin out of the list.
fn next() -> Option<Transfer> {
    let mut transfers = transfers();
    let ready = |transfer: &Transfer| transfer.dependencies.iter().all(|signal| signal.load() == 0);
    let at = transfers.waiting.iter().position(ready)?;
    Some(transfers.waiting.remove(at))
}

fn make(transfer: &Transfer) {
    let (start, by) = (clock::now(), transfer.by);
    let done = match &transfer.work {
        Work::Bytes { to, from, size } => access::copy(*to, *from, *size, by),
        Work::Box { to, from, range } => access::copy_box(to, from, *range, by),
    };
    let Some(completion) = transfer.completion else { return };
    completion.set_times(Times { start, end: clock::now() });
    match done {
        Ok(()) => completion.complete(),
        // A negative value is an error (HSA runtime 1.2, `hsa_amd_memory_async_copy`).
        Err(status) => {
            report!("{by}: the copy has failed: {}", status.name());
            completion.change(|value| value.store(-1, Ordering::SeqCst));
        }
    }
}
