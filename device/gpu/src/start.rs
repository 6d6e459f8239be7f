//! Where a kernel starts and ends.

use crate::environment::{KernelEnvironment, LaunchEnvironment, mode};
use crate::place::Place;
use crate::{debug, dispatch, explicit, icv, kernel, ordered, share, target, unfinished, worker};

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
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn __kmpc_target_init(
    environment: *const KernelEnvironment,
    launch: *mut LaunchEnvironment,
) -> i32 {
    // SAFETY: the compiler passes a valid environment.
    let configuration = unsafe { &(*environment).configuration };
    let spmd = configuration.mode & mode::SPMD != 0;
    // SAFETY: all threads of the block write the same values.
    unsafe { kernel::set(spmd, launch, environment) };
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
    target::exit_if(thread >= kernel::workers() && thread != kernel::main_thread());
    if thread == kernel::main_thread() {
        return RUN;
    }
    if !target::THREADS_END_ALONE && thread >= kernel::workers() {
        // The compiler's code returns, and so does the state machine that LLVM makes.
        return thread.cast_signed();
    }
    if configuration.use_generic_state_machine != 0 {
        worker::run();
    }
    thread.cast_signed()
}

/// A kernel ends.
#[unsafe(no_mangle)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_target_deinit() {
    debug::trace(c"__kmpc_target_deinit");
    unfinished::wait();
    debug::check(|| Place::current() == Place::OUTSIDE, c"the kernel ends inside of a parallel region");
    debug::check(share::is_empty, c"the kernel ends, and has not given back all shared variables");
    if !kernel::is_spmd() && target::thread_id() == kernel::main_thread() {
        worker::dismiss();
    }
    icv::end();
}
