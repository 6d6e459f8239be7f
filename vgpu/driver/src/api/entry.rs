//! What every exported function is wrapped in.
//!
//! The attribute [`macro@entry`] makes an exported function of an ordinary one. Around the body it
//! puts [`run`], which refuses calls before `cuInit`, counts and times for the trace, and lets no
//! panic through to C. The table of all of them is in [`exports`](super::exports).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use gangway_driver_macros::entry;

use crate::abi::{CUstream, Result, Status};
use crate::objects::context::{self, Context};
use crate::objects::process::report::report;
use crate::objects::process::state;
use crate::objects::process::trace::{self, CallStatistics};
use crate::objects::stream::StreamRef;

/// An exported function.
pub struct Entry {
    pub statistics: CallStatistics,
    /// Whether its default stream is the calling thread's own, `_ptds` and `_ptsz`.
    pub per_thread: bool,
    /// Whether it has been said that the function is not supported.
    told: AtomicBool,
}

impl Entry {
    #[must_use]
    pub const fn new(name: &'static str, per_thread: bool) -> Self {
        let statistics = CallStatistics::new(name);
        Self { statistics, per_thread, told: AtomicBool::new(false) }
    }

    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.statistics.name
    }

    /// Refuses a call of it; the first time that is said on stderr.
    fn refuse<T>(&self) -> Result<T> {
        if !self.told.swap(true, Ordering::Relaxed) {
            report!("the virtual GPU does not support {}", self.name());
        }
        Err(Status::NOT_SUPPORTED)
    }
}

/// An exported function and its address.
pub struct Export {
    pub entry: &'static Entry,
    pub address: *const (),
}

// SAFETY: the address is that of a function, which is there for as long as the process.
unsafe impl Sync for Export {}

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

    /// The calling thread's context, which must be usable. After a kernel's fault every call that
    /// asks for it gets the fault's error, until the context is gone.
    ///
    /// A host function that a stream runs may not use the driver. The plugin of libgomp knows a
    /// callback's thread by this very status, and frees the memory later.
    pub fn context(&self) -> Result<Arc<Context>> {
        if gangway_streams::in_host_function() {
            return Err(Status::NOT_PERMITTED);
        }
        let context = context::current().ok_or(Status::INVALID_CONTEXT)?;
        context.usable()?;
        Ok(context)
    }

    /// The stream that a handle means: default streams have special ones.
    pub fn stream(&self, handle: CUstream) -> Result<StreamRef> {
        StreamRef::resolve(handle, self.entry.per_thread)
    }

    /// The queue of the stream that a handle means, to wait for or to ask.
    pub fn queue(&self, handle: CUstream) -> Result<Arc<gangway_streams::Stream>> {
        StreamRef::queue_of(handle, self.entry.per_thread)
    }

    /// The stream that a call without one works in.
    pub fn default_stream(&self) -> Result<StreamRef> {
        self.stream(CUstream::NULL)
    }
}

/// Runs the body of an exported function.
pub fn run(entry: &'static Entry, before_init: bool, body: impl FnOnce(&Call) -> Result) -> Status {
    let _timed = trace::enter(&entry.statistics);
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
            Status::UNKNOWN
        }
    }
}

/// The body of an exported function that nothing stands behind.
pub fn unsupported(entry: &'static Entry) -> Status {
    run(entry, true, |call| call.refuse())
}
