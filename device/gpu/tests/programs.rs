//! Runs programs on the virtual GPU, compiled by stock clang or flang at -O0 and -O2, with the staged archive.
//! Each program checks itself. `cargo xtask stage` comes first.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the crate is in a tree")
}

fn gangway() -> Command {
    let tool = root().join("build/stage/bin/gangway");
    assert!(tool.is_file(), "{} is not there; run `cargo xtask stage` first", tool.display());
    Command::new(tool)
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// The compilers of the programs' languages, by how sources end. Host versions of what is atomic in more
/// than eight bytes are in a library.
const LANGUAGES: [(&str, &str, &[&str]); 3] = [
    ("c", "cc", &["-fopenmp-version=51", "-lm", "-latomic"]),
    ("cpp", "c++", &["-fopenmp-version=51", "-lm", "-latomic"]),
    ("f90", "fc", &[]),
];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Compiles a program of the folder `programs`.
fn compile(name: &str, level: &str, more: &[&str]) -> PathBuf {
    let source = |(ending, compiler, flags)| (sources().join(format!("{name}.{ending}")), compiler, flags);
    let mut found = LANGUAGES.into_iter().map(source).filter(|(source, ..)| source.is_file());
    let (source, compiler, flags) = found.next().expect("the program is in the folder");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join([&[name, level], more].concat().concat());
    // Another test may compile and run the same program at the same time.
    let unfinished = program.with_added_extension(format!("{:?}", std::thread::current().id()));
    succeed(
        gangway()
            // Fortran leaves descriptions of modules.
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .args([compiler, level, "-fopenmp", "--offload-arch=sm_80", "-o"])
            .arg(&unfinished)
            .arg(&source)
            .args(flags)
            .args(more),
    );
    std::fs::rename(&unfinished, &program).expect("both are in one folder");
    program
}

/// A program on the virtual GPU.
fn on_the_gpu(program: &Path) -> Command {
    let mut run = gangway();
    run.args(["run", "--device", "vgpu", "--"]).arg(program);
    run.env("OMP_TARGET_OFFLOAD", "MANDATORY");
    run
}

/// How compiled code of the virtual GPU runs a program.
#[derive(Clone, Copy, PartialEq)]
enum Engine {
    /// Compiled, as programs run by default.
    Compiler,
    /// Interpreted: it has not been tried compiled since lanes may wait in a function for others.
    Interpreter,
}

fn check(name: &str, level: &str, engine: Engine) {
    let more: &[&str] = if name == "debug_information" { &["-g"] } else { &[] };
    let program = compile(name, level, more);
    let mut run = on_the_gpu(&program);
    if engine == Engine::Interpreter {
        run.env("GANGWAY_VGPU_ENGINE", "interpreter");
    }
    if name == "dynamic_shared" {
        succeed(&mut run);
        run.env("LIBOMPTARGET_SHARED_MEMORY_SIZE", "1024");
    }
    if name.starts_with("heap") {
        run.env("LIBOMPTARGET_HEAP_SIZE", (8 << 20).to_string()).env("GANGWAY_VGPU_MEMORY", "512M");
    }
    let output = succeed(&mut run);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.lines().last(), Some("passed"), "{text}");
}

macro_rules! programs {
    ($($name:ident: $unoptimised:ident, $optimised:ident;)*) => {
        $(mod $name {
            #[test]
            fn unoptimised() {
                super::check(stringify!($name), "-O0", super::Engine::$unoptimised);
            }

            #[test]
            fn optimised() {
                super::check(stringify!($name), "-O2", super::Engine::$optimised);
            }
        })*

        #[test]
        fn every_program_is_run() {
            let mut found: Vec<String> = std::fs::read_dir(sources())
                .expect("the folder is there")
                .map(|entry| entry.expect("it can be read").path())
                .filter(|path| path.extension().is_some_and(|end| end != "h"))
                .map(|path| path.file_stem().expect("it has a name").to_string_lossy().into_owned())
                .collect();
            found.sort();
            let mut listed: Vec<String> = [$(stringify!($name)),*].map(str::to_owned).into();
            listed.extend(["saxpy", "checked", "copyprivate_too_large", "error_directive", "exceptions", "formats", "lines", "output", "fortran_kinds", "fortran_output", "fortran_unsupported"].map(str::to_owned));
            listed.sort();
            assert_eq!(found, listed);
        }
    };
}

