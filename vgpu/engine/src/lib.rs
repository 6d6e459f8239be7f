//! Runs PTX modules on the CPU. `DESIGN.md` tells how; this is the interface that the
//! driver API works with.
//!
//! An [`Engine`] stands for the processors of one virtual device. [`Engine::load`] places a
//! linked module in device memory. [`Engine::launch`] runs a kernel of it and returns when it has
//! ended. Any number of threads may launch at once. Order between launches is the caller's
//! business (`gangway-streams`).

pub mod abi;
mod code;
mod compile;
mod device;
mod engine;
mod fault;
mod frame;
mod load;
pub mod lower;
mod output;
mod program;
mod run;
pub mod support;
pub mod value;
mod windows;
mod work;

pub use compile::compiled;
pub use engine::{Engine, Execution, KernelLaunch, Options};
pub use fault::{Access, Facts, Fault, Reason};
pub use program::{Global, Kernel, KernelId, LoadError, Parameter, Program};
pub use run::fall_back::{FallBack, fall_backs};
pub use run::{CLOCK_KHZ, CodeCache, Listener, guard, watch_host, when_warps_wait};
