//! What the environment says, and whether a program may believe it.
//!
//! Everything that reads or writes files, loads libraries or runs programs where a user says asks
//! here first. Back ends read their settings with a [`Reader`]. The crate is below all others and
//! must never print: a value that makes no sense is a warning, which its reader's owner shows.

mod code;
mod makers;
mod privileges;
mod reader;
mod size;

pub use code::code_folder;
pub use makers::Maker;
pub use privileges::{file_variable, is_privileged};
pub use reader::Reader;
pub use size::{default_device_size, device_size, host_memory, size};
