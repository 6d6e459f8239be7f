//! The numbers of `cuda.h` that mean something here: flags, attributes, types and modes, a
//! module for each enumeration.

/// `CUmemorytype`, of a side of a copy.
pub mod memory_type {
    pub const HOST: u32 = 1;
    pub const DEVICE: u32 = 2;
    pub const ARRAY: u32 = 3;
    pub const UNIFIED: u32 = 4;
}

/// `CUctx_flags`
pub mod context_flags {
    /// How a thread waits; at most one of these bits may be set.
    pub const SCHEDULING: u32 = 0x07;
    /// All that there are.
    pub const ALL: u32 = 0xff;
}

/// `CUlimit`
pub mod limit {
    pub const STACK_SIZE: u32 = 0;
    pub const PRINTF_FIFO_SIZE: u32 = 1;
    pub const MALLOC_HEAP_SIZE: u32 = 2;
    pub const MAX_L2_FETCH_GRANULARITY: u32 = 5;
    pub const COUNT: usize = 7;
}

/// `CUdevice_P2PAttribute`
pub mod peer_attribute {
    pub const PERFORMANCE_RANK: u32 = 1;
    pub const ACCESS_SUPPORTED: u32 = 2;
    pub const NATIVE_ATOMIC_SUPPORTED: u32 = 3;
    pub const CUDA_ARRAY_ACCESS_SUPPORTED: u32 = 4;
}

/// Stream handles with a meaning of their own: `CU_STREAM_LEGACY`, `CU_STREAM_PER_THREAD`.
pub mod stream_handle {
    pub const LEGACY: usize = 1;
    pub const PER_THREAD: usize = 2;
}

/// `CUstream_flags`
pub mod stream_flags {
    pub const NON_BLOCKING: u32 = 1;
}

/// `CUstreamAttrID`
pub mod stream_attribute {
    pub const ACCESS_POLICY_WINDOW: u32 = 1;
    pub const SYNCHRONIZATION_POLICY: u32 = 3;
    pub const PRIORITY: u32 = 8;
    pub const MEM_SYNC_DOMAIN_MAP: u32 = 9;
    pub const MEM_SYNC_DOMAIN: u32 = 10;
}

/// `CUstreamCaptureMode`
pub mod capture_mode {
    pub const GLOBAL: u32 = 0;
    pub const THREAD_LOCAL: u32 = 1;
    pub const RELAXED: u32 = 2;
}

/// `CUstreamCaptureStatus`
pub mod capture_status {
    pub const NONE: u32 = 0;
    pub const ACTIVE: u32 = 1;
    pub const INVALIDATED: u32 = 2;
}

/// `CUstreamUpdateCaptureDependencies_flags`
pub mod capture_dependencies {
    pub const ADD: u32 = 0;
    pub const SET: u32 = 1;
}

/// `CUevent_flags`
pub mod event_flags {
    pub const BLOCKING_SYNC: u32 = 1;
    pub const DISABLE_TIMING: u32 = 2;
    pub const INTERPROCESS: u32 = 4;
}

/// `CUevent_record_flags` and `CUevent_wait_flags`
pub mod event_use {
    pub const DEFAULT: u32 = 0;
    /// A node of a graph that records or waits, rather than a place or an edge in it.
    pub const EXTERNAL: u32 = 1;
}

/// `CUstreamBatchMemOpType`
pub mod memory_operation {
    pub const WAIT_32: u32 = 1;
    pub const WRITE_32: u32 = 2;
    pub const FLUSH_REMOTE_WRITES: u32 = 3;
    pub const WAIT_64: u32 = 4;
    pub const WRITE_64: u32 = 5;
    pub const BARRIER: u32 = 6;
}

/// `CUstreamWaitValue_flags`
pub mod wait_value {
    pub const GEQ: u32 = 0;
    pub const EQ: u32 = 1;
    pub const AND: u32 = 2;
    pub const NOR: u32 = 3;
    pub const FLUSH: u32 = 1 << 30;
}

/// `CUstreamWriteValue_flags`
pub mod write_value {
    pub const NO_MEMORY_BARRIER: u32 = 1;
}

