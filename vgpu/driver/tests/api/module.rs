//! Modules and libraries: loading, finding, unloading, and what is no module.

use std::ffi::{CStr, c_void};

use crate::cuda::*;

const BODY: &str = ".visible .global .align 4 .u32 counter = 5;
.visible .const .align 8 .b8 table[24];
.visible .entry first(.param .u64 p, .param .u32 n, .param .align 8 .b8 s[12]) { ret; }
.visible .entry second() .maxntid 128, 1, 1 { .shared .align 8 .b8 space[1000]; .reg .b32 %r; mov.u32 %r, space; st.shared.u32 [%r], %r; ret; }";

#[test]
fn names_are_found_in_modules() {
    let context = Context::new();
    let module = context.load(&ptx(BODY));
    let first = get!(cuModuleGetFunction for Handle; module, c"first".as_ptr());
    assert_eq!(get!(cuModuleGetFunction for Handle; module, c"first".as_ptr()), first);
    assert_eq!(get!(cuModuleGetFunctionCount(module)), 2);
    let (mut address, mut size) = (0, 0);
    check!(cuModuleGetGlobal_v2(&mut address, &mut size, module, c"counter".as_ptr()));
    assert_eq!((size, from_device(address, 1)), (4, vec![5]));
    check!(cuModuleGetGlobal_v2(&mut address, &mut size, module, c"table".as_ptr()));
    assert_eq!(size, 24);
    let mut none = std::ptr::null_mut();
    check!(cuModuleGetFunction(&mut none, module, c"third".as_ptr()), NOT_FOUND);
    check!(cuModuleGetFunction(&mut none, module, std::ptr::null()), INVALID_VALUE);
    check!(cuModuleGetGlobal_v2(&mut address, &mut size, module, c"first".as_ptr()), NOT_FOUND);

    let mut name = std::ptr::null();
    check!(cuFuncGetName(&mut name, first));
    // SAFETY: a text that lives as long as the module.
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"first");
    let parameter = |index| {
        let (mut offset, mut size) = (0, 0);
        check!(cuFuncGetParamInfo(first, index, &mut offset, &mut size));
        (offset, size)
    };
    assert_eq!([parameter(0), parameter(1), parameter(2)], [(0, 8), (8, 4), (16, 12)]);
    let (mut offset, mut size) = (0, 0);
    check!(cuFuncGetParamInfo(first, 3, &mut offset, &mut size), INVALID_VALUE);

    check!(cuModuleUnload(module));
    check!(cuModuleUnload(module), INVALID_HANDLE);
    check!(cuModuleGetFunction(&mut none, module, c"first".as_ptr()), INVALID_HANDLE);
    check!(launch(first, 1, 1, std::ptr::null_mut(), &[]), INVALID_HANDLE);
}

/// libgomp's plugin for nvptx asks for those that stand for the host's regions.
#[test]
fn functions_for_device_code_have_handles_and_cannot_be_launched() {
    let context = Context::new();
    let body = ".visible .func stands (.param .u64 p) { ret; }
.func own (.param .u64 p) { ret; }
.visible .global .u64 table[2] = {stands, own};
.visible .entry kernel() { ret; }";
    let module = context.load(&ptx(body));
    let stands = get!(cuModuleGetFunction for Handle; module, c"stands".as_ptr());
    assert_eq!(get!(cuModuleGetFunction for Handle; module, c"stands".as_ptr()), stands);
    assert!(get!(cuFuncGetAttribute(4, stands)) > 0);
    assert_eq!(get!(cuFuncGetAttribute(0, stands)), 1024);
    assert_eq!(get!(cuModuleGetFunctionCount(module)), 1);
    let mut none = std::ptr::null_mut();
    check!(cuModuleGetFunction(&mut none, module, c"own".as_ptr()), NOT_FOUND);
    let argument = 8_u64;
    let arguments = [(&raw const argument).cast()];
    check!(launch(stands, 1, 1, std::ptr::null_mut(), &arguments), INVALID_HANDLE);
    check!(cuModuleUnload(module));
    let mut value = 0;
    check!(cuFuncGetAttribute(&mut value, 4, stands), INVALID_HANDLE);
}

#[test]
fn functions_have_attributes() {
    let context = Context::new();
    let second = context.kernel(&ptx(BODY), "second");
    let value = |attribute| get!(cuFuncGetAttribute(attribute, second));
    assert_eq!((value(0), value(1), value(5)), (128, 1000, 90));
    assert_eq!(value(8), (48 << 10) - 1000);
    check!(cuFuncSetAttribute(second, 8, 100_000));
    assert_eq!(value(8), 100_000);
    check!(cuFuncSetAttribute(second, 8, 300_000), INVALID_VALUE);
    check!(cuFuncSetAttribute(second, 8, -1), INVALID_VALUE);
    check!(cuFuncSetAttribute(second, 0, 1), INVALID_VALUE);
    let mut none = 0;
    check!(cuFuncGetAttribute(&mut none, 77, second), INVALID_VALUE);
    check!(cuFuncGetAttribute(&mut none, 0, 0x1234 as Handle), INVALID_HANDLE);
}

