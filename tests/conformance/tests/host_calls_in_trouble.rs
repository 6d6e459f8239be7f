//! What becomes of host calls when a kernel dies, the device is reset or the process ends meanwhile, and
//! where the functions of a warp's lanes wait for each other. None of it may hang.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Far longer than any of the programs takes.
const LONG: Duration = Duration::from_secs(30);

fn stage() -> PathBuf {
    let repository =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate is two folders deep");
    std::env::var_os("GANGWAY_STAGE").map_or_else(|| repository.join("build/stage"), PathBuf::from)
}

/// Compiles the program and runs it on the virtual GPU, with each of these arguments.
fn run(runs: &[&str]) -> Vec<Output> {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("trouble");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host_calls/trouble.c");
    let libraries = stage().join("lib/gangway/vgpu");
    let mut compiler = Command::new(stage().join("bin/gangway"));
    compiler.args(["cc", "-O2", "-g", "-fopenmp", "--offload-arch=sm_80", "-pthread"]).arg(&source);
    compiler.arg("-L").arg(&libraries).arg("-lcuda").arg("-o").arg(&program);
    let compiled = compiler.output().expect("run `cargo xtask stage`, or set GANGWAY_STAGE");
    assert!(compiled.status.success(), "{compiled:?}");
    let one = |what: &&str| {
        let mut command = Command::new(&program);
        command.arg(what).env("LD_LIBRARY_PATH", &libraries).env("OMP_TARGET_OFFLOAD", "MANDATORY");
        command.env("GANGWAY_REPORT", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut child, begin) = (command.spawn().unwrap(), Instant::now());
        while child.try_wait().unwrap().is_none() {
            if begin.elapsed() > LONG {
                child.kill().unwrap();
                panic!("{what} hangs");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait_with_output().unwrap()
    };
    runs.iter().map(one).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn lanes_of_a_warp_are_served_while_one_waits() {
    let output = run(&["lanes"]).remove(0);
    assert_eq!(text(&output.stdout), "wrong 0\n", "{}", text(&output.stderr));
    // Those that were begun late had waited for a thread.
    let report = text(&output.stderr);
    let row =
        report.lines().find(|line| line.trim_start().starts_with("meet ")).expect("host calls in the report");
    let words: Vec<_> = row.split_whitespace().collect();
    assert_eq!(words[..3], ["meet", "0", "32"], "{report}");
    assert_ne!(words.last(), Some(&"-"), "{report}");
}

/// Whoever waits for the region tells, and names what the kernel had called.
#[test]
fn a_kernel_dies_while_another_thread_of_it_calls() {
    let output = run(&["die"]).remove(0);
    let said = text(&output.stderr);
    assert!(!output.status.success() && output.status.code().is_none(), "{output:?}");
    assert!(said.contains("trouble.c:") && said.contains("die:"), "{said}");
    assert!(said.contains("functions of the host that it waited for:\n    slow\n"), "{said}");
}

/// The driver waits for the kernel, which gets its answer, and then destroys all that the runtime has
/// there. What uses that next is an error, and memory that threads of ours look at stays.
#[test]
fn a_device_is_reset_while_a_call_is_under_way() {
    let output = run(&["reset"]).remove(0);
    let said = text(&output.stderr);
    assert!(output.status.code().is_none(), "{output:?}");
    assert!(said.contains("the device is lost: ") && said.contains("context is destroyed"), "{said}");
}

#[test]
fn a_function_that_does_not_return_to_its_caller_is_named() {
    let output = run(&["leave"]).remove(0);
    let said = text(&output.stderr);
    assert!(output.status.code().is_none(), "{output:?}");
    assert!(said.contains("the host function `leave`, which device code has called, is left by"), "{said}");
}

#[test]
fn the_process_ends_while_a_call_is_under_way() {
    for output in run(&["exit", "_exit"]) {
        assert!(output.status.success() && output.stdout.starts_with(b"ends\n"), "{output:?}");
    }
}
