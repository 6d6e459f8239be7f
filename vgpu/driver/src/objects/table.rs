//! Handles: what callers hold instead of pointers to our objects.
//!
//! A handle is a number that looks like a pointer but is none: the kind of object, a slot in a table and
//! the slot's generation. So whatever a caller passes - a handle of something that has
//! been destroyed, of another kind, or garbage - is found out, and nothing is ever dereferenced.
//!
//! Looking a handle up locks only its own slot, and only against its removal.

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use crate::abi::status::{Result, Status};

/// Something that callers hold a handle of.
pub trait Object: Sized + Send + Sync + 'static {
    /// Different for each type, 1 to 15.
    const KIND: u8;
    /// What an invalid handle is answered with.
    const INVALID: Status = Status::INVALID_HANDLE;

    fn table() -> &'static Table<Self>;
}

/// A handle as it crosses the C boundary; any number may come in.
#[repr(transparent)]
pub struct Handle<T>(usize, PhantomData<fn() -> T>);

impl<T> Handle<T> {
    pub const NULL: Handle<T> = Handle::from_raw(0);

    pub const fn from_raw(raw: usize) -> Handle<T> {
        Handle(raw, PhantomData)
    }

    pub const fn raw(self) -> usize {
        self.0
    }

    pub const fn is_null(self) -> bool {
        self.0 == 0
    }
}

impl<T: Object> Handle<T> {
    /// The object, or `T::INVALID`.
    pub fn get(self) -> Result<Arc<T>> {
        T::table().get(self).ok_or(T::INVALID)
    }

    /// Takes the object out of its table: from here on the handle is invalid.
    pub fn remove(self) -> Result<Arc<T>> {
        T::table().remove(self).ok_or(T::INVALID)
    }

    /// Whether this is a handle of this kind, valid or not.
    pub fn is_of_kind(self) -> bool {
        (self.0 >> KIND_SHIFT) as u8 == T::KIND
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for Handle<T> {}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

// From the top: kind (4 bits), generation (16), slot (23), four zeros as an aligned pointer has them.
// That makes 47 bits, the addresses of a process.
const SLOT_SHIFT: u32 = 4;
const SLOT_BITS: u32 = 23;
const GENERATION_SHIFT: u32 = SLOT_SHIFT + SLOT_BITS;
const GENERATION_BITS: u32 = 16;
const KIND_SHIFT: u32 = GENERATION_SHIFT + GENERATION_BITS;

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

type Chunk<T> = Box<[RwLock<Slot<T>>]>;

/// All objects of a kind.
pub struct Table<T> {
    chunks: [OnceLock<Chunk<T>>; CHUNKS],
    free: Mutex<Free>,
}

struct Free {
    slots: VecDeque<u32>,
    /// Slots that have ever been used.
    used: u32,
}

impl<T> Table<T> {
    pub const fn new() -> Table<T> {
        Table {
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Mutex::new(Free { slots: VecDeque::new(), used: 0 }),
        }
    }

    fn slot(&self, index: u32) -> Option<&RwLock<Slot<T>>> {
        let (chunk, at) = place(index);
        self.chunks.get(chunk)?.get()?.get(at)
    }

    fn take_slot(&self) -> Option<u32> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.slots.len() > RESTING || free.used >> SLOT_BITS != 0 {
            return free.slots.pop_front();
        }
        let index = free.used;
        let (chunk, _) = place(index);
        if chunk >= CHUNKS {
            return free.slots.pop_front();
        }
        free.used += 1;
        self.chunks[chunk].get_or_init(|| {
            let empty = || RwLock::new(Slot { generation: 0, object: None });
            std::iter::repeat_with(empty).take(FIRST_CHUNK << chunk).collect()
        });
        Some(index)
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table::new()
    }
}

/// The chunk of a slot, and the place in it.
fn place(index: u32) -> (usize, usize) {
    let shifted = index as usize + FIRST_CHUNK;
    let chunk = (shifted.ilog2() - FIRST_CHUNK.ilog2()) as usize;
    (chunk, shifted - (FIRST_CHUNK << chunk))
}

impl<T: Object> Table<T> {
    /// Makes an object that knows its own handle.
    pub fn insert_with(&self, make: impl FnOnce(Handle<T>) -> Arc<T>) -> Result<Arc<T>> {
        let index = self.take_slot().ok_or(Status::OUT_OF_MEMORY)?;
        let slot = self.slot(index).ok_or(Status::UNKNOWN)?;
        let mut slot = slot.write().unwrap_or_else(PoisonError::into_inner);
        slot.generation = slot.generation.wrapping_add(1);
        let raw = usize::from(T::KIND) << KIND_SHIFT
            | usize::from(slot.generation) << GENERATION_SHIFT
            | (index as usize) << SLOT_SHIFT;
        let object = make(Handle::from_raw(raw));
        slot.object = Some(Arc::clone(&object));
        Ok(object)
    }

