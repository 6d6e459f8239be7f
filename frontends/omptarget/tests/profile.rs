//! `LIBOMPTARGET_PROFILE`: the constructs of a program as the stock library shows them.

mod support;

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use support::{OFFLOAD, STOCK, compile, run, source, staged};

/// The events of one run.
fn profile(program: &Path, library: &Path, granularity: &str) -> Vec<Value> {
    let file = program.with_extension("json");
    let variables = [
        ("LIBOMPTARGET_PROFILE", file.as_os_str()),
        ("LIBOMPTARGET_PROFILE_GRANULARITY", OsStr::new(granularity)),
    ];
    run(program, library, &variables);
    let profile: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert!(profile["beginningOfTime"].as_u64().unwrap() > 1_600_000_000_000_000);
    fs::remove_file(file).unwrap();
    profile["traceEvents"].as_array().unwrap().clone()
}

/// Names and details of the sections that users know, and the counts of their sums.
fn shown(events: &[Value], names: &[&str]) -> Vec<String> {
    let known = |name: &str| names.contains(&name.trim_start_matches("Total "));
    let known = events.iter().filter(|event| known(event["name"].as_str().unwrap()));
    let shown = known.map(|event| {
        for key in ["pid", "tid", "ts", "dur"] {
            assert!(event[key].is_u64(), "{key} of {event}");
        }
        format!("{} {} {} {}", event["ph"], event["name"], event["args"]["detail"], event["args"]["count"])
    });
    let mut shown: Vec<String> = shown.collect();
    // The order of the sums depends on the time.
    shown.sort_by_key(|line| line.contains("Total "));
    let sums = shown.iter().position(|line| line.contains("Total ")).unwrap();
    shown[sums..].sort();
    shown
}

#[test]
fn sections_are_those_of_the_stock_library() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("profile");
    compile(&source("profile.c"), &program, &[OFFLOAD]);
    let stock = Path::new(STOCK).parent().unwrap();
    let constructs = ["Runtime: target exe", "Runtime: Data Copy"];
    let ours = profile(&program, &staged(), "0");
    assert_eq!(shown(&ours, &constructs), shown(&profile(&program, stock, "0"), &constructs));
    let names = ["process_name", "thread_name"];
    let metadata = |events: &[Value]| -> Vec<Value> {
        let of = events.iter().filter(|event| names.contains(&event["name"].as_str().unwrap()));
        of.map(|event| event["args"].clone()).collect()
    };
    assert_eq!(metadata(&ours).len(), 2);
    assert_eq!(metadata(&ours), metadata(&profile(&program, stock, "0")));
    // The stock library also shows copies that it finds unnecessary.
    for (name, count) in [("Kernel Target", 2), ("HostToDev", 2), ("DevToHost", 3)] {
        assert_eq!(ours.iter().filter(|event| event["name"] == name).count(), count, "{name}");
    }

    // An hour: only the sums are left.
    let coarse = profile(&program, &staged(), "3600000000");
    assert!(coarse.iter().all(|event| event["args"].get("detail").is_none()));
    assert!(coarse.iter().any(|event| event["name"] == "Total Kernel Target"));
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("profile");
    compile(&source("profile.c"), &program, &[OFFLOAD]);
    let output = run(&program, &staged(), &[("LIBOMPTARGET_PROFILE", OsStr::new("/nowhere/profile"))]);
    assert_eq!(
        output.stderr,
        "gangway: warning: cannot write the profile /nowhere/profile: No such file or directory (os error 2)\n  \
         help: LIBOMPTARGET_PROFILE names the file\n"
    );
}
