//! Properties of objects: `omp_get_interop_{int,ptr,str,name,type_desc}`.
//!
//! There are the properties that OpenMP requires and none of our own. (The number
//! of own ones, `omp_get_num_interop_properties`, and the description of return
//! codes are libomp's.)

use super::object::Interop;
use gangway_backend::{ForeignRuntimeKind, Vendor};
use gangway_frontend::guard::guard;
use std::ffi::{CStr, c_char, c_void};

/// `omp_irc_no_value`: valid, but there is none.
pub const NO_VALUE: i32 = 1;
/// `omp_irc_success`.
pub const SUCCESS: i32 = 0;
/// `omp_irc_empty`: the object is `omp_interop_none`.
pub const EMPTY: i32 = -1;
/// `omp_irc_out_of_range`: there is no such property.
pub const OUT_OF_RANGE: i32 = -2;
/// `omp_irc_type_int`: ask with `omp_get_interop_int`.
pub const TYPE_INT: i32 = -3;
/// `omp_irc_type_ptr`: ask with `omp_get_interop_ptr`.
pub const TYPE_PTR: i32 = -4;
/// `omp_irc_type_str`: ask with `omp_get_interop_str`.
pub const TYPE_STR: i32 = -5;
/// `omp_irc_other`.
pub const OTHER: i32 = -6;

/// `omp_interop_property_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Property {
    ForeignRuntime,
    ForeignRuntimeName,
    Vendor,
    VendorName,
    DeviceNumber,
    Platform,
    Device,
    Context,
    TargetSync,
}

/// The properties from -1 downwards, with their names.
const PROPERTIES: [(Property, &CStr); 9] = [
    (Property::ForeignRuntime, c"fr_id"),
    (Property::ForeignRuntimeName, c"fr_name"),
    (Property::Vendor, c"vendor"),
    (Property::VendorName, c"vendor_name"),
    (Property::DeviceNumber, c"device_num"),
    (Property::Platform, c"platform"),
    (Property::Device, c"device"),
    (Property::Context, c"device_context"),
    (Property::TargetSync, c"targetsync"),
];

fn property(number: i32) -> Option<(Property, &'static CStr)> {
    let index = usize::try_from(-1 - i64::from(number)).ok()?;
    PROPERTIES.get(index).copied()
}

/// The name of a property.
#[must_use]
pub fn name(number: i32) -> Option<&'static CStr> {
    property(number).map(|(_, name)| name)
}

/// A property's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Int(isize),
    Pointer(usize),
    String(&'static CStr),
}

/// The value, or the return code that says why there is none.
fn value(interop: Option<&Interop>, number: i32) -> Result<Value, i32> {
    let interop = interop.ok_or(EMPTY)?;
    let (property, _) = property(number).ok_or(OUT_OF_RANGE)?;
    let foreign = interop.foreign();
    let handle = |handle: Option<usize>| handle.map(Value::Pointer).ok_or(NO_VALUE);
    match property {
        Property::ForeignRuntime => Ok(Value::Int(foreign.kind as isize)),
        Property::ForeignRuntimeName => Ok(Value::String(runtime_name(foreign.kind))),
        Property::Vendor => Ok(Value::Int(foreign.vendor as isize)),
        Property::VendorName => Ok(Value::String(vendor_name(foreign.vendor))),
        Property::DeviceNumber => Ok(Value::Int(interop.device().number() as isize)),
        Property::Platform => handle(foreign.platform),
        Property::Device => handle(foreign.device),
        Property::Context => handle(foreign.context),
        Property::TargetSync => handle(interop.stream()),
    }
}

/// Whose routine has to be asked for a property, of whatever value.
fn routine_for(number: i32) -> i32 {
    match property(number) {
        None => OUT_OF_RANGE,
        Some((Property::ForeignRuntime | Property::Vendor | Property::DeviceNumber, _)) => TYPE_INT,
        Some((Property::ForeignRuntimeName | Property::VendorName, _)) => TYPE_STR,
        Some((Property::Platform | Property::Device | Property::Context | Property::TargetSync, _)) => {
            TYPE_PTR
        }
    }
}

