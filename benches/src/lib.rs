//! What the benchmark programs of the repository share: what a program is, the commands they run,
//! the kernels written by hand, the machine they ran on, the statistics they use, and the tables
//! that they print.
#![forbid(unsafe_code)]

pub mod counting;
pub mod driver;
pub mod handwritten;
pub mod machine;
pub mod process;
pub mod program;
pub mod statistics;
pub mod table;
pub mod verdict;
