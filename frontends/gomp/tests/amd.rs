//! Programs that stock GCC builds for AMD's GPUs run on Gangway's HSA back end and the virtual AMD GPU.
//!
//! Where GCC has no compiler for AMD's GPUs, each test says so and passes: `scripts/amdgcn.sh` has one for a command.

mod support;

use gangway_compilers::Maker;
use support::{MANDATORY, Program};

/// What the programs are compiled for.
const PROCESSOR: (&str, &str) = ("GANGWAY_VGPU_PROCESSOR", "gfx906");

fn program(name: &str, flags: &[&str]) -> Option<Program> {
    if let Err(why) = gangway_compilers::accelerator_of(Maker::Amd) {
        eprintln!("skipped: {why}");
        return None;
    }
    Some(Program::for_amd(name, flags))
}

#[test]
fn programs_of_openmp() {
    for name in ["data.c", "structures.c", "teams.c", "nowait.c", "links.c", "many.c", "stress.c"] {
        let Some(program) = program(name, &["-pthread"]) else { return };
        program.offloads(&[], &[MANDATORY, PROCESSOR]);
    }
}

#[test]
fn programs_of_openacc() {
    for name in ["openacc/data.c", "openacc/queues.c", "openacc/detach.c"] {
        let Some(program) = program(name, &[]) else { return };
        program.offloads(&[], &[MANDATORY, PROCESSOR]);
    }
    let Some(program) = program("openacc/profile.c", &["-DAMD"]) else { return };
    program.offloads(&[], &[PROCESSOR]);
}

/// As libgomp has the devices that its plugins find, whether or not the program has code for them.
#[test]
fn programs_without_code_have_devices() {
    let Some(program) = program("amd/data_only_acc.c", &[]) else { return };
    let variables = [("GANGWAY_VGPU_MAKERS", "amd"), ("ACC_DEVICE_TYPE", "radeon")];
    program.run(&[], &variables, &[]).printed("passed\n");
}

/// The same programs run on stock libgomp and its plugin in the tests of the virtual AMD GPU.
#[test]
fn regions_and_gangs() {
    let two = ("GANGWAY_VGPU_DEVICES", "2");
    for name in ["regions.c", "gangs.c"] {
        let source = format!("{}/../../vgpu/hsa/tests/offload/{name}", env!("CARGO_MANIFEST_DIR"));
        let flags: &[&str] = if name == "gangs.c" { &["-fno-openmp", "-fopenacc"] } else { &["-lm"] };
        let Some(program) = program(&source, &[flags, &["-foffload-options=-lm"]].concat()) else { return };
        for runtime in ["gangway", "stock"] {
            let variables = [MANDATORY, PROCESSOR, two, ("ACC_DEVICE_TYPE", "radeon")];
            let ran = program.run(&["--gcc-runtime", runtime], &variables, &[]);
            assert!(ran.code() == Some(0) && ran.stderr.is_empty(), "{runtime}: {ran}");
        }
    }
}

/// `exit` of one thread of GCC 12 has the others of its team abort, with stock libgomp as well.
#[test]
fn what_device_code_writes_comes_in_order() {
    let Some(program) = program("amd/output.c", &[]) else { return };
    let lines: String = (0..3000).map(|line| format!("line {line}\n")).collect();
    let expected = format!("host: begin\ndevice: 42 lines\nhost: between\n{lines}host: end\n");
    let ran = program.run(&[], &[MANDATORY, PROCESSOR], &[]);
    assert_eq!((ran.code(), &*ran.stdout), (Some(0), &*expected), "{ran}");
    for argument in ["exit", "abort"] {
        let ran = program.run(&[], &[MANDATORY, PROCESSOR], &[argument]).ended_by(libc::SIGABRT);
        let said = ran.stdout.strip_prefix(&*expected);
        assert!(said.is_some_and(|said| said.contains("GCN Kernel Aborted\n")), "{argument}: {ran}");
    }
}

/// The virtual GPU knows the place, the runtime the variable.
#[test]
fn kernels_that_fail_are_told_with_place_and_variable() {
    let Some(program) = program("amd/faults.c", &["-g"]) else { return };
    for (argument, access, line) in [
        ("null", "\n  read of 4 bytes at 0x8: 8 bytes after null\n", 11),
        ("host", ": a host pointer, in ", 14),
        ("", "\n  write of 4 bytes at ", 17),
    ] {
        let ran = program.run(&[], &[MANDATORY, PROCESSOR], &[argument]);
        assert_eq!(ran.code(), Some(1), "{argument}: {ran}");
        let ran = ran.told(&["device 0: kernel main._omp_fn.", "HSA_STATUS_ERROR_MEMORY_FAULT", access]);
        let ran = ran.told(&[
            &format!("amd/faults.c:{line}"),
            ", instruction 'global_",
            "lane 0, work-item (0, 0, 0)",
        ]);
        let reports = ran.stderr.matches("failed").count();
        assert_eq!(reports, 1, "{argument}: it is told twice\n{ran}");
        if argument.is_empty() {
            ran.told(&["400008 bytes after the end of "]);
        }
        // With the stock libgomp the virtual GPU tells it.
        let ran = program.run(&["--gcc-runtime", "stock"], &[MANDATORY], &[argument]);
        assert!(ran.code() != Some(0), "{argument}: {ran}");
        ran.told(&["gangway: error: kernel main._omp_fn.", &format!("amd/faults.c:{line}")]);
    }
}

#[test]
fn images_for_another_processor_are_refused_by_name() {
    let Some(program) = program("amd/faults.c", &[]) else { return };
    let ran = program.run(&[], &[MANDATORY, ("GANGWAY_VGPU_PROCESSOR", "gfx90a")], &["null"]);
    assert_eq!(ran.code(), Some(1), "{ran}");
    ran.told(&["it is for gfx906:xnack-, the device is gfx90a"]);
}

/// A program that nobody names a device for: the note says whose GPU is missing. The virtual one is the processor that
/// the program is for.
#[test]
fn without_a_card_the_virtual_one_is_taken() {
    let Some(program) = program("teams.c", &[]) else { return };
    let mut command = gangway_commands::gangway();
    command.args(["run", "--"]).arg(&program.file).env_clear().env("PATH", "/usr/bin:/bin");
    let ran = gangway_commands::Run::run(&mut command);
    assert_eq!(ran.stdout, "passed\n", "{ran}");
    ran.told(&["the program is for AMD's GPUs, and there is none"]);
}

/// One device of NVIDIA's and one of AMD's in a process: two virtual GPUs with memory of their own.
#[test]
fn both_makers_gpus_work_at_once() {
    if let Err(why) = gangway_compilers::accelerator_of(Maker::Amd) {
        eprintln!("skipped: {why}");
        return;
    }
    let program = Program::for_both("amd/both.c", &[]);
    program.offloads(&[], &[MANDATORY]);
    program.run(&["--check=memory"], &[MANDATORY], &[]).printed("passed\n");
    // Libgomp does not copy from one device to the other.
    program.run(&["--gcc-runtime", "stock"], &[MANDATORY, ("STOCK", "1")], &[]).printed("passed\n");
    for (device, told) in [
        ("0", "a pointer to memory of the virtual NVIDIA GPU"),
        ("1", "a pointer to memory of the virtual AMD GPU"),
    ] {
        let ran = program.run(&[], &[MANDATORY, ("WRONG", device)], &[]);
        assert_eq!(ran.code(), Some(1), "{device}: {ran}");
        ran.told(&[told]);
    }
    let program = Program::for_both("amd/both_acc.c", &[]);
    program.run(&[], &[], &[]).printed("passed\n");
}
