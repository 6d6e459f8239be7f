//! OpenACC: GCC's entry points for its constructs.
//!
//! What a construct does on which device and in which queue is `gangway-openacc`'s; here is how
//! GCC 12 says it.
//!
//! - [`kinds`] has what the kinds of list items mean
//! - [`variadic`] has functions that take a list of arguments
//! - [`dimensions`] has how many gangs, workers and vector lanes
//! - [`compute`] has `GOACC_parallel_keyed`
//! - [`data`] has `GOACC_data_start`, `GOACC_enter_data`, `GOACC_update` and kin
//! - [`fortran`] has Fortran's names of the routines

pub mod compute;
pub mod data;
pub mod dimensions;
pub mod fortran;
pub mod kinds;
pub mod variadic;
