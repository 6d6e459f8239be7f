//! The types, structures and numbers of `hsa.h` and `hsa_ext_amd.h` that are needed.
//!
//! Sources: "HSA Runtime Programmer's Reference Manual" 1.2, "HSA Platform System Architecture" 1.2 (packets), and
//! AMD's extension as of ROCm 5.2.

use std::ffi::c_void;

/// `hsa_status_t`
pub(crate) type Code = u32;

pub(crate) const SUCCESS: Code = 0;
/// `HSA_STATUS_INFO_BREAK`: a callback has seen enough.
pub(crate) const BREAK: Code = 1;
pub(crate) const INVALID_ALLOCATION: Code = 0x1003;
pub(crate) const OUT_OF_RESOURCES: Code = 0x1008;
pub(crate) const INVALID_SYMBOL_NAME: Code = 0x1013;
/// AMD's: a kernel has accessed memory that it must not.
pub(crate) const MEMORY_FAULT: Code = 43;

/// What stands for an agent, a pool, a signal, a symbol: 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub(crate) struct Handle(pub u64);

/// `hsa_agent_info_t` with AMD's.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub(crate) enum AgentInfo {
    Name = 0,
    VendorName = 1,
    WorkgroupMaxSize = 8,
    QueueMaxSize = 14,
    Device = 17,
    ComputeUnits = 0xA002,
    ClockFrequency = 0xA003,
    ProductName = 0xA009,
    MaxWaves = 0xA00A,
    Simds = 0xA00B,
    Uuid = 0xA011,
    MemoryAvailable = 0xA015,
    TimestampFrequency = 0xA016,
}

/// `HSA_DEVICE_TYPE_GPU`
pub(crate) const DEVICE_GPU: u32 = 1;
/// `HSA_DEVICE_TYPE_CPU`
pub(crate) const DEVICE_CPU: u32 = 0;

/// `hsa_amd_memory_pool_info_t`
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub(crate) enum PoolInfo {
    Segment = 0,
    GlobalFlags = 1,
    Size = 2,
    AllocationAllowed = 5,
}

/// `HSA_AMD_SEGMENT_GLOBAL`
pub(crate) const SEGMENT_GLOBAL: u32 = 0;
/// `HSA_AMD_SEGMENT_GROUP`
pub(crate) const SEGMENT_GROUP: u32 = 3;

/// `hsa_amd_memory_pool_global_flag_t`
pub(crate) mod pool_flag {
    pub const KERNEL_ARGUMENTS: u32 = 1;
    pub const FINE_GRAINED: u32 = 2;
    pub const COARSE_GRAINED: u32 = 4;
}

/// `hsa_system_info_t`
pub(crate) const SYSTEM_VERSION_MAJOR: u32 = 0;
pub(crate) const SYSTEM_VERSION_MINOR: u32 = 1;
/// `HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT`: kernels use what `malloc` gives.
pub(crate) const SYSTEM_HOST_MEMORY: u32 = 0x202;

/// `hsa_executable_symbol_info_t`
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub(crate) enum SymbolInfo {
    VariableSize = 9,
    KernelArgumentsSize = 11,
    KernelGroupSize = 13,
    KernelPrivateSize = 14,
    VariableAddress = 21,
    KernelObject = 22,
}

/// `HSA_PROFILE_FULL`
pub(crate) const PROFILE_FULL: u32 = 1;
/// `HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT`
pub(crate) const ROUNDING_DEFAULT: u32 = 0;

/// `hsa_queue_type_t`: any thread adds packets.
pub(crate) const QUEUE_MULTI: u32 = 0;

/// `hsa_signal_condition_t`
pub(crate) const LESS_THAN: u32 = 2;
/// `hsa_wait_state_t`: the thread sleeps.
pub(crate) const WAIT_BLOCKED: u32 = 0;

/// `hsa_queue_t`
#[derive(Debug)]
#[repr(C)]
pub(crate) struct QueueRecord {
    pub kind: u32,
    pub features: u32,
    pub base: *mut Packet,
    pub doorbell: Handle,
    pub size: u32,
    pub reserved: u32,
    pub id: u64,
}

/// A packet of a queue, in words. The lower half of the first one, which says that it is there, is written last.
pub(crate) type Packet = [u64; 8];

/// What a kernel dispatch says besides the first half word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dispatch {
    pub workgroup: [u16; 3],
    pub grid: [u32; 3],
    pub private_segment: u32,
    pub group_segment: u32,
    pub kernel_object: u64,
    pub arguments: u64,
    pub completion: Handle,
}

