//! From handles to objects: a table for each kind of handle.
//!
//! Numbers are given out once in a process, so that the handle of something that is gone is known
//! as such for ever. Looking up takes a shared lock for as long as it takes to count a reference.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use crate::abi::handle::Kind;
use crate::abi::{Handle, Result};

/// The number that was given out last, for whatever kind.
static LAST: AtomicU64 = AtomicU64::new(0);

/// All objects of a kind.
pub struct Table<T> {
    kind: Kind,
    objects: LazyLock<RwLock<HashMap<u64, Arc<T>>>>,
}

impl<T> Table<T> {
    #[must_use]
    pub const fn new(kind: Kind) -> Self {
        Self { kind, objects: LazyLock::new(RwLock::default) }
    }

    /// Makes an object that knows its own handle.
    pub fn insert_with(&self, make: impl FnOnce(Handle) -> T) -> (Handle, Arc<T>) {
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let handle = Handle::new(self.kind, number);
        let object = Arc::new(make(handle));
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.insert(number, Arc::clone(&object));
        (handle, object)
    }

    pub fn insert(&self, object: T) -> Handle {
        self.insert_with(|_| object).0
    }

    /// The object, or the status of the kind.
    pub fn get(&self, handle: Handle) -> Result<Arc<T>> {
        let number = handle.number(self.kind).ok_or(self.kind.invalid())?;
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.get(&number).cloned().ok_or(self.kind.invalid())
    }

    /// Takes the object out: from here on the handle is invalid.
    pub fn remove(&self, handle: Handle) -> Result<Arc<T>> {
        let number = handle.number(self.kind).ok_or(self.kind.invalid())?;
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.remove(&number).ok_or(self.kind.invalid())
    }

    /// Takes all objects out.
    pub fn clear(&self) {
        let all = std::mem::take(&mut *self.objects.write().unwrap_or_else(PoisonError::into_inner));
        // What they hold may look something up here: not under the lock.
        drop(all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Status;

    static THINGS: Table<u32> = Table::new(Kind::Executable);

    #[test]
    fn a_handle_finds_its_object_until_it_is_removed() {
        let handle = THINGS.insert(7);
        assert_eq!(THINGS.get(handle).as_deref(), Ok(&7));
        assert_eq!(THINGS.remove(handle).as_deref(), Ok(&7));
        let gone = Err(Status::ERROR_INVALID_EXECUTABLE);
        assert_eq!(THINGS.get(handle), gone);
        assert_eq!(THINGS.remove(handle), gone);
        assert_ne!(THINGS.insert(8), handle, "a handle is given out once");
        for raw in [0, 1, 0x7fff_1234_5670, u64::MAX] {
            assert_eq!(THINGS.get(Handle(raw)), gone, "{raw:#x}");
        }
    }
}
