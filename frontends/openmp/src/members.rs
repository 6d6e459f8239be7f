//! What the user calls a byte of a mapped structure: the `gangway` command reads debug information.
//!
//! It is asked when a message is made that names the byte. Without the command beside the library,
//! and without debug information, the message has the offset.

use gangway_runtime::Label;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The subcommand.
const COMMAND: &str = "member-name";

/// The name of the pointer at a byte of a variable.
pub(crate) fn name(variable: Label, offset: usize) -> Option<String> {
    let (name, at) = (variable.name()?, variable.location()?);
    let output = Command::new(gangway_cpu::command()?)
        .arg(COMMAND)
        .arg(object_of(variable)?)
        .args([name, &at.line.to_string(), &offset.to_string()])
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()
}

/// The file of the program or library that has a variable's name.
fn object_of(variable: Label) -> Option<PathBuf> {
    let object = gangway_cpu::object_of(variable.as_ptr().addr())?;
    // A program that was found in PATH has no path.
    object.canonicalize().or_else(|_| std::fs::read_link("/proc/self/exe")).ok()
}
