//! Reverse offload of GCC 13 and newer, with a program as these make it. Stock gcc-12 compiles the
//! host's part; the device's is written by hand.

mod support;

use std::path::PathBuf;
use std::process::Output;
use tempfile::TempDir;

struct Program {
    _folder: TempDir,
    file: PathBuf,
}

impl Program {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        support::compile("reverse.c", &file, &["-pthread"]);
        Self { _folder: folder, file }
    }

    fn run(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        let variables = [&[("OMP_TARGET_OFFLOAD", "MANDATORY")], variables].concat();
        support::run(&self.file, &[], &variables, arguments)
    }

    #[track_caller]
    fn passes(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        let output = self.run(variables, arguments);
        assert!(output.status.success() && output.stdout == b"passed\n", "{arguments:?}: {output:?}");
        output
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn teams_and_threads_have_the_host_run_regions() {
    Program::new().passes(&[], &["calls"]);
}

/// Each device has mailboxes of its own.
#[test]
fn threads_of_the_host_share_two_devices() {
    Program::new().passes(&[("GANGWAY_VGPU_DEVICES", "2")], &["devices"]);
}

/// The lock of one image keeps nobody out of the other one's mailbox.
#[test]
fn two_images_call_at_the_same_time() {
    Program::new().passes(&[], &["images"]);
}

#[test]
fn a_mailbox_serves_the_next_image() {
    let output = Program::new().passes(&[("GANGWAY_VGPU_TRACE", "1")], &["again"]);
    // One for the tables of a stream in each of five rounds, and one for the mailbox.
    assert_eq!(count(&output, "cuMemHostGetDevicePointer"), 5 + 1, "{}", said(&output));
}

/// Its kernel is waited for, and its calls are served until that has ended.
#[test]
fn an_image_goes_while_its_kernel_calls() {
    Program::new().passes(&[], &["unregister"]);
}

#[test]
fn functions_are_called_by_their_host_addresses() {
    Program::new().passes(&[], &["indirect"]);
}

/// A form that nobody knows yet is not read, and the program is told.
#[test]
fn registrations_of_unknown_forms_are_named() {
    let program = Program::new();
    for (version, name) in [("327681", "5.1"), ("262146", "4.2")] {
        let output = program.run(&[("OMP_TARGET_OFFLOAD", "DEFAULT")], &["version", version]);
        assert!(output.stdout == b"passed\n", "{output:?}");
        let warning = format!("warning: device code of the program is not used: it is of version {name} of");
        assert!(said(&output).contains(&warning), "{}", said(&output));
    }
}

/// How often a function of the driver has been called.
fn count(output: &Output, function: &str) -> u32 {
    counts(output).iter().filter(|(name, _)| name.starts_with(function)).map(|(_, count)| count).sum()
}

/// The table of the driver's calls.
fn counts(output: &Output) -> Vec<(String, u32)> {
    let said = said(output);
    let words = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let call = |words: Vec<&str>| {
        let name = words.iter().find(|word| word.starts_with("cu"))?;
        let count = words.iter().find_map(|word| word.parse().ok())?;
        Some(((*name).to_owned(), count))
    };
    let mut counts: Vec<_> = words.filter_map(call).collect();
    counts.sort();
    counts
}

/// The program checks that no thread serves calls.
#[test]
fn where_no_region_is_for_the_host_nothing_is_set_up() {
    let program = Program::new();
    let trace = [("GANGWAY_VGPU_TRACE", "1")];
    let unused = counts(&program.passes(&trace, &["unused"]));
    assert!(unused.iter().any(|(name, _)| name == "cuLaunchKernel"), "{unused:?}");
    assert_eq!(unused, counts(&program.passes(&trace, &["none"])));
}

#[test]
fn garbage_in_a_call_is_named() {
    let program = Program::new();
    let messages = [
        ("1", "which is none of its image's regions of device(ancestor: 1)"),
        ("2", "is called by device 0 with 4294967296 mappings at"),
        ("3", "is called by device 0 with 8 mappings at 0x1230,"),
        ("4", "has a mapping of kind 0xc8 of libgomp's interface, which is not known"),
        ("5", "is called by device 0 with 18446744073709551600 bytes at"),
    ];
    for (what, message) in messages {
        let output = program.run(&[], &["wrong", what]);
        assert!(!output.status.success(), "{output:?}");
        assert!(said(&output).contains(message), "{}", said(&output));
    }
}

#[test]
fn a_kernel_dies_while_the_host_runs_its_region() {
    let output = Program::new().run(&[], &["wrong", "6"]);
    assert!(!output.status.success(), "{output:?}");
    assert!(said(&output).contains("kernel main$_omp_fn$1 failed: "), "{}", said(&output));
    assert!(said(&output).contains("\n  trap\n"), "{}", said(&output));
    // Whoever waits for the region tells, and not the thread that serves it.
    assert!(said(&output).contains("gangway: error: device 0: "), "{}", said(&output));
}

#[test]
fn the_process_ends_while_calls_are_under_way() {
    let program = Program::new();
    for way in ["exit", "_exit"] {
        for _ in 0..3 {
            program.passes(&[], &[way]);
        }
    }
}
