//! The C library's functions that device code calls, and those of C++ that stand in tables of virtual functions.

use crate::target;
use core::ffi::{c_char, c_void};

/// A failed `assert`. On AMD's GPUs it is the member's that prints (`system/`).
///
/// # Safety
/// The texts end with a null byte.
#[cfg(not(target_arch = "amdgpu"))]
#[cfg_attr(gpu, unsafe(no_mangle))]
pub unsafe extern "C" fn __assert_fail(
    message: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    // SAFETY: as the caller says.
    unsafe { target::fail(message, file, line, function) }
}

/// LLVM's name of `vprintf`, which says how many bytes the arguments have.
///
/// # Safety
/// The format matches the arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __llvm_omp_vprintf(
    format: *const c_char,
    arguments: *const c_void,
    _bytes: u32,
) -> i32 {
    // SAFETY: as the caller says.
    unsafe { target::print(format, arguments) }
}

/// # Safety
/// The ranges are valid, and apart.
#[cfg_attr(gpu, unsafe(no_mangle))]
pub unsafe extern "C" fn memcpy(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as the caller says.
    unsafe { core::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), bytes) };
    to
}

/// # Safety
/// The ranges are valid.
#[cfg_attr(gpu, unsafe(no_mangle))]
pub unsafe extern "C" fn memmove(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as the caller says.
    unsafe { core::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), bytes) };
    to
}

/// # Safety
/// The range is valid.
#[cfg_attr(gpu, unsafe(no_mangle))]
pub unsafe extern "C" fn memset(to: *mut c_void, value: i32, bytes: usize) -> *mut c_void {
    // SAFETY: as the caller says.
    unsafe { core::ptr::write_bytes(to.cast::<u8>(), value as u8, bytes) };
    to
}

/// # Safety
/// The ranges are valid.
#[cfg_attr(gpu, unsafe(no_mangle))]
pub unsafe extern "C" fn memcmp(left: *const c_void, right: *const c_void, bytes: usize) -> i32 {
    for index in 0..bytes {
        // SAFETY: as the caller says.
        let (left, right) =
            unsafe { (left.cast::<u8>().add(index).read(), right.cast::<u8>().add(index).read()) };
        if left != right {
            return i32::from(left) - i32::from(right);
        }
    }
    0
}

/// # Safety
/// The text ends with a null byte.
#[cfg_attr(gpu, unsafe(no_mangle))]
pub unsafe extern "C" fn strlen(text: *const c_char) -> usize {
    let mut length = 0;
    // SAFETY: as the caller says.
    while unsafe { text.add(length).read() } != 0 {
        length += 1;
    }
    length
}

/// Whether there is one thread alone (glibc's `sys/single_threaded.h`): `std::shared_ptr` of libstdc++ asks.
#[cfg_attr(gpu, unsafe(no_mangle))]
#[allow(non_upper_case_globals)]
pub static __libc_single_threaded: u8 = 0;

/// What stands for a virtual function without a body (Itanium C++ ABI, 3.2.6). For NVIDIA's GPUs clang puts null.
#[cfg(target_arch = "amdgpu")]
#[unsafe(no_mangle)]
pub extern "C" fn __cxa_pure_virtual() -> ! {
    target::trap()
}

/// What stands for a virtual function that is deleted, as above.
#[cfg(target_arch = "amdgpu")]
#[unsafe(no_mangle)]
pub extern "C" fn __cxa_deleted_virtual() -> ! {
    target::trap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_compared_as_unsigned_bytes() {
        let compare = |left: &[u8], right: &[u8]| {
            // SAFETY: both have as many bytes as the left one.
            unsafe { memcmp(left.as_ptr().cast(), right.as_ptr().cast(), left.len()) }.signum()
        };
        assert_eq!([compare(b"ab", b"ab"), compare(b"a\xff", b"ab"), compare(b"aa", b"ab")], [0, 1, -1]);
    }
}
