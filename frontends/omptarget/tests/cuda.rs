//! Programs with GPU code of clang's on the staged library and the virtual GPU: what they
//! compute, what they ask of the driver, what they say when a kernel fails.
//!
//! The programs have stand-ins for the two functions that every kernel calls, so that they
//! test the host's side alone.

mod support;

use gangway_commands::{Folder, Ran, Run, gangway};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::staged;

/// Compiles a program for an architecture list of `gangway c++`.
fn build(name: &str, architectures: &str) -> PathBuf {
    build_as(name, "cpp", "-fopenmp", architectures)
}

fn build_as(name: &str, language: &str, offload: &str, architectures: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda").join(format!("{name}.{language}"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("cuda-{name}-{}", architectures.replace(',', "-")));
    gangway()
        .args(["c++", "-O2", "-g", "-Wall"])
        .args(offload.split(' '))
        .arg(format!("--offload-arch={architectures}"))
        .args([source.as_os_str(), "-o".as_ref(), program.as_os_str()])
        .run()
        .succeeded();
    program
}

/// Runs a program; with the virtual GPU, unless its driver is not to be found.
fn run(program: &Path, arguments: &[&str], variables: &[(&str, &str)], with_driver: bool) -> Ran {
    let staged = staged();
    let mut path = OsString::new();
    if with_driver {
        path.push(staged.join("vgpu"));
        path.push(":");
    }
    path.push(&staged);
    Command::new(program)
        .args(arguments)
        .env_clear()
        .env("LD_LIBRARY_PATH", path)
        .env("OMP_TARGET_OFFLOAD", "MANDATORY")
        .env("GANGWAY_VGPU_CACHE", "0")
        .envs(variables.iter().copied())
        .run()
}

/// What one region of a kind asks of the driver.
fn calls(program: &Path, kind: &str) -> BTreeMap<String, i64> {
    let count = |rounds: &str| -> BTreeMap<String, i64> {
        let output = run(program, &[kind, rounds], &[("GANGWAY_VGPU_TRACE", "1")], true);
        let trace = output.succeeded().stderr;
        let row = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (count, name) = (words.first()?.parse().ok()?, words.last()?);
            name.starts_with("cu").then(|| ((*name).to_owned(), count))
        };
        let counts: BTreeMap<_, _> = trace.lines().filter_map(row).collect();
        assert!(counts.contains_key("cuLaunchKernel"), "no trace:\n{trace}");
        counts
    };
    // What is done once is in both.
    let (few, many) = (count("10"), count("110"));
    let per_hundred = many.into_iter().map(|(name, many)| {
        let few = few.get(&name).copied().unwrap_or(0);
        (name, many - few)
    });
    per_hundred.filter(|(_, count)| *count != 0).collect()
}

fn per_hundred(list: &[&str]) -> BTreeMap<String, i64> {
    list.iter().map(|name| ((*name).to_owned(), 100)).collect()
}

#[test]
fn regions_ask_the_driver_for_no_more_than_they_need() {
    let program = build("calls", "sm_80");
    let launch = ["cuLaunchKernel", "cuStreamSynchronize"];
    assert_eq!(calls(&program, "empty"), per_hundred(&launch));
    assert_eq!(calls(&program, "present"), per_hundred(&launch));
    // Three objects and a value travel together. Nobody else wants them, so that no event is needed.
    let copies = ["cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2"];
    assert_eq!(calls(&program, "fresh"), per_hundred(&[&launch[..], &copies].concat()));
    let large = calls(&program, "large");
    let expected = per_hundred(&[&launch[..], &copies, &["cuEventRecord"]].concat());
    let memory = |name: &str| large.get(name).copied().unwrap_or(0);
    assert!(expected.iter().all(|(name, count)| large.get(name) == Some(count)), "{large:?}");
    assert_eq!(memory("cuMemAllocFromPoolAsync"), memory("cuMemFreeAsync"), "{large:?}");
    assert_eq!(memory("cuMemAlloc_v2") + memory("cuCtxSetCurrent"), 0, "{large:?}");
}

#[test]
fn data_is_right_on_two_devices() {
    let program = build("data", "sm_80");
    run(&program, &[], &[("GANGWAY_VGPU_DEVICES", "2")], true).printed("right\n");
}

