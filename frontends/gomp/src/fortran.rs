//! Fortran's names of routines that have another one in C. The others are declared there
//! with C's names.

use crate::interop;
use crate::libgomp::Libgomp;
use gangway_openmp::devices;
use gangway_openmp::interop::Interop;
use std::ffi::{CStr, CString, c_char};

/// See [`devices::omp_get_num_devices`].
pub extern "C" fn omp_get_num_devices_() -> i32 {
    devices::omp_get_num_devices::<Libgomp>()
}

/// See [`devices::omp_get_initial_device`].
pub extern "C" fn omp_get_initial_device_() -> i32 {
    devices::omp_get_initial_device::<Libgomp>()
}

/// See [`devices::omp_get_device_num`].
pub extern "C" fn omp_get_device_num_() -> i32 {
    devices::omp_get_device_num::<Libgomp>()
}

/// A function's text: where it is, and how long. Fortran's pointers to characters have both.
///
/// # Safety
/// The text is null or a string that stays; the places are the caller's.
unsafe fn answer(text: *const c_char, place: *mut *const c_char, length: *mut usize) {
    // SAFETY: the caller's promise.
    unsafe {
        *place = text;
        *length = if text.is_null() { 0 } else { CStr::from_ptr(text).count_bytes() };
    }
}

/// See [`devices::omp_get_device_from_uid`].
///
/// # Safety
/// The text has as many characters.
pub unsafe extern "C" fn omp_get_device_from_uid_(text: *const c_char, length: usize) -> i32 {
    // SAFETY: the caller's promise.
    let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    let until_null = text.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = CString::new(until_null).unwrap_or_default();
    // SAFETY: a string.
    unsafe { devices::omp_get_device_from_uid::<Libgomp>(text.as_ptr()) }
}

/// See [`devices::omp_get_uid_from_device`].
///
/// # Safety
/// The places are the caller's.
pub unsafe extern "C" fn omp_get_uid_from_device_(
    place: *mut *const c_char,
    length: *mut usize,
    device: i32,
) {
    let text = devices::omp_get_uid_from_device::<Libgomp>(device);
    // SAFETY: the caller's promise.
    unsafe { answer(text, place, length) };
}

/// See [`devices::omp_get_uid_from_device`].
///
/// # Safety
/// The places are the caller's.
pub unsafe extern "C" fn omp_get_uid_from_device_8_(
    place: *mut *const c_char,
    length: *mut usize,
    device: i64,
) {
    // SAFETY: the caller's promise.
    unsafe { omp_get_uid_from_device_(place, length, device as i32) };
}

/// See [`interop::omp_get_interop_str`].
///
/// # Safety
/// The places are the caller's, and `object` is an object or none.
pub unsafe extern "C" fn omp_get_interop_str_(
    place: *mut *const c_char,
    length: *mut usize,
    object: *const Interop,
    number: i32,
    code: *mut i32,
) {
    // SAFETY: the caller's promise.
    unsafe { answer(interop::omp_get_interop_str(object, number, code), place, length) };
}

/// See [`interop::omp_get_interop_name`].
///
/// # Safety
/// As [`omp_get_interop_str_`].
pub unsafe extern "C" fn omp_get_interop_name_(
    place: *mut *const c_char,
    length: *mut usize,
    object: *const Interop,
    number: i32,
) {
    // SAFETY: the caller's promise.
    unsafe { answer(interop::omp_get_interop_name(object, number), place, length) };
}

/// See [`interop::omp_get_interop_type_desc`].
///
/// # Safety
/// As [`omp_get_interop_str_`].
pub unsafe extern "C" fn omp_get_interop_type_desc_(
    place: *mut *const c_char,
    length: *mut usize,
    object: *const Interop,
    number: i32,
) {
    // SAFETY: the caller's promise.
    unsafe { answer(interop::omp_get_interop_type_desc(object, number), place, length) };
}

/// See [`interop::omp_get_interop_rc_desc`].
///
/// # Safety
/// As [`omp_get_interop_str_`].
pub unsafe extern "C" fn omp_get_interop_rc_desc_(
    place: *mut *const c_char,
    length: *mut usize,
    object: *const Interop,
    code: i32,
) {
    // SAFETY: the caller's promise.
    unsafe { answer(interop::omp_get_interop_rc_desc(object, code), place, length) };
}
