//! `gangway/rtl.h` in Rust: the types that cross to C, and the table of functions.
//!
//! The header is what back ends are written against; this must say the same. The
//! layout is pinned below, and `tests/header.rs` compares all of it with the header.

use std::ffi::{CStr, c_char, c_void};
use std::mem::offset_of;

/// Major version of the interface; another one is refused.
pub(crate) const VERSION_MAJOR: u32 = 1;

/// The function that tells a library's version. Mandatory, but not in the table:
/// the types of the others are only known once it has been asked.
pub(crate) const VERSION: &CStr = c"gangway_rtl_version";

/// `gangway_rtl_status`.
pub(crate) type Status = i32;
pub(crate) const OK: Status = 0;
pub(crate) const OUT_OF_MEMORY: Status = 1;
pub(crate) const INVALID_IMAGE: Status = 2;
pub(crate) const NO_SUCH_SYMBOL: Status = 3;
pub(crate) const UNSUPPORTED: Status = 4;
pub(crate) const FAILED: Status = 5;

pub(crate) const ASYNCHRONOUS: u64 = 1;
pub(crate) const UNIFIED_MEMORY: u64 = 2;
pub(crate) const PRIVATE_IN_SESSION: u64 = 4;
pub(crate) const PEER_COPY: u64 = 8;
pub(crate) const POOLED_MEMORY: u64 = 16;
pub(crate) const PACKED_TRANSFERS: u64 = 32;
pub(crate) const HOST_CALLS: u64 = 64;
pub(crate) const HOST_CHANNEL: u64 = 128;
pub(crate) const RINGS: u64 = 256;
pub(crate) const MAPPING_NOTICES: u64 = 512;
pub(crate) const PINNED_STAGING: u64 = 1024;

/// A handle of any type.
pub(crate) type Handle = *mut c_void;

/// `gangway_rtl_address`.
pub(crate) type Address = u64;

/// `gangway_rtl_error`.
#[repr(C)]
pub(crate) struct RtlError {
    pub code: i64,
    pub message: [u8; 248],
}

/// `gangway_rtl_session`.
#[repr(C)]
pub(crate) struct RtlSession {
    pub stream: Handle,
    pub words: [u64; 3],
    pub own: *mut c_void,
    pub own_size: usize,
}

/// `gangway_rtl_launch`.
#[repr(C)]
pub(crate) struct RtlLaunch {
    pub size: u32,
    pub argument_count: u32,
    pub arguments: *const u64,
    pub kernel: Handle,
    pub name: *const c_char,
    pub name_length: u64,
    pub source: *const c_char,
    pub teams: [u32; 3],
    pub thread_limit: [u32; 3],
    pub trip_count: u64,
    pub dynamic_group_memory: u32,
    pub by_address: u32,
    pub argument_bytes: u64,
    pub leading_slots: u32,
    pub trailing_slots: u32,
}

pub(crate) const ARGUMENTS_SLOTS: i32 = 0;
pub(crate) const ARGUMENTS_PACKED: i32 = 1;
pub(crate) const ARGUMENTS_DEVICE_TABLE: i32 = 2;

pub(crate) const MODE_UNKNOWN: i32 = 0;
pub(crate) const MODE_GENERIC: i32 = 1;
pub(crate) const MODE_SPMD: i32 = 2;
pub(crate) const MODE_GENERIC_SPMD: i32 = 3;
pub(crate) const MODE_BARE: i32 = 4;

/// `gangway_rtl_parameter`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RtlParameter {
    pub offset: u32,
    pub size: u32,
}

/// `gangway_rtl_kernel_properties`.
#[repr(C)]
pub(crate) struct RtlKernelProperties {
    pub size: u32,
    pub convention: i32,
    pub leading_slots: i32,
    pub trailing_slots: u32,
    pub mode: i32,
    pub max_threads: u32,
    pub static_group_memory: u32,
    pub max_dynamic_group_memory: u32,
    pub environment: Address,
    pub has_environment: u32,
    pub parameter_count: u32,
    pub parameters: *const RtlParameter,
}

impl RtlKernelProperties {
    /// Of a kernel of which the library says nothing.
    pub const UNSAID: Self = Self {
        size: size_of::<Self>() as u32,
        convention: ARGUMENTS_SLOTS,
        leading_slots: -1,
        trailing_slots: 0,
        mode: MODE_UNKNOWN,
        max_threads: 0,
        static_group_memory: 0,
        max_dynamic_group_memory: u32::MAX,
        environment: 0,
        has_environment: 0,
        parameter_count: 0,
        parameters: std::ptr::null(),
    };
}

