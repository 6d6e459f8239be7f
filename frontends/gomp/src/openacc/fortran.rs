//! Fortran's names of the routines: arguments by reference, ranges as arrays.
//!
//! Each data routine has three forms: an address and 32 or 64 bits of size, and an array whose
//! descriptor says its size.

use crate::libgomp::Libgomp;
use gangway_frontend::guard::guard;
use gangway_openacc::{data, device, present, property, shutdown, waits};
use std::ffi::{CStr, c_char, c_void};

/// The beginning of a descriptor of gfortran's, of an array in one piece.
#[repr(C)]
pub struct Descriptor {
    base: *mut c_void,
    offset: usize,
    element: usize,
    version: i32,
    rank: i8,
    kind: i8,
    attribute: i16,
    span: isize,
    dimensions: [Dimension; 0],
}

#[repr(C)]
struct Dimension {
    stride: isize,
    lower: isize,
    upper: isize,
}

const _: () = assert!(size_of::<Descriptor>() == 40 && size_of::<Dimension>() == 24);

impl Descriptor {
    /// Bytes of the array.
    ///
    /// # Safety
    /// The descriptor has as many dimensions as it says.
    unsafe fn size(&self) -> usize {
        let rank = usize::try_from(self.rank).unwrap_or(0);
        // SAFETY: the caller's promise.
        let dimensions = unsafe { std::slice::from_raw_parts(self.dimensions.as_ptr(), rank) };
        let extent =
            |dimension: &Dimension| usize::try_from(dimension.upper - dimension.lower + 1).unwrap_or(0);
        dimensions.iter().map(extent).product::<usize>() * self.element
    }
}

/// A range as a Fortran routine is given it.
///
/// # Safety
/// The descriptor is null or gfortran's.
unsafe fn range(array: *const Descriptor) -> (*mut c_void, usize) {
    // SAFETY: the caller's promise.
    unsafe { array.as_ref().map_or((std::ptr::null_mut(), 0), |array| (array.base, array.size())) }
}

/// The forms of routines for a range.
macro_rules! ranges {
    ($($routine:ident: $short:ident, $long:ident, $array:ident;)*) => {$(
        #[doc = concat!("See [`data::", stringify!($routine), "`].")]
        ///
        /// # Safety
        /// The size is a number.
        pub unsafe extern "C" fn $short(host: *mut c_void, size: *const i32) {
            // SAFETY: the caller's promise.
            let size = unsafe { *size };
            let _ = data::$routine::<Libgomp>(host, size as usize);
        }

        #[doc = concat!("See [`data::", stringify!($routine), "`].")]
        ///
        /// # Safety
        /// The size is a number.
        pub unsafe extern "C" fn $long(host: *mut c_void, size: *const i64) {
            // SAFETY: the caller's promise.
            let size = unsafe { *size };
            let _ = data::$routine::<Libgomp>(host, size as usize);
        }

        #[doc = concat!("See [`data::", stringify!($routine), "`].")]
        ///
        /// # Safety
        /// The array is null or one of gfortran's.
        pub unsafe extern "C" fn $array(array: *const Descriptor) {
            // SAFETY: the caller's promise.
            let (host, size) = unsafe { range(array) };
            let _ = data::$routine::<Libgomp>(host, size);
        }
    )*};
}

/// The forms of routines for a range and a queue.
macro_rules! ranges_in_queues {
    ($($routine:ident: $short:ident, $long:ident, $array:ident;)*) => {$(
        #[doc = concat!("See [`data::", stringify!($routine), "`].")]
        ///
        /// # Safety
        /// The size and the queue are numbers.
        pub unsafe extern "C" fn $short(host: *mut c_void, size: *const i32, queue: *const i32) {
            // SAFETY: the caller's promise.
            let (size, queue) = unsafe { (*size, *queue) };
            data::$routine::<Libgomp>(host, size as usize, queue);
        }

        #[doc = concat!("See [`data::", stringify!($routine), "`].")]
        ///
        /// # Safety
        /// The size and the queue are numbers.
        pub unsafe extern "C" fn $long(host: *mut c_void, size: *const i64, queue: *const i32) {
            // SAFETY: the caller's promise.
            let (size, queue) = unsafe { (*size, *queue) };
            data::$routine::<Libgomp>(host, size as usize, queue);
        }

        #[doc = concat!("See [`data::", stringify!($routine), "`].")]
        ///
        /// # Safety
        /// The array is null or one of gfortran's; the queue is a number.
        pub unsafe extern "C" fn $array(array: *const Descriptor, queue: *const i32) {
            // SAFETY: the caller's promise.
            let ((host, size), queue) = unsafe { (range(array), *queue) };
            data::$routine::<Libgomp>(host, size, queue);
        }
    )*};
}

