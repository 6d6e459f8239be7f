//! Kernels that the interpreter runs because the compiler refuses them. They are counted and
//! named, so that no launch is slow in silence, and no test of compiled code tests something else.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use gangway_interpreter::FaultKind;

use crate::fault::{Facts, Fault, Reason};
use crate::launch::KernelLaunch;

/// How many kernels are named; more than that are one problem many times.
const MOST: usize = 64;

static SEEN: Mutex<Vec<FallBack>> = Mutex::new(Vec::new());

/// A kernel that was interpreted although compiled code was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FallBack {
    pub kernel: Box<str>,
    /// Why the compiler refuses it.
    pub reason: Box<str>,
    /// Its first line in the program's own source, where `.loc` tells it.
    pub source: Option<(Box<str>, u32)>,
    pub launches: u64,
}

impl FallBack {
    /// The fault where nothing but compiled code may run the kernel.
    pub(crate) fn refused(&self) -> Box<Fault> {
        let source = self.source.as_ref().map(|(file, line)| (file.to_string(), *line, 0));
        let facts = Facts {
            kernel: self.kernel.to_string(),
            what: format!("{}; the compiler refuses it, and no interpreter may run it", self.reason),
            remark: Some("GANGWAY_VGPU_ENGINE=compiler allows that".to_owned()),
            source,
            ..Facts::default()
        };
        Box::new(Fault { reason: Reason::NotSupported, report: facts.report(Cow::Borrowed), facts })
    }
}

impl fmt::Display for FallBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel '{}'", self.kernel)?;
        if let Some((file, line)) = &self.source {
            write!(f, " ({file}:{line})")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// The kernels of this process that were interpreted although compiled code was wanted, in the
/// order of their first launches. It takes a lock, and is empty while another thread holds that.
#[must_use]
pub fn fall_backs() -> Vec<FallBack> {
    SEEN.try_lock().map_or_else(|_| Vec::new(), |seen| seen.clone())
}

/// Counts a launch whose kernel has no compiled code.
#[cold]
pub(crate) fn note(launch: &KernelLaunch<'_>, refusal: &FaultKind) -> FallBack {
    let kernel = &launch.program.describe(launch.kernel).name;
    let reason = match refusal {
        FaultKind::Unsupported(what) => what.clone(),
        other => other.to_string(),
    };
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |known: &&mut FallBack| known.kernel == *kernel && *known.reason == *reason;
    if let Some(known) = seen.iter_mut().find(same) {
        known.launches += 1;
        return known.clone();
    }
    let source = launch.program.source(launch.kernel).map(|(file, line)| (file.into(), line));
    let new = FallBack { kernel: kernel.clone(), reason: reason.into(), source, launches: 1 };
    if seen.len() < MOST {
        seen.push(new.clone());
    }
    new
}
