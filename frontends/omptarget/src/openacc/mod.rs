//! What OpenACC code calls that `gangway cc` has translated for clang.
//!
//! A compute construct is a region of OpenMP's between two calls: the first makes its data present and says
//! where it is, and the launch in between goes where the construct wants it ([`compute`]). What OpenACC
//! says of data, devices and queues is in `gangway-openacc`, which programs of GCC's use, too.

pub mod abi;
mod assembled;
pub mod compute;
pub mod data;
mod grid;
mod items;
mod rows;
mod supposed;