/// A kernel of CUDA's language has no version for the host: it runs, or the program fails.
#[test]
fn kernels_of_cudas_language_run_or_end_the_program() {
    let program = build_as("kernel_language", "cu", "-foffload-via-llvm", "sm_80");
    run(&program, &[], &[("OMP_TARGET_OFFLOAD", "DEFAULT")], true).printed("4\n");
    for (what, said) in [
        ("large", "kernel fill cannot have blocks of 4096 x 1 x 1 threads"),
        ("empty", "a kernel is launched with a grid of 0 blocks of 32 threads"),
        ("shared", "cannot have 4294967295 bytes of dynamic group memory"),
    ] {
        run(&program, &[what], &[("OMP_TARGET_OFFLOAD", "DEFAULT")], true).failed().told(&[said]);
    }
    for (policy, driver, said) in [
        ("DEFAULT", false, "no device can run this program"),
        ("DISABLED", true, "OMP_TARGET_OFFLOAD=DISABLED"),
    ] {
        run(&program, &[], &[("OMP_TARGET_OFFLOAD", policy)], driver).failed().told(&[said]);
    }
}

#[test]
fn programs_get_cudas_handles() {
    let program = build("interop", "sm_80");
    run(&program, &[], &[], true).printed("right\n");
}

#[test]
fn a_fault_is_told_of_its_region() {
    let program = build("fault", "sm_80");
    let output = run(&program, &["16"], &[], true).failed();
    let said = &output.stderr;
    let line = said.lines().find(|line| line.starts_with("gangway: error: ")).unwrap_or_default();
    for part in ["fault.cpp:8:1: in main: ", "kernel main:8 failed: ", "CUDA_ERROR_ILLEGAL_ADDRESS"] {
        assert!(line.contains(part), "`{part}` is missing: {said}");
    }
    assert!(!said.contains("copying failed") && !said.contains("__omp_offloading"), "{said}");
    // One report, in one form: the driver has left its own to the runtime.
    assert_eq!(said.matches(" failed: ").count(), 1, "{said}");
    let source = format!("{}/tests/cuda/fault.cpp", env!("CARGO_MANIFEST_DIR"));
    output.told(&["\n  write of 4 bytes at 0x10: 16 bytes after null\n", &format!("\n  at {source}:9:")]);
}

#[test]
fn a_full_stack_is_told_with_the_variable_that_helps() {
    let program = build("stack", "sm_80");
    run(&program, &[], &[], true).told(&[
        "kernel main:14 failed: ",
        "\n  the stack is full\n",
        "stack.cpp:",
        "in `deep`",
        "LIBOMPTARGET_STACK_SIZE=BYTES",
    ]);
}

/// Where accesses are checked, memory that nobody has written is no number.
#[test]
fn what_was_not_copied_to_the_device_is_no_number() {
    let program = build("unwritten", "sm_80");
    run(&program, &[], &[("GANGWAY_VGPU_CHECK", "memory")], true).printed("done\n");
    let output = run(&program, &[], &[], true);
    assert!(output.said().contains(" numbers, "), "the program sees numbers: {output}");
}

/// A race is told with both lines and the variable; a loop without one is not.
#[test]
fn a_race_names_the_variable_and_both_lines() {
    let program = build("race", "sm_80");
    let check = [("GANGWAY_VGPU_CHECK", "race")];
    run(&program, &["right"], &check, true).printed("done\n");
    let said = run(&program, &["right"], &check, true).said().to_owned();
    assert!(!said.contains("race"), "{said}");
    let output = run(&program, &["wrong"], &check, true);
    let said = output.said();
    for part in [
        "race: nothing orders two accesses of threads of a block, to 8 bytes into `values[0:count + 1]` of 808 bytes",
        "race.cpp:8)\n",
        "  first: a read by thread (0, 0, 0) of block (0, 0, 0) at ",
        "race.cpp:10:",
        "  then:  a write by thread (1, 0, 0) of block (0, 0, 0) at ",
        "found 1 race",
    ] {
        assert!(said.contains(part), "`{part}` is missing: {said}");
    }
}

