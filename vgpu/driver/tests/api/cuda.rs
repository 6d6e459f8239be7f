//! The functions under test as `cuda.h` declares them, and what tests need again and again.

use std::ffi::{CString, c_char, c_void};
use std::sync::Once;

/// So that the library is linked.
use gangway_driver as _;

pub const SUCCESS: u32 = 0;
pub const INVALID_VALUE: u32 = 1;
pub const OUT_OF_MEMORY: u32 = 2;
pub const INVALID_DEVICE: u32 = 101;
pub const INVALID_IMAGE: u32 = 200;
pub const INVALID_CONTEXT: u32 = 201;
pub const NO_BINARY_FOR_GPU: u32 = 209;
pub const INVALID_PTX: u32 = 218;
pub const INVALID_HANDLE: u32 = 400;
pub const NOT_FOUND: u32 = 500;
pub const ILLEGAL_ADDRESS: u32 = 700;
pub const LAUNCH_FAILED: u32 = 719;
pub const HOST_MEMORY_ALREADY_REGISTERED: u32 = 712;
pub const HOST_MEMORY_NOT_REGISTERED: u32 = 713;
pub const COOPERATIVE_LAUNCH_TOO_LARGE: u32 = 720;
pub const NOT_SUPPORTED: u32 = 801;

/// A handle, whatever of.
pub type Handle = *mut c_void;
pub type Options = *const u32;
pub type Values = *mut *mut c_void;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Memcpy2D {
    pub src_x: usize,
    pub src_y: usize,
    pub src_type: u32,
    pub src_host: *const c_void,
    pub src_device: u64,
    pub src_array: Handle,
    pub src_pitch: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_type: u32,
    pub dst_host: *mut c_void,
    pub dst_device: u64,
    pub dst_array: Handle,
    pub dst_pitch: usize,
    pub width: usize,
    pub height: usize,
}

#[repr(C)]
pub struct LaunchConfig {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub stream: Handle,
    pub attributes: *const [u64; 9],
    pub count: u32,
}

