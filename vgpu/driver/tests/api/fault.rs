//! Kernels that fail: the error comes with the next wait, and stays with the context.

use crate::cuda::*;

const NULL: Handle = std::ptr::null_mut();
const TRAP: &str = ".visible .entry fail() { trap; ret; }";

#[test]
fn a_stray_access_ends_the_context() {
    let context = Context::new();
    let module = context.load(&ptx(ADD));
    let add = get!(cuModuleGetFunction for Handle; module, c"add".as_ptr());
    let address = to_device(&[1]);
    let host = 5_u32;
    let stray = argument(&host);
    check!(launch(add, 1, 1, NULL, &[argument(&stray), argument(&1), argument(&1)]));
    check!(cuCtxSynchronize(), ILLEGAL_ADDRESS);
    // It is sticky.
    check!(cuCtxSynchronize(), ILLEGAL_ADDRESS);
    check!(cuMemAlloc_v2(&mut 0, 4), ILLEGAL_ADDRESS);
    check!(cuMemFree_v2(address), ILLEGAL_ADDRESS);
    check!(launch(add, 1, 1, NULL, &[argument(&address), argument(&1), argument(&1)]), ILLEGAL_ADDRESS);
    check!(cuModuleGetFunction(&mut std::ptr::null_mut(), module, c"add".as_ptr()), ILLEGAL_ADDRESS);
    // What is not about the context goes on working.
    assert_eq!(get!(cuCtxGetDevice()), 0);
    assert_eq!(get!(cuCtxGetCurrent for Handle;), context.0);
    assert_eq!(get!(cuDeviceGetCount()), 2);
    assert_eq!(host, 5);
    // Another context is as good as ever.
    let _other = Context::new();
    assert_eq!(from_device(to_device(&[3]), 1), [3]);
}

#[test]
fn use_after_free_is_found() {
    let context = Context::new();
    let add = context.kernel(&ptx(ADD), "add");
    let address = to_device(&[1]);
    check!(cuMemFree_v2(address));
    check!(launch(add, 1, 1, NULL, &[argument(&address), argument(&1), argument(&1)]));
    check!(cuStreamSynchronize(NULL), ILLEGAL_ADDRESS);
}

#[test]
fn a_trap_is_a_launch_failure() {
    let context = Context::new();
    let fail = context.kernel(&ptx(TRAP), "fail");
    check!(launch(fail, 1, 32, NULL, &[]));
    check!(cuCtxSynchronize(), LAUNCH_FAILED);
    check!(cuCtxDestroy_v2(context.0));
}
