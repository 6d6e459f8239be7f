//! Variables of the environment that name files.

use std::ffi::OsString;

/// A variable that names a file or folder. A program with more rights than its user (set-user-ID,
/// file capabilities) must not read or write files where that user says, so it has no such
/// variable.
#[must_use]
pub fn file_variable(name: &str) -> Option<OsString> {
    if is_privileged() { None } else { std::env::var_os(name) }
}

/// Whether the process has more rights than the user who has started it.
fn is_privileged() -> bool {
    // SAFETY: the call only asks, and answers 0 for what it does not know.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
