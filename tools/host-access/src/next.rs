//! The functions of the same names that come behind those of this library.

use libc::{c_char, c_void};
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function that is looked for once.
pub struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address; null if there is none.
    #[inline]
    pub fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: a name with a null behind it.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr().cast::<c_char>()) };
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// The next function of a name.
macro_rules! next {
    ($name:ident: $kind:ty) => {{
        // A name of Rust's has no null within.
        static NEXT: $crate::next::Next = $crate::next::Next::new(match std::ffi::CStr::from_bytes_with_nul(
            concat!(stringify!($name), "\0").as_bytes(),
        ) {
            Ok(name) => name,
            Err(_) => unreachable!(),
        });
        // SAFETY: whoever is loaded for this name has a function of its type.
        unsafe { std::mem::transmute::<*mut libc::c_void, $kind>(NEXT.get()) }
    }};
}
