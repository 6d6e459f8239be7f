//! LLVM's extensions of OpenMP's routines.

use crate::libomp::Libomp;
use crate::words::WORDS;
use gangway_backend::AllocationKind;
use gangway_frontend::guard::guard;
use gangway_frontend::words::Told;
use gangway_frontend::{information, message};
use gangway_openmp::devices::{Named, named};
use gangway_openmp::memory as routines;
use gangway_runtime::memory;
use std::ffi::c_void;

/// Generates an allocation routine and its counterpart.
macro_rules! allocators {
    ($($allocate:ident, $free:ident: $kind:ident;)*) => {$(
        /// Allocates `size` bytes; null if there is no room.
        pub extern "C" fn $allocate(size: usize, device: i32) -> *mut c_void {
            routines::allocate::<Libomp>(size, device, AllocationKind::$kind)
        }

        /// Frees what the routine of the same kind allocated.
        ///
        /// # Safety
        /// The memory is not in use.
        pub unsafe extern "C" fn $free(pointer: *mut c_void, device: i32) {
            // SAFETY: the caller's promise.
            unsafe { routines::free::<Libomp>(pointer, device, AllocationKind::$kind) }
        }
    )*};
}

allocators! {
    llvm_omp_target_alloc_device, llvm_omp_target_free_device: Device;
    llvm_omp_target_alloc_host, llvm_omp_target_free_host: Host;
    llvm_omp_target_alloc_shared, llvm_omp_target_free_shared: Shared;
}

/// Dynamic group memory; there is none on the host.
pub extern "C" fn llvm_omp_target_dynamic_shared_alloc() -> *mut c_void {
    std::ptr::null_mut()
}

/// What device code calls for a pointer to a function of the host. A CPU device is this process, and calls
/// the function itself.
///
/// clang 23 has its x86-64 images call it for virtual functions, too, and LLVM has it for GPUs alone. Images
/// are linked with the program's libraries, so that they find it here.
pub extern "C" fn __llvm_omp_indirect_call_lookup(function: *mut c_void) -> *mut c_void {
    function
}

/// Pins host memory for a device; answers its address there, null if that cannot
/// be done.
///
/// # Safety
/// The range is valid until unlocked.
pub unsafe extern "C" fn llvm_omp_target_lock_mem(
    pointer: *mut c_void,
    size: usize,
    device: i32,
) -> *mut c_void {
    guard(std::ptr::null_mut(), || {
        if size == 0 {
            return std::ptr::null_mut();
        }
        let Named::Device(device) = named::<Libomp>(device) else { return pointer };
        // SAFETY: the caller's promise.
        match unsafe { memory::pin(device, pointer.addr(), size) } {
            Ok(address) => address.0 as *mut c_void,
            Err(error) => {
                message::debug(format_args!("{}", Told(&error, WORDS)));
                std::ptr::null_mut()
            }
        }
    })
}

/// Undoes [`llvm_omp_target_lock_mem`].
///
/// # Safety
/// The memory was locked and is not in use.
pub unsafe extern "C" fn llvm_omp_target_unlock_mem(pointer: *mut c_void, device: i32) {
    guard((), || {
        let Named::Device(device) = named::<Libomp>(device) else { return };
        // SAFETY: the caller's promise.
        if let Err(error) = unsafe { memory::unpin(device, pointer.addr()) } {
            message::debug(format_args!("{}", Told(&error, WORDS)));
        }
    });
}

/// Prints the present tables of all devices to standard output.
pub extern "C" fn ompx_dump_mapping_tables() {
    guard((), information::dump_tables_to_stdout);
}

/// Changes what `LIBOMPTARGET_INFO` tells while the program runs.
pub extern "C" fn __tgt_set_info_flag(level: u32) {
    guard((), || information::set_level(level));
}
