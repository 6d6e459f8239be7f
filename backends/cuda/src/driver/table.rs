//! The driver's functions, one line each.
//!
//! The names are those that `libcuda.so.1` exports, with the version suffix where `cuda.h`
//! renames a function. All of them are older than CUDA 11.2.

use super::types::{Address, Code, DeviceNumber, Handle, PoolProperties, StreamCallback, Uuid};
use std::ffi::{CStr, c_char, c_void};

macro_rules! functions {
    ($($field:ident = $name:literal ($($parameter:ident: $type:ty),* $(,)?);)*) => {
        /// The driver's functions. Each answers a `CUresult`.
        #[derive(Clone, Copy)]
        pub(crate) struct Api {
            $(pub(crate) $field: unsafe extern "C" fn($($parameter: $type),*) -> Code,)*
        }

        impl Api {
            /// Looks all functions up.
            ///
            /// # Errors
            /// One is missing: its name.
            pub(crate) fn load(find: &dyn Fn(&CStr) -> *mut c_void) -> Result<Self, &'static CStr> {
                Ok(Self {$(
                    $field: {
                        let address = find($name);
                        if address.is_null() {
                            return Err($name);
                        }
                        // SAFETY: the driver API declares this type for the name.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> Code>(
                                address,
                            )
                        }
                    },
                )*})
            }
        }
    };
}

