//! Warnings that would come again and again: each is said once, and counted.
//!
//! A region that no device can run is often run thousands of times, and so is one that a check
//! complains of. What is the same is the kind of failure, the device, the construct and the
//! variable; addresses in the text may differ.

use crate::message::print_line;
use gangway_runtime::{Error, ErrorKind};
use std::mem::Discriminant;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Warnings that are remembered. Programs have fewer constructs that fail.
const MOST: usize = 1024;

/// Unknown functions that are told of.
const MOST_UNKNOWN: usize = 64;

static SAID: Mutex<Said> = Mutex::new(Said::nothing(0));

/// What this process has been told.
pub(crate) struct Said {
    warnings: Vec<Warning>,
    /// For each [`Subject`].
    repeated: [u64; 2],
    /// Numbers of functions that devices have called and nobody has registered.
    unknown: Vec<u64>,
    /// A forked child begins anew.
    process: u32,
}

impl Said {
    const fn nothing(process: u32) -> Self {
        Self { warnings: Vec::new(), repeated: [0; 2], unknown: Vec::new(), process }
    }
}

/// What warnings are about.
#[derive(Clone, Copy)]
pub(crate) enum Subject {
    /// The host takes over a region.
    HostTakesOver,
    /// What `GANGWAY_CHECK` has found.
    Check,
}

#[derive(PartialEq, Eq)]
struct Warning {
    kind: Discriminant<ErrorKind>,
    device: i32,
    /// File, line and column. Copied: the program's text may be unloaded.
    place: Option<(String, u32, u32)>,
    /// Copied, too.
    variable: Option<String>,
    /// Why an image cannot be loaded. That is the image's matter, whatever construct asks for it.
    image: Option<String>,
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
        *said = Said::nothing(process);
    }
    said
}

/// Whether a failure is the first of its kind at its place. Others are counted.
#[cold]
pub(crate) fn is_first(subject: Subject, error: &Error) -> bool {
    let place = error.construct.map(|at| (at.file.to_owned(), at.line, at.column));
    let variable = match &error.kind {
        ErrorKind::NeverMapped { wanted, .. } | ErrorKind::PartlyMapped { wanted, .. } => wanted.label.name(),
        ErrorKind::HostPointer { pointer, .. } => pointer.label.name(),
        ErrorKind::InnerPointer { holder, .. } => holder.label.name(),
        _ => None,
    };
    let variable = variable.map(str::to_owned);
    let image = match &error.kind {
        ErrorKind::ImageLoad(why) => Some(why.to_string()),
        _ => None,
    };
    let place = place.filter(|_| image.is_none());
    let kind = std::mem::discriminant(&error.kind);
    let warning = Warning { kind, device: error.device, place, variable, image };
    let mut said = said();
    if said.warnings.contains(&warning) {
        said.repeated[subject as usize] += 1;
        return false;
    }
    if said.warnings.len() < MOST {
        said.warnings.push(warning);
    }
    true
}

/// Whether an unknown function is to be told of: once, and not if there are many of them.
#[cold]
pub fn is_first_unknown(function: u64) -> bool {
    let mut said = said();
    let first = said.unknown.len() < MOST_UNKNOWN && !said.unknown.contains(&function);
    if first {
        said.unknown.push(function);
    }
    first
}

/// Says how often it has happened again, at the end of the process.
pub(crate) fn finish() {
    let [taken_over, checks] = std::mem::take(&mut said().repeated);
    if taken_over > 0 {
        let times = times(taken_over);
        print_line(format_args!("gangway: warning: the host has taken over {times}, for the same reasons"));
    }
    if checks > 0 {
        let times = times(checks);
        print_line(format_args!(
            "gangway: warning: GANGWAY_CHECK has found the same {times}, at the same constructs"
        ));
    }
}

fn times(repeated: u64) -> String {
    if repeated == 1 { "once more".to_owned() } else { format!("{repeated} times more") }
}

#[cfg(test)]
mod tests {
    use super::{Subject, is_first};
    use gangway_backend::SourceLocation;
    use gangway_runtime::{Error, ErrorKind};

    #[test]
    fn why_an_image_cannot_be_loaded_is_told_once_for_all_constructs() {
        let at = |line| Some(SourceLocation { function: "main", file: "program.c", line, column: 1 });
        let error = |line: u32, device: i32, why: &str| {
            let why = gangway_backend::Error::InvalidImage { reason: why.to_owned() };
            Error::new(ErrorKind::ImageLoad(why), device, at(line))
        };
        let first = |error: &Error| is_first(Subject::HostTakesOver, error);
        assert!(first(&error(3, 0, "no compiler")));
        assert!(!first(&error(3, 0, "no compiler")) && !first(&error(9, 0, "no compiler")));
        // Another image, or another device.
        assert!(first(&error(9, 0, "no memory")) && first(&error(9, 1, "no compiler")));
        // What is a construct's own is told for each.
        let own = |line| Error::new(ErrorKind::Forked, 0, at(line));
        assert!(first(&own(3)) && first(&own(9)) && !first(&own(3)));
    }
}