programs! {
    array_reductions_of_fortran: Compiler, Compiler;
    arrays_of_fortran: Compiler, Compiler;
    atomic_objects: Compiler, Compiler;
    bare_kernels: Compiler, Compiler;
    barriers: Compiler, Compiler;
    c_library: Compiler, Compiler;
    complex_functions: Compiler, Compiler;
    complex_of_fortran: Compiler, Compiler;
    constants: Compiler, Compiler;
    copyprivate: Compiler, Compiler;
    debug_information: Compiler, Compiler;
    detach: Compiler, Compiler;
    distribute: Compiler, Compiler;
    doacross: Compiler, Compiler;
    dynamic_shared: Compiler, Compiler;
    exclusion: Compiler, Compiler;
    functions_outside_regions: Compiler, Compiler;
    generic_regions: Compiler, Compiler;
    heap: Compiler, Compiler;
    heap_of_fortran: Compiler, Compiler;
    host_call: Compiler, Compiler;
    indirect_calls: Compiler, Compiler;
    initial_lock: Compiler, Compiler;
    kernel_language: Compiler, Compiler;
    language_features: Compiler, Compiler;
    launch_shapes: Compiler, Compiler;
    launch_shapes_of_fortran: Compiler, Compiler;
    modules_of_fortran: Compiler, Compiler;
    mathematics: Compiler, Compiler;
    memory: Compiler, Compiler;
    nested_regions: Compiler, Compiler;
    ordered: Compiler, Compiler;
    queries: Compiler, Compiler;
    reduction_inside: Compiler, Compiler;
    reduction_lanes: Compiler, Compiler;
    reduction_order: Compiler, Compiler;
    reduction_threads: Compiler, Compiler;
    reduction_types: Compiler, Compiler;
    reductions_of_classes: Compiler, Compiler;
    reductions_of_fortran: Compiler, Compiler;
    reductions_of_large_classes: Compiler, Compiler;
    regions_of_fortran: Interpreter, Interpreter;
    rounding_of_fortran: Compiler, Compiler;
    schedules: Compiler, Compiler;
    sharing: Compiler, Compiler;
    tasks: Compiler, Compiler;
    tasks_of_fortran: Compiler, Compiler;
    team_variables: Compiler, Compiler;
    teams: Compiler, Compiler;
    teams_of_few_threads: Compiler, Compiler;
}

/// The PTX in a program.
fn ptx(program: &Path) -> String {
    let bytes = std::fs::read(program).expect("the program can be read");
    let mark = b"// Generated by LLVM NVPTX Back-End";
    let start = bytes.windows(mark.len()).position(|window| window == mark).expect("it has PTX");
    let length = bytes[start..].iter().position(|&byte| byte == 0).unwrap_or(bytes.len() - start);
    String::from_utf8_lossy(&bytes[start..start + length]).into_owned()
}

/// A loop over teams and threads is the loop alone: no call, no state machine, no shared memory.
#[test]
fn the_runtime_vanishes() {
    let program = compile("saxpy", "-O2", &[]);
    let text = ptx(&program);
    for unwanted in ["call", ".shared", "barrier.sync", ".local", ".func"] {
        assert!(!text.contains(unwanted), "{unwanted} in:\n{text}");
    }
    assert_eq!(text.matches("fma.rn.f32").count(), 1, "{text}");
    check("saxpy", "-O2", Engine::Compiler);
}

/// Each clause has the code of its own functions only, and few copies of it.
#[test]
fn reductions_of_large_classes_are_short() {
    let program = compile("reductions_of_large_classes", "-O2", &[]);
    let text = ptx(&program);
    let shuffles = text.matches("shfl.sync").count();
    // Six clauses, each with a few loops over words: 92 shuffles with clang 22.1.
    assert!((1..=300).contains(&shuffles), "{shuffles} shuffles in {} lines", text.lines().count());
}

