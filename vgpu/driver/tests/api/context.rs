//! Contexts: the stack of a thread, primary contexts, limits, what becomes of stale handles.

use crate::cuda::*;

fn current() -> Handle {
    get!(cuCtxGetCurrent for Handle;)
}

/// CUDA 13 lets programs name the context.
#[test]
fn contexts_are_asked_by_name() {
    let first = Context::new();
    let second = Context::on(1);
    assert_eq!(get!(cuCtxGetDevice_v2(first.0)), 0);
    assert_eq!(get!(cuCtxGetDevice_v2(second.0)), 1);
    assert_eq!(get!(cuCtxGetDevice_v2(std::ptr::null_mut())), 1);
    check!(cuCtxSynchronize_v2(first.0));
    check!(cuCtxSynchronize_v2(std::ptr::null_mut()));
    check!(cuCtxDestroy_v2(second.0));
    check!(cuCtxSynchronize_v2(second.0), INVALID_CONTEXT);
    std::thread::spawn(|| check!(cuCtxSynchronize_v2(std::ptr::null_mut()), INVALID_CONTEXT)).join().unwrap();
    std::mem::forget(second);
}

#[test]
fn contexts_are_stacked_per_thread() {
    let first = Context::new();
    assert_eq!(current(), first.0);
    let second = Context::on(1);
    assert_eq!(current(), second.0);
    assert_eq!(get!(cuCtxGetDevice()), 1);
    std::thread::spawn(|| {
        assert!(current().is_null());
        let mut device = 0;
        check!(cuCtxGetDevice(&mut device), INVALID_CONTEXT);
        check!(cuCtxSynchronize(), INVALID_CONTEXT);
    })
    .join()
    .unwrap();
    assert_eq!(get!(cuCtxPopCurrent_v2 for Handle;), second.0);
    assert_eq!(current(), first.0);
    check!(cuCtxPushCurrent_v2(second.0));
    check!(cuCtxSetCurrent(first.0));
    assert_eq!(get!(cuCtxPopCurrent_v2 for Handle;), first.0);
    assert_eq!(get!(cuCtxPopCurrent_v2 for Handle;), first.0);
    check!(cuCtxPopCurrent_v2(std::ptr::null_mut()), INVALID_CONTEXT);
    check!(cuCtxSetCurrent(std::ptr::null_mut()));
    assert!(current().is_null());
}

#[test]
fn a_destroyed_context_is_known_as_such() {
    let context = Context::new();
    let address: u64 = get!(cuMemAlloc_v2(100));
    check!(cuCtxDestroy_v2(context.0));
    assert!(current().is_null());
    check!(cuCtxDestroy_v2(context.0), INVALID_CONTEXT);
    check!(cuCtxPushCurrent_v2(context.0), INVALID_CONTEXT);
    check!(cuCtxSetCurrent(0x1234_5670 as Handle), INVALID_CONTEXT);
    // Its memory went with it.
    let _other = Context::new();
    check!(cuMemFree_v2(address), INVALID_VALUE);
}

#[test]
fn contexts_destroyed_elsewhere_stay_current_in_vain() {
    let context = Context::new();
    let handle = context.0 as usize;
    std::thread::spawn(move || check!(cuCtxDestroy_v2(handle as Handle))).join().unwrap();
    let mut address = 0;
    check!(cuMemAlloc_v2(&mut address, 4), 709);
}

/// The only test that touches the primary context of device 1, as all share it.
#[test]
fn primary_contexts_are_counted() {
    start();
    let state = || {
        let (mut flags, mut active) = (0, 0);
        check!(cuDevicePrimaryCtxGetState(1, &mut flags, &mut active));
        active
    };
    assert_eq!(state(), 0);
    check!(cuDevicePrimaryCtxRelease_v2(1), INVALID_CONTEXT);
    let first = get!(cuDevicePrimaryCtxRetain for Handle; 1);
    assert_eq!(get!(cuDevicePrimaryCtxRetain for Handle; 1), first);
    assert!(current().is_null(), "retaining does not make current");
    check!(cuCtxSetCurrent(first));
    check!(cuCtxDestroy_v2(first), INVALID_CONTEXT);
    check!(cuDevicePrimaryCtxRelease_v2(1));
    assert_eq!(state(), 1);
    let address: u64 = get!(cuMemAlloc_v2(4));
    check!(cuDevicePrimaryCtxReset_v2(1));
    assert_eq!(state(), 0);
    check!(cuMemFree_v2(address), 709);
    check!(cuCtxSetCurrent(first), 709);
    // It is made again under its old handle, and still current.
    assert_eq!(get!(cuDevicePrimaryCtxRetain for Handle; 1), first);
    check!(cuCtxSynchronize());
    check!(cuMemFree_v2(address), INVALID_VALUE);
    check!(cuDevicePrimaryCtxRelease_v2(1));
    assert_eq!(state(), 0);
}

#[test]
fn limits_can_be_set_and_asked() {
    let _context = Context::new();
    assert_eq!(get!(cuCtxGetLimit(0)), 1024);
    check!(cuCtxSetLimit(0, 5000));
    assert_eq!(get!(cuCtxGetLimit(0)), 5008);
    check!(cuCtxSetLimit(0, 1 << 20), INVALID_VALUE);
    let mut value = 0;
    check!(cuCtxGetLimit(&mut value, 99), 215);
    // Neither the heap nor the buffer of `printf` can be larger than the device.
    for limit in [1, 2] {
        let before = get!(cuCtxGetLimit for usize; limit);
        check!(cuCtxSetLimit(limit, 1 << 50), OUT_OF_MEMORY);
        assert_eq!(get!(cuCtxGetLimit for usize; limit), before);
        check!(cuCtxSetLimit(limit, before));
    }
    check!(cuCtxSetLimit(99, 1), 215);
    check!(cuCtxCreate_v2(&mut std::ptr::null_mut(), 0xffff_0000, 0), INVALID_VALUE);
    check!(cuCtxCreate_v2(&mut std::ptr::null_mut(), 0, 2), INVALID_DEVICE);
}

#[test]
fn peers_are_other_devices() {
    let other = Context::on(1);
    let _context = Context::on(0);
    assert_eq!(get!(cuDeviceCanAccessPeer(0, 1)), 1);
    assert_eq!(get!(cuDeviceCanAccessPeer(0, 0)), 0);
    check!(cuCtxEnablePeerAccess(other.0, 0));
    check!(cuCtxEnablePeerAccess(other.0, 0), 704);
    check!(cuCtxEnablePeerAccess(0x10 as Handle, 0), INVALID_CONTEXT);
}