/// Answers a routine: the value if it is of the routine's type.
///
/// # Safety
/// `interop` is `omp_interop_none` or an object, `code` null or a variable.
unsafe fn answer<R>(
    interop: *const Interop,
    number: i32,
    code: *mut i32,
    own_type: i32,
    take: impl FnOnce(Value) -> Option<R>,
) -> Option<R> {
    let found = guard(Err(OTHER), || {
        // SAFETY: the caller's promise.
        let interop = unsafe { interop.as_ref() };
        match routine_for(number) {
            needed if interop.is_some() && needed != own_type => Err(needed),
            _ => value(interop, number),
        }
    });
    let (result, why) = match found {
        Ok(value) => (take(value), SUCCESS),
        Err(why) => (None, why),
    };
    // SAFETY: the caller's promise.
    if let Some(code) = unsafe { code.as_mut() } {
        *code = why;
    }
    result
}

/// An integer property; 0 if there is none, with the reason in `code`.
///
/// # Safety
/// `interop` is `omp_interop_none` or an object, `code` null or a variable.
pub unsafe extern "C" fn omp_get_interop_int(interop: *const Interop, number: i32, code: *mut i32) -> isize {
    let take = |value| if let Value::Int(value) = value { Some(value) } else { None };
    // SAFETY: the caller's promise.
    unsafe { answer(interop, number, code, TYPE_INT, take) }.unwrap_or(0)
}

/// A pointer property; null if there is none, with the reason in `code`.
///
/// # Safety
/// As [`omp_get_interop_int`].
pub unsafe extern "C" fn omp_get_interop_ptr(
    interop: *const Interop,
    number: i32,
    code: *mut i32,
) -> *mut c_void {
    let take = |value| if let Value::Pointer(value) = value { Some(value as *mut c_void) } else { None };
    // SAFETY: the caller's promise.
    unsafe { answer(interop, number, code, TYPE_PTR, take) }.unwrap_or(std::ptr::null_mut())
}

/// A string property; null if there is none, with the reason in `code`.
///
/// # Safety
/// As [`omp_get_interop_int`].
pub unsafe extern "C" fn omp_get_interop_str(
    interop: *const Interop,
    number: i32,
    code: *mut i32,
) -> *const c_char {
    let take = |value| if let Value::String(value) = value { Some(value.as_ptr()) } else { None };
    // SAFETY: the caller's promise.
    unsafe { answer(interop, number, code, TYPE_STR, take) }.unwrap_or(std::ptr::null())
}

/// The name of a property; null if the object or the property is none.
///
/// # Safety
/// As [`omp_get_interop_int`].
pub unsafe extern "C" fn omp_get_interop_name(interop: *const Interop, number: i32) -> *const c_char {
    guard(std::ptr::null(), || match property(number) {
        Some((_, name)) if !interop.is_null() => name.as_ptr(),
        _ => std::ptr::null(),
    })
}

/// The type of a property, in words for people; null if the object or the
/// property is none.
///
/// # Safety
/// As [`omp_get_interop_int`].
pub unsafe extern "C" fn omp_get_interop_type_desc(interop: *const Interop, number: i32) -> *const c_char {
    guard(std::ptr::null(), || {
        // SAFETY: the caller's promise.
        let interop = unsafe { interop.as_ref() };
        match (interop, property(number)) {
            (Some(interop), Some((property, _))) => type_of(property, interop.foreign().kind).as_ptr(),
            _ => std::ptr::null(),
        }
    })
}