/// `gangway_rtl_indirect_call`.
#[repr(C)]
pub(crate) struct RtlIndirectCall {
    pub host: u64,
    pub device: Address,
}

/// `gangway_rtl_host_calls`.
#[repr(C)]
pub(crate) struct RtlHostCalls {
    pub size: u32,
    pub has_channel: i32,
    pub channel: Address,
    pub context: *mut c_void,
    pub call: unsafe extern "C" fn(*mut c_void, u64, *mut c_void, usize) -> u32,
    pub ring: unsafe extern "C" fn(*mut c_void),
}

pub(crate) const LINK_UNUSED: i32 = 0;
pub(crate) const LINK_OWN: i32 = 1;
pub(crate) const LINK_GLOBAL: i32 = 2;

pub(crate) const RANGE_MAPPED: i32 = 1;
pub(crate) const RANGE_UNMAPPED: i32 = 2;
pub(crate) const RANGE_USED_IN_PLACE: i32 = 3;

pub(crate) const FOREIGN_PLATFORM: u32 = 1;
pub(crate) const FOREIGN_CONTEXT: u32 = 2;

/// `gangway_rtl_foreign`.
#[repr(C)]
pub(crate) struct RtlForeign {
    pub kind: i32,
    pub vendor: i32,
    pub has_device: i32,
    pub handles: u32,
    pub platform: Handle,
    pub device: Handle,
    pub context: Handle,
}

// SAFETY: the context may be used by any thread, as the header says.
unsafe impl Send for RtlHostCalls {}
// SAFETY: as above.
unsafe impl Sync for RtlHostCalls {}

// Back ends that exist rely on these.
const _: () = {
    assert!(size_of::<RtlError>() == 256 && offset_of!(RtlError, message) == 8);
    assert!(size_of::<RtlSession>() == 48 && offset_of!(RtlSession, words) == 8);
    assert!(offset_of!(RtlSession, own) == 32 && offset_of!(RtlSession, own_size) == 40);
    assert!(size_of::<RtlLaunch>() == 104 && offset_of!(RtlLaunch, argument_bytes) == 88);
    assert!(size_of::<RtlParameter>() == 8);
    assert!(size_of::<RtlKernelProperties>() == 56 && offset_of!(RtlKernelProperties, parameters) == 48);
    assert!(offset_of!(RtlKernelProperties, environment) == 32);
    assert!(offset_of!(RtlLaunch, arguments) == 8 && offset_of!(RtlLaunch, kernel) == 16);
    assert!(offset_of!(RtlLaunch, name) == 24 && offset_of!(RtlLaunch, source) == 40);
    assert!(offset_of!(RtlLaunch, teams) == 48 && offset_of!(RtlLaunch, thread_limit) == 60);
    assert!(size_of::<RtlHostCalls>() == 40 && offset_of!(RtlHostCalls, call) == 24);
    assert!(size_of::<RtlForeign>() == 40 && offset_of!(RtlForeign, platform) == 16);
    assert!(offset_of!(RtlLaunch, trip_count) == 72 && offset_of!(RtlLaunch, dynamic_group_memory) == 80);
};

