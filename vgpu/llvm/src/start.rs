//! Starting the process that LLVM runs in, without the program seeing it.
//!
//! The program must not be told of a child that it has not made: not by `wait`, not by a signal. A process that
//! is made without a signal at its end is none of those that `wait` is for. But a process that runs another
//! program becomes an ordinary child again. So there are two: the first makes the second and ends, and the second is
//! then a child of the system's. Where the program takes care of such children itself, nothing is started.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::installed;

/// Words of 16 bytes of the stacks that the two processes begin on.
const STACK: usize = 4096;
/// The signals that there are, and the bytes of a set of them.
const SIGNALS: c_int = 64;
const SET: usize = 8;

/// Whether children of children become this process's own when their parents end.
fn adopts() -> bool {
    let mut subreaper: c_int = 0;
    // SAFETY: it writes one number. Where it fails there are no such processes.
    unsafe {
        libc::prctl(libc::PR_GET_CHILD_SUBREAPER, &raw mut subreaper);
        libc::getpid() == 1 || subreaper != 0
    }
}

/// What the two processes need. They share this process's memory, and may use nothing that takes a lock.
struct Plan<'a> {
    program: &'a CStr,
    arguments: [*const c_char; 2],
    environment: [*const c_char; 2],
    /// What becomes the program's standard input.
    socket: c_int,
    /// The end of the second process's stack.
    stack: *mut c_void,
    /// Why the program cannot be started, as an `errno`.
    failure: AtomicI32,
}

fn last_error() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// The first process: makes the second.
extern "C" fn first(plan: *mut c_void) -> c_int {
    // SAFETY: it is the plan, which stays until this process has ended. The memory is shared and the caller is
    // stopped until the second process runs the program: the stack is that one's alone.
    unsafe {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let stack = (*plan.cast::<Plan<'_>>()).stack;
        if libc::clone(second, stack, flags, plan) < 0 {
            (*plan.cast::<Plan<'_>>()).failure.store(last_error(), Ordering::Relaxed);
        }
    }
    0
}

/// The second process: becomes the program.
extern "C" fn second(plan: *mut c_void) -> c_int {
    /// The kernel's `sigaction` of the default: handler, flags, code to return, mask.
    const DEFAULT: [usize; 4] = [0; 4];
    // SAFETY: it is the plan, which stays until this process runs the program. The table of files, the
    // handlers and the mask are this process's own. The calls are the system's, and take no locks.
    unsafe {
        let plan = &*plan.cast::<Plan<'_>>();
        for signal in 1..=SIGNALS {
            libc::syscall(libc::SYS_rt_sigaction, signal, DEFAULT.as_ptr(), ptr::null::<c_void>(), SET);
        }
        // What ends the program by the keyboard would otherwise end this one first, or where the program goes on.
        libc::setsid();
        if libc::dup2(plan.socket, 0) == 0 {
            let none = 0_u64;
            libc::syscall(
                libc::SYS_rt_sigprocmask,
                libc::SIG_SETMASK,
                &raw const none,
                ptr::null::<c_void>(),
                SET,
            );
            libc::execve(plan.program.as_ptr(), plan.arguments.as_ptr(), plan.environment.as_ptr());
        }
        plan.failure.store(last_error(), Ordering::Relaxed);
        libc::_exit(127)
    }
}

/// Starts a program with a socket to it as its standard input. This thread must have a table of files of its own
/// ([`crate::files`]): the program gets what is in it.
pub(crate) fn start(program: &Path) -> Result<UnixStream, String> {
    if adopts() {
        return Err("this process takes care of other processes' children, and would see it".to_owned());
    }
    let wrong = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
    let (ours, theirs) = UnixStream::pair().map_err(|error| wrong("no socket", &error))?;
    let program = CString::new(program.as_os_str().as_bytes()).map_err(|error| wrong("no path", &error))?;
    // Nothing else of the environment is for LLVM.
    let folders = installed::folders();
    let mut stacks = vec![0_u128; 2 * STACK];
    let stacks = stacks.as_mut_ptr();
    // SAFETY: the stacks are one behind the other, and grow downwards from their ends.
    let [one, two] = [unsafe { stacks.add(STACK) }, unsafe { stacks.add(2 * STACK) }];
    let plan = Plan {
        program: &program,
        arguments: [program.as_ptr(), ptr::null()],
        environment: [folders.as_ref().map_or(ptr::null(), |folders| folders.as_ptr()), ptr::null()],
        socket: theirs.as_raw_fd(),
        stack: two.cast(),
        failure: AtomicI32::new(0),
    };
    // SAFETY: this thread waits until the process has ended (`CLONE_VFORK`), which uses the plan and one of the stacks.
    // It has no handlers to run, as this thread blocks all signals.
    let process = unsafe {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK;
        libc::clone(first, one.cast(), flags, (&raw const plan).cast_mut().cast())
    };
    if process < 0 {
        return Err(wrong("no process", &io::Error::last_os_error()));
    }
    let mut status = 0;
    // SAFETY: it is the process that has just been made, and the status is this function's.
    while unsafe { libc::waitpid(process, &raw mut status, libc::__WCLONE) } < 0
        && last_error() == libc::EINTR
    {}
    match plan.failure.load(Ordering::Relaxed) {
        0 if status == 0 => Ok(ours),
        0 => Err("the process that starts it has been ended".to_owned()),
        error => {
            Err(wrong(&format!("'{}'", program.to_string_lossy()), &io::Error::from_raw_os_error(error)))
        }
    }
}
