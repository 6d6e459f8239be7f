//! What the benchmark programs of the repository share: the machine they ran on, the
//! statistics they use, and the tables they print.
#![forbid(unsafe_code)]

pub mod machine;
pub mod root;
pub mod statistics;
pub mod table;
