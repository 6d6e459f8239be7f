//! Constructs that nobody waits for: tasks of libgomp's that wait for the device.
//!
//! Without dependences a construct is issued at once, by the thread that comes to it, and goes on
//! beside it. With dependences its task issues it. Either way the task then waits for the device,
//! so whatever waits for tasks waits for that: `taskwait`, barriers, later dependences. A thread
//! that runs such a task has nothing else to do, or would wait for the construct itself.
//!
//! Outside of parallel regions libgomp runs a task at once, so a construct is waited for there. Its
//! own target tasks make a team of one thread for the initial thread; a parallel region after
//! that was seen to wait for ever at its end, with libgomp 12.
//!
//! A detachable task would tie no thread up: the runtime says when a job is done
//! (`Job::complete_later`), and could fulfil the task's event. But libgomp runs a task at once when
//! there are many, and then waits for the event with the thread that would issue the construct.

use crate::libgomp::{Libgomp, libgomp};
use gangway_openmp::guard::guard;
use gangway_openmp::policy;
use gangway_runtime::{Job, Result, events};
use std::ffi::c_void;

/// The bit of `GOMP_task`'s flags for dependences.
const DEPEND: u32 = 1 << 3;

/// A construct that owns what it is made of.
pub(crate) trait Deferred {
    /// Issues it; `None` if the host has done it instead.
    fn issue(&self) -> Option<Result<Box<Job>>>;
}

/// A construct and how far it is.
struct Pending {
    construct: Box<dyn Deferred>,
    job: Option<Box<Job>>,
    issued: bool,
}

impl Pending {
    fn issue(&mut self) {
        self.issued = true;
        match self.construct.issue() {
            None => {}
            Some(Ok(job)) => self.job = Some(job),
            // The construct has returned: there is no host version left to run.
            Some(Err(error)) => policy::terminate(&error),
        }
    }

    /// Does what is left to do.
    fn finish(mut self) {
        if !self.issued {
            self.issue();
        }
        // The device may read what the construct owns until then.
        if let Some(job) = self.job.take()
            && let Err(error) = job.complete()
        {
            policy::terminate(&error);
        }
    }
}

/// Makes a task of a construct. Answers false if there can be none now: the caller performs the
/// construct itself.
///
/// # Safety
/// The dependences are null or the compiler's.
pub(crate) unsafe fn defer(dependences: *mut *mut c_void, construct: Box<dyn Deferred>) -> bool {
    let Libgomp { task: Some(task), in_final: Some(in_final), .. } = libgomp() else { return false };
    // SAFETY: takes nothing, always callable.
    if unsafe { in_final() } != 0 {
        return false;
    }
    let mut pending = Box::new(Pending { construct, job: None, issued: false });
    if dependences.is_null() {
        events::without_waiting(|| pending.issue());
    }
    let mut data = Some(pending);
    let flags = if dependences.is_null() { 0 } else { DEPEND };
    // SAFETY: libgomp's function, called as compilers call it.
    unsafe {
        task(
            run,
            (&raw mut data).cast(),
            Some(hand_over),
            size_of::<*mut Pending>() as isize,
            align_of::<*mut Pending>() as isize,
            true,
            flags,
            dependences,
            0,
            std::ptr::null_mut(),
        );
    }
    // Still here if what the task would belong to has been cancelled: what has been begun ends.
    if let Some(pending) = data.filter(|pending| pending.issued) {
        pending.finish();
    }
    true
}

/// Moves a construct into the task that is made of it: libgomp calls it if it makes one.
///
/// # Safety
/// The two are the task's and the caller's data of [`defer`].
unsafe extern "C" fn hand_over(to: *mut c_void, from: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe {
        let pending = (*from.cast::<Option<Box<Pending>>>()).take();
        to.cast::<*mut Pending>().write(pending.map_or(std::ptr::null_mut(), Box::into_raw));
    }
}

/// The body of a task.
///
/// # Safety
/// `data` is what [`hand_over`] has written.
unsafe extern "C" fn run(data: *mut c_void) {
    guard((), || {
        // SAFETY: the caller's promise; each task is run once.
        unsafe {
            let pending = *data.cast::<*mut Pending>();
            if !pending.is_null() {
                Box::from_raw(pending).finish();
            }
        }
    });
}
