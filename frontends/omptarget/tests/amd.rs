//! Programs of clang's for AMD's GPUs on the staged library and the virtual AMD GPU: no ROCm and no card. What the host
//! passes to kernels is looked at here; `device/gpu/tests/amd.rs` has the device runtime's functions.

mod support;

use gangway_commands::{Ran, Run, gangway};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::staged;

/// Compiles a program of the folder `amd` for processors.
fn build(name: &str, level: &str, processors: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/amd");
    let in_cxx = folder.join(format!("{name}.cpp"));
    let (language, source) =
        if in_cxx.exists() { ("c++", in_cxx) } else { ("cc", folder.join(format!("{name}.c"))) };
    let program = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("amd-{name}{level}-{}", processors.replace(',', "-")));
    gangway()
        .args([language, level, "-g", "-Wall", "-fopenmp", &format!("--offload-arch={processors}")])
        .args([source.as_os_str(), "-o".as_ref(), program.as_os_str()])
        .run()
        .succeeded();
    program
}

/// Runs a program with the virtual GPUs.
fn run(program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let libraries = [staged().join("vgpu"), staged()];
    Command::new(program)
        .args(arguments)
        .env_clear()
        .env("LD_LIBRARY_PATH", std::env::join_paths(libraries).expect("no colon in the names"))
        .env("OMP_TARGET_OFFLOAD", "MANDATORY")
        .envs(variables.iter().copied())
        .run()
}

const LINES: &str = "device: 7 words 1.5\npassed\n";

#[test]
fn regions_get_what_they_are_passed() {
    for (processor, level) in [("gfx90a", "-O2"), ("gfx90a", "-O0"), ("gfx906", "-O2")] {
        let program = build("regions", level, processor);
        let variables = [("GANGWAY_VGPU_PROCESSOR", processor), ("GANGWAY_VGPU_DEVICES", "2")];
        let ran = run(&program, &[], &variables).printed(LINES);
        assert_eq!(ran.stderr, "device: error 8\n", "{processor} {level}");
    }
}

/// Of several images the device's is taken.
#[test]
fn a_program_has_images_for_several_processors() {
    let program = build("regions", "-O2", "gfx906,gfx90a,x86_64");
    for processor in ["gfx906", "gfx90a"] {
        let variables = [("GANGWAY_VGPU_PROCESSOR", processor), ("GANGWAY_DEVICE", "hsa")];
        run(&program, &[], &variables).printed(LINES);
    }
}

#[test]
fn objects_are_made_and_deleted() {
    for level in ["-O2", "-O0"] {
        let program = build("objects", level, "gfx90a");
        run(&program, &[], &[("GANGWAY_VGPU_PROCESSOR", "gfx90a")]).printed("40000 0 0\n199\n");
    }
}

/// LLVM makes wrong code of such a program if nobody stops it.
#[test]
fn regions_inside_of_regions() {
    for (processor, level) in [("gfx90a", "-O2"), ("gfx90a", "-O0"), ("gfx906", "-O2")] {
        let program = build("nested", level, processor);
        run(&program, &[], &[("GANGWAY_VGPU_PROCESSOR", processor)]).printed("0 1 48\n");
    }
}

#[test]
fn images_for_another_processor_are_refused_by_name() {
    let program = build("failures", "-O2", "gfx906");
    let ran = run(&program, &[], &[("GANGWAY_VGPU_PROCESSOR", "gfx90a")]).failed();
    ran.told(&["it is for gfx906", "the device is gfx90a", "--offload-arch=gfx90a"]);
}

#[test]
fn kernels_that_fail_are_told() {
    let program = build("failures", "-O2", "gfx90a");
    for (argument, parts) in [
        (
            "null",
            &["device 0: kernel main:9 failed", "HSA_STATUS_ERROR_MEMORY_FAULT", "8 bytes after null"][..],
        ),
        ("broken", &["code of a target region has called abort()"]),
        ("assertion", &["what != 'a'"]),
    ] {
        run(&program, &[argument], &[("GANGWAY_VGPU_PROCESSOR", "gfx90a")]).failed().told(parts);
    }
}

/// Nobody names a device, and there is no card: the virtual one is the processor that the program is for.
#[test]
fn without_a_card_the_virtual_one_is_taken() {
    let program = build("regions", "-O2", "gfx90a");
    let mut command = gangway();
    command.args(["run", "--"]).arg(&program).env_clear().env("PATH", "/usr/bin:/bin");
    let ran = command.run().printed(LINES);
    ran.told(&["the program is for AMD's GPUs, and there is none"]);
    let mut command = gangway();
    command.args(["run", "--device", "vgpu", "--"]).arg(&program).env_clear().env("PATH", "/usr/bin:/bin");
    command.run().printed(LINES);
}
