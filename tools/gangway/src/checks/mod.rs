//! `gangway run --check`: what is looked for, and what was found.
//!
//! The runtime and the virtual GPU print what they find, and add a line of JSON each to a file of ours. The program is
//! a process beside this one then, which waits for it, so that the exit status can say that something was found.
#![allow(unsafe_code, reason = "signals are the C library's")]

mod page;
mod sarif;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::exit::{FAILURE, Failure, NOT_STARTED, Outcome, SUCCESS, of_program};
use gangway_findings::{CHECKS, Finding, Names};

/// What is looked for: a place for each of [`CHECKS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks([bool; CHECKS.len()]);

/// Reads what `--check` is given.
pub fn named(text: &str) -> Result<Checks, String> {
    Checks::read(text).map_err(|name| format!("`{name}` is no check; there are {Names} and `all`"))
}

impl Checks {
    /// Reads a list of names with commas between; the one that is none.
    fn read(text: &str) -> Result<Self, String> {
        let mut checks = Self::default();
        for name in text.split(',').map(str::trim) {
            match CHECKS.iter().position(|check| check.name == name) {
                Some(index) => checks.0[index] = true,
                None if name == "all" => checks.0 = [true; CHECKS.len()],
                None => return Err(name.to_owned()),
            }
        }
        Ok(checks)
    }

    /// Whether a check is among them.
    pub fn has(self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// Whether one of them goes by what the host accesses.
    pub fn hear_the_host(self) -> bool {
        self.has("map") || self.has("race")
    }

    fn names(self) -> impl Iterator<Item = &'static str> {
        CHECKS.iter().zip(self.0).filter(|(_, is)| *is).map(|(check, _)| check.name)
    }

    /// The variables that ask for them, of processors as devices and of the virtual GPU.
    pub fn variables(self) -> Vec<(&'static str, OsString)> {
        let names: Vec<&str> = self.names().collect();
        let names = names.join(",");
        vec![("GANGWAY_VGPU_CHECK", names.clone().into()), ("GANGWAY_CHECK", names.into())]
    }
}

/// What becomes of what is found.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The exit status where something was found and the program's own is 0.
    pub status: u8,
    /// A file for [`sarif`].
    pub sarif: Option<PathBuf>,
    /// A file for [`page`].
    pub page: Option<PathBuf>,
}

/// Runs a program that is checked, and gives its exit status.
///
/// # Errors
/// The program cannot be executed.
pub fn run(mut command: Command, wanted: &Wanted) -> io::Result<Outcome> {
    let folder = match tempfile::Builder::new().prefix("gangway-check-").tempdir() {
        Ok(folder) => folder,
        Err(error) => {
            let text = format!("cannot make a folder for what is found: {error}");
            return Ok(Err(Failure::new(NOT_STARTED, text)));
        }
    };
    let log = folder.path().join("found");
    command.env("GANGWAY_CHECK_LOG", &log);
    // It does not become the program.
    command.env_remove("GANGWAY_VGPU_PROGRAM");
    // Where this process is killed the program ends as well, as it would if this process had become it.
    // SAFETY: a system call that a child may make before it executes its program.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
    let child = command.spawn()?;
    let program = command.get_program().display().to_string();
    Ok(ended(child, &program, &log, wanted))
}

/// Waits for the program, and tells what was found.
fn ended(mut child: Child, program: &str, log: &Path, wanted: &Wanted) -> Outcome {
    pass_signals_on(child.id());
    let status = child.wait()?;
    // Its number may be another's now.
    CHILD.store(0, Ordering::Relaxed);
    let text = fs::read_to_string(log).unwrap_or_default();
    let findings: Vec<Finding> = text.lines().filter_map(Finding::read).collect();
    if let Some(file) = &wanted.sarif {
        write(file, serde_json::to_string_pretty(&sarif::sarif(&findings))? + "\n")?;
    }
    if let Some(file) = &wanted.page {
        write(file, page::page(program, &findings))?;
    }
    let own = of_program(status);
    Ok(if own == SUCCESS && !findings.is_empty() { wanted.status } else { own })
}

fn write(file: &Path, text: String) -> Result<(), Failure> {
    fs::write(file, text)
        .map_err(|error| Failure::new(FAILURE, format!("cannot write {}: {error}", file.display())))
}

/// The program, for the handler of signals.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// Signals that are to end this process go to the program, which decides. Those of a terminal go to both already.
fn pass_signals_on(child: u32) {
    extern "C" fn pass(signal: libc::c_int) {
        let child = CHILD.load(Ordering::Relaxed);
        if child > 0 {
            // SAFETY: a call that a handler may make.
            unsafe { libc::kill(child, signal) };
        }
    }
    CHILD.store(child as i32, Ordering::Relaxed);
    // SAFETY: handlers that do what handlers may.
    unsafe {
        for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2] {
            libc::signal(signal, pass as *const () as libc::sighandler_t);
        }
        for signal in [libc::SIGINT, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_a_list() {
        let asked = |text| Checks::read(text).map(Checks::variables);
        let both =
            |text: &str| ["GANGWAY_VGPU_CHECK", "GANGWAY_CHECK"].map(|name| (name, OsString::from(text)));
        assert_eq!(asked("race").unwrap(), both("race"));
        assert_eq!(asked("all").unwrap(), both("memory,map,race,sync,init"));
        assert_eq!(asked("init,sync,race,map,memory"), asked("all"));
        assert_eq!(asked("race,rice").unwrap_err(), "rice");
    }
}