/// Makes the table of functions: its type, how it is filled, and the names.
macro_rules! functions {
    (
        mandatory { $($m:ident: $m_symbol:literal ($($m_arg:ty),*) $(-> $m_result:ty)?;)* }
        optional { $($o:ident: $o_symbol:literal ($($o_arg:ty),*) $(-> $o_result:ty)?;)* }
    ) => {
        /// The functions of a back end. Those that are optional may be absent.
        pub(crate) struct Functions {
            $(pub $m: unsafe extern "C" fn($($m_arg),*) $(-> $m_result)?,)*
            $(pub $o: Option<unsafe extern "C" fn($($o_arg),*) $(-> $o_result)?>,)*
        }

        impl Functions {
            /// Names of the functions that a back end must and may define.
            pub const MANDATORY: &[&CStr] = &[$($m_symbol),*];
            #[cfg(test)]
            pub const OPTIONAL: &[&CStr] = &[$($o_symbol),*];

            /// Fills the table with what `lookup` finds.
            ///
            /// # Safety
            /// What `lookup` finds are functions of the types in `gangway/rtl.h`.
            ///
            /// # Errors
            /// The mandatory functions that are missing.
            pub unsafe fn find(
                lookup: impl Fn(&CStr) -> Option<std::ptr::NonNull<c_void>>,
            ) -> Result<Self, Vec<&'static CStr>> {
                let missing: Vec<_> =
                    Self::MANDATORY.iter().copied().filter(|name| lookup(name).is_none()).collect();
                if !missing.is_empty() {
                    return Err(missing);
                }
                // SAFETY: `None` and a function's address have the representation of
                // an optional function pointer; the types are the caller's promise.
                unsafe {
                    Ok(Self {
                        $($m: std::mem::transmute::<
                            Option<std::ptr::NonNull<c_void>>,
                            Option<unsafe extern "C" fn($($m_arg),*) $(-> $m_result)?>,
                        >(lookup($m_symbol)).ok_or_else(Vec::new)?,)*
                        $($o: std::mem::transmute::<
                            Option<std::ptr::NonNull<c_void>>,
                            Option<unsafe extern "C" fn($($o_arg),*) $(-> $o_result)?>,
                        >(lookup($o_symbol)),)*
                    })
                }
            }
        }
    };
}

