//! The CUDA driver API of the virtual GPU: `libcuda.so.1`.
//!
//! Programs load the library as they load NVIDIA's and call the functions in [`api`]. Each
//! of those turns handles, pointers and numbers into what they mean and asks the objects
//! behind: `device`, `context`, `module`, `function`, `launch`, `copy` and so on.
//! What those stand on are other crates: `gangway-device-memory` for addresses,
//! `gangway-linker` for images, `gangway-engine` for running kernels, and
//! `gangway-streams` for what runs after what.
//!
//! What always holds:
//!
//! * No panic and no failed check ends the process: a caller's mistake gets the error code
//!   that a real driver gives it.
//! * Handles are validated ([`handle`]); only the caller's own pointers are trusted, as C has it.
//! * What is not supported exists, answers `CUDA_ERROR_NOT_SUPPORTED` and says so on stderr.
//! * All functions may be called from any thread at any time.

pub mod api;
mod attribute;
mod config;
mod context;
mod copy;
mod device;
mod entry;
mod error;
mod event;
mod exports;
mod fill;
mod function;
mod graph;
mod handle;
mod host_function;
mod jit;
mod launch;
mod leaks;
mod library;
mod link;
mod memory;
mod memory_operation;
mod module;
mod occupancy;
mod pointer;
mod pool;
mod report;
mod state;
mod stream;
mod symbols;
mod tables;
mod trace;
mod types;

pub use error::Status;
