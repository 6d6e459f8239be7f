//! What is to be done when the device has got somewhere.

use std::ffi::c_void;
use std::fmt;

/// A function to be called once, when operations are done or have failed: see
/// [`Stream::on_complete`](crate::Stream::on_complete).
///
/// Dropping it calls it, so that nobody waits for ever for a device that has been lost.
/// It calls no back end and takes no lock that a caller of a back end may hold.
pub struct Completion(Option<Box<dyn FnOnce() + Send>>);

impl Completion {
    /// Wraps the function. It must not panic.
    #[must_use]
    pub fn new(function: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(function)))
    }

    /// Calls it.
    pub fn complete(self) {
        drop(self);
    }

    /// Does not call it: the operations could not be watched, and may be under way.
    pub fn cancel(mut self) {
        self.0 = None;
    }

    /// A word that leads to it, for drivers that pass one to a C function.
    #[must_use]
    pub fn into_raw(self) -> *mut c_void {
        Box::into_raw(Box::new(self)).cast()
    }

    /// What [`into_raw`](Self::into_raw) was made of.
    ///
    /// # Safety
    /// The word came from there, and is not used again.
    #[must_use]
    pub unsafe fn from_raw(word: *mut c_void) -> Self {
        // SAFETY: the caller's promise.
        *unsafe { Box::from_raw(word.cast::<Self>()) }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        if let Some(function) = self.0.take() {
            function();
        }
    }
}

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Completion").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn it_is_called_once_unless_it_is_cancelled() {
        let calls = Arc::new(AtomicUsize::new(0));
        let completion = || {
            let calls = calls.clone();
            Completion::new(move || {
                calls.fetch_add(1, Ordering::Relaxed);
            })
        };
        completion().complete();
        drop(completion());
        // SAFETY: the word is used once.
        unsafe { Completion::from_raw(completion().into_raw()) }.complete();
        completion().cancel();
        assert_eq!(calls.load(Ordering::Relaxed), 3);
    }
}
