//! Starts compilers and tests so that none of them outlives its time.
//!
//! Called by `compile` and `execute`. Each process leads a group of its own, and
//! the whole group is killed when the time is up and also after a normal end. It
//! never waits for ever, whatever the program does with its output.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process_group, setrlimit};
use wait_timeout::ChildExt;

/// The most of a program's output that is kept; what a test prints is far less.
const OUTPUT_LIMIT: u64 = 4 << 20;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Exit(i32),
    Signal(i32),
    /// It was killed when its time was up.
    TimedOut,
}

/// What a process did.
#[derive(Debug, Clone)]
pub struct Finished {
    pub ending: Ending,
    /// Standard output and standard error in the order in which they were written.
    pub output: String,
    pub elapsed: Duration,
}

impl Ending {
    pub fn succeeded(self) -> bool {
        self == Self::Exit(0)
    }
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exit(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => write!(f, "killed when its time was up"),
        }
    }
}

/// Forbids core files to this process and all that it starts: tests that are
/// meant to crash would leave hundreds.
pub fn without_core_files() {
    // A machine that forbids even lowering the limit only gets the files.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
}

/// Runs `command` to its end, or for `limit` at most.
pub fn run(command: &mut Command, limit: Duration) -> Result<Finished> {
    let (reader, writer) = std::io::pipe()?;
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .spawn()
        .with_context(|| command.get_program().display().to_string())?;
    // The command keeps the writing ends open otherwise, and reading would not end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let reading = thread::spawn(move || read_all(reader));
    let ended = child.wait_timeout(limit)?;
    let elapsed = start.elapsed();
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // An error says that the group is gone already.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let ending = match ended {
        Some(status) => status.into(),
        None => {
            child.wait()?;
            Ending::TimedOut
        }
    };
    let output = reading.join().expect("reading does not panic")?;
    Ok(Finished { ending, output: String::from_utf8_lossy(&output).into_owned(), elapsed })
}

/// Reads to the end, since a full pipe would stop the program, but keeps no more
/// than the limit.
fn read_all(mut reader: impl Read) -> std::io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    reader.by_ref().take(OUTPUT_LIMIT).read_to_end(&mut kept)?;
    std::io::copy(&mut reader, &mut std::io::sink())?;
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::{Ending, OUTPUT_LIMIT, run};

    fn shell(script: &str, limit: Duration) -> super::Finished {
        run(Command::new("sh").args(["-c", script]), limit).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn both_outputs_in_order() {
        let finished = shell("echo a; echo b >&2; echo c; exit 3", LONG);
        assert_eq!((finished.output.as_str(), finished.ending), ("a\nb\nc\n", Ending::Exit(3)));
        assert_eq!(shell("kill -SEGV $$", LONG).ending, Ending::Signal(11));
    }

    #[test]
    fn what_hangs_is_killed_with_all_that_it_started() {
        // On a busy machine the shell may say nothing within the shorter times.
        for limit in [300, 3_000, 30_000].map(Duration::from_millis) {
            let finished = shell("sleep 600 & echo $$; sleep 600", limit);
            assert_eq!(finished.ending, Ending::TimedOut);
            // Reading ended, so nobody holds the pipe any more: the children are gone.
            assert!(finished.elapsed < limit + Duration::from_secs(60), "{:?}", finished.elapsed);
            if !finished.output.is_empty() {
                return;
            }
        }
        panic!("what it said is lost");
    }

    #[test]
    fn children_left_behind_do_not_keep_us_waiting() {
        assert!(shell("sleep 600 & exit 0", LONG).elapsed < LONG);
    }

    #[test]
    fn endless_output_is_cut() {
        let finished = shell("yes | head -c 9000000", LONG);
        assert_eq!(finished.output.len() as u64, OUTPUT_LIMIT);
        assert!(finished.ending.succeeded());
    }
}
