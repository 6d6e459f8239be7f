//! Programs that stock GCC builds run on Gangway: what they compute, where, and what they are
//! told when something is wrong.

mod support;

use gangway_commands::Ran;
use support::{MANDATORY, Program, clang_library};

#[test]
fn kinds_of_data() {
    Program::new("data.c", &[]).offloads(&[], &[MANDATORY]);
}

/// libgomp ends the program, too: the part that is not mapped would keep its old values.
#[test]
fn an_update_of_what_is_mapped_in_part_is_an_error() {
    let output = Program::new("partial_update.c", &[]).run(&[], &[MANDATORY], &[]);
    assert!(output.code() == Some(1) && output.stdout == "before\n", "{output}");
    output.told(&["of 40 bytes is only partly present on the device\n  already mapped: "]);
}

/// GCC's code has no names; the place in the structure is there.
#[test]
fn a_pointer_inside_of_what_is_mapped_is_told() {
    for flags in [&[][..], &["-fno-openmp", "-fopenacc"]] {
        let program = Program::new("inner_pointer.c", flags);
        let output = program.run(&[], &[MANDATORY], &[]);
        output.failed().told(&[
            "\n  the pointer at byte 8 of a mapped variable keeps the host's address 0x",
            ": what it points to is not mapped\n",
            "\n  help: map what it points to as well, as in map(tofrom: s.member[0:n]), which attaches the pointer",
        ]);
    }
}

/// A construct that outlives its call ends when the device has done it, in a row of its own.
#[test]
fn profiles_have_constructs_that_nobody_waits_for() {
    let profile = |nowait: &str| {
        let program = Program::new("profile.c", &[nowait]);
        let file = program.folder.path("profile.json");
        let variables = [
            MANDATORY,
            ("LIBOMPTARGET_PROFILE", file.to_str().unwrap()),
            ("LIBOMPTARGET_PROFILE_GRANULARITY", "0"),
        ];
        program.run(&[], &variables, &[]).printed("passed\n");
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
    Program::new("atomics.c", &["-foffload-options=-latomic"]).offloads(&[], &[MANDATORY]);
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
        let output = program.run(&[], &[MANDATORY], &[how]);
        assert_eq!((output.code(), &*output.stdout), (Some(1), "before\nhandler\n"), "{output}");
        assert_eq!(output.stderr.matches("gangway: error: ").count(), 1, "{output}");
        // GCC tells the runtime no places, whatever the program is compiled with.
        assert!(!output.told(&[message]).stderr.contains("compile with -g"), "{how}");
    }
}

#[test]
fn the_host_runs_what_is_for_a_default_device_beyond_the_last() {
    let program = Program::new("default_device.c", &[]);
    program.run(&[], &[], &[]).printed("passed\n");
    program.run(&[], &[MANDATORY], &[]).failed().told(&["there is no device 2"]);
}

#[test]
fn variables_with_a_pointer_on_the_device() {
    Program::new("links.c", &[]).offloads(&[], &[MANDATORY]);
}

#[test]
fn structures_and_their_pointers() {
    Program::new("structures.c", &[]).offloads(&[], &[MANDATORY]);
}

/// What is present already is counted without a job, unless somebody wants to be told of it.
#[test]
fn present_structures_are_counted_as_in_libgomp() {
    let program = Program::new("counted_structures.c", &[]);
    let stock = program.run_stock();
    let mut steps: Vec<&str> = stock.stdout.lines().collect();
    let wanted = if stock.status.success() {
        2000
    } else {
        // libgomp 14 copies to memory that it has freed in one of the later steps, and ends there.
        assert!(stock.stderr.contains("libgomp: Copying of host object"), "{stock}");
        steps.pop();
        100
    };
    assert!(steps.len() > wanted, "{stock}");
    let as_in_libgomp = |output: &Ran| {
        let all: Vec<&str> = output.stdout.lines().collect();
        assert!(output.status.success() && all.len() > 2000, "{output}");
        assert_eq!(if stock.status.success() { &all } else { &all[..steps.len()] }, steps);
    };
    as_in_libgomp(&program.run(&[], &[MANDATORY], &[]));
    let told = program.run(&[], &[MANDATORY, ("LIBOMPTARGET_INFO", "2")], &[]);
    as_in_libgomp(&told);
    assert!(told.stderr.lines().count() > 2000, "nobody was told");
}

#[test]
fn threads_count_the_same_structures() {
    Program::new("counted_threads.c", &[]).run(&[], &[MANDATORY], &[]).printed("passed\n");
}

#[test]
fn teams_threads_and_reductions() {
    Program::new("teams.c", &[]).offloads(&[], &[MANDATORY]);
}

/// The words that GCC 13 and later pass, for which the program stands in.
#[test]
fn numbers_of_teams_of_newer_compilers() {
    Program::new("newer_teams.c", &["-Wl,--wrap=GOMP_target_ext"]).offloads(&[], &[MANDATORY]);
}

/// As GCC 14 passes them.
#[test]
fn members_without_bytes_make_nothing_present() {
    Program::new("newer_members.c", &[]).offloads(&[], &[MANDATORY]);
}

/// As GCC 16 passes them.
#[test]
fn iterators_of_newer_compilers() {
    Program::new("newer_iterators.c", &[]).offloads(&[], &[MANDATORY]);
}

/// This machine's libgomp may have none of them.
#[test]
fn routines_of_newer_releases() {
    Program::new("newer_routines.c", &["-ldl"]).offloads(&[], &[MANDATORY]);
}

#[test]
fn regions_that_nobody_waits_for() {
    Program::new("nowait.c", &[]).offloads(&[], &[MANDATORY]);
}

