//! What each thread knows of the kernel that it runs.

use crate::environment::{KernelEnvironment, LaunchEnvironment, mode};
use crate::{shared, target};

shared! {
    /// Whether all threads run the kernel's body.
    static SPMD: u8
}

shared! {
    static LAUNCH: *mut LaunchEnvironment
}

shared! {
    static ENVIRONMENT: *const KernelEnvironment
}

/// What the thread is told where the kernel starts.
///
/// # Safety
/// All threads of the block write the same values, before any reads them.
#[inline(always)]
pub unsafe fn set(spmd: bool, launch: *mut LaunchEnvironment, environment: *const KernelEnvironment) {
    // SAFETY: as the caller says.
    unsafe {
        SPMD.set(u8::from(spmd));
        LAUNCH.set(launch);
        ENVIRONMENT.set(environment);
    }
}

/// Whether all threads run the kernel's body.
///
/// LLVM folds it in every function that only kernels of one mode reach, and again where it has been
/// inlined into a kernel: it stays a call.
#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.call"))]
pub extern "C" fn __kmpc_is_spmd_exec_mode() -> i8 {
    // SAFETY: the thread has written it where the kernel starts.
    unsafe { SPMD.get() }.cast_signed()
}

#[must_use]
#[inline(always)]
pub fn is_spmd() -> bool {
    __kmpc_is_spmd_exec_mode() != 0
}

/// Whether the program wrote a kernel for all threads of its teams: no `distribute` of it is without
/// a `parallel`. LLVM makes such kernels of others, too, and marks them as both kinds.
#[must_use]
#[inline(always)]
pub fn is_for_all_threads() -> bool {
    // SAFETY: the environment is the constant that belongs to the kernel.
    let mode = unsafe { (*environment()).configuration.mode };
    is_spmd() && mode & mode::GENERIC == 0
}

/// What the host made for this launch; null where the kernel needs none.
#[must_use]
#[inline(always)]
pub fn launch_environment() -> *mut LaunchEnvironment {
    // SAFETY: the thread has written it where the kernel starts.
    unsafe { LAUNCH.get() }
}

/// What the compiler knows of the kernel.
#[must_use]
#[inline(always)]
pub fn environment() -> *const KernelEnvironment {
    // SAFETY: the thread has written it where the kernel starts.
    unsafe { ENVIRONMENT.get() }
}

/// Whether the kernel has a reduction over teams.
#[must_use]
#[inline(always)]
pub fn reduces_over_teams() -> bool {
    bytes_of_reductions() != 0
}

/// Bytes of the longest list of a reduction over teams.
#[must_use]
#[inline(always)]
pub fn bytes_of_reductions() -> u32 {
    // SAFETY: the environment is the constant that belongs to the kernel.
    unsafe { (*environment()).configuration.reduction_data_size }.cast_unsigned()
}

/// How many threads a block of this kernel has at most; 0 or less if nobody has said so. LLVM takes the
/// block to have so many where it folds clang's questions for their number.
#[must_use]
#[inline(always)]
pub fn bound_of_threads() -> i32 {
    // SAFETY: the environment is the constant that belongs to the kernel.
    unsafe { (*environment()).configuration.most_threads }
}

/// The thread that runs the body of a generic kernel: the first of the last warp, whose other threads
/// do nothing.
#[must_use]
#[inline(always)]
pub fn main_thread() -> u32 {
    (target::threads_in_block() - 1) & !(target::warp_size() - 1)
}

/// How many threads of a generic kernel can take part in a region: a warp less than the block has, since
/// the host adds one for the main thread. If they are no whole warps, those behind them end at once.
/// LLVM's state machine counts the same way.
#[must_use]
#[inline(always)]
pub fn workers() -> u32 {
    target::threads_in_block().saturating_sub(target::warp_size())
}

/// How many threads a parallel region can have. The main thread runs it if there are no workers, as in
/// blocks of one warp: flang-22 bounds a kernel's block to the threads of its regions.
#[must_use]
#[inline(always)]
pub fn most_threads() -> u32 {
    if is_spmd() { target::threads_in_block() } else { workers().max(1) }
}
