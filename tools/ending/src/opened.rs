//! Whether the driver of the virtual GPU was opened.
//!
//! In the program itself a flag tells. What the program has started leaves an empty file in
//! `/dev/shm`, which the program takes away when it ends.

use std::ffi::{CString, c_char};
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of the process that `gangway run` has become; set where the virtual GPU is.
const VARIABLE: &str = "GANGWAY_VGPU_PROGRAM";

static OPENED: AtomicBool = AtomicBool::new(false);
static TOLD: AtomicBool = AtomicBool::new(false);

/// The process that is to tell.
fn program() -> Option<u32> {
    std::env::var(VARIABLE).ok()?.parse().ok()
}

fn mark(program: u32) -> Option<CString> {
    CString::new(format!("/dev/shm/gangway-driver-opened-{program}")).ok()
}

/// The driver has been opened in this process.
pub fn note() {
    if OPENED.swap(true, Ordering::AcqRel) {
        return;
    }
    let Some(program) = program().filter(|&program| program != std::process::id()) else { return };
    if let Some(mark) = mark(program) {
        let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        // SAFETY: a path with its terminator; what is opened is closed.
        unsafe {
            let file = libc::open(mark.as_ptr(), flags, 0o600);
            if file >= 0 {
                libc::close(file);
            }
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
    let elsewhere = mark(id).is_some_and(|mark| unsafe { libc::unlink(mark.as_ptr()) } == 0);
    if elsewhere || OPENED.load(Ordering::Acquire) {
        return;
    }
    unsafe extern "C" {
        static program_invocation_name: *const c_char;
    }
    // SAFETY: the C library sets it before any code of ours runs.
    let name = unsafe { std::ffi::CStr::from_ptr(program_invocation_name) }.to_string_lossy();
    let text = format!(
        "gangway: note: {name} never opened the CUDA driver, so nothing ran on the virtual GPU; is it built \
         for NVIDIA's GPUs, and does it look for libcuda.so.1?\n"
    );
    // SAFETY: the bytes are the text's; a closed standard error is no reason to fail.
    unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
}
