//! The library's functions, one line each. All of them are older than ROCm 5.

use super::types::{Code, EventCallback, Handle, PointerInfo, QueueCallback, QueueRecord, VisitHandle};
use std::ffi::{CStr, c_char, c_void};

macro_rules! functions {
    ($($field:ident = $name:literal ($($parameter:ident: $type:ty),* $(,)?) $(-> $answer:ty)?;)*) => {
        /// The functions. Each answers an `hsa_status_t` unless it says otherwise.
        #[derive(Clone, Copy)]
        pub(crate) struct Api {
            $(pub(crate) $field: functions!(@type ($($type),*) $(-> $answer)?),)*
        }

        impl Api {
            /// Looks all functions up.
            ///
            /// # Errors
            /// One is missing: its name.
            pub(crate) fn load(find: &dyn Fn(&CStr) -> *mut c_void) -> Result<Self, &'static CStr> {
                Ok(Self {$(
                    $field: {
                        let address = find($name);
                        if address.is_null() {
                            return Err($name);
                        }
                        // SAFETY: `hsa.h` and `hsa_ext_amd.h` declare this type for the name.
                        unsafe {
                            std::mem::transmute::<*mut c_void, functions!(@type ($($type),*) $(-> $answer)?)>(
                                address,
                            )
                        }
                    },
                )*})
            }
        }
    };
    (@type ($($type:ty),*)) => { unsafe extern "C" fn($($type),*) -> Code };
    (@type ($($type:ty),*) -> $answer:ty) => { unsafe extern "C" fn($($type),*) -> $answer };
}

functions! {
    init = c"hsa_init"();
    status_string = c"hsa_status_string"(code: Code, text: *mut *const c_char);
    system_get_info = c"hsa_system_get_info"(attribute: u32, value: *mut c_void);
    register_event_handler =
        c"hsa_amd_register_system_event_handler"(callback: EventCallback, data: *mut c_void);

    iterate_agents = c"hsa_iterate_agents"(visit: VisitHandle, data: *mut c_void);
    agent_get_info = c"hsa_agent_get_info"(agent: Handle, attribute: u32, value: *mut c_void);

    iterate_pools =
        c"hsa_amd_agent_iterate_memory_pools"(agent: Handle, visit: VisitHandle, data: *mut c_void);
    pool_get_info = c"hsa_amd_memory_pool_get_info"(pool: Handle, attribute: u32, value: *mut c_void);
    pool_allocate =
        c"hsa_amd_memory_pool_allocate"(pool: Handle, bytes: usize, flags: u32, pointer: *mut *mut c_void);
    pool_free = c"hsa_amd_memory_pool_free"(pointer: *mut c_void);
    allow_access = c"hsa_amd_agents_allow_access"(
        count: u32,
        agents: *const Handle,
        flags: *const u32,
        pointer: *const c_void,
    );
    memory_fill = c"hsa_amd_memory_fill"(pointer: *mut c_void, value: u32, count: usize);
    memory_copy = c"hsa_memory_copy"(to: *mut c_void, from: *const c_void, bytes: usize);
    memory_copy_async = c"hsa_amd_memory_async_copy"(
        to: *mut c_void,
        to_agent: Handle,
        from: *const c_void,
        from_agent: Handle,
        bytes: usize,
        dependency_count: u32,
        dependencies: *const Handle,
        completion: Handle,
    );
    memory_lock = c"hsa_amd_memory_lock"(
        host: *mut c_void,
        bytes: usize,
        agents: *mut Handle,
        agent_count: i32,
        device: *mut *mut c_void,
    );
    memory_unlock = c"hsa_amd_memory_unlock"(host: *mut c_void);
    pointer_info = c"hsa_amd_pointer_info"(
        pointer: *const c_void,
        info: *mut PointerInfo,
        allocate: *mut c_void,
        agent_count: *mut u32,
        agents: *mut *mut Handle,
    );

    signal_create =
        c"hsa_signal_create"(value: i64, consumer_count: u32, consumers: *const Handle, signal: *mut Handle);
    signal_destroy = c"hsa_signal_destroy"(signal: Handle);
    signal_store_relaxed = c"hsa_signal_store_relaxed"(signal: Handle, value: i64) -> ();
    signal_store_release = c"hsa_signal_store_screlease"(signal: Handle, value: i64) -> ();
    signal_load = c"hsa_signal_load_scacquire"(signal: Handle) -> i64;
    signal_wait = c"hsa_signal_wait_scacquire"(
        signal: Handle,
        condition: u32,
        value: i64,
        timeout: u64,
        wait_state: u32,
    ) -> i64;

    queue_create = c"hsa_queue_create"(
        agent: Handle,
        size: u32,
        kind: u32,
        callback: QueueCallback,
        data: *mut c_void,
        private_segment: u32,
        group_segment: u32,
        queue: *mut *mut QueueRecord,
    );
    queue_destroy = c"hsa_queue_destroy"(queue: *mut QueueRecord);
    queue_add_write_index = c"hsa_queue_add_write_index_relaxed"(queue: *const QueueRecord, by: u64) -> u64;
    queue_read_index = c"hsa_queue_load_read_index_scacquire"(queue: *const QueueRecord) -> u64;

    reader_create = c"hsa_code_object_reader_create_from_memory"(
        code: *const c_void,
        bytes: usize,
        reader: *mut Handle,
    );
    reader_destroy = c"hsa_code_object_reader_destroy"(reader: Handle);
    executable_create = c"hsa_executable_create_alt"(
        profile: u32,
        rounding: u32,
        options: *const c_char,
        executable: *mut Handle,
    );
    executable_destroy = c"hsa_executable_destroy"(executable: Handle);
    executable_load = c"hsa_executable_load_agent_code_object"(
        executable: Handle,
        agent: Handle,
        reader: Handle,
        options: *const c_char,
        loaded: *mut Handle,
    );
    executable_freeze = c"hsa_executable_freeze"(executable: Handle, options: *const c_char);
    executable_symbol = c"hsa_executable_get_symbol_by_name"(
        executable: Handle,
        name: *const c_char,
        agent: *const Handle,
        symbol: *mut Handle,
    );
    symbol_get_info =
        c"hsa_executable_symbol_get_info"(symbol: Handle, attribute: u32, value: *mut c_void);
}