#[test]
fn occupancy_follows_from_limits() {
    let context = Context::new();
    let second = context.kernel(&ptx(BODY), "second");
    let active = |threads, shared| {
        let mut blocks = -1;
        check!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, second, threads, shared));
        blocks
    };
    assert_eq!(active(128, 0), 16);
    assert_eq!(active(129, 0), 0, "more than .maxntid");
    assert_eq!(active(32, 100_000), 2);
    let (mut grid, mut block) = (0, 0);
    check!(cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, second, None, 0, 0));
    assert_eq!((grid, block), (64, 128));
    unsafe extern "C" fn of_block(threads: i32) -> usize {
        if threads > 64 { 1 << 20 } else { 0 }
    }
    check!(cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, second, Some(of_block), 0, 0));
    assert_eq!(block, 64);
    let mut none = 0;
    check!(cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut none, second, 0, 0), INVALID_VALUE);
}

#[test]
fn what_is_wrong_is_told_in_the_log() {
    let _context = Context::new();
    let mut log = [1_u8; 300];
    let options = [5, 6, 2];
    let mut values = [log.as_mut_ptr().cast(), log.len() as *mut c_void, std::ptr::null_mut()];
    let text = std::ffi::CString::new(ptx(".entry k() { frobnicate.u32 %r; }")).unwrap();
    let mut module = std::ptr::null_mut();
    let (options, values_at) = (options.as_ptr(), values.as_mut_ptr());
    check!(cuModuleLoadDataEx(&mut module, text.as_ptr().cast(), 3, options, values_at), INVALID_PTX);
    let told = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap();
    assert!(told.contains("frobnicate"), "{told}");
    assert_eq!(values[1] as usize, told.len());
}

#[test]
fn what_is_no_module_is_refused() {
    let _context = Context::new();
    let mut module = std::ptr::null_mut();
    let mut load = |image: &[u8]| {
        // SAFETY: an image that ends in zeros.
        unsafe { cuModuleLoadData(&mut module, image.as_ptr().cast()) }
    };
    assert_eq!(load(b"\0"), INVALID_IMAGE);
    assert_eq!(load(b"hello\0"), INVALID_IMAGE);
    let mut elf = [0; 128];
    elf[..4].copy_from_slice(b"\x7fELF");
    assert!(matches!(load(&elf), INVALID_IMAGE | NO_BINARY_FOR_GPU));
    check!(cuModuleLoadData(&mut module, std::ptr::null()), INVALID_VALUE);
    check!(cuModuleLoad(&mut module, c"/nowhere/at/all".as_ptr()), 301);
    assert!(module.is_null());
}

#[test]
fn libraries_are_for_all_contexts() {
    let one = Context::on(0);
    let text = std::ffi::CString::new(ptx(ADD)).unwrap();
    let library = get!(
        cuLibraryLoadData for Handle;
        text.as_ptr().cast(), std::ptr::null(), std::ptr::null_mut(), 0, std::ptr::null(), std::ptr::null_mut(), 0
    );
    let kernel = get!(cuLibraryGetKernel for Handle; library, c"add".as_ptr());
    let in_one = get!(cuKernelGetFunction for Handle; kernel);
    let other = Context::on(1);
    let in_other = get!(cuKernelGetFunction for Handle; kernel);
    assert_ne!(in_one, in_other);
    // A kernel can be launched as a function.
    for context in [&one, &other] {
        check!(cuCtxSetCurrent(context.0));
        let address = to_device(&[1]);
        check!(launch(kernel, 1, 1, std::ptr::null_mut(), &[argument(&address), argument(&2), argument(&1)]));
        assert_eq!(from_device(address, 1), [3]);
    }
    // It runs in the context of the stream, whichever is current.
    check!(cuCtxSetCurrent(one.0));
    let (address, stream) = (to_device(&[1]), get!(cuStreamCreate for Handle; 1));
    check!(cuCtxSetCurrent(other.0));
    check!(launch(kernel, 1, 1, stream, &[argument(&address), argument(&2), argument(&1)]));
    check!(cuStreamSynchronize(stream));
    assert_eq!(from_device(address, 1), [3]);
    // An attribute is set for one device, and holds in contexts that come to the kernel later.
    const MAX_DYNAMIC_SHARED: i32 = 8;
    let attribute = |function: Handle| get!(cuFuncGetAttribute for i32; MAX_DYNAMIC_SHARED, function);
    let before = attribute(in_one);
    check!(cuKernelSetAttribute(MAX_DYNAMIC_SHARED, before + 1024, kernel, 1));
    assert_eq!((attribute(in_one), attribute(in_other)), (before, before + 1024));
    // What a function is given of its own stays.
    check!(cuFuncSetAttribute(in_other, MAX_DYNAMIC_SHARED, before + 2048));
    assert_eq!(get!(cuKernelGetFunction for Handle; kernel), in_other);
    assert_eq!(attribute(in_other), before + 2048);
    let third = Context::on(1);
    assert_eq!(attribute(get!(cuKernelGetFunction for Handle; kernel)), before + 1024);
    drop(third);
    check!(cuLibraryUnload(library));
    check!(cuKernelGetFunction(&mut std::ptr::null_mut(), kernel), INVALID_HANDLE);
    check!(launch(kernel, 1, 1, std::ptr::null_mut(), &[]), INVALID_HANDLE);
    check!(cuLibraryUnload(library), INVALID_HANDLE);
}
