//! Memory, and the end of a kernel.

use core::ffi::{CStr, c_char, c_int};

/// Where a statement is in the program, as flang hands it over.
#[derive(Clone, Copy)]
pub struct Line {
    pub file: *const c_char,
    pub line: c_int,
}

impl Line {
    /// For functions that are not told.
    pub const UNKNOWN: Self = Self { file: core::ptr::null(), line: 0 };

    #[must_use]
    pub const fn new(file: *const c_char, line: c_int) -> Self {
        Self { file, line }
    }

    fn named(self) -> *const c_char {
        if self.file.is_null() { c"unknown file".as_ptr() } else { self.file }
    }
}

#[cfg(gpu)]
mod gpu {
    use core::ffi::{c_char, c_int, c_void};

    unsafe extern "C" {
        /// The heap's (`device/gpu/heap`), which the code of the program uses as well. On NVIDIA's GPUs the names
        /// without a prefix are the driver's.
        #[cfg_attr(target_arch = "amdgpu", link_name = "malloc")]
        pub fn __gangway_malloc(bytes: usize) -> *mut c_void;
        #[cfg_attr(target_arch = "amdgpu", link_name = "free")]
        pub fn __gangway_free(memory: *mut c_void);
        pub fn vprintf(format: *const c_char, arguments: *const c_void) -> c_int;
    }
}

/// Memory of the heap; null if there is none. No bytes have an address, too: the variable is allocated.
#[must_use]
pub fn allocate(bytes: usize) -> *mut u8 {
    let bytes = bytes.max(1);
    #[cfg(gpu)]
    // SAFETY: any size may be asked for.
    return unsafe { gpu::__gangway_malloc(bytes) }.cast();
    #[cfg(not(gpu))]
    // SAFETY: any size may be asked for.
    return unsafe { host::malloc(bytes) };
}

/// Gives memory back.
///
/// # Safety
/// It is null or of the heap, and no longer in use.
pub unsafe fn release(memory: *mut u8) {
    #[cfg(gpu)]
    // SAFETY: as the caller says.
    unsafe {
        gpu::__gangway_free(memory.cast());
    }
    #[cfg(not(gpu))]
    // SAFETY: as the caller says.
    unsafe {
        host::free(memory);
    }
}

/// Ends the kernel: the program is wrong at this line.
#[cold]
#[inline(never)]
pub fn fail(line: Line, reason: &CStr) -> ! {
    #[repr(C)]
    struct Arguments {
        file: *const c_char,
        line: c_int,
        reason: *const c_char,
    }
    let arguments = Arguments { file: line.named(), line: line.line, reason: reason.as_ptr() };
    #[cfg(gpu)]
    {
        let format = c"fatal Fortran runtime error(%s:%d): %s\n";
        // SAFETY: the format has these arguments.
        unsafe { gpu::vprintf(format.as_ptr(), (&raw const arguments).cast()) };
        core::intrinsics::abort()
    }
    #[cfg(not(gpu))]
    panic!("line {}: {reason:?} of {:?}", arguments.line, arguments.file);
}

#[cfg(not(gpu))]
mod host {
    unsafe extern "C" {
        pub fn malloc(bytes: usize) -> *mut u8;
        pub fn free(memory: *mut u8);
    }
}
