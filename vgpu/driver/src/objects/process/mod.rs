//! What a process has once: settings, messages, the trace, and whether the driver has been
//! started. Nothing here knows an object.

pub mod config;
pub mod faults;
pub mod report;
pub mod state;
pub mod trace;
