//! The attributes of a device, as a card of its compute capability has them.
//!
//! Numbers of real processors come from the CUDA programming guide's table of compute
//! capabilities. What the virtual GPU cannot do (textures, clusters, tensor maps, virtual
//! memory management) is answered as not there.

use super::Device;
use crate::abi::DeviceAttribute;
use crate::objects::process::config::Capability;

/// Limits that depend on the compute capability.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub threads_per_multiprocessor: u32,
    pub blocks_per_multiprocessor: u32,
    /// Bytes of shared memory that a block may use when it asks for it.
    pub shared_opt_in: u32,
    pub shared_per_multiprocessor: u32,
    /// Bytes of shared memory per block that are used by the system.
    pub shared_reserved: u32,
    /// How much faster arithmetic in single precision is.
    pub single_to_double: u32,
}

pub const MAX_THREADS_PER_BLOCK: u32 = 1024;
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
pub const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
pub const WARP: u32 = 32;
pub const REGISTERS: u32 = 65536;
pub const SHARED_PER_BLOCK: u32 = 48 << 10;
pub const CONSTANT_MEMORY: u32 = 64 << 10;
pub const MAX_PITCH: u64 = i32::MAX as u64;
pub const PITCH_ALIGN: u64 = 512;
const L2_CACHE: i32 = 50 << 20;
const CLOCK_KHZ: i32 = gangway_engine::CLOCK_KHZ as i32;
const MEMORY_CLOCK_KHZ: i32 = 2_619_000;
/// In bits.
const MEMORY_BUS_WIDTH: i32 = 5120;

impl Limits {
    #[must_use]
    pub const fn of(capability: Capability) -> Self {
        const fn new(threads: u32, blocks: u32, opt_in: u32, shared: u32, ratio: u32) -> Limits {
            Limits {
                threads_per_multiprocessor: threads,
                blocks_per_multiprocessor: blocks,
                shared_opt_in: opt_in << 10,
                shared_per_multiprocessor: shared << 10,
                shared_reserved: if opt_in > 96 { 1 << 10 } else { 0 },
                single_to_double: ratio,
            }
        }
        match capability.number() {
            ..50 => new(2048, 16, 48, 48, 24),
            50 | 53 => new(2048, 32, 48, 64, 32),
            52 | 61 => new(2048, 32, 48, 96, 32),
            60 => new(2048, 32, 48, 64, 2),
            62 => new(2048, 32, 48, 64, 32),
            70..=72 => new(2048, 32, 96, 96, 2),
            75 => new(1024, 16, 64, 64, 32),
            80 => new(2048, 32, 163, 164, 2),
            87 => new(1536, 16, 163, 164, 64),
            81..=88 => new(1536, 16, 99, 100, 64),
            89 => new(1536, 24, 99, 100, 64),
            90..=119 => new(2048, 32, 227, 228, 2),
            _ => new(1536, 24, 99, 100, 64),
        }
    }
}

/// Declares the value of each attribute.
macro_rules! attributes {
    (|$device:ident, $limits:ident, $capability:ident| $($name:ident => $value:expr;)+) => {
        /// What a device answers for an attribute.
        #[must_use]
        pub fn value($device: &Device, attribute: DeviceAttribute) -> i32 {
            let ($limits, $capability) = ($device.limits(), $device.capability());
            match attribute {
                $(DeviceAttribute::$name => i32::try_from($value).unwrap_or(i32::MAX),)+
            }
        }
    };
}

