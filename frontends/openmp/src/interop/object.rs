//! The objects themselves, and those that the runtime keeps for threads.

use gangway_backend::{ForeignRuntime, ForeignRuntimeKind};
use gangway_frontend::words::{self, Told};
use gangway_frontend::{message, policy};
use gangway_runtime::queue::Queue;
use gangway_runtime::{Device, Result};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What an object is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The foreign runtime's handles.
    Target,
    /// A stream that OpenMP waits for.
    TargetSync,
}

/// A function of the program's, called when an object's stream has been waited for.
pub type Completion = unsafe extern "C" fn(*mut Interop, *mut c_void);

/// What `omp_interop_t` points to; opaque to programs.
pub struct Interop {
    kind: Kind,
    device: &'static Device,
    foreign: ForeignRuntime,
    stream: Option<Queue>,
    attributes: i64,
    /// The thread a `dispatch` construct made it for.
    owner: Option<i32>,
    /// Handed out since it was last waited for.
    used: AtomicBool,
    completions: Mutex<Vec<(Completion, Data)>>,
}

/// The argument of a completion function.
struct Data(*mut c_void);

// SAFETY: only passed on to the program's function.
unsafe impl Send for Data {}

/// Objects of `dispatch` constructs: few, and kept until the process ends.
static IMPLICIT: Mutex<Vec<&'static Interop>> = Mutex::new(Vec::new());
/// How many there are, so that synchronisation points of programs without any
/// take no lock.
static IMPLICIT_COUNT: AtomicUsize = AtomicUsize::new(0);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of the objects that the runtime keeps, for a fork.
pub(crate) fn hold() -> impl Sized + 'static {
    lock(&IMPLICIT)
}

impl Interop {
    /// Makes an object; `stream` says whether it owns one.
    ///
    /// # Errors
    /// The device has no stream left.
    pub(super) fn create(
        device: &'static Device,
        foreign: ForeignRuntime,
        kind: Kind,
        stream: bool,
        attributes: i64,
        owner: Option<i32>,
    ) -> Result<*mut Self> {
        let object = Box::into_raw(Box::new(Self {
            kind,
            device,
            foreign,
            stream: if stream { Some(Queue::create(device)?).filter(Queue::has_stream) } else { None },
            attributes,
            owner,
            used: AtomicBool::new(true),
            completions: Mutex::new(Vec::new()),
        }));
        if owner.is_some() {
            // SAFETY: objects with an owner are never destroyed.
            lock(&IMPLICIT).push(unsafe { &*object });
            IMPLICIT_COUNT.fetch_add(1, Ordering::Release);
        }
        Ok(object)
    }

    /// Its device.
    pub fn device(&self) -> &'static Device {
        self.device
    }

    /// The runtime under its device.
    pub fn foreign(&self) -> &ForeignRuntime {
        &self.foreign
    }

    /// Whether it is of CUDA's runtime, which has no contexts of its own.
    pub fn is_of_cuda_runtime(&self) -> bool {
        self.foreign.kind == ForeignRuntimeKind::Cuda
    }

    /// The foreign runtime's handle of its stream.
    pub fn stream(&self) -> Option<usize> {
        self.stream.as_ref().and_then(Queue::foreign)
    }

    /// Adds a function to call when the stream has been waited for.
    pub(super) fn add_completion(&self, function: Completion, data: *mut c_void) {
        lock(&self.completions).push((function, Data(data)));
    }

    /// Waits for what is in the stream, then calls the completion functions. A
    /// failure in the stream is the program's own foreign code's; there is no
    /// caller to tell, so it ends the program, as in the stock library.
    pub(super) fn synchronize(&self) {
        // Cleared first: who gets the object meanwhile is waited for next time.
        self.used.store(false, Ordering::Release);
        if let Some(Err(error)) = self.stream.as_ref().map(Queue::synchronize) {
            policy::terminate(&error, words::of_first());
        }
        self.complete();
    }

    fn complete(&self) {
        // Taken out first: a function may add another.
        let completions = std::mem::take(&mut *lock(&self.completions));
        for (function, Data(data)) in completions {
            // SAFETY: the program said so.
            unsafe { function(std::ptr::from_ref(self).cast_mut(), data) };
        }
    }

    /// Waits for an object and destroys it; one of a `dispatch` construct stays.
    ///
    /// # Safety
    /// The object came from [`create`](Self::create) and, if it has no owner, is
    /// not used again.
    pub(super) unsafe fn release(object: *mut Self) {
        // SAFETY: the caller's promise.
        unsafe {
            if (*object).owner.is_some() {
                if (*object).used.load(Ordering::Acquire) {
                    (*object).synchronize();
                }
                return;
            }
            (*object).synchronize();
            let object = Box::from_raw(object);
            if let Some(Err(error)) = object.stream.map(Queue::destroy) {
                let told = Told(&error, words::of_first());
                message::debug(format_args!("destroying an interoperability object: {told}"));
            }
        }
    }
}

/// The object that an earlier `dispatch` construct of this thread got.
pub(super) fn find_implicit(
    owner: i32,
    device: &Device,
    kind: Kind,
    foreign: &ForeignRuntime,
    attributes: i64,
) -> Option<*mut Interop> {
    let fits = |object: &&&Interop| {
        object.owner == Some(owner)
            && object.kind == kind
            && object.foreign.kind == foreign.kind
            && object.attributes == attributes
            && object.device.number() == device.number()
    };
    let found = lock(&IMPLICIT).iter().find(fits).copied()?;
    found.used.store(true, Ordering::Release);
    Some(std::ptr::from_ref(found).cast_mut())
}

/// Waits for what a thread's `dispatch` constructs have put into streams. Called
/// by libomp where the thread synchronises.
pub fn synchronize_implicit(thread: i32) {
    if IMPLICIT_COUNT.load(Ordering::Acquire) == 0 {
        return;
    }
    let mine = |object: &&&Interop| object.owner == Some(thread) && object.used.load(Ordering::Acquire);
    let used: Vec<&Interop> = lock(&IMPLICIT).iter().filter(mine).copied().collect();
    used.into_iter().for_each(Interop::synchronize);
}