unsafe extern "C" {
    pub fn cuInit(flags: u32) -> u32;
    pub fn cuDriverGetVersion(version: *mut i32) -> u32;
    pub fn cuGetErrorName(error: u32, text: *mut *const c_char) -> u32;
    pub fn cuGetErrorString(error: u32, text: *mut *const c_char) -> u32;
    pub fn cuGetProcAddress_v2(
        name: *const c_char,
        function: *mut Handle,
        version: i32,
        flags: u64,
        status: *mut u32,
    ) -> u32;
    pub fn cuDeviceGetCount(count: *mut i32) -> u32;
    pub fn cuDeviceGet(device: *mut i32, ordinal: i32) -> u32;
    pub fn cuDeviceGetName(name: *mut c_char, length: i32, device: i32) -> u32;
    pub fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: i32) -> u32;
    pub fn cuDeviceTotalMem_v2(bytes: *mut usize, device: i32) -> u32;
    pub fn cuDeviceGetAttribute(value: *mut i32, attribute: i32, device: i32) -> u32;
    pub fn cuDeviceGetPCIBusId(id: *mut c_char, length: i32, device: i32) -> u32;
    pub fn cuDeviceGetByPCIBusId(device: *mut i32, id: *const c_char) -> u32;
    pub fn cuDeviceCanAccessPeer(can: *mut i32, from: i32, to: i32) -> u32;
    pub fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: i32) -> u32;
    pub fn cuDevicePrimaryCtxRelease_v2(device: i32) -> u32;
    pub fn cuDevicePrimaryCtxReset_v2(device: i32) -> u32;
    pub fn cuDevicePrimaryCtxGetState(device: i32, flags: *mut u32, active: *mut i32) -> u32;
    pub fn cuCtxCreate_v2(context: *mut Handle, flags: u32, device: i32) -> u32;
    pub fn cuCtxDestroy_v2(context: Handle) -> u32;
    pub fn cuCtxPushCurrent_v2(context: Handle) -> u32;
    pub fn cuCtxPopCurrent_v2(context: *mut Handle) -> u32;
    pub fn cuCtxSetCurrent(context: Handle) -> u32;
    pub fn cuCtxGetCurrent(context: *mut Handle) -> u32;
    pub fn cuCtxGetDevice(device: *mut i32) -> u32;
    pub fn cuCtxGetDevice_v2(device: *mut i32, context: Handle) -> u32;
    pub fn cuCtxSynchronize() -> u32;
    pub fn cuCtxSynchronize_v2(context: Handle) -> u32;
    pub fn cuCtxGetLimit(value: *mut usize, limit: u32) -> u32;
    pub fn cuCtxSetLimit(limit: u32, value: usize) -> u32;
    pub fn cuCtxEnablePeerAccess(peer: Handle, flags: u32) -> u32;
    pub fn cuModuleLoad(module: *mut Handle, path: *const c_char) -> u32;
    pub fn cuModuleLoadData(module: *mut Handle, image: *const c_void) -> u32;
    pub fn cuModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_void,
        count: u32,
        options: Options,
        values: Values,
    ) -> u32;
    pub fn cuModuleUnload(module: Handle) -> u32;
    pub fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) -> u32;
    pub fn cuModuleGetFunctionCount(count: *mut u32, module: Handle) -> u32;
    pub fn cuModuleGetGlobal_v2(
        address: *mut u64,
        size: *mut usize,
        module: Handle,
        name: *const c_char,
    ) -> u32;
    pub fn cuLibraryLoadData(
        library: *mut Handle,
        code: *const c_void,
        options: Options,
        values: Values,
        count: u32,
        library_options: Options,
        library_values: Values,
        library_count: u32,
    ) -> u32;
    pub fn cuLibraryUnload(library: Handle) -> u32;
    pub fn cuLibraryGetKernel(kernel: *mut Handle, library: Handle, name: *const c_char) -> u32;
    pub fn cuKernelGetFunction(function: *mut Handle, kernel: Handle) -> u32;
    pub fn cuLinkCreate_v2(count: u32, options: Options, values: Values, link: *mut Handle) -> u32;
    pub fn cuLinkAddData_v2(
        link: Handle,
        kind: u32,
        data: *const c_void,
        size: usize,
        name: *const c_char,
        count: u32,
        options: Options,
        values: Values,
    ) -> u32;
    pub fn cuLinkComplete(link: Handle, image: *mut *mut c_void, size: *mut usize) -> u32;
    pub fn cuLinkDestroy(link: Handle) -> u32;
    pub fn cuFuncGetAttribute(value: *mut i32, attribute: i32, function: Handle) -> u32;
    pub fn cuFuncSetAttribute(function: Handle, attribute: i32, value: i32) -> u32;
    pub fn cuKernelSetAttribute(attribute: i32, value: i32, kernel: Handle, device: i32) -> u32;
    pub fn cuFuncGetName(name: *mut *const c_char, function: Handle) -> u32;
    pub fn cuFuncGetParamInfo(function: Handle, index: usize, offset: *mut usize, size: *mut usize) -> u32;
    pub fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut i32,
        function: Handle,
        threads: i32,
        shared: usize,
    ) -> u32;
    pub fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut i32,
        block: *mut i32,
        function: Handle,
        of_block: Option<unsafe extern "C" fn(i32) -> usize>,
        shared: usize,
        limit: i32,
    ) -> u32;
    pub fn cuLaunchKernel(
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
    pub fn cuLaunchKernelEx(
        config: *const LaunchConfig,
        function: Handle,
        parameters: *const *const c_void,
        extra: *const *const c_void,
    ) -> u32;
    pub fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> u32;
    pub fn cuMemAlloc_v2(address: *mut u64, size: usize) -> u32;
    pub fn cuMemAllocPitch_v2(
        address: *mut u64,
        pitch: *mut usize,
        width: usize,
        height: usize,
        element: u32,
    ) -> u32;
    pub fn cuMemAllocManaged(address: *mut u64, size: usize, flags: u32) -> u32;
    pub fn cuMemFree_v2(address: u64) -> u32;
    pub fn cuMemGetAddressRange_v2(base: *mut u64, size: *mut usize, address: u64) -> u32;
    pub fn cuMemHostAlloc(pointer: *mut *mut c_void, size: usize, flags: u32) -> u32;
    pub fn cuMemFreeHost(pointer: *mut c_void) -> u32;
    pub fn cuMemHostGetDevicePointer_v2(address: *mut u64, pointer: *mut c_void, flags: u32) -> u32;
    pub fn cuMemHostGetFlags(flags: *mut u32, pointer: *mut c_void) -> u32;
    pub fn cuMemHostRegister_v2(pointer: *mut c_void, size: usize, flags: u32) -> u32;
    pub fn cuMemHostUnregister(pointer: *mut c_void) -> u32;
    pub fn cuMemcpy(to: u64, from: u64, size: usize) -> u32;
    pub fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, size: usize) -> u32;
    pub fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, size: usize, stream: Handle) -> u32;
    pub fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, size: usize) -> u32;
    pub fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, size: usize, stream: Handle) -> u32;
    pub fn cuMemcpyDtoD_v2(to: u64, from: u64, size: usize) -> u32;
    pub fn cuMemcpy2D_v2(copy: *const Memcpy2D) -> u32;
    pub fn cuMemsetD8_v2(to: u64, value: u8, count: usize) -> u32;
    pub fn cuMemsetD32_v2(to: u64, value: u32, count: usize) -> u32;
    pub fn cuMemsetD2D16_v2(to: u64, pitch: usize, value: u16, width: usize, height: usize) -> u32;
    pub fn cuPointerGetAttribute(value: *mut c_void, attribute: u32, address: u64) -> u32;
    pub fn cuStreamCreate(stream: *mut Handle, flags: u32) -> u32;
    pub fn cuStreamWriteValue32_v2(stream: Handle, address: u64, value: u32, flags: u32) -> u32;
    pub fn cuStreamWriteValue64_v2(stream: Handle, address: u64, value: u64, flags: u32) -> u32;
    pub fn cuStreamDestroy_v2(stream: Handle) -> u32;
    pub fn cuStreamSynchronize(stream: Handle) -> u32;
    pub fn cuArrayCreate_v2(array: *mut Handle, description: *const c_void) -> u32;
}

