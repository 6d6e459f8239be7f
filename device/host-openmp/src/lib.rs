//! The OpenMP device runtime that flang expects inside an x86-64 image.
//!
//! For every offload target, x86-64 included, flang lowers `target` regions to
//! calls of LLVM's *GPU* device runtime: a kernel opens with
//! `__kmpc_target_init`, forks with `__kmpc_parallel_60`, and hands each
//! worksharing loop as a callback to `__kmpc_for_static_loop_4u` and its kin.
//! The rest (barriers, critical sections, reductions, tasks, `omp_*`) it takes
//! from libomp, which the image is linked with. No package defines the first
//! group for x86-64, so without this archive such a program does not link.
//!
//! Here a device is the process itself. A launch is one call of the kernel on
//! one host thread: a league of one team whose threads are libomp's.
//!
//! | Module | What is in it |
//! |---|---|
//! | `fatal` | the end of a program that cannot go on |
//! | `partition` | who runs which iterations of a static loop |
//! | `partition_tests` | its tests |
//! | `libomp` | functions of libomp and of the C library |
//! | `thread` | what is kept for each thread |
//! | `device` | entry points: where the code runs |
//! | `team` | entry points: ordered parts of loops |
//! | `block` | entry points: what GPU code asks about its block and shared memory |
//! | `kernel` | entry points: start and end of a kernel |
//! | `parallel` | entry points: parallel regions |
//! | `workshare` | entry points: distribute, worksharing and composite loops |
//!
//! Who calls: code that flang generated, inside a device image. The crate must
//! never allocate per launch, panic, or export a name outside LLVM's device
//! runtime interface. All exported names are hidden: each image has its own
//! copy, and none shows in the image's dynamic symbol table.

#![cfg_attr(not(test), no_std)]

mod block;
mod device;
mod fatal;
mod kernel;
mod libomp;
mod parallel;
mod partition;
mod team;
mod thread;
mod workshare;

/// Exports functions under their C names, hidden outside the image.
///
/// rustc has no stable attribute for ELF visibility. The assembler directive
/// does the same, because it applies to the symbol of the object file it is
/// assembled into, which is the one that defines the function.
macro_rules! hidden {
    ($($name:ident),+ $(,)?) => {
        $(core::arch::global_asm!(concat!(".hidden ", stringify!($name)));)+
    };
}
pub(crate) use hidden;
