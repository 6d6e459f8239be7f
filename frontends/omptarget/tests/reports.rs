//! `GANGWAY_REPORT` and `GANGWAY_TRACE`, whatever way a program ends in, and what they say of
//! regions that the host ran. `gangway run` starts the programs, as users do.

mod support;

use gangway_commands::{Folder, Ran, Run};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use support::{OFFLOAD, compile, source, staged};

struct Program(Folder);

impl Program {
    fn new() -> Self {
        let folder = Folder::new();
        compile(&source("endings.c"), &folder.path("endings"), &[OFFLOAD]);
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    /// Runs it with a report and a trace in files.
    fn run(&self, end: &str, variables: &[(&str, &str)]) -> Ran {
        let tool = staged().join("../../bin/gangway");
        // Whoever starts tests in the background has programs ignore signals.
        let mut command = Command::new("/usr/bin/env");
        command.arg("--default-signal").arg(tool);
        command.env_clear().env("PATH", "/usr/bin:/bin").envs(variables.iter().copied());
        command.args(["run", "--report=json", "--report-file"]).arg(self.path(&format!("{end}.report")));
        command.arg("--trace").arg(self.path(&format!("{end}.trace"))).arg("--");
        command.arg(self.path("endings")).arg(end).run()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.0.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

#[test]
fn they_survive_every_end() {
    let program = Program::new();
    for (end, code, signal) in [
        ("return", Some(0), None),
        ("abort", None, Some(6)),
        ("_exit", Some(3), None),
        ("_Exit", Some(4), None),
        ("quick_exit", Some(5), None),
        ("interrupt", None, Some(2)),
        ("terminate", None, Some(15)),
        ("fault", None, Some(11)),
        ("kernel", None, Some(11)),
    ] {
        let output = program.run(end, &[("OMP_TARGET_OFFLOAD", "MANDATORY")]);
        assert_eq!((output.code(), output.signal()), (code, signal), "{output}");
        let report = program.json(&format!("{end}.report"));
        assert_eq!(report["kernels"][0]["name"], "main:11", "{end}");
        assert_eq!(report["kernels"][0]["count"], 3, "{end}");
        let trace = program.json(&format!("{end}.trace"));
        let kernels =
            trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["cat"] == "kernel");
        // The kernel that ends the program is in the trace, too.
        assert_eq!(kernels.count(), if end == "kernel" { 4 } else { 3 }, "{end}");
    }
}

/// A program that closes its only library with device code goes on, and may open it again.
#[test]
fn they_have_what_libraries_do_that_come_and_go() {
    let program = Program::new();
    compile(&source("library.c"), &program.path("library.so"), &[OFFLOAD, "-shared", "-fPIC"]);
    compile(&source("opens.c"), &program.path("endings"), &[]);
    let library = program.path("library.so");
    program.run(library.to_str().unwrap(), &[]).succeeded();
    let report = program.json("library.so.report");
    assert_eq!(
        (&report["kernels"][0]["name"], &report["kernels"][0]["count"]),
        (&"twice:3".into(), &3.into())
    );
    let trace = program.json("library.so.trace");
    let kernels = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["cat"] == "kernel");
    assert_eq!(kernels.count(), 3);
}

#[test]
fn a_full_disk_costs_the_report_and_not_the_status() {
    let program = Program::new();
    for end in ["return", "quick_exit"] {
        let file = |kind| program.path(&format!("{end}.{kind}"));
        std::os::unix::fs::symlink("/dev/full", file("report")).unwrap();
        std::os::unix::fs::symlink("/dev/full", file("trace")).unwrap();
        let output = program.run(end, &[]);
        assert_eq!(output.code(), Some(if end == "return" { 0 } else { 5 }));
        for (what, kind) in [("the report", "report"), ("the trace", "trace")] {
            let line = format!(
                "gangway: cannot write {what} to {}: No space left on device (os error 28)\n",
                file(kind).display()
            );
            assert_eq!(output.stderr.matches(&line).count(), 1, "{output}");
        }
    }
}

#[test]
fn regions_that_the_host_ran_are_counted_with_the_reason() {
    let program = Program::new();
    for (variable, reason) in [
        (("OMP_TARGET_OFFLOAD", "DISABLED"), "OMP_TARGET_OFFLOAD is DISABLED"),
        (("OMP_DEFAULT_DEVICE", "4"), "its device is the host"),
        (("GANGWAY_DEVICE", "none"), "no back end is in use"),
    ] {
        program.run("return", &[variable]).succeeded();
        let report = program.json("return.report");
        assert_eq!(report["kernels"], serde_json::json!([]), "{reason}");
        let row = &report["on_host"][0];
        assert_eq!((&row["reason"], &row["count"]), (&reason.into(), &3.into()), "{report}");
        assert_eq!((&row["name"], &row["location"]["line"]), (&"main:11".into(), &11.into()), "{report}");
        assert_eq!(report["totals"]["on_host"], 3);
    }
}
