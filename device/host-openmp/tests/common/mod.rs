//! What the tests share: building the archive, and running programs.
//!
//! A missing compiler is a failure that says which packages to install, never
//! a silent pass.

#![allow(dead_code)] // each test binary uses its own part

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Far above what any program needs; a deadlock must not hang the tests.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// This crate's directory.
pub fn crate_directory() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where tests put what they build.
pub fn scratch() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// The archive, built as for installation and under its installed name.
pub fn archive() -> &'static Path {
    static ARCHIVE: OnceLock<PathBuf> = OnceLock::new();
    ARCHIVE.get_or_init(|| {
        let target = scratch().join("archive");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--release", "--manifest-path"]);
        cargo.arg(crate_directory().join("Cargo.toml"));
        cargo.arg("--target-dir").arg(&target);
        let built = run(&mut cargo);
        assert!(built.status.success(), "cargo build: {}", text(&built));
        // One directory per test binary, for they run at the same time.
        let installed = target.join(format!("installed-{}", std::process::id()));
        fs::create_dir_all(&installed).expect("the scratch directory is writable");
        let archive = installed.join("libgangway-host-openmp.a");
        fs::copy(target.join("release/libgangway_host_openmp.rlib"), &archive)
            .expect("cargo build made the archive");
        archive
    })
}

/// Runs a command to its end, or fails the test after [`TIME_LIMIT`].
pub fn run(command: &mut Command) -> Output {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let deadline = Instant::now() + TIME_LIMIT;
    // No program here writes more than a pipe holds, so waiting first is safe.
    while child.try_wait().expect("the child exists").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("the child exists");
            panic!("{command:?}: still running after {TIME_LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("the child has ended")
}

/// Everything that a command wrote.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A compiler of LLVM 22: `$variable`, else `name`.
fn compiler(variable: &str, name: &str) -> String {
    let compiler = std::env::var(variable).unwrap_or_else(|_| name.to_owned());
    let found = Command::new(&compiler).arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(
        found,
        "{compiler} is needed: install flang-22 clang-22 clang-tools-22 lld-22 llvm-22 \
         libomp-22-dev liboffload-22-dev, or set {variable}"
    );
    compiler
}

/// Links `source` with the archive: Fortran for the host and an x86-64 device
/// image, C for the host alone.
pub fn compile(source: &Path, optimisation: &str, options: &[String]) -> PathBuf {
    let stem = source.file_stem().and_then(OsStr::to_str).expect("a name");
    let program = scratch().join(format!("{stem}{optimisation}"));
    let mut command = if source.extension().is_some_and(|e| e == "f90") {
        let mut flang = Command::new(compiler("FLANG", "flang-22"));
        flang.args(["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"]);
        flang
    } else {
        let mut clang = Command::new(compiler("CLANG", "clang-22"));
        // libomp.so has this name in the packages' default search path.
        clang.args(["-Wall", "-Werror", "-L/usr/lib/llvm-22/lib", "-Wl,--no-as-needed,-l:libomp.so.5"]);
        clang
    };
    command.arg(optimisation).args(options).arg(source).arg(archive()).arg("-o").arg(&program);
    command.current_dir(scratch()); // module files land there
    let compiled = run(&mut command);
    assert!(compiled.status.success(), "{command:?}:\n{}", text(&compiled));
    program
}

/// Where a program's target regions run.
#[derive(Clone, Copy, Debug)]
pub enum Runtime {
    /// On the host: `OMP_TARGET_OFFLOAD=DISABLED`.
    Disabled,
    /// On the device, by LLVM's own runtime.
    Stock,
    /// On the device, by Gangway's runtime.
    Gangway,
}

/// The directory of Gangway's libomptarget, if `cargo xtask stage` has run.
pub fn staged() -> Option<PathBuf> {
    let directory = crate_directory().join("../../build/stage/lib/gangway");
    directory.join("libomptarget.so.22.1").exists().then_some(directory)
}

/// Runs `program` with so many threads; its output, or what went wrong.
pub fn execute(program: &Path, runtime: Runtime, threads: &str) -> Result<String, String> {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars() {
        if ["OMP_", "KMP_", "LIBOMPTARGET_", "GANGWAY_"].iter().any(|p| name.starts_with(p)) {
            command.env_remove(name);
        }
    }
    command
        .env_remove("LD_LIBRARY_PATH")
        .env("OMP_NUM_THREADS", threads)
        // More threads than processors must not spin at barriers.
        .env("OMP_WAIT_POLICY", "passive")
        .env(
            "OMP_TARGET_OFFLOAD",
            match runtime {
                Runtime::Disabled => "DISABLED",
                Runtime::Stock | Runtime::Gangway => "MANDATORY",
            },
        );
    if let Runtime::Gangway = runtime {
        command.env("LD_LIBRARY_PATH", staged().expect("only called where staged"));
    }
    let output = run(&mut command);
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{}\n{}", output.status, text(&output)))
    }
}
