//! What the host tells the image about the device.

use crate::target;
use core::cell::UnsafeCell;
use core::ffi::{c_char, c_void};

/// LLVM 22's `DeviceEnvironmentTy`.
#[repr(C)]
pub struct DeviceEnvironment {
    /// Which checks are on: bits of [`kind`](crate::debug).
    pub debug_kind: u32,
    pub devices: u32,
    pub device: u32,
    pub dynamic_shared_bytes: u32,
    /// Hertz.
    pub clock_frequency: u64,
    pub indirect_calls: *const IndirectCall,
    pub indirect_call_count: u64,
    pub hardware_parallelism: u64,
}

/// A function of the host's, and the device's of that name. The table is sorted by the first.
#[repr(C)]
pub struct IndirectCall {
    pub host: *mut c_void,
    pub device: *mut c_void,
}

const _: () = assert!(size_of::<DeviceEnvironment>() == 48);

/// `omp_invalid_device` of clang's `omp.h`.
const INVALID: i32 = -2;

/// A variable that the host writes before the first kernel runs.
#[repr(transparent)]
pub struct WrittenByHost(UnsafeCell<DeviceEnvironment>);

// SAFETY: nobody on the device writes it.
unsafe impl Sync for WrittenByHost {}

/// The host looks it up by this name in each image.
#[unsafe(no_mangle)]
#[cfg_attr(not(target_arch = "amdgpu"), used)]
pub static __omp_rtl_device_environment: WrittenByHost = WrittenByHost(UnsafeCell::new(DeviceEnvironment {
    debug_kind: 0,
    devices: 0,
    device: 0,
    dynamic_shared_bytes: 0,
    clock_frequency: 0,
    indirect_calls: core::ptr::null(),
    indirect_call_count: 0,
    hardware_parallelism: 0,
}));

/// What the host has written.
#[must_use]
#[inline(always)]
pub fn environment() -> &'static DeviceEnvironment {
    // SAFETY: nobody writes it while kernels run.
    unsafe { &*__omp_rtl_device_environment.0.get() }
}

/// The device's function for a pointer that may be the host's.
#[unsafe(no_mangle)]
pub extern "C" fn __llvm_omp_indirect_call_lookup(function: *mut c_void) -> *mut c_void {
    let environment = environment();
    let (mut low, mut high) = (0, environment.indirect_call_count as usize);
    while low < high {
        let middle = low + (high - low) / 2;
        // SAFETY: the table has that many entries.
        let entry = unsafe { &*environment.indirect_calls.add(middle) };
        if entry.host == function {
            return entry.device;
        }
        if (entry.host as usize) < function as usize {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    // It is the device's already.
    function
}

/// The number of the device that runs the kernel.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_device_num() -> i32 {
    environment().device.cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_devices() -> i32 {
    environment().devices.cast_signed()
}

/// The host's number: the one behind the devices.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_initial_device() -> i32 {
    omp_get_num_devices()
}

/// The device itself: what a region on a device asks of others is not defined.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_default_device() -> i32 {
    omp_get_device_num()
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_set_default_device(_: i32) {}

#[unsafe(no_mangle)]
pub extern "C" fn omp_is_initial_device() -> i32 {
    0
}

/// Whether a thread is on a device of a type of OpenACC's (OpenACC 3.3, 3.2.23), which here are the GPUs: 4 is
/// `acc_device_not_host`, the other one is that of the GPU's maker.
#[unsafe(no_mangle)]
pub extern "C" fn acc_on_device(device_type: i32) -> i32 {
    i32::from(device_type == 4 || device_type == target::ACC_DEVICE)
}

/// The text is the host's: device code has none of a device (OpenMP 6.0, 25.9 leaves it to us).
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_uid_from_device(_: i32) -> *const c_char {
    core::ptr::null()
}

/// `omp_invalid_device`: no text is that of a device here.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_device_from_uid(_: *const c_char) -> i32 {
    INVALID
}
