//! What everything of an opened device has: the library's functions and its handle.

use crate::abi::{Functions, Handle, RtlError, RtlSession, Status};
use crate::status::{Doing, check};
use gangway_backend::{Error, Result, SessionState};
use std::ptr;
use std::sync::Arc;

/// An opened device. Closed when the last of it and its images goes.
pub(crate) struct Opened {
    pub functions: Arc<Functions>,
    pub handle: Handle,
}

// SAFETY: the header lets any thread call any function.
unsafe impl Send for Opened {}
// SAFETY: as above.
unsafe impl Sync for Opened {}

impl Opened {
    /// Calls a function that makes a handle.
    pub fn made(
        &self,
        operation: &'static str,
        function: Option<unsafe extern "C" fn(Handle, *mut Handle, *mut RtlError) -> Status>,
    ) -> Result<Handle> {
        let function = function.ok_or(Error::Unsupported { operation })?;
        let mut made = ptr::null_mut();
        check(Doing::Operation(operation), |error| {
            // SAFETY: the device is open.
            unsafe { function(self.handle, &mut made, error) }
        })?;
        Ok(made)
    }

    /// Calls a function that does something to a handle of this device.
    pub fn done(
        &self,
        operation: &'static str,
        function: Option<unsafe extern "C" fn(Handle, Handle, *mut RtlError) -> Status>,
        handle: Handle,
    ) -> Result<()> {
        let function = function.ok_or(Error::Unsupported { operation })?;
        check(Doing::Operation(operation), |error| {
            // SAFETY: the runtime passes live handles of this device.
            unsafe { function(self.handle, handle, error) }
        })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: nothing of the device is left.
        unsafe { (self.functions.close)(self.handle) };
    }
}

#[inline]
pub(crate) fn handle(number: usize) -> Handle {
    ptr::with_exposed_provenance_mut(number)
}

/// Lends the session to the library in the form that it knows.
#[inline]
pub(crate) fn lend<R>(session: &mut SessionState, body: impl FnOnce(*mut RtlSession) -> R) -> R {
    let (own, own_size) = (session.own().as_mut_ptr().cast(), session.own().len());
    let own = if own_size == 0 { ptr::null_mut() } else { own };
    let mut state =
        RtlSession { stream: handle(session.stream), words: session.backend_words, own, own_size };
    let result = body(&mut state);
    session.backend_words = state.words;
    result
}
