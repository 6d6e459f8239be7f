//! Warnings that would come again and again: each is said once, and counted.
//!
//! A region that no device can run is often run thousands of times. What is the same is the
//! kind of failure, the device and the construct; addresses in the text may differ.

use crate::message::print_line;
use gangway_runtime::{Error, ErrorKind};
use std::mem::Discriminant;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Warnings that are remembered. Programs have fewer constructs that fail.
const MOST: usize = 1024;

static SAID: Mutex<Said> = Mutex::new(Said { warnings: Vec::new(), repeated: 0, process: 0 });

/// What this process has been told.
pub(crate) struct Said {
    warnings: Vec<Warning>,
    repeated: u64,
    /// A forked child begins anew.
    process: u32,
}

#[derive(PartialEq, Eq)]
struct Warning {
    kind: Discriminant<ErrorKind>,
    device: i32,
    /// File, line and column. Copied: the program's text may be unloaded.
    place: Option<(String, u32, u32)>,
}

/// Takes the lock, for a fork.
pub(crate) fn hold() -> MutexGuard<'static, Said> {
    SAID.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The process's own.
fn said() -> MutexGuard<'static, Said> {
    let mut said = hold();
    let process = std::process::id();
    if said.process != process {
        *said = Said { warnings: Vec::new(), repeated: 0, process };
    }
    said
}

/// Whether a failure is the first of its kind at its place. Others are counted.
#[cold]
pub(crate) fn is_first(error: &Error) -> bool {
    let place = error.construct.map(|at| (at.file.to_owned(), at.line, at.column));
    let warning = Warning { kind: std::mem::discriminant(&error.kind), device: error.device, place };
    let mut said = said();
    if said.warnings.contains(&warning) {
        said.repeated += 1;
        return false;
    }
    if said.warnings.len() < MOST {
        said.warnings.push(warning);
    }
    true
}

/// Says how often it has happened again, at the end of the process.
pub(crate) fn finish() {
    let repeated = std::mem::take(&mut said().repeated);
    if repeated > 0 {
        let times = if repeated == 1 { "once more".to_owned() } else { format!("{repeated} times more") };
        print_line(format_args!("gangway: warning: the host has taken over {times}, for the same reasons"));
    }
}
