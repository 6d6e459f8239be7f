//! Where the code runs.
//!
//! clang answers `omp_is_initial_device` while compiling; flang leaves a call,
//! and the image would take libomp's function, which answers for the host.

use core::ffi::c_int;

use crate::hidden;
use crate::thread;

/// Whether the caller runs on the host: 0 in an image, since code of an image
/// runs only in kernels.
///
/// If the archive was put on the command line of the host's link too, the host
/// program may get this function as well. No kernel of its own ever begins in
/// it, so the answer is right there too.
#[unsafe(no_mangle)]
pub extern "C" fn omp_is_initial_device() -> c_int {
    c_int::from(!thread::any_kernel_began())
}

hidden!(omp_is_initial_device);
