//! Reports and traces of programs that use the driver directly, whatever way they end in.

use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_commands::{Folder, Ran, Run};
use serde_json::Value;

/// A program, compiled and linked with the library.
struct Program(Folder);

impl Program {
    fn new() -> Self {
        let folder = Folder::new();
        let built = std::env::current_exe().unwrap().with_file_name("libgangway_driver.so");
        for name in ["libcuda.so.1", "libcuda.so"] {
            std::os::unix::fs::symlink(&built, folder.path(name)).unwrap();
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/program.c");
        let own = ["-o", "program", source.to_str().unwrap(), "-L.", "-lcuda"];
        folder.tool("cc", &[&["-std=gnu11", "-O1", "-Wall", "-Werror", "-pthread"], &own[..]].concat());
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    /// Runs it to an end of some kind.
    fn run(&self, end: &str, variables: &[(&str, String)]) -> Ran {
        let mut command = Command::new(self.path("program"));
        for name in ["GANGWAY_REPORT", "GANGWAY_TRACE", "GANGWAY_VGPU_TRACE"] {
            command.env_remove(name);
        }
        command.arg(end).env("GANGWAY_VGPU_CACHE", "off").env("LD_LIBRARY_PATH", &*self.0);
        command.envs(variables.iter().map(|(name, value)| (name, value))).run()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.0.read(name)).unwrap()
    }
}

/// The rows of a table of the report, without the times.
fn row<'a>(report: &'a Value, table: &str, field: &str, name: &str) -> &'a Value {
    let rows = report[table].as_array().unwrap();
    rows.iter().find(|row| row[field] == name).unwrap_or_else(|| panic!("{name} is not in {rows:#?}"))
}

#[test]
fn the_report_has_what_the_devices_did() {
    let program = Program::new();
    let file = program.path("report.json");
    let output = program.run("", &[("GANGWAY_REPORT", format!("json:{}", file.display()))]);
    assert_eq!(output.succeeded().stderr, "");
    let report = program.json("report.json");
    let axpy = row(&report, "kernels", "name", "axpy");
    assert_eq!((&axpy["symbol"], &axpy["count"]), (&"_Z4axpyPji".into(), &3.into()));
    assert_eq!((&axpy["location"]["file"], &axpy["location"]["line"]), (&"axpy.cu".into(), &12.into()));
    assert_eq!(axpy["shapes"].as_array().unwrap().len(), 1);
    assert_eq!(axpy["shapes"][0]["grid"], serde_json::json!([4, 1, 1]));
    assert_eq!(axpy["shapes"][0]["block"], serde_json::json!([64, 1, 1]));
    assert!(axpy["time_ns"].as_u64() > Some(0));
    assert_eq!(row(&report, "kernels", "name", "nothing")["shapes"].as_array().unwrap().len(), 2);
    let to = row(&report, "transfers", "direction", "to_device");
    let from = row(&report, "transfers", "direction", "from_device");
    let named = row(&report, "transfers", "variable", "factor");
    assert_eq!((&named["bytes"], &named["direction"]), (&4.into(), &"to_device".into()));
    assert_eq!((&from["count"], &from["bytes"]), (&1.into(), &1024.into()));
    assert_eq!((&to["device"], &report["totals"]["transfer_bytes"]), (&0.into(), &2052.into()));
    assert_eq!(row(&report, "operations", "operation", "allocate")["bytes"], 1024);
    assert_eq!(row(&report, "operations", "operation", "free")["count"], 1);
    assert_eq!(row(&report, "operations", "operation", "load_image")["count"], 1);
    assert_eq!(row(&report, "operations", "operation", "compile")["count"], 2);
    assert_eq!(row(&report, "calls", "function", "cuLaunchKernel")["count"], 5);
}

/// What a call waited for, among it what it ran itself, is not its own time.
#[test]
fn the_report_has_what_a_call_waited_for() {
    let program = Program::new();
    let file = program.path("report.json");
    let output = program.run("waits", &[("GANGWAY_REPORT", format!("json:{}", file.display()))]).succeeded();
    let report = program.json("report.json");
    let wait = row(&report, "calls", "function", "cuStreamSynchronize");
    let (waited, time) = (wait["waited_ns"].as_u64().unwrap(), wait["time_ns"].as_u64().unwrap());
    // However long the call took on a busy machine, no part of it is in both.
    let took: u64 = output.stdout.trim().parse().unwrap();
    assert!(waited >= 20_000_000 && waited + time <= took, "{wait} of {took} ns");
    let launches = row(&report, "calls", "function", "cuLaunchKernel");
    assert_eq!(launches["waited_ns"], 0, "{launches}");
}

#[test]
fn the_table_is_for_people() {
    let program = Program::new();
    let output = program.run("", &[("GANGWAY_REPORT", "1".to_owned())]);
    let told = output.stderr;
    // Times differ, so the first words of each line are compared.
    let words = |line: &str, count: usize| line.split_whitespace().take(count).collect::<Vec<_>>().join(" ");
    for (words_of, count) in [
        ("kernel device grid block registers shared count time average shortest longest share source", 13),
        ("axpy 0 4 64 16 0 B 3", 8),
        ("nothing 0 various various 16 0 B 2", 8),
        ("from device (unnamed) 0 1 1.0 KiB", 7),
        ("function count time average longest waited", 6),
        ("cuLaunchKernel 5", 2),
        ("total: 5 launches in", 4),
    ] {
        assert!(told.lines().any(|line| words(line, count) == words_of), "{words_of} is not in\n{told}");
    }
    assert!(told.lines().any(|line| line.ends_with("axpy.cu:12")), "{told}");
}