ranges! {
    acc_copyin: acc_copyin_32_h_, acc_copyin_64_h_, acc_copyin_array_h_;
    acc_create: acc_create_32_h_, acc_create_64_h_, acc_create_array_h_;
    acc_copyout: acc_copyout_32_h_, acc_copyout_64_h_, acc_copyout_array_h_;
    acc_copyout_finalize:
        acc_copyout_finalize_32_h_, acc_copyout_finalize_64_h_, acc_copyout_finalize_array_h_;
    acc_delete: acc_delete_32_h_, acc_delete_64_h_, acc_delete_array_h_;
    acc_delete_finalize:
        acc_delete_finalize_32_h_, acc_delete_finalize_64_h_, acc_delete_finalize_array_h_;
    acc_update_device: acc_update_device_32_h_, acc_update_device_64_h_, acc_update_device_array_h_;
    acc_update_self: acc_update_self_32_h_, acc_update_self_64_h_, acc_update_self_array_h_;
}

ranges_in_queues! {
    acc_copyin_async: acc_copyin_async_32_h_, acc_copyin_async_64_h_, acc_copyin_async_array_h_;
    acc_create_async: acc_create_async_32_h_, acc_create_async_64_h_, acc_create_async_array_h_;
    acc_copyout_async: acc_copyout_async_32_h_, acc_copyout_async_64_h_, acc_copyout_async_array_h_;
    acc_copyout_finalize_async:
        acc_copyout_finalize_async_32_h_, acc_copyout_finalize_async_64_h_,
        acc_copyout_finalize_async_array_h_;
    acc_delete_async: acc_delete_async_32_h_, acc_delete_async_64_h_, acc_delete_async_array_h_;
    acc_delete_finalize_async:
        acc_delete_finalize_async_32_h_, acc_delete_finalize_async_64_h_,
        acc_delete_finalize_async_array_h_;
    acc_update_device_async:
        acc_update_device_async_32_h_, acc_update_device_async_64_h_, acc_update_device_async_array_h_;
    acc_update_self_async:
        acc_update_self_async_32_h_, acc_update_self_async_64_h_, acc_update_self_async_array_h_;
}

/// The older names, which mean the same.
pub use {
    acc_copyin_32_h_ as acc_present_or_copyin_32_h_, acc_copyin_64_h_ as acc_present_or_copyin_64_h_,
    acc_copyin_array_h_ as acc_present_or_copyin_array_h_, acc_create_32_h_ as acc_present_or_create_32_h_,
    acc_create_64_h_ as acc_present_or_create_64_h_, acc_create_array_h_ as acc_present_or_create_array_h_,
};

/// See [`present::acc_is_present`].
///
/// # Safety
/// The size is a number.
pub unsafe extern "C" fn acc_is_present_32_h_(host: *mut c_void, size: *const i32) -> i32 {
    // SAFETY: the caller's promise.
    let size = unsafe { *size };
    present::acc_is_present::<Libgomp>(host, size as usize)
}

/// See [`present::acc_is_present`].
///
/// # Safety
/// The size is a number.
pub unsafe extern "C" fn acc_is_present_64_h_(host: *mut c_void, size: *const i64) -> i32 {
    // SAFETY: the caller's promise.
    let size = unsafe { *size };
    present::acc_is_present::<Libgomp>(host, size as usize)
}

/// See [`present::acc_is_present`].
///
/// # Safety
/// The array is null or one of gfortran's.
pub unsafe extern "C" fn acc_is_present_array_h_(array: *const Descriptor) -> i32 {
    // SAFETY: the caller's promise.
    let (host, size) = unsafe { range(array) };
    present::acc_is_present::<Libgomp>(host, size)
}