/// OpenMP Additional Definitions: how each foreign runtime calls its things.
fn type_of(property: Property, runtime: ForeignRuntimeKind) -> &'static CStr {
    use ForeignRuntimeKind::{Cuda, CudaDriver, Hip, Hsa, LevelZero, OpenCl, Sycl};
    match (property, runtime) {
        (Property::ForeignRuntime, _) => c"omp_interop_fr_t",
        (Property::Vendor | Property::DeviceNumber, _) => c"int",
        (Property::ForeignRuntimeName | Property::VendorName, _) => c"const char *",
        (Property::Platform, OpenCl) => c"cl_platform_id",
        (Property::Platform, Sycl) => c"sycl::platform *",
        (Property::Platform, LevelZero) => c"ze_driver_handle_t",
        (Property::Device, Cuda) => c"int",
        (Property::Device, CudaDriver) => c"CUdevice",
        (Property::Device, OpenCl) => c"cl_device_id",
        (Property::Device, Sycl) => c"sycl::device *",
        (Property::Device, Hip) => c"hipDevice_t",
        (Property::Device, LevelZero) => c"ze_device_handle_t",
        (Property::Device, Hsa) => c"hsa_agent_t *",
        (Property::Context, CudaDriver) => c"CUcontext",
        (Property::Context, OpenCl) => c"cl_context",
        (Property::Context, Sycl) => c"sycl::context *",
        (Property::Context, Hip) => c"hipCtx_t",
        (Property::Context, LevelZero) => c"ze_context_handle_t",
        (Property::TargetSync, Cuda) => c"cudaStream_t",
        (Property::TargetSync, CudaDriver) => c"CUstream",
        (Property::TargetSync, OpenCl) => c"cl_command_queue",
        (Property::TargetSync, Sycl) => c"sycl::queue *",
        (Property::TargetSync, Hip) => c"hipStream_t",
        (Property::TargetSync, LevelZero) => c"ze_command_queue_handle_t",
        (Property::TargetSync, Hsa) => c"hsa_queue_t *",
        (Property::Platform, Cuda | CudaDriver | Hip | Hsa) | (Property::Context, Cuda | Hsa) => c"void *",
    }
}

fn runtime_name(runtime: ForeignRuntimeKind) -> &'static CStr {
    match runtime {
        ForeignRuntimeKind::Cuda => c"cuda",
        ForeignRuntimeKind::CudaDriver => c"cuda_driver",
        ForeignRuntimeKind::OpenCl => c"opencl",
        ForeignRuntimeKind::Sycl => c"sycl",
        ForeignRuntimeKind::Hip => c"hip",
        ForeignRuntimeKind::LevelZero => c"level_zero",
        ForeignRuntimeKind::Hsa => c"hsa",
    }
}

fn vendor_name(vendor: Vendor) -> &'static CStr {
    match vendor {
        Vendor::Amd => c"amd",
        Vendor::Arm => c"arm",
        Vendor::Bsc => c"bsc",
        Vendor::Fujitsu => c"fujitsu",
        Vendor::Gnu => c"gnu",
        Vendor::Hpe => c"hpe",
        Vendor::Ibm => c"ibm",
        Vendor::Intel => c"intel",
        Vendor::Llvm => c"llvm",
        Vendor::Nec => c"nec",
        Vendor::Nvidia => c"nvidia",
        Vendor::Ti => c"ti",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_in_the_header() {
        assert_eq!(property(-1).unwrap().0, Property::ForeignRuntime);
        assert_eq!(property(-5).unwrap().0, Property::DeviceNumber);
        assert_eq!(property(-9).unwrap().0, Property::TargetSync);
        assert_eq!([0, 1, -10, i32::MIN, i32::MAX].map(property), [None; 5]);
    }

    #[test]
    fn the_right_routine_for_each() {
        assert_eq!([-1, -3, -5].map(routine_for), [TYPE_INT; 3]);
        assert_eq!([-2, -4].map(routine_for), [TYPE_STR; 2]);
        assert_eq!([-6, -7, -8, -9].map(routine_for), [TYPE_PTR; 4]);
        assert_eq!(routine_for(-10), OUT_OF_RANGE);
    }
}
