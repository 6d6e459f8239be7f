//! From handles to objects: a table for each kind of handle.
//!
//! Looking a handle up locks only its own slot, and only against its removal. A handle of
//! something that is gone, of another kind or that never was one is answered with the error
//! of its kind.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use crate::abi::handle::{HandleKind, SLOT_BITS};
use crate::abi::{Handle, Result, Status};

/// A kind of handle that objects stand behind.
pub trait Backed: HandleKind + Sized {
    type Object: Send + Sync + 'static;

    fn table() -> &'static Table<Self>;
}

/// Gives a kind its objects and their table.
macro_rules! backed {
    ($kind:ty, $object:ty) => {
        impl $crate::objects::table::Backed for $kind {
            type Object = $object;

            fn table() -> &'static $crate::objects::table::Table<$kind> {
                static TABLE: $crate::objects::table::Table<$kind> = $crate::objects::table::Table::new();
                &TABLE
            }
        }
    };
}
pub(crate) use backed;

impl<K: Backed> Handle<K> {
    /// Makes an object that knows its own handle.
    pub fn insert_with(make: impl FnOnce(Self) -> Arc<K::Object>) -> Result<Arc<K::Object>> {
        K::table().insert_with(make)
    }

    /// Gives an object a handle.
    pub fn insert(object: Arc<K::Object>) -> Result<Self> {
        let mut made = Self::NULL;
        Self::insert_with(|handle| {
            made = handle;
            object
        })?;
        Ok(made)
    }

    /// The object, or the error of the kind.
    pub fn get(self) -> Result<Arc<K::Object>> {
        K::table().get(self).ok_or(K::INVALID)
    }

    /// Puts another object behind a valid handle.
    pub fn replace(self, object: Arc<K::Object>) -> Result<Arc<K::Object>> {
        K::table().replace(self, object).ok_or(K::INVALID)
    }

    /// Takes the object out of its table: from here on the handle is invalid.
    pub fn remove(self) -> Result<Arc<K::Object>> {
        K::table().remove(self).ok_or(K::INVALID)
    }
}

/// Slots of the first chunk; each chunk after it is twice as long as the one before.
const FIRST_CHUNK: usize = 64;
const CHUNKS: usize = (SLOT_BITS - FIRST_CHUNK.trailing_zeros()) as usize;
/// So many slots must be free before one is used again: the more there are, the longer a
/// stale handle is known as one.
const RESTING: usize = 256;

struct Slot<T> {
    /// The generation of the handle that is or was last given out for it.
    generation: u16,
    object: Option<Arc<T>>,
}

/// A slot in a cache line of its own: looking a handle up writes to its lock, and threads with
/// handles of their own are not to wait for each other.
#[repr(align(64))]
struct Place<T>(RwLock<Slot<T>>);

type Chunk<T> = Box<[Place<T>]>;

/// All objects of a kind.
pub struct Table<K: Backed> {
    chunks: [OnceLock<Chunk<K::Object>>; CHUNKS],
    free: Mutex<FreeSlots>,
}

struct FreeSlots {
    slots: VecDeque<u32>,
    /// Slots that have ever been used.
    used: u32,
}

impl<K: Backed> Table<K> {
    #[must_use]
    pub const fn new() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Mutex::new(FreeSlots { slots: VecDeque::new(), used: 0 }),
        }
    }

    fn slot(&self, index: u32) -> Option<&RwLock<Slot<K::Object>>> {
        let (chunk, at) = place(index);
        Some(&self.chunks.get(chunk)?.get()?.get(at)?.0)
    }

    fn take_slot(&self) -> Option<u32> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.slots.len() > RESTING {
            return free.slots.pop_front();
        }
        let index = free.used;
        let (chunk, _) = place(index);
        if chunk >= CHUNKS {
            return free.slots.pop_front();
        }
        free.used += 1;
        self.chunks[chunk].get_or_init(|| {
            let empty = || Place(RwLock::new(Slot { generation: 0, object: None }));
            std::iter::repeat_with(empty).take(FIRST_CHUNK << chunk).collect()
        });
        Some(index)
    }
}

impl<K: Backed> Default for Table<K> {
    fn default() -> Self {
        Self::new()
    }
}

/// The chunk of a slot, and the place in it.
fn place(index: u32) -> (usize, usize) {
    let shifted = index as usize + FIRST_CHUNK;
    let chunk = (shifted.ilog2() - FIRST_CHUNK.ilog2()) as usize;
    (chunk, shifted - (FIRST_CHUNK << chunk))
}

