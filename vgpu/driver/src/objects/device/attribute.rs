//! The attributes of a device, as a card of its compute capability has them.
//!
//! Numbers of real processors come from the CUDA programming guide's table of compute
//! capabilities. What the virtual GPU cannot do (textures, clusters, tensor maps, virtual
//! memory management) is answered as not there.

use crate::objects::device::Device;
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
    pub const fn of(capability: Capability) -> Limits {
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

/// Declares names and numbers of `CUdevice_attribute`, and what the values are.
macro_rules! attributes {
    (|$device:ident, $limits:ident, $capability:ident| $($name:ident = $number:literal => $value:expr;)+) => {
        /// The numbers, by the names that they have in `cuda.h` after `CU_DEVICE_ATTRIBUTE_`.
        pub mod number {
            $(pub const $name: i32 = $number;)+
        }

        #[cfg(test)]
        pub const NUMBERS: &[i32] = &[$($number),+];

        /// The value of an attribute; `None` for a number that is no attribute.
        pub fn value($device: &Device, attribute: i32) -> Option<i32> {
            let ($limits, $capability) = ($device.limits(), $device.capability());
            match attribute {
                $(number::$name => i32::try_from($value).ok(),)+
                _ => None,
            }
        }
    };
}

attributes! { |device, limits, capability|
    MAX_THREADS_PER_BLOCK = 1 => MAX_THREADS_PER_BLOCK;
    MAX_BLOCK_DIM_X = 2 => MAX_BLOCK[0];
    MAX_BLOCK_DIM_Y = 3 => MAX_BLOCK[1];
    MAX_BLOCK_DIM_Z = 4 => MAX_BLOCK[2];
    MAX_GRID_DIM_X = 5 => MAX_GRID[0];
    MAX_GRID_DIM_Y = 6 => MAX_GRID[1];
    MAX_GRID_DIM_Z = 7 => MAX_GRID[2];
    MAX_SHARED_MEMORY_PER_BLOCK = 8 => SHARED_PER_BLOCK;
    TOTAL_CONSTANT_MEMORY = 9 => CONSTANT_MEMORY;
    WARP_SIZE = 10 => WARP;
    MAX_PITCH = 11 => MAX_PITCH;
    MAX_REGISTERS_PER_BLOCK = 12 => REGISTERS;
    CLOCK_RATE = 13 => CLOCK_KHZ;
    TEXTURE_ALIGNMENT = 14 => PITCH_ALIGN;
    GPU_OVERLAP = 15 => 1;
    MULTIPROCESSOR_COUNT = 16 => device.multiprocessors();
    KERNEL_EXEC_TIMEOUT = 17 => 0;
    INTEGRATED = 18 => 0;
    CAN_MAP_HOST_MEMORY = 19 => 1;
    COMPUTE_MODE = 20 => 0;
    MAXIMUM_TEXTURE1D_WIDTH = 21 => 131_072;
    MAXIMUM_TEXTURE2D_WIDTH = 22 => 131_072;
    MAXIMUM_TEXTURE2D_HEIGHT = 23 => 131_072;
    MAXIMUM_TEXTURE3D_WIDTH = 24 => 16_384;
    MAXIMUM_TEXTURE3D_HEIGHT = 25 => 16_384;
    MAXIMUM_TEXTURE3D_DEPTH = 26 => 16_384;
    MAXIMUM_TEXTURE2D_LAYERED_WIDTH = 27 => 32_768;
    MAXIMUM_TEXTURE2D_LAYERED_HEIGHT = 28 => 32_768;
    MAXIMUM_TEXTURE2D_LAYERED_LAYERS = 29 => 2_048;
    SURFACE_ALIGNMENT = 30 => PITCH_ALIGN;
    CONCURRENT_KERNELS = 31 => 1;
    ECC_ENABLED = 32 => 0;
    PCI_BUS_ID = 33 => device.pci_bus();
    PCI_DEVICE_ID = 34 => 0;
    TCC_DRIVER = 35 => 0;
    MEMORY_CLOCK_RATE = 36 => MEMORY_CLOCK_KHZ;
    GLOBAL_MEMORY_BUS_WIDTH = 37 => MEMORY_BUS_WIDTH;
    L2_CACHE_SIZE = 38 => L2_CACHE;
    MAX_THREADS_PER_MULTIPROCESSOR = 39 => limits.threads_per_multiprocessor;
    ASYNC_ENGINE_COUNT = 40 => 3;
    UNIFIED_ADDRESSING = 41 => 1;
    MAXIMUM_TEXTURE1D_LAYERED_WIDTH = 42 => 32_768;
    MAXIMUM_TEXTURE1D_LAYERED_LAYERS = 43 => 2_048;
    CAN_TEX2D_GATHER = 44 => 1;
    MAXIMUM_TEXTURE2D_GATHER_WIDTH = 45 => 32_768;
    MAXIMUM_TEXTURE2D_GATHER_HEIGHT = 46 => 32_768;
    MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE = 47 => 16_384;
    MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE = 48 => 16_384;
    MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE = 49 => 16_384;
    PCI_DOMAIN_ID = 50 => 0;
    TEXTURE_PITCH_ALIGNMENT = 51 => 32;
    MAXIMUM_TEXTURECUBEMAP_WIDTH = 52 => 32_768;
    MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH = 53 => 32_768;
    MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS = 54 => 2_046;
    MAXIMUM_SURFACE1D_WIDTH = 55 => 131_072;
    MAXIMUM_SURFACE2D_WIDTH = 56 => 131_072;
    MAXIMUM_SURFACE2D_HEIGHT = 57 => 131_072;
    MAXIMUM_SURFACE3D_WIDTH = 58 => 32_768;
    MAXIMUM_SURFACE3D_HEIGHT = 59 => 32_768;
    MAXIMUM_SURFACE3D_DEPTH = 60 => 32_768;
    MAXIMUM_SURFACE1D_LAYERED_WIDTH = 61 => 32_768;
    MAXIMUM_SURFACE1D_LAYERED_LAYERS = 62 => 32_768;
    MAXIMUM_SURFACE2D_LAYERED_WIDTH = 63 => 32_768;
    MAXIMUM_SURFACE2D_LAYERED_HEIGHT = 64 => 2_048;
    MAXIMUM_SURFACE2D_LAYERED_LAYERS = 65 => 2_048;
    MAXIMUM_SURFACECUBEMAP_WIDTH = 66 => 32_768;
    MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH = 67 => 32_768;
    MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS = 68 => 2_046;
    MAXIMUM_TEXTURE1D_LINEAR_WIDTH = 69 => 131_072;
    MAXIMUM_TEXTURE2D_LINEAR_WIDTH = 70 => 131_072;
    MAXIMUM_TEXTURE2D_LINEAR_HEIGHT = 71 => 131_072;
    MAXIMUM_TEXTURE2D_LINEAR_PITCH = 72 => 2_097_120;
    MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH = 73 => 32_768;
    MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT = 74 => 32_768;
    COMPUTE_CAPABILITY_MAJOR = 75 => capability.major;
    COMPUTE_CAPABILITY_MINOR = 76 => capability.minor;
    MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH = 77 => 131_072;
    STREAM_PRIORITIES_SUPPORTED = 78 => 1;
    GLOBAL_L1_CACHE_SUPPORTED = 79 => 1;
    LOCAL_L1_CACHE_SUPPORTED = 80 => 1;
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81 => limits.shared_per_multiprocessor;
    MAX_REGISTERS_PER_MULTIPROCESSOR = 82 => REGISTERS;
    MANAGED_MEMORY = 83 => 1;
    MULTI_GPU_BOARD = 84 => 0;
    MULTI_GPU_BOARD_GROUP_ID = 85 => device.ordinal();
    HOST_NATIVE_ATOMIC_SUPPORTED = 86 => 1;
    SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO = 87 => limits.single_to_double;
    PAGEABLE_MEMORY_ACCESS = 88 => 0;
    CONCURRENT_MANAGED_ACCESS = 89 => 1;
    COMPUTE_PREEMPTION_SUPPORTED = 90 => 1;
    CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91 => 1;
    CAN_USE_STREAM_MEM_OPS_V1 = 92 => 1;
    CAN_USE_64_BIT_STREAM_MEM_OPS_V1 = 93 => 1;
    CAN_USE_STREAM_WAIT_VALUE_NOR_V1 = 94 => 1;
    COOPERATIVE_LAUNCH = 95 => capability.number() >= 60;
    COOPERATIVE_MULTI_DEVICE_LAUNCH = 96 => 0;
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97 => limits.shared_opt_in;
    CAN_FLUSH_REMOTE_WRITES = 98 => 0;
    HOST_REGISTER_SUPPORTED = 99 => 1;
    PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100 => 0;
    DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = 101 => 1;
    VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED = 102 => 0;
    HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103 => 0;
    HANDLE_TYPE_WIN32_HANDLE_SUPPORTED = 104 => 0;
    HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED = 105 => 0;
    MAX_BLOCKS_PER_MULTIPROCESSOR = 106 => limits.blocks_per_multiprocessor;
    GENERIC_COMPRESSION_SUPPORTED = 107 => 0;
    MAX_PERSISTING_L2_CACHE_SIZE = 108 => 0;
    MAX_ACCESS_POLICY_WINDOW_SIZE = 109 => 0;
    GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED = 110 => 0;
    RESERVED_SHARED_MEMORY_PER_BLOCK = 111 => limits.shared_reserved;
    SPARSE_CUDA_ARRAY_SUPPORTED = 112 => 0;
    READ_ONLY_HOST_REGISTER_SUPPORTED = 113 => 0;
    TIMELINE_SEMAPHORE_INTEROP_SUPPORTED = 114 => 0;
    MEMORY_POOLS_SUPPORTED = 115 => 1;
    GPU_DIRECT_RDMA_SUPPORTED = 116 => 0;
    GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS = 117 => 0;
    GPU_DIRECT_RDMA_WRITES_ORDERING = 118 => 0;
    MEMPOOL_SUPPORTED_HANDLE_TYPES = 119 => 0;
    CLUSTER_LAUNCH = 120 => 0;
    DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED = 121 => 0;
    CAN_USE_64_BIT_STREAM_MEM_OPS = 122 => 1;
    CAN_USE_STREAM_WAIT_VALUE_NOR = 123 => 1;
    DMA_BUF_SUPPORTED = 124 => 0;
    IPC_EVENT_SUPPORTED = 125 => 0;
    MEM_SYNC_DOMAIN_COUNT = 126 => 1;
    TENSOR_MAP_ACCESS_SUPPORTED = 127 => 0;
    HANDLE_TYPE_FABRIC_SUPPORTED = 128 => 0;
    UNIFIED_FUNCTION_POINTERS = 129 => 1;
    NUMA_CONFIG = 130 => 0;
    NUMA_ID = 131 => -1;
    MULTICAST_SUPPORTED = 132 => 0;
    MPS_ENABLED = 133 => 0;
    HOST_NUMA_ID = 134 => -1;
    D3D12_CIG_SUPPORTED = 135 => 0;
    MEM_DECOMPRESS_ALGORITHM_MASK = 136 => 0;
    MEM_DECOMPRESS_MAXIMUM_LENGTH = 137 => 0;
    GPU_PCI_DEVICE_ID = 139 => 0;
    GPU_PCI_SUBSYSTEM_ID = 140 => 0;
    HOST_NUMA_MULTINODE_IPC_SUPPORTED = 143 => 0;
}
