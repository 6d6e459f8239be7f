//! `libgangway-host-access.so`, which `gangway run --check=map` and `--check=race` have the loader put before a program.
//!
//! Checks hear of what the program does by libraries. The check of stale data closes pages of the host besides, and hears
//! of accesses by signals; what comes into the way of that is told beforehand:
//!
//! | module | what the program does |
//! |---|---|
//! | `calls` | the system reads or writes memory for it, which answers `EFAULT` for a closed page |
//! | `memory` | it gives memory back, moves it, or protects it itself |
//! | `signals` | it wants signals that the check needs, or blocks them |
//! | `dependences` | which tasks come before which |
//! | `tasks` | it makes tasks, and waits for them |
//! | `next` | the functions behind these |
//!
//! It is in every process that the program starts, and tells nothing before a runtime says that it listens.

#![allow(
    clippy::missing_safety_doc,
    reason = "the functions are the C library's, and so are their contracts"
)]

#[macro_use]
mod next;

mod calls;
mod dependences;
mod memory;
mod signals;
mod tasks;

pub use signals::gangway_listen_to_signals;
pub use tasks::gangway_listen_to_tasks;

use libc::{c_void, size_t};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What is about to be done with memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read = 0,
    Write = 1,
    /// It is given back, or will be something else. Of a block of unknown size the size is 1.
    Free = 2,
    /// It is protected in another way.
    Protect = 3,
    /// Something is about to be done with it that nobody tells the end of, nor what it is.
    Open = 4,
    /// As that, and the end is told of.
    Use = 5,
}

/// Functions of a runtime. They are called on any thread, in signal handlers also.
#[repr(C)]
#[derive(Debug)]
pub struct Listener {
    /// Something is about to be done with memory.
    pub about: extern "C" fn(address: *const c_void, size: size_t, access: Access),
    /// What was about to read, write or use it has ended. It is not told of threads that are cancelled in a call.
    pub done: extern "C" fn(address: *const c_void, size: size_t),
}

/// The loader calls it before there is a second thread.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = {
    extern "C" fn start() {
        memory::find();
        next::find_all();
    }
    start
};

static LISTENER: AtomicPtr<Listener> = AtomicPtr::new(ptr::null_mut());

/// Has `listener` told from now on. Whether it hears of all memory that is given back: a program's own allocator may be
/// called without this library.
#[unsafe(no_mangle)]
pub extern "C" fn gangway_listen_to_host_access(listener: &'static Listener) -> bool {
    LISTENER.store(ptr::from_ref(listener).cast_mut(), Ordering::Release);
    memory::is_asked_first()
}

#[inline]
fn listener() -> Option<&'static Listener> {
    // SAFETY: only what lives for ever is stored.
    unsafe { LISTENER.load(Ordering::Acquire).as_ref() }
}

#[inline]
fn tell(address: *const c_void, size: size_t, access: Access) {
    if let Some(listener) = listener().filter(|_| !address.is_null() && size != 0) {
        (listener.about)(address, size, access);
    }
}

#[inline]
fn tell_end(address: *const c_void, size: size_t) {
    if let Some(listener) = listener().filter(|_| !address.is_null() && size != 0) {
        (listener.done)(address, size);
    }
}
