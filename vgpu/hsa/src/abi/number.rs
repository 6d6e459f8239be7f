//! The numbers of attributes, flags and conditions.

/// Declares constants of one family.
macro_rules! numbers {
    ($($(#[$doc:meta])* $family:ident: $($name:ident = $number:literal),+;)+) => {
        $(
            $(#[$doc])*
            pub mod $family {
                $(pub const $name: u32 = $number;)+
            }
        )+
    };
}

numbers! {
    /// `hsa_system_info_t`
    system: VERSION_MAJOR = 0, VERSION_MINOR = 1, TIMESTAMP = 2, TIMESTAMP_FREQUENCY = 3, SIGNAL_MAX_WAIT = 4,
        ENDIANNESS = 5, MACHINE_MODEL = 6, EXTENSIONS = 7, BUILD_VERSION = 0x200, SVM_SUPPORTED = 0x201,
        SVM_ACCESSIBLE_BY_DEFAULT = 0x202, MWAITX_ENABLED = 0x203, DMABUF_SUPPORTED = 0x204,
        VIRTUAL_MEM_API_SUPPORTED = 0x205, XNACK_ENABLED = 0x206, EXT_VERSION_MAJOR = 0x207,
        EXT_VERSION_MINOR = 0x208;
    /// `hsa_agent_info_t`
    agent: NAME = 0, VENDOR_NAME = 1, FEATURE = 2, MACHINE_MODEL = 3, PROFILE = 4, DEFAULT_FLOAT_ROUNDING_MODE = 5,
        WAVEFRONT_SIZE = 6, WORKGROUP_MAX_DIM = 7, WORKGROUP_MAX_SIZE = 8, GRID_MAX_DIM = 9, GRID_MAX_SIZE = 10,
        FBARRIER_MAX_SIZE = 11, QUEUES_MAX = 12, QUEUE_MIN_SIZE = 13, QUEUE_MAX_SIZE = 14, QUEUE_TYPE = 15,
        NODE = 16, DEVICE = 17, CACHE_SIZE = 18, ISA = 19, EXTENSIONS = 20, VERSION_MAJOR = 21, VERSION_MINOR = 22,
        BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES = 23, FAST_F16_OPERATION = 24;
    /// `hsa_amd_agent_info_t`
    amd_agent: CHIP_ID = 0xA000, CACHELINE_SIZE = 0xA001, COMPUTE_UNIT_COUNT = 0xA002, MAX_CLOCK_FREQUENCY = 0xA003,
        DRIVER_NODE_ID = 0xA004, MAX_ADDRESS_WATCH_POINTS = 0xA005, BDFID = 0xA006, MEMORY_WIDTH = 0xA007,
        MEMORY_MAX_FREQUENCY = 0xA008, PRODUCT_NAME = 0xA009, MAX_WAVES_PER_CU = 0xA00A, NUM_SIMDS_PER_CU = 0xA00B,
        NUM_SHADER_ENGINES = 0xA00C, NUM_SHADER_ARRAYS_PER_SE = 0xA00D, HDP_FLUSH = 0xA00E, DOMAIN = 0xA00F,
        COOPERATIVE_QUEUES = 0xA010, UUID = 0xA011, ASIC_REVISION = 0xA012, SVM_DIRECT_HOST_ACCESS = 0xA013,
        COOPERATIVE_COMPUTE_UNIT_COUNT = 0xA014, MEMORY_AVAIL = 0xA015, TIMESTAMP_FREQUENCY = 0xA016,
        ASIC_FAMILY_ID = 0xA107, UCODE_VERSION = 0xA108, SDMA_UCODE_VERSION = 0xA109, NUM_SDMA_ENG = 0xA10A,
        NUM_SDMA_XGMI_ENG = 0xA10B, IOMMU_SUPPORT = 0xA110, NUM_XCC = 0xA111, DRIVER_UID = 0xA112,
        NEAREST_CPU = 0xA113, MEMORY_PROPERTIES = 0xA114, AQL_EXTENSIONS = 0xA115, SCRATCH_LIMIT_MAX = 0xA116,
        SCRATCH_LIMIT_CURRENT = 0xA117, CLOCK_COUNTERS = 0xA118;
    /// `hsa_cache_info_t`
    cache: NAME_LENGTH = 0, NAME = 1, LEVEL = 2, SIZE = 3;
    /// `hsa_isa_info_t`
    isa: NAME_LENGTH = 0, NAME = 1, CALL_CONVENTION_COUNT = 2, CALL_CONVENTION_WAVEFRONT_SIZE = 3,
        CALL_CONVENTION_WAVEFRONTS_PER_COMPUTE_UNIT = 4, MACHINE_MODELS = 5, PROFILES = 6,
        DEFAULT_FLOAT_ROUNDING_MODES = 7, BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES = 8, FAST_F16_OPERATION = 9,
        WORKGROUP_MAX_DIM = 12, WORKGROUP_MAX_SIZE = 13, GRID_MAX_DIM = 14, GRID_MAX_SIZE = 16,
        FBARRIER_MAX_SIZE = 17;
    /// `hsa_region_info_t` with AMD's additions, and `hsa_amd_memory_pool_info_t`
    region: SEGMENT = 0, GLOBAL_FLAGS = 1, SIZE = 2, ALLOC_MAX_SIZE = 4, RUNTIME_ALLOC_ALLOWED = 5,
        RUNTIME_ALLOC_GRANULE = 6, RUNTIME_ALLOC_ALIGNMENT = 7, ALLOC_MAX_PRIVATE_WORKGROUP_SIZE = 8,
        HOST_ACCESSIBLE = 0xA000, BASE = 0xA001, BUS_WIDTH = 0xA002, MAX_CLOCK_FREQUENCY = 0xA003,
        POOL_ACCESSIBLE_BY_ALL = 15, POOL_ALLOC_MAX_SIZE = 16, POOL_LOCATION = 17, POOL_REC_GRANULE = 18;
    /// `hsa_region_segment_t`
    segment: GLOBAL = 0, READONLY = 1, PRIVATE = 2, GROUP = 3, KERNARG = 4;
    /// `hsa_region_global_flag_t`
    global: KERNARG = 1, FINE_GRAINED = 2, COARSE_GRAINED = 4;
    /// `hsa_amd_agent_memory_pool_info_t`
    agent_pool: ACCESS = 0, NUM_LINK_HOPS = 1, LINK_INFO = 2;
    /// `hsa_amd_memory_pool_access_t`
    access: NEVER_ALLOWED = 0, ALLOWED_BY_DEFAULT = 1, DISALLOWED_BY_DEFAULT = 2;
    /// `hsa_amd_link_info_type_t`
    link: PCIE = 2, XGMI = 4;
    /// `hsa_amd_pointer_type_t`
    pointer: UNKNOWN = 0, HSA = 1, LOCKED = 2;
    /// `hsa_signal_condition_t`
    condition: EQ = 0, NE = 1, LT = 2, GTE = 3;
    /// `hsa_queue_type_t`
    queue: MULTI = 0, SINGLE = 1, COOPERATIVE = 2;
    /// `hsa_queue_feature_t` and `hsa_agent_feature_t`
    feature: KERNEL_DISPATCH = 1, AGENT_DISPATCH = 2;
    /// `hsa_executable_info_t`
    executable: PROFILE = 1, STATE = 2, DEFAULT_FLOAT_ROUNDING_MODE = 3;
    /// `hsa_executable_symbol_info_t`
    symbol: TYPE = 0, NAME_LENGTH = 1, NAME = 2, MODULE_NAME_LENGTH = 3, MODULE_NAME = 4, LINKAGE = 5,
        VARIABLE_ALLOCATION = 6, VARIABLE_SEGMENT = 7, VARIABLE_ALIGNMENT = 8, VARIABLE_SIZE = 9,
        VARIABLE_IS_CONST = 10, KERNEL_KERNARG_SEGMENT_SIZE = 11, KERNEL_KERNARG_SEGMENT_ALIGNMENT = 12,
        KERNEL_GROUP_SEGMENT_SIZE = 13, KERNEL_PRIVATE_SEGMENT_SIZE = 14, KERNEL_DYNAMIC_CALLSTACK = 15,
        IS_DEFINITION = 17, KERNEL_CALL_CONVENTION = 18, AGENT = 20, VARIABLE_ADDRESS = 21, KERNEL_OBJECT = 22;
    /// `hsa_symbol_kind_t`
    symbol_kind: VARIABLE = 0, KERNEL = 1;
    /// `hsa_symbol_linkage_t`
    linkage: MODULE = 0, PROGRAM = 1;
    /// `hsa_code_object_info_t`
    code_object: VERSION = 0, TYPE = 1, ISA = 2, MACHINE_MODEL = 3, PROFILE = 4, DEFAULT_FLOAT_ROUNDING_MODE = 5;
    /// `hsa_default_float_rounding_mode_t`
    rounding: DEFAULT = 0, ZERO = 1, NEAR = 2;
    /// `hsa_profile_t`
    profile: BASE = 0, FULL = 1;
    /// `hsa_device_type_t`
    device: CPU = 0, GPU = 1;
    /// `hsa_amd_memory_fault_reason_t`
    fault_reason: PAGE_NOT_PRESENT = 1, READ_ONLY = 2, NX = 4, HOST_ONLY = 8;
    /// Extensions (`hsa_extension_t`).
    extension: FINALIZER = 0, IMAGES = 1, PERFORMANCE_COUNTERS = 2, PROFILING_EVENTS = 3, AMD_PROFILER = 0x200,
        AMD_LOADER = 0x201, AMD_AQLPROFILE = 0x202;
}