/// `CUfunction_attribute`
pub mod function_attribute {
    pub const MAX_THREADS_PER_BLOCK: i32 = 0;
    pub const SHARED_SIZE_BYTES: i32 = 1;
    pub const CONST_SIZE_BYTES: i32 = 2;
    pub const LOCAL_SIZE_BYTES: i32 = 3;
    pub const NUM_REGS: i32 = 4;
    pub const PTX_VERSION: i32 = 5;
    pub const BINARY_VERSION: i32 = 6;
    pub const CACHE_MODE_CA: i32 = 7;
    pub const MAX_DYNAMIC_SHARED_SIZE_BYTES: i32 = 8;
    pub const PREFERRED_SHARED_MEMORY_CARVEOUT: i32 = 9;
    pub const CLUSTER_SIZE_MUST_BE_SET: i32 = 10;
    pub const REQUIRED_CLUSTER_WIDTH: i32 = 11;
    pub const REQUIRED_CLUSTER_DEPTH: i32 = 13;
    pub const CLUSTER_SCHEDULING_POLICY_PREFERENCE: i32 = 15;
}

/// `CUfunc_cache` and `CUsharedconfig`: the last of each.
pub mod last_config {
    pub const CACHE_PREFER_EQUAL: u32 = 3;
    pub const SHARED_EIGHT_BYTE_BANK: u32 = 2;
}

/// `CU_LAUNCH_PARAM_*`: how the array `extra` of a launch is made up.
pub mod launch_extra {
    pub const END: usize = 0;
    pub const BUFFER_POINTER: usize = 1;
    pub const BUFFER_SIZE: usize = 2;
}

/// `CUlaunchAttributeID`
pub mod launch_attribute {
    pub const COOPERATIVE: u32 = 2;
    pub const CLUSTER_DIMENSION: u32 = 4;
    pub const PROGRAMMATIC_EVENT: u32 = 7;
    pub const LAUNCH_COMPLETION_EVENT: u32 = 12;
    pub const LAST: u32 = 14;
}

/// `CUjit_option`
pub mod jit_option {
    pub const MAX_REGISTERS: u32 = 0;
    pub const WALL_TIME: u32 = 2;
    pub const INFO_LOG_BUFFER: u32 = 3;
    pub const INFO_LOG_BUFFER_SIZE_BYTES: u32 = 4;
    pub const ERROR_LOG_BUFFER: u32 = 5;
    pub const ERROR_LOG_BUFFER_SIZE_BYTES: u32 = 6;
    pub const LOG_VERBOSE: u32 = 12;
    pub const LAST: u32 = 33;
}

/// `CUjitInputType`
pub mod jit_input {
    pub const CUBIN: u32 = 0;
    pub const PTX: u32 = 1;
    pub const LIBRARY: u32 = 4;
    pub const NVVM: u32 = 5;
}

/// `CU_MEMHOSTALLOC_*`
pub mod host_alloc {
    pub const DEVICE_MAP: u32 = 0x2;
    /// All flags that there are.
    pub const ALL: u32 = 0x7;
}

/// `CU_MEMHOSTREGISTER_*`
pub mod host_register {
    pub const IO_MEMORY: u32 = 0x4;
    /// All flags that there are: portable, device map, IO memory, read only.
    pub const ALL: u32 = 0xf;
}

/// `CUmemAttach_flags`
pub mod mem_attach {
    pub const GLOBAL: u32 = 1;
    pub const HOST: u32 = 2;
    pub const SINGLE: u32 = 4;
}

/// `CUmemPool_attribute`
pub mod pool_attribute {
    pub const REUSE_FOLLOW_EVENT_DEPENDENCIES: u32 = 1;
    pub const REUSE_ALLOW_INTERNAL_DEPENDENCIES: u32 = 3;
    pub const RELEASE_THRESHOLD: u32 = 4;
    pub const RESERVED_MEM_CURRENT: u32 = 5;
    pub const RESERVED_MEM_HIGH: u32 = 6;
    pub const USED_MEM_CURRENT: u32 = 7;
    pub const USED_MEM_HIGH: u32 = 8;
}

/// `CUmemAllocationType`, of which pools know one.
pub mod allocation_type {
    pub const PINNED: u32 = 1;
}

/// `CUmemLocationType`
pub mod location_type {
    pub const DEVICE: u32 = 1;
}

