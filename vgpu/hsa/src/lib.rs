//! The HSA runtime API of the virtual AMD GPU: `libhsa-runtime64.so.1`.
//!
//! Programs load the library as they load ROCm's and call its functions. There are three
//! rooms, and each knows only those above it:
//!
//! | Room | What is in it |
//! |---|---|
//! | [`abi`] | the types, structures and numbers of `hsa.h` and `hsa_ext_amd.h`, which mean nothing by themselves |
//! | [`objects`] | agents, memory, signals, code, queues: what handles stand for |
//! | [`api`] | the exported functions: they check what a caller passes, and turn handles and pointers into what they mean |
//!
//! The test `layers` refuses a reference in the other direction. The objects stand on other
//! crates: `gangway-device-memory` for addresses, `gangway-code-object` for images.
//!
//! What always holds:
//!
//! * No panic and no failed check ends the process: a caller's mistake gets the status that
//!   the specification ("HSA Runtime Programmer's Reference Manual", 1.2) gives it.
//! * Handles are validated; only the caller's own pointers are trusted, as C has it.
//! * What is not supported exists, answers `HSA_STATUS_ERROR` and says so on stderr.
//! * All functions may be called from any thread at any time.

#![warn(clippy::must_use_candidate, clippy::use_self)]

pub mod abi;
pub mod api;
pub mod objects;

pub use abi::status::Status;

#[global_allocator]
static MEMORY: gangway_trace::memory::Memory = gangway_trace::memory::Memory;