/// The error of a kernel that has used what is not its own names the variable.
#[test]
fn a_fault_names_the_variable() {
    let program = build("variable", "sm_80");
    let told = |what: &str, element: &str, check: &str, expected: &[&str]| {
        let output = run(&program, &[what, element], &[("GANGWAY_VGPU_CHECK", check)], true).failed();
        let error = output.stderr.split_once("gangway: error: ").map_or("", |(_, error)| error);
        for part in expected {
            assert!(error.contains(part), "`{part}` is missing: {output}");
        }
    };
    let array =
        ["`array[0:100]` [0x", ") of 800 bytes (declared at ", "variable.cpp:12), which is mapped at 0x"];
    let beside = |line: &'static str| [&[line][..], &array].concat();
    told("beside", "100000000", "", &beside("799999200 bytes after the end of `array[0:100]`"));
    told("beside", "-100000000", "", &beside("800000000 bytes before `array[0:100]`"));
    // Where every access is checked, no other variable's memory is beside it.
    told("beside", "100", "memory", &beside("just after the end of `array[0:100]`"));
    told("beside", "-1", "memory", &beside("8 bytes before `array[0:100]`"));
    let pointer = "variable.cpp:12) keeps the host's address 0x";
    told(
        "unmapped",
        "3",
        "",
        &[
            ": a host pointer, in the program's heap, that is not mapped on the device\n",
            "pointer `other`",
            pointer,
        ],
    );
    let inside = [
        "read of 8 bytes at 0x",
        "24 bytes into `other[0:1000]` [0x",
        "a pointer of the host: map or attach",
    ];
    told("inside", "3", "", &inside);
    let member = [
        "`vector.data`, the pointer at byte 8 of `vector` (declared at ",
        " keeps the host's address 0x",
        ": what it points to is not mapped\n",
        "\n  help: map what it points to as well, as in map(tofrom: vector.data[0:n]), which attaches the pointer",
    ];
    told("member", "3", "", &member);
    let partly = [
        "`vector` (declared at ",
        " of 16 bytes is only partly mapped, and byte 8 is not; mapped: `vector.count` (declared at ",
        "\n  help: map all that the region uses of it, or all of it, before: map(tofrom: vector)",
    ];
    told("partly", "3", "memory", &partly);
}

/// The driver says that an argument is invalid.
#[test]
fn memory_that_is_freed_twice_is_told_with_its_address() {
    let program = build("freed", "sm_80");
    run(&program, &[], &[], true).told(&[
        "gangway: error: device 0: cannot free 0x20",
        " as device memory: cuMemFree: invalid argument (CUDA_ERROR_INVALID_VALUE) (error 1)\n  note: it may have been freed",
        "\n  help: OFFLOAD_TRACK_ALLOCATION_TRACES=1 shows where memory was allocated and freed",
    ]);
    run(&program, &[], &[("OFFLOAD_TRACK_ALLOCATION_TRACES", "1")], true).told(&[
        ": it has been freed already\n  allocated (800 bytes):\n",
        "freed.cpp:6:",
        "freed.cpp:9:",
    ]);
}

/// It is not the image that is too large.
#[test]
fn a_variable_that_the_device_has_no_memory_for_is_named() {
    let program = build("large", "sm_80");
    run(&program, &[], &[("GANGWAY_VGPU_MEMORY", "48MiB")], true)
        .failed()
        .told(&["the device has no memory for code and variables", "'much_too_large' has 67108864 bytes"]);
    run(&program, &[], &[("GANGWAY_VGPU_MEMORY", "256MiB")], true).succeeded();
}

/// The host does not take over what is looked up on a device that is lost: the data is lost, too.
#[test]
fn a_region_is_not_missing_on_a_lost_device() {
    let program = build("lost", "sm_80");
    let output = run(&program, &[], &[("OMP_TARGET_OFFLOAD", "DEFAULT")], true);
    let output =
        output.ended_by(libc::SIGABRT).told(&["lost.cpp:16:1: in main: device 0: the device is lost: "]);
    assert!(!output.stderr.contains("the host takes over"), "{output}");
}

/// `-fopenmp-target-jit`: the last step of compiling is for the device that is there.
#[test]
fn images_of_bitcode_are_compiled_when_they_are_loaded() {
    let program = build_as("bitcode", "cpp", "-fopenmp -fopenmp-target-jit", "sm_70,x86_64");
    for device in ["cuda", "cpu"] {
        let folder = Folder::new();
        let run = |variables: &[(&str, &str)]| {
            let own = [("GANGWAY_DEVICE", device), ("TMPDIR", folder.to_str().unwrap())];
            run(&program, &[], &[&own, variables].concat(), true)
        };
        // Several devices use what is compiled once.
        run(&[("GANGWAY_VGPU_DEVICES", "2")]).printed("device: 1.25e+06, 1118.033989, 1 calls\n");
        let without = run(&[("OMP_TARGET_OFFLOAD", "DEFAULT"), ("GANGWAY_LLVM", "/nowhere")]);
        assert!(without.stdout.starts_with("host: 1.25e+06"), "{without}");
        without.succeeded().told(&[
            "cannot be loaded: it is LLVM bitcode, to be compiled when the program runs, and there is no \
             /nowhere/bin/clang\n  help: install LLVM 22",
            "note: the host takes over",
        ]);
        std::fs::create_dir(folder.path("bin")).unwrap();
        folder.script("bin/clang", "#!/bin/sh\necho \"error: no $LD_PRELOAD\" >&2\nexit 1\n");
        run(&[("GANGWAY_LLVM", folder.to_str().unwrap())])
            .ended_by(libc::SIGABRT)
            .told(&["bin/clang cannot compile it (exit status: 1): error: no"]);
        // Nothing is left.
        let left: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["bin"], "{device}");
    }
}

