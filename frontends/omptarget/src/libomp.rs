//! What this library needs of libomp.
//!
//! Looked up at run time, not linked: a program that has device code but no host
//! parallelism may come without it, and one that loaded us through `dlopen` may
//! keep it private.

use crate::abi::{Dependence, FAIL, Ident, SUCCESS, Task};
use crate::words::WORDS;
use gangway_frontend::guard::guard;
use gangway_frontend::host::{Dependences, End, Host, Offload, Work};
use gangway_frontend::policy;
use gangway_frontend::words::Words;
use gangway_runtime::Error;
use once_cell::race::OnceBox;
use std::ffi::{CStr, c_void};

/// The functions; `None` where the process has no libomp.
#[derive(Debug)]
pub struct Libomp {
    /// `omp_get_default_device`.
    pub default_device: Option<unsafe extern "C" fn() -> i32>,
    /// `__kmpc_get_target_offload`.
    pub target_offload: Option<unsafe extern "C" fn() -> i32>,
    /// `__kmpc_global_thread_num`.
    pub global_thread_num: Option<unsafe extern "C" fn(*const Ident) -> i32>,
    /// `__kmpc_omp_has_task_team`.
    pub has_task_team: Option<unsafe extern "C" fn(i32) -> bool>,
    /// `__kmpc_omp_get_target_async_handle_ptr`.
    pub async_handle: Option<unsafe extern "C" fn(i32) -> *mut *mut c_void>,
    /// `omp_get_cancellation`.
    pub cancellation: Option<unsafe extern "C" fn() -> i32>,
    /// `__kmpc_omp_target_task_alloc`.
    pub target_task_alloc: Option<TaskAlloc>,
    /// `__kmpc_omp_task_with_deps`.
    pub task_with_dependences: Option<TaskWithDependences>,
    /// `__kmpc_omp_wait_deps`.
    pub wait_dependences: Option<WaitDependences>,
}

type TaskAlloc = unsafe extern "C" fn(
    *const Ident,
    i32,
    i32,
    usize,
    usize,
    unsafe extern "C" fn(i32, *mut Task) -> i32,
    i64,
) -> *mut Task;
type TaskWithDependences =
    unsafe extern "C" fn(*const Ident, i32, *mut Task, i32, *const Dependence, i32, *const Dependence) -> i32;
type WaitDependences =
    unsafe extern "C" fn(*const Ident, i32, i32, *const Dependence, i32, *const Dependence);

/// The process's libomp. Two threads may look it up at the same time: waiting for the
/// other one, which waits for the loader, could be for ever where this one holds the
/// loader's lock.
#[inline]
pub fn libomp() -> &'static Libomp {
    static LIBOMP: OnceBox<Libomp> = OnceBox::new();
    LIBOMP.get_or_init(|| Box::new(Libomp::find()))
}

/// Looks a symbol up in the process, then in a libomp that is loaded privately.
#[must_use]
pub fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: plain look-ups by name; RTLD_NOLOAD only finds what is loaded.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        if !found.is_null() {
            return found;
        }
        let private = libc::dlopen(c"libomp.so.5".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
        if private.is_null() { private } else { libc::dlsym(private, name.as_ptr()) }
    }
}

impl Libomp {
    fn find() -> Self {
        // SAFETY: each name is libomp's, and the field's type is its signature.
        unsafe {
            Self {
                default_device: function(c"omp_get_default_device"),
                target_offload: function(c"__kmpc_get_target_offload"),
                global_thread_num: function(c"__kmpc_global_thread_num"),
                has_task_team: function(c"__kmpc_omp_has_task_team"),
                async_handle: function(c"__kmpc_omp_get_target_async_handle_ptr"),
                cancellation: function(c"omp_get_cancellation"),
                target_task_alloc: function(c"__kmpc_omp_target_task_alloc"),
                task_with_dependences: function(c"__kmpc_omp_task_with_deps"),
                wait_dependences: function(c"__kmpc_omp_wait_deps"),
            }
        }
    }
}

/// # Safety
/// `F` is the type of a pointer to the function called `name`.
unsafe fn function<F>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let found = symbol(name);
    // SAFETY: the caller's promise; the sizes are equal.
    if found.is_null() { None } else { Some(unsafe { std::mem::transmute_copy(&found) }) }
}

impl Host for Libomp {
    /// As `FATAL_MESSAGE` of libomptarget.
    const END: End = End::Abort;
    const WORDS: &dyn Words = WORDS;

    #[inline]
    fn default_device() -> i64 {
        // SAFETY: takes nothing, always callable.
        libomp().default_device.map_or(0, |f| i64::from(unsafe { f() }))
    }

    fn target_offload() -> Option<Offload> {
        // SAFETY: takes nothing, always callable.
        match libomp().target_offload.map(|f| unsafe { f() })? {
            0 => Some(Offload::Disabled),
            2 => Some(Offload::Mandatory),
            _ => Some(Offload::Default),
        }
    }

    fn no_device(error: &Error) {
        policy::terminate(error, WORDS);
    }

    unsafe fn spawn(work: Work, dependences: Dependences) -> bool {
        let omp = libomp();
        let (Some(thread), Some(allocate), Some(enqueue)) =
            (omp.global_thread_num, omp.target_task_alloc, omp.task_with_dependences)
        else {
            // No libomp, no tasks: the routine may as well be done when it returns.
            work();
            return true;
        };
        let count = dependences.count.max(0) as usize;
        let objects = dependences.objects.cast::<*const Dependence>();
        // SAFETY: libomp's functions, called as compilers call them; a depend object
        // is a pointer to its dependence.
        unsafe {
            let dependences: Vec<Dependence> = (0..count).map(|index| **objects.add(index)).collect();
            let thread = thread(std::ptr::null());
            let task = allocate(std::ptr::null(), thread, HIDDEN_HELPER, size_of::<Task>(), 0, run_task, -1);
            if task.is_null() {
                return false;
            }
            (*task).shared = Box::into_raw(Box::new(work)).cast();
            enqueue(std::ptr::null(), thread, task, count as i32, dependences.as_ptr(), 0, std::ptr::null());
        }
        true
    }
}

/// `kmp_tasking_flags_t` with only `hidden_helper` set.
const HIDDEN_HELPER: i32 = 1 << 7;

/// What a task of [`Host::spawn`] runs.
unsafe extern "C" fn run_task(_thread: i32, task: *mut Task) -> i32 {
    guard(FAIL, || {
        // SAFETY: `spawn` put a boxed closure there, for this one call.
        let work = unsafe { Box::from_raw((*task).shared.cast::<Work>()) };
        work();
        SUCCESS
    })
}

/// Waits for the dependences of a construct.
///
/// # Safety
/// The lists are as the compiler made them.
pub unsafe fn wait_dependences(location: *const Ident, thread: i32, lists: [(i32, *const Dependence); 2]) {
    let [(count, list), (no_alias_count, no_alias_list)] = lists;
    if count + no_alias_count > 0
        && let Some(wait) = libomp().wait_dependences
    {
        // SAFETY: the caller's promise.
        unsafe { wait(location, thread, count, list, no_alias_count, no_alias_list) };
    }
}
