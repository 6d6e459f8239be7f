//! Being built.

/// Being built.
pub fn synchronize_implicit(_thread: i32) {}
