//! Whether a program has more rights than its user, and what it must not take from the environment
//! then.

use std::ffi::OsString;

/// Whether the process has more rights than the user who has started it: set-user-ID, or file
/// capabilities.
#[must_use]
pub fn is_privileged() -> bool {
    // SAFETY: the call only asks, and answers 0 for what it does not know.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// A variable that names a file or folder. A privileged program must not read or write where its
/// user says, so it has no such variable.
#[must_use]
pub fn file_variable(name: &str) -> Option<OsString> {
    if is_privileged() { None } else { std::env::var_os(name) }
}

#[cfg(test)]
mod tests {
    use super::{file_variable, is_privileged};

    #[test]
    fn a_program_with_its_users_rights_has_the_variables() {
        assert!(!is_privileged());
        assert_eq!(file_variable("PATH"), std::env::var_os("PATH"));
    }
}
