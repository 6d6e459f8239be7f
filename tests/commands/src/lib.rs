//! Commands that tests run, and what is expected of them.
//!
//! A test builds a [`Command`], runs it with [`Run::run`], and says of the [`Ran`] what has to be
//! true. Where it is not, the test ends with the command, its status and all that it has said. A
//! command that hangs is ended, and the test fails.
//!
//! Called by tests only. It knows of the staged installation, and of no compiler:
//! `gangway-compilers` finds GCC's.

mod folder;
mod golden;
mod library;
mod ran;

pub use folder::Folder;
pub use golden::{golden, is_blessing};
pub use library::{programs, under_names};
pub use ran::{LIMIT, Ran, Run};

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The staged installation: `GANGWAY_STAGE`, or where `cargo xtask stage` puts it.
///
/// # Panics
/// Nothing has been staged.
#[must_use]
pub fn stage() -> PathBuf {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/stage");
    let stage = env::var_os("GANGWAY_STAGE").map_or(default, PathBuf::from);
    let found = stage.canonicalize();
    found.unwrap_or_else(|_| panic!("{} is missing: run `cargo xtask stage` first", stage.display()))
}

/// The staged command.
#[must_use]
pub fn gangway() -> Command {
    Command::new(stage().join("bin/gangway"))
}

/// Set in a process that [`again`] has made.
const AGAIN: &str = "GANGWAY_TEST_AGAIN";

/// A test of the calling program once more, alone in a process of its own. In that process it is
/// `None`. Whoever starts tests in the background has programs ignore signals; this one does not.
#[must_use]
pub fn again(test: &str) -> Option<Command> {
    if env::var_os(AGAIN).is_some() {
        return None;
    }
    let mut command = Command::new("/usr/bin/env");
    command.arg("--default-signal").arg(env::current_exe().expect("this program is a file"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(AGAIN, test);
    Some(command)
}

/// Whether this process runs a test alone. If not, another process has run it so.
///
/// # Panics
/// It has failed there.
#[must_use]
pub fn is_alone(test: &str) -> bool {
    let Some(mut other) = again(test) else { return true };
    other.run().succeeded();
    false
}
