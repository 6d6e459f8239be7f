//! What the user calls a byte of a mapped structure: the `gangway` command reads debug information.
//!
//! It is asked when a message is made that names the byte. Without the command beside the library,
//! and without debug information, the message has the offset.

use gangway_runtime::Label;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The subcommand.
const COMMAND: &str = "member-name";

/// The name of the pointer at a byte of a variable.
pub(crate) fn name(variable: Label, offset: usize) -> Option<String> {
    let (name, at) = (variable.name()?, variable.location()?);
    let output = Command::new(gangway_cpu::command()?)
        .arg(COMMAND)
        .arg(object_of(variable.as_ptr().cast())?)
        .args([name, &at.line.to_string(), &offset.to_string()])
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()
}

/// The file of the program or library that has a constant.
fn object_of(constant: *const libc::c_void) -> Option<PathBuf> {
    // SAFETY: plain data that the call fills.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for, and there is a place for the answer.
    if unsafe { libc::dladdr(constant, &raw mut found) } == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's name of what is loaded.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    // A program that was found in PATH has no path.
    let file = Path::new(OsStr::from_bytes(name.to_bytes())).canonicalize();
    file.or_else(|_| std::fs::read_link("/proc/self/exe")).ok()
}