/// Routines whose arguments are numbers by reference.
macro_rules! numbers {
    ($($name:ident($($number:ident),*) $(-> $result:ty)? = $function:expr;)*) => {$(
        #[doc = concat!("Fortran's form of `", stringify!($function), "`.")]
        ///
        /// # Safety
        /// The arguments are numbers.
        pub unsafe extern "C" fn $name($($number: *const i32),*) $(-> $result)? {
            // SAFETY: the caller's promise.
            $(let $number = unsafe { *$number };)*
            $function($($number),*)
        }
    )*};
}

numbers! {
    acc_init_h_(wanted) = device::acc_init::<Libgomp>;
    acc_shutdown_h_(wanted) = shutdown::acc_shutdown::<Libgomp>;
    acc_get_num_devices_h_(wanted) -> i32 = device::acc_get_num_devices::<Libgomp>;
    acc_set_device_type_h_(wanted) = device::acc_set_device_type::<Libgomp>;
    acc_get_device_type_h_() -> i32 = device::acc_get_device_type::<Libgomp>;
    acc_set_device_num_h_(number, wanted) = device::acc_set_device_num::<Libgomp>;
    acc_get_device_num_h_(wanted) -> i32 = device::acc_get_device_num::<Libgomp>;
    acc_on_device_h_(wanted) -> i32 = device::acc_on_device;
    acc_async_test_h_(queue) -> i32 = waits::acc_async_test::<Libgomp>;
    acc_async_test_all_h_() -> i32 = waits::acc_async_test_all::<Libgomp>;
    acc_wait_h_(queue) = waits::acc_wait::<Libgomp>;
    acc_wait_all_h_() = waits::acc_wait_all;
    acc_wait_async_h_(first, second) = waits::acc_wait_async::<Libgomp>;
    acc_wait_all_async_h_(queue) = waits::acc_wait_all_async::<Libgomp>;
}

/// See [`property::acc_get_property`]; its arguments are values.
pub extern "C" fn acc_get_property_h_(number: i32, wanted: i32, asked: i32) -> usize {
    property::acc_get_property::<Libgomp>(number, wanted, asked)
}

/// See [`property::acc_get_property_string`]: writes the text, and blanks behind it.
///
/// # Safety
/// `length` bytes are there to be written.
pub unsafe extern "C" fn acc_get_property_string_h_(
    number: i32,
    wanted: i32,
    asked: i32,
    text: *mut c_char,
    length: usize,
) {
    guard((), || {
        let found = property::acc_get_property_string::<Libgomp>(number, wanted, asked);
        // SAFETY: texts of properties end and stay.
        let found = if found.is_null() { &[] } else { unsafe { CStr::from_ptr(found) }.to_bytes() };
        let used = found.len().min(length);
        // SAFETY: the caller's promise.
        unsafe {
            text.cast::<u8>().copy_from_nonoverlapping(found.as_ptr(), used);
            text.add(used).write_bytes(b' ', length - used);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_says_how_large_its_array_is() {
        #[repr(C)]
        struct Array(Descriptor, [Dimension; 2]);
        let dimension = |lower, upper| Dimension { stride: 1, lower, upper };
        let descriptor = |rank| Descriptor {
            base: std::ptr::without_provenance_mut(0x1000),
            offset: 0,
            element: 8,
            version: 0,
            rank,
            kind: 3,
            attribute: 0,
            span: 8,
            dimensions: [],
        };
        let size = |rank, dimensions| {
            let array = Array(descriptor(rank), dimensions);
            // SAFETY: there are two dimensions behind it.
            let (base, size) = unsafe { range((&raw const array).cast()) };
            assert_eq!(base.addr(), 0x1000);
            size
        };
        assert_eq!(size(2, [dimension(1, 10), dimension(-1, 3)]), 400);
        assert_eq!(size(1, [dimension(0, 9), dimension(0, 9)]), 80);
        assert_eq!(size(0, [dimension(0, 9), dimension(0, 9)]), 8);
        assert_eq!(size(2, [dimension(1, 0), dimension(1, 9)]), 0);
        // SAFETY: null is allowed.
        assert_eq!(unsafe { range(std::ptr::null()) }.1, 0);
    }
}
