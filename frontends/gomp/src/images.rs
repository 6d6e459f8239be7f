//! The device images that the runtime has. They belong to this library, as GCC's are no one
//! range of bytes.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// By the address of GCC's image.
static IMAGES: Mutex<BTreeMap<usize, Image>> = Mutex::new(BTreeMap::new());

/// Memory that [`keep`] has been given.
pub(crate) struct Image(*mut [u8]);

// SAFETY: nobody writes the bytes, and one thread frees them.
unsafe impl Send for Image {}

fn images() -> MutexGuard<'static, BTreeMap<usize, Image>> {
    IMAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub(crate) fn hold() -> impl Sized + 'static {
    images()
}

/// Keeps an image until it is [freed](Image::free).
pub(crate) fn keep(key: usize, image: Vec<u8>) -> &'static [u8] {
    let bytes = Box::into_raw(image.into_boxed_slice());
    images().insert(key, Image(bytes));
    // SAFETY: whoever frees it sees to it that nobody has it any more.
    unsafe { &*bytes }
}

/// The image with this key, if there is one; it is not kept any more.
pub(crate) fn take(key: usize) -> Option<Image> {
    images().remove(&key)
}

impl Image {
    /// Frees it.
    ///
    /// # Safety
    /// Nobody has what [`keep`] answered.
    pub(crate) unsafe fn free(self) {
        // SAFETY: made by `keep`, and the caller's promise.
        drop(unsafe { Box::from_raw(self.0) });
    }
}
