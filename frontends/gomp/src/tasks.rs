//! Constructs that nobody waits for, and the functions of libgomp that wait for tasks.
//!
//! In a parallel region such a construct has a task of libgomp's, which waits for the device:
//! whatever waits for tasks waits for that. Without dependences the construct is begun at once
//! by the thread that comes to it, unless many are under way; otherwise its task issues it. A
//! thread that runs such a task has nothing else to do, or would wait for the construct itself.
//!
//! Outside of parallel regions libgomp has no tasks that wait, and this library keeps the
//! constructs itself ([`open`]). The functions here that have libgomp's names wait for
//! these, and then call libgomp's.
//!
//! A detachable task would tie no thread up in parallel regions: the runtime says when a job is
//! done (`Job::complete_later`), and could fulfil the task's event. But libgomp runs a task at
//! once when there are many, and then waits for the event with the thread that would issue the
//! construct.

use crate::dependences;
use crate::libgomp::{Body, Copy, Libgomp, libgomp};
use crate::open;
use crate::pending::{self, Deferred, Pending};
use crate::routine_tasks::{DEPEND, hand_over};
use gangway_frontend::guard::guard;
use std::ffi::c_void;
use std::sync::Arc;

/// A construct and how far it is.
enum Work {
    Begun(Arc<Pending>),
    /// Its task issues it.
    New(Box<dyn Deferred>),
}

impl Work {
    /// Does what is left to do.
    fn finish(self) {
        match self {
            Self::Begun(pending) => pending.wait(),
            Self::New(construct) => Pending::begin(construct).wait(),
        }
    }
}

/// Whether the calling thread is outside of all parallel regions.
pub(crate) fn is_alone() -> bool {
    // SAFETY: takes nothing, always callable.
    libgomp().level.is_none_or(|level| unsafe { level() } == 0)
}

/// Lets a construct go on by itself. Answers false if there can be no task now, or the construct
/// is to be done when its call returns: the caller performs it.
///
/// # Safety
/// The dependences are null or the compiler's.
pub(crate) unsafe fn defer(list: *mut *mut c_void, construct: Box<dyn Deferred>) -> bool {
    let Libgomp { task: Some(task), in_final: Some(in_final), .. } = libgomp() else { return false };
    // SAFETY: takes nothing, always callable.
    if unsafe { in_final() } != 0 {
        return false;
    }
    if is_alone() {
        if construct.is_due_at_once(!list.is_null()) {
            return false;
        }
        // SAFETY: the caller's promise.
        let dependences = unsafe { dependences::read(list) };
        open::begin(construct, &dependences);
        return true;
    }
    let ahead = list.is_null() && !pending::are_enough();
    let mut data = Some(Box::new(match ahead {
        true => Work::Begun(Pending::begin(construct)),
        false => Work::New(construct),
    }));
    let flags = if list.is_null() { 0 } else { DEPEND };
    let (size, alignment) = (size_of::<*mut Work>() as isize, align_of::<*mut Work>() as isize);
    let (data_of_task, null) = ((&raw mut data).cast(), std::ptr::null_mut());
    // SAFETY: libgomp's function, called as compilers call it.
    unsafe { task(run, data_of_task, Some(hand_over::<Work>), size, alignment, true, flags, list, 0, null) };
    // Still here if what the task would belong to has been cancelled: what has been begun ends.
    if let Some(work) = data.filter(|work| matches!(**work, Work::Begun(_))) {
        work.finish();
    }
    true
}

/// The body of a task.
///
/// # Safety
/// `data` is what [`hand_over`] has written.
unsafe extern "C" fn run(data: *mut c_void) {
    guard((), || {
        // SAFETY: the caller's promise; each task is run once.
        unsafe {
            let work = *data.cast::<*mut Work>();
            if !work.is_null() {
                Box::from_raw(work).finish();
            }
        }
    });
}

/// Waits until the dependences of a construct are fulfilled.
///
/// # Safety
/// The list is null or the compiler's.
#[inline]
pub(crate) unsafe fn wait_for(list: *mut *mut c_void) {
    if !list.is_null() {
        // SAFETY: the caller's promise.
        unsafe { GOMP_taskwait_depend(list) };
    }
}

/// Makes a task. One with dependences waits for the constructs of this library, and for
/// libgomp's tasks there.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn GOMP_task(
    body: Body,
    data: *mut c_void,
    copy: Option<Copy>,
    size: isize,
    alignment: isize,
    condition: bool,
    flags: u32,
    list: *mut *mut c_void,
    priority: i32,
    detach: *mut c_void,
) {
    if open::are_some() && flags & DEPEND != 0 {
        // SAFETY: the caller's promise.
        guard((), || unsafe { wait_for_open(list) });
    }
    if let Some(task) = libgomp().task {
        // SAFETY: the caller's promise.
        unsafe { task(body, data, copy, size, alignment, condition, flags, list, priority, detach) };
    }
}

/// # Safety
/// The list is the compiler's.
#[cold]
unsafe fn wait_for_open(list: *mut *mut c_void) {
    // SAFETY: the caller's promise.
    let dependences = unsafe { dependences::read(list) };
    open::wait_for(&dependences);
}

/// Waits for tasks with certain dependences.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn GOMP_taskwait_depend(list: *mut *mut c_void) {
    if open::are_some() {
        // SAFETY: the caller's promise.
        guard((), || unsafe { wait_for_open(list) });
    }
    if let Some(wait) = libgomp().wait_dependences {
        // SAFETY: the caller's promise.
        unsafe { wait(list) };
    }
}

/// Has later tasks with certain dependences wait for earlier ones: a task that does nothing, as
/// libgomp makes it.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn GOMP_taskwait_depend_nowait(list: *mut *mut c_void) {
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    let null = std::ptr::null_mut();
    // SAFETY: the caller's promise.
    unsafe { GOMP_task(nothing, c"".as_ptr().cast_mut().cast(), None, 0, 1, true, DEPEND, list, 0, null) };
}

/// Waits for the tasks of the current one.
pub extern "C" fn GOMP_taskwait() {
    after_open(libgomp().wait);
}

/// Waits for the tasks of a group.
pub extern "C" fn GOMP_taskgroup_end() {
    after_open(libgomp().end_group);
}

/// Waits for all tasks and threads.
pub extern "C" fn GOMP_barrier() {
    after_open(libgomp().barrier);
}

/// Calls a function of libgomp's when the open constructs of this thread are done.
#[inline]
fn after_open(function: Option<unsafe extern "C" fn()>) {
    if open::are_some() {
        guard((), open::wait_for_all);
    }
    if let Some(function) = function {
        // SAFETY: takes nothing, called as compilers call it.
        unsafe { function() };
    }
}
