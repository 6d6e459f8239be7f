//! Target tasks: leaving a job to libomp's task until the device is done.
//!
//! A `nowait` construct runs in a task on one of libomp's hidden helper threads.
//! On a synchronous device the job is over when the call returns. On an
//! asynchronous one the job is left in the task's handle; libomp puts the task
//! back into its queue and calls [`__tgt_target_nowait_query`] until the handle
//! is null.
//!
//! The polling is libomp's, and there is no way around it that keeps to its interface.
//! libomp can be told that a task is done (`__kmpc_proxy_task_completed_ooo`,
//! `omp_fulfill_event`) only of tasks that were allocated as proxies or as detachable.
//! The compiler says that in the flags of `__kmpc_omp_target_task_alloc`, before this
//! library is called, and clang says neither. Nor is the task that is put back ever put to
//! sleep: the thread that finds it asks again. So the runtime's way of telling,
//! `Job::complete_later`, would have nobody to tell here, and cost a call of the driver.
//! What is left is to poll little: after [`POLLS`] questions the query waits. And a job that is soon done
//! is not left at all ([`patience`]): the task already has a thread of its own, and waiting costs it less
//! than being put back, found and asked does.
//!
//! A task group that is cancelled meanwhile has libomp skip what its tasks would do, and
//! with it the question: the task would be put back for ever. So nothing is left to a
//! task where cancellation is switched on (`OMP_CANCELLATION`).

use crate::abi::{Ident, Task};
use crate::libomp::libomp;
use crate::words::WORDS;
use crate::{ompt, patience};
use gangway_frontend::construct::complete;
use gangway_frontend::guard::guard;
use gangway_frontend::{policy, race_check};
use gangway_openmp::interop;
use gangway_runtime::{Error, ErrorKind, Job, Result};
use std::ffi::c_void;
use std::time::Instant;

/// How often a query finds a job unfinished before it waits for it: a helper
/// thread that only polls takes a processor from the program.
const POLLS: u32 = 200;

struct Pending {
    job: Option<Box<Job>>,
    polls: u32,
    /// The task that it was begun in, for who looks for races.
    task: Option<race_check::Task>,
    /// The construct, for tools: it ends when the job does.
    region: Option<ompt::Suspended>,
}

// The thread that asks about a task need not be the one that has begun it: libomp
// carries the pointer from one to the other.
const _: () = {
    const fn goes_to_another_thread<T: Send>() {}
    goes_to_another_thread::<Pending>();
};

/// Ends the job of a construct, or leaves it to the current task. For who reads the information or the
/// profile the construct ends here all the same, as with the stock library; for tools it ends with the
/// job. `construct` is an address that stands for the construct in the program.
///
/// # Errors
/// A device operation failed.
#[inline]
pub fn finish(job: Option<Box<Job>>, nowait: bool, construct: usize) -> Result<()> {
    match job {
        Some(job) if nowait && job.is_asynchronous() => leave(job, construct),
        job => complete(job),
    }
}

#[cold]
fn leave(job: Box<Job>, construct: usize) -> Result<()> {
    let patience = patience::of(construct);
    if patience.is_to_wait() {
        let start = Instant::now();
        let result = job.complete();
        patience.has_waited(start.elapsed());
        return result;
    }
    match task_handle() {
        Some(handle) => {
            let (task, region) = (race_check::Task::running(), ompt::suspend());
            let pending = Box::new(Pending { job: Some(job), polls: 0, task, region });
            // SAFETY: libomp's own slot of the current task.
            unsafe { *handle = Box::into_raw(pending).cast() };
            Ok(())
        }
        None => job.complete(),
    }
}

/// The handle of the current task, if it can be left unfinished.
fn task_handle() -> Option<*mut *mut c_void> {
    let omp = libomp();
    // SAFETY: libomp's functions, called from a thread of the program.
    unsafe {
        let thread = omp.global_thread_num?(std::ptr::null());
        if thread < 0 || !omp.has_task_team?(thread) || omp.cancellation.is_some_and(|is_on| is_on() != 0) {
            return None;
        }
        let handle = omp.async_handle?(thread);
        (!handle.is_null() && (*handle).is_null()).then_some(handle)
    }
}

/// Asked by libomp about a task left unfinished; nulls the handle when it is done.
///
/// # Safety
/// `handle` is null or what libomp keeps for the task.
pub unsafe extern "C" fn __tgt_target_nowait_query(handle: *mut *mut c_void) {
    guard((), || {
        // SAFETY: the caller's promise; the handle was set by `leave`.
        let pending = unsafe { handle.as_mut().and_then(|handle| handle.cast::<Pending>().as_mut()) };
        let Some(pending) = pending else {
            let message = "a task without device operations was asked whether they are done";
            let kind =
                ErrorKind::Backend(gangway_backend::Error::Device { code: 0, message: message.into() });
            policy::terminate(&Error::new(kind, -1, None), WORDS);
        };
        pending.polls += 1;
        let ask = || pending.job.as_mut().is_none_or(|job| job.is_idle());
        let idle = pending.polls > POLLS || race_check::wait_for_task(pending.task, ask);
        if !idle {
            return;
        }
        // SAFETY: made by `leave`; from here on nobody else has it.
        let pending = unsafe {
            let pending = Box::from_raw(std::ptr::from_mut(pending));
            *handle = std::ptr::null_mut();
            pending
        };
        let _region = pending.region.map(ompt::Suspended::resume);
        if let Some(job) = pending.job
            && let Err(error) = race_check::wait_for_task(pending.task, || job.complete())
        {
            // The construct has returned: there is no host version left to run.
            policy::terminate(&error, WORDS);
        }
    });
}

/// Called by libomp at synchronisation points: what was enqueued implicitly for
/// the thread's interop objects has to be done.
pub extern "C" fn __tgt_target_sync(
    _location: *const Ident,
    thread: i32,
    _task: *mut Task,
    _event: *mut c_void,
) {
    guard((), || interop::synchronize_implicit(thread));
}
