//! What the process has once: settings, messages, the trace, whether the driver has been started.

pub mod config;
pub mod report;
pub mod state;
pub mod trace;
