//! The runtime of OpenMP code on GPUs: what stock clang and flang call in device code.
//!
//! `cargo xtask stage` compiles it to LLVM bitcode and packs it as `libompdevice.a`, which clang links
//! into the image. The README tells how, and what has to hold so that it vanishes in optimised code.
//!
//! [`target`] is the only module that knows a kind of GPU. Nothing here may panic, allocate through
//! Rust or use dynamic dispatch: all of it ends up in somebody else's kernel.
//!
//! | Module | What is in it |
//! |---|---|
//! | [`target`] | what the runtime needs of a GPU |
//! | [`environment`] | structures that compiler, host and runtime share |
//! | [`device`] | what the host tells about the device |
//! | [`schedule`] | the arithmetic of loops |
//! | [`debug`] | checks and traces |
//! | [`error`] | the `error` directive |
//! | [`libc`] | the C library's functions that compilers call by themselves |
//! | [`memory`] | allocators |
//! | [`device_heap`] | memory of the device's heap, for the runtime itself |
//! | [`critical`] | exclusion |
//! | [`atomic`] | objects that are too large for atomic instructions |
//! | [`lock`] | locks |
//! | [`guard`] | statics of functions of C++ |
//! | [`icv`] | control variables |
//! | [`explicit`] | which task a thread is in |
//! | [`kernel`] | what each thread knows of its kernel |
//! | [`grid`] | what the hardware is asked |
//! | [`ompx`] | clang's `ompx.h` |
//! | [`place`] | where a thread stands among parallel regions |
//! | [`query`] | the `omp_*` functions that ask and set |
//! | [`microtask`] | calls of the functions of regions |
//! | [`team_heap`] | what threads share and is too large for shared memory |
//! | [`share`] | variables that threads share |
//! | [`reduction`] | reductions |
//! | [`task_memory`] | a task in memory |
//! | [`unfinished`] | tasks with `detach`, and how a task is run |
//! | [`task`] | tasks and their loops |
//! | [`synchronize`] | barriers, regions for one thread, flushes |
//! | [`openacc`] | barriers of OpenACC's workers |
//! | [`copyprivate`] | variables that a `single` hands on |
//! | [`doacross`] | iterations that wait for earlier ones |
//! | [`worker`] | the main thread and its workers |
//! | [`parallel`] | parallel regions |
//! | [`workshare`] | loops dealt in advance |
//! | [`dispatch`] | loops dealt at run time |
//! | [`ordered`] | regions in the order of a loop |
//! | [`start`] | start and end of a kernel |

#![cfg_attr(not(test), no_std)]
#![cfg_attr(gpu, feature(link_llvm_intrinsics))]
#![cfg_attr(target_arch = "amdgpu", feature(linkage))]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]
#![allow(internal_features)]

// How a function is packed, which the build reads off its section:
//
// - `.gangway.inline`: inlined wherever a program calls it, at any optimisation. What waits for other
//   threads of its own warp is among them, as they may be in the program's function still;
// - `.gangway.call`: stays a call for LLVM's passes, which know its name.
//
// Both stay whole while the runtime itself is optimised, if they are also `inline(never)`. All other
// functions are for LLVM to decide on.

pub mod atomic;
pub mod copyprivate;
pub mod critical;
pub mod debug;
pub mod device;
pub mod device_heap;
pub mod dispatch;
// Lanes of a wave of AMD's cannot wait for each other: what needs it does not link there.
#[cfg(not(target_arch = "amdgpu"))]
pub mod doacross;
pub mod environment;
pub mod error;
pub mod explicit;
pub mod grid;
pub mod guard;
pub mod icv;
pub mod kernel;
pub mod libc;
pub mod lock;
pub mod memory;
pub mod microtask;
pub mod ompx;
pub mod openacc;
pub mod ordered;
pub mod parallel;
pub mod place;
pub mod query;
pub mod reduction;
pub mod schedule;
pub mod share;
pub mod start;
pub mod synchronize;
pub mod target;
pub mod task;
pub mod task_memory;
pub mod team_heap;
pub mod unfinished;
pub mod worker;
pub mod workshare;

/// Compiled so that a panic is a trap, the crate reaches no handler; the compiler wants one.
#[cfg(all(gpu, not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    target::trap()
}
