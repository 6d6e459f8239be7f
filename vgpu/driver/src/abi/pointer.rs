//! The pointers that callers pass in. Here, and nowhere else, they become values.
//!
//! These types are the parameters of exported functions. A null pointer is refused with
//! `CUDA_ERROR_INVALID_VALUE`. Any other is what its type says, for as long as the call lasts: that
//! is the contract of the C API. Only a C caller makes them, so the contract is its promise. None
//! of them may be kept after the call. The logs of a link are an exception: `cuda.h` lets the
//! driver write those until the link is destroyed.

use std::ffi::{CStr, c_char, c_void};

use super::{Result, Status};

/// Where a call puts a result.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// For results that are not wanted.
    pub const NULL: Self = Self(std::ptr::null_mut());

    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Refuses a null pointer: done before anything that could not be undone.
    pub fn check(&self) -> Result {
        if self.0.is_null() { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }

    pub fn set(&self, value: T) -> Result {
        self.check()?;
        // SAFETY: not null, so the caller's promise holds: a place for a `T`.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// For results that a caller need not want.
    pub fn set_if_wanted(&self, value: T) {
        if !self.0.is_null() {
            // SAFETY: as in `set`.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Reads what the caller left there, for values that go both ways.
    pub fn get(&self) -> Result<T>
    where
        T: Copy,
    {
        self.check()?;
        // SAFETY: as in `set`; a call that reads as well gets a place that is initialised.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Fills an array of the caller.
    pub fn fill(&self, values: impl IntoIterator<Item = T>) -> Result {
        let mut values = values.into_iter().peekable();
        if values.peek().is_some() {
            self.check()?;
        }
        for (index, value) in values.enumerate() {
            // SAFETY: the caller promises an array as long as the call says, which limits `values`.
            unsafe { self.0.add(index).write_unaligned(value) };
        }
        Ok(())
    }
}

/// What a call reads.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T: Copy> In<T> {
    pub const NULL: Self = Self(std::ptr::null());

    /// A pointer that a caller is given to read.
    ///
    /// # Safety
    ///
    /// It is null or points to what the call promises, for as long as the call promises that.
    #[must_use]
    pub unsafe fn from_ptr(pointer: *const T) -> Self {
        Self(pointer)
    }

    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    pub fn get(&self) -> Result<T> {
        if self.0.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: not null, so the caller's promise holds: it points to a `T`.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// An array of `count` elements; the pointer may be null when there are none.
    pub fn array(&self, count: usize) -> Result<Vec<T>> {
        Ok(self.elements(count)?.collect())
    }

    /// The elements of such an array, each read when its turn comes.
    pub fn elements(&self, count: usize) -> Result<impl Iterator<Item = T>> {
        if count > 0 && self.0.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let first = self.0;
        // SAFETY: the caller promises an array of `count` elements.
        Ok((0..count).map(move |index| unsafe { first.add(index).read_unaligned() }))
    }

    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        self.0
    }

    /// The place of an element, for arrays that a call both reads and answers in.
    #[must_use]
    pub fn place<U>(&self, index: usize) -> Out<U> {
        Out(self.0.wrapping_add(index).cast_mut().cast())
    }
}

/// A C string.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    pub fn bytes(&self) -> Result<&[u8]> {
        if self.0.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: not null, so the caller's promise holds: a string with its terminator, which
        // stays for as long as the call.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }

    /// Names of things in modules are ASCII, so one that is not UTF-8 names nothing.
    pub fn str(&self) -> Result<&str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Status::NOT_FOUND)
    }
}

/// Memory without a type.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Untyped(pub *mut c_void);

impl Untyped {
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    #[must_use]
    pub fn address(&self) -> u64 {
        self.0 as u64
    }

    /// A value of the type that the call implies, so many bytes further on.
    #[must_use]
    pub fn at<T>(&self, offset: usize) -> In<T> {
        if self.0.is_null() { In(std::ptr::null()) } else { In(self.0.wrapping_byte_add(offset).cast()) }
    }

    /// A place for one.
    #[must_use]
    pub fn at_out<T>(&self, offset: usize) -> Out<T> {
        if self.0.is_null() { Out::NULL } else { Out(self.0.wrapping_byte_add(offset).cast()) }
    }

    /// A place for a value of the type that the call implies.
    #[must_use]
    pub fn out<T>(&self) -> Out<T> {
        Out(self.0.cast())
    }

    /// The bytes, for callers that say how many there are.
    pub fn bytes(&self, length: usize) -> Result<&[u8]> {
        if self.0.is_null() {
            return if length == 0 { Ok(&[]) } else { Err(Status::INVALID_VALUE) };
        }
        // SAFETY: the caller promises `length` readable bytes.
        Ok(unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), length) })
    }
}
