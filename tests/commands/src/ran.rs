//! Running a command, and what has come of it.

use std::fmt;
use std::io::{ErrorKind, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use wait_timeout::ChildExt;

/// What takes so long hangs: it takes seconds, or many times that on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(300);

/// Commands can be run by tests.
pub trait Run {
    /// Runs the command to its end, with nothing to read.
    ///
    /// # Panics
    /// It cannot be run, or it hangs.
    fn run(&mut self) -> Ran;
}

impl Run for Command {
    #[track_caller]
    fn run(&mut self) -> Ran {
        let command = format!("{self:?}");
        self.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            start(self).unwrap_or_else(|error| panic!("{command}: {error}; the test needs it installed"));
        // Read while it runs: what writes more than a pipe holds would wait for ever.
        let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
        let Some(status) = child.wait_timeout(LIMIT).expect("a child can be waited for") else {
            let _ = child.kill();
            panic!("{command} hangs: it has run for {LIMIT:?}");
        };
        let text = |reader: JoinHandle<Vec<u8>>| {
            String::from_utf8_lossy(&reader.join().expect("pipes can be read")).into_owned()
        };
        Ran { command, status, stdout: text(stdout), stderr: text(stderr) }
    }
}

/// What a program that was just written may be busy for: another test's thread has forked while it was
/// open for writing, and its child has not begun its own program yet.
const BUSY: Duration = Duration::from_secs(30);

/// Starts the command, once nobody has its program open for writing any more.
fn start(command: &mut Command) -> std::io::Result<Child> {
    let since = Instant::now();
    loop {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && since.elapsed() < BUSY => {
                sleep(Duration::from_millis(5));
            }
            started => return started,
        }
    }
}

/// Reads all of it on a thread.
fn reader(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    spawn(move || {
        let mut all = Vec::new();
        pipe.expect("a pipe").read_to_end(&mut all).expect("pipes can be read");
        all
    })
}

/// A command that has been run.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The command, as a shell would take it.
    pub command: String,
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// The command, its status, and all that it has said.
impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, status, stdout, stderr } = self;
        write!(f, "{command}\n{status}\n{stdout}{stderr}")
    }
}

impl Ran {
    /// Its status, if it has ended by itself.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The signal that has ended it.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    /// What it has written to both outputs.
    #[must_use]
    pub fn said(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// # Panics
    /// It has failed.
    #[track_caller]
    pub fn succeeded(self) -> Self {
        assert!(self.status.success(), "{self}");
        self
    }

    /// # Panics
    /// It has succeeded.
    #[track_caller]
    pub fn failed(self) -> Self {
        assert!(!self.status.success(), "it should fail: {self}");
        self
    }

    /// # Panics
    /// Something else has ended it than this signal.
    #[track_caller]
    pub fn ended_by(self, signal: i32) -> Self {
        assert_eq!(self.signal(), Some(signal), "{self}");
        self
    }

    /// # Panics
    /// It has failed, or its standard output is another.
    #[track_caller]
    pub fn printed(self, expected: &str) -> Self {
        let ran = self.succeeded();
        assert_eq!(ran.stdout, expected, "{ran}");
        ran
    }

    /// # Panics
    /// A part is missing on standard error.
    #[track_caller]
    pub fn told(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is missing: {self}");
        }
        self
    }
}
