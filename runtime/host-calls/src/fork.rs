//! The functions across `fork`.
//!
//! A program's functions are registered when it is loaded, before the runtime starts and whether
//! or not it ever does. So they have handlers of their own.

use crate::functions::{self, Functions};
use crate::named::{self, Names};
use std::cell::UnsafeCell;
use std::sync::{MutexGuard, RwLockWriteGuard};

/// What is held during a fork. Who registers a name takes the locks in this order.
struct Held {
    _names: MutexGuard<'static, Names>,
    functions: RwLockWriteGuard<'static, Functions>,
}

/// The locks themselves see to it that one thread at a time is between the handlers.
struct Slot(UnsafeCell<Option<Held>>);

// SAFETY: only touched by the thread that has the locks.
unsafe impl Sync for Slot {}

static SLOT: Slot = Slot(UnsafeCell::new(None));

/// Installs the handlers when this library is loaded. The first registration would be too late:
/// a fork that is under way then in another thread runs no new handlers, and its child could find
/// the locks taken.
#[used]
// SAFETY: the section holds functions like this one.
#[unsafe(link_section = ".init_array")]
static INSTALL: extern "C" fn() = install;

extern "C" fn install() {
    // SAFETY: the handlers are functions of this library, and take its locks alone. Without
    // memory for them a child that is made meanwhile may find the locks taken.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

extern "C" fn before() {
    let held = Held { _names: named::registered(), functions: functions::hold() };
    // SAFETY: this thread has the locks.
    unsafe { *SLOT.0.get() = Some(held) };
}

fn take() -> Option<Held> {
    // SAFETY: this thread has taken the locks, and gives them up only now.
    unsafe { (*SLOT.0.get()).take() }
}

extern "C" fn in_parent() {
    drop(take());
}

extern "C" fn in_child() {
    if let Some(held) = take() {
        functions::forget_calls(&held.functions);
    }
}
