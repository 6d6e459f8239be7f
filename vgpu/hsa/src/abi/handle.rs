//! Handles: what callers hold instead of pointers to our objects.
//!
//! A handle is a number of 64 bits that can be no pointer: the kind of object is in its upper byte,
//! a number of the object's below. No two objects of a process have the same number, so a handle of
//! something that has been destroyed, one of another kind and garbage are all found out. Signals and
//! queues are addresses instead, since kernels work with them: their rooms check them.

use super::Status;

/// A handle as it crosses the C boundary, of whatever kind; any number may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Handle(pub u64);

const KIND_SHIFT: u32 = 56;

/// What a handle is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    Agent = 0x81,
    Region,
    Isa,
    Cache,
    Wavefront,
    Reader,
    CodeObject,
    Executable,
    LoadedCodeObject,
    Symbol,
    SignalGroup,
}

impl Kind {
    /// The answer to a handle that is not valid.
    #[must_use]
    pub const fn invalid(self) -> Status {
        match self {
            Self::Agent => Status::ERROR_INVALID_AGENT,
            Self::Region => Status::ERROR_INVALID_REGION,
            Self::Isa => Status::ERROR_INVALID_ISA,
            Self::Cache => Status::ERROR_INVALID_CACHE,
            Self::Wavefront => Status::ERROR_INVALID_WAVEFRONT,
            Self::Reader => Status::ERROR_INVALID_CODE_OBJECT_READER,
            Self::CodeObject | Self::LoadedCodeObject => Status::ERROR_INVALID_CODE_OBJECT,
            Self::Executable => Status::ERROR_INVALID_EXECUTABLE,
            Self::Symbol => Status::ERROR_INVALID_EXECUTABLE_SYMBOL,
            Self::SignalGroup => Status::ERROR_INVALID_SIGNAL_GROUP,
        }
    }
}

impl Handle {
    pub const NULL: Self = Self(0);

    #[must_use]
    pub const fn new(kind: Kind, number: u64) -> Self {
        Self((kind as u64) << KIND_SHIFT | number)
    }

    /// The number of an object of a kind, or `None` if the handle is of another kind or was never one.
    #[must_use]
    pub const fn number(self, kind: Kind) -> Option<u64> {
        if self.0 >> KIND_SHIFT == kind as u64 { Some(self.0 & ((1 << KIND_SHIFT) - 1)) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_of_one_kind_and_no_pointer() {
        let handle = Handle::new(Kind::Executable, 77);
        assert_eq!(handle.number(Kind::Executable), Some(77));
        assert_eq!(handle.number(Kind::Symbol), None);
        assert_eq!(Handle::NULL.number(Kind::Agent), None);
        // The upper 16 bits of pointers are all alike.
        assert!(![0, 0xffff].contains(&(handle.0 >> 48)));
    }
}