functions! {
    init = c"cuInit"(flags: u32);
    driver_get_version = c"cuDriverGetVersion"(version: *mut i32);
    get_error_name = c"cuGetErrorName"(code: Code, text: *mut *const c_char);
    get_error_string = c"cuGetErrorString"(code: Code, text: *mut *const c_char);

    device_get_count = c"cuDeviceGetCount"(count: *mut i32);
    device_get = c"cuDeviceGet"(device: *mut DeviceNumber, ordinal: i32);
    device_get_name = c"cuDeviceGetName"(name: *mut c_char, length: i32, device: DeviceNumber);
    device_get_uuid = c"cuDeviceGetUuid"(uuid: *mut Uuid, device: DeviceNumber);
    device_total_memory = c"cuDeviceTotalMem_v2"(bytes: *mut usize, device: DeviceNumber);
    device_get_attribute = c"cuDeviceGetAttribute"(value: *mut i32, attribute: i32, device: DeviceNumber);
    device_can_access_peer =
        c"cuDeviceCanAccessPeer"(can: *mut i32, device: DeviceNumber, peer: DeviceNumber);
    primary_context_retain = c"cuDevicePrimaryCtxRetain"(context: *mut Handle, device: DeviceNumber);
    primary_context_release = c"cuDevicePrimaryCtxRelease_v2"(device: DeviceNumber);

    context_set_current = c"cuCtxSetCurrent"(context: Handle);
    context_get_limit = c"cuCtxGetLimit"(value: *mut usize, limit: i32);
    context_set_limit = c"cuCtxSetLimit"(limit: i32, value: usize);
    context_enable_peer_access = c"cuCtxEnablePeerAccess"(peer: Handle, flags: u32);

    module_load_data = c"cuModuleLoadDataEx"(
        module: *mut Handle,
        image: *const c_void,
        count: u32,
        options: *const i32,
        values: *const *mut c_void,
    );
    link_create = c"cuLinkCreate_v2"(
        count: u32,
        options: *const i32,
        values: *const *mut c_void,
        link: *mut Handle,
    );
    link_add_data = c"cuLinkAddData_v2"(
        link: Handle,
        kind: i32,
        data: *const c_void,
        bytes: usize,
        name: *const c_char,
        count: u32,
        options: *const i32,
        values: *const *mut c_void,
    );
    link_complete = c"cuLinkComplete"(link: Handle, image: *mut *mut c_void, bytes: *mut usize);
    link_destroy = c"cuLinkDestroy"(link: Handle);
    module_unload = c"cuModuleUnload"(module: Handle);
    module_get_function = c"cuModuleGetFunction"(function: *mut Handle, module: Handle, name: *const c_char);
    module_get_global = c"cuModuleGetGlobal_v2"(
        address: *mut Address,
        bytes: *mut usize,
        module: Handle,
        name: *const c_char,
    );

    function_get_attribute = c"cuFuncGetAttribute"(value: *mut i32, attribute: i32, function: Handle);
    function_set_attribute = c"cuFuncSetAttribute"(function: Handle, attribute: i32, value: i32);
    occupancy_blocks = c"cuOccupancyMaxActiveBlocksPerMultiprocessor"(
        blocks: *mut i32,
        function: Handle,
        threads: i32,
        dynamic_shared_memory: usize,
    );
    occupancy_launch = c"cuOccupancyMaxPotentialBlockSize"(
        blocks: *mut i32,
        threads: *mut i32,
        function: Handle,
        dynamic_shared_memory_of: *const c_void,
        dynamic_shared_memory: usize,
        most_threads: i32,
    );
    launch_kernel = c"cuLaunchKernel"(
        function: Handle,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared_memory: u32,
        stream: Handle,
        parameters: *const *const c_void,
        extra: *const *const c_void,
    );

    memory_allocate = c"cuMemAlloc_v2"(address: *mut Address, bytes: usize);
    memory_free = c"cuMemFree_v2"(address: Address);
    memory_information = c"cuMemGetInfo_v2"(free: *mut usize, total: *mut usize);
    memory_allocate_host = c"cuMemHostAlloc"(pointer: *mut *mut c_void, bytes: usize, flags: u32);
    memory_free_host = c"cuMemFreeHost"(pointer: *mut c_void);
    memory_allocate_managed = c"cuMemAllocManaged"(address: *mut Address, bytes: usize, flags: u32);
    memory_register_host = c"cuMemHostRegister_v2"(pointer: *mut c_void, bytes: usize, flags: u32);
    memory_unregister_host = c"cuMemHostUnregister"(pointer: *mut c_void);
    memory_device_address_of_host =
        c"cuMemHostGetDevicePointer_v2"(address: *mut Address, pointer: *mut c_void, flags: u32);
    pointer_attributes = c"cuPointerGetAttributes"(
        count: u32,
        attributes: *const i32,
        values: *const *mut c_void,
        address: Address,
    );

    pool_create = c"cuMemPoolCreate"(pool: *mut Handle, properties: *const PoolProperties);
    pool_set_attribute = c"cuMemPoolSetAttribute"(pool: Handle, attribute: i32, value: *mut c_void);
    pool_trim = c"cuMemPoolTrimTo"(pool: Handle, bytes_to_keep: usize);
    pool_destroy = c"cuMemPoolDestroy"(pool: Handle);
    pool_allocate = c"cuMemAllocFromPoolAsync"(
        address: *mut Address,
        bytes: usize,
        pool: Handle,
        stream: Handle,
    );
    memory_free_in_stream = c"cuMemFreeAsync"(address: Address, stream: Handle);

    copy_to_device = c"cuMemcpyHtoDAsync_v2"(
        to: Address,
        from: *const c_void,
        bytes: usize,
        stream: Handle,
    );
    copy_from_device = c"cuMemcpyDtoHAsync_v2"(
        to: *mut c_void,
        from: Address,
        bytes: usize,
        stream: Handle,
    );
    copy_within_device =
        c"cuMemcpyDtoDAsync_v2"(to: Address, from: Address, bytes: usize, stream: Handle);
    copy_to_peer = c"cuMemcpyPeerAsync"(
        to: Address,
        to_context: Handle,
        from: Address,
        from_context: Handle,
        bytes: usize,
        stream: Handle,
    );
    copy_from_device_now = c"cuMemcpyDtoH_v2"(to: *mut c_void, from: Address, bytes: usize);
    copy_to_device_now = c"cuMemcpyHtoD_v2"(to: Address, from: *const c_void, bytes: usize);
    fill_bytes = c"cuMemsetD8Async"(to: Address, value: u8, count: usize, stream: Handle);

    stream_create = c"cuStreamCreate"(stream: *mut Handle, flags: u32);
    stream_destroy = c"cuStreamDestroy_v2"(stream: Handle);
    stream_synchronize = c"cuStreamSynchronize"(stream: Handle);
    stream_query = c"cuStreamQuery"(stream: Handle);
    stream_wait_event = c"cuStreamWaitEvent"(stream: Handle, event: Handle, flags: u32);
    stream_add_callback = c"cuStreamAddCallback"(
        stream: Handle,
        callback: StreamCallback,
        data: *mut c_void,
        flags: u32,
    );
    event_create = c"cuEventCreate"(event: *mut Handle, flags: u32);
    event_destroy = c"cuEventDestroy_v2"(event: Handle);
    event_record = c"cuEventRecord"(event: Handle, stream: Handle);
}
