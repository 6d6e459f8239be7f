//! OMPT's types and numbers, as in LLVM 22's `omp-tools.h`.

use std::ffi::{c_char, c_void};

/// `ompt_data_t`: a word that belongs to the tool. In C a union with a pointer.
#[repr(C)]
#[derive(Debug)]
pub struct Data {
    /// The word.
    pub value: u64,
}

const _: () = assert!(size_of::<Data>() == 8);

/// `ompt_function_lookup_t`.
pub type Lookup = unsafe extern "C" fn(*const c_char) -> Option<unsafe extern "C" fn()>;

/// `ompt_start_tool_result_t`.
#[repr(C)]
#[derive(Debug)]
pub struct StartToolResult {
    /// Called when the two sides connect.
    pub initialize: unsafe extern "C" fn(Option<Lookup>, i32, *mut Data) -> i32,
    /// Called when the connection ends.
    pub finalize: unsafe extern "C" fn(*mut Data),
    /// Of no use here.
    pub tool_data: Data,
}

const _: () = assert!(size_of::<StartToolResult>() == 24);

/// `ompt_scope_endpoint_t`.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// `ompt_scope_begin`.
    Begin = 1,
    /// `ompt_scope_end`.
    End = 2,
}

/// `ompt_target_data_op_t`.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataOperation {
    /// `ompt_target_data_alloc`.
    Allocate = 1,
    /// `ompt_target_data_transfer_to_device`.
    ToDevice = 2,
    /// `ompt_target_data_transfer_from_device`.
    FromDevice = 3,
    /// `ompt_target_data_delete`.
    Delete = 4,
    /// `ompt_target_data_associate`.
    Associate = 5,
    /// `ompt_target_data_disassociate`.
    Disassociate = 6,
}

/// `omp_initial_device`, the other "device" of a deletion.
pub const INITIAL_DEVICE: i32 = -1;

/// Numbers of the callbacks (`ompt_callbacks_t`).
pub mod number {
    /// `ompt_callback_target`.
    pub const TARGET: i32 = 8;
    /// `ompt_callback_target_data_op`.
    pub const DATA_OPERATION: i32 = 9;
    /// `ompt_callback_target_submit`.
    pub const SUBMIT: i32 = 10;
    /// `ompt_callback_device_initialize`.
    pub const DEVICE_INITIALIZE: i32 = 12;
    /// `ompt_callback_device_finalize`.
    pub const DEVICE_FINALIZE: i32 = 13;
    /// `ompt_callback_device_load`.
    pub const DEVICE_LOAD: i32 = 14;
    /// `ompt_callback_target_emi`.
    pub const TARGET_EMI: i32 = 33;
    /// `ompt_callback_target_data_op_emi`.
    pub const DATA_OPERATION_EMI: i32 = 34;
    /// `ompt_callback_target_submit_emi`.
    pub const SUBMIT_EMI: i32 = 35;
}

/// `ompt_callback_target_t`: kind, endpoint, device, task, region, return address.
pub type Target = unsafe extern "C" fn(i32, Endpoint, i32, *mut Data, u64, *const c_void);
/// `ompt_callback_target_emi_t`: kind, endpoint, device, task, target task, region,
/// return address.
pub type TargetEmi = unsafe extern "C" fn(i32, Endpoint, i32, *mut Data, *mut Data, *mut Data, *const c_void);
/// `ompt_callback_target_data_op_t`: region, operation, kind, source and its
/// device, destination and its device, bytes, return address.
pub type DataOp =
    unsafe extern "C" fn(u64, u64, DataOperation, *mut c_void, i32, *mut c_void, i32, usize, *const c_void);
/// `ompt_callback_target_data_op_emi_t`: endpoint, target task, region, operation,
/// then as [`DataOp`].
pub type DataOpEmi = unsafe extern "C" fn(
    Endpoint,
    *mut Data,
    *mut Data,
    *mut u64,
    DataOperation,
    *mut c_void,
    i32,
    *mut c_void,
    i32,
    usize,
    *const c_void,
);
/// `ompt_callback_target_submit_t`: region, operation, requested teams.
pub type Submit = unsafe extern "C" fn(u64, u64, u32);
/// `ompt_callback_target_submit_emi_t`: endpoint, region, operation, requested teams.
pub type SubmitEmi = unsafe extern "C" fn(Endpoint, *mut Data, *mut u64, u32);
/// `ompt_callback_device_initialize_t`: device, type, handle, look-up for tracing,
/// documentation.
pub type DeviceInitialize =
    unsafe extern "C" fn(i32, *const c_char, *mut c_void, Option<Lookup>, *const c_char);
/// `ompt_callback_device_finalize_t`: device.
pub type DeviceFinalize = unsafe extern "C" fn(i32);
/// `ompt_callback_device_load_t`: device, file, offset and address in it, bytes,
/// host address, device address, module.
pub type DeviceLoad =
    unsafe extern "C" fn(i32, *const c_char, i64, *mut c_void, usize, *mut c_void, *mut c_void, u64);
/// `ompt_get_callback_t`.
pub type GetCallback = unsafe extern "C" fn(i32, *mut Option<unsafe extern "C" fn()>) -> i32;
/// `ompt_get_task_data_t`, and libomp's `ompt_get_target_task_data`.
pub type GetTaskData = unsafe extern "C" fn() -> *mut Data;
