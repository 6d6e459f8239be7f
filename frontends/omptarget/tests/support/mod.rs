//! What the tests that use the staged library share.
#![allow(dead_code, reason = "each test uses its part")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The stock library, from the package liboffload-22: the oracle.
pub const STOCK: &str = "/usr/lib/llvm-22/lib/libomptarget.so.22.1";

/// The directory of the staged library: under `GANGWAY_STAGE`, or where
/// `cargo xtask stage` puts it.
pub fn staged() -> PathBuf {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/stage");
    let stage = std::env::var_os("GANGWAY_STAGE").map_or(default, PathBuf::from);
    let directory = stage.join("lib/gangway");
    let library = directory.join("libomptarget.so.22.1");
    assert!(library.exists(), "{} is missing: run `cargo xtask stage` first", library.display());
    directory.canonicalize().unwrap()
}

/// A source file of these tests.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// Compiles with the stock compiler.
pub fn compile(source: &Path, output: &Path, flags: &[&str]) {
    let mut command = Command::new("clang-22");
    command.args(["-O2", "-g", "-fopenmp", "-Wall", "-Werror"]).args(flags);
    command.arg(source).arg("-o").arg(output);
    let output = command.output().expect("clang-22 is needed for this test");
    assert!(
        output.status.success(),
        "{} does not compile:\n{}",
        source.display(),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Flags of programs with device code.
pub const OFFLOAD: &str = "-fopenmp-targets=x86_64-pc-linux-gnu";

/// Runs a program with the library in `directory`, and nothing else in its
/// environment but `variables`.
pub fn run(program: &Path, directory: &Path, variables: &[(&str, &OsStr)]) -> Output {
    let mut command = Command::new(program);
    command.env_clear().env("LD_LIBRARY_PATH", directory).env("OMP_TARGET_OFFLOAD", "MANDATORY");
    command.envs(variables.iter().copied());
    let output = command.output().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    assert!(
        output.status.success(),
        "{} ended with {}:\n{}",
        program.display(),
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
