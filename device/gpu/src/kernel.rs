//! Where a kernel starts and ends, and what each of its threads knows of it.

use crate::environment::{KernelEnvironment, LaunchEnvironment, mode};
use crate::place::Place;
use crate::target;
use crate::{debug, dispatch, explicit, icv, ordered, share, shared, unfinished, worker};

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

/// -1: the thread is to run the kernel's body.
const RUN: i32 = -1;

/// A kernel starts. The answer is -1 if the thread is to run the kernel's body, and otherwise its
/// number in the block: the kernel is over, or it enters the state machine that LLVM made.
///
/// There is no barrier. Each thread writes for itself what it reads, or the same value as all.
///
/// # Safety
/// The compiler passes the environment that it emitted for the kernel.
#[unsafe(no_mangle)]
#[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn __kmpc_target_init(
    environment: *const KernelEnvironment,
    launch: *mut LaunchEnvironment,
) -> i32 {
    // SAFETY: the compiler passes a valid environment.
    let configuration = unsafe { &(*environment).configuration };
    let spmd = configuration.mode & mode::SPMD != 0;
    // SAFETY: all threads of the block write the same values.
    unsafe {
        SPMD.set(u8::from(spmd));
        LAUNCH.set(launch);
        ENVIRONMENT.set(environment);
    }
    Place::OUTSIDE.enter();
    icv::start();
    explicit::start();
    unfinished::start();
    share::start();
    dispatch::begin();
    ordered::begin();
    debug::trace(c"__kmpc_target_init");
    debug::check(
        || target::threads_in_block() as usize <= target::MOST_THREADS && target::has_one_dimension(),
        c"a kernel of OpenMP has one dimension, and at most 1024 threads in a block",
    );
    if spmd {
        return RUN;
    }
    let thread = target::thread_id();
    // At once, before the threads of a warp part: none of them waits at a barrier for those that are
    // still to end.
    target::exit_if(thread >= workers() && thread != main_thread());
    if thread == main_thread() {
        return RUN;
    }
    if configuration.use_generic_state_machine != 0 {
        worker::run();
    }
    thread.cast_signed()
}

/// A kernel ends.
#[unsafe(no_mangle)]
#[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_target_deinit() {
    debug::trace(c"__kmpc_target_deinit");
    unfinished::wait();
    debug::check(|| Place::current() == Place::OUTSIDE, c"the kernel ends inside of a parallel region");
    debug::check(share::is_empty, c"the kernel ends, and has not given back all shared variables");
    if __kmpc_is_spmd_exec_mode() == 0 && target::thread_id() == main_thread() {
        worker::dismiss();
    }
    icv::end();
}

/// Whether all threads run the kernel's body.
///
/// LLVM folds it in every function that only kernels of one mode reach, and again where it has been
/// inlined into a kernel: it stays a call.
#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".gangway.call"))]
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
    (target::threads_in_block() - 1) & !(target::WARP - 1)
}

/// How many threads of a generic kernel can take part in a region: a warp less than the block has, since
/// the host adds one for the main thread. If they are no whole warps, those behind them end at once.
/// LLVM's state machine counts the same way.
#[must_use]
#[inline(always)]
pub fn workers() -> u32 {
    target::threads_in_block().saturating_sub(target::WARP)
}

/// How many threads a parallel region can have. The main thread runs it if there are no workers, as in
/// blocks of one warp: flang-22 bounds a kernel's block to the threads of its regions.
#[must_use]
#[inline(always)]
pub fn most_threads() -> u32 {
    if is_spmd() { target::threads_in_block() } else { workers().max(1) }
}
