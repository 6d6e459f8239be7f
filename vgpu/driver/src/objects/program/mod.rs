//! Programs: from an image to functions that can be launched.
//!
//! Their order: `jit` (options), `image`, `function`, `module`, `library` and `link`. `occupancy`
//! tells how many blocks of a function fit.

pub mod function;
pub mod image;
pub mod jit;
pub mod library;
pub mod link;
pub mod module;
pub mod occupancy;
