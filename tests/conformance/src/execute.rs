//! Runs a compiled program under one offload library.
//!
//! Called by the test target, once per library. The environment is built from
//! nothing, so that no variable of the caller's shell decides a result, and the
//! loader's own trace says which `libomptarget` the process really initialised:
//! a run under Gangway that silently found the stock library is an error.
//!
//! Never waits for ever: a program that is not done in time is killed with all
//! the processes that it started.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::LazyLock;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use wait_timeout::ChildExt;

use crate::build::Built;
use crate::header::{Header, Status};
use crate::toolchain::offload_library;

/// The longest that a program may run. A machine that does other work at the same time needs more.
static TIME_LIMIT: LazyLock<Duration> = LazyLock::new(|| {
    Duration::from_secs(match env::var("GANGWAY_CONFORMANCE_SECONDS") {
        Ok(seconds) => seconds.parse().expect("GANGWAY_CONFORMANCE_SECONDS is a number"),
        Err(_) => 60,
    })
});

/// An offload library to run programs under.
#[derive(Debug, Clone)]
pub struct OffloadLibrary {
    /// For messages: `stock` or `gangway`.
    pub name: &'static str,
    /// The directory that holds it.
    pub directory: PathBuf,
    /// The directory of a CUDA driver that comes first, where programs are to find a GPU.
    pub driver: Option<PathBuf>,
    /// The directory that holds `libomp.so.5`, which both work with.
    pub libomp: PathBuf,
    /// Whether files that a run leaves in the temporary directory are an error.
    /// The stock library writes its own to `/tmp` whatever `TMPDIR` says.
    pub leaves_no_files: bool,
    /// Libraries that are loaded before all others, as a sanitizer's runtime.
    pub preloaded: Vec<PathBuf>,
    /// Variables of the programs' environment beside those that their headers name.
    pub environment: Vec<(&'static str, OsString)>,
    /// Who looks for mistakes of programs.
    pub checker: Option<Checker>,
}

/// `gangway run` with checks.
#[derive(Debug, Clone)]
pub struct Checker {
    /// The command.
    pub gangway: PathBuf,
    /// As `--check` names them.
    pub checks: String,
    /// How many times as long as without it a program may take.
    pub patience: u32,
}

/// What a run did, as far as programs are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub status: Status,
    pub stdout: String,
    /// Kept for messages; never compared.
    pub stderr: String,
    /// What a checker has found, as SARIF.
    pub findings: Option<String>,
}

/// The file with what a checker has found, in the folder of a run.
const FINDINGS: &str = "findings.sarif";

/// Whether device code may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offload {
    /// `OMP_TARGET_OFFLOAD=MANDATORY`, unless the header says otherwise: a fall
    /// back to the host cannot pass for offloading.
    AsHeaderSays,
    /// `OMP_TARGET_OFFLOAD=DISABLED`: everything on the host.
    Disabled,
}

impl OffloadLibrary {
    /// Runs `built` and collects what it printed and how it ended.
    pub fn run(&self, header: &Header, built: &Built, offload: Offload) -> Result<Outcome, String> {
        let place = tempfile::tempdir().map_err(|error| format!("temporary directory: {error}"))?;
        let run = Run { library: self, header, built, place: place.path() };
        let outcome = run.start_and_wait(offload)?;
        run.check_library_used(&outcome)?;
        if self.leaves_no_files {
            run.check_nothing_left()?;
        }
        Ok(outcome)
    }
}

/// One run and the directory that it has for itself.
struct Run<'a> {
    library: &'a OffloadLibrary,
    header: &'a Header,
    built: &'a Built,
    place: &'a Path,
}

