//! What the program does with tasks of OpenMP, as clang's and flang's code asks libomp for it: for who looks for races.
//!
//! A `nowait` construct is a task that libomp runs on a thread of its own. What that thread has waited for is known to
//! the program when it waits for its tasks: by a `taskwait`, a barrier, the end of a task group or of a parallel region.
//! So the functions for that are told of, and tasks are followed from where they are made to where they run.
//!
//! Entry points are those of LLVM's `openmp/runtime/src/kmp.h`.

use libc::{c_int, c_void};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::dependences::{ALL, Dependence, Graph, Maker, OF_PROGRAM, exclusive};

/// What is told. The numbers are those of `frontends/frontend/src/race_check.rs`.
#[repr(u32)]
#[derive(Clone, Copy)]
enum Event {
    /// A task for a device is made. The answer goes with it.
    MadeForDevice = 0,
    Begin = 1,
    BeginDependent = 2,
    BeginForDevice = 3,
    BeginDependentForDevice = 4,
    End = 5,
    EndForDevice = 6,
    /// The program has waited for tasks.
    Met = 7,
    /// What a task does is done by several threads from now on.
    Spreads = 8,
    Gathers = 9,
    /// A task for a device does not run: it has been cancelled.
    Dropped = 10,
    /// The task for a device that begins next on this thread comes after another one.
    Follows = 11,
    /// The program has waited for a task for a device, or one of its own.
    MetOne = 12,
}

type Listener = extern "C" fn(event: u32, made: u64) -> u64;

static LISTENER: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Has `listener` told from now on.
#[unsafe(no_mangle)]
pub extern "C" fn gangway_listen_to_tasks(listener: Listener) {
    LISTENER.store(listener as *mut (), Ordering::Release);
}

fn are_told() -> bool {
    !LISTENER.load(Ordering::Relaxed).is_null()
}

fn tell(event: Event, made: u64) -> u64 {
    let listener = LISTENER.load(Ordering::Acquire);
    if listener.is_null() {
        return 0;
    }
    // SAFETY: only functions of this type are stored.
    unsafe { std::mem::transmute::<*mut (), Listener>(listener)(event as u32, made) }
}

type Routine = unsafe extern "C" fn(thread: c_int, task: *mut Task) -> c_int;

/// The beginning of libomp's `kmp_task_t`.
#[repr(C)]
pub struct Task {
    shareds: *mut c_void,
    routine: Routine,
}

/// A task that has been handed to libomp and has not begun.
struct Made {
    routine: Routine,
    /// When it was made, if it is for a device.
    for_device: Option<u64>,
    depends: bool,
    /// Those that it comes after.
    follows: Vec<Maker>,
    /// By which addresses it excludes others.
    exclusive: Vec<usize>,
}

/// Tasks for devices that are being filled in, and those that have been handed over, by their addresses. One that is
/// cancelled goes without a word, and libomp gives its address to another.
struct Known {
    allocated: BTreeSet<usize>,
    made: BTreeMap<usize, Made>,
    dependences: Graph,
}

static KNOWN: Mutex<Known> =
    Mutex::new(Known { allocated: BTreeSet::new(), made: BTreeMap::new(), dependences: Graph::new() });

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a task was allocated for a device; it is not asked again.
fn take_allocated(task: *mut Task) -> bool {
    known().allocated.remove(&task.addr())
}

