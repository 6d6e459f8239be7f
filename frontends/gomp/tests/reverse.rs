//! Reverse offload of GCC 13 and newer, with a program as these make it. Stock gcc-12 compiles the
//! host's part; the device's is written by hand.

mod support;

use gangway_commands::Ran;
use support::MANDATORY;

struct Program(support::Program);

impl Program {
    fn new() -> Self {
        Self(support::Program::new("reverse.c", &["-pthread"]))
    }

    fn run(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        self.0.run(&[], &[&[MANDATORY], variables].concat(), arguments)
    }

    #[track_caller]
    fn passes(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        self.run(variables, arguments).printed("passed\n")
    }
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
    assert_eq!(count(&output, "cuMemHostGetDevicePointer"), 5 + 1, "{output}");
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
        let warning = format!("warning: device code of the program is not used: it is of version {name} of");
        output.printed("passed\n").told(&[&warning]);
    }
}

/// How often a function of the driver has been called.
fn count(output: &Ran, function: &str) -> u32 {
    counts(output).iter().filter(|(name, _)| name.starts_with(function)).map(|(_, count)| count).sum()
}

/// The table of the driver's calls.
fn counts(output: &Ran) -> Vec<(String, u32)> {
    let words = output.stderr.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
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
        program.run(&[], &["wrong", what]).failed().told(&[message]);
    }
}

#[test]
fn a_kernel_dies_while_the_host_runs_its_region() {
    let output = Program::new().run(&[], &["wrong", "6"]);
    // Whoever waits for the region tells, and not the thread that serves it.
    let told = ["gangway: error: device 0: ", "kernel main$_omp_fn$1 failed: ", "\n  trap\n"];
    output.failed().told(&told);
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