#[test]
fn streams_are_lanes_of_the_trace() {
    let program = Program::new();
    let file = program.path("trace.json");
    program.run("", &[("GANGWAY_TRACE", file.display().to_string())]).succeeded();
    let trace = program.json("trace.json");
    let events = trace["traceEvents"].as_array().unwrap();
    let lane = |event: &Value| {
        let of = |meta: &&Value| {
            meta["name"] == "thread_name" && meta["pid"] == event["pid"] && meta["tid"] == event["tid"]
        };
        events.iter().find(of).unwrap()["args"]["name"].as_str().unwrap().to_owned()
    };
    let named = |name: &str| events.iter().find(|event| event["name"] == name && event["ph"] == "X").unwrap();
    let (axpy, nothing, call) = (named("axpy"), named("nothing"), named("cuLaunchKernel"));
    assert!(lane(axpy).starts_with("stream "), "{}", lane(axpy));
    assert!(lane(nothing).starts_with("default stream "), "{}", lane(nothing));
    assert!(lane(call).starts_with("program "), "{}", lane(call));
    assert_eq!((&axpy["pid"], &call["pid"]), (&2.into(), &1.into()));
    assert_eq!(axpy["args"]["grid"], serde_json::json!([4, 1, 1]));
    assert_eq!(axpy["args"]["source"], "axpy.cu:12");
}

/// Each with what the shell would see.
#[test]
fn report_and_traces_survive_every_end() {
    let program = Program::new();
    for (end, code, signal) in [
        ("abort", None, Some(6)),
        ("quick_exit", Some(7), None),
        ("segv", None, Some(11)),
        ("int", None, Some(2)),
        ("term", None, Some(15)),
        ("fault", Some(9), None),
        // The process ends with the last of its other threads.
        ("pthread_exit", Some(0), None),
    ] {
        let named = |name: &str| program.path(&format!("{end}-{name}")).display().to_string();
        let output = program.run(
            end,
            &[
                ("GANGWAY_REPORT", format!("json:{}", named("report"))),
                ("GANGWAY_TRACE", named("trace")),
                ("GANGWAY_VGPU_TRACE", named("own")),
            ],
        );
        assert_eq!((output.code(), output.signal()), (code, signal), "{output}");
        let report = program.json(&format!("{end}-report"));
        assert_eq!(row(&report, "kernels", "name", "axpy")["count"], 3, "{end}");
        for trace in ["trace", "own"] {
            let trace = program.json(&format!("{end}-{trace}"));
            let events = trace["traceEvents"].as_array().unwrap();
            assert!(events.iter().any(|event| event["name"] == "axpy"), "{end}");
        }
        if end == "fault" {
            assert_eq!(row(&report, "kernels", "name", "wild")["count"], 1);
        }
    }
}

/// What a program has not freed says nothing once it has failed.
#[test]
fn no_leaks_are_told_after_a_fault() {
    let program = Program::new();
    let check = [("GANGWAY_VGPU_CHECK", "memory".to_owned())];
    program.run("leak", &check).told(&["1024 bytes", "cuMemAlloc"]);
    let told = program.run("fault", &check).stderr;
    assert!(told.contains("axpy.cu:20") && !told.contains("1024 bytes"), "{told}");
}

/// Kernels that the program launches beside the runtime are in nobody's report: that is said.
#[test]
fn what_the_runtime_does_not_report_is_named() {
    let program = Program::new();
    let note = "gangway: note: the program has launched kernels through the CUDA driver itself (launches: 2; \
                the first: axpy); report and trace have only what the offload runtime did, so set \
                GANGWAY_VGPU_TRACE=FILE for a trace of all of it\n";
    let report = [("GANGWAY_REPORT", "1".to_owned())];
    let trace = [("GANGWAY_TRACE", "unwritten".to_owned())];
    let rows: [(_, &[_], _); 5] = [
        ("runtime", &report, note),
        ("runtime late", &report, note),
        ("runtime", &trace, note),
        ("runtime alone", &report, ""),
        ("runtime", &[], ""),
    ];
    for (end, asked, told) in rows {
        let output = program.run(end, asked);
        assert_eq!((output.status.code(), &*output.stderr), (Some(0), told), "{output}");
    }
    let file = program.path("all.json");
    program.run("runtime", &[("GANGWAY_VGPU_TRACE", file.display().to_string())]);
    let trace = program.json("all.json");
    let launches = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["name"] == "axpy");
    assert_eq!(launches.count(), 5);
}

#[test]
fn the_table_of_calls_survives_a_crash() {
    let program = Program::new();
    let told = program.run("segv", &[("GANGWAY_VGPU_TRACE", "1".to_owned())]).failed().stderr;
    assert!(told.lines().any(|line| line.ends_with("  cuLaunchKernel")), "{told}");
}
