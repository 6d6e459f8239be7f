//! Handles, numbers and constants of `cuda.h`, as far as the back end uses them.

/// `CUresult`.
pub(crate) type Code = i32;

/// `CUDA_SUCCESS`.
pub(crate) const SUCCESS: Code = 0;

/// `CUdevice`.
pub(crate) type DeviceNumber = i32;

/// `CUdeviceptr`.
pub(crate) type Address = u64;

/// A handle: a pointer that only the driver follows. Null is none.
pub(crate) type Handle = usize;

/// `CU_STREAM_NON_BLOCKING`: the program's default stream does not wait for ours.
pub(crate) const STREAM_NON_BLOCKING: u32 = 1;

/// `CU_EVENT_DISABLE_TIMING`: such events are cheaper.
pub(crate) const EVENT_WITHOUT_TIMING: u32 = 2;

/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`, and the same bits for
/// `cuMemHostRegister`.
pub(crate) const HOST_MEMORY_FOR_ALL: u32 = 3;

/// `CU_MEM_ATTACH_GLOBAL`.
pub(crate) const MANAGED_BY_ALL: u32 = 1;

/// Keys of the last parameter of `cuLaunchKernel`.
pub(crate) mod launch_key {
    pub(crate) const END: usize = 0;
    pub(crate) const BUFFER_POINTER: usize = 1;
    pub(crate) const BUFFER_SIZE: usize = 2;
}

/// `CUlimit`.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub(crate) enum Limit {
    StackSize = 0,
    HeapSize = 2,
}

/// `CUfunction_attribute`.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub(crate) enum FunctionAttribute {
    MaxThreads = 0,
    StaticSharedMemory = 1,
    Registers = 4,
    MaxDynamicSharedMemory = 8,
}

/// `CUdevice_attribute`.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub(crate) enum Attribute {
    MaxThreadsPerBlock = 1,
    MaxBlockX = 2,
    MaxGridX = 5,
    MaxSharedMemoryPerBlock = 8,
    WarpSize = 10,
    ClockRate = 13,
    Multiprocessors = 16,
    Integrated = 18,
    MaxThreadsPerMultiprocessor = 39,
    UnifiedAddressing = 41,
    CapabilityMajor = 75,
    CapabilityMinor = 76,
    ManagedMemory = 83,
    PageableMemoryAccess = 88,
    ConcurrentManagedAccess = 89,
    MaxSharedMemoryOptIn = 97,
    MemoryPools = 115,
}

/// `CUjit_option`.
pub(crate) mod jit_option {
    pub(crate) const ERROR_LOG: i32 = 5;
    pub(crate) const ERROR_LOG_SIZE: i32 = 6;
}

/// `CUpointer_attribute`.
pub(crate) mod pointer_attribute {
    pub(crate) const MEMORY_TYPE: i32 = 2;
    pub(crate) const IS_MANAGED: i32 = 8;
    pub(crate) const DEVICE_ORDINAL: i32 = 9;
    pub(crate) const RANGE_START: i32 = 11;
    pub(crate) const RANGE_SIZE: i32 = 12;
}

/// `CU_MEMORYTYPE_HOST`: memory of the host that the driver knows.
pub(crate) const HOST_MEMORY: u32 = 1;
/// `CU_MEMORYTYPE_DEVICE`.
pub(crate) const DEVICE_MEMORY: u32 = 2;

/// `CU_JIT_INPUT_PTX`.
pub(crate) const LINK_INPUT_PTX: i32 = 1;

/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`, a 64-bit number of bytes.
pub(crate) const POOL_RELEASE_THRESHOLD: i32 = 4;
/// `CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES`, an `int`: memory that another stream is about to free may be
/// taken, and has the stream wait for the other.
pub(crate) const POOL_REUSE_INTERNAL_DEPENDENCIES: i32 = 3;

/// `CUmemPoolProps`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct PoolProperties {
    /// `CU_MEM_ALLOCATION_TYPE_PINNED` is 1.
    pub(crate) allocation: i32,
    pub(crate) handles: i32,
    /// `CU_MEM_LOCATION_TYPE_DEVICE` is 1.
    pub(crate) location: i32,
    pub(crate) device: DeviceNumber,
    pub(crate) security: usize,
    pub(crate) max_size: usize,
    pub(crate) usage: u16,
    pub(crate) reserved: [u8; 54],
}

const _: () = assert!(size_of::<PoolProperties>() == 88);

impl PoolProperties {
    /// Plain memory of a device.
    pub(crate) const fn of(device: DeviceNumber) -> Self {
        Self {
            allocation: 1,
            handles: 0,
            location: 1,
            device,
            security: 0,
            max_size: 0,
            usage: 0,
            reserved: [0; 54],
        }
    }
}

/// `CUuuid`.
pub(crate) type Uuid = [u8; 16];

/// `CUstreamCallback`.
pub(crate) type StreamCallback = unsafe extern "C" fn(Handle, Code, *mut std::ffi::c_void);
