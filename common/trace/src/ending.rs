//! Ends of a process that no exit handler sees: signals, `abort`, `quick_exit`, `_exit`.
//!
//! What has been recorded is written then, too. A signal may come while its thread is in the
//! middle of `malloc`, so nothing is written there: a thread that waits for nothing else, the
//! keeper, is woken and does it, and the signal takes its course when the keeper is done or
//! [`PATIENCE`] is over. Only signals whose handling is the system's are taken; a program's own
//! handlers stay, and one that is installed later replaces ours. Where an instruction faults, the
//! handler that was there before is called first: if it gives up, by restoring the system's
//! handling as that of Rust programs does, the keeper is called.
//!
//! `_exit` calls nobody. `gangway run` has the loader put a library in front that tells of it
//! (`tools/ending`).
//!
//! Neither files nor descriptors are kept open for this: programs close what they do not know.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long the end of the process waits for the keeper.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often the keeper looks whether it is the last thread.
const LOOK: Duration = Duration::from_secs(1);

/// The name of the keeper's thread.
const NAME: &str = "gangway-keeper";

/// Those that end a process unless it handles them.
const SIGNALS: [c_int; 14] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGXCPU,
    libc::SIGSYS,
];

/// What is to be called; the recorder of the library and one more.
static ACTIONS: [AtomicPtr<()>; 4] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 4];

/// The process that has a keeper, and the keeper's thread.
static KEEPER_PROCESS: AtomicU32 = AtomicU32::new(0);
static KEEPER_THREAD: AtomicU32 = AtomicU32::new(0);

const ASLEEP: u32 = 0;
const CALLED: u32 = 1;
const DONE: u32 = 2;
static STATE: AtomicU32 = AtomicU32::new(ASLEEP);

type BeforeExit = extern "C" fn(extern "C" fn());

/// The function of the library that tells of `_exit`: null until it has been looked for, [`missing`] if it is not loaded.
static BEFORE_EXIT: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

extern "C" fn missing(_: extern "C" fn()) {}

/// Looks for the library that tells of `_exit`, once for all. The loader's lock is taken for that: a caller of [`at_end`]
/// for whom other threads wait does this before they do.
pub fn find_library_of_endings() {
    before_exit();
}

fn before_exit() -> BeforeExit {
    let mut known = BEFORE_EXIT.load(Ordering::Acquire);
    if known.is_null() {
        // SAFETY: a name with its terminator.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gangway_before_exit".as_ptr()) };
        known = if found.is_null() { missing as *mut () } else { found.cast() };
        BEFORE_EXIT.store(known, Ordering::Release);
    }
    // SAFETY: the function above, or the library's, to which it gives this type.
    unsafe { std::mem::transmute::<*mut (), BeforeExit>(known) }
}

/// Has `action` called when the process ends in a way that no exit handler sees. It may be called
/// although an exit handler has been, and runs on a thread of its own.
pub fn at_end(action: fn()) {
    let action = action as *mut ();
    for place in &ACTIONS {
        let before =
            place.compare_exchange(std::ptr::null_mut(), action, Ordering::AcqRel, Ordering::Acquire);
        if before.is_ok() || before == Err(action) {
            break;
        }
    }
    keep_watch();
    find_library_of_endings();
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        watch_signals();
        watch_exits();
    });
}

/// Sees to it that this process has a keeper: a forked child begins without.
pub fn keep_watch() {
    let process = std::process::id();
    if KEEPER_PROCESS.load(Ordering::Acquire) == process || ACTIONS[0].load(Ordering::Acquire).is_null() {
        return;
    }
    // One keeper, however many threads get here at once.
    static STARTING: Mutex<()> = Mutex::new(());
    let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if KEEPER_PROCESS.load(Ordering::Acquire) == process {
        return;
    }
    STATE.store(ASLEEP, Ordering::Release);
    let keeper = || std::thread::Builder::new().name(NAME.into()).spawn(keep);
    if without_signals(keeper).is_ok() {
        KEEPER_PROCESS.store(process, Ordering::Release);
    }
}

/// The keeper.
fn keep() {
    // SAFETY: it has no preconditions.
    KEEPER_THREAD.store(unsafe { libc::gettid() } as u32, Ordering::Release);
    while STATE.load(Ordering::Acquire) == ASLEEP {
        wait(ASLEEP, Some(LOOK));
        if is_last() {
            // The C library ends the process with its last thread, as by `exit`.
            return;
        }
    }
    for place in &ACTIONS {
        let action = place.load(Ordering::Acquire);
        if !action.is_null() {
            // SAFETY: only `at_end` stores here, and only functions of this type.
            let action = unsafe { std::mem::transmute::<*mut (), fn()>(action) };
            // The process is ending: there is nobody to tell of a panic but its message.
            let _ = std::panic::catch_unwind(action);
        }
    }
    STATE.store(DONE, Ordering::Release);
    wake();
}

/// Whether the process has no threads but keepers: the program has ended its first thread, which
/// ends the process only with the last of all.
fn is_last() -> bool {
    // "PID (NAME) STATE": the first thread is a zombie then, and stays in the list.
    let state = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    if !state.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')) {
        return false;
    }
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return false };
    let leader = std::process::id().to_string();
    threads.flatten().filter(|thread| thread.file_name() != *leader).all(|thread| {
        std::fs::read_to_string(thread.path().join("comm")).is_ok_and(|name| name.trim_end() == NAME)
    })
}