functions! {
    mandatory {
        recognises: c"gangway_rtl_recognises" (*const c_void, usize) -> i32;
        device_count: c"gangway_rtl_device_count" () -> u32;
        open: c"gangway_rtl_open" (u32, *mut Handle, *mut RtlError) -> Status;
        close: c"gangway_rtl_close" (Handle);
        load: c"gangway_rtl_load" (Handle, *const c_void, usize, *mut Handle, *mut RtlError) -> Status;
        unload: c"gangway_rtl_unload" (Handle, Handle);
        kernel_named: c"gangway_rtl_kernel_named"
            (Handle, Handle, *const c_char, *mut Handle, *mut RtlError) -> Status;
        global_named: c"gangway_rtl_global_named"
            (Handle, Handle, *const c_char, usize, *mut Address, *mut RtlError) -> Status;
        allocate: c"gangway_rtl_allocate" (Handle, usize, i32, *mut Address, *mut RtlError) -> Status;
        deallocate: c"gangway_rtl_deallocate" (Handle, Address, i32, *mut RtlError) -> Status;
        copy_to_device: c"gangway_rtl_copy_to_device"
            (Handle, Address, *const c_void, usize, Handle, *mut RtlError) -> Status;
        copy_from_device: c"gangway_rtl_copy_from_device"
            (Handle, *mut c_void, Address, usize, Handle, *mut RtlError) -> Status;
        launch_kernel: c"gangway_rtl_launch_kernel"
            (Handle, *const RtlLaunch, *mut RtlSession, *mut RtlError) -> Status;
    }
    optional {
        create_stream: c"gangway_rtl_create_stream" (Handle, *mut Handle, *mut RtlError) -> Status;
        destroy_stream: c"gangway_rtl_destroy_stream" (Handle, Handle, *mut RtlError) -> Status;
        synchronize: c"gangway_rtl_synchronize" (Handle, Handle, *mut RtlError) -> Status;
        capabilities: c"gangway_rtl_capabilities" (Handle) -> u64;
        why_absent: c"gangway_rtl_why_absent" () -> *const c_char;
        unique_id: c"gangway_rtl_unique_id" (u32, *mut c_char, usize, *mut RtlError) -> Status;
        describe: c"gangway_rtl_describe"
            (Handle, unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char), *mut c_void);
        describe_kernel: c"gangway_rtl_describe_kernel"
            (Handle, Handle, Handle, *mut RtlKernelProperties, *mut RtlError) -> Status;
        fill_slots: c"gangway_rtl_fill_slots"
            (Handle, Handle, *mut RtlSession, *mut u64, u32, *mut u64, u32, *mut RtlError) -> Status;
        kernel_table: c"gangway_rtl_kernel_table"
            (Handle, Handle, *mut RtlSession, u32, *mut *mut u64, *mut i32, *mut Address, *mut RtlError)
            -> Status;
        session_size: c"gangway_rtl_session_size" (Handle) -> usize;
        session_start: c"gangway_rtl_session_start" (Handle, *mut RtlSession, *mut RtlError) -> Status;
        session_end: c"gangway_rtl_session_end" (Handle, *mut RtlSession);
        constructors: c"gangway_rtl_constructors" (Handle, Handle, *mut Handle, usize) -> usize;
        destructors: c"gangway_rtl_destructors" (Handle, Handle, *mut Handle, usize) -> usize;
        indirect_calls: c"gangway_rtl_indirect_calls"
            (Handle, Handle, *const RtlIndirectCall, usize, *mut RtlError) -> Status;
        fitness: c"gangway_rtl_fitness"
            (Handle, *const c_void, usize, *mut u32, *mut RtlError) -> Status;
        copy_between: c"gangway_rtl_copy_between"
            (Handle, u32, Address, Address, usize, Handle, *mut RtlError) -> Status;
        fill: c"gangway_rtl_fill" (Handle, Address, u8, usize, Handle, *mut RtlError) -> Status;
        argument_table: c"gangway_rtl_argument_table"
            (Handle, *mut RtlSession, u32, *mut *mut u64, *mut RtlError) -> Status;
        is_idle: c"gangway_rtl_is_idle" (Handle, Handle, *mut i32, *mut RtlError) -> Status;
        record_event: c"gangway_rtl_record_event" (Handle, Handle, *mut Handle, *mut RtlError) -> Status;
        wait_event: c"gangway_rtl_wait_event" (Handle, Handle, Handle, *mut RtlError) -> Status;
        destroy_event: c"gangway_rtl_destroy_event" (Handle, Handle, *mut RtlError) -> Status;
        on_complete: c"gangway_rtl_on_complete"
            (Handle, Handle, unsafe extern "C" fn(*mut c_void), *mut c_void, *mut RtlError) -> Status;
        allocate_in_stream: c"gangway_rtl_allocate_in_stream"
            (Handle, usize, Handle, *mut Address, *mut RtlError) -> Status;
        deallocate_in_stream: c"gangway_rtl_deallocate_in_stream"
            (Handle, Address, Handle, *mut RtlError) -> Status;
        host_call_link: c"gangway_rtl_host_call_link"
            (Handle, Handle, *mut i32, *mut Address, *mut RtlError) -> Status;
        connect_host_calls: c"gangway_rtl_connect_host_calls"
            (Handle, *const RtlHostCalls, *mut RtlError) -> Status;
        allocate_visible: c"gangway_rtl_allocate_visible"
            (Handle, usize, *mut *mut c_void, *mut Address, *mut RtlError) -> Status;
        deallocate_visible: c"gangway_rtl_deallocate_visible"
            (Handle, *mut c_void, Address, *mut RtlError) -> Status;
        host_range: c"gangway_rtl_host_range" (Handle, *const c_void, usize, i32, Address, Handle);
        pin_host: c"gangway_rtl_pin_host"
            (Handle, *mut c_void, usize, *mut Address, *mut RtlError) -> Status;
        unpin_host: c"gangway_rtl_unpin_host" (Handle, *mut c_void, *mut RtlError) -> Status;
        architecture: c"gangway_rtl_architecture" (Handle) -> *const c_char;
        foreign_runtime: c"gangway_rtl_foreign_runtime" (Handle, *mut RtlForeign, *mut RtlError) -> Status;
        foreign_stream: c"gangway_rtl_foreign_stream" (Handle, Handle) -> Handle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn header_and_table_name_the_same_functions() {
        let header = include_str!("../include/gangway/rtl.h");
        // Declarations start at the beginning of a line.
        let declared: BTreeSet<&str> = header
            .lines()
            .filter_map(|line| line.strip_prefix("GANGWAY_RTL_API "))
            .filter_map(|line| line.split_once('(').map(|(head, _)| head))
            .filter_map(|head| head.rsplit([' ', '*']).next())
            .collect();
        let table: BTreeSet<&str> = [&[VERSION], Functions::MANDATORY, Functions::OPTIONAL]
            .concat()
            .into_iter()
            .map(|name| name.to_str().unwrap())
            .collect();
        assert_eq!(declared, table);
    }

    #[test]
    fn version_is_the_headers() {
        let header = include_str!("../include/gangway/rtl.h");
        assert!(header.contains(&format!("#define GANGWAY_RTL_VERSION_MAJOR {VERSION_MAJOR}\n")));
        // The header of version 1.0, which the tests compile against, stays as it is.
        let first = include_str!("../tests/null/v1/gangway/rtl.h");
        assert!(first.contains("#define GANGWAY_RTL_VERSION_MINOR 0\n"));
    }
}
