//! The kernel of a stream that may be under way, for messages about a kernel that has failed.

use gangway_backend::{SourceText, Suspect};
use std::ffi::c_char;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// A kernel's name, which stays where it is until every stream has forgotten it.
pub(crate) struct KernelName(pub Box<str>);

/// What a stream notes.
#[derive(Default)]
pub(crate) struct UnderWay {
    /// The kernel that was launched last and has not been waited for, and its construct.
    kernel: AtomicPtr<KernelName>,
    source: AtomicPtr<c_char>,
    /// A kernel has been launched in it.
    was_used: AtomicBool,
}

impl UnderWay {
    /// Notes that a kernel has been launched. Two threads that use one stream of the
    /// program's may leave the one's kernel with the other's place: it is for messages.
    #[inline]
    pub fn note(&self, kernel: &KernelName, source: SourceText) {
        self.source.store(source.as_ptr().cast_mut(), Ordering::Relaxed);
        self.kernel.store(ptr::from_ref(kernel).cast_mut(), Ordering::Relaxed);
        self.was_used.store(true, Ordering::Relaxed);
    }

    /// Notes that everything in the stream has been done.
    #[inline]
    pub fn all_done(&self) {
        self.kernel.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Whether a kernel has ever been launched in the stream.
    pub fn was_used(&self) -> bool {
        self.was_used.load(Ordering::Relaxed)
    }

    /// A kernel is about to be freed.
    pub fn forget(&self, kernel: *const KernelName) {
        let kernel = kernel.cast_mut();
        let _ = self.kernel.compare_exchange(kernel, ptr::null_mut(), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The kernel that may be under way. Called under the lock that keeps kernels.
    pub fn suspect(&self) -> Option<Suspect> {
        let kernel = self.kernel.load(Ordering::Relaxed);
        // SAFETY: whoever frees a kernel has every stream forget it before.
        let KernelName(name) = unsafe { kernel.as_ref() }?;
        // SAFETY: the pointer came out of a source text.
        let source = unsafe { SourceText::new(self.source.load(Ordering::Relaxed)) };
        Some(Suspect { kernel: name.to_string(), source })
    }
}
