//! What becomes of host calls when a kernel dies, the device is reset or the process ends meanwhile, and
//! where the functions of a warp's lanes wait for each other. None of it may hang.

use gangway_commands::{Folder, Ran, Run, gangway, stage};
use std::path::Path;
use std::process::Command;

/// Compiles the program and runs it on the virtual GPU, with each of these arguments.
fn run<const RUNS: usize>(runs: [&str; RUNS]) -> [Ran; RUNS] {
    let folder = Folder::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host_calls/trouble.c");
    let libraries = stage().join("lib/gangway/vgpu");
    let mut compiler = gangway();
    compiler.args(["cc", "-O2", "-g", "-fopenmp", "--offload-arch=sm_80", "-pthread"]).arg(&source);
    compiler.arg("-L").arg(&libraries).arg("-lcuda").arg("-o").arg(folder.path("trouble"));
    compiler.run().succeeded();
    runs.map(|what| {
        let mut command = Command::new(folder.path("trouble"));
        command.arg(what).env("LD_LIBRARY_PATH", &libraries).env("OMP_TARGET_OFFLOAD", "MANDATORY");
        command.env("GANGWAY_REPORT", "1").run()
    })
}

#[test]
fn lanes_of_a_warp_are_served_while_one_waits() {
    let [output] = run(["lanes"]);
    // Those that were begun late had waited for a thread.
    let report = output.printed("wrong 0\n").stderr;
    let row =
        report.lines().find(|line| line.trim_start().starts_with("meet ")).expect("host calls in the report");
    let words: Vec<_> = row.split_whitespace().collect();
    assert_eq!(words[..3], ["meet", "0", "32"], "{report}");
    assert_ne!(words.last(), Some(&"-"), "{report}");
}

/// Whoever waits for the region tells, and names what the kernel had called.
#[test]
fn a_kernel_dies_while_another_thread_of_it_calls() {
    let [output] = run(["die"]);
    assert!(output.signal().is_some(), "{output}");
    output.told(&["trouble.c:", "die:", "functions of the host that it waited for:\n    slow\n"]);
}

/// The driver waits for the kernel, which gets its answer, and then destroys all that the runtime has
/// there. What uses that next is an error, and memory that threads of ours look at stays.
#[test]
fn a_device_is_reset_while_a_call_is_under_way() {
    let [output] = run(["reset"]);
    assert!(output.signal().is_some(), "{output}");
    output.told(&["the device is lost: ", "context is destroyed"]);
}

#[test]
fn a_function_that_does_not_return_to_its_caller_is_named() {
    let [output] = run(["leave"]);
    assert!(output.signal().is_some(), "{output}");
    output.told(&["the host function `leave`, which device code has called, is left by"]);
}

#[test]
fn the_process_ends_while_a_call_is_under_way() {
    for output in run(["exit", "_exit"]) {
        assert!(output.status.success() && output.stdout.starts_with("ends\n"), "{output}");
    }
}
