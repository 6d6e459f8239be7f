//! Tasks: the thread that comes to one runs it at once.

use crate::environment::Location;
use crate::explicit;
use crate::task_memory::{Compiler, Header, Task, allocate, header, release};
use crate::unfinished::{self, Dependences};
use core::ffi::c_void;

type Duplicate = unsafe extern "C" fn(*mut Task, *mut Task, i32);

/// # Safety
/// The task is of [`allocate`].
unsafe fn run(word: i32, task: *mut Task) {
    // SAFETY: as the caller says.
    unsafe { unfinished::run(word, task, Dependences::NONE) };
}

/// Hands a task in.
///
/// # Safety
/// As for [`unfinished::run`].
unsafe fn hand_in(word: i32, task: *mut Task, dependences: Dependences) {
    // SAFETY: as the caller says.
    unsafe {
        if unfinished::are_there() {
            unfinished::run_or_put_off(word, task, dependences);
        } else {
            unfinished::run(word, task, dependences);
        }
    }
}

fn make(bytes: usize, shared_bytes: usize, entry: *const c_void, compiler: Compiler) -> *mut Task {
    let own = bytes.next_multiple_of(8);
    let task = allocate((own + shared_bytes) as u64, compiler);
    let shareds = if shared_bytes == 0 {
        core::ptr::null_mut()
    } else {
        // SAFETY: the values are behind the task.
        unsafe { task.cast::<u8>().add(own) }.cast()
    };
    // SAFETY: the memory is at least as large as the part that is known here.
    unsafe { task.write(Task { shareds, entry, part: 0, data: [0; 2] }) };
    task
}

/// Makes a task, which the compiler fills.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_omp_task_alloc(
    _: *const Location,
    _: i32,
    _flags: i32,
    bytes: usize,
    shared_bytes: usize,
    entry: *const c_void,
) -> *mut Task {
    make(bytes, shared_bytes, entry, Compiler::Clang)
}

/// The same for a function of flang's: `gangway fc` has flang's code call it
/// (`tools/gangway/src/stand_in/bitcode.rs`).
#[unsafe(no_mangle)]
pub extern "C" fn __gangway_flang_task_(
    _: *const Location,
    _: i32,
    _flags: i32,
    bytes: usize,
    shared_bytes: usize,
    entry: *const c_void,
) -> *mut Task {
    make(bytes, shared_bytes, entry, Compiler::Flang)
}

/// Makes a task that would run on another device's thread.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_omp_target_task_alloc(
    location: *const Location,
    word: i32,
    flags: i32,
    bytes: usize,
    shared_bytes: usize,
    entry: *const c_void,
    _device: i64,
) -> *mut Task {
    __kmpc_omp_task_alloc(location, word, flags, bytes, shared_bytes, entry)
}

/// `task`
///
/// # Safety
/// The task is of [`__kmpc_omp_task_alloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task(_: *const Location, word: i32, task: *mut Task) -> i32 {
    // SAFETY: as the caller says.
    unsafe { hand_in(word, task, Dependences::NONE) };
    0
}

/// `task depend(…)`: what it depends on has ended, as tasks run at once, unless one waits for its event.
///
/// # Safety
/// As for [`__kmpc_omp_task`].
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn __kmpc_omp_task_with_deps(
    _: *const Location,
    word: i32,
    task: *mut Task,
    count: i32,
    dependences: *mut c_void,
    _: i32,
    _: *mut c_void,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { hand_in(word, task, Dependences::new(dependences, count)) };
    0
}

/// `task if(false)`: the compiler calls the task itself, between these two.
///
/// # Safety
/// As for [`__kmpc_omp_task`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task_begin_if0(_: *const Location, _: i32, task: *mut Task) {
    let outer = explicit::enter();
    // SAFETY: as the caller says; nobody else looks at how large the task is.
    unsafe { (*header(task)).bytes = outer.word() };
}

/// The task has ended when its event is fulfilled, and the thread waits for it.
///
/// # Safety
/// As for [`__kmpc_omp_task`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task_complete_if0(_: *const Location, _: i32, task: *mut Task) {
    // SAFETY: as the caller says.
    unsafe {
        let Header { bytes: outer, event, .. } = header(task).read();
        explicit::leave(explicit::Tasks::of(outer));
        if unfinished::are_there() && !event.is_null() {
            unfinished::returned(event, Dependences::NONE);
            unfinished::wait();
        }
        release(task);
    }
}

/// `taskwait`
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_omp_taskwait(_: *const Location, _: i32) -> i32 {
    unfinished::wait();
    0
}

