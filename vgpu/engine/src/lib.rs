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
mod fall_back;
mod fault;
mod frame;
mod functions;
pub mod guard;
mod launch;
mod load;
pub mod lower;
mod output;
mod program;
mod run;
pub mod support;
mod unified;
pub mod value;
mod windows;
mod work;

pub use compile::compiled;
pub use engine::{Engine, Execution, Options};
pub use fall_back::{FallBack, fall_backs};
pub use fault::{Access, Facts, Fault, Reason};
pub use functions::CodeCache;
pub use launch::KernelLaunch;
pub use load::{Kernel, LoadError, Parameter};
pub use program::{Global, KernelId, Program};
pub use run::{CLOCK_KHZ, Listener, catch_signals, when_warps_wait};
