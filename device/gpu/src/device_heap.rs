//! Memory of the device's heap, for the runtime itself.

use crate::target;
use core::ffi::c_void;

/// Memory of the device's heap; the kernel ends if there is none.
#[must_use]
pub fn allocate(bytes: u64) -> *mut c_void {
    let memory = target::allocate(bytes);
    if memory.is_null() {
        // SAFETY: the texts end with a null byte, and the format has one argument.
        unsafe {
            target::print(
                c"gangway: the device's heap has no %llu bytes left (its size: LIBOMPTARGET_HEAP_SIZE)\n"
                    .as_ptr(),
                (&raw const bytes).cast(),
            );
        }
        target::trap();
    }
    memory
}
