//! What the host, the compiler and the runtime tell each other: the structures of LLVM 22 and 23.

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

/// What the compiler knows of a kernel: `ConfigurationEnvironmentTy`. Up to clang 22 the number of the
/// buffer's slots comes behind it, which nothing here needs.
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
}

/// The constant that clang emits beside a kernel: the beginning of `KernelEnvironmentTy`.
#[repr(C)]
pub struct KernelEnvironment {
    pub configuration: Configuration,
}

/// What the host makes for a launch of a kernel of clang's up to 22: `KernelLaunchEnvironmentTy`. Its
/// address is a kernel's first parameter, and null where the launch needs none.
#[repr(C)]
pub struct LaunchEnvironment {
    pub reduction_count: u32,
    pub reduction_iteration_count: u32,
    pub reduction_buffer: *mut c_void,
}

/// The same from clang 23 on, whose address is a kernel's last parameter.
#[repr(C)]
pub struct LaunchEnvironmentOfClang23 {
    /// A slot for each team of the launch.
    pub reduction_buffer: *mut c_void,
    /// Memory in the place of a team's dynamic one.
    pub replacement: *mut c_void,
    pub reduction_count: u32,
    pub dynamic_shared_bytes: u32,
    pub replaced: u8,
}

const _: () = {
    assert!(size_of::<Location>() == 24);
    assert!(size_of::<Configuration>() == 24);
    assert!(size_of::<LaunchEnvironment>() == 16);
    assert!(size_of::<LaunchEnvironmentOfClang23>() == 32);
    assert!(core::mem::offset_of!(LaunchEnvironmentOfClang23, reduction_count) == 16);
};
