//! The static library that `cargo xtask stage` links into `libomptarget.so.22.1`.
//!
//! All code is in `gangway-omptarget`; this crate only gives it a C artefact.

pub use gangway_omptarget::*;
