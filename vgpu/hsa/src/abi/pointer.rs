//! The pointers that callers pass in. Here, and nowhere else, they become values.
//!
//! These types are the parameters of exported functions. A null pointer is refused with
//! `HSA_STATUS_ERROR_INVALID_ARGUMENT`. Any other is what its type says, for as long as the call
//! lasts: that is the contract of the C API. Only a C caller makes them, so the contract is its
//! promise. None of them may be kept after the call.

use std::ffi::{CStr, c_char, c_void};

use super::{Result, Status};

/// Where a call puts a result.
#[derive(Debug)]
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Refuses a null pointer before anything has been done.
    pub fn check(self) -> Result<Self> {
        if self.0.is_null() { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(self) }
    }

    pub fn put(self, value: T) -> Result {
        self.check()?;
        // SAFETY: the C caller promises that there is room for a `T`; it need not be aligned.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    pub fn get(self) -> Result<T>
    where
        T: Copy,
    {
        self.check()?;
        // SAFETY: as for `put`; what is both read and written has been set by the caller.
        Ok(unsafe { self.0.read_unaligned() })
    }
}

/// Copies whatever they point to.
macro_rules! copies {
    ($($pointer:ident)+) => {
        $(
            impl<T> Clone for $pointer<T> {
                fn clone(&self) -> Self {
                    *self
                }
            }

            impl<T> Copy for $pointer<T> {}
        )+
    };
}

copies! { Out In List }

impl<T> From<Opaque> for Out<T> {
    fn from(pointer: Opaque) -> Self {
        Self(pointer.0.cast())
    }
}

/// The value of an attribute: what its type is depends on the attribute.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Value(*mut c_void);

impl Value {
    pub fn check(self) -> Result<Self> {
        if self.0.is_null() { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(self) }
    }

    pub fn put<T>(self, value: T) -> Result {
        Out(self.0.cast::<T>()).put(value)
    }

    /// Bytes of a text, without a terminator.
    pub fn put_bytes(self, text: &[u8]) -> Result {
        self.check()?;
        // SAFETY: the C caller promises room for as many bytes as the attribute for the length says.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), self.0.cast(), text.len()) };
        Ok(())
    }

    /// A text with its terminator in a field of a fixed size, the rest zeros.
    pub fn put_field<const SIZE: usize>(self, text: &str) -> Result {
        let mut field = [0u8; SIZE];
        let length = text.len().min(SIZE - 1);
        field[..length].copy_from_slice(&text.as_bytes()[..length]);
        self.put(field)
    }
}

/// A structure that a caller passes.
#[derive(Debug)]
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T: Copy> In<T> {
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn get(self) -> Result<T> {
        if self.0.is_null() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        // SAFETY: the C caller promises that a `T` is there.
        Ok(unsafe { self.0.read_unaligned() })
    }
}

/// The first of several values.
#[derive(Debug)]
#[repr(transparent)]
pub struct List<T>(*const T);

impl<T: Copy> List<T> {
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// So many of them; a null pointer is fine for none.
    pub fn get(self, count: usize) -> Result<Vec<T>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        if self.0.is_null() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        // SAFETY: the C caller promises that there are so many.
        Ok((0..count).map(|at| unsafe { self.0.add(at).read_unaligned() }).collect())
    }
}

/// A text with a terminator.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    /// The text; `None` if there is no pointer or it is no UTF-8, as no name of ours is.
    #[must_use]
    pub fn get(self) -> Option<String> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the C caller promises a terminator.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().ok().map(str::to_owned)
    }

    #[must_use]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// A pointer that is handed back to the caller's own functions, or an address of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Opaque(pub *mut c_void);

// SAFETY: nothing here follows it: the caller's functions get it back on whatever thread they are
// called, as the API says.
unsafe impl Send for Opaque {}
// SAFETY: as above.
unsafe impl Sync for Opaque {}

impl Opaque {
    #[must_use]
    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    #[must_use]
    pub fn from_address(address: u64) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(address as usize))
    }

    #[must_use]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}
