//! Looking functions up, and those with nothing behind them.

use std::ffi::CStr;

use crate::cuda::*;

/// Address, result and status.
fn find(name: &CStr, version: i32, flags: u64) -> (Handle, u32, u32) {
    let (mut function, mut status) = (1 as Handle, 77);
    // SAFETY: a name with its terminator.
    let result = unsafe { cuGetProcAddress_v2(name.as_ptr(), &mut function, version, flags, &mut status) };
    (function, result, status)
}

#[test]
fn functions_are_found_by_version() {
    assert_eq!(find(c"cuMemAlloc", 12_000, 0), (cuMemAlloc_v2 as Handle, SUCCESS, 0));
    assert_eq!(find(c"cuLaunchKernel", 12_000, 1), (cuLaunchKernel as Handle, SUCCESS, 0));
    let (per_thread, ..) = find(c"cuLaunchKernel", 12_000, 2);
    assert!(!per_thread.is_null() && per_thread != cuLaunchKernel as Handle);
    assert_eq!(find(c"cuNothing", 12_000, 0), (std::ptr::null_mut(), SUCCESS, 1));
    assert_eq!(find(c"cuMemAllocAsync", 11_000, 0), (std::ptr::null_mut(), SUCCESS, 2));
    assert_eq!(find(c"cuInit", 12_000, 8).1, INVALID_VALUE);
    check!(
        cuGetProcAddress_v2(std::ptr::null(), &mut std::ptr::null_mut(), 12_000, 0, &mut 0),
        INVALID_VALUE
    );
    let mut function = std::ptr::null_mut();
    check!(
        cuGetProcAddress_v2(c"cuNothing".as_ptr(), &mut function, 12_000, 0, std::ptr::null_mut()),
        NOT_FOUND
    );
}

#[test]
fn what_is_not_supported_says_so() {
    start();
    check!(cuArrayCreate_v2(&mut std::ptr::null_mut(), std::ptr::null()), NOT_SUPPORTED);
}
