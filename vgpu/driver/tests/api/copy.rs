//! Copies and fills: in one and two dimensions, and what is out of bounds.

use std::ffi::c_void;

use crate::cuda::*;

#[test]
fn copies_go_there_and_back() {
    let _context = Context::new();
    let values: Vec<u32> = (0..1000).collect();
    let (one, other) = (to_device(&values), to_device(&[0; 1000]));
    check!(cuMemcpyDtoD_v2(other, one, 4000));
    assert_eq!(from_device(other, 1000), values);
    let mut back = vec![0_u32; 1000];
    check!(cuMemcpy(back.as_mut_ptr() as u64, other, 4000));
    assert_eq!(back, values);
    // Overlapping copies are moves.
    check!(cuMemcpyDtoD_v2(one + 4, one, 3996));
    assert_eq!(from_device(one, 1000)[1..], values[..999]);
}

#[test]
fn bounds_are_checked_to_the_byte() {
    let _context = Context::new();
    let address: u64 = get!(cuMemAlloc_v2(100));
    let mut host = [0_u8; 256];
    let pointer: *mut c_void = host.as_mut_ptr().cast();
    check!(cuMemcpyHtoD_v2(address, pointer, 100));
    check!(cuMemcpyHtoD_v2(address, pointer, 101), INVALID_VALUE);
    check!(cuMemcpyHtoD_v2(address + 50, pointer, 51), INVALID_VALUE);
    check!(cuMemcpyDtoH_v2(pointer, address + 99, 2), INVALID_VALUE);
    check!(cuMemcpyDtoH_v2(pointer, 64, 4), INVALID_VALUE);
    check!(cuMemcpyDtoH_v2(std::ptr::null_mut(), address, 4), INVALID_VALUE);
    check!(cuMemcpyHtoD_v2(pointer as u64, pointer, 4), INVALID_VALUE);
    check!(cuMemcpyHtoD_v2(0, std::ptr::null(), 0));
    check!(cuMemsetD8_v2(address, 1, 101), INVALID_VALUE);
    check!(cuMemsetD32_v2(address + 1, 1, 1), INVALID_VALUE);
    check!(cuMemsetD8_v2(64, 1, 0));
}

#[test]
fn ordinary_memory_may_be_used_again_at_once() {
    let _context = Context::new();
    let stream = get!(cuStreamCreate for Handle; 1);
    for count in [100, 100_000] {
        let mut values = vec![7_u32; count];
        let address: u64 = get!(cuMemAlloc_v2(count * 4));
        check!(cuMemcpyHtoDAsync_v2(address, values.as_ptr().cast(), count * 4, stream));
        values.fill(0);
        check!(cuMemcpyDtoHAsync_v2(values.as_mut_ptr().cast(), address, count * 4, stream));
        assert_eq!(values, vec![7; count]);
    }
    check!(cuStreamDestroy_v2(stream));
}

#[test]
fn rows_have_pitches() {
    let _context = Context::new();
    let host: Vec<u32> = (0..12).collect();
    let address: u64 = get!(cuMemAlloc_v2(3 * 512));
    check!(cuMemsetD8_v2(address, 0xff, 3 * 512));
    let null = std::ptr::null_mut();
    // Two columns of three rows of four, from the second column on.
    let copy = Memcpy2D {
        src_x: 4,
        src_y: 0,
        src_type: 1,
        src_host: host.as_ptr().cast(),
        src_device: 0,
        src_array: null,
        src_pitch: 16,
        dst_x: 0,
        dst_y: 0,
        dst_type: 2,
        dst_host: null,
        dst_device: address,
        dst_array: null,
        dst_pitch: 512,
        width: 8,
        height: 3,
    };
    check!(cuMemcpy2D_v2(&copy));
    let rows = |row: u64| from_device(address + row * 512, 3);
    assert_eq!([rows(0), rows(1), rows(2)], [[1, 2, !0], [5, 6, !0], [9, 10, !0]]);
    check!(cuMemcpy2D_v2(&Memcpy2D { dst_pitch: 4, ..copy }), INVALID_VALUE);
    check!(cuMemcpy2D_v2(&Memcpy2D { height: 4, ..copy }), INVALID_VALUE);
    check!(cuMemcpy2D_v2(&Memcpy2D { dst_type: 9, ..copy }), INVALID_VALUE);
    check!(cuMemcpy2D_v2(&Memcpy2D { dst_type: 3, ..copy }), NOT_SUPPORTED);
    check!(cuMemcpy2D_v2(std::ptr::null()), INVALID_VALUE);
}

#[test]
fn fills_have_elements() {
    let _context = Context::new();
    let address = to_device(&[0; 8]);
    check!(cuMemsetD32_v2(address + 4, 0x0102_0304, 2));
    check!(cuMemsetD2D16_v2(address + 16, 8, 0x0506, 1, 2));
    assert_eq!(from_device(address, 8), [0, 0x0102_0304, 0x0102_0304, 0, 0x0506, 0, 0x0506, 0]);
}
