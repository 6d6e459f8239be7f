//! Programs that stock GCC builds run on Gangway: what they compute, where, and what they are
//! told when something is wrong.

mod support;

use std::path::PathBuf;
use std::process::Output;
use tempfile::TempDir;

/// A compiled program.
struct Program {
    folder: TempDir,
    file: PathBuf,
}

impl Program {
    fn new(source: &str, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        support::compile(source, &file, flags);
        Self { folder, file }
    }

    fn run(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        support::run(&self.file, &[], variables, arguments)
    }

    /// Runs it where every region has to offload; it says that all is well, and Gangway's
    /// report has kernels.
    fn passes(&self, variables: &[(&str, &str)]) {
        let report = self.folder.path().join("report.json");
        let options = ["--report=json", "--report-file", report.to_str().unwrap()];
        let variables = [&[("OMP_TARGET_OFFLOAD", "MANDATORY")], variables].concat();
        let output = support::run(&self.file, &options, &variables, &[]);
        assert_passed(&output);
        let report = std::fs::read_to_string(report).unwrap();
        assert!(report.contains("omp_fn"), "no kernel has run on Gangway:\n{report}");
    }
}

#[track_caller]
fn assert_passed(output: &Output) {
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out == "passed\n", "{}: {out}{error}", output.status);
}

#[test]
fn kinds_of_data() {
    Program::new("data.c", &[]).passes(&[]);
}

/// libgomp ends the program, too: the part that is not mapped would keep its old values.
#[test]
fn an_update_of_what_is_mapped_in_part_is_an_error() {
    let output = Program::new("partial_update.c", &[]).run(&[("OMP_TARGET_OFFLOAD", "MANDATORY")], &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && output.stdout == b"before\n", "{output:?}");
    assert!(said.contains("of 40 bytes is only partly present on the device\n  already mapped: "), "{said}");
}

/// GCC's code has no names; the place in the structure is there.
#[test]
fn a_pointer_inside_of_what_is_mapped_is_told() {
    for flags in [&[][..], &["-fno-openmp", "-fopenacc"]] {
        let program = Program::new("inner_pointer.c", flags);
        let output = program.run(&[("OMP_TARGET_OFFLOAD", "MANDATORY")], &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        for part in [
            "\n  the pointer at byte 8 of a mapped variable keeps the host's address 0x",
            ": what it points to is not mapped\n",
            "\n  help: map what it points to as well, as in map(tofrom: s.member[0:n]), which attaches the pointer",
        ] {
            assert!(!output.status.success() && said.contains(part), "`{part}` is missing: {said}");
        }
    }
}

/// A construct that outlives its call ends when the device has done it, in a row of its own.
#[test]
fn profiles_have_constructs_that_nobody_waits_for() {
    let profile = |nowait: &str| {
        let program = Program::new("profile.c", &[nowait]);
        let file = program.folder.path().join("profile.json");
        let variables = [
            ("OMP_TARGET_OFFLOAD", "MANDATORY"),
            ("LIBOMPTARGET_PROFILE", file.to_str().unwrap()),
            ("LIBOMPTARGET_PROFILE_GRANULARITY", "0"),
        ];
        assert_passed(&program.run(&variables, &[]));
        std::fs::read_to_string(file).unwrap()
    };
    for nowait in ["-DNOWAIT=", "-DNOWAIT=nowait"] {
        let profile = profile(nowait);
        for (name, count) in [("Runtime: target exe", 4), ("Runtime: Data Copy", 6)] {
            let sections = profile.matches(&format!("\"name\":\"{name}\"")).count();
            assert_eq!(sections, count, "{nowait}: {profile}");
            assert!(
                profile.contains(&format!("\"Total {name}\",\"args\":{{\"count\":{count},")),
                "{profile}"
            );
        }
        assert_eq!(profile.contains("\"nowait 1\""), nowait == "-DNOWAIT=nowait", "{profile}");
    }
}

/// GCC has functions for what its code for devices has no instructions for.
#[test]
fn atomic_operations_on_small_and_large_values() {
    Program::new("atomics.c", &["-foffload-options=-latomic"]).passes(&[]);
}

/// As `gomp_fatal`: one message, then the program's exit handlers, then status 1.
#[test]
fn an_error_ends_the_program_with_status_1() {
    let program = Program::new("fatal.c", &["-pthread"]);
    for (how, message) in [
        ("once", "partly present"),
        ("threads", "partly present"),
        ("handler", "partly present"),
        ("joins", "partly present"),
        ("nowait", "illegal memory access"),
    ] {
        let output = program.run(&[("OMP_TARGET_OFFLOAD", "MANDATORY")], &[how]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(1), &b"before\nhandler\n"[..]),
            "{how}: {said}"
        );
        assert_eq!(said.matches("gangway: error: ").count(), 1, "{how}: {said}");
        assert!(said.contains(message), "{how}: {said}");
        // GCC tells the runtime no places, whatever the program is compiled with.
        assert!(!said.contains("compile with -g"), "{how}: {said}");
    }
}

