//! The functions of libomp that the device runtime is built on.
//!
//! An image and its host program share one libomp (`libomp.so.5`), so a thread
//! has the same number on both sides. Signatures are libomp's exported ABI.

use core::ffi::{c_char, c_int, c_void};

/// A source location (`ident_t`), passed through and never looked into.
#[repr(C)]
pub struct Location {
    opaque: [u8; 0],
}

/// An outlined region: `fn(global thread number*, bound thread number*, ...)`.
///
/// How many arguments follow is known only to caller and callee, so this is a
/// bare function pointer, cast to its true type where it is called.
pub type Outlined = unsafe extern "C" fn();

unsafe extern "C" {
    pub fn __kmpc_global_thread_num(location: *const Location) -> i32;
    pub fn __kmpc_fork_call(location: *const Location, count: i32, region: Outlined, ...);
    pub fn __kmpc_serialized_parallel(location: *const Location, thread: i32);
    pub fn __kmpc_end_serialized_parallel(location: *const Location, thread: i32);
    pub fn __kmpc_push_num_threads(location: *const Location, thread: i32, threads: i32);
    pub fn __kmpc_push_num_threads_strict(
        location: *const Location,
        thread: i32,
        threads: i32,
        severity: c_int,
        message: *const c_char,
    );
    pub fn __kmpc_push_proc_bind(location: *const Location, thread: i32, policy: c_int);
    pub fn __kmpc_set_thread_limit(location: *const Location, thread: i32, limit: i32);
    pub fn __kmpc_barrier(location: *const Location, thread: i32);
    pub fn omp_get_thread_num() -> c_int;
    pub fn omp_get_num_threads() -> c_int;
    pub fn omp_get_thread_limit() -> c_int;
    pub fn omp_get_level() -> c_int;
    pub fn GOMP_ordered_start();
    pub fn GOMP_ordered_end();
}

// The C library's functions, here because each module that needs them
// needs libomp too.
unsafe extern "C" {
    pub fn malloc(size: usize) -> *mut c_void;
    pub fn realloc(block: *mut c_void, size: usize) -> *mut c_void;
    pub fn free(block: *mut c_void);
    pub fn sched_yield() -> c_int;
}

/// Number of the calling thread in its team, and the size of that team.
pub fn team_member() -> crate::partition::Member {
    // SAFETY: both queries are callable on any thread at any time.
    let (index, of) = unsafe { (omp_get_thread_num(), omp_get_num_threads()) };
    crate::partition::Member { index: u64::from(index.unsigned_abs()), of: u64::from(of.unsigned_abs()) }
}

/// Barrier of the calling thread's team.
///
/// # Safety
/// Called by every thread of the team; `location` is the compiler's.
pub unsafe fn wait_for_team(location: *const Location) {
    // SAFETY: as this function's.
    unsafe { __kmpc_barrier(location, __kmpc_global_thread_num(location)) };
}