/// `CUmemAccess_flags`
pub mod access_flags {
    pub const NONE: u32 = 0;
    pub const READ: u32 = 1;
    pub const READ_WRITE: u32 = 3;
}

/// `CUpointer_attribute`
pub mod pointer_attribute {
    pub const CONTEXT: u32 = 1;
    pub const MEMORY_TYPE: u32 = 2;
    pub const DEVICE_POINTER: u32 = 3;
    pub const HOST_POINTER: u32 = 4;
    pub const P2P_TOKENS: u32 = 5;
    pub const SYNC_MEMOPS: u32 = 6;
    pub const BUFFER_ID: u32 = 7;
    pub const IS_MANAGED: u32 = 8;
    pub const DEVICE_ORDINAL: u32 = 9;
    pub const IS_LEGACY_IPC_CAPABLE: u32 = 10;
    pub const RANGE_START_ADDR: u32 = 11;
    pub const RANGE_SIZE: u32 = 12;
    pub const MAPPED: u32 = 13;
    pub const ALLOWED_HANDLE_TYPES: u32 = 14;
    pub const IS_GPU_DIRECT_CAPABLE: u32 = 15;
    pub const ACCESS_FLAGS: u32 = 16;
    pub const MEMPOOL_HANDLE: u32 = 17;
    pub const MAPPING_SIZE: u32 = 18;
    pub const MAPPING_BASE_ADDR: u32 = 19;
    pub const MEMORY_BLOCK_ID: u32 = 20;
    pub const IS_HW_DECOMPRESS_CAPABLE: u32 = 21;
}

/// `CUgraphNodeType`
pub mod node_type {
    pub const KERNEL: u32 = 0;
    pub const COPY: u32 = 1;
    pub const FILL: u32 = 2;
    pub const HOST: u32 = 3;
    pub const GRAPH: u32 = 4;
    pub const EMPTY: u32 = 5;
    pub const WAIT_EVENT: u32 = 6;
    pub const RECORD_EVENT: u32 = 7;
    pub const SIGNAL_SEMAPHORE: u32 = 8;
    pub const ALLOCATE: u32 = 10;
    pub const FREE: u32 = 11;
    pub const MEMORY_OPERATIONS: u32 = 12;
    pub const LAST: u32 = 14;
}

/// `CUgraphMem_attribute`
pub mod graph_memory_attribute {
    pub const USED_MEM_CURRENT: u32 = 0;
    pub const USED_MEM_HIGH: u32 = 1;
    pub const RESERVED_MEM_CURRENT: u32 = 2;
    pub const RESERVED_MEM_HIGH: u32 = 3;
}

/// `CUgraphInstantiate_flags`
pub mod instantiate {
    pub const UPLOAD: u64 = 2;
    pub const DEVICE_LAUNCH: u64 = 4;
    /// All flags that there are: automatic free, the two above, priorities of nodes.
    pub const ALL: u64 = 0xf;
}

/// `CUgraphInstantiateResult`
pub mod instantiate_result {
    pub const SUCCESS: u32 = 0;
    pub const INVALID_STRUCTURE: u32 = 2;
    pub const NODE_OPERATION_NOT_SUPPORTED: u32 = 3;
}

/// `CUgraphExecUpdateResult`
pub mod exec_update {
    pub const SUCCESS: u32 = 0;
    pub const ERROR: u32 = 1;
    pub const ERROR_TOPOLOGY_CHANGED: u32 = 2;
}

/// `CUuserObject_flags` and `CUuserObjectRetain_flags`
pub mod user_object {
    pub const NO_DESTRUCTOR_SYNC: u32 = 1;
    /// The program's references become the graph's.
    pub const MOVE: u32 = 1;
}

/// `CUdriverProcAddress_flags`
pub mod proc_address {
    pub const PER_THREAD_DEFAULT_STREAM: u64 = 2;
    pub const ALL: u64 = 3;
}

/// `CUdriverProcAddressQueryResult`
pub mod proc_address_result {
    pub const SUCCESS: u32 = 0;
    pub const SYMBOL_NOT_FOUND: u32 = 1;
    pub const VERSION_NOT_SUFFICIENT: u32 = 2;
}
