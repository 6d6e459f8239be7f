//! The process is forked: the child gets a library that works.
//!
//! Only the thread that forks lives on in the child. The handlers here take every lock
//! of this library before the fork, so that none stays locked in the child, and have the
//! runtime put in order there what the other threads were doing.

use crate::state::RUNTIME;
use crate::{devices, interop, ompt};
use gangway_runtime::Forking;
use std::any::Any;
use std::cell::UnsafeCell;

/// What is held during a fork. The locks themselves see to it that one thread at a time
/// is between `before` and `in_parent` or `in_child`.
struct Slot(UnsafeCell<Option<Held>>);

// SAFETY: only touched by the thread that has the locks.
unsafe impl Sync for Slot {}

static SLOT: Slot = Slot(UnsafeCell::new(None));

struct Held {
    runtime: Forking,
    _front_end: [Box<dyn Any>; 3],
}

/// Installs the handlers; called once, at start-up.
pub fn install() {
    // SAFETY: the handlers are functions of this library, which stays loaded.
    let failed = unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    if failed != 0 {
        crate::info::debug(format_args!("out of memory: a forked child may not be able to use devices"));
    }
}

extern "C" fn before() {
    crate::guard::guard((), || {
        let front_end: [Box<dyn Any>; 3] =
            [Box::new(devices::hold()), Box::new(interop::hold()), Box::new(ompt::hold_devices())];
        let held = Held { runtime: RUNTIME.before_fork(), _front_end: front_end };
        // SAFETY: this thread has the locks.
        unsafe { *SLOT.0.get() = Some(held) };
    });
}

fn take() -> Option<Held> {
    // SAFETY: this thread has taken the locks, and gives them up only now.
    unsafe { (*SLOT.0.get()).take() }
}

extern "C" fn in_parent() {
    crate::guard::guard((), || drop(take()));
}

extern "C" fn in_child() {
    crate::guard::guard((), || {
        if let Some(held) = take() {
            held.runtime.in_child();
        }
    });
}
