//! What the tests that use the staged library share.
#![allow(dead_code, reason = "each test uses its part")]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;
use wait_timeout::ChildExt;

/// The real libgomp.
pub const STOCK: &str = "/usr/lib/x86_64-linux-gnu/libgomp.so.1";

/// Plenty for a small program; one that hangs is ended.
const TIME_LIMIT: Duration = Duration::from_secs(240);

/// The staged tree: `GANGWAY_STAGE`, or where `cargo xtask stage` puts it.
pub fn stage() -> PathBuf {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/stage");
    let stage = std::env::var_os("GANGWAY_STAGE").map_or(default, PathBuf::from);
    let library = stage.join("lib/gangway/libgangway-gomp.so");
    assert!(library.exists(), "{} is missing: run `cargo xtask stage` first", library.display());
    stage.canonicalize().unwrap()
}

/// Compiles a program of these tests with stock GCC. Those in `openacc` are OpenACC's, the others
/// OpenMP's.
pub fn compile(source: &str, output: &Path, flags: &[&str]) {
    let openacc = source.starts_with("openacc/") || source.contains("_acc.");
    let model = if openacc { "-fopenacc" } else { "-fopenmp" };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    let compiler = gangway_compilers::name(gangway_compilers::Language::of(&source));
    let mut command = Command::new(&compiler);
    command.args(["-O2", model, "-foffload=nvptx-none", "-Wall"]).arg(&source).args(flags);
    command.arg("-o").arg(output).current_dir(output.parent().unwrap());
    let output = command.output().unwrap_or_else(|error| panic!("{compiler} is needed: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} does not compile:\n{said}", source.display());
}

/// What `GOMP_DEBUG` says about launches.
pub fn launch_lines(output: &Output) -> Vec<String> {
    let said = String::from_utf8_lossy(&output.stderr);
    said.lines().filter(|line| line.contains(": launch ")).map(str::to_owned).collect()
}

/// A shared library for NVIDIA's GPUs that clang builds of a source of these tests, in a folder.
pub fn clang_library(source: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    let name = format!("lib{}.so", source.file_stem().unwrap().to_str().unwrap());
    let mut command = Command::new(stage().join("bin/gangway"));
    command.args(["cc", "-O2", "-fopenmp", "--offload-arch=sm_80", "-shared", "-fPIC"]);
    command.arg(&source).arg("-o").arg(folder.path().join(name)).current_dir(folder.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} does not compile:\n{said}", source.display());
    folder
}

/// Runs a program under stock libgomp, whose plugin finds the virtual GPU's driver.
pub fn run_stock(program: &Path) -> Output {
    let mut command = Command::new(program);
    command.env_clear().env("LD_LIBRARY_PATH", stage().join("lib/gangway/vgpu"));
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY").current_dir(program.parent().unwrap());
    finish(command, program)
}

/// Runs a program with `gangway run` on the virtual GPU, and nothing else in its environment
/// but `variables`.
pub fn run(program: &Path, options: &[&str], variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(stage().join("bin/gangway"));
    command.args(["run", "--device", "vgpu"]).args(options);
    command.arg("--").arg(program).args(arguments);
    command.env_clear().env("PATH", "/usr/bin:/bin").envs(variables.iter().copied());
    command.current_dir(program.parent().unwrap());
    finish(command, program)
}

fn finish(mut command: Command, program: &Path) -> Output {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Read while it runs: a program that prints more than a pipe holds would wait for ever.
    let stdout = reader(child.stdout.take().unwrap());
    let stderr = reader(child.stderr.take().unwrap());
    let Some(status) = child.wait_timeout(TIME_LIMIT).unwrap() else {
        let _ = child.kill();
        panic!("{} hangs", program.display());
    };
    Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

/// Reads all of it on a thread.
fn reader(mut source: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        source.read_to_end(&mut all).unwrap();
        all
    })
}
