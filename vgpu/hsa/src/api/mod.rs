//! The exported functions, a module for each family of them.
//!
//! They are thin: they check what a caller passes, turn handles into objects and structures
//! into values, and call [`objects`](crate::objects). Each stands in the table of what the
//! library exports, [`exports`], and runs inside the guard of [`entry`].

pub(crate) mod entry;
pub(crate) mod exports;

mod agent;
mod amd_memory;
mod amd_queue;
mod amd_signal;
mod code_object;
mod executable;
mod isa;
mod memory;
mod pointer_info;
mod private_table;
mod profiling;
mod queue;
mod queue_index;
mod region;
mod runtime;
mod signal;
mod signal_value;
mod symbol;
mod system;
mod transfer;

pub use agent::*;
pub use amd_memory::*;
pub use amd_queue::*;
pub use amd_signal::*;
pub use code_object::*;
pub use executable::*;
pub use isa::*;
pub use memory::*;
pub use pointer_info::*;
pub use profiling::*;
pub use queue::*;
pub use queue_index::*;
pub use region::*;
pub use runtime::*;
pub use signal::*;
pub use signal_value::*;
pub use symbol::*;
pub use system::*;
pub use transfer::*;
