//! One call of a compiler: without a shell, in a folder of its own, with a limit to what it takes and writes.

use gangway_settings::is_privileged;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Error, Read};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What a compiler may take, for images of hundreds of kernels on a busy machine.
const LONGEST: Duration = Duration::from_secs(300);
/// What a file that it writes may have.
const LARGEST: u64 = 1 << 30;
/// What is looked at of what it says.
const MOST_WORDS: u64 = 4 << 10;

/// A folder for this user alone, removed with all in it.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Result<Self, String> {
        let parent = if is_privileged() { "/tmp".into() } else { env::temp_dir() };
        let mut template = parent.join("gangway-XXXXXX").into_os_string().into_vec();
        template.push(0);
        // SAFETY: the template ends in a zero byte; the call writes into it. The folder has mode 0700.
        if unsafe { libc::mkdtemp(template.as_mut_ptr().cast()) }.is_null() {
            let error = Error::last_os_error();
            return Err(format!("no folder in {} to compile the image in: {error}", parent.display()));
        }
        template.pop();
        Ok(Self(OsString::from_vec(template).into()))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed has nobody to be told to.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a compiler in a folder, and gives what it has written to `output`.
pub fn run(tool: &Path, words: &[&OsStr], folder: &Path, output: &Path) -> Result<Vec<u8>, String> {
    run_within(tool, words, folder, output, LONGEST)
}

fn run_within(
    tool: &Path,
    words: &[&OsStr],
    folder: &Path,
    output: &Path,
    longest: Duration,
) -> Result<Vec<u8>, String> {
    let called = tool.display();
    let said = folder.join("said");
    let file = |error: Error| format!("cannot write {}: {error}", said.display());
    let to = File::create_new(&said).map_err(file)?;
    let errors = to.try_clone().map_err(file)?;
    let mut command = Command::new(tool);
    command.args(words).stdin(Stdio::null()).stdout(to).stderr(errors);
    if is_privileged() {
        command.env_clear();
    }
    if is_privileged() || env::var_os("PATH").is_none() {
        command.env("PATH", "/usr/bin:/bin");
    }
    // What it leaves for its own steps is in the folder. What was put before the program is not for it.
    command.env("TMPDIR", folder).env_remove("LD_PRELOAD");
    // With its steps it can be ended at once.
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| format!("cannot execute {called}: {error}"))?;
    limit_files(&child);
    let status = wait(&mut child, output, longest).map_err(|why| format!("{called} {why}"))?;
    if status.is_none_or(|status| status.success())
        && let Ok(code) = fs::read(output)
    {
        return Ok(code);
    }
    let status = status.map_or_else(|| "it has written nothing".to_owned(), |status| status.to_string());
    Err(format!("{called} cannot compile it ({status}): {}", first_line(&said)))
}

/// How it ended; nothing if the program has ended children itself (`SIGCHLD` ignored, say).
fn wait(child: &mut Child, output: &Path, longest: Duration) -> Result<Option<ExitStatus>, String> {
    let begin = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Some(status)),
            Ok(None) => {}
            Err(error) if error.raw_os_error() == Some(libc::ECHILD) => {
                // SAFETY: signal 0 asks whether there is such a process.
                if unsafe { libc::kill(child.id() as i32, 0) } != 0 {
                    return Ok(None);
                }
            }
            Err(error) => return Err(format!("cannot be waited for: {error}")),
        }
        let large = fs::metadata(output).is_ok_and(|output| output.len() >= LARGEST);
        if large || begin.elapsed() > longest {
            // SAFETY: the group has been made with the process, which has not been waited for.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
            let _ = child.wait();
            let seconds = longest.as_secs();
            return Err(if large {
                format!("was ended, as it wrote more than {LARGEST} bytes")
            } else {
                format!("was ended, as it had not compiled it after {seconds} seconds")
            });
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// From outside: what runs between `fork` and `exec` may not allocate, and handlers of `fork` would run.
fn limit_files(child: &Child) {
    let limit = libc::rlimit { rlim_cur: LARGEST, rlim_max: LARGEST };
    // SAFETY: a limit, and no place for the old one. Where it fails, sizes are looked at.
    unsafe { libc::prlimit(child.id() as i32, libc::RLIMIT_FSIZE, &raw const limit, std::ptr::null_mut()) };
}

/// The first line of what it has said.
fn first_line(said: &Path) -> String {
    let mut words = Vec::new();
    let read = File::open(said).and_then(|file| file.take(MOST_WORDS).read_to_end(&mut words));
    let words = String::from_utf8_lossy(&words);
    match (read, words.lines().find(|line| !line.trim().is_empty())) {
        (Ok(_), Some(line)) => line.trim().to_owned(),
        _ => "it says nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a script of the shell in the compiler's place.
    fn script(text: &str, longest: Duration) -> (Result<Vec<u8>, String>, PathBuf) {
        let folder = Folder::new().unwrap();
        let output = folder.path().join("output");
        let words = ["-c", text, "compiler", output.to_str().unwrap()].map(OsStr::new);
        let done = run_within(Path::new("/bin/sh"), &words, folder.path(), &output, longest);
        (done, folder.path().to_owned())
    }

    #[test]
    fn what_it_writes_is_the_answer_and_nothing_is_left() {
        let (done, folder) = script("echo code > \"$1\"; echo more > $TMPDIR/more; test -d $TMPDIR", LONGEST);
        assert_eq!(done.as_deref(), Ok(&b"code\n"[..]));
        assert!(!folder.exists());
    }

    #[test]
    fn the_folder_is_the_users_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = Folder::new().unwrap();
        assert_eq!(folder.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn failures_are_told_with_the_first_line() {
        let said = |text| script(text, LONGEST).0.unwrap_err();
        assert_eq!(
            said("echo; echo 'error: wrong' >&2; echo more; exit 3"),
            "/bin/sh cannot compile it (exit status: 3): error: wrong"
        );
        assert_eq!(said("kill -9 $$"), "/bin/sh cannot compile it (signal: 9 (SIGKILL)): it says nothing");
        assert_eq!(said("echo fine"), "/bin/sh cannot compile it (exit status: 0): fine");
        let folder = Folder::new().unwrap();
        let missing = run(Path::new("/nowhere/clang"), &[], folder.path(), &folder.path().join("x"));
        assert!(missing.unwrap_err().starts_with("cannot execute /nowhere/clang: "));
    }

    #[test]
    fn it_may_not_take_for_ever() {
        let begin = Instant::now();
        let (done, _) = script("sleep 1000 & sleep 1000", Duration::from_millis(50));
        assert_eq!(done.unwrap_err(), "/bin/sh was ended, as it had not compiled it after 0 seconds");
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
}
