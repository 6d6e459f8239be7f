//! Streams as the runtime holds them.

use gangway_backend::{Result, Stream};
use std::fmt;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// A device's stream. Copying it does not count: jobs, points in the present table and the device's
/// idle streams hold the same one, and each says why it is not closed meanwhile.
///
/// It is one word, as it goes through atomics that one word has room for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StreamRef(NonNull<Box<dyn Stream>>);

// SAFETY: streams are used by any thread.
unsafe impl Send for StreamRef {}
// SAFETY: as above.
unsafe impl Sync for StreamRef {}

impl StreamRef {
    /// Holds a stream until it is [closed](Self::close).
    pub fn new(stream: Box<dyn Stream>) -> Self {
        Self(NonNull::from(Box::leak(Box::new(stream))))
    }

    /// Closes it.
    ///
    /// # Safety
    /// It is idle, and nobody uses it from here on.
    ///
    /// # Errors
    /// What the driver says.
    pub unsafe fn close(self) -> Result<()> {
        // SAFETY: made by `new`, and this is the last use.
        unsafe { Box::from_raw(self.0.as_ptr()) }.close()
    }

    /// The stream, for as long as it is open.
    #[inline]
    pub fn get<'s>(self) -> &'s dyn Stream {
        // SAFETY: whoever closes it says that nobody uses it.
        unsafe { &**self.0.as_ref() }
    }

    /// The word that it is.
    #[inline]
    pub fn word(self) -> usize {
        self.0.as_ptr().expose_provenance()
    }

    /// The stream of a word.
    ///
    /// # Safety
    /// It is the word of one, or the stream is only told from others and never used.
    ///
    /// # Panics
    /// The word is 0.
    #[inline]
    pub unsafe fn of(word: usize) -> Self {
        Self(NonNull::new(ptr::with_exposed_provenance_mut(word)).expect("a stream's word"))
    }

    /// One that is never used, but told from others by its number.
    #[cfg(test)]
    pub(crate) fn fake(number: usize) -> Self {
        // SAFETY: tests compare it.
        unsafe { Self::of(number) }
    }
}

impl Deref for StreamRef {
    type Target = dyn Stream;

    #[inline]
    fn deref(&self) -> &Self::Target {
        self.get()
    }
}

impl fmt::Debug for StreamRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamRef").field(&self.0).finish()
    }
}
