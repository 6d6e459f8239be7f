//! Small objects that threads may look at when they have been given back: recycled, but
//! never freed while their table lives.

use gangway_sync::{Mutex, lock};
use std::ptr::NonNull;

/// The objects of one kind.
#[derive(Debug, Default)]
pub(crate) struct Stock<T>(Mutex<Objects<T>>);

#[derive(Debug)]
pub(crate) struct Objects<T> {
    // The boxes are what makes addresses stable; clippy cannot see the pointers into them.
    #[allow(clippy::vec_box)]
    all: Vec<Box<T>>,
    unused: Vec<NonNull<T>>,
}

// SAFETY: the pointers lead into the boxes of the same struct.
unsafe impl<T: Send> Send for Objects<T> {}

impl<T> Default for Objects<T> {
    fn default() -> Self {
        Self { all: Vec::new(), unused: Vec::new() }
    }
}

impl<T: Default> Stock<T> {
    /// An object that nobody uses. Allocates only if more are in use than ever before.
    pub(crate) fn take(&self) -> &T {
        let mut objects = lock(&self.0);
        let object = objects.unused.pop().unwrap_or_else(|| {
            let object = Box::<T>::default();
            let place = NonNull::from(&*object);
            objects.all.push(object);
            place
        });
        // SAFETY: objects are only freed with the stock, which the result borrows.
        unsafe { object.as_ref() }
    }

    /// Takes back an object that nobody uses any more.
    pub(crate) fn give_back(&self, object: &T) {
        lock(&self.0).unused.push(NonNull::from(object));
    }

    /// Takes its lock, for a fork.
    #[cfg(not(loom))]
    pub(crate) fn hold(&self) -> gangway_sync::MutexGuard<'_, Objects<T>> {
        lock(&self.0)
    }
}