thread_local! {
    /// The task that this thread hands over.
    static HANDS_OVER: Cell<usize> = const { Cell::new(0) };
    /// The tasks of the program that this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Hands a task to libomp, by `call`.
unsafe fn hand_over(task: *mut Task, depends_on: &[Dependence], call: impl FnOnce() -> c_int) -> c_int {
    if !are_told() || task.is_null() {
        return call();
    }
    let for_device = take_allocated(task).then(|| tell(Event::MadeForDevice, 0));
    // SAFETY: the program hands over a task that libomp has allocated.
    let routine = unsafe { std::mem::replace(&mut (*task).routine, run) };
    let depends = !depends_on.is_empty();
    let mut known = known();
    let follows = match depends {
        true => known.dependences.add(for_device.unwrap_or(OF_PROGRAM), depends_on),
        false => Vec::new(),
    };
    let made = Made { routine, for_device, depends, follows, exclusive: exclusive(depends_on) };
    let dropped = known.made.insert(task.addr(), made);
    drop(known);
    if dropped.is_some_and(|made| made.for_device.is_some()) {
        tell(Event::Dropped, 0);
    }
    let before = HANDS_OVER.replace(task.addr());
    let result = call();
    HANDS_OVER.set(before);
    result
}

/// A task that was handed over begins.
fn take_made(task: *mut Task) -> Option<Made> {
    let mut known = known();
    let mut made = known.made.remove(&task.addr())?;
    let maker = made.for_device.unwrap_or(OF_PROGRAM);
    made.follows.extend(known.dependences.begin(maker, &made.exclusive));
    Some(made)
}

/// What libomp runs in place of a task's routine.
unsafe extern "C" fn run(thread: c_int, task: *mut Task) -> c_int {
    let Some(made) = take_made(task) else {
        // A task without one was not handed over.
        return 0;
    };
    // SAFETY: libomp runs a task that is there; it may be handed over again.
    unsafe { (*task).routine = made.routine };
    // An included task is run where it is made, before the program goes on.
    let is_included = HANDS_OVER.get() == task.addr();
    let (end, for_program) = match made.for_device {
        Some(moment) if !is_included => {
            let dependent = made.depends;
            for &other in &made.follows {
                tell(Event::Follows, other);
            }
            let begin = if dependent { Event::BeginDependentForDevice } else { Event::BeginForDevice };
            tell(begin, moment);
            (Event::EndForDevice, false)
        }
        for_device => {
            tell(if made.depends { Event::BeginDependent } else { Event::Begin }, 0);
            (if for_device.is_some() { Event::EndForDevice } else { Event::End }, true)
        }
    };
    let before = HANDS_OVER.replace(0);
    DEPTH.set(DEPTH.get() + usize::from(for_program));
    // SAFETY: its own routine.
    let result = unsafe { (made.routine)(thread, task) };
    DEPTH.set(DEPTH.get() - usize::from(for_program));
    HANDS_OVER.set(before);
    tell(end, 0);
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_target_task_alloc(
    place: *mut c_void,
    thread: c_int,
    flags: c_int,
    size: usize,
    shared: usize,
    routine: Routine,
    device: i64,
) -> *mut Task {
    type Alloc = unsafe extern "C" fn(*mut c_void, c_int, c_int, usize, usize, Routine, i64) -> *mut Task;
    let next = next!(__kmpc_omp_target_task_alloc: Alloc);
    // SAFETY: as this function's caller has promised.
    let task = unsafe { next(place, thread, flags, size, shared, routine, device) };
    if are_told() {
        known().allocated.insert(task.addr());
    }
    task
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task(place: *mut c_void, thread: c_int, task: *mut Task) -> c_int {
    let next = next!(__kmpc_omp_task: unsafe extern "C" fn(*mut c_void, c_int, *mut Task) -> c_int);
    // SAFETY: as this function's caller has promised.
    unsafe { hand_over(task, &[], || next(place, thread, task)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task_with_deps(
    place: *mut c_void,
    thread: c_int,
    task: *mut Task,
    count: c_int,
    list: *mut c_void,
    count_no_alias: c_int,
    list_no_alias: *mut c_void,
) -> c_int {
    type WithDependences =
        unsafe extern "C" fn(*mut c_void, c_int, *mut Task, c_int, *mut c_void, c_int, *mut c_void) -> c_int;
    let next = next!(__kmpc_omp_task_with_deps: WithDependences);
    // SAFETY: as this function's caller has promised.
    let call = || unsafe { next(place, thread, task, count, list, count_no_alias, list_no_alias) };
    // SAFETY: the program passes lists of so many.
    let lists = unsafe { [dependences(count, list), dependences(count_no_alias, list_no_alias)] };
    // SAFETY: as above.
    unsafe { hand_over(task, &lists.concat(), call) }
}

/// # Safety
/// The list is null, or has so many elements.
unsafe fn dependences<'a>(count: c_int, list: *mut c_void) -> &'a [Dependence] {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: as the caller says.
    unsafe { if list.is_null() || count == 0 { &[] } else { slice::from_raw_parts(list.cast(), count) } }
}

/// The program runs it where it is: it is not handed over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task_begin_if0(place: *mut c_void, thread: c_int, task: *mut Task) {
    if are_told() {
        take_allocated(task);
    }
    let next = next!(__kmpc_omp_task_begin_if0: unsafe extern "C" fn(*mut c_void, c_int, *mut Task));
    // SAFETY: as this function's caller has promised.
    unsafe { next(place, thread, task) }
}

/// Functions behind which the program knows what its tasks have done.
macro_rules! met {
    ($(fn $name:ident($($argument:ident: $of:ty),*) $(-> $result:ty)?;)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $of),*) $(-> $result)? {
            let next = next!($name: unsafe extern "C" fn($($of),*) $(-> $result)?);
            // SAFETY: as this function's caller has promised.
            let result = unsafe { next($($argument),*) };
            tell(Event::Met, 0);
            result
        }
    )+};
}

type At = *mut c_void;

met! {
    fn __kmpc_omp_taskwait(place: At, thread: c_int) -> c_int;
    fn __kmpc_end_taskgroup(place: At, thread: c_int);
    fn __kmpc_barrier(place: At, thread: c_int);
    fn __kmpc_barrier_master(place: At, thread: c_int) -> c_int;
    fn __kmpc_cancel_barrier(place: At, thread: c_int) -> c_int;
    fn __kmpc_end_reduce(place: At, thread: c_int, lock: At);
    fn __kmpc_copyprivate(place: At, thread: c_int, size: usize, data: At, copy: At, did: c_int);
    fn __kmpc_end_serialized_parallel(place: At, thread: c_int);
    fn omp_fulfill_event(event: At);
}

/// Functions behind which it knows what those tasks have done that come before something with dependences.
macro_rules! met_some {
    ($(fn $name:ident($($more:ident: $of:ty)?);)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            place: At, thread: c_int, count: c_int, list: At, count_no_alias: c_int, list_no_alias: At $(, $more: $of)?
        ) {
            let next = next!($name: unsafe extern "C" fn(At, c_int, c_int, At, c_int, At $(, $of)?));
            // SAFETY: as this function's caller has promised.
            unsafe { next(place, thread, count, list, count_no_alias, list_no_alias $(, $more)?) };
            if are_told() {
                // SAFETY: the program passes lists of so many.
                let lists = unsafe { [dependences(count, list), dependences(count_no_alias, list_no_alias)] };
                meet(&lists.concat());
            }
        }
    )+};
}

