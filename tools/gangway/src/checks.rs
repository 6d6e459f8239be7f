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

use gangway_findings::{CHECKS, Check, Finding, Side};
use serde_json::{Value, json};

use crate::exit::{FAILURE, Failure, NOT_STARTED, Outcome, SUCCESS, of_program};

/// What is looked for: a place for each of [`CHECKS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks([bool; CHECKS.len()]);

/// Reads what `--check` is given.
pub fn named(text: &str) -> Result<Checks, String> {
    Checks::read(text).map_err(|name| {
        let names: Vec<String> = CHECKS.iter().map(|check| format!("`{}`", check.name)).collect();
        format!("`{name}` is no check; there are {} and `all`", names.join(", "))
    })
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

    fn names(self) -> impl Iterator<Item = &'static str> {
        CHECKS.iter().zip(self.0).filter(|(_, is)| *is).map(|(check, _)| check.name)
    }

    /// The variables that ask for them, of processors as devices and of the virtual GPU.
    pub fn variables(self) -> Vec<(&'static str, OsString)> {
        let names: Vec<&str> = self.names().collect();
        let mut variables = vec![("GANGWAY_VGPU_CHECK", names.join(",").into())];
        if names.contains(&"memory") {
            variables.push(("GANGWAY_CHECK", "1".into()));
        }
        variables
    }
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
    let findings: Vec<Finding> = text.lines().filter_map(Finding::read).collect();
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
        let file = side.source.as_ref().map_or("unknown", |source| &source.file);
        let mut physical = json!({ "artifactLocation": { "uri": file } });
        if let Some(source) = &side.source {
            physical["region"] =
                json!({ "startLine": source.line.max(1), "startColumn": source.column.max(1) });
        }
        json!({ "physicalLocation": physical, "message": { "text": side.what } })
    };
    let result = |finding: &Finding| {
        let mut locations = finding.sides.iter().rev().map(location);
        let main: Vec<Value> = locations.next().into_iter().collect();
        let kernel = match &finding.kernel[..] {
            "" => String::new(),
            kernel => format!(" (kernel {kernel})"),
        };
        json!({
            "ruleId": finding.check,
            "level": "error",
            "message": { "text": finding.message.clone() + &kernel },
            "locations": main,
            "relatedLocations": locations.collect::<Vec<_>>(),
        })
    };
    let results: Vec<Value> = findings.iter().map(result).collect();
    let rule = |check: &Check| json!({ "id": check.name, "shortDescription": { "text": check.about } });
    let rules: Vec<Value> = CHECKS.iter().map(rule).collect();
    json!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{
            "tool": { "driver": { "name": "gangway", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results,
        }],
    })
}

#[cfg(test)]
mod tests {
    use gangway_findings::Source;

    use super::*;

    #[test]
    fn checks_are_a_list() {
        let asked = |text| Checks::read(text).map(Checks::variables);
        let vgpu = |text: &str| ("GANGWAY_VGPU_CHECK", OsString::from(text));
        assert_eq!(asked("race").unwrap(), [vgpu("race")]);
        assert_eq!(asked("all").unwrap(), [vgpu("memory,race,init"), ("GANGWAY_CHECK", "1".into())]);
        assert_eq!(asked("init,race,memory"), asked("all"));
        assert_eq!(asked("race,rice").unwrap_err(), "rice");
    }

    #[test]
    fn a_race_has_both_places() {
        let side = |source| Side { source, ..Side::default() };
        let source = Source { file: "a.c".to_owned(), line: 7, column: 0 };
        let (message, kernel) = ("m".to_owned(), "k".to_owned());
        let sides = vec![side(Some(source)), side(None)];
        let sarif = as_sarif(&[Finding { message, kernel, sides, ..Finding::default() }]);
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
