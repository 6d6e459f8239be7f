//! What the process has one of: settings, messages, clocks, the count of initialisations, who is told of them.

pub mod clock;
pub mod config;
pub mod opened;
pub mod report;
pub mod state;
