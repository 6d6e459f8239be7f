//! CUDA's types, structures and error codes.

pub mod pointer;
pub mod status;
pub mod types;