/// Calls a function and expects its result.
macro_rules! check {
    ($call:expr, $expected:expr) => {{
        // SAFETY: arguments are as the driver API wants them, or wrong in a way that it documents.
        #[allow(unused_unsafe)]
        let status = unsafe { $call };
        assert_eq!(status, $expected, "{}", stringify!($call));
    }};
    ($call:expr) => {
        check!($call, $crate::cuda::SUCCESS)
    };
}
pub(crate) use check;

/// Calls a function that puts a result where its first argument points to.
macro_rules! get {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let mut value = Default::default();
        $crate::cuda::check!($crate::cuda::$function(&mut value, $($argument),*));
        value
    }};
    ($function:ident for $type:ty; $($argument:expr),*) => {{
        // SAFETY: handles and integers may be zero.
        let mut value: $type = unsafe { std::mem::zeroed() };
        $crate::cuda::check!($crate::cuda::$function(&mut value, $($argument),*));
        value
    }};
}
pub(crate) use get;

/// Starts the driver with two devices, in which sizes are the same on every machine.
pub fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: no other thread reads the environment yet: every test comes through here first.
        unsafe {
            std::env::set_var("GANGWAY_VGPU_DEVICES", "2");
            std::env::set_var("GANGWAY_VGPU_MEMORY", "4G");
            std::env::set_var("GANGWAY_VGPU_WORKERS", "4");
            std::env::set_var("GANGWAY_VGPU_CACHE", "off");
        }
        check!(cuInit(0));
    });
}

/// A context of the test's own; current until it is dropped.
pub struct Context(pub Handle);

impl Context {
    pub fn new() -> Self {
        Self::on(0)
    }

    pub fn on(device: i32) -> Self {
        start();
        Self(get!(cuCtxCreate_v2 for Handle; 0, device))
    }

    /// The kernel of a module.
    pub fn kernel(&self, ptx: &str, name: &str) -> Handle {
        let module = self.load(ptx);
        let name = CString::new(name).unwrap();
        get!(cuModuleGetFunction for Handle; module, name.as_ptr())
    }

    pub fn load(&self, ptx: &str) -> Handle {
        let text = CString::new(ptx).unwrap();
        get!(cuModuleLoadData for Handle; text.as_ptr().cast())
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the handle of a context, destroyed or not.
        unsafe { cuCtxDestroy_v2(self.0) };
    }
}

/// A module with this after its header.
pub fn ptx(body: &str) -> String {
    format!(".version 7.0\n.target sm_70\n.address_size 64\n{body}\n")
}

/// `add(x, y, n)`: adds y to each of n elements at x.
pub const ADD: &str = ".visible .entry add(.param .u64 x, .param .u32 y, .param .u32 n) {
    .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p;
    ld.param.u64 %rd0, [x]; ld.param.u32 %r0, [y]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1;
    @%p ret;
    mul.wide.u32 %rd1, %r5, 4; add.u64 %rd2, %rd0, %rd1;
    ld.global.u32 %r6, [%rd2]; add.u32 %r7, %r6, %r0; st.global.u32 [%rd2], %r7;
    ret;
}";

/// Launches a kernel with one dimension and arguments by pointers.
pub fn launch(function: Handle, grid: u32, block: u32, stream: Handle, arguments: &[*const c_void]) -> u32 {
    let parameters = arguments.as_ptr();
    // SAFETY: there are as many arguments as the kernel has, which is the test's business.
    unsafe { cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, parameters, std::ptr::null()) }
}

/// The address of a value, as an argument of a kernel.
pub fn argument<T>(value: &T) -> *const c_void {
    std::ptr::from_ref(value).cast()
}

pub fn to_device(values: &[u32]) -> u64 {
    let address: u64 = get!(cuMemAlloc_v2(size_of_val(values)));
    check!(cuMemcpyHtoD_v2(address, values.as_ptr().cast(), size_of_val(values)));
    address
}

pub fn from_device(address: u64, count: usize) -> Vec<u32> {
    let mut values = vec![0; count];
    check!(cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), address, count * 4));
    values
}
