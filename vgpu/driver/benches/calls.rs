//! What calls of the driver API cost: `cargo bench -p gangway-driver`.

use std::ffi::{CStr, c_void};

use divan::Bencher;
use gangway_driver as _;

type Handle = *mut c_void;

unsafe extern "C" {
    fn cuInit(flags: u32) -> u32;
    fn cuCtxCreate_v2(context: *mut Handle, flags: u32, device: i32) -> u32;
    fn cuCtxGetCurrent(context: *mut Handle) -> u32;
    fn cuCtxSetCurrent(context: Handle) -> u32;
    fn cuCtxSynchronize() -> u32;
    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) -> u32;
    fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const std::ffi::c_char) -> u32;
    fn cuFuncGetAttribute(value: *mut i32, attribute: i32, function: Handle) -> u32;
    fn cuLaunchKernel(
        function: Handle,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: Handle,
        parameters: *const *const c_void,
        extra: *const *const c_void,
    ) -> u32;
    fn cuMemAlloc_v2(address: *mut u64, size: usize) -> u32;
    fn cuMemFree_v2(address: u64) -> u32;
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, size: usize) -> u32;
    fn cuStreamCreate(stream: *mut Handle, flags: u32) -> u32;
    fn cuStreamSynchronize(stream: Handle) -> u32;
}

const NULL: Handle = std::ptr::null_mut();
const EMPTY: &CStr =
    c".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }";

fn main() {
    divan::main();
}

fn check(status: u32) {
    assert_eq!(status, 0);
}

/// A kernel that does nothing, in a context that is current.
fn empty() -> Handle {
    let (mut context, mut module, mut kernel) = (NULL, NULL, NULL);
    // SAFETY: arguments are as the driver API wants them.
    unsafe {
        check(cuInit(0));
        check(cuCtxCreate_v2(&mut context, 0, 0));
        check(cuModuleLoadData(&mut module, EMPTY.as_ptr().cast()));
        check(cuModuleGetFunction(&mut kernel, module, c"k".as_ptr()));
    }
    kernel
}

fn current() -> Handle {
    let mut context = NULL;
    // SAFETY: a place for the handle.
    check(unsafe { cuCtxGetCurrent(&mut context) });
    context
}

fn launch(kernel: Handle, stream: Handle) {
    let argument = 7_u64;
    let arguments = [(&raw const argument).cast::<c_void>()];
    let parameters = arguments.as_ptr();
    // SAFETY: the kernel has one parameter of 64 bits.
    check(unsafe { cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, parameters, std::ptr::null()) });
}

#[divan::bench]
fn launch_and_synchronize(bencher: Bencher) {
    let kernel = empty();
    bencher.bench_local(|| {
        launch(kernel, NULL);
        // SAFETY: no arguments.
        check(unsafe { cuCtxSynchronize() });
    });
}

#[divan::bench]
fn launch_and_synchronize_in_a_stream(bencher: Bencher) {
    let kernel = empty();
    let mut stream = NULL;
    // SAFETY: a place for the handle, and the handle.
    unsafe {
        check(cuStreamCreate(&mut stream, 1));
        bencher.bench_local(|| {
            launch(kernel, stream);
            check(cuStreamSynchronize(stream));
        });
    }
}

#[divan::bench]
fn launch_1000_and_synchronize(bencher: Bencher) {
    let kernel = empty();
    bencher.bench_local(|| {
        for _ in 0..1000 {
            launch(kernel, NULL);
        }
        // SAFETY: no arguments.
        check(unsafe { cuCtxSynchronize() });
    });
}

/// From many threads at once: what is locked shows.
#[divan::bench(threads = [1, 2, 4])]
fn look_a_function_up(bencher: Bencher) {
    let (kernel, context) = (empty() as usize, current() as usize);
    bencher.bench(|| {
        let mut value = 0;
        // SAFETY: handles that are valid and a place for the result.
        unsafe {
            if cuFuncGetAttribute(&mut value, 0, kernel as Handle) != 0 {
                // The first call of a thread.
                check(cuCtxSetCurrent(context as Handle));
            }
        }
        value
    });
}

#[divan::bench(args = [256, 1 << 20])]
fn allocate_and_free(bencher: Bencher, size: usize) {
    empty();
    bencher.bench_local(|| {
        let mut address = 0;
        // SAFETY: a place for the address, and the address.
        unsafe {
            check(cuMemAlloc_v2(&mut address, size));
            check(cuMemFree_v2(address));
        }
    });
}

#[divan::bench(args = [4, 4096, 1 << 20])]
fn copy_to_the_device(bencher: Bencher, size: usize) {
    empty();
    let host = vec![1_u8; size];
    let mut address = 0;
    // SAFETY: memory of this size on both sides.
    unsafe {
        check(cuMemAlloc_v2(&mut address, size));
        bencher.bench_local(|| check(cuMemcpyHtoD_v2(address, host.as_ptr().cast(), size)));
    }
}
