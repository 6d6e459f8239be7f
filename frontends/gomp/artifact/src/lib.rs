//! The static library that `cargo xtask stage` links into `libgangway-gomp.so`.
//!
//! All code is in `gangway-gomp`; this crate only gives it a C artefact.

pub use gangway_gomp::*;
