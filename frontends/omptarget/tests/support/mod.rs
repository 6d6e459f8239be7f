//! What the tests that use the staged library share.
#![allow(dead_code, reason = "each test uses its part")]

use gangway_commands::{Ran, Run, stage};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The stock library, from the package liboffload-22: the oracle.
pub const STOCK: &str = "/usr/lib/llvm-22/lib/libomptarget.so.22.1";

/// The directory of the staged library.
pub fn staged() -> PathBuf {
    stage().join("lib/gangway")
}

/// A source file of these tests.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// Compiles with the stock compiler.
pub fn compile(source: &Path, output: &Path, flags: &[&str]) {
    let mut command = Command::new("clang-22");
    command.args(["-O2", "-g", "-fopenmp", "-Wall", "-Werror"]).args(flags);
    command.arg(source).arg("-o").arg(output).run().succeeded();
}

/// Flags of programs with device code.
pub const OFFLOAD: &str = "-fopenmp-targets=x86_64-pc-linux-gnu";

/// Runs a program with the library in `directory`, and nothing else in its
/// environment but `variables`.
pub fn run(program: &Path, directory: &Path, variables: &[(&str, &OsStr)]) -> Ran {
    let mut command = Command::new(program);
    command.env_clear().env("LD_LIBRARY_PATH", directory).env("OMP_TARGET_OFFLOAD", "MANDATORY");
    command.envs(variables.iter().copied()).run().succeeded()
}
