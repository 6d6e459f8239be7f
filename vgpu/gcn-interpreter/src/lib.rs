//! A plain interpreter of AMD's machine code: the oracle that faster engines are compared with.
//!
//! | Module | What is in it |
//! |---|---|
//! | `fault` | how a kernel fails |
//! | `memory` | device memory |
//! | `dispatch` | what is launched |
//! | `machine` | work-groups and waves |
#![forbid(unsafe_code)]

mod dispatch;
mod fault;
mod machine;
mod memory;

pub use dispatch::{Dispatch, GROUP_APERTURE, LANES, PACKET_SIZE, PRIVATE_APERTURE, Packet, Scratch};
pub use fault::{Fault, FaultKind, Lane};
pub use machine::launch;
pub use memory::{Flat, Memory};
