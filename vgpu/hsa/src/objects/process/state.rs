//! How often the runtime has been initialised, and not shut down again (HSA runtime 1.2, 2.1).

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::abi::{Result, Status};

static COUNT: AtomicU32 = AtomicU32::new(0);
/// Held while the first initialisation or the last shutting down is under way.
static CHANGING: Mutex<()> = Mutex::new(());

/// The most initialisations that are counted, as in ROCm.
const MOST: u32 = i32::MAX as u32;

/// What every call asks first.
#[inline]
pub fn check_initialised() -> Result {
    if COUNT.load(Ordering::Acquire) > 0 { Ok(()) } else { Err(Status::ERROR_NOT_INITIALIZED) }
}

/// Counts an initialisation; the first one calls `start` before.
pub fn initialise(start: impl FnOnce()) -> Result {
    let _alone = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
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