#[test]
fn the_host_runs_what_is_for_a_default_device_beyond_the_last() {
    let program = Program::new("default_device.c", &[]);
    assert_passed(&program.run(&[], &[]));
    let output = program.run(&[("OMP_TARGET_OFFLOAD", "MANDATORY")], &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("there is no device 2"), "{said}");
}

#[test]
fn variables_with_a_pointer_on_the_device() {
    Program::new("links.c", &[]).passes(&[]);
}

#[test]
fn structures_and_their_pointers() {
    Program::new("structures.c", &[]).passes(&[]);
}

/// What is present already is counted without a job, unless somebody wants to be told of it.
#[test]
fn present_structures_are_counted_as_in_libgomp() {
    let program = Program::new("counted_structures.c", &[]);
    let stock = support::run_stock(&program.file);
    let text = String::from_utf8_lossy(&stock.stdout);
    let mut steps: Vec<&str> = text.lines().collect();
    let wanted = if stock.status.success() {
        2000
    } else {
        // libgomp 14 copies to memory that it has freed in one of the later steps, and ends there.
        assert!(
            String::from_utf8_lossy(&stock.stderr).contains("libgomp: Copying of host object"),
            "{stock:?}"
        );
        steps.pop();
        100
    };
    assert!(steps.len() > wanted, "{stock:?}");
    let as_in_libgomp = |output: &Output| {
        let printed = String::from_utf8_lossy(&output.stdout);
        let all: Vec<&str> = printed.lines().collect();
        assert!(output.status.success() && all.len() > 2000, "{output:?}");
        assert_eq!(if stock.status.success() { &all } else { &all[..steps.len()] }, steps);
    };
    let mandatory = ("OMP_TARGET_OFFLOAD", "MANDATORY");
    as_in_libgomp(&program.run(&[mandatory], &[]));
    let told = program.run(&[mandatory, ("LIBOMPTARGET_INFO", "2")], &[]);
    as_in_libgomp(&told);
    assert!(String::from_utf8_lossy(&told.stderr).lines().count() > 2000, "nobody was told");
}

#[test]
fn threads_count_the_same_structures() {
    assert_passed(&Program::new("counted_threads.c", &[]).run(&[("OMP_TARGET_OFFLOAD", "MANDATORY")], &[]));
}

#[test]
fn teams_threads_and_reductions() {
    Program::new("teams.c", &[]).passes(&[]);
}

/// The words that GCC 13 and later pass, for which the program stands in.
#[test]
fn numbers_of_teams_of_newer_compilers() {
    Program::new("newer_teams.c", &["-Wl,--wrap=GOMP_target_ext"]).passes(&[]);
}

/// As GCC 14 passes them.
#[test]
fn members_without_bytes_make_nothing_present() {
    Program::new("newer_members.c", &[]).passes(&[]);
}

/// As GCC 16 passes them.
#[test]
fn iterators_of_newer_compilers() {
    Program::new("newer_iterators.c", &[]).passes(&[]);
}

