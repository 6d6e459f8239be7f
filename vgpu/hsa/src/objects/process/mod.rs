//! What the process has one of: settings, messages, clocks, the count of initialisations.

pub mod clock;
pub mod config;
pub mod report;
pub mod state;
