//! What the benchmark programs of the repository share: their options, the commands they run,
//! the kernels written by hand, the machine they ran on, the statistics they use, and the tables
//! and pages that they print.
#![forbid(unsafe_code)]

pub mod driver;
pub mod handwritten;
pub mod machine;
pub mod options;
pub mod page;
pub mod process;
pub mod root;
pub mod statistics;
pub mod table;
pub mod verdict;