/// What each region that is under way has is bounded, and kept for the next one.
#[test]
fn many_regions_that_nobody_waits_for_share_streams() {
    let program = Program::new("many.c", &[]);
    for how in ["alone", "threads", "chain"] {
        let trace = program.folder.path("trace.json");
        let variables = [MANDATORY, ("GANGWAY_VGPU_TRACE", trace.to_str().unwrap())];
        program.run(&[], &variables, &[how]).printed("passed\n");
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
    Program::new("nowait_returns.c", &[]).offloads(&[], &[MANDATORY]);
}

#[test]
fn temporaries_of_regions_that_nobody_waits_for() {
    Program::new("nowait_temporaries.f90", &[]).offloads(&[], &[MANDATORY]);
}

#[test]
fn references_and_members_of_cpp() {
    Program::new("references.cpp", &[]).offloads(&[], &[MANDATORY]);
}

#[test]
fn descriptors_of_fortran() {
    Program::new("descriptors.f90", &[]).offloads(&[], &[MANDATORY]);
}

#[test]
fn routines_on_several_devices() {
    for devices in ["1", "3"] {
        let program = Program::new("routines.c", &[&format!("-DDEVICES={devices}")]);
        program.offloads(&[], &[MANDATORY, ("GANGWAY_VGPU_DEVICES", devices)]);
    }
}

/// The conformance suite has the program for clang's front end.
#[test]
fn constructs_without_a_device_go_where_the_least_is_queued() {
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/conformance/programs/c/");
    let program = Program::new(&format!("{suite}balance.c"), &[]);
    let expected = std::fs::read_to_string(format!("{suite}balance.expected")).unwrap();
    let report = program.folder.path("report.json");
    let options = ["--report=json", "--report-file", report.to_str().unwrap()];
    let balanced = [MANDATORY, ("GANGWAY_VGPU_DEVICES", "2"), ("GANGWAY_BALANCE", "1")];
    for (variables, devices) in [(&balanced[..], 2), (&balanced[..2], 1)] {
        let output = program.run(&options, variables, &[]);
        let output = output.succeeded();
        assert_eq!(output.stdout == expected, devices == 2, "on {devices} devices: {output}");
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
        let library = clang_library("mixed_library.c");
        let folder = library.to_str().unwrap();
        let own = [format!("-L{folder}"), format!("-Wl,-rpath,{folder}"), format!("-DDEVICES={devices}")];
        let flags: Vec<_> = own.iter().map(String::as_str).chain(["-lmixed_library"]).collect();
        Program::new("mixed.c", &flags).offloads(&[], &[MANDATORY, ("GANGWAY_VGPU_DEVICES", devices)]);
    }
}

/// As many seconds as `GANGWAY_GOMP_STRESS` says, or a few.
#[test]
fn eight_threads_run_random_constructs() {
    let seconds = std::env::var("GANGWAY_GOMP_STRESS").unwrap_or_else(|_| "4".into());
    let program = Program::new("stress.c", &[]);
    program.run(&[], &[MANDATORY], &[&seconds]).printed("passed\n");
}

#[test]
fn memory_is_exhausted_while_a_region_maps() {
    let output = Program::new("memory.c", &[]).run(&[], &[("GANGWAY_VGPU_MEMORY", "256M")], &[]);
    output.printed("passed\n").told(&["memory", "the host takes over"]);
}

#[test]
fn a_library_is_closed_while_its_data_is_mapped() {
    let library = Program::new("unload_library.c", &["-shared", "-fPIC"]);
    let definition = format!("-DLIBRARY=\"{}\"", library.file.display());
    Program::new("unload.c", &[&definition, "-ldl"]).offloads(&[], &[MANDATORY]);
}

#[test]
fn children_forked_before_the_first_region_offload() {
    Program::new("fork_before_use.c", &[]).offloads(&[], &[MANDATORY]);
}

#[test]
fn the_program_ends_during_asynchronous_work() {
    let program = Program::new("exit.c", &["-pthread"]);
    for _ in 0..5 {
        for who in ["own", "thread"] {
            program.run(&[], &[MANDATORY], &[who]).printed("passed\n");
        }
    }
}

/// The lines of `GOMP_DEBUG` about launches are those of libgomp's own plugin.
#[test]
fn launch_lines_are_the_stock_plugins() {
    let program = Program::new("launches.c", &[]);
    let lines = |runtime| program.launches(runtime, &[MANDATORY], 5);
    let ours = lines("gangway");
    assert_eq!(ours.len(), 5, "{ours:#?}");
    assert_eq!(ours, lines("stock"));
}

#[test]
fn what_the_host_runs() {
    let program = Program::new("host.c", &[]);
    program.offloads(&[], &[MANDATORY]);
    // An argument says that no region offloads.
    program.run(&[], &[("OMP_TARGET_OFFLOAD", "DISABLED")], &["host"]).printed("passed\n");
}

/// GCC's programs get Gangway's front end, unless somebody asks for libgomp's own runtime.
#[test]
fn the_front_end_is_there_unless_refused() {
    let program = Program::new("host.c", &[]);
    let report = program.folder.path("report.json");
    for (runtime, ours) in [("stock", false), ("gangway", true), ("", true)] {
        let _ = std::fs::remove_file(&report);
        let mut options = vec!["--report=json", "--report-file", report.to_str().unwrap()];
        if !runtime.is_empty() {
            options.extend(["--gcc-runtime", runtime]);
        }
        program.run(&options, &[MANDATORY], &[]).printed("passed\n");
        // The virtual GPU reports kernels, too, but knows nothing of a region that the host runs.
        let text = std::fs::read_to_string(&report).unwrap();
        assert_eq!(text.contains("\"main$_omp_fn$0\""), ours, "{runtime}: {text}");
    }
}