impl Dispatch {
    /// Grids have all three.
    pub const DIMENSIONS: u16 = 3;

    /// `hsa_kernel_dispatch_packet_t`
    pub fn packet(&self) -> Packet {
        let [x, y, z] = self.workgroup.map(u64::from);
        let [grid_x, grid_y, grid_z] = self.grid.map(u64::from);
        [
            u64::from(header::DISPATCH) | x << 32 | y << 48,
            z | grid_x << 32,
            grid_y | grid_z << 32,
            u64::from(self.private_segment) | u64::from(self.group_segment) << 32,
            self.kernel_object,
            self.arguments,
            0,
            self.completion.0,
        ]
    }
}

/// `hsa_barrier_and_packet_t`: waits until so many signals, 5 at most, are 0, and tells one that it has.
pub(crate) fn barrier(dependencies: &[Handle], completion: Option<Handle>) -> Packet {
    let dependency = |at: usize| dependencies.get(at).map_or(0, |signal| signal.0);
    let [a, b, c, d, e] = std::array::from_fn(dependency);
    [u64::from(header::BARRIER), a, b, c, d, e, 0, completion.map_or(0, |signal| signal.0)]
}

/// Signals that a barrier packet waits for.
pub(crate) const BARRIER_DEPENDENCIES: usize = 5;

/// The first word of packets: type, fences, the barrier bit. Fences have the system's scope.
pub(crate) mod header {
    const KERNEL_DISPATCH: u32 = 2;
    const BARRIER_AND: u32 = 3;
    const BARRIER_BIT: u32 = 1 << 8;
    const SYSTEM_FENCES: u32 = 2 << 9 | 2 << 11;
    const DIMENSIONS: u32 = (super::Dispatch::DIMENSIONS as u32) << 16;

    /// A kernel that begins when the packets before it are done.
    pub const DISPATCH: u32 = KERNEL_DISPATCH | BARRIER_BIT | SYSTEM_FENCES | DIMENSIONS;
    /// Waits for signals, and for the packets before it.
    pub const BARRIER: u32 = BARRIER_AND | BARRIER_BIT | SYSTEM_FENCES;
}

/// `hsa_amd_pointer_info_t`, with the fields that it had in ROCm 5.2.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct PointerInfo {
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

/// `hsa_amd_event_t` with what it says of a memory fault.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct SystemEvent {
    pub kind: u32,
    pub agent: Handle,
    pub address: u64,
    pub reasons: u32,
}

/// `HSA_AMD_GPU_MEMORY_FAULT_EVENT`
pub(crate) const MEMORY_FAULT_EVENT: u32 = 0;
/// `HSA_AMD_MEMORY_FAULT_READ_ONLY`: the access was to write.
pub(crate) const FAULT_READ_ONLY: u32 = 2;
/// `HSA_AMD_MEMORY_FAULT_HOST_ONLY`: the memory is the host's.
pub(crate) const FAULT_HOST_ONLY: u32 = 8;

pub(crate) type QueueCallback = extern "C" fn(code: Code, queue: *mut QueueRecord, data: *mut c_void);
pub(crate) type EventCallback = extern "C" fn(event: *const SystemEvent, data: *mut c_void) -> Code;
pub(crate) type VisitHandle = extern "C" fn(handle: Handle, data: *mut c_void) -> Code;

const _: () = assert!(size_of::<QueueRecord>() == 40 && size_of::<PointerInfo>() == 56);

#[cfg(test)]
mod tests {
    use super::*;

    /// The places are those of `hsa.h`.
    #[test]
    fn packets_have_their_fields_in_place() {
        let dispatch = Dispatch {
            workgroup: [1, 2, 3],
            grid: [4, 5, 6],
            private_segment: 7,
            group_segment: 8,
            kernel_object: 9,
            arguments: 10,
            completion: Handle(11),
        };
        let bytes: Vec<u8> = dispatch.packet().into_iter().flat_map(u64::to_le_bytes).collect();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(bytes[..12], [2, 0b1_0101, 3, 0, 1, 0, 2, 0, 3, 0, 0, 0]);
        assert_eq!([12, 16, 20, 24, 28, 32, 40, 56].map(word), [4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(barrier(&[Handle(1), Handle(2)], None), [0x1503, 1, 2, 0, 0, 0, 0, 0]);
        assert_eq!(barrier(&[], Some(Handle(7))), [0x1503, 0, 0, 0, 0, 0, 0, 7]);
    }
}