attributes! { |device, limits, capability|
    MAX_THREADS_PER_BLOCK => MAX_THREADS_PER_BLOCK;
    MAX_BLOCK_DIM_X => MAX_BLOCK[0];
    MAX_BLOCK_DIM_Y => MAX_BLOCK[1];
    MAX_BLOCK_DIM_Z => MAX_BLOCK[2];
    MAX_GRID_DIM_X => MAX_GRID[0];
    MAX_GRID_DIM_Y => MAX_GRID[1];
    MAX_GRID_DIM_Z => MAX_GRID[2];
    MAX_SHARED_MEMORY_PER_BLOCK => SHARED_PER_BLOCK;
    TOTAL_CONSTANT_MEMORY => CONSTANT_MEMORY;
    WARP_SIZE => WARP;
    MAX_PITCH => MAX_PITCH;
    MAX_REGISTERS_PER_BLOCK => REGISTERS;
    CLOCK_RATE => CLOCK_KHZ;
    TEXTURE_ALIGNMENT => PITCH_ALIGN;
    GPU_OVERLAP => 1;
    MULTIPROCESSOR_COUNT => device.multiprocessors();
    KERNEL_EXEC_TIMEOUT => 0;
    INTEGRATED => 0;
    CAN_MAP_HOST_MEMORY => 1;
    COMPUTE_MODE => 0;
    MAXIMUM_TEXTURE1D_WIDTH => 131_072;
    MAXIMUM_TEXTURE2D_WIDTH => 131_072;
    MAXIMUM_TEXTURE2D_HEIGHT => 131_072;
    MAXIMUM_TEXTURE3D_WIDTH => 16_384;
    MAXIMUM_TEXTURE3D_HEIGHT => 16_384;
    MAXIMUM_TEXTURE3D_DEPTH => 16_384;
    MAXIMUM_TEXTURE2D_LAYERED_WIDTH => 32_768;
    MAXIMUM_TEXTURE2D_LAYERED_HEIGHT => 32_768;
    MAXIMUM_TEXTURE2D_LAYERED_LAYERS => 2_048;
    SURFACE_ALIGNMENT => PITCH_ALIGN;
    CONCURRENT_KERNELS => 1;
    ECC_ENABLED => 0;
    PCI_BUS_ID => device.pci_bus();
    PCI_DEVICE_ID => 0;
    TCC_DRIVER => 0;
    MEMORY_CLOCK_RATE => MEMORY_CLOCK_KHZ;
    GLOBAL_MEMORY_BUS_WIDTH => MEMORY_BUS_WIDTH;
    L2_CACHE_SIZE => L2_CACHE;
    MAX_THREADS_PER_MULTIPROCESSOR => limits.threads_per_multiprocessor;
    ASYNC_ENGINE_COUNT => 3;
    UNIFIED_ADDRESSING => 1;
    MAXIMUM_TEXTURE1D_LAYERED_WIDTH => 32_768;
    MAXIMUM_TEXTURE1D_LAYERED_LAYERS => 2_048;
    CAN_TEX2D_GATHER => 1;
    MAXIMUM_TEXTURE2D_GATHER_WIDTH => 32_768;
    MAXIMUM_TEXTURE2D_GATHER_HEIGHT => 32_768;
    MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE => 16_384;
    MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE => 16_384;
    MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE => 16_384;
    PCI_DOMAIN_ID => 0;
    TEXTURE_PITCH_ALIGNMENT => 32;
    MAXIMUM_TEXTURECUBEMAP_WIDTH => 32_768;
    MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH => 32_768;
    MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS => 2_046;
    MAXIMUM_SURFACE1D_WIDTH => 131_072;
    MAXIMUM_SURFACE2D_WIDTH => 131_072;
    MAXIMUM_SURFACE2D_HEIGHT => 131_072;
    MAXIMUM_SURFACE3D_WIDTH => 32_768;
    MAXIMUM_SURFACE3D_HEIGHT => 32_768;
    MAXIMUM_SURFACE3D_DEPTH => 32_768;
    MAXIMUM_SURFACE1D_LAYERED_WIDTH => 32_768;
    MAXIMUM_SURFACE1D_LAYERED_LAYERS => 32_768;
    MAXIMUM_SURFACE2D_LAYERED_WIDTH => 32_768;
    MAXIMUM_SURFACE2D_LAYERED_HEIGHT => 2_048;
    MAXIMUM_SURFACE2D_LAYERED_LAYERS => 2_048;
    MAXIMUM_SURFACECUBEMAP_WIDTH => 32_768;
    MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH => 32_768;
    MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS => 2_046;
    MAXIMUM_TEXTURE1D_LINEAR_WIDTH => 131_072;
    MAXIMUM_TEXTURE2D_LINEAR_WIDTH => 131_072;
    MAXIMUM_TEXTURE2D_LINEAR_HEIGHT => 131_072;
    MAXIMUM_TEXTURE2D_LINEAR_PITCH => 2_097_120;
    MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH => 32_768;
    MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT => 32_768;
    COMPUTE_CAPABILITY_MAJOR => capability.major;
    COMPUTE_CAPABILITY_MINOR => capability.minor;
    MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH => 131_072;
    STREAM_PRIORITIES_SUPPORTED => 1;
    GLOBAL_L1_CACHE_SUPPORTED => 1;
    LOCAL_L1_CACHE_SUPPORTED => 1;
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR => limits.shared_per_multiprocessor;
    MAX_REGISTERS_PER_MULTIPROCESSOR => REGISTERS;
    MANAGED_MEMORY => 1;
    MULTI_GPU_BOARD => 0;
    MULTI_GPU_BOARD_GROUP_ID => device.ordinal();
    HOST_NATIVE_ATOMIC_SUPPORTED => 1;
    SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO => limits.single_to_double;
    PAGEABLE_MEMORY_ACCESS => device.shares_host();
    CONCURRENT_MANAGED_ACCESS => 1;
    COMPUTE_PREEMPTION_SUPPORTED => 1;
    CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM => 1;
    CAN_USE_STREAM_MEM_OPS_V1 => 1;
    CAN_USE_64_BIT_STREAM_MEM_OPS_V1 => 1;
    CAN_USE_STREAM_WAIT_VALUE_NOR_V1 => 1;
    COOPERATIVE_LAUNCH => capability.number() >= 60;
    COOPERATIVE_MULTI_DEVICE_LAUNCH => 0;
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => limits.shared_opt_in;
    CAN_FLUSH_REMOTE_WRITES => 0;
    HOST_REGISTER_SUPPORTED => 1;
    PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES => device.shares_host();
    DIRECT_MANAGED_MEM_ACCESS_FROM_HOST => 1;
    VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED => 0;
    HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED => 0;
    HANDLE_TYPE_WIN32_HANDLE_SUPPORTED => 0;
    HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED => 0;
    MAX_BLOCKS_PER_MULTIPROCESSOR => limits.blocks_per_multiprocessor;
    GENERIC_COMPRESSION_SUPPORTED => 0;
    MAX_PERSISTING_L2_CACHE_SIZE => 0;
    MAX_ACCESS_POLICY_WINDOW_SIZE => 0;
    GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED => 0;
    RESERVED_SHARED_MEMORY_PER_BLOCK => limits.shared_reserved;
    SPARSE_CUDA_ARRAY_SUPPORTED => 0;
    READ_ONLY_HOST_REGISTER_SUPPORTED => 0;
    TIMELINE_SEMAPHORE_INTEROP_SUPPORTED => 0;
    MEMORY_POOLS_SUPPORTED => 1;
    GPU_DIRECT_RDMA_SUPPORTED => 0;
    GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS => 0;
    GPU_DIRECT_RDMA_WRITES_ORDERING => 0;
    MEMPOOL_SUPPORTED_HANDLE_TYPES => 0;
    CLUSTER_LAUNCH => 0;
    DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED => 0;
    CAN_USE_64_BIT_STREAM_MEM_OPS => 1;
    CAN_USE_STREAM_WAIT_VALUE_NOR => 1;
    DMA_BUF_SUPPORTED => 0;
    IPC_EVENT_SUPPORTED => 0;
    MEM_SYNC_DOMAIN_COUNT => 1;
    TENSOR_MAP_ACCESS_SUPPORTED => 0;
    HANDLE_TYPE_FABRIC_SUPPORTED => 0;
    UNIFIED_FUNCTION_POINTERS => 1;
    NUMA_CONFIG => 0;
    NUMA_ID => -1;
    MULTICAST_SUPPORTED => 0;
    MPS_ENABLED => 0;
    HOST_NUMA_ID => -1;
    D3D12_CIG_SUPPORTED => 0;
    MEM_DECOMPRESS_ALGORITHM_MASK => 0;
    MEM_DECOMPRESS_MAXIMUM_LENGTH => 0;
    GPU_PCI_DEVICE_ID => 0;
    GPU_PCI_SUBSYSTEM_ID => 0;
    HOST_NUMA_MULTINODE_IPC_SUPPORTED => 0;
}
