//! Signals: what an operation counts down when it is done.
//!
//! They are kept for later operations: making one costs a call into the system's driver. A signal goes back when
//! nobody looks at it any more: neither its stream, nor an operation that waits for it, nor an event.

use crate::driver::Driver;
use crate::driver::types::{Handle, LESS_THAN, SUCCESS, WAIT_BLOCKED};
use gangway_backend::{Error, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// Signals that are free.
pub(crate) struct Signals {
    driver: &'static Driver,
    free: Mutex<Vec<Handle>>,
}

impl Signals {
    pub fn new(driver: &'static Driver) -> Arc<Self> {
        Arc::new(Self { driver, free: Mutex::default() })
    }

    /// A signal of an operation that is about to begin.
    pub fn take(self: &Arc<Self>) -> Result<Arc<Signal>> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let handle = match free {
            Some(handle) => {
                // SAFETY: nobody else has the signal.
                unsafe { (self.driver.api.signal_store_relaxed)(handle, 1) };
                handle
            }
            None => self.create()?,
        };
        Ok(Arc::new(Signal { handle, signals: Arc::clone(self) }))
    }

    #[cold]
    fn create(&self) -> Result<Handle> {
        let mut handle = Handle::default();
        // SAFETY: the library writes one handle.
        match unsafe { (self.driver.api.signal_create)(1, 0, std::ptr::null(), &raw mut handle) } {
            SUCCESS => Ok(handle),
            code => {
                let message = format!("hsa_signal_create: {}", self.driver.describe(code));
                Err(Error::Device { code: code.into(), message })
            }
        }
    }

    /// Destroys those that are free.
    pub fn trim(&self) {
        let free = std::mem::take(&mut *self.free.lock().unwrap_or_else(PoisonError::into_inner));
        for handle in free {
            // SAFETY: nobody has the signal.
            let _ = unsafe { (self.driver.api.signal_destroy)(handle) };
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.trim();
    }
}

/// A signal: 1 until its operation is done, then 0; less if it has failed.
pub(crate) struct Signal {
    pub handle: Handle,
    signals: Arc<Signals>,
}

impl Signal {
    /// What it says now.
    pub fn value(&self) -> i64 {
        // SAFETY: the signal is alive.
        unsafe { (self.signals.driver.api.signal_load)(self.handle) }
    }

    /// Whether its operation is done, or has failed.
    pub fn is_done(&self) -> bool {
        self.value() < 1
    }

    /// Waits until that is so, or for so many nanoseconds; answers what it says then.
    pub fn wait(&self, nanoseconds: u64) -> i64 {
        // SAFETY: the signal is alive.
        unsafe {
            let wait = self.signals.driver.api.signal_wait;
            wait(self.handle, LESS_THAN, 1, nanoseconds, WAIT_BLOCKED)
        }
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        self.signals.free.lock().unwrap_or_else(PoisonError::into_inner).push(self.handle);
    }
}
