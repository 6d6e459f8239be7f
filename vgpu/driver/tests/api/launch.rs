//! Launches: ways to pass parameters, limits, attributes.

use crate::cuda::*;

const NULL: Handle = std::ptr::null_mut();

#[test]
fn parameters_go_by_pointers_or_in_a_buffer() {
    let context = Context::new();
    let add = context.kernel(&ptx(ADD), "add");
    let address = to_device(&[1; 100]);
    let each = [argument(&address), argument(&2), argument(&100)];
    check!(launch(add, 4, 32, NULL, &each));
    assert_eq!(from_device(address, 100), [3; 100]);

    #[repr(C)]
    struct Buffer(u64, u32, u32);
    let buffer = Buffer(address, 3, 100);
    let by_buffer = |size: usize, parameters: &[*const _]| {
        let name = std::ptr::without_provenance::<std::ffi::c_void>;
        let extra = [name(1), argument(&buffer), name(2), argument(&size), name(0)];
        let each = if parameters.is_empty() { std::ptr::null() } else { parameters.as_ptr() };
        // SAFETY: the buffer is as long as it says, or that is refused.
        unsafe { cuLaunchKernel(add, 1, 1, 1, 128, 1, 1, 0, NULL, each, extra.as_ptr()) }
    };
    assert_eq!(by_buffer(16, &[]), SUCCESS);
    assert_eq!(from_device(address, 100), [6; 100]);
    assert_eq!(by_buffer(12, &[]), INVALID_VALUE);
    assert_eq!(by_buffer(16, &each), INVALID_VALUE);
    // SAFETY: no parameters at all is what is tested.
    let none = unsafe { cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, NULL, std::ptr::null(), std::ptr::null()) };
    assert_eq!(none, INVALID_VALUE);
}

#[test]
fn sizes_have_limits() {
    let context = Context::new();
    let add = context.kernel(&ptx(ADD), "add");
    let address = to_device(&[0]);
    let each = [argument(&address), argument(&0), argument(&0)];
    let launch = |grid: [u32; 3], block: [u32; 3], shared| {
        let [gx, gy, gz] = grid;
        let [bx, by, bz] = block;
        // SAFETY: the parameters are the kernel's.
        unsafe { cuLaunchKernel(add, gx, gy, gz, bx, by, bz, shared, NULL, each.as_ptr(), std::ptr::null()) }
    };
    let one = [1, 1, 1];
    assert_eq!(launch(one, [1024, 1, 1], 0), SUCCESS);
    assert_eq!(launch(one, one, 48 << 10), SUCCESS);
    for (grid, block, shared) in [
        ([0, 1, 1], one, 0),
        (one, [1, 0, 1], 0),
        (one, [1025, 1, 1], 0),
        (one, [32, 64, 1], 0),
        (one, [1, 1, 65], 0),
        ([1, 65536, 1], one, 0),
        (one, one, (48 << 10) + 1),
    ] {
        assert_eq!(launch(grid, block, shared), INVALID_VALUE, "{grid:?} {block:?} {shared}");
    }
    check!(cuFuncSetAttribute(add, 8, 100_000));
    assert_eq!(launch(one, one, 100_000), SUCCESS);
    check!(cuCtxSynchronize());
}

#[test]
fn directives_of_the_kernel_are_limits() {
    let context = Context::new();
    let body =
        ".visible .entry most() .maxntid 64, 1, 1 { ret; } .visible .entry just() .reqntid 32, 2, 1 { ret; }";
    let module = context.load(&ptx(body));
    let most = get!(cuModuleGetFunction for Handle; module, c"most".as_ptr());
    check!(launch(most, 1, 64, NULL, &[]));
    check!(launch(most, 1, 65, NULL, &[]), INVALID_VALUE);
    let just = get!(cuModuleGetFunction for Handle; module, c"just".as_ptr());
    check!(launch(just, 1, 64, NULL, &[]), INVALID_VALUE);
    check!(cuLaunchKernel(just, 1, 1, 1, 32, 2, 1, 0, NULL, std::ptr::null(), std::ptr::null()));
    check!(cuCtxSynchronize());
}

#[test]
fn attributes_choose_the_kind_of_launch() {
    let context = Context::new();
    let add = context.kernel(&ptx(ADD), "add");
    let address = to_device(&[1]);
    let each = [argument(&address), argument(&1), argument(&1)];
    let launch = |blocks, id: u64, value: u64| {
        let attribute = [id, value, 1, 0, 0, 0, 0, 0, 0];
        let (grid, block) = ([blocks, 1, 1], [32, 1, 1]);
        let config = LaunchConfig { grid, block, shared: 0, stream: NULL, attributes: &attribute, count: 1 };
        // SAFETY: the parameters are the kernel's.
        unsafe { cuLaunchKernelEx(&config, add, each.as_ptr(), std::ptr::null()) }
    };
    assert_eq!(launch(1, 2, 1), SUCCESS);
    assert_eq!(from_device(address, 1), [2]);
    assert_eq!(launch(1_000_000, 2, 1), COOPERATIVE_LAUNCH_TOO_LARGE);
    assert_eq!(launch(2, 4, 2 | 1 << 32), NOT_SUPPORTED);
    assert_eq!(launch(1, 99, 0), INVALID_VALUE);
    assert_eq!(launch(1, 0, 0), SUCCESS);
    check!(cuCtxSynchronize());
}

#[test]
fn functions_belong_to_contexts() {
    let one = Context::new();
    let add = one.kernel(&ptx(ADD), "add");
    let _other = Context::new();
    let address = to_device(&[1]);
    let each = [argument(&address), argument(&1), argument(&1)];
    check!(launch(add, 1, 1, NULL, &each), INVALID_HANDLE);
    check!(launch(0x5555_5550 as Handle, 1, 1, NULL, &each), INVALID_HANDLE);
    check!(launch(add, 1, 1, 0x5555_5550 as Handle, &each), INVALID_HANDLE);
}