fn meet(depends_on: &[Dependence]) {
    let before = known().dependences.before(depends_on);
    if before.contains(&ALL) {
        tell(Event::Met, 0);
    } else {
        for other in before {
            tell(Event::MetOne, other);
        }
    }
}

met_some! {
    fn __kmpc_omp_wait_deps();
    fn __kmpc_omp_taskwait_deps_51(nowait: c_int);
}

/// Functions that run what a task or the program does in several threads, and come back when all is done.
macro_rules! spread {
    ($(fn $name:ident($($argument:ident: $of:ty),*);)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $of),*) {
            let next = next!($name: unsafe extern "C" fn($($of),*));
            let spreads = begin_to_spread(true);
            // SAFETY: as this function's caller has promised.
            unsafe { next($($argument),*) };
            gather(spreads);
        }
    )+};
}

spread! {
    fn __kmpc_taskloop(
        place: At, thread: c_int, task: At, is: c_int, low: At, high: At, step: i64, nogroup: c_int, schedule: c_int,
        grain: u64, copy: At
    );
    fn __kmpc_taskloop_5(
        place: At, thread: c_int, task: At, is: c_int, low: At, high: At, step: i64, nogroup: c_int, schedule: c_int,
        grain: u64, modifier: c_int, copy: At
    );
    fn __kmpc_fork_call_if(place: At, count: c_int, routine: At, is: c_int, arguments: At);
}

/// `in_tasks`: what is spread are tasks in any case.
fn begin_to_spread(in_tasks: bool) -> bool {
    let spreads = are_told() && (in_tasks || DEPTH.get() > 0);
    if spreads {
        tell(Event::Spreads, 0);
    }
    spreads
}

fn gather(spreads: bool) {
    if spreads {
        tell(Event::Gathers, 0);
    }
    tell(Event::Met, 0);
}

thread_local! {
    /// Whether the parallel regions that this thread is in are spread tasks, the last in the lowest bit.
    static FORKS: Cell<u64> = const { Cell::new(0) };
}

#[cfg(target_arch = "x86_64")]
extern "C" fn begin_fork() -> *const c_void {
    let spreads = begin_to_spread(false);
    FORKS.set(FORKS.get() << 1 | u64::from(spreads));
    next!(__kmpc_fork_call: *const c_void)
}

#[cfg(target_arch = "x86_64")]
extern "C" fn end_fork() {
    let forks = FORKS.get();
    FORKS.set(forks >> 1);
    gather(forks & 1 != 0);
}

/// `__kmpc_fork_call(place, count, routine, ...)` takes so many arguments more, of one word each. They are passed on.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_fork_call() {
    core::arch::naked_asm!(
        // Whoever looks for callers finds those of this function by what is said of the frame.
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rbx",
        ".cfi_offset rbx, -24",
        "push r12",
        "sub rsp, 48",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "call {begin}",
        "mov r11, rax",
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "mov rdx, [rsp + 16]",
        "mov rcx, [rsp + 24]",
        "mov r8, [rsp + 32]",
        "mov r9, [rsp + 40]",
        // Three of them are in registers.
        "movsxd rbx, esi",
        "sub rbx, 3",
        "jle 3f",
        "lea rax, [rbx * 8 + 15]",
        "and rax, -16",
        "sub rsp, rax",
        "2:",
        "mov rax, [rbp + 8 + rbx * 8]",
        "mov [rsp + rbx * 8 - 8], rax",
        "dec rbx",
        "jnz 2b",
        "3:",
        "xor eax, eax",
        "call r11",
        "lea rsp, [rbp - 16]",
        "call {end}",
        "pop r12",
        "pop rbx",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        begin = sym begin_fork,
        end = sym end_fork,
    )
}
