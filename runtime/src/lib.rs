//! Being built.
mod label;
pub mod present;
mod sync;
