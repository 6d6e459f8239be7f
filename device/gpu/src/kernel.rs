//! Where a kernel starts and ends.

use crate::environment::{KernelEnvironment, LaunchEnvironment, mode};
use crate::target;

/// -1: the thread is to run the kernel's body.
const RUN: i32 = -1;

/// A kernel starts.
///
/// # Safety
/// The compiler passes the environment that it emitted for the kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_target_init(
    environment: *const KernelEnvironment,
    _launch: *mut LaunchEnvironment,
) -> i32 {
    // SAFETY: the compiler passes a valid environment.
    let configuration = unsafe { &(*environment).configuration };
    if configuration.mode & mode::SPMD != 0 {
        return RUN;
    }
    target::trap()
}

/// A kernel ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_target_deinit() {}
