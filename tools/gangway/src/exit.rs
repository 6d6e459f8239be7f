//! Exit codes, in one place for the program, `--help` and the man page.

use std::fmt;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

pub const SUCCESS: u8 = 0;
pub const FAILURE: u8 = 1;
pub const USAGE: u8 = 2;
/// `run` could not do its part; the codes of env(1) and timeout(1).
pub const NOT_STARTED: u8 = 125;
pub const NOT_EXECUTABLE: u8 = 126;
pub const NOT_FOUND: u8 = 127;

/// What every code means, for people.
pub const MEANINGS: &[(&str, &str)] = &[
    ("0", "success"),
    (
        "1",
        "the command failed, an inspected file is damaged, info finds no library or device, or a report is over the limit",
    ),
    ("2", "the command line is wrong, or names a device that run's program has no code for"),
    ("125", "run: Gangway itself cannot run the program"),
    ("126", "run: the program cannot be executed"),
    ("127", "run: the program is not found"),
    ("other", "run: the program's own; 128+N in a shell if signal N ended it"),
];

/// An error with the exit code it leads to.
#[derive(Debug)]
pub struct Failure {
    pub code: u8,
    cause: anyhow::Error,
}

/// The exit status of a program as a shell would tell it.
pub fn of_program(status: ExitStatus) -> u8 {
    let signal = status.signal().map_or(0, |signal| 128 + signal);
    status.code().unwrap_or(signal).try_into().unwrap_or(FAILURE)
}

/// What a subcommand gives back.
pub type Outcome = Result<u8, Failure>;

impl Failure {
    pub fn new(code: u8, message: impl fmt::Display + fmt::Debug + Send + Sync + 'static) -> Self {
        Failure { code, cause: anyhow::Error::msg(message) }
    }

    /// Standard output was closed, as `gangway inspect FILE | head` does.
    pub fn is_broken_pipe(&self) -> bool {
        let error = self.cause.downcast_ref::<std::io::Error>();
        error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure { code: FAILURE, cause: error.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:#}", self.cause)
    }
}