impl<K: Backed> Table<K> {
    fn insert_with(&self, make: impl FnOnce(Handle<K>) -> Arc<K::Object>) -> Result<Arc<K::Object>> {
        let index = self.take_slot().ok_or(Status::OUT_OF_MEMORY)?;
        let slot = self.slot(index).ok_or(Status::UNKNOWN)?;
        let mut slot = slot.write().unwrap_or_else(PoisonError::into_inner);
        slot.generation = slot.generation.wrapping_add(1);
        let object = make(Handle::from_parts(index, slot.generation));
        slot.object = Some(Arc::clone(&object));
        Ok(object)
    }

    #[inline]
    fn get(&self, handle: Handle<K>) -> Option<Arc<K::Object>> {
        let (index, generation) = handle.parts()?;
        let slot = self.slot(index)?.read().unwrap_or_else(PoisonError::into_inner);
        if slot.generation != generation {
            return None;
        }
        slot.object.clone()
    }

    fn replace(&self, handle: Handle<K>, object: Arc<K::Object>) -> Option<Arc<K::Object>> {
        let (index, generation) = handle.parts()?;
        let mut slot = self.slot(index)?.write().unwrap_or_else(PoisonError::into_inner);
        if slot.generation != generation || slot.object.is_none() {
            return None;
        }
        slot.object.replace(object)
    }

    fn remove(&self, handle: Handle<K>) -> Option<Arc<K::Object>> {
        let (index, generation) = handle.parts()?;
        let object = {
            let mut slot = self.slot(index)?.write().unwrap_or_else(PoisonError::into_inner);
            if slot.generation != generation {
                return None;
            }
            slot.object.take()?
        };
        self.free.lock().unwrap_or_else(PoisonError::into_inner).slots.push_back(index);
        Some(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing(u32);

    enum Marker {}

    impl HandleKind for Marker {
        const NUMBER: usize = 15;
    }

    backed!(Marker, Thing);

    type ThingHandle = Handle<Marker>;

    #[test]
    fn a_handle_finds_its_object_until_it_is_removed() {
        let handle = ThingHandle::insert(Arc::new(Thing(7))).unwrap();
        assert_eq!(handle.get().unwrap().0, 7);
        assert_eq!(handle.remove().unwrap().0, 7);
        assert!(handle.get().is_err());
        assert!(handle.remove().is_err());
    }

    #[test]
    fn slots_are_used_again_under_another_handle() {
        let mut handles = std::collections::HashSet::new();
        for number in 0..5 * RESTING as u32 {
            let handle = ThingHandle::insert(Arc::new(Thing(number))).unwrap();
            assert!(handles.insert(handle.raw()), "{handle:?} was given out before");
            handle.remove().unwrap();
        }
    }

    #[test]
    fn garbage_is_no_handle() {
        let handle = ThingHandle::insert(Arc::new(Thing(1))).unwrap();
        let (slot, generation) = handle.parts().unwrap();
        let other = ThingHandle::from_parts(slot, generation + 1);
        for raw in [0, 1, 2, 0x7fff_1234_5670, usize::MAX, handle.raw() + 1, other.raw()] {
            assert!(ThingHandle::from_raw(raw).get().is_err(), "{raw:#x}");
        }
        // The right kind and generation, a slot that there never was.
        let far = ThingHandle::from_parts((1 << SLOT_BITS) - 1, generation);
        assert!(far.get().is_err());
        // Of another kind, whose table has the same slot.
        let foreign = crate::abi::CUstream::from_parts(slot, generation);
        assert!(ThingHandle::from_raw(foreign.raw()).get().is_err());
    }

    #[test]
    fn places_are_consecutive() {
        assert_eq!(place(0), (0, 0));
        assert_eq!(place(63), (0, 63));
        assert_eq!(place(64), (1, 0));
        assert_eq!(place(191), (1, 127));
        assert_eq!(place(192), (2, 0));
    }

    #[test]
    fn threads_race_for_slots() {
        std::thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || {
                    for round in 0..2000 {
                        let handle = ThingHandle::insert(Arc::new(Thing(thread << 16 | round))).unwrap();
                        assert_eq!(handle.get().unwrap().0, thread << 16 | round);
                        assert_eq!(handle.remove().unwrap().0, thread << 16 | round);
                        assert!(handle.get().is_err());
                    }
                });
            }
        });
    }
}
