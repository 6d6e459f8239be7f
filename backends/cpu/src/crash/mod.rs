//! Kernels that crash: a report with the region's name instead of a bare signal.
//!
//! The first launch installs handlers for `SIGSEGV`, `SIGBUS`, `SIGFPE` and
//! `SIGILL`. A fault is ours if it happens in a device image's code, on whatever
//! thread, or on a thread that is inside a kernel, or in a function that a device
//! image has called (a return address says so). Ours are [reported](report), and
//! then every fault goes to whoever had the signal before.
//!
//! With nobody there the process ends by the signal itself, as under the stock
//! library: scripts see it in the status, a core dump or an attached debugger sees
//! the fault where it happened. A program that handles the signal itself keeps
//! doing so: after the report its handler is called. Everything that the handler reaches must be safe in a
//! signal handler: no allocation, no lock, no thread-local storage.

mod fault;
mod place;
pub(crate) mod report;

use crate::thread::{self, Thread};
use crate::{command, images, sections, signal_stack};
use fault::Crash;
use std::cell::UnsafeCell;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const SIGNALS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

/// Words of the stack that are searched for a return address into a device image.
const SEARCHED: usize = 512;

/// Who had the signals before us.
struct Before(UnsafeCell<[mem::MaybeUninit<libc::sigaction>; SIGNALS.len()]>);

// SAFETY: written before the handler that reads it is installed, and not after.
unsafe impl Sync for Before {}

static BEFORE: Before = Before(UnsafeCell::new([const { mem::MaybeUninit::zeroed() }; SIGNALS.len()]));

/// Makes crashes on the calling thread reported. Called once per thread.
#[cold]
pub(crate) fn watch(thread: &Thread) {
    install_once();
    signal_stack::enable(thread.signal_stack());
}

/// Installs the handlers, unless they have been.
pub(crate) fn install_once() {
    // Nobody waits for who installs them: a forked child could not.
    static INSTALLED: AtomicBool = AtomicBool::new(false);
    if !INSTALLED.swap(true, Ordering::AcqRel) {
        command::prepare();
        install();
    }
}

fn install() {
    for (i, signal) in SIGNALS.into_iter().enumerate() {
        // SAFETY: `sigaction` is plain data. The handler is only installed after
        // the one before it is known.
        unsafe {
            let before = (*BEFORE.0.get())[i].as_mut_ptr();
            let mut ours: libc::sigaction = mem::zeroed();
            ours.sa_sigaction = handle as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            if libc::sigaction(signal, ptr::null(), before) == 0 {
                libc::sigaction(signal, &ours, ptr::null_mut());
            }
        }
    }
}

/// The signal handler.
///
/// # Safety
/// Called by the kernel.
unsafe extern "C" fn handle(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes valid pointers to a handler installed with `SA_SIGINFO`.
    let (crash, before) = unsafe {
        let crash = Crash::new(signal, &*info, &*context.cast());
        let i = SIGNALS.iter().position(|s| *s == signal).unwrap_or(0);
        (crash, (*BEFORE.0.get())[i].assume_init_ref())
    };
    let here = images::find(crash.pc);
    let thread = thread::interrupted();
    let inside = thread.is_some_and(|thread| !thread.activity().is_null());
    if let Some(address) = crash.forbidden() {
        // Of a thread that launches, its activity says whether it is in a kernel; of others,
        // what has called it does.
        let in_kernel = || inside || (thread.is_none() && caller_image(crash.sp).is_some());
        if here.is_none() && !in_kernel() && sections::lift(address, crash.writes()) {
            return;
        }
    }
    let found = here.map(|image| Found { image, address: crash.pc, called: false });
    let found = found.or_else(|| caller_image(crash.sp));
    if (found.is_some() || inside) && claim() {
        report::print(&crash, thread, found.as_ref());
    }
    pass_on(signal, info, context, before);
}

/// Whether the calling thread is the one to report. A second thread that crashes
/// waits for the first to end the process; a crash in the report itself is left
/// to the system.
fn claim() -> bool {
    static REPORTER: AtomicUsize = AtomicUsize::new(0);
    // SAFETY: has no preconditions.
    let this = unsafe { libc::syscall(libc::SYS_gettid) } as usize;
    match REPORTER.compare_exchange(0, this, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => true,
        Err(other) if other == this => false,
        Err(_) => {
            // Long enough for the report; a handler of the program's that
            // survives the crash must not leave this thread here for good.
            // SAFETY: has no preconditions.
            unsafe { libc::sleep(2) };
            false
        }
    }
}

/// Leaves the signal to whoever had it before.
fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void, before: &libc::sigaction) {
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: restores the default; a fault then happens again as soon as
            // this handler returns, at the place where it belongs. A signal that
            // somebody sent would not, and is sent again.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                if (*info).si_code <= 0 {
                    libc::raise(signal);
                }
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: that is what the flag says about the address.
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                unsafe { mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without the flag, the handler takes the signal only.
            let handler: extern "C" fn(i32) = unsafe { mem::transmute(handler) };
            handler(signal);
        }
    }
}

/// Code of a device image that a crash happened in, or below.
struct Found {
    image: &'static images::Image,
    address: usize,
    /// The address is where a function will return to.
    called: bool,
}

/// The device image that has called the function which crashed, if the upper
/// part of its stack shows one.
fn caller_image(sp: usize) -> Option<Found> {
    let mut words = [0_usize; 64];
    let mut at = sp & !7;
    // In small steps: the stack may end before.
    for _ in 0..SEARCHED / words.len() {
        // SAFETY: any bytes make words.
        let bytes = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(&words)) };
        if !copy_memory(at, bytes) {
            break;
        }
        let called_from = |&word: &usize| {
            let image = images::find(word).filter(|image| image.is_code(word))?;
            Some(Found { image, address: word, called: true })
        };
        if let Some(found) = words.iter().find_map(called_from) {
            return Some(found);
        }
        at += size_of_val(&words);
    }
    None
}

/// Copies memory that may not be there: the kernel checks it on the way through a pipe.
fn copy_memory(from: usize, to: &mut [u8]) -> bool {
    let mut ends = [0_i32; 2];
    let (mut written, mut read) = (0, 0);
    // SAFETY: system calls on a pipe of ours; an unreadable source is an error of `write`.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) != 0 {
            return false;
        }
        let source: *const libc::c_void = ptr::with_exposed_provenance(from);
        written = libc::write(ends[1], source, to.len()).max(written);
        if written as usize == to.len() {
            read = libc::read(ends[0], to.as_mut_ptr().cast(), to.len()).max(read);
        }
        libc::close(ends[0]);
        libc::close(ends[1]);
    }
    read as usize == to.len()
}
