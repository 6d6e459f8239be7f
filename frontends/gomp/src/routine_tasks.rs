//! Tasks of libgomp's for the asynchronous memory routines, as libgomp makes them: outside of
//! parallel regions such a task runs at once.

use crate::dependences;
use crate::libgomp::libgomp;
use crate::open;
use gangway_frontend::guard::guard;
use gangway_frontend::host::{Dependences, Work};
use std::ffi::c_void;

/// The bit of `GOMP_task`'s flags for dependences.
pub(crate) const DEPEND: u32 = 1 << 3;

/// Makes a task of a routine's work; without libgomp it is done at once.
///
/// # Safety
/// There are as many depend objects as said, in GCC's layout.
pub(crate) unsafe fn spawn(work: Work, dependences: Dependences) {
    let Some(task) = libgomp().task else { return work() };
    // SAFETY: the caller's promise.
    let mut list = unsafe { dependences::of_objects(dependences) };
    if open::are_some() && !list.is_empty() {
        // SAFETY: the list has just been made.
        let dependences = unsafe { dependences::read(list.as_mut_ptr()) };
        open::wait_for(&dependences);
    }
    let flags = if list.is_empty() { 0 } else { DEPEND };
    let mut data = Some(Box::new(work));
    let (size, alignment) = (size_of::<*mut Work>() as isize, align_of::<*mut Work>() as isize);
    let (of_caller, null) = ((&raw mut data).cast(), std::ptr::null_mut());
    // SAFETY: libgomp's function, called as compilers call it.
    unsafe {
        let copy = hand_over::<Work>;
        task(run, of_caller, Some(copy), size, alignment, true, flags, list.as_mut_ptr(), 0, null);
    }
}

/// Moves what a task does into the task: libgomp calls it if it makes one.
///
/// # Safety
/// `from` is an `Option<Box<T>>` of the caller's, `to` the task's room for a pointer.
pub(crate) unsafe extern "C" fn hand_over<T>(to: *mut c_void, from: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe {
        let work = (*from.cast::<Option<Box<T>>>()).take();
        to.cast::<*mut T>().write(work.map_or(std::ptr::null_mut(), Box::into_raw));
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
            let work = *data.cast::<*mut Work>();
            if !work.is_null() {
                Box::from_raw(work)();
            }
        }
    });
}
