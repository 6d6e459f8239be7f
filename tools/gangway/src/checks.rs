//! `gangway run --check`: what is looked for, and what was found.
//!
//! The runtime and the virtual GPU print what they find, and add a line of JSON each to a file of ours. The program is
//! a process beside this one then, which waits for it, so that the exit status can say that something was found.
#![allow(unsafe_code, reason = "signals are the C library's")]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicI32, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::exit::{FAILURE, Failure, NOT_STARTED, Outcome, SUCCESS, of_program};

/// What is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    memory: bool,
    race: bool,
}

/// Reads what `--check` is given.
pub fn named(text: &str) -> Result<Checks, String> {
    Checks::read(text).map_err(|name| format!("`{name}` is no check; there are `memory`, `race` and `all`"))
}

impl Checks {
    /// Reads a list of names with commas between; the one that is none.
    fn read(text: &str) -> Result<Self, String> {
        text.split(',').try_fold(Self::default(), |checks, name| match name.trim() {
            "memory" => Ok(Self { memory: true, ..checks }),
            "race" => Ok(Self { race: true, ..checks }),
            "all" => Ok(Self { memory: true, race: true }),
            other => Err(other.to_owned()),
        })
    }

    /// The variables that ask for them, of processors as devices and of the virtual GPU.
    pub fn variables(self) -> Vec<(&'static str, OsString)> {
        let all = [("memory", self.memory), ("race", self.race)];
        let names: Vec<&str> = all.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        let mut variables = vec![("GANGWAY_VGPU_CHECK", names.join(",").into())];
        if self.memory {
            variables.push(("GANGWAY_CHECK", "1".into()));
        }
        variables
    }
}

/// One line of the file.
#[derive(Debug, Deserialize)]
struct Finding {
    kind: String,
    message: String,
    kernel: String,
    sides: Vec<Side>,
}

#[derive(Debug, Deserialize)]
struct Side {
    what: String,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

/// Runs a program that is checked, and gives its exit status, or `found` if that is 0 and something was found.
///
/// # Errors
/// The program cannot be executed.
pub fn run(mut command: Command, found: u8, sarif: Option<&Path>) -> io::Result<Outcome> {
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
    let child = command.spawn()?;
    Ok(ended(child, &log, found, sarif))
}

/// Waits for the program, and tells what was found.
fn ended(mut child: Child, log: &Path, found: u8, sarif: Option<&Path>) -> Outcome {
    pass_signals_on(child.id());
    let status = child.wait()?;
    // Its number may be another's now.
    CHILD.store(0, Ordering::Relaxed);
    let text = fs::read_to_string(log).unwrap_or_default();
    let findings: Vec<Finding> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if let Some(file) = sarif {
        let text = serde_json::to_string_pretty(&as_sarif(&findings))?;
        fs::write(file, text + "\n")
            .map_err(|error| Failure::new(FAILURE, format!("cannot write {}: {error}", file.display())))?;
    }
    let own = of_program(status);
    Ok(if own == SUCCESS && !findings.is_empty() { found } else { own })
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

/// SARIF 2.1.0 (OASIS), as far as it is needed: a result for each finding, with both places.
fn as_sarif(findings: &[Finding]) -> Value {
    let location = |side: &Side| {
        let region = side.line.map(|line| {
            let column = side.column.filter(|column| *column > 0).unwrap_or(1);
            json!({ "startLine": line.max(1), "startColumn": column })
        });
        let mut physical =
            json!({ "artifactLocation": { "uri": side.file.as_deref().unwrap_or("unknown") } });
        if let Some(region) = region {
            physical["region"] = region;
        }
        json!({ "physicalLocation": physical, "message": { "text": side.what } })
    };
    let result = |finding: &Finding| {
        let mut locations: Vec<Value> = finding.sides.iter().rev().map(location).collect();
        let main = if locations.is_empty() { Vec::new() } else { vec![locations.remove(0)] };
        json!({
            "ruleId": finding.kind,
            "level": "error",
            "message": { "text": format!("{} (kernel {})", finding.message, finding.kernel) },
            "locations": main,
            "relatedLocations": locations,
        })
    };
    let results: Vec<Value> = findings.iter().map(result).collect();
    let rule = json!({
        "id": "race",
        "shortDescription": { "text": "Accesses of two threads to one place, of which one writes, that nothing orders" },
    });
    json!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{
            "tool": { "driver": { "name": "gangway", "version": env!("CARGO_PKG_VERSION"), "rules": [rule] } },
            "results": results,
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_a_list() {
        let asked = |text| Checks::read(text).map(Checks::variables);
        let vgpu = |text: &str| ("GANGWAY_VGPU_CHECK", OsString::from(text));
        assert_eq!(asked("race").unwrap(), [vgpu("race")]);
        assert_eq!(asked("all").unwrap(), [vgpu("memory,race"), ("GANGWAY_CHECK", "1".into())]);
        assert_eq!(asked("race,memory"), asked("all"));
        assert_eq!(asked("race,sync").unwrap_err(), "sync");
    }

    #[test]
    fn a_race_has_both_places() {
        let line = r#"{"kind":"race","message":"m","kernel":"k","count":3,"sides":[
            {"what":"a write","function":"f","instruction":"st","file":"a.c","line":7,"column":3},
            {"what":"a read","function":"f","instruction":"ld","file":null,"line":null,"column":null}]}"#;
        let sarif = as_sarif(&[serde_json::from_str(line).unwrap()]);
        let result = &sarif["runs"][0]["results"][0];
        assert_eq!(result["message"]["text"], "m (kernel k)");
        assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "unknown");
        let other = &result["relatedLocations"][0]["physicalLocation"];
        assert_eq!(
            (&other["artifactLocation"]["uri"], &other["region"]["startLine"]),
            (&json!("a.c"), &json!(7))
        );
    }
}
