//! The attributes of a device, as a card of its compute capability has them.
//!
//! Numbers of real processors come from the CUDA programming guide's table of compute
//! capabilities. What the virtual GPU cannot do (textures, clusters, tensor maps, virtual
//! memory management) is answered as not there.

use crate::config::Capability;
use crate::device::Device;

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
const CLOCK_KHZ: i32 = 1_980_000;
const MEMORY_CLOCK_KHZ: i32 = 2_619_000;

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

/// The numbers of `CUdevice_attribute`.
mod id {
    pub const HIGHEST: i32 = 143;
}

/// The value of an attribute; `None` for a number that is no attribute.
pub fn value(device: &Device, attribute: i32) -> Option<i32> {
    let limits = device.limits();
    let capability = device.capability();
    let at_least = |number: u16| i32::from(capability.number() >= number);
    Some(match attribute {
        // Blocks, grids and what they have
        1 => MAX_THREADS_PER_BLOCK as i32,
        2..=4 => MAX_BLOCK[attribute as usize - 2] as i32,
        5..=7 => MAX_GRID[attribute as usize - 5] as i32,
        8 => SHARED_PER_BLOCK as i32,
        9 => CONSTANT_MEMORY as i32,
        10 => WARP as i32,
        11 => MAX_PITCH as i32,
        12 => REGISTERS as i32,
        39 => limits.threads_per_multiprocessor as i32,
        81 => limits.shared_per_multiprocessor as i32,
        82 => REGISTERS as i32,
        97 => limits.shared_opt_in as i32,
        106 => limits.blocks_per_multiprocessor as i32,
        111 => limits.shared_reserved as i32,
        // The processor
        13 => CLOCK_KHZ,
        16 => device.multiprocessors() as i32,
        75 => i32::from(capability.major),
        76 => i32::from(capability.minor),
        87 => limits.single_to_double as i32,
        36 => MEMORY_CLOCK_KHZ,
        37 => 5120,
        38 => L2_CACHE,
        // GPU_OVERLAP, CAN_MAP_HOST_MEMORY, CONCURRENT_KERNELS, UNIFIED_ADDRESSING
        15 | 19 | 31 | 41 => 1,
        // KERNEL_EXEC_TIMEOUT, INTEGRATED, COMPUTE_MODE, ECC_ENABLED, TCC_DRIVER
        17 | 18 | 20 | 32 | 35 => 0,
        // ASYNC_ENGINE_COUNT
        40 => 3,
        // STREAM_PRIORITIES, GLOBAL_L1_CACHE, LOCAL_L1_CACHE, MANAGED_MEMORY, COMPUTE_PREEMPTION
        78 | 79 | 80 | 83 | 90 => 1,
        // CONCURRENT_MANAGED_ACCESS, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, HOST_REGISTER_SUPPORTED
        89 | 91 | 99 => 1,
        // DIRECT_MANAGED_MEM_ACCESS_FROM_HOST
        101 => 1,
        // HOST_NATIVE_ATOMIC_SUPPORTED: host and device share one coherent memory
        86 => 1,
        // MULTI_GPU_BOARD; PAGEABLE_MEMORY_ACCESS and its page tables: device memory is separate
        84 | 88 | 100 => 0,
        // MULTI_GPU_BOARD_GROUP_ID
        85 => device.ordinal() as i32,
        // COOPERATIVE_LAUNCH
        95 => at_least(60),
        // MEMORY_POOLS_SUPPORTED
        115 => 1,
        // Where it sits
        33 => device.pci_bus() as i32,
        34 | 50 => 0,
        // Pitches and textures, which matter only to who lays out memory for them
        14 | 30 => PITCH_ALIGN as i32,
        51 => 32,
        21 | 69 | 77 => 131_072,
        22 | 23 | 70 | 71 | 55..=57 => 131_072,
        24..=26 | 47..=49 => 16_384,
        27 | 28 | 42 | 45 | 46 | 52 | 53 | 58..=63 | 66 | 67 | 73 | 74 => 32_768,
        29 | 43 | 64 | 65 => 2_048,
        54 | 68 => 2_046,
        72 => 2_097_120,
        44 => 1,
        // NUMA_CONFIG none, NUMA_ID and HOST_NUMA_ID not there
        130 => 0,
        131 | 134 => -1,
        // UNIFIED_FUNCTION_POINTERS
        129 => 1,
        // MEM_SYNC_DOMAIN_COUNT
        126 => 1,
        // GPU_PCI_DEVICE_ID, GPU_PCI_SUBSYSTEM_ID: no vendor's
        139 | 140 => 0,
        // Everything else is a feature that is not there.
        0..=id::HIGHEST => 0,
        _ => return None,
    })
}
