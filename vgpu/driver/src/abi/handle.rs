//! Handles: what callers hold instead of pointers to our objects.
//!
//! A handle is a number that looks like a pointer but is none. It consists of the kind of
//! object, a slot in the table of that kind, and the slot's generation. So a handle of
//! something that has been destroyed, a handle of another kind and garbage are all found
//! out, and nothing is ever dereferenced. The tables are in the room of objects.

use std::fmt;
use std::marker::PhantomData;

use super::Status;

/// What a handle is one of. Only the markers in [`kind`] and in tests implement it.
pub trait HandleKind: 'static {
    /// Different for each kind, 1 to 15.
    const NUMBER: usize;
    /// The answer to a handle that is not valid.
    const INVALID: Status = Status::INVALID_HANDLE;
}

/// A handle as it crosses the C boundary; any number may come in.
#[repr(transparent)]
pub struct Handle<K>(usize, PhantomData<fn() -> K>);

// From the top: kind (4 bits), generation (16), slot (23), four zeros as an aligned pointer
// has them. That makes 47 bits, as many as the addresses of a process have.
const SLOT_SHIFT: u32 = 4;
/// Slots that a table can have, as a power of two.
pub const SLOT_BITS: u32 = 23;
const GENERATION_SHIFT: u32 = SLOT_SHIFT + SLOT_BITS;
const GENERATION_BITS: u32 = 16;
const KIND_SHIFT: u32 = GENERATION_SHIFT + GENERATION_BITS;

impl<K> Handle<K> {
    pub const NULL: Self = Self::from_raw(0);

    #[must_use]
    pub const fn from_raw(raw: usize) -> Self {
        Self(raw, PhantomData)
    }

    #[must_use]
    pub const fn raw(self) -> usize {
        self.0
    }

    #[must_use]
    pub const fn is_null(self) -> bool {
        self.0 == 0
    }
}

impl<K: HandleKind> Handle<K> {
    #[must_use]
    pub const fn from_parts(slot: u32, generation: u16) -> Self {
        let (slot, generation) = (slot as usize, generation as usize);
        Self::from_raw(K::NUMBER << KIND_SHIFT | generation << GENERATION_SHIFT | slot << SLOT_SHIFT)
    }

    /// Slot and generation; `None` if the handle is of another kind or was never one.
    #[must_use]
    pub const fn parts(self) -> Option<(u32, u16)> {
        let raw = self.0;
        if !self.is_of_kind() || raw & ((1 << SLOT_SHIFT) - 1) != 0 {
            return None;
        }
        let slot = (raw >> SLOT_SHIFT) as u32 & ((1 << SLOT_BITS) - 1);
        Some((slot, (raw >> GENERATION_SHIFT) as u16))
    }

    /// Whether this is a handle of the kind, valid or not.
    #[must_use]
    pub const fn is_of_kind(self) -> bool {
        self.0 >> KIND_SHIFT == K::NUMBER
    }
}

impl<K> Clone for Handle<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Handle<K> {}

impl<K> PartialEq for Handle<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K> Eq for Handle<K> {}

impl<K> fmt::Debug for Handle<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// Declares the kinds, and the names that their handles have in `cuda.h`.
macro_rules! kinds {
    ($($name:ident, $handle:ident = $number:literal, $invalid:ident;)+) => {
        /// Markers for the kinds of handles.
        pub mod kind {
            use super::{HandleKind, Status};
            $(
                #[derive(Debug)]
                pub enum $name {}

                impl HandleKind for $name {
                    const NUMBER: usize = $number;
                    const INVALID: Status = Status::$invalid;
                }
            )+
        }

        $(pub type $handle = Handle<kind::$name>;)+

        #[cfg(test)]
        const NUMBERS: &[usize] = &[$($number),+];
    };
}

kinds! {
    Context, CUcontext = 1, INVALID_CONTEXT;
    Stream, CUstream = 2, INVALID_HANDLE;
    Module, CUmodule = 3, INVALID_HANDLE;
    Function, CUfunction = 4, INVALID_HANDLE;
    Link, CUlinkState = 5, INVALID_HANDLE;
    Library, CUlibrary = 6, INVALID_HANDLE;
    LibraryKernel, CUkernel = 7, INVALID_HANDLE;
    Event, CUevent = 8, INVALID_HANDLE;
    Graph, CUgraph = 9, INVALID_VALUE;
    GraphNode, CUgraphNode = 10, INVALID_VALUE;
    GraphExec, CUgraphExec = 11, INVALID_VALUE;
    Pool, CUmemoryPool = 12, INVALID_VALUE;
    UserObject, CUuserObject = 13, INVALID_VALUE;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_numbers_of_their_own() {
        let mut numbers = NUMBERS.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), NUMBERS.len());
        assert!(numbers.iter().all(|number| (1..=15).contains(number)));
    }

    #[test]
    fn a_handle_has_its_parts() {
        let last = (1 << SLOT_BITS) - 1;
        for (slot, generation) in [(0, 0), (1, 0), (0, 1), (last, u16::MAX), (77, 40_000)] {
            let handle = CUstream::from_parts(slot, generation);
            assert_eq!(handle.parts(), Some((slot, generation)));
            assert!(handle.raw() < 1 << 47 && !handle.is_null());
            assert_eq!(CUevent::from_raw(handle.raw()).parts(), None, "of another kind");
            assert_eq!(CUstream::from_raw(handle.raw() + 1).parts(), None, "not aligned");
        }
        assert_eq!(CUstream::NULL.parts(), None);
    }
}
