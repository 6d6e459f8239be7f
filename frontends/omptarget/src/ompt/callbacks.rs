//! The tool's callbacks, and the identifiers it is given.
//!
//! Bound once, when libomp connects a tool; read on every event. Where a tool has
//! both variants of a callback, the EMI variant is called and the other is not.

use super::abi::{
    DataOp, DataOpEmi, DeviceFinalize, DeviceInitialize, DeviceLoad, GetCallback, GetTaskData, Lookup,
    Submit, SubmitEmi, Target, TargetEmi, number,
};
use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a tool and libomp gave.
pub struct Callbacks {
    pub target: Option<Target>,
    pub target_emi: Option<TargetEmi>,
    pub data_op: Option<DataOp>,
    pub data_op_emi: Option<DataOpEmi>,
    pub submit: Option<Submit>,
    pub submit_emi: Option<SubmitEmi>,
    pub device_initialize: Option<DeviceInitialize>,
    pub device_finalize: Option<DeviceFinalize>,
    pub device_load: Option<DeviceLoad>,
    /// Data of the task that a thread is in.
    pub task_data: Option<GetTaskData>,
    /// Data of the target task that a thread is in.
    pub target_task_data: Option<GetTaskData>,
    /// libomp's look-up function, which `device_initialize` passes on.
    pub lookup: Lookup,
}

static CALLBACKS: OnceLock<Callbacks> = OnceLock::new();
/// Set when libomp has ended the tool: nothing of it may be called any more.
static GONE: AtomicBool = AtomicBool::new(false);

/// The callbacks, while a tool is connected.
#[inline]
pub fn callbacks() -> Option<&'static Callbacks> {
    CALLBACKS.get().filter(|_| !GONE.load(Ordering::Acquire))
}

/// Finds the callbacks that the tool has registered.
///
/// # Safety
/// `lookup` is what libomp passed to `initialize`.
pub unsafe fn bind(lookup: Lookup) {
    // SAFETY: the names are libomp's, the types theirs.
    let (get, task_data, target_task_data) = unsafe {
        (
            function::<GetCallback>(lookup, c"ompt_get_callback"),
            function::<GetTaskData>(lookup, c"ompt_get_task_data"),
            function::<GetTaskData>(lookup, c"ompt_get_target_task_data"),
        )
    };
    let Some(get) = get else { return };
    // SAFETY: each field's type is that of the callback with the number.
    let callbacks = unsafe {
        Callbacks {
            target: callback(get, number::TARGET),
            target_emi: callback(get, number::TARGET_EMI),
            data_op: callback(get, number::DATA_OPERATION),
            data_op_emi: callback(get, number::DATA_OPERATION_EMI),
            submit: callback(get, number::SUBMIT),
            submit_emi: callback(get, number::SUBMIT_EMI),
            device_initialize: callback(get, number::DEVICE_INITIALIZE),
            device_finalize: callback(get, number::DEVICE_FINALIZE),
            device_load: callback(get, number::DEVICE_LOAD),
            task_data,
            target_task_data,
            lookup,
        }
    };
    let _ = CALLBACKS.set(callbacks);
}

/// Calls nothing of the tool from now on.
pub fn forget() {
    GONE.store(true, Ordering::Release);
}

/// An identifier that no other region or operation has. 0 means "none".
pub fn next_identifier() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// # Safety
/// `F` is the type of a pointer to the function called `name`.
unsafe fn function<F>(lookup: Lookup, name: &CStr) -> Option<F> {
    // SAFETY: libomp's look-up function; the caller's promise.
    unsafe { lookup(name.as_ptr()).map(|found| cast(found)) }
}

/// # Safety
/// `F` is the type of the callback with this number.
unsafe fn callback<F>(get: GetCallback, which: i32) -> Option<F> {
    let mut found = None;
    // SAFETY: libomp's function; it writes only if the callback is set.
    unsafe { get(which, &raw mut found) };
    // SAFETY: the caller's promise.
    found.map(|found| unsafe { cast(found) })
}

/// # Safety
/// `F` is the function's type.
unsafe fn cast<F>(found: unsafe extern "C" fn()) -> F {
    const { assert!(size_of::<F>() == size_of::<unsafe extern "C" fn()>()) };
    // SAFETY: both are function pointers; the caller's promise.
    unsafe { std::mem::transmute_copy(&found) }
}
