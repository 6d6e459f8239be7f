//! The functions that GCC called before version 5: the present ones with narrower kinds.

use crate::abi::HostTable;
use crate::libgomp::Body;
use crate::{data, register, target};
use std::ffi::c_void;

/// The kinds of before GCC 5: three bits, and the alignment in the other five.
///
/// # Safety
/// There are so many.
unsafe fn widened(kinds: *const u8, count: usize) -> Vec<u16> {
    // SAFETY: the caller's promise.
    let kind = |index| u16::from(unsafe { *kinds.add(index) });
    (0..count).map(kind).map(|kind| kind & 7 | kind >> 3 << 8).collect()
}

/// See [`target::GOMP_target_ext`].
///
/// # Safety
/// As there.
pub unsafe extern "C" fn GOMP_target(
    device: i32,
    body: Body,
    _unused: *const c_void,
    count: usize,
    hosts: *mut usize,
    sizes: *mut usize,
    kinds: *const u8,
) {
    let (null, nothing) = (std::ptr::null_mut(), std::ptr::null());
    // SAFETY: the caller's promise.
    unsafe {
        let mut kinds = widened(kinds, count);
        target::GOMP_target_ext(device, body, count, hosts, sizes, kinds.as_mut_ptr(), 0, null, nothing);
    }
}

/// See [`data::GOMP_target_data_ext`].
///
/// # Safety
/// As there.
pub unsafe extern "C" fn GOMP_target_data(
    device: i32,
    _unused: *const c_void,
    count: usize,
    hosts: *mut usize,
    sizes: *mut usize,
    kinds: *const u8,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut kinds = widened(kinds, count);
        data::GOMP_target_data_ext(device, count, hosts, sizes, kinds.as_mut_ptr());
    }
}

/// See [`data::GOMP_target_update_ext`].
///
/// # Safety
/// As there.
pub unsafe extern "C" fn GOMP_target_update(
    device: i32,
    _unused: *const c_void,
    count: usize,
    hosts: *mut usize,
    sizes: *mut usize,
    kinds: *const u8,
) {
    let null = std::ptr::null_mut();
    // SAFETY: the caller's promise.
    unsafe {
        let mut kinds = widened(kinds, count);
        data::GOMP_target_update_ext(device, count, hosts, sizes, kinds.as_mut_ptr(), 0, null);
    }
}

/// See [`register::GOMP_offload_register_ver`].
///
/// # Safety
/// As there.
pub unsafe extern "C" fn GOMP_offload_register(
    host_table: *const HostTable,
    target: i32,
    data: *const c_void,
) {
    // SAFETY: the caller's promise.
    unsafe { register::GOMP_offload_register_ver(0, host_table, target, data) }
}

/// See [`register::GOMP_offload_unregister_ver`].
///
/// # Safety
/// As there.
pub unsafe extern "C" fn GOMP_offload_unregister(
    host_table: *const HostTable,
    target: i32,
    data: *const c_void,
) {
    // SAFETY: the caller's promise.
    unsafe { register::GOMP_offload_unregister_ver(0, host_table, target, data) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_widened() {
        // SAFETY: there are three.
        assert_eq!(unsafe { widened([0x23_u8, 0x04, 0x1f].as_ptr(), 3) }, [0x403, 4, 0x307]);
    }
}