/// Wakes the keeper and waits until it is done. Async-signal-safe.
fn call_keeper() {
    // SAFETY: these have no preconditions.
    let (process, thread) = unsafe { (libc::getpid() as u32, libc::gettid() as u32) };
    // A child of `vfork` shares the memory, and its end is not that of this process. And the
    // keeper itself may have crashed.
    if KEEPER_PROCESS.load(Ordering::Acquire) != process || KEEPER_THREAD.load(Ordering::Acquire) == thread {
        return;
    }
    let _ = STATE.compare_exchange(ASLEEP, CALLED, Ordering::AcqRel, Ordering::Acquire);
    wake();
    let begin = Instant::now();
    while STATE.load(Ordering::Acquire) == CALLED {
        let Some(left) = PATIENCE.checked_sub(begin.elapsed()) else { return };
        wait(CALLED, Some(left));
    }
}

/// Those that an instruction raises, which runs again when the handler returns.
const FAULTS: [c_int; 4] = [libc::SIGILL, libc::SIGBUS, libc::SIGFPE, libc::SIGSEGV];

/// Who handled each of [`FAULTS`] before.
static BEFORE: [OnceLock<libc::sigaction>; FAULTS.len()] = [const { OnceLock::new() }; FAULTS.len()];

fn watch_signals() {
    for signal in SIGNALS {
        let Some(before) = handling(signal) else { continue };
        match FAULTS.iter().position(|&fault| fault == signal) {
            Some(index) if before.sa_sigaction != libc::SIG_IGN => {
                let _ = BEFORE[index].set(before);
            }
            None if before.sa_sigaction == libc::SIG_DFL => {}
            _ => continue,
        }
        // SAFETY: a structure of this frame; the handler is async-signal-safe and has the type that
        // SA_SIGINFO asks for.
        unsafe {
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = on_signal as *const () as usize;
            // A thread that has used up its stack may have another one for signals.
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | (before.sa_flags & libc::SA_NODEFER);
            libc::sigaction(signal, &raw const ours, std::ptr::null_mut());
        }
    }
}

/// How a signal is handled now.
fn handling(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: plain data, which the call fills in.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, std::ptr::null(), &raw mut now) == 0).then_some(now)
    }
}

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let before = FAULTS.iter().position(|&fault| fault == signal).and_then(|index| BEFORE[index].get());
    if let Some(before) = before.filter(|before| before.sa_sigaction != libc::SIG_DFL) {
        // SAFETY: it was the handler of this signal, so it takes these arguments.
        unsafe { call(before, signal, info, context) };
        if handling(signal).is_none_or(|now| now.sa_sigaction != libc::SIG_DFL) {
            return;
        }
    }
    call_keeper();
    // SAFETY: the kernel gave the structure, or a handler that was before this one passed it on.
    // The rest are plain calls, all async-signal-safe.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        // A fault happens again, at the place where it belongs. Any other signal is blocked while
        // it is handled, so what is raised here ends the process when the handler returns.
        if !(FAULTS.contains(&signal) && (*info).si_code > 0) {
            libc::raise(signal);
        }
    }
}

/// # Safety
/// The action is a handler of the signal, and the rest is what a handler gets.
unsafe fn call(action: &libc::sigaction, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the flag tells which of the two the handler is.
    unsafe {
        if action.sa_flags & libc::SA_SIGINFO != 0 {
            type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            std::mem::transmute::<usize, Handler>(action.sa_sigaction)(signal, info, context);
        } else {
            type Handler = unsafe extern "C" fn(c_int);
            std::mem::transmute::<usize, Handler>(action.sa_sigaction)(signal);
        }
    }
}

/// `quick_exit`, and `_exit` where the library that tells of it has been loaded.
fn watch_exits() {
    unsafe extern "C" {
        fn __cxa_at_quick_exit(function: extern "C" fn(*mut c_void), library: *mut c_void) -> c_int;
    }
    extern "C" fn on_quick_exit(_: *mut c_void) {
        call_keeper();
    }
    extern "C" fn on_exit() {
        call_keeper();
    }
    // SAFETY: a function of the type that glibc calls. Without a library named it is called
    // whatever has been unloaded: the libraries that have this code never are.
    unsafe { __cxa_at_quick_exit(on_quick_exit, std::ptr::null_mut()) };
    before_exit()(on_exit);
}

/// Calls `spawn` while the thread blocks all signals: the new thread inherits that.
fn without_signals<T>(spawn: impl FnOnce() -> T) -> T {
    // SAFETY: plain calls on sets of this frame.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let result = spawn();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        result
    }
}

/// Sleeps while the state is as expected, or for some time.
fn wait(expected: u32, timeout: Option<Duration>) {
    let timeout = timeout.map(|left| libc::timespec {
        tv_sec: left.as_secs() as libc::time_t,
        tv_nsec: left.subsec_nanos().into(),
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word lives as long as the process; the time, if there is one, as long as the call.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            STATE.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            timeout,
        );
    }
}

fn wake() {
    // SAFETY: the word lives as long as the process.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            STATE.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            c_int::MAX,
        );
    }
}
