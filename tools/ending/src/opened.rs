//! Whether the driver of the virtual GPU was opened.
//!
//! In the program itself a flag tells. What the program has started leaves an empty file in
//! `/dev/shm`, which the program takes away when it ends.
//!
//! A process may end in the middle of `malloc`, by `_exit` in a signal handler: nothing here
//! allocates.

use std::ffi::{CStr, c_char};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of the process that `gangway run` has become; set where the virtual GPU is.
const VARIABLE: &CStr = c"GANGWAY_VGPU_PROGRAM";

/// What is said: this before the name of the program, and the other behind it.
const NOTE: [&str; 2] = [
    "gangway: note: ",
    " never opened a GPU's driver, so nothing ran on the virtual GPU; is it built for GPUs, and does it look for \
     libcuda.so.1 or libhsa-runtime64.so.1?\n",
];

static OPENED: AtomicBool = AtomicBool::new(false);
static TOLD: AtomicBool = AtomicBool::new(false);

/// With which values of which variables a program asks for no GPU (OpenMP 6.0, 4.11; OpenACC 3.3, 4.1).
const NO_GPU: [(&CStr, &[&str]); 2] =
    [(c"OMP_TARGET_OFFLOAD", &["disabled"]), (c"ACC_DEVICE_TYPE", &["host"])];

/// The value of a variable of the environment.
fn variable(name: &CStr) -> Option<&str> {
    // SAFETY: a name with its terminator. The value stays as long as nobody changes the
    // environment, and is read at once.
    let value = unsafe {
        let value = libc::getenv(name.as_ptr());
        if value.is_null() { None } else { Some(CStr::from_ptr(value)) }
    };
    value?.to_str().ok()
}

/// The process that is to tell.
fn program() -> Option<u32> {
    variable(VARIABLE)?.parse().ok()
}

/// Whether the environment says that no GPU is wanted.
fn wants_none() -> bool {
    let is_one =
        |value: &str, values: &[&str]| values.iter().any(|one| value.trim().eq_ignore_ascii_case(one));
    NO_GPU.iter().any(|(name, values)| variable(name).is_some_and(|value| is_one(value, values)))
}

/// The path of a process's file, with its terminator.
struct Mark([u8; 64]);

impl Mark {
    fn of(program: u32) -> Self {
        let mut path = [0; 64];
        // It has room for the longest number, and zeros behind it.
        let _ = write!(&mut path[..63], "/dev/shm/gangway-driver-opened-{program}");
        Self(path)
    }

    fn as_ptr(&self) -> *const c_char {
        self.0.as_ptr().cast()
    }
}

/// The driver has been opened in this process.
pub fn note() {
    if OPENED.swap(true, Ordering::AcqRel) {
        return;
    }
    let Some(program) = program().filter(|&program| program != std::process::id()) else { return };
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: a path with its terminator; what is opened is closed.
    unsafe {
        let file = libc::open(Mark::of(program).as_ptr(), flags, 0o600);
        if file >= 0 {
            libc::close(file);
        }
    }
}

/// Says that the driver was not opened, if this process is the one to say so.
pub fn tell() {
    let id = std::process::id();
    if program() != Some(id) || TOLD.swap(true, Ordering::AcqRel) {
        return;
    }
    // SAFETY: a path with its terminator.
    let elsewhere = unsafe { libc::unlink(Mark::of(id).as_ptr()) } == 0;
    if elsewhere || OPENED.load(Ordering::Acquire) || wants_none() {
        return;
    }
    unsafe extern "C" {
        static program_invocation_name: *const c_char;
    }
    // SAFETY: the C library sets it before any code of ours runs.
    let name = unsafe { CStr::from_ptr(program_invocation_name) };
    let parts = [NOTE[0].as_bytes(), name.to_bytes(), NOTE[1].as_bytes()]
        .map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    // SAFETY: the parts are alive; a closed standard error is no reason to fail.
    unsafe { libc::writev(libc::STDERR_FILENO, parts.as_ptr(), parts.len() as libc::c_int) };
}