impl Run<'_> {
    fn start_and_wait(&self, offload: Offload) -> Result<Outcome, String> {
        let io = |error: std::io::Error| format!("{}: {error}", self.built.executable.display());
        fs::create_dir(self.temporary()).map_err(io)?;
        let (stdout, stderr) = (self.place.join("stdout"), self.place.join("stderr"));

        let mut command = self.command(offload);
        // Files, not pipes: a grandchild that lives on would keep a pipe open.
        command.stdout(File::create(&stdout).map_err(io)?);
        command.stderr(File::create(&stderr).map_err(io)?);
        let mut child = command.process_group(0).spawn().map_err(io)?;

        let patience = self.library.checker.as_ref().map_or(1, |checker| checker.patience);
        let limit = *TIME_LIMIT * patience;
        let ended = child.wait_timeout(limit).map_err(io)?;
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            // Also after a normal end: nothing that the program started outlives its test.
            // The group is gone already where it started nothing; that is no error.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let read = |path: &Path| {
            fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(io)
        };
        let (stdout, stderr) = (read(&stdout)?, read(&stderr)?);
        let Some(ended) = ended else {
            child.wait().map_err(io)?;
            return Err(format!(
                "under {}: not done after {} s; killed\n--- stdout\n{stdout}--- stderr\n{stderr}",
                self.library.name,
                limit.as_secs()
            ));
        };
        let findings = match self.library.checker {
            Some(_) => Some(read(&self.place.join(FINDINGS))?),
            None => None,
        };
        let status = match (status(ended), self.header.status, &self.library.checker) {
            // Who waits for the program tells its signal as a shell does.
            (Status::Exit(code), Status::Signal(signal), Some(_)) if code == 128 + signal => {
                self.header.status
            }
            (status, ..) => status,
        };
        Ok(Outcome { status, stdout, stderr, findings })
    }

    fn command(&self, offload: Offload) -> Command {
        let mut command = self.program();
        command.args(&self.header.arguments).current_dir(self.place).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").env("TMPDIR", self.temporary());
        let folders = [&self.library.directory, &self.library.libomp];
        let folders = self.library.driver.iter().chain(folders);
        let path = std::env::join_paths(folders).expect("folders of libraries whose paths have no colon");
        command.env("LD_LIBRARY_PATH", path);
        command.env("LD_DEBUG", "libs").env("LD_DEBUG_OUTPUT", self.place.join("loader"));
        let mut preloaded = self.library.preloaded.clone();
        if self.header.preload {
            preloaded.push(self.library.directory.join(offload_library()));
        }
        if !preloaded.is_empty() {
            let preloaded =
                std::env::join_paths(preloaded).expect("a library to preload whose path has no colon");
            command.env("LD_PRELOAD", preloaded);
        }
        command.envs(self.library.environment.iter().map(|(name, value)| (name, value)));
        if let Some(library) = &self.built.library {
            command.env("CONFORMANCE_LIBRARY", library);
        }
        if let Some(tool) = &self.built.tool {
            command.env("OMP_TOOL", "enabled").env("OMP_TOOL_LIBRARIES", tool);
        }
        command.env("OMP_TARGET_OFFLOAD", "MANDATORY");
        for (name, value) in &self.header.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if offload == Offload::Disabled {
            command.env("OMP_TARGET_OFFLOAD", "DISABLED");
        }
        command
    }

    /// The program, or what runs it.
    fn program(&self) -> Command {
        let Some(Checker { gangway, checks, .. }) = &self.library.checker else {
            return Command::new(&self.built.executable);
        };
        let mut command = Command::new(gangway);
        command.args(["run", "--device", "vgpu", "--check-exit", "0", "--sarif", FINDINGS]);
        command.arg(format!("--check={checks}")).arg("--").arg(&self.built.executable);
        command
    }

    fn temporary(&self) -> PathBuf {
        self.place.join("tmp")
    }

    /// Reads the loader's trace: every `libomptarget` that was initialised has to
    /// be the one under test, and there has to be one.
    fn check_library_used(&self, outcome: &Outcome) -> Result<(), String> {
        let mut used = Vec::new();
        for entry in entries(self.place)? {
            if !entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with("loader.")) {
                continue;
            }
            let trace = fs::read(&entry).map_err(|error| format!("loader trace: {error}"))?;
            let trace = String::from_utf8_lossy(&trace);
            let initialised = trace.lines().filter_map(|line| line.split_once("calling init: "));
            used.extend(initialised.map(|(_, path)| PathBuf::from(path.trim())).filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str());
                name.is_some_and(|name| name.starts_with("libomptarget.so."))
            }));
        }
        // Whichever release's name it was asked for by.
        let wanted = &*self.library.directory;
        if used.iter().any(|path| path.parent() != Some(wanted)) || used.is_empty() {
            return Err(format!(
                "under {}: the process initialised {used:?}, not the one in {}\n--- stderr\n{}",
                self.library.name,
                wanted.display(),
                outcome.stderr
            ));
        }
        Ok(())
    }

    fn check_nothing_left(&self) -> Result<(), String> {
        let left = entries(&self.temporary())?;
        if left.is_empty() {
            return Ok(());
        }
        Err(format!("under {}: the run left files behind: {left:?}", self.library.name))
    }
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let listed = fs::read_dir(directory).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()
    });
    listed.map_err(|error| format!("{}: {error}", directory.display()))
}

fn status(ended: ExitStatus) -> Status {
    match ended.code() {
        Some(code) => Status::Exit(code),
        None => Status::Signal(ended.signal().unwrap_or(0)),
    }
}
