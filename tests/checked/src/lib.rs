//! What suites of programs expect under the checks of `gangway run`.
//!
//! A suite runs each program with `--check=all --sarif FILE`, reads what was [`found`], and has a list of what is
//! [`Known`]: findings with a type and a reason. A finding that is not listed fails the suite, and so does a line of the
//! list without one.
//!
//! Called by suites only. It starts nothing, and reads no file but the list.

#![forbid(unsafe_code)]

mod found;
mod known;

pub use found::{Found, found};
pub use known::{Entry, Kind, Known, judge};
