//! Memory: of devices, of the host, managed, registered.

use std::ffi::c_void;

use crate::cuda::*;

#[test]
fn device_memory_is_found_and_freed() {
    let context = Context::new();
    let address: u64 = get!(cuMemAlloc_v2(100));
    let (mut base, mut size) = (0, 0);
    check!(cuMemGetAddressRange_v2(&mut base, &mut size, address + 99));
    assert_eq!((base, size), (address, 100));
    check!(cuMemGetAddressRange_v2(&mut base, &mut size, address + 100), NOT_FOUND);
    check!(cuMemFree_v2(address + 4), INVALID_VALUE);
    check!(cuMemFree_v2(address));
    check!(cuMemFree_v2(address), INVALID_VALUE);
    check!(cuMemFree_v2(0));
    let address: u64 = get!(cuMemAlloc_v2(100));
    let module = context.load(&ptx(ADD));
    check!(cuCtxPopCurrent_v2(std::ptr::null_mut()));
    check!(cuMemFree_v2(address));
    check!(cuMemFree_v2(address), INVALID_CONTEXT);
    check!(cuModuleUnload(module));
    check!(cuCtxPushCurrent_v2(context.0));
    check!(cuMemAlloc_v2(&mut base, 0), INVALID_VALUE);
    check!(cuMemAlloc_v2(std::ptr::null_mut(), 8), INVALID_VALUE);
    check!(cuMemAlloc_v2(&mut base, 5 << 30), OUT_OF_MEMORY);
}

#[test]
fn free_memory_is_counted() {
    // Device 1 has no other test that leaves memory allocated.
    let _context = Context::on(1);
    let info = || {
        let (mut free, mut total) = (0, 0);
        check!(cuMemGetInfo_v2(&mut free, &mut total));
        assert_eq!(total, 4 << 30);
        free
    };
    let before = info();
    let address: u64 = get!(cuMemAlloc_v2(64 << 20));
    assert!(before - info() >= 64 << 20);
    check!(cuMemFree_v2(address));
}

#[test]
fn rows_are_aligned() {
    let _context = Context::new();
    let (mut address, mut pitch) = (0, 0);
    check!(cuMemAllocPitch_v2(&mut address, &mut pitch, 513, 3, 4));
    assert_eq!(pitch, 1024);
    check!(cuMemAllocPitch_v2(&mut address, &mut pitch, 513, 3, 3), INVALID_VALUE);
    check!(cuMemAllocPitch_v2(&mut address, &mut pitch, 0, 3, 4), INVALID_VALUE);
}

#[test]
fn host_memory_is_visible_to_devices() {
    let context = Context::new();
    let pointer = get!(cuMemHostAlloc for *mut c_void; 64, 1);
    assert_eq!(get!(cuMemHostGetDevicePointer_v2(pointer, 0)), pointer as u64);
    assert_eq!(get!(cuMemHostGetFlags(pointer)), 3);
    let values = pointer.cast::<u32>();
    // SAFETY: 64 bytes of our own.
    unsafe { values.write(41) };
    let add = context.kernel(&ptx(ADD), "add");
    check!(launch(add, 1, 1, std::ptr::null_mut(), &[argument(&pointer), argument(&1), argument(&1)]));
    check!(cuCtxSynchronize());
    // SAFETY: as above; the kernel has ended.
    assert_eq!(unsafe { values.read() }, 42);
    // SAFETY: still 64 bytes.
    check!(cuMemFreeHost(unsafe { pointer.add(8) }), INVALID_VALUE);
    check!(cuMemFreeHost(pointer));
    check!(cuMemFreeHost(pointer), INVALID_VALUE);
    let mut none = std::ptr::null_mut();
    check!(cuMemHostAlloc(&mut none, 64, 0x40), INVALID_VALUE);
    check!(cuMemHostAlloc(&mut none, 0, 0), INVALID_VALUE);
    let mut address = 0;
    check!(cuMemHostGetDevicePointer_v2(&mut address, (&raw mut address).cast(), 0), INVALID_VALUE);
}

#[test]
fn registered_memory_is_visible_to_devices() {
    let context = Context::new();
    let mut values = vec![1_u32; 1024];
    let pointer = values.as_mut_ptr().cast();
    check!(cuMemHostRegister_v2(pointer, 4096, 0));
    check!(cuMemHostRegister_v2(pointer, 4096, 0), HOST_MEMORY_ALREADY_REGISTERED);
    let add = context.kernel(&ptx(ADD), "add");
    let address: u64 = get!(cuMemHostGetDevicePointer_v2(pointer, 0));
    check!(launch(add, 8, 128, std::ptr::null_mut(), &[argument(&address), argument(&4), argument(&1024)]));
    check!(cuCtxSynchronize());
    check!(cuMemHostUnregister(pointer));
    check!(cuMemHostUnregister(pointer), HOST_MEMORY_NOT_REGISTERED);
    assert_eq!(values, vec![5; 1024]);
    check!(cuMemHostRegister_v2(pointer, 0, 0), INVALID_VALUE);
    check!(cuMemHostRegister_v2(std::ptr::null_mut(), 16, 0), INVALID_VALUE);
    check!(cuMemHostRegister_v2(4096 as *mut c_void, 16, 0), INVALID_VALUE);
}

#[test]
fn managed_memory_is_both() {
    let context = Context::new();
    let address: u64 = get!(cuMemAllocManaged(4, 1));
    // SAFETY: managed memory may be used by the host.
    unsafe { (address as *mut u32).write(1) };
    let add = context.kernel(&ptx(ADD), "add");
    check!(launch(add, 1, 1, std::ptr::null_mut(), &[argument(&address), argument(&1), argument(&1)]));
    check!(cuCtxSynchronize());
    // SAFETY: as above.
    assert_eq!(unsafe { (address as *const u32).read() }, 2);
    check!(cuMemFree_v2(address));
    let mut none = 0;
    check!(cuMemAllocManaged(&mut none, 4, 0), INVALID_VALUE);
}

#[test]
fn pointers_tell_what_they_are() {
    let context = Context::new();
    let attribute = |attribute, address| {
        let mut value = [0_u64; 2];
        // SAFETY: room for every attribute's value.
        let status = unsafe { cuPointerGetAttribute(value.as_mut_ptr().cast(), attribute, address) };
        if status == SUCCESS { Ok(value[0]) } else { Err(status) }
    };
    let device: u64 = get!(cuMemAlloc_v2(100));
    let host = get!(cuMemHostAlloc for *mut c_void; 100, 0) as u64;
    let managed: u64 = get!(cuMemAllocManaged(100, 1));
    assert_eq!(attribute(1, device + 3), Ok(context.0 as u64));
    assert_eq!([device, host, managed].map(|address| attribute(2, address)), [Ok(2), Ok(1), Ok(2)]);
    assert_eq!(attribute(3, host + 5), Ok(host + 5));
    assert_eq!(attribute(4, host + 5), Ok(host + 5));
    assert_eq!(attribute(4, device), Err(INVALID_VALUE));
    assert_eq!([device, host, managed].map(|address| attribute(8, address)), [Ok(0), Ok(0), Ok(1)]);
    assert_eq!(attribute(9, device), Ok(0));
    assert_eq!((attribute(11, device + 7), attribute(12, device + 7)), (Ok(device), Ok(100)));
    assert_ne!(attribute(7, device), attribute(7, managed));
    assert_eq!(attribute(2, 0), Err(INVALID_VALUE));
    assert_eq!(attribute(2, argument(&device) as u64), Err(INVALID_VALUE));
    assert_eq!(attribute(99, device), Err(INVALID_VALUE));
}