    pub fn insert(&self, object: Arc<T>) -> Result<Handle<T>> {
        let mut made = Handle::NULL;
        self.insert_with(|handle| {
            made = handle;
            object
        })?;
        Ok(made)
    }

    pub fn get(&self, handle: Handle<T>) -> Option<Arc<T>> {
        let (index, generation) = parts(handle)?;
        let slot = self.slot(index)?.read().unwrap_or_else(PoisonError::into_inner);
        if slot.generation != generation {
            return None;
        }
        slot.object.clone()
    }

    /// Puts another object behind a valid handle.
    pub fn replace(&self, handle: Handle<T>, object: Arc<T>) -> Option<Arc<T>> {
        let (index, generation) = parts(handle)?;
        let mut slot = self.slot(index)?.write().unwrap_or_else(PoisonError::into_inner);
        if slot.generation != generation || slot.object.is_none() {
            return None;
        }
        slot.object.replace(object)
    }

    pub fn remove(&self, handle: Handle<T>) -> Option<Arc<T>> {
        let (index, generation) = parts(handle)?;
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

/// Slot and generation of a handle; `None` if it is of another kind or was never one.
fn parts<T: Object>(handle: Handle<T>) -> Option<(u32, u16)> {
    let raw = handle.0;
    if raw >> KIND_SHIFT != usize::from(T::KIND) || raw & ((1 << SLOT_SHIFT) - 1) != 0 {
        return None;
    }
    Some(((raw >> SLOT_SHIFT) as u32 & ((1 << SLOT_BITS) - 1), (raw >> GENERATION_SHIFT) as u16))
}

/// Gives a type its kind and its table.
macro_rules! object {
    ($type:ty, $kind:literal $(, invalid: $invalid:expr)?) => {
        impl $crate::objects::table::Object for $type {
            const KIND: u8 = $kind;
            $(const INVALID: $crate::abi::status::Status = $invalid;)?

            fn table() -> &'static $crate::objects::table::Table<$type> {
                static TABLE: $crate::objects::table::Table<$type> = $crate::objects::table::Table::new();
                &TABLE
            }
        }
    };
}
pub(crate) use object;

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing(u32);
    object!(Thing, 15);

    #[test]
    fn a_handle_finds_its_object_until_it_is_removed() {
        let handle = Thing::table().insert(Arc::new(Thing(7))).unwrap();
        assert_eq!(handle.get().unwrap().0, 7);
        assert_eq!(handle.remove().unwrap().0, 7);
        assert!(handle.get().is_err());
        assert!(handle.remove().is_err());
    }

    #[test]
    fn slots_are_used_again_under_another_handle() {
        let mut handles = std::collections::HashSet::new();
        for number in 0..5 * RESTING as u32 {
            let handle = Thing::table().insert(Arc::new(Thing(number))).unwrap();
            assert!(handles.insert(handle.raw()), "{handle:?} was given out before");
            handle.remove().unwrap();
        }
    }

    #[test]
    fn garbage_is_no_handle() {
        let handle = Thing::table().insert(Arc::new(Thing(1))).unwrap();
        for raw in
            [0, 1, 2, 0x7fff_1234_5670, usize::MAX, handle.raw() + 1, handle.raw() ^ 1 << GENERATION_SHIFT]
        {
            assert!(Handle::<Thing>::from_raw(raw).get().is_err(), "{raw:#x}");
        }
        // The right kind and generation, a slot that there never was.
        let far = handle.raw() | ((1 << SLOT_BITS) - 1) << SLOT_SHIFT;
        assert!(Handle::<Thing>::from_raw(far).get().is_err());
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
                        let handle = Thing::table().insert(Arc::new(Thing(thread << 16 | round))).unwrap();
                        assert_eq!(handle.get().unwrap().0, thread << 16 | round);
                        assert_eq!(handle.remove().unwrap().0, thread << 16 | round);
                        assert!(handle.get().is_err());
                    }
                });
            }
        });
    }
}
