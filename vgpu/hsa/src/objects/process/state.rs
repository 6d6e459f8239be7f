//! How often the runtime has been initialised, and not shut down again (HSA runtime 1.2, 2.1).

use std::sync::Mutex;
use std::sync::Once;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::abi::{Result, Status};

static COUNT: AtomicU32 = AtomicU32::new(0);
/// This is a child of a process that had been initialised: none of its threads came along, so nothing works.
static FORKED: AtomicBool = AtomicBool::new(false);
/// Held while the first initialisation or the last shutting down is under way.
static CHANGING: Mutex<()> = Mutex::new(());

/// The most initialisations that are counted, as in ROCm.
const MOST: u32 = i32::MAX as u32;

/// What every call asks first.
#[inline]
pub fn check_initialised() -> Result {
    if COUNT.load(Ordering::Acquire) > 0 { Ok(()) } else { Err(Status::ERROR_NOT_INITIALIZED) }
}

/// Whether this is the child of a fork that cannot use the runtime. What it gives back is its parent's.
#[inline]
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Counts an initialisation; the first one calls `start` before.
pub fn initialise(start: impl FnOnce()) -> Result {
    extern "C" fn in_child() {
        FORKED.store(true, Ordering::Relaxed);
        COUNT.store(0, Ordering::Relaxed);
    }
    if is_forked() {
        return Err(Status::ERROR_OUT_OF_RESOURCES);
    }
    let _alone = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    static ONCE: Once = Once::new();
    // SAFETY: the handler only stores to atomics.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
    match COUNT.load(Ordering::Relaxed) {
        0 => start(),
        MOST => return Err(Status::ERROR_REFCOUNT_OVERFLOW),
        _ => {}
    }
    COUNT.fetch_add(1, Ordering::Release);
    Ok(())
}

/// Takes an initialisation back; the last one calls `end`, after which no call is taken any more.
pub fn shut_down(end: impl FnOnce()) -> Result {
    let _alone = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    match COUNT.load(Ordering::Relaxed) {
        0 => return Err(Status::ERROR_NOT_INITIALIZED),
        1 => {
            COUNT.store(0, Ordering::Release);
            end();
        }
        _ => {
            COUNT.fetch_sub(1, Ordering::Release);
        }
    }
    Ok(())
}
