//! Keeps the recorder usable across `fork`.
//!
//! Without this a child could inherit the registry's lock in the locked state, and
//! would report its parent's work as its own. The handlers are installed the first
//! time recording is configured, so a program that is not traced pays nothing.

use std::cell::RefCell;
use std::sync::{MutexGuard, Once};

use crate::recorder::{self, Registry};
use crate::say::say;

thread_local! {
    /// The registry's lock while this thread is inside `fork`.
    static HELD: RefCell<Option<MutexGuard<'static, Registry>>> = const { RefCell::new(None) };
}

pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: the three handlers are functions of this library, which glibc
        // forgets again when the library is unloaded. They take no lock but the
        // registry's, and the child's handler only drops memory, which glibc's
        // allocator supports in a forked child.
        let failed = unsafe { libc::pthread_atfork(Some(prepare), Some(in_parent), Some(in_child)) };
        if failed != 0 {
            say("out of memory: a forked child will not be traced correctly");
        }
    });
}

extern "C" fn prepare() {
    // A thread that is already ending has no place to keep the guard; then the
    // fork goes unguarded, which is what would happen without handlers.
    let _ = HELD.try_with(|held| {
        if let Ok(mut held) = held.try_borrow_mut() {
            *held = recorder::lock_registry();
        }
    });
}

extern "C" fn in_parent() {
    let _ = HELD.try_with(|held| held.try_borrow_mut().map(|mut held| held.take()));
}

extern "C" fn in_child() {
    let _ = HELD.try_with(|held| {
        if let Ok(mut held) = held.try_borrow_mut()
            && let Some(mut registry) = held.take()
        {
            recorder::forget_parent(&mut registry);
        }
    });
}