/// This machine's libgomp may have none of them.
#[test]
fn routines_of_newer_releases() {
    Program::new("newer_routines.c", &["-ldl"]).passes(&[]);
}

#[test]
fn regions_that_nobody_waits_for() {
    Program::new("nowait.c", &[]).passes(&[]);
}

/// What each region that is under way has is bounded, and kept for the next one.
#[test]
fn many_regions_that_nobody_waits_for_share_streams() {
    let program = Program::new("many.c", &[]);
    for how in ["alone", "threads", "chain"] {
        let trace = program.folder.path().join("trace.json");
        let variables =
            [("OMP_TARGET_OFFLOAD", "MANDATORY"), ("GANGWAY_VGPU_TRACE", trace.to_str().unwrap())];
        assert_passed(&program.run(&variables, &[how]));
        let trace = std::fs::read_to_string(&trace).unwrap();
        let calls =
            |function: &str| trace.matches(&format!("\"name\":\"{function}\",\"cat\":\"call\"")).count();
        assert_eq!(calls("cuLaunchKernel"), 400, "{how}");
        // A few more for what threads do at the same time.
        for function in ["cuStreamCreate", "cuMemAlloc_v2", "cuMemHostRegister_v2"] {
            assert!((1..=40).contains(&calls(function)), "{how}: {function} {}", calls(function));
        }
    }
}

/// What programs do that have been tried with libgomp, where such regions run at once.
#[test]
fn regions_that_a_program_relies_on_without_waiting() {
    Program::new("nowait_returns.c", &[]).passes(&[]);
}

#[test]
fn temporaries_of_regions_that_nobody_waits_for() {
    Program::new("nowait_temporaries.f90", &[]).passes(&[]);
}

#[test]
fn references_and_members_of_cpp() {
    Program::new("references.cpp", &[]).passes(&[]);
}

#[test]
fn descriptors_of_fortran() {
    Program::new("descriptors.f90", &[]).passes(&[]);
}

#[test]
fn routines_on_several_devices() {
    for devices in ["1", "3"] {
        let program = Program::new("routines.c", &[&format!("-DDEVICES={devices}")]);
        program.passes(&[("GANGWAY_VGPU_DEVICES", devices)]);
    }
}

