//! The static library that `cargo xtask stage` links into `libomptarget.so.22.1`.
//!
//! It has all front ends, so that a process has one runtime whichever of them its programs and
//! libraries call. `libomptarget.so.22.1` exports libomptarget's names, and GCC's under names of
//! our own, to which `libgangway-gomp.so` leads.
//!
//! All code is in the front ends; this crate only gives it a C artefact.

pub use {gangway_gomp, gangway_omptarget};

#[global_allocator]
static MEMORY: gangway_trace::memory::Memory = gangway_trace::memory::Memory;
