//! Runs PTX modules on the CPU. `DESIGN.md` tells how; this is the interface that the
//! driver API works with.
//!
//! An [`Engine`] stands for the processors of one virtual device. [`Engine::load`] places a
//! linked module in device memory. [`Engine::launch`] runs a kernel of it and returns when it has
//! ended. Any number of threads may launch at once. Order between launches is the caller's
//! business (`gangway-streams`).
//!
//! Each module uses only those above it:
//!
//! | module | what |
//! |---|---|
//! | `windows` | memory of the host that a warp remembers |
//! | `grants` | check mode: memory that a kernel may use, as a warp remembers it |
//! | `lines` | race check: words that a warp has accessed and not told of yet |
//! | `frame` | the frame of a function that runs under a mask |
//! | [`abi`] | what compiled code and the engine agree on: the state of a warp |
//! | `code` | what the compiler hands over |
//! | `work` | the steps of the compiler's passes, counted for tests |
//! | `runtimes` | which functions are a compiler's device runtime, and what they do |
//! | `lower` | what instructions compute, as operations on lanes |
//! | [`support`] | the helpers that compiled code calls |
//! | `load` | what kernels of a module reach, and where its variables go |
//! | `analysis` | what is known of a function before code is made of it |
//! | `generator` | what makes machine code of that |
//! | [`cranelift`] | the generator that writes Cranelift's code |
//! | `llvm` | the generator that has LLVM make code of regions that lanes run by themselves |
//! | `compile` | from a function to machine code |
//! | `functions` | the compiled functions of a program, and where their code is kept |
//! | `output` | what kernels print |
//! | [`guard`] | copies of the host's memory that may go away meanwhile |
//! | `unified` | accesses that only a device with unified memory takes |
//! | `device` | memory of a device |
//! | [`init`] | what is woven into programs that are checked for uses of what nothing has written |
//! | `program` | a module in device memory |
//! | `launch` | what a launch is asked for |
//! | `fault` | how a kernel fails |
//! | `fall_back` | kernels that the compiler refuses |
//! | `run` | running kernels: launches, workers, blocks, warps, signals |
//! | `engine` | the interface |

pub mod abi;
mod analysis;
mod code;
mod compile;
pub mod cranelift;
mod device;
mod engine;
mod fall_back;
mod fault;
mod frame;
mod functions;
mod generator;
mod grants;
pub mod guard;
pub mod init;
mod launch;
mod lines;
mod llvm;
mod load;
pub mod lower;
mod output;
mod program;
mod run;
mod runtimes;
pub mod support;
mod unified;
mod windows;
mod work;

pub use cranelift::tier::compiled;
pub use engine::{Checks, Engine, Execution, Options, Races};
pub use fall_back::{FallBack, fall_backs};
pub use fault::{Access, Facts, Fault, Reason};
pub use functions::{CodeCache, lower_priority};
pub use gangway_races::{By, HostAccess, Origin, Past, Transfer};
pub use generator::Tier;
pub use launch::KernelLaunch;
pub use llvm::{Noted, has_llvm, lanewise, llvm_version};
pub use load::{Kernel, LoadError, Parameter};
pub use program::{Global, KernelId, Program};
pub use run::{AccessKind, Accessed, CLOCK_KHZ, Listener, Listeners, catch_signals, when_warps_wait};
