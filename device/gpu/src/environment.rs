//! What the host, the compiler and the runtime tell each other: LLVM 22's structures.

use core::ffi::c_void;

/// A place in the program: LLVM's `ident_t`.
#[repr(C)]
pub struct Location {
    reserved_1: i32,
    pub flags: i32,
    reserved_2: i32,
    reserved_3: i32,
    /// `;file;function;line;column;;`
    pub text: *const u8,
}

/// How a kernel's threads run: `OMPTgtExecModeFlags`.
pub mod mode {
    pub const GENERIC: u8 = 1;
    /// All threads run the kernel from its start.
    pub const SPMD: u8 = 2;
}

/// What the compiler knows of a kernel: `ConfigurationEnvironmentTy`.
#[repr(C)]
pub struct Configuration {
    pub use_generic_state_machine: u8,
    pub may_use_nested_parallelism: u8,
    pub mode: u8,
    pub least_threads: i32,
    pub most_threads: i32,
    pub least_teams: i32,
    pub most_teams: i32,
    /// Bytes of a team's partial results in a reduction across teams.
    pub reduction_data_size: i32,
    pub reduction_buffer_length: i32,
}

/// The constant that clang emits beside a kernel: `KernelEnvironmentTy`.
#[repr(C)]
pub struct KernelEnvironment {
    pub configuration: Configuration,
    pub location: *const Location,
    pub dynamic: *mut c_void,
}

/// What the host makes for a launch: `KernelLaunchEnvironmentTy`. Its address is a kernel's first
/// parameter, and null where the launch needs none.
#[repr(C)]
pub struct LaunchEnvironment {
    pub reduction_count: u32,
    pub reduction_iteration_count: u32,
    pub reduction_buffer: *mut c_void,
}

const _: () = {
    assert!(size_of::<Location>() == 24);
    assert!(size_of::<Configuration>() == 28);
    assert!(size_of::<KernelEnvironment>() == 48);
    assert!(size_of::<LaunchEnvironment>() == 16);
};