/// Routines that name a device which lacks what the program requires mean the host, as regions do.
#[test]
fn routines_mean_the_host_where_unified_memory_is_missing() {
    let program = build("unified", "sm_80");
    let run = |policy, unified| {
        run(&program, &[], &[("OMP_TARGET_OFFLOAD", policy), ("GANGWAY_VGPU_UNIFIED", unified)], true)
    };
    run("MANDATORY", "").printed("0 10\n");
    run("DEFAULT", "0").printed("1 10\n").told(&[
        "warning: device 0: the device lacks unified shared memory, which the program requires\n  note: the host",
    ]);
    run("MANDATORY", "0").ended_by(libc::SIGABRT);
}

#[test]
fn the_device_that_is_there_decides_which_image_runs() {
    let both = build("where", "sm_80,x86_64");
    let said = |program: &Path, driver, variables: &[(&str, &str)]| {
        run(program, &[], variables, driver).succeeded().stdout.trim().to_owned()
    };
    assert_eq!(said(&both, true, &[("OMP_DEFAULT_DEVICE", "0")]), "gpu, driver opened");
    let without = said(&both, false, &[("GANGWAY_DEVICE", "cpu")]);
    assert_eq!(without, "cpu, driver untouched");
    // Programs without GPU code do not even open the driver.
    let host = build("where", "x86_64");
    assert_eq!(said(&host, true, &[]), "cpu, driver untouched");
    // An image for a newer device is refused with both names.
    let newer = build("where", "sm_90");
    run(&newer, &[], &[("GANGWAY_VGPU_CAPABILITY", "8.0")], true)
        .failed()
        .told(&["the image is PTX for sm_90, the device is sm_80"]);
}

#[test]
fn eight_threads_share_a_device() {
    let program = build("threads", "sm_80");
    run(&program, &[], &[], true).printed("right\n");
}

#[test]
fn a_region_that_does_not_fit_leaves_nothing_behind() {
    let program = build("memory", "sm_80");
    let variables = [("OMP_TARGET_OFFLOAD", "DEFAULT"), ("GANGWAY_VGPU_MEMORY", "100M")];
    run(&program, &[], &variables, true)
        .printed("host 1, left 0\n1 2\n")
        .told(&["out of device memory: 41943040 bytes wanted for `c[0:SIZE]`"]);
}

#[test]
fn a_program_for_gpus_says_that_there_is_no_driver() {
    let program = build("where", "sm_80");
    let why = "cuda: no devices (no CUDA driver: libcuda.so.1: cannot open shared object file";
    run(&program, &[], &[], false).failed().told(&[why]);
}

/// The time of a kernel is the kernel's, and not that of the copy which waits for it. A busy machine may
/// hold up a copy, but not in every run.
#[test]
fn reports_have_the_times_of_kernels_and_copies() {
    let program = build("slow", "sm_80");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("slow.json");
    let wish = format!("json:{}", file.display());
    let mut seen = Vec::new();
    while seen.len() < 20 {
        run(&program, &[], &[("GANGWAY_REPORT", &wish)], true).succeeded();
        let report = std::fs::read_to_string(&file).unwrap();
        let time = |section: &str| -> u64 {
            let (_, rows) = report.split_once(&format!("\"{section}\":[")).unwrap();
            let times = rows.split(']').next().unwrap().split("\"time_ns\":").skip(1);
            times
                .map(|text| text.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse::<u64>().unwrap())
                .sum()
        };
        let (kernels, transfers) = (time("kernels"), time("transfers"));
        if kernels > 1_000_000 && kernels > 2 * transfers {
            return;
        }
        seen.push((kernels, transfers));
    }
    panic!("kernels and copies, in ns: {seen:?}");
}
