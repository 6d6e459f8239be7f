//! Interop constructs of a program that clang made, on a back end in C that has a
//! foreign runtime: the whole way, with the staged library.

mod support;

use std::ffi::OsStr;
use std::path::Path;
use support::{OFFLOAD, compile, run, source, staged};

const EXPECTED: &str = "\
sync: fr_id 7, hsa, amd, device N, handles 111, platform 1
both: fr_id 7, hsa, amd, device N, handles 111, platform 1
right device 1, host 0, queues 2
use nowait: waits 0, queue 7, completed 0
use: waits 1, queue 0, completed 1
types hsa_queue_t *, hsa_agent_t *, int
names targetsync, fr_id
destroyed 1 1, queues 0
";

#[test]
fn objects_of_a_device_with_a_foreign_runtime() {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("libgangway-rtl-foreign.so");
    let program = directory.path().join("program");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../backends/external/include");
    let include = format!("-I{}", include.display());
    compile(
        &source("foreign_rtl.c"),
        &library,
        &["-shared", "-fPIC", "-fno-openmp", "-Wl,-soname,libgangway-rtl-foreign.so", &include],
    );
    compile(&source("interop.c"), &program, &[OFFLOAD, "-fopenmp-version=51"]);
    let path: &OsStr = directory.path().as_ref();
    let output = run(&program, &staged(), &[("GANGWAY_RTL_PATH", path)]);
    // Which number the device has depends on what else is installed.
    let masked = output.stdout.lines().map(|line| match line.split_once("device ") {
        Some((before, after)) if after.contains("handles") => {
            format!("{before}device N{}\n", &after[after.find(',').unwrap()..])
        }
        _ => format!("{line}\n"),
    });
    assert_eq!(masked.collect::<String>(), EXPECTED, "{output}");
}
