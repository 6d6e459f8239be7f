//! `libgangway-ending.so`, which `gangway run` has the loader put before a program.
//!
//! `_exit` and `_Exit` end a process without calling anybody. Here they call what the recorder of a
//! report or a trace has asked for (`common/trace/src/ending.rs`), and then do the same. So does
//! `raise` of a signal that ends the process: handlers of crashes, Python's `faulthandler` among
//! them, restore the system's handling and raise their signal again, within the handler.
//!
//! With the virtual GPU it also knows whether its driver was opened, by the program or by what the
//! program has started, and says at the end of the program if it never was. The process is known by
//! its number: `gangway run` becomes the program.
//!
//! It is in every process that the program starts, so it does nothing before it is called.

mod opened;

use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What is called before a process ends by `_exit`.
static ACTIONS: [AtomicPtr<()>; 4] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 4];

/// Has `action` called before the process ends by `_exit`. It may be called on any thread, in a
/// signal handler, and in a child of `vfork`.
#[unsafe(no_mangle)]
pub extern "C" fn gangway_before_exit(action: extern "C" fn()) {
    let action = action as *mut ();
    for place in &ACTIONS {
        let empty = std::ptr::null_mut();
        let before = place.compare_exchange(empty, action, Ordering::AcqRel, Ordering::Acquire);
        if before.is_ok() || before == Err(action) {
            return;
        }
    }
}

/// The driver of the virtual GPU has been opened in this process.
#[unsafe(no_mangle)]
pub extern "C" fn gangway_driver_opened() {
    opened::note();
}

fn call_actions() {
    for place in &ACTIONS {
        let action = place.load(Ordering::Acquire);
        if !action.is_null() {
            // SAFETY: only `gangway_before_exit` stores here, and only functions of this type.
            unsafe { std::mem::transmute::<*mut (), extern "C" fn()>(action)() };
        }
    }
}

fn end(status: c_int) -> ! {
    call_actions();
    opened::tell();
    loop {
        // SAFETY: it ends all threads of the process, as the C library's function does.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}

/// `_exit` of POSIX.
#[unsafe(no_mangle)]
pub extern "C" fn _exit(status: c_int) -> ! {
    end(status)
}

/// `_Exit` of C, the same function by another name.
#[unsafe(no_mangle)]
pub extern "C" fn _Exit(status: c_int) -> ! {
    end(status)
}

/// `raise` of C: sends a signal to the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn raise(signal: c_int) -> c_int {
    if ends_process(signal) {
        call_actions();
    }
    // SAFETY: what the C library's function asks the system for; it sets `errno` itself.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), libc::gettid(), signal) as c_int }
}

/// Whether the calling thread ends the process with a signal. Async-signal-safe.
fn ends_process(signal: c_int) -> bool {
    let harmless = [
        libc::SIGCHLD,
        libc::SIGCONT,
        libc::SIGURG,
        libc::SIGWINCH,
        libc::SIGSTOP,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
    ];
    // SAFETY: plain calls that fill structures of this frame.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        let mut blocked: libc::sigset_t = std::mem::zeroed();
        signal > 0
            && !harmless.contains(&signal)
            && libc::sigaction(signal, std::ptr::null(), &raw mut now) == 0
            && now.sa_sigaction == libc::SIG_DFL
            && libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut blocked) == 0
            && libc::sigismember(&raw const blocked, signal) == 0
    }
}

/// Runs at the end of a process by `exit`, after its handlers.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = {
    extern "C" fn at_exit() {
        opened::tell();
    }
    at_exit
};
