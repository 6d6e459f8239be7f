//! A plain interpreter of PTX modules: the oracle that faster engines are compared with.
//!
//! It runs one launch on one thread of the host, block after block, and within a block warp after
//! warp. A warp is 32 lanes that execute an instruction together when they stand at the same
//! place; where they differ, the deepest call and the lowest program counter go first. Now and
//! then the lane that has waited longest goes first, so that a lane that spins for another ends.
//!
//! [`launch`] is the only way in. It never panics on a module that `gangway_ptx` has
//! verified and never touches memory but through [`Memory`]: every failure of the
//! device's program is a [`Fault`] that names the instruction and the thread.
//!
//! What it cannot run it refuses by name when it meets it: functions without a body that the
//! driver does not provide, a barrier of the whole grid, and the instructions that
//! [`FaultKind::Unsupported`] then names. It must never guess: a wrong result is worse than none.
//!
//! The engine uses its parts: [`evaluate`], [`combine`], [`exchange`] and [`matrix`] are what
//! instructions compute, [`call`] is what the functions that the driver provides do.
//!
//! | Module | What is in it |
//! |---|---|
//! | `integer` | integer arithmetic |
//! | `float` | floating-point instructions |
//! | `bits` | logic, shifts, fields and counts |
//! | `compare` | comparisons and selections |
//! | `convert` | conversions |
//! | `video` | video instructions |
//! | `evaluate` | what one lane computes |
//! | `exchange` | what lanes compute together |
//! | [`matrix`] | what a warp computes with matrices |
//! | `fault` | how a kernel fails |
//! | `signature` | what a call passes, as a number |
//! | `builtins` | the functions that the driver provides |
//! | `memory` | device memory |
//! | `program` | a module made ready to run |
//! | `machine` | blocks, warps and lanes |
//! | `operands` | the operands of an instruction |
//! | `fragments` | instructions on matrices |
//! | `collective` | how lanes wait for each other |
//! | `calls` | calls and returns |
//! | `execute` | one instruction of a warp |
//! | `access` | loads, stores, atomics and copies |
#![forbid(unsafe_code)]

mod access;
mod bits;
mod builtins;
mod calls;
mod collective;
mod compare;
mod convert;
mod evaluate;
mod exchange;
mod execute;
mod fault;
mod float;
mod fragments;
mod integer;
mod machine;
pub mod matrix;
mod memory;
mod operands;
mod program;
mod signature;
mod video;

pub use builtins::{Builtin, Caller, GRID_HANDLE, Host, call};
pub use evaluate::{Results, combine, evaluate};
pub use exchange::{LANES, Lanes, exchange, lanes, shuffle_source};
pub use fault::{Fault, FaultKind, barrier_count};
pub use machine::{InterpretedLaunch, launch};
pub use memory::{Flat, Memory};
pub use program::{Placement, Program};
pub use signature::{bad_prototype, signature};
