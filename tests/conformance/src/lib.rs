//! The conformance suite: OpenMP offload programs, run under the stock offload
//! library and under Gangway's, that must print the same and end the same.
//!
//! Each program of `programs/` is compiled once per optimisation level with the
//! stock compiler and then run, unchanged, on both libraries: the same
//! executable, only the library path differs. The test target
//! (`tests/conformance.rs`) makes one test out of every program and level.
//!
//! The modules follow one program on its way: [`corpus`] finds it, [`header`]
//! reads the directives at its top, [`toolchain`] says which compiler takes it,
//! [`build`] compiles it or finds it in the cache, [`execute`] runs it under one
//! of the libraries, and [`verdict`] compares what came out.
//!
//! A second target (`tests/vgpu.rs`) compiles the same programs for GPUs, too, and compares the
//! CPU's and the virtual GPU's run. [`expectations`] says what is known to be different, and
//! [`releases`] for which releases of LLVM. A third one (`tests/checked.rs`) runs them under the checks of `gangway run`,
//! where nothing may be found but what `checked.txt` has. [`vgpu`] is what those two have in common.
//!
//! What this crate must never do: leave a program out without a word. A missing
//! tool, archive or library fails the test and names the package to install.

#![forbid(unsafe_code)]

pub mod build;
pub mod corpus;
pub mod execute;
pub mod expectations;
pub mod header;
pub mod releases;
pub mod toolchain;
pub mod verdict;
pub mod vgpu;