/// `taskyield`
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_omp_taskyield(_: *const Location, _: i32, _: i32) -> i32 {
    unfinished::look_once();
    0
}

/// `task depend(…) if(false)`
///
/// # Safety
/// There are so many dependences.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_wait_deps(
    _: *const Location,
    _: i32,
    count: i32,
    dependences: *mut c_void,
    _: i32,
    _: *mut c_void,
) {
    if unfinished::are_there() {
        // SAFETY: as the caller says.
        unfinished::wait_for(unsafe { Dependences::new(dependences, count) });
    }
}

/// `taskwait depend(…)`
///
/// # Safety
/// There are so many dependences.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn __kmpc_omp_taskwait_deps_51(
    location: *const Location,
    word: i32,
    count: i32,
    dependences: *mut c_void,
    others: i32,
    other_dependences: *mut c_void,
    _: i32,
) {
    // SAFETY: as the caller says.
    unsafe { __kmpc_omp_wait_deps(location, word, count, dependences, others, other_dependences) };
}

/// `affinity(…)`: there are no places.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_omp_reg_task_with_affinity(
    _: *const Location,
    _: i32,
    _: *mut Task,
    _: i32,
    _: *mut c_void,
) -> i32 {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_taskgroup(_: *const Location, _: i32) {}

#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_taskgroup(_: *const Location, _: i32) {
    unfinished::wait();
}

/// `taskloop`: the task as the compiler made it has the bounds of the whole loop. Where values have to
/// be copied, or the last iteration to be marked, the compiler's function does it, for a copy.
///
/// # Safety
/// The task is of [`__kmpc_omp_task_alloc`], and the function was made for it.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn __kmpc_taskloop(
    _: *const Location,
    word: i32,
    task: *mut Task,
    _condition: i32,
    _lower: *mut u64,
    _upper: *mut u64,
    _stride: i64,
    _no_group: i32,
    _kind: i32,
    _grain: u64,
    duplicate: Option<Duplicate>,
) {
    let Some(duplicate) = duplicate else {
        // SAFETY: as the caller says.
        unsafe { run(word, task) };
        return;
    };
    // SAFETY: the task has that many bytes.
    unsafe {
        let Header { bytes, compiler, .. } = header(task).read();
        let copy = allocate(bytes, compiler);
        core::ptr::copy_nonoverlapping(task.cast::<u8>(), copy.cast::<u8>(), bytes as usize);
        if !(*task).shareds.is_null() {
            let offset = (*task).shareds as usize - task as usize;
            (*copy).shareds = copy.cast::<u8>().add(offset).cast();
        }
        duplicate(copy, task, 1);
        run(word, copy);
        release(task);
    }
}

/// The same with `strict`, which only says how large pieces are.
///
/// # Safety
/// As for [`__kmpc_taskloop`].
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn __kmpc_taskloop_5(
    location: *const Location,
    word: i32,
    task: *mut Task,
    condition: i32,
    lower: *mut u64,
    upper: *mut u64,
    stride: i64,
    no_group: i32,
    kind: i32,
    grain: u64,
    _modifier: i32,
    duplicate: Option<Duplicate>,
) {
    // SAFETY: as the caller says.
    unsafe {
        __kmpc_taskloop(
            location, word, task, condition, lower, upper, stride, no_group, kind, grain, duplicate,
        );
    }
}

/// `taskgroup task_reduction(…)`: one thread runs all of the group's tasks, so they may all
/// add to the original variable.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_taskred_init(_: i32, _: i32, data: *mut c_void) -> *mut c_void {
    data
}

/// The same for older compilers.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_task_reduction_init(_: i32, _: i32, data: *mut c_void) -> *mut c_void {
    data
}

/// The variable to which a task adds: the original, or the thread's copy that the compiler passes.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_task_reduction_get_th_data(
    _: i32,
    _group: *mut c_void,
    item: *mut c_void,
) -> *mut c_void {
    item
}

/// `reduction(task, …)`: a thread's tasks are run by that thread, so they add to its own copy, which the
/// clause itself combines.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_taskred_modifier_init(
    _: *const Location,
    _: i32,
    _is_worksharing: i32,
    _: i32,
    data: *mut c_void,
) -> *mut c_void {
    data
}

/// The same for older compilers.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_task_reduction_modifier_init(
    _: *const Location,
    _: i32,
    _is_worksharing: i32,
    _: i32,
    data: *mut c_void,
) -> *mut c_void {
    data
}

/// The end of the region or loop with the clause: nothing is left to combine.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_task_reduction_modifier_fini(_: *const Location, _: i32, _is_worksharing: i32) {}