/// Each team enters one region for a loop, and not one for each of its threads' iterations.
#[test]
fn a_team_enters_one_region_and_reduces_once() {
    let program = compile("checked", "-O2", &["-fopenmp-target-debug=3"]);
    let output = succeed(on_the_gpu(&program).env("GANGWAY_DEVICE_DEBUG", "trace"));
    let text = String::from_utf8_lossy(&output.stdout);
    let regions = text.lines().filter(|line| line.ends_with(" thread 0: __kmpc_parallel_60")).count();
    let reductions = text.lines().filter(|line| line.ends_with(" thread 0: reduction in a team")).count();
    assert_eq!((regions, reductions), (3 + 3, 3), "{text}");
}

/// Lanes that reduce are the first ones of their warp, whatever region they are of.
#[test]
fn lanes_that_reduce_stand_together() {
    for level in ["-O0", "-O2"] {
        let program = compile("reduction_lanes", level, &["-fopenmp-target-debug=3"]);
        let output = succeed(on_the_gpu(&program).env("GANGWAY_DEVICE_DEBUG", "assert"));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "passed\n");
    }
}

/// Traces and checks are there where the compiler and the host both ask for them, and else nowhere.
#[test]
fn checks_are_switched_on_by_compiler_and_host() {
    let checked = compile("checked", "-O2", &["-fopenmp-target-debug=3"]);
    let output = succeed(&mut on_the_gpu(&checked));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "passed\n");
    let output = succeed(on_the_gpu(&checked).env("GANGWAY_DEVICE_DEBUG", "assert"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "passed\n");

    let mut wrong = on_the_gpu(&checked);
    wrong.arg("wrong").env("GANGWAY_DEVICE_DEBUG", "assert");
    let output = wrong.output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{text}");
    let expected = "gangway: block 0 thread 96: check failed: a lock is given back that nobody has\n";
    assert_eq!(text, expected);

    let unchecked = compile("checked", "-O2", &[]);
    // The function that says so.
    assert!(ptx(&checked).contains("5debug4fail"));
    assert!(!ptx(&unchecked).contains("5debug4fail"));
    let output = succeed(on_the_gpu(&unchecked).env("GANGWAY_DEVICE_DEBUG", "assert,trace"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "passed\n");
}

/// The functions that ask the host are there where a program calls one. Then `printf` goes their way,
/// too; else it is the driver's, and nothing of host calls is in the image.
#[test]
fn functions_that_ask_the_host_are_there_where_they_are_called() {
    let printing = compile("output", "-O2", &[]);
    let text = ptx(&printing);
    assert!(text.contains("vprintf") && !text.contains("gangway_host"), "{text}");
    assert_eq!(String::from_utf8_lossy(&succeed(&mut on_the_gpu(&printing)).stdout), "printf 1\n");

    let asking = compile("output", "-O2", &["-DALL"]);
    let text = ptx(&asking);
    assert!(text.contains("gangway_host_call"), "{text}");
    assert!(!text.contains("getenv"), "what is not called is left out:\n{text}");
    let output = succeed(&mut on_the_gpu(&asking));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "printf 1\nputs\nprintf 2\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().last(), Some("fprintf 3"));
}

/// The driver's `printf` answers how many arguments there were, and the host's how many bytes.
#[test]
fn printf_goes_the_way_of_the_others() {
    for (flags, status) in [(&[][..], 1), (&["-DALL"][..], 9)] {
        let program = compile("output", "-O2", flags);
        let status_of = on_the_gpu(&program).arg("status").status().expect("the program starts");
        assert_eq!(status_of.code(), Some(status));
    }
}

#[test]
fn copyprivate_names_what_is_too_large() {
    let program = compile("copyprivate_too_large", "-O0", &[]);
    let output = on_the_gpu(&program).output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{text}");
    let expected = "gangway: variable 2 of the 2 of a copyprivate clause is too large: at most 65528 bytes can \
                    be handed over; make it shared\n";
    assert_eq!(text, expected);
}

#[test]
fn the_error_directive_names_its_place() {
    for level in ["-O0", "-O2"] {
        let program = compile("error_directive", level, &[]);
        let file = sources().join("error_directive.c");
        let file = file.display();
        let warnings = format!(
            "gangway: warning: {file}:10:1: the first\n\
             gangway: warning: {file}:12:1: error directive without a message\n"
        );
        let output = succeed(&mut on_the_gpu(&program));
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{warnings}passed\n"));
        let output = on_the_gpu(&program).arg("fatal").output().expect("the program starts");
        assert!(!output.status.success());
        let fatal = format!("gangway: error: {file}:14:1: the last\n");
        assert_eq!(String::from_utf8_lossy(&output.stdout), warnings + &fatal);
    }
}

/// What would be an exception on the host ends the program with the host's words, said once.
#[test]
fn exceptions_of_the_standard_library_end_the_program() {
    let thrown = |class, what| {
        format!("terminate called after throwing an instance of 'std::{class}'\n  what():  {what}\n")
    };
    let array = "array::at: __n (which is 4) >= _Nm (which is 4)";
    let bits = "bitset::test: __position (which is 9) >= _Nb (which is 8)";
    let view = "basic_string_view::substr: __pos (which is 5) > __size (which is 4)";
    let expected = [
        thrown("out_of_range", array),
        thrown("out_of_range", bits),
        thrown("out_of_range", view),
        thrown("bad_function_call", "bad_function_call"),
        // Thrown by a header, not by the library.
        String::new(),
        "Assertion '__n < this->size()' failed.\n".to_owned(),
        thrown("length_error", "a text of the caller's"),
    ];
    for level in ["-O0", "-O2"] {
        let program = compile("exceptions", level, &["-D_GLIBCXX_ASSERTIONS"]);
        let output = succeed(&mut on_the_gpu(&program));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "320\n");
        for (how, expected) in (1..).zip(&expected) {
            let output = on_the_gpu(&program).arg(how.to_string()).output().expect("the program starts");
            let text = String::from_utf8_lossy(&output.stderr);
            let end = "gangway: error: device 0: code of a target region has called abort()\n";
            let (said, rest) = text.split_once(end).expect(&text);
            assert!(!output.status.success() && !rest.contains(end), "{level} {how}: {text}");
            let is_assertion = expected.starts_with("Assertion");
            assert!(
                if is_assertion { said.ends_with(expected) } else { said == expected },
                "{level}: {text}"
            );
        }
    }
}

