//! Reductions over the lanes of a warp, the threads of a team and the teams of a launch.
//!
//! The compiler leaves each thread with a list of private copies and calls one of the functions in
//! `exports`. They know nothing of types and operators: what they combine, they combine through
//! functions that the compiler has generated ([`callbacks`]). The algorithms ask the processor for
//! little ([`machine`]), so that the same source runs on simulated warps in the tests.
//!
//! Which values are combined in which order depends on the numbers of threads and teams alone. So a
//! sum of floating-point numbers has the same bits in every run of the same launch.

pub mod block;
pub mod callbacks;
pub mod exports;
pub mod grid;
pub mod machine;
pub mod warp;
