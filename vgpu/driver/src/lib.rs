//! The CUDA driver API of the virtual GPU: `libcuda.so.1`.
//!
//! Programs load the library as they load NVIDIA's and call its functions. There are three
//! rooms, and each knows only those above it:
//!
//! | Room | What is in it |
//! |---|---|
//! | [`abi`] | the types, structures and numbers of `cuda.h`, which mean nothing by themselves |
//! | [`objects`] | contexts, streams, modules, graphs and all else that handles stand for |
//! | [`api`] | the exported functions: they check what a caller passes, and turn handles, pointers and structures into what they mean |
//!
//! The test `layers` refuses a reference in the other direction. The objects stand on other
//! crates: `gangway-device-memory` for addresses, `gangway-linker` for images,
//! `gangway-engine` for running kernels, and `gangway-streams` for what runs after what.
//!
//! What always holds:
//!
//! * No panic and no failed check ends the process: a caller's mistake gets the error code
//!   that a real driver gives it.
//! * Handles are validated ([`abi::handle`]); only the caller's own pointers are trusted, as C
//!   has it.
//! * What is not supported exists, answers `CUDA_ERROR_NOT_SUPPORTED` and says so on stderr.
//! * All functions may be called from any thread at any time.

#![warn(clippy::must_use_candidate, clippy::use_self)]

mod abi;
pub mod api;
mod objects;

pub use abi::status::Status;

#[global_allocator]
static MEMORY: gangway_trace::memory::Memory = gangway_trace::memory::Memory;
