//! Devices: numbers, names, attributes, bus numbers.

use std::ffi::CStr;

use crate::cuda::*;

#[test]
fn devices_are_counted_and_named() {
    start();
    assert_eq!(get!(cuDeviceGetCount()), 2);
    assert_eq!(get!(cuDeviceGet(1)), 1);
    let mut device = 7;
    check!(cuDeviceGet(&mut device, 2), INVALID_DEVICE);
    check!(cuDeviceGet(&mut device, -1), INVALID_DEVICE);
    check!(cuDeviceGet(std::ptr::null_mut(), 0), INVALID_VALUE);
    assert_eq!(device, 7);

    let mut name = [1; 64];
    check!(cuDeviceGetName(name.as_mut_ptr(), 64, 0));
    // SAFETY: terminated by the call.
    assert_eq!(unsafe { CStr::from_ptr(name.as_ptr()) }, c"Gangway Virtual GPU");
    check!(cuDeviceGetName(name.as_mut_ptr(), 8, 0));
    // SAFETY: as above.
    assert_eq!(unsafe { CStr::from_ptr(name.as_ptr()) }, c"Gangway");
    check!(cuDeviceGetName(name.as_mut_ptr(), 0, 0), INVALID_VALUE);
    check!(cuDeviceGetName(name.as_mut_ptr(), 8, 2), INVALID_DEVICE);
    assert_eq!(get!(cuDeviceTotalMem_v2(0)), 4 << 30);
    let (one, other): ([u8; 16], [u8; 16]) = (get!(cuDeviceGetUuid_v2(0)), get!(cuDeviceGetUuid_v2(1)));
    assert_ne!(one, other);
}

#[test]
fn attributes_are_those_of_the_capability() {
    start();
    let value = |attribute| get!(cuDeviceGetAttribute(attribute, 0));
    assert_eq!((value(75), value(76)), (9, 0));
    assert_eq!((value(1), value(10), value(8), value(97)), (1024, 32, 48 << 10, 227 << 10));
    assert_eq!(value(16), 4, "as many multiprocessors as workers");
    let mut out = 0;
    check!(cuDeviceGetAttribute(&mut out, 0x7fff_ffff, 0), INVALID_VALUE);
    check!(cuDeviceGetAttribute(std::ptr::null_mut(), 1, 0), INVALID_VALUE);
    check!(cuDeviceGetAttribute(&mut out, 1, 5), INVALID_DEVICE);
}

#[test]
fn bus_numbers_lead_back_to_devices() {
    start();
    for device in 0..2 {
        let mut id = [0; 32];
        check!(cuDeviceGetPCIBusId(id.as_mut_ptr(), 32, device));
        assert_eq!(get!(cuDeviceGetByPCIBusId(id.as_ptr())), device);
    }
    let mut device = 0;
    check!(cuDeviceGetByPCIBusId(&mut device, c"0000:77:00.0".as_ptr()), INVALID_DEVICE);
}

#[test]
fn the_version_is_of_cuda_12_8() {
    assert_eq!(get!(cuDriverGetVersion()), 13_050);
    check!(cuDriverGetVersion(std::ptr::null_mut()), INVALID_VALUE);
}

#[test]
fn errors_have_names_and_descriptions() {
    let text = |get: unsafe extern "C" fn(u32, *mut *const std::ffi::c_char) -> u32, error| {
        let mut text = std::ptr::null();
        check!(get(error, &mut text));
        // SAFETY: a text of the library, there for ever.
        unsafe { CStr::from_ptr(text) }.to_str().unwrap()
    };
    assert_eq!(text(cuGetErrorName, 700), "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_eq!(text(cuGetErrorString, 700), "an illegal memory access was encountered");
    assert_eq!(text(cuGetErrorString, 0), "no error");
    let mut none = c"x".as_ptr();
    check!(cuGetErrorName(12345, &mut none), INVALID_VALUE);
    assert!(none.is_null());
}
