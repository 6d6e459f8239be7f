//! The `gangway` command, which reads debug information for messages.
//!
//! Reading it allocates, which a signal handler must not. So the handler makes a process of the
//! command. What happens here is made of system calls. Without the command beside the library, or if it
//! takes longer than [`SECONDS`], what it would say is missing.

use gangway_settings::is_privileged;
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// How long the command may take.
const SECONDS: u32 = 10;

/// Arguments at most.
const ARGUMENTS: usize = 6;

/// Where the command is; null if nowhere.
static PROGRAM: AtomicPtr<libc::c_char> = AtomicPtr::new(ptr::null_mut());

/// Looks for the command, before a signal handler needs it.
pub(crate) fn prepare() {
    if is_there() {
        return;
    }
    let program = program().and_then(|path| CString::new(path.into_os_string().into_encoded_bytes()).ok());
    if let Some(program) = program {
        PROGRAM.store(program.into_raw(), Ordering::Release);
    }
}

/// Whether it has been found.
pub(crate) fn is_there() -> bool {
    !PROGRAM.load(Ordering::Acquire).is_null()
}

/// The loader's name of the program or library that has an address. That of a program that was found in
/// `PATH` has no folder.
pub(crate) fn object_of(address: usize) -> Option<&'static CStr> {
    Some(object_at(address)?.0)
}

/// As [`object_of`], and where the object begins.
pub(crate) fn object_at(address: usize) -> Option<(&'static CStr, usize)> {
    let address = ptr::without_provenance(address);
    // SAFETY: plain data that the call fills.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for, and there is a place for the answer.
    if unsafe { libc::dladdr(address, &raw mut found) } == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's name of what is loaded, which the caller uses while it is.
    Some((unsafe { CStr::from_ptr(found.dli_fname) }, found.dli_fbase.addr()))
}

/// `bin/gangway`, where this code is in `lib/gangway`; none for programs with more rights than their user.
#[must_use]
pub fn program() -> Option<PathBuf> {
    if is_privileged() {
        return None;
    }
    let library = OsStr::from_bytes(object_of(prepare as *const () as usize)?.to_bytes());
    let library = PathBuf::from(library).canonicalize().ok()?;
    let program = library.parent()?.parent()?.parent()?.join("bin/gangway");
    program.is_file().then_some(program)
}

/// Runs the command and waits for it; the descriptors get the numbers beside them. Whether it ended well.
///
/// # Safety
/// The descriptors are open.
pub(crate) unsafe fn run(arguments: &[&CStr], descriptors: &[(i32, i32)]) -> bool {
    let program = PROGRAM.load(Ordering::Acquire);
    if program.is_null() || arguments.len() > ARGUMENTS {
        return false;
    }
    let mut all: [*const libc::c_char; ARGUMENTS + 2] = [ptr::null(); ARGUMENTS + 2];
    all[0] = c"gangway".as_ptr();
    for (to, argument) in all[1..].iter_mut().zip(arguments) {
        *to = argument.as_ptr();
    }
    let environment: [*const libc::c_char; 1] = [ptr::null()];
    // SAFETY: a copy of the process, as `fork` makes it, but without its handlers, which may
    // wait for what other threads had locked, and without a signal at its end, which would be
    // news to the program. It does nothing but system calls before it is another program.
    unsafe {
        let flags: libc::c_ulong = 0;
        let child = libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) as libc::pid_t;
        if child == 0 {
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
            libc::signal(libc::SIGALRM, libc::SIG_DFL);
            libc::alarm(SECONDS);
            if hand_over(descriptors) {
                libc::execve(program, all.as_ptr(), environment.as_ptr());
            }
            libc::_exit(127);
        }
        let mut status = -1;
        if child > 0 {
            while libc::waitpid(child, &mut status, libc::__WALL) < 0
                && *libc::__errno_location() == libc::EINTR
            {}
        }
        status == 0
    }
}

/// Gives descriptors their numbers in the new process.
///
/// # Safety
/// They are open.
unsafe fn hand_over(descriptors: &[(i32, i32)]) -> bool {
    let mut above = [-1; 3];
    // Above all numbers first, so that none replaces another.
    for (to, (from, _)) in above.iter_mut().zip(descriptors) {
        // SAFETY: the caller's promise.
        *to = unsafe { libc::fcntl(*from, libc::F_DUPFD_CLOEXEC, 10) };
    }
    // SAFETY: as above.
    above.iter().zip(descriptors).all(|(from, (_, to))| unsafe { libc::dup2(*from, *to) } == *to)
}
