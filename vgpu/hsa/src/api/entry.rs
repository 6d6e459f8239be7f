//! What every exported function is wrapped in.
//!
//! The attribute [`macro@entry`] makes an exported function of an ordinary one. Around the body it
//! puts [`run`], which refuses calls before `hsa_init` and lets no panic through to C. Functions that answer
//! a value instead of a status run inside [`value`]. The table of all of them is in
//! [`exports`](super::exports).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

pub use gangway_driver_macros::entry;

use crate::abi::{Result, Status};
use crate::objects::process::report::report;
use crate::objects::process::state;

/// An exported function.
pub struct Entry {
    name: &'static str,
    /// Whether something has been said that is said once.
    told: AtomicBool,
}

impl Entry {
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, told: AtomicBool::new(false) }
    }

    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it ends something. A forked child does that when it ends, and has nothing to end: queues have no threads
    /// there, and locks may be taken for ever.
    fn gives_back(&self) -> bool {
        ["_destroy", "_free", "_unlock", "_shut_down"].iter().any(|end| self.name.ends_with(end))
    }

    /// Refuses a call of it; the first time that is said on stderr.
    fn refuse<T>(&self) -> Result<T> {
        if !self.told.swap(true, Ordering::Relaxed) {
            report!("the virtual GPU does not support {}", self.name);
        }
        Err(Status::ERROR)
    }
}

/// What the body of an exported function is given besides its parameters.
#[derive(Clone, Copy)]
pub struct Call {
    entry: &'static Entry,
}

impl Call {
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.entry.name()
    }

    /// Refuses what nothing stands behind, by the function's name.
    pub fn refuse<T>(&self) -> Result<T> {
        self.entry.refuse()
    }
}

/// Runs the body of an exported function.
pub fn run(entry: &'static Entry, before_init: bool, body: impl FnOnce(&Call) -> Result) -> Status {
    if state::is_forked() && entry.gives_back() {
        return Status::SUCCESS;
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        if !before_init {
            state::check_initialised()?;
        }
        body(&Call { entry })
    }));
    match outcome {
        Ok(Ok(())) => Status::SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => {
            // The panic's own message has been printed by the hook.
            report!("{} failed by a bug in the virtual GPU", entry.name());
            Status::ERROR
        }
    }
}

/// Runs the body of a function that answers a value. A wrong handle, which the specification leaves open, is
/// told once and answered with 0.
#[inline]
pub fn value<T: Default>(entry: &'static Entry, handle: u64, body: impl FnOnce() -> Result<T>) -> T {
    // What a forked child waits for never comes.
    if state::is_forked() {
        return T::default();
    }
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(status)) => {
            if !entry.told.swap(true, Ordering::Relaxed) {
                report!("{}: {handle:#x}: {}", entry.name(), status.name());
            }
            T::default()
        }
        Err(_) => {
            report!("{} failed by a bug in the virtual GPU", entry.name());
            T::default()
        }
    }
}

/// The body of an exported function that nothing stands behind.
pub fn unsupported(entry: &'static Entry) -> Status {
    run(entry, true, |call| call.refuse())
}