/// The conformance suite has the program for clang's front end.
#[test]
fn constructs_without_a_device_go_where_the_least_is_queued() {
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/conformance/programs/c/");
    let program = Program::new(&format!("{suite}balance.c"), &[]);
    let expected = std::fs::read_to_string(format!("{suite}balance.expected")).unwrap();
    let report = program.folder.path().join("report.json");
    let options = ["--report=json", "--report-file", report.to_str().unwrap()];
    let balanced =
        [("OMP_TARGET_OFFLOAD", "MANDATORY"), ("GANGWAY_VGPU_DEVICES", "2"), ("GANGWAY_BALANCE", "1")];
    for (variables, devices) in [(&balanced[..], 2), (&balanced[..2], 1)] {
        let output = support::run(&program.file, &options, variables, &[]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(said == expected, devices == 2, "on {devices} devices:\n{said}");
        let report = std::fs::read_to_string(&report).unwrap();
        let (_, summed) = report.split_once("\"by_device\":[").unwrap();
        let (summed, _) = summed.split_once(']').unwrap();
        // The last part of the program uses a pointer to the last device's memory.
        let launched = |device: i32| summed.contains(&format!("{{\"device\":{device},\"launches\":"));
        assert!(launched(0) && (devices == 1 || launched(1)), "{summed}");
    }
}

/// A program of GCC's and a library of clang's have one runtime, each through its own front end.
#[test]
fn a_library_of_clang_shares_devices_and_data() {
    for devices in ["1", "2"] {
        let library = support::clang_library("mixed_library.c");
        let folder = library.path().to_str().unwrap();
        let own = [format!("-L{folder}"), format!("-Wl,-rpath,{folder}"), format!("-DDEVICES={devices}")];
        let flags: Vec<_> = own.iter().map(String::as_str).chain(["-lmixed_library"]).collect();
        Program::new("mixed.c", &flags).passes(&[("GANGWAY_VGPU_DEVICES", devices)]);
    }
}

/// As many seconds as `GANGWAY_GOMP_STRESS` says, or a few.
#[test]
fn eight_threads_run_random_constructs() {
    let seconds = std::env::var("GANGWAY_GOMP_STRESS").unwrap_or_else(|_| "4".into());
    let program = Program::new("stress.c", &[]);
    assert_passed(&program.run(&[("OMP_TARGET_OFFLOAD", "MANDATORY")], &[&seconds]));
}

#[test]
fn memory_is_exhausted_while_a_region_maps() {
    let output = Program::new("memory.c", &[]).run(&[("GANGWAY_VGPU_MEMORY", "256M")], &[]);
    assert_passed(&output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("memory") && said.contains("the host takes over"), "{said}");
}

#[test]
fn a_library_is_closed_while_its_data_is_mapped() {
    let library = Program::new("unload_library.c", &["-shared", "-fPIC"]);
    let definition = format!("-DLIBRARY=\"{}\"", library.file.display());
    Program::new("unload.c", &[&definition, "-ldl"]).passes(&[]);
}

#[test]
fn children_forked_before_the_first_region_offload() {
    Program::new("fork_before_use.c", &[]).passes(&[]);
}

#[test]
fn the_program_ends_during_asynchronous_work() {
    let program = Program::new("exit.c", &["-pthread"]);
    for _ in 0..5 {
        for who in ["own", "thread"] {
            assert_passed(&program.run(&[("OMP_TARGET_OFFLOAD", "MANDATORY")], &[who]));
        }
    }
}

/// The lines of `GOMP_DEBUG` about launches are those of libgomp's own plugin.
#[test]
fn launch_lines_are_the_stock_plugins() {
    let program = Program::new("launches.c", &[]);
    let lines = |runtime| {
        let options = ["--gcc-runtime", runtime];
        let variables = [("OMP_TARGET_OFFLOAD", "MANDATORY"), ("GOMP_DEBUG", "1")];
        let output = support::run(&program.file, &options, &variables, &[]);
        assert!(output.status.success() && output.stdout == b"passed\n", "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        let resources = said.lines().filter(|line| line.contains(" registers a thread, ")).count();
        assert_eq!(resources, if runtime == "gangway" { 5 } else { 0 }, "{said}");
        support::launch_lines(&output)
    };
    let ours = lines("gangway");
    assert_eq!(ours.len(), 5, "{ours:#?}");
    assert_eq!(ours, lines("stock"));
}

#[test]
fn what_the_host_runs() {
    let program = Program::new("host.c", &[]);
    program.passes(&[]);
    // An argument says that no region offloads.
    assert_passed(&program.run(&[("OMP_TARGET_OFFLOAD", "DISABLED")], &["host"]));
}

/// GCC's programs get Gangway's front end, unless somebody asks for libgomp's own runtime.
#[test]
fn the_front_end_is_there_unless_refused() {
    let program = Program::new("host.c", &[]);
    let report = program.folder.path().join("report.json");
    let mandatory = [("OMP_TARGET_OFFLOAD", "MANDATORY")];
    for (runtime, ours) in [("stock", false), ("gangway", true), ("", true)] {
        let _ = std::fs::remove_file(&report);
        let mut options = vec!["--report=json", "--report-file", report.to_str().unwrap()];
        if !runtime.is_empty() {
            options.extend(["--gcc-runtime", runtime]);
        }
        assert_passed(&support::run(&program.file, &options, &mandatory, &[]));
        // The virtual GPU reports kernels, too, but knows nothing of a region that the host runs.
        let text = std::fs::read_to_string(&report).unwrap();
        assert_eq!(text.contains("\"main$_omp_fn$0\""), ours, "{runtime}: {text}");
    }
}
