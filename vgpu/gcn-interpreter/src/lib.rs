//! A plain interpreter of AMD's machine code: the oracle that faster engines are compared with.
//!
//! It runs a launch on one thread of the host, or its work-groups on several. Waves of 64 lanes run by turns, and so do
//! work-groups. Each instruction is decoded once, and the row of the decoder's table tells what it
//! means: [`runs`] says which rows it knows.
//!
//! [`launch`] and [`launch_part`] are the only ways in. They never panic, whatever the code is, and never touch memory
//! but through [`Memory`]: every failure of the device's program is a [`Fault`] that names the
//! instruction, its place in the kernel, and the lane.
//!
//! What it cannot run it refuses by name when it meets it. It must never guess: a wrong result is
//! worse than none.
//!
//! | Module | What is in it |
//! |---|---|
//! | `fault` | how a kernel fails |
//! | `memory` | device memory |
//! | `dispatch` | what is launched |
//! | `format` | the formats of floating-point numbers |
//! | `mode` | rounding and denormals |
//! | `float` | floating-point arithmetic |
//! | `special` | classes, division, functions |
//! | `integer` | integer operations without a word in the language |
//! | `operations` | what a lane computes, by name |
//! | `atomics` | what atomic operations make of memory |
//! | `registers` | how many there are |
//! | `wave` | a wave's registers |
//! | `lanes` | which lane reads which |
//! | `operands` | registers and constants |
//! | `space` | the memories that lanes reach |
//! | `transfer` | loads, stores and updates of a lane |
//! | `scalar` | scalar instructions |
//! | `vector` | vector instructions |
//! | `cross` | moves between lanes and files |
//! | `flat` | flat, global and scratch accesses |
//! | `buffer` | buffers |
//! | `local` | LDS |
//! | `scalar_memory` | scalar loads and stores |
//! | `control` | branches, barriers, hardware registers |
//! | `execute` | one instruction |
//! | `code` | decoded instructions |
//! | `start` | registers at the beginning |
//! | `groups` | work-groups that nobody has taken |
//! | `machine` | work-groups and waves |
#![forbid(unsafe_code)]

mod atomics;
mod buffer;
mod code;
mod control;
mod cross;
mod dispatch;
mod execute;
mod fault;
mod flat;
mod float;
mod format;
mod groups;
mod integer;
mod lanes;
mod local;
mod machine;
mod memory;
mod mode;
mod operands;
mod operations;
mod registers;
mod scalar;
mod scalar_memory;
mod space;
mod special;
mod start;
mod transfer;
mod vector;
mod wave;

pub use dispatch::{Dispatch, GROUP_APERTURE, LANES, PACKET_SIZE, PRIVATE_APERTURE, Packet, Scratch};
pub use execute::runs;
pub use fault::{Fault, FaultKind, Lane};
pub use groups::Groups;
pub use machine::{launch, launch_part};
pub use memory::{Flat, Memory};
pub use registers::Registers;
pub use start::unsupported;
