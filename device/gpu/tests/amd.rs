//! Programs for AMD's GPUs: stock clang compiles them, the staged archive is linked in, and they run on the virtual
//! AMD GPU. LLVM's own runtime with its plugin for AMD's GPUs brings them there, so nothing here depends on how
//! Gangway's runtime launches kernels. Each program checks itself; `cargo xtask stage` comes first.
//!
//! Without LLVM's runtime (Debian: liboffload-22) the tests say so and are over.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where LLVM's runtime and its plugins are.
const LLVM: &str = "/usr/lib/llvm-22/lib";

/// The most private memory that a work-item of the tests needs; LLVM's plugin has to be told.
const STACK: &str = "262144";

/// Names of the NVIDIA archive that this one has not: `NAME reason`, one in a line.
const LEFT_OUT: &str = include_str!("amd_left_out.txt");

/// Prefixes of names that only code for NVIDIA's GPUs, and Fortran, calls; and of names without a meaning outside.
const OF_OTHERS: [&str; 3] = ["__nv_", "_Fortran", "_R"];

fn stage() -> PathBuf {
    let stage = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/stage");
    assert!(stage.is_dir(), "{} is not there; run `cargo xtask stage` first", stage.display());
    stage.canonicalize().expect("the stage is in a tree")
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

/// Compiles a program of the folder `programs`, and runs it on a processor.
fn check(name: &str, level: &str, processor: &str) {
    if !Path::new(LLVM).join("libomptarget.so.22.1").exists() {
        println!("skipped: there is no libomptarget.so.22.1 in {LLVM} (Debian: liboffload-22)");
        return;
    }
    let stage = stage();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(format!("{name}.c"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join([name, level, processor].concat());
    let mut compiler = Command::new(stage.join("bin/gangway"));
    compiler.args(["cc", level, "-fopenmp", "-fopenmp-version=51"]);
    compiler
        .arg(format!("--offload-arch={processor}"))
        .arg("-o")
        .arg(&program)
        .arg(source)
        .args(["-lm", "-latomic"]);
    succeed(&mut compiler);
    let mut run = Command::new(program);
    let libraries = format!("{LLVM}:{}", stage.join("lib/gangway/vgpu").display());
    run.env("LD_LIBRARY_PATH", libraries).env("GANGWAY_VGPU_PROCESSOR", processor);
    run.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("LIBOMPTARGET_STACK_SIZE", STACK);
    let output = succeed(&mut run);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.lines().last(), Some("passed"), "{text}");
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(mod $name {
            #[test]
            fn unoptimised() {
                super::check(stringify!($name), "-O0", "gfx90a");
            }

            #[test]
            fn optimised() {
                super::check(stringify!($name), "-O2", "gfx90a");
            }
        })*
    };
}

programs! {
    barriers
    copyprivate
    detach
    distribute
    indirect_calls
    launch_shapes
    mathematics
    ordered
    queries
    reduction_threads
    reduction_types
    sharing
    tasks
}

/// What is not expected to pass, at either level, stands in the README with its reason.
#[test]
fn optimised_alone() {
    for name in
        ["debug_information", "dynamic_shared", "generic_regions", "reduction_inside", "reduction_order"]
    {
        check(name, "-O2", "gfx90a");
    }
}

/// Waves of 64 lanes of all generations run the same bitcode.
#[test]
fn all_processors() {
    for processor in ["gfx900", "gfx906", "gfx908", "gfx942"] {
        for name in ["distribute", "reduction_types", "generic_regions"] {
            check(name, "-O2", processor);
        }
    }
}

/// What device code prints the host writes, so Gangway's runtime has to be there.
#[test]
fn the_error_directive_names_its_place() {
    let gangway = stage().join("bin/gangway");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/error_directive.c");
    for level in ["-O0", "-O2"] {
        let program =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(["error_directive", level, "-amd"].concat());
        let mut compiler = Command::new(&gangway);
        compiler.args(["cc", level, "-fopenmp", "-fopenmp-version=51", "--offload-arch=gfx90a", "-o"]);
        succeed(compiler.arg(&program).arg(&source));
        let mut run = Command::new(&gangway);
        run.args(["run", "--device", "vgpu", "--"]).arg(&program);
        let text = String::from_utf8_lossy(&succeed(&mut run).stdout).into_owned();
        let file = source.display();
        let first = format!("gangway: warning: {file}:10:1: the first\n");
        let second = format!("gangway: warning: {file}:12:1: error directive without a message\n");
        assert_eq!(text, [&*first, &second, "passed\n"].concat());
        // The third ends the kernel, and with it the program.
        let output = run.arg("fails").output().expect("the program starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && text.contains("c:14:1: the last\n"), "{text}");
    }
}

fn names(triple: &str) -> BTreeSet<String> {
    let archive = stage().join("lib/gangway").join(triple).join("libompdevice.a");
    let mut tool = Command::new("llvm-nm-22");
    let output = succeed(tool.args(["--defined-only", "--format=just-symbols"]).arg(archive));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text.lines().filter(|name| !name.is_empty() && !name.ends_with(':'));
    names.filter(|name| !OF_OTHERS.iter().any(|other| name.starts_with(other))).map(str::to_owned).collect()
}

#[test]
fn every_function_is_there_or_has_a_reason() {
    let (nvidia, amd) = (names("nvptx64-nvidia-cuda"), names("amdgcn-amd-amdhsa"));
    let missing: BTreeSet<&str> = nvidia.difference(&amd).map(String::as_str).collect();
    let listed: BTreeSet<&str> = LEFT_OUT.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(missing, listed, "what the NVIDIA archive has and AMD's has not, and amd_left_out.txt");
    assert!(LEFT_OUT.lines().all(|line| line.split(' ').count() > 2), "each line gives a reason");
}