/// How a run of `fortran_output` ends and what it writes: all lines, those of the loop's threads sorted.
fn fortran_output(run: &mut Command, how: &str) -> (Option<i32>, Vec<String>) {
    let folder = own_folder(how);
    let output = run.current_dir(&folder).arg(how).output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let first = lines.iter().position(|line| line.starts_with("thread")).unwrap_or(lines.len());
    lines[first..].sort();
    lines.push(std::fs::read_to_string(folder.join("fort.7")).unwrap_or_default());
    std::fs::remove_dir_all(&folder).expect("the folder is this test's");
    // Of exceptions the host's arithmetic tells, and a device has none; notes are about the device.
    let errors = String::from_utf8_lossy(&output.stderr);
    let is_note = |line: &&str| line.starts_with("gangway: note") || line.starts_with("IEEE");
    lines.extend(errors.lines().filter(|line| !is_note(line)).map(str::to_owned));
    (output.status.code(), lines)
}

fn same_output(found: &(Option<i32>, Vec<String>), expected: &(Option<i32>, Vec<String>), what: &str) {
    for (at, line) in expected.1.iter().enumerate() {
        assert_eq!(found.1.get(at), Some(line), "{what}, line {at}: {:?}", found.1.last());
    }
    assert_eq!((found.0, found.1.len()), (expected.0, expected.1.len()), "{what}: {:?}", found.1.last());
}

/// A folder of the test's own.
fn own_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "{name}-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// Output of Fortran's is the host's own, wherever the region runs, and so is the end of the program.
#[test]
fn fortran_prints_and_stops_as_on_the_host() {
    let source = sources().join("fortran_output.f90");
    let ends = [("", Some(0)), ("stop", Some(3)), ("error", Some(4)), ("text", Some(0)), ("wrong", None)];
    for (level, ends) in [("-O0", &ends[..1]), ("-O2", &ends[..])] {
        let program = compile("fortran_output", level, &[]);
        let cpu = program.with_extension("cpu");
        succeed(gangway().args(["fc", level, "-fopenmp", "-o"]).args([&cpu, &source]));
        for &(how, status) in ends {
            let mut host = gangway();
            host.args(["run", "--"]).arg(&program).env("OMP_TARGET_OFFLOAD", "DISABLED");
            let expected = fortran_output(&mut host, how);
            let threads = expected.1.iter().filter(|line| line.starts_with("thread")).count();
            assert_eq!((expected.0, threads), (status, if how.is_empty() { 1000 } else { 0 }));
            same_output(
                &fortran_output(&mut on_the_gpu(&program), how),
                &expected,
                &format!("{level} {how} GPU"),
            );
            let mut on_cpu = gangway();
            on_cpu.args(["run", "--"]).arg(&cpu).env("OMP_TARGET_OFFLOAD", "MANDATORY");
            same_output(&fortran_output(&mut on_cpu, how), &expected, &format!("{level} {how} CPU"));
        }
    }
}

