//! Fortran programs must print the same on a device as on the host, at -O0 and
//! -O2, with one thread, with more than the machine has, and with enough for
//! libomp to combine reductions along a tree.
//!
//! The device runs are by LLVM's runtime and, where it is staged, Gangway's.
//! The host runs have one thread: on more, flang 22's own host code for teams
//! reductions hangs. A program that starts with `! reference: FILE` is compared
//! with that file instead and says why.

mod common;

use std::fs;
use std::path::Path;

use common::{Runtime, compile, crate_directory, execute, scratch, staged};

fn check(name: &str) {
    let programs = crate_directory().join("tests/programs");
    let path = programs.join(name).with_extension("f90");
    let source = fs::read_to_string(&path).expect("the program exists");
    // flang 22 takes OpenMP 3.1 for granted, and refuses newer clauses.
    let options: &[String] =
        if source.contains("use_device_addr") { &["-fopenmp-version=52".to_owned()] } else { &[] };
    for optimisation in ["-O0", "-O2"] {
        let program = compile(&path, optimisation, options);
        let expected = match source.lines().next().and_then(|l| l.strip_prefix("! reference: ")) {
            Some(file) => fs::read_to_string(programs.join(file)).expect("the reference exists"),
            None => execute(&program, Runtime::Disabled, "1")
                .unwrap_or_else(|failure| panic!("{name} {optimisation} on the host: {failure}")),
        };
        assert!(!expected.is_empty(), "{name} prints nothing to compare");
        for runtime in runtimes() {
            for threads in ["1", "4", "7"] {
                let case = format!("{name} {optimisation}, {runtime:?}, {threads} threads");
                let printed =
                    attempt(&program, runtime, threads).unwrap_or_else(|failure| panic!("{case}: {failure}"));
                assert_eq!(printed, expected, "{case}");
            }
        }
    }
}

/// As [`execute`]. Under LLVM's own runtime, libomp 22 now and then fails an assertion of its own
/// about the team of a task that a hidden helper thread has run (`target nowait`), and the program
/// has another try. Under Gangway's that is a failure like any other.
fn attempt(program: &Path, runtime: Runtime, threads: &str) -> Result<String, String> {
    for _ in 0..2 {
        let ended = execute(program, runtime, threads);
        match (runtime, &ended) {
            (Runtime::Stock, Err(failure)) if failure.contains("Assertion failure at kmp_tasking.cpp") => {
                println!("libomp's own failure, tried again: {failure}");
            }
            _ => return ended,
        }
    }
    execute(program, runtime, threads)
}

/// The value is an argument of the launch alone, which LLVM's own runtime gives to no kernel. The later
/// limit is not the earlier one's.
#[test]
fn thread_limits_of_variables_are_kept_under_gangway() {
    const SOURCE: &str = "program p\nuse omp_lib\ninteger :: nt(4), tl(4), i, k, lim(4) = (/ 1, 3, 10000, 1 /)\n\
        do k = 1, 4\nnt = -1; tl = -1\n\
        !$omp target teams distribute parallel do map(tofrom: nt, tl) num_threads(10) thread_limit(lim(k))\n\
        do i = 1, 4\nnt(i) = omp_get_num_threads(); tl(i) = omp_get_thread_limit()\nend do\n\
        print '(i0,1x,i0)', maxval(nt), maxval(tl)\nend do\nend program\n";
    if staged().is_none() {
        println!("not staged: Gangway's libomptarget is not tested (cargo xtask stage)");
        return;
    }
    let source = scratch().join("thread_limit.f90");
    fs::write(&source, SOURCE).expect("the scratch directory is writable");
    // flang's OpenMP 3.1 leaves the value to code for hosts.
    let program = compile(&source, "-O2", &["-fopenmp-version=52".to_owned()]);
    let printed = execute(&program, Runtime::Gangway, "4");
    assert_eq!(printed.as_deref(), Ok("1 1\n3 3\n10 10\n1 1\n"));
}

fn runtimes() -> Vec<Runtime> {
    let mut runtimes = vec![Runtime::Stock];
    if staged().is_some() {
        runtimes.push(Runtime::Gangway);
    } else {
        println!("not staged: Gangway's libomptarget is not tested (cargo xtask stage)");
    }
    runtimes
}

macro_rules! programs {
    ($($name:ident),+ $(,)?) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })+

        #[test]
        fn every_program_is_listed() {
            let mut found: Vec<String> = fs::read_dir(crate_directory().join("tests/programs"))
                .expect("the directory exists")
                .map(|entry| entry.expect("readable").path())
                .filter(|path| path.extension().is_some_and(|e| e == "f90"))
                .map(|path| Path::new(path.file_stem().unwrap()).display().to_string())
                .collect();
            found.sort();
            assert_eq!(found, [$(stringify!($name)),+]);
        }
    };
}

programs!(
    allocatables,
    array_reduction,
    atomics,
    collapse,
    concurrent_launches,
    critical,
    data_regions,
    declare_target,
    derived_types,
    device_pointers,
    device_print,
    generic_teams,
    intrinsics,
    leagues,
    locks,
    loop_construct,
    nested_parallel,
    ordered,
    privates,
    procedures,
    reductions,
    runtime_arrays,
    runtime_services,
    saxpy,
    schedules,
    sections_tasks,
    simd,
    tasks_nowait,
    where_am_i,
    wide_loops,
    worksharing_barriers,
);
