//! Parallel regions: `__kmpc_parallel_60` and its predecessor, on libomp's
//! threads.
//!
//! On a GPU the threads of a block are there from the start and a region wakes
//! them; here libomp forks a team. The wrapper function that GPU workers need
//! to unpack arguments is not used: every thread gets the region itself.

use core::ffi::{c_int, c_void};
use core::ptr;

use crate::fatal::fatal;
use crate::hidden;
use crate::libomp::{
    __kmpc_end_serialized_parallel, __kmpc_fork_call, __kmpc_global_thread_num, __kmpc_push_num_threads,
    __kmpc_push_num_threads_strict, __kmpc_push_proc_bind, __kmpc_serialized_parallel, Location, Outlined,
};
use crate::team::{Team, as_member};

/// `proc_bind` values that are policies (`omp_proc_bind_t`): primary, close,
/// spread. The others mean that there is no clause.
const PROC_BIND_POLICIES: core::ops::RangeInclusive<c_int> = 2..=4;

/// Severity of a strict `num_threads` that cannot be met: `severity(fatal)`,
/// the default of OpenMP 6.0.
const SEVERITY_FATAL: c_int = 2;

/// An outlined region, its arguments and its team, shared by its threads.
struct Region {
    outlined: Outlined,
    arguments: *const *mut c_void,
    count: i64,
    team: Team,
}

/// What the clauses of a `parallel` construct ask for.
struct Clauses {
    condition: bool,
    num_threads: i32,
    strict: bool,
    proc_bind: c_int,
}

/// Parallel region, as flang 22 calls it.
///
/// # Safety
/// `outlined` takes two thread number pointers and then `count` pointers,
/// which are those in `arguments`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_parallel_60(
    location: *const Location,
    _thread: i32,
    condition: i32,
    num_threads: i32,
    proc_bind: c_int,
    outlined: Outlined,
    _wrapper: *const c_void,
    arguments: *const *mut c_void,
    count: i64,
    strict: i32,
) {
    let region = Region { outlined, arguments, count, team: Team::new() };
    let clauses = Clauses { condition: condition != 0, num_threads, strict: strict != 0, proc_bind };
    // SAFETY: as this function's.
    unsafe { parallel(location, &region, &clauses) };
}

/// Parallel region, as compilers before version 22 call it.
///
/// # Safety
/// As [`__kmpc_parallel_60`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_parallel_51(
    location: *const Location,
    thread: i32,
    condition: i32,
    num_threads: i32,
    proc_bind: c_int,
    outlined: Outlined,
    wrapper: *const c_void,
    arguments: *const *mut c_void,
    count: i64,
) {
    // SAFETY: as this function's.
    unsafe {
        __kmpc_parallel_60(
            location,
            thread,
            condition,
            num_threads,
            proc_bind,
            outlined,
            wrapper,
            arguments,
            count,
            0,
        );
    }
}

/// Where a GPU's worker finds the arguments of a region: flang 23 has the wrappers ask, of which nobody here
/// calls one. Their code is in the image all the same, and has to link.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_get_shared_variables(_arguments: *mut *const *mut c_void) {
    fatal(c"gangway: a parallel region is entered by its wrapper for GPUs: this image was not linked with one archive\n")
}

hidden!(__kmpc_parallel_60, __kmpc_parallel_51, __kmpc_get_shared_variables);

/// Runs the region on a team of libomp's threads, or on the calling thread
/// alone if the condition is false. Returns when all of them have finished.
///
/// # Safety
/// As [`__kmpc_parallel_60`].
unsafe fn parallel(location: *const Location, region: &Region, clauses: &Clauses) {
    // The thread number that the compiler passes may have been taken before a
    // task moved to another thread; libomp's own answer is always right.
    // SAFETY: the location comes from the compiler; libomp registers threads
    // that it does not know.
    let thread = unsafe { __kmpc_global_thread_num(location) };
    if !clauses.condition {
        let mut bound = 0;
        // SAFETY: the pair brackets a region on the calling thread, as
        // libomp's interface asks for.
        unsafe {
            __kmpc_serialized_parallel(location, thread);
            run(&mut { thread }, &mut bound, region);
            __kmpc_end_serialized_parallel(location, thread);
        }
        return;
    }
    if clauses.num_threads > 0 {
        // SAFETY: applies to the next region that this thread forks, below.
        unsafe {
            if clauses.strict {
                let message = ptr::null();
                __kmpc_push_num_threads_strict(
                    location,
                    thread,
                    clauses.num_threads,
                    SEVERITY_FATAL,
                    message,
                );
            } else {
                __kmpc_push_num_threads(location, thread, clauses.num_threads);
            }
        }
    }
    if PROC_BIND_POLICIES.contains(&clauses.proc_bind) {
        // SAFETY: as above.
        unsafe { __kmpc_push_proc_bind(location, thread, clauses.proc_bind) };
    }
    type Run = unsafe extern "C" fn(*mut i32, *mut i32, *const Region);
    // SAFETY: libomp calls the function on each thread with two thread number
    // pointers and the one argument given here; the region outlives the call,
    // which returns after the team has joined.
    unsafe {
        let run = core::mem::transmute::<Run, Outlined>(run);
        __kmpc_fork_call(location, 1, run, ptr::from_ref(region));
    }
}

/// What each thread of a team runs: the region with all its arguments.
///
/// # Safety
/// `region` points to a region that outlives the team.
unsafe extern "C" fn run(thread: *mut i32, bound: *mut i32, region: *const Region) {
    // SAFETY: as this function's.
    let region = unsafe { &*region };
    // SAFETY: as `invoke` asks for.
    as_member(&region.team, || unsafe { invoke(region, thread, bound) });
}

/// Calls an outlined function with as many arguments as it has.
macro_rules! call {
    ($region:expr, $thread:expr, $bound:expr; $($index:literal)*) => {{
        // Only the type of the argument is of interest.
        type Callee = unsafe extern "C" fn(*mut i32, *mut i32 $(, call!(@pointer $index))*);
        let callee = core::mem::transmute::<Outlined, Callee>($region.outlined);
        callee($thread, $bound $(, *$region.arguments.add($index))*)
    }};
    (@pointer $index:literal) => { *mut c_void };
}

/// Calls the region on this thread.
///
/// # Safety
/// As [`__kmpc_parallel_60`]; the thread number pointers are valid.
unsafe fn invoke(region: &Region, thread: *mut i32, bound: *mut i32) {
    // SAFETY: the count says which type the function has and how many
    // arguments there are.
    unsafe {
        match region.count {
            0 => call!(region, thread, bound;),
            1 => call!(region, thread, bound; 0),
            2 => call!(region, thread, bound; 0 1),
            3 => call!(region, thread, bound; 0 1 2),
            4 => call!(region, thread, bound; 0 1 2 3),
            5 => call!(region, thread, bound; 0 1 2 3 4),
            6 => call!(region, thread, bound; 0 1 2 3 4 5),
            7 => call!(region, thread, bound; 0 1 2 3 4 5 6),
            8 => call!(region, thread, bound; 0 1 2 3 4 5 6 7),
            // flang gathers what a region uses in one structure, so it never
            // passes more than one.
            _ => fatal(c"gangway: a parallel region in a device image has more than 8 arguments\n"),
        }
    }
}