/// What device code cannot do the linker names.
#[test]
fn fortran_statements_that_are_not_supported_are_named() {
    for (flag, name) in [
        ("-DREAD", "_FortranAioBeginExternalListInput"),
        ("-DNAMELIST", "_FortranAioOutputNamelist"),
        ("-DUNFORMATTED", "_FortranAioBeginUnformattedOutput"),
        ("-DDERIVED", "_FortranAioOutputDerivedType"),
    ] {
        let output = gangway()
            .args(["fc", "-cpp", "-fopenmp", "--offload-arch=sm_80", flag, "-o", "/dev/null"])
            .arg(sources().join("fortran_unsupported.f90"))
            .output()
            .expect("the compiler starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(name), "{flag}: {text}");
    }
}

/// The runtime keeps buffers for reductions until the end.
#[test]
fn memory_of_the_runtimes_own_is_not_told_of_as_a_leak() {
    let program = compile("debug_information", "-O0", &["-g"]);
    let output = succeed(on_the_gpu(&program).env("GANGWAY_VGPU_CHECK", "memory"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Values of every kind, and every kind of edit descriptor.
#[test]
fn fortran_writes_values_of_every_kind_as_on_the_host() {
    for level in ["-O0", "-O1", "-O2"] {
        let program = compile("fortran_kinds", level, &[]);
        let expected = succeed(Command::new(&program).env("OMP_TARGET_OFFLOAD", "DISABLED"));
        let found = succeed(&mut on_the_gpu(&program));
        same_text(&found.stdout, &expected.stdout, level);
        assert!(expected.stdout.iter().filter(|&&byte| byte == b'\n').count() > 90, "{level}");
    }
}

/// All conversions, and what is refused.
#[test]
fn formats_give_in_device_code_what_they_give_on_the_host() {
    for level in ["-O0", "-O2"] {
        let program = compile("formats", level, &["-w"]);
        let expected = succeed(Command::new(&program).arg("host"));
        let found = succeed(&mut on_the_gpu(&program));
        same_text(&found.stdout, &expected.stdout, level);
        assert!(expected.stdout.iter().filter(|&&byte| byte == b'\n').count() > 1000, "{level}");
    }
}

fn same_text(found: &[u8], expected: &[u8], what: &str) {
    let lines = |text: &[u8]| text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (found, expected) = (lines(found), lines(expected));
    for (at, line) in expected.iter().enumerate() {
        let found = found.get(at).map(|found| found.escape_ascii().to_string());
        assert_eq!(found, Some(line.escape_ascii().to_string()), "{what}, line {at}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// Every thread's line is there and whole, and so is what stands before a fault.
#[test]
fn no_line_of_a_thread_is_lost() {
    for flags in [&[][..], &["-DASKING"][..]] {
        let program = compile("lines", "-O2", flags);
        let output = succeed(&mut on_the_gpu(&program));
        let mut found: Vec<&[u8]> = output.stdout.split(|&byte| byte == b'\n').collect();
        found.sort();
        let line = |i| format!("thread {i} has a line of its own, and {}", 3 * i).into_bytes();
        let mut expected: Vec<Vec<u8>> = (0..100_000).map(line).chain([Vec::new()]).collect();
        expected.sort();
        assert!(found == expected, "{flags:?}: {} lines", found.len());
        for how in ["1", "2", "3"] {
            let output = on_the_gpu(&program).arg(how).output().expect("the program starts");
            assert!(!output.status.success(), "{flags:?} {how}");
            let expected: String = (0..2000).map(|i| format!("line {i}\n")).collect();
            let found = String::from_utf8_lossy(&output.stdout);
            assert!(found.starts_with(&expected), "{flags:?} {how}: {} lines", found.lines().count());
        }
    }
}
