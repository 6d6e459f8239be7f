//! The process is forked: the child gets a library that works.
//!
//! Only the thread that forks lives on in the child. The handlers here take every lock
//! of this library before the fork, so that none stays locked in the child, and have the
//! runtime put in order there what the other threads were doing.

use crate::state::RUNTIME;
use crate::{message, repeats};
use gangway_runtime::Forking;
use std::any::Any;
use std::cell::UnsafeCell;
use std::sync::OnceLock;

/// What is held during a fork. The locks themselves see to it that one thread at a time
/// is between `before` and `in_parent` or `in_child`.
struct Slot(UnsafeCell<Option<Held>>);

// SAFETY: only touched by the thread that has the locks.
unsafe impl Sync for Slot {}

static SLOT: Slot = Slot(UnsafeCell::new(None));

struct Held {
    runtime: Forking,
    _locks: [Box<dyn Any>; 3],
}

/// Takes the locks of the front ends.
static FRONT_ENDS: OnceLock<Hold> = OnceLock::new();

/// Takes the locks of what they share.
static SHARED: OnceLock<Hold> = OnceLock::new();

/// Takes locks, which the answer gives up.
pub type Hold = fn() -> Box<dyn Any>;

/// Has the locks of a specification's routines taken, too, which front ends share: behind the front
/// ends' own, and once, however many front ends ask for it.
pub fn hold_shared(hold: Hold) {
    let _ = SHARED.set(hold);
}

/// Installs the handlers; called once, at start-up. `front_ends` takes the locks of the
/// front ends.
pub(crate) fn install(front_ends: Hold) {
    let _ = FRONT_ENDS.set(front_ends);
    // SAFETY: the handlers are functions of this library, which stays loaded.
    let failed = unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    if failed != 0 {
        message::debug(format_args!("out of memory: a forked child may not be able to use devices"));
    }
}

extern "C" fn before() {
    crate::guard::guard((), || {
        let held =
            |locks: &OnceLock<Hold>| locks.get().map_or_else(|| Box::new(()) as Box<dyn Any>, |hold| hold());
        let locks: [Box<dyn Any>; 3] = [held(&FRONT_ENDS), held(&SHARED), Box::new(repeats::hold())];
        let held = Held { runtime: RUNTIME.before_fork(), _locks: locks };
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
