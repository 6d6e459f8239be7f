//! What host calls cost a program that makes none: nothing.
//!
//! Counts what the driver is asked for and the threads that serve calls, and looks into the
//! image. A program whose region may call has all of it, which shows that the counts see it.

use gangway_commands::{Folder, Run, gangway, stage};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What stands in an image whose code calls the host.
const CHANNEL: &str = "__gangway_host_channel";

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate is two folders deep")
}

/// What has been seen of a program.
#[derive(Debug)]
struct Seen {
    /// What it has printed.
    printed: String,
    /// Functions of the driver, and how often each was called.
    calls: BTreeMap<String, u64>,
    /// The image's PTX.
    image: String,
}

fn on_the_virtual_gpu(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", stage().join("lib/gangway/vgpu"));
    command
}

/// Compiles the program with flags and runs it on the virtual GPU.
fn see(folder: &Path, name: &str, flags: &[&str]) -> Seen {
    let (program, image) = (folder.join(name), folder.join(format!("{name}.ptx")));
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut compiler = gangway();
    compiler.args(["cc", "-O2", "-fopenmp", "--offload-arch=sm_80"]).args(flags);
    compiler.arg("-I").arg(repository().join("frontends/openmp/include"));
    compiler.arg(tests.join("host_calls/program.c")).arg("-o").arg(&program).run().succeeded();
    let mut inspect = gangway();
    inspect.arg("inspect").arg(&program).args(["--extract", "0", "-o"]).arg(&image).run().succeeded();
    let output = on_the_virtual_gpu(&program)
        .env("OMP_TARGET_OFFLOAD", "MANDATORY")
        .env("GANGWAY_VGPU_TRACE", "1")
        .run()
        .succeeded();
    let call = |line: &str| {
        let mut words = line.split_whitespace();
        let (count, name) = (words.next()?.parse().ok()?, words.next_back()?);
        name.starts_with("cu").then(|| (name.to_owned(), count))
    };
    Seen {
        printed: output.stdout,
        calls: output.stderr.lines().filter_map(call).collect(),
        image: std::fs::read_to_string(image).expect("the image is PTX"),
    }
}

#[test]
fn programs_without_host_calls_pay_nothing() {
    let folder = Folder::new();
    let plain = see(&folder, "plain", &[]);
    let registers = see(&folder, "registers", &["-DREGISTERS"]);
    let calls = see(&folder, "calls", &["-DREGISTERS", "-DCALLS"]);
    assert!(plain.calls["cuLaunchKernel"] == 3 && plain.image.contains(".entry"), "{plain:?}");
    for seen in [&plain, &registers] {
        assert_eq!(seen.printed, "x 15\nthreads 0\n");
        assert!(!seen.image.contains("gangway_host"), "{}", seen.image);
    }
    assert_eq!(registers.calls, plain.calls);
    // The image of a program that only registers functions is that of one that does not.
    let kernels = |seen: &Seen| seen.image.matches(".func").count() + seen.image.matches(".global").count();
    assert_eq!(kernels(&registers), kernels(&plain));

    assert_eq!(calls.printed, "x 15\nthreads 1\n");
    assert!(calls.image.contains(CHANNEL));
    let more = |name: &str| calls.calls.get(name).unwrap_or(&0) - plain.calls.get(name).unwrap_or(&0);
    // The channel's memory, the image's pointer to it, and its value.
    let names = ["cuMemHostRegister_v2", "cuModuleGetGlobal_v2", "cuMemcpyHtoDAsync_v2", "cuLaunchKernel"];
    assert_eq!(names.map(more), [1, 1, 1, 0], "{:?}", calls.calls);
}

/// The program of that name.
fn host_call(folder: &Path) -> PathBuf {
    let program = folder.join("host_call");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/c/host_call.c");
    let mut compiler = gangway();
    compiler.args(["cc", "-O2", "-fopenmp", "--offload-arch=sm_80"]);
    compiler.arg(source).arg("-o").arg(&program).run().succeeded();
    program
}

/// As on a card, which does not ring.
#[test]
fn calls_are_found_by_looking() {
    let folder = Folder::new();
    let program = host_call(&folder);
    let [rung, looked] = ["0", "1"].map(|look| {
        on_the_virtual_gpu(&program).env("GANGWAY_HOST_CALLS_LOOK", look).run().succeeded().stdout
    });
    assert!(rung.contains("device 0: 0 wrong"), "{rung}");
    assert_eq!(looked, rung);
}

#[test]
fn reports_count_host_calls() {
    let folder = Folder::new();
    let program = host_call(&folder);
    let report = on_the_virtual_gpu(&program).env("GANGWAY_REPORT", "1").run().succeeded().stderr;
    // Of the device and of the host: those of a loop of 1000 turns, and two besides.
    for call in [["ask", "0", "666"], ["add", "0", "336"], ["ask", "1", "666"], ["add", "1", "336"]] {
        let counted = report.lines().any(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            words.starts_with(&call)
        });
        assert!(counted, "{call:?} is not in\n{report}");
    }
}
