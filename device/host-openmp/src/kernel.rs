//! Start and end of a kernel.
//!
//! A kernel of flang opens with `__kmpc_target_init` and runs its body if that
//! answers -1, else returns: on a GPU the other threads of a generic-mode
//! block become workers. Here only the launching thread enters a kernel, in
//! either mode, so the answer is always -1, and the modes need no difference:
//! in SPMD mode, too, the body reaches its threads through a parallel region.
//!
//! The kernel must find itself in a team of its own. It may be launched by a
//! thread of a host team (a target region in a host parallel region, or a
//! `nowait` one on a hidden helper thread); the barriers and reductions that
//! flang puts at the end of `teams` would then wait for threads of that team.
//! A serialised region around the kernel prevents it.

use core::ffi::c_void;
use core::mem::{offset_of, size_of, transmute};

use crate::hidden;

use crate::libomp::{
    __kmpc_end_serialized_parallel, __kmpc_global_thread_num, __kmpc_serialized_parallel,
    __kmpc_set_thread_limit, Location, omp_get_num_threads, omp_get_thread_limit,
};
use crate::thread::{self, Launch};

/// Tells the kernel to run its body.
const RUN_BODY: i32 = -1;

/// What the compiler knows of a kernel: `<kernel>_kernel_environment`.
#[repr(C)]
pub struct KernelEnvironment {
    use_generic_state_machine: u8,
    may_use_nested_parallelism: u8,
    /// 1 generic, 2 SPMD, 3 generic made SPMD by the optimiser.
    execution_mode: u8,
    min_threads: i32,
    /// From `thread_limit` or `num_threads`; 0 if not known at compile time,
    /// 256 if there is no such clause.
    max_threads: i32,
    min_teams: i32,
    max_teams: i32,
    reduction_data_size: i32,
    /// Up to flang 22 a number and four zero bytes, and the place comes next; from flang 23 on the place.
    place: [*const Location; 2],
}

impl KernelEnvironment {
    /// Where the kernel stands in the source. An address is above all numbers of slots.
    fn location(&self) -> *const Location {
        let [first, second] = self.place;
        if first.addr() >> 32 == 0 { second } else { first }
    }
}

const _: () = assert!(offset_of!(KernelEnvironment, execution_mode) == 2);
const _: () = assert!(offset_of!(KernelEnvironment, max_threads) == 8);
const _: () = assert!(offset_of!(KernelEnvironment, place) == 24);
const _: () = assert!(size_of::<KernelEnvironment>() == 40);

/// Begins a kernel on the calling thread; always answers that the kernel runs
/// its body.
///
/// The launch environment is the kernel's first parameter. LLVM's runtime
/// passes an invalid address there for host devices, so it is never read.
///
/// # Safety
/// `environment` is the kernel's environment, and the kernel ends with
/// [`__kmpc_target_deinit`] on the same thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_target_init(
    environment: *const KernelEnvironment,
    _launch_environment: *const c_void,
) -> i32 {
    // SAFETY: as this function's.
    let environment = unsafe { &*environment };
    let location = environment.location();
    // SAFETY: libomp's queries, and the opening half of a serialised region
    // that `__kmpc_target_deinit` closes.
    unsafe {
        let thread = __kmpc_global_thread_num(location);
        let in_host_team = omp_get_num_threads() > 1;
        if in_host_team {
            __kmpc_serialized_parallel(location, thread);
        }
        let outer_limit = omp_get_thread_limit();
        let limits = [environment.max_threads, limit_of_launch()];
        let limit = limits.into_iter().filter(|limit| *limit > 0).min().unwrap_or(outer_limit);
        let limited = limit < outer_limit;
        if limited {
            __kmpc_set_thread_limit(location, thread, limit);
        }
        thread::push(Launch {
            location,
            in_host_team,
            spmd: environment.execution_mode & 2 != 0,
            outer_limit: limited.then_some(outer_limit),
        });
    }
    RUN_BODY
}

/// What the launch that the calling thread begins has as its `thread_limit`: the value of a variable is
/// an argument of the launch, which kernels for CPUs do not get. Gangway defines the function when it loads
/// an image. 0: there is no limit, or another runtime has loaded the image.
fn limit_of_launch() -> i32 {
    let function: usize;
    // SAFETY: reads a word that the loader has written: 0 where nobody defines the symbol.
    unsafe {
        core::arch::asm!(
            ".weak gangway_launch_thread_limit",
            "mov {}, qword ptr [rip + gangway_launch_thread_limit@GOTPCREL]",
            out(reg) function,
            options(nostack, pure, readonly, preserves_flags),
        );
    }
    // SAFETY: the runtime's function, of that type, or none.
    let function: Option<unsafe extern "C" fn() -> i32> = unsafe { transmute(function) };
    // SAFETY: it may be called on any thread.
    function.map_or(0, |function| unsafe { function() })
}

/// Ends the kernel that the calling thread began last.
///
/// # Safety
/// The thread is in a kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_target_deinit() {
    let launch = thread::pop();
    // SAFETY: undoes what `__kmpc_target_init` did on this thread.
    unsafe {
        let thread = __kmpc_global_thread_num(launch.location);
        if let Some(limit) = launch.outer_limit {
            __kmpc_set_thread_limit(launch.location, thread, limit);
        }
        if launch.in_host_team {
            __kmpc_end_serialized_parallel(launch.location, thread);
        }
    }
}

hidden!(__kmpc_target_init, __kmpc_target_deinit);
