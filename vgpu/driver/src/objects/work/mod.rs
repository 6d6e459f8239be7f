//! What streams and graphs do: copies, fills, launches, host functions, operations on memory.

pub mod copy;
pub mod fill;
pub mod host_function;
pub mod launch;
pub mod memory_operation;
