//! A task in memory: the compiler's part, and what the runtime keeps before it.

use crate::{device_heap, target};
use core::ffi::c_void;
use core::sync::atomic::AtomicU32;

/// `kmp_task_t`, as far as the runtime knows it.
#[repr(C)]
pub struct Task {
    /// Behind the task's own values.
    pub shareds: *mut c_void,
    /// An [`Entry`], or an [`EntryOfFlang`].
    pub entry: *const c_void,
    pub part: i32,
    pub data: [u64; 2],
}

const _: () = assert!(size_of::<Task>() == 40);

pub type Entry = unsafe extern "C" fn(i32, *mut Task) -> i32;
/// flang's functions return nothing, and a GPU's call says what it expects.
pub type EntryOfFlang = unsafe extern "C" fn(i32, *mut Task);
/// What a program knows as `omp_event_handle_t`.
#[repr(C)]
pub struct Event {
    pub fulfilled: AtomicU32,
}

/// What stands before each task.
#[repr(C, align(16))]
pub struct Header {
    /// How many it has with its values.
    pub bytes: u64,
    pub state: u32,
    pub compiler: Compiler,
    /// What `detach` names; null without the clause.
    pub event: *mut Event,
}

/// Who has made a task's function.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Compiler {
    Clang,
    Flang,
}

/// The task has not begun.
pub const FRESH: u32 = 0;
/// Its function has been called.
pub const RUNNING: u32 = 1;
/// An untied task runs in parts: each of them hands it in again for the next one.
pub const AGAIN: u32 = 2;

const _: () = assert!(size_of::<Header>() == 32);

/// Memory for a task, with its values.
#[must_use]
pub fn allocate(bytes: u64, compiler: Compiler) -> *mut Task {
    let memory: *mut Header = device_heap::allocate(size_of::<Header>() as u64 + bytes).cast();
    // SAFETY: the memory is large enough.
    unsafe {
        memory.write(Header { bytes, state: FRESH, compiler, event: core::ptr::null_mut() });
        memory.add(1).cast()
    }
}

/// What stands before a task.
///
/// # Safety
/// The task is of [`allocate`].
#[must_use]
pub unsafe fn header(task: *mut Task) -> *mut Header {
    // SAFETY: the header stands before the task.
    unsafe { task.cast::<Header>().sub(1) }
}

/// The task has `detach`.
///
/// # Safety
/// The task is of the runtime's.
pub unsafe fn set_event(task: *mut Task, event: *mut Event) {
    // SAFETY: as the caller says.
    unsafe { (*header(task)).event = event };
}

/// Gives the memory back.
///
/// # Safety
/// The task is of [`allocate`], and has ended.
pub unsafe fn release(task: *mut Task) {
    // SAFETY: as the caller says.
    unsafe { target::release(header(task).cast()) };
}
