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

mod abi;
pub mod api;
mod objects;

pub use abi::status::Status;
