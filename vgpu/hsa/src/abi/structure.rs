//! Structures of `hsa.h`, `hsa_ext_amd.h`, `amd_hsa_signal.h` and `amd_hsa_queue.h`.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

use super::Handle;

/// `hsa_dim3_t`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// `amd_signal_t`: what a signal's handle points to, for kernels.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct AmdSignal {
    pub kind: AtomicI64,
    pub value: AtomicI64,
    /// Where a kernel writes `event_id` when it has changed the value, before it sends the interrupt.
    pub event_mailbox: AtomicU64,
    pub event_id: AtomicU32,
    pub reserved1: AtomicU32,
    pub start: AtomicU64,
    pub end: AtomicU64,
    pub queue: AtomicU64,
    pub reserved3: [AtomicU32; 2],
}

/// `AMD_SIGNAL_KIND_USER`: a signal with a value.
pub const SIGNAL_KIND_USER: i64 = 1;
/// `AMD_SIGNAL_KIND_INVALID`
pub const SIGNAL_KIND_INVALID: i64 = 0;

/// `hsa_queue_t`
#[derive(Debug)]
#[repr(C)]
pub struct Queue {
    pub kind: u32,
    pub features: u32,
    pub base_address: u64,
    pub doorbell: Handle,
    pub size: u32,
    pub reserved1: u32,
    pub id: u64,
}

/// `amd_queue_t`: the queue as kernels see it.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct AmdQueue {
    pub queue: Queue,
    pub caps: u32,
    pub reserved1: [u32; 3],
    pub write_dispatch_id: AtomicU64,
    pub group_segment_aperture_base_hi: u32,
    pub private_segment_aperture_base_hi: u32,
    pub max_cu_id: u32,
    pub max_wave_id: u32,
    pub max_legacy_doorbell_dispatch_id_plus_1: AtomicU64,
    pub legacy_doorbell_lock: AtomicU32,
    pub reserved2: [u32; 9],
    pub read_dispatch_id: AtomicU64,
    pub read_dispatch_id_field_base_byte_offset: u32,
    pub compute_tmpring_size: u32,
    pub scratch_resource_descriptor: [u32; 4],
    pub scratch_backing_memory_location: u64,
    pub scratch_backing_memory_byte_size: u64,
    pub scratch_wave64_lane_byte_size: u32,
    pub queue_properties: AtomicU32,
    pub reserved3: [u32; 2],
    pub queue_inactive_signal: Handle,
    pub reserved4: [u32; 14],
}

/// `AMD_QUEUE_PROPERTIES_IS_PTR64`
pub const QUEUE_POINTERS_64: u32 = 1 << 1;
/// `AMD_QUEUE_PROPERTIES_ENABLE_PROFILING`
pub const QUEUE_PROFILING: u32 = 1 << 3;

/// `hsa_amd_pointer_info_t`, with the fields that it had in ROCm 5.2.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PointerInfo {
    pub size: u32,
    pub kind: u32,
    pub agent_base: u64,
    pub host_base: u64,
    pub bytes: usize,
    pub user_data: u64,
    pub owner: Handle,
    pub global_flags: u32,
    pub registered: u32,
}

/// `hsa_amd_profiling_dispatch_time_t` and `hsa_amd_profiling_async_copy_time_t`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Times {
    pub start: u64,
    pub end: u64,
}

/// `hsa_amd_event_t` with what it says of a memory fault (`hsa_amd_gpu_memory_fault_info_t`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MemoryFaultEvent {
    pub kind: u32,
    pub agent: Handle,
    pub address: u64,
    pub reasons: u32,
    /// Later events have more; nobody reads it here.
    pub rest: [u64; 4],
}

/// `hsa_amd_memory_pool_link_info_t`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LinkInfo {
    pub min_latency: u32,
    pub max_latency: u32,
    pub min_bandwidth: u32,
    pub max_bandwidth: u32,
    pub atomics_32: bool,
    pub atomics_64: bool,
    pub coherent: bool,
    pub kind: u32,
    pub numa_distance: u32,
}

/// `hsa_pitched_ptr_t`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pitched {
    pub base: u64,
    pub pitch: usize,
    pub slice: usize,
}

/// `hsa_amd_clock_counters_t`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ClockCounters {
    pub gpu: u64,
    pub cpu: u64,
    pub system: u64,
    pub frequency: u64,
}

const _: () = assert!(size_of::<AmdSignal>() == 64);
const _: () = assert!(size_of::<Queue>() == 40);
const _: () = assert!(size_of::<AmdQueue>() == 256);
const _: () = assert!(std::mem::offset_of!(AmdQueue, write_dispatch_id) == 56);
const _: () = assert!(std::mem::offset_of!(AmdQueue, read_dispatch_id) == 128);
const _: () = assert!(std::mem::offset_of!(AmdQueue, scratch_backing_memory_location) == 160);
const _: () = assert!(std::mem::offset_of!(AmdQueue, queue_inactive_signal) == 192);
const _: () = assert!(size_of::<PointerInfo>() == 56);
const _: () = assert!(std::mem::offset_of!(MemoryFaultEvent, agent) == 8);
const _: () = assert!(std::mem::offset_of!(LinkInfo, kind) == 20 && size_of::<LinkInfo>() == 28);
