//! Programs that are wrong or right by one word: how they say what they are, how they are built, and what has to be found
//! in them; and [`random`] programs with a mistake that is planted. `README.md` has the format.

mod build;
mod header;
pub mod random;
mod verdict;

pub use build::{Way, compile};
pub use header::Header;
pub use verdict::judge;
