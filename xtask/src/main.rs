//! Build steps that cargo cannot do alone. `cargo xtask help` lists them.
//!
//! | Module | What is in it |
//! |---|---|
//! | `tree` | the work tree, and its files |
//! | `exports` | what the linker gets |
//! | `documents` | pages and examples |
//! | `compilers` | what the stock compilers need |
//! | `gpu` | the GPU device runtime |
//! | `packages` | how build systems find Gangway |
//! | `stage` | the tree that is installed |

mod compilers;
mod documents;
mod exports;
mod gpu;
mod packages;
mod stage;
mod tree;

use std::ffi::OsStr;
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask <command>

  stage [--profile NAME]
           build everything (in release mode, or with another of cargo's
           profiles: `dev` builds faster) and lay it out under build/stage as it
           is to be installed
  stage --gpu
           only the GPU device runtime: lib/gangway/nvptx64-nvidia-cuda
  stage --packages [--profile NAME]
           build everything without a path of this machine in it, and lay it out
           under build/packages/tree; `make packages` packs that
  stage --sanitize
           build the libraries with AddressSanitizer and lay them out under
           build/asan; `make sanitize` runs programs on them
  help     this text
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["stage"] => stage::run("release"),
        ["stage", "--profile", profile] => stage::run(profile),
        ["stage", "--gpu"] => stage::run_gpu(),
        ["stage", "--packages"] => stage::run_packaged("release"),
        ["stage", "--packages", "--profile", profile] => stage::run_packaged(profile),
        ["stage", "--sanitize"] => stage::run_sanitized(),
        ["help"] | [] => {
            print!("{HELP}");
            Ok(())
        }
        _ => Err(format!("there is no command `{}`\n\n{HELP}", arguments.join(" ")).into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A step's result; the message says what to do.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Runs a program; a failure names it and its arguments.
fn checked(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_owned();
    let status = command.status().map_err(|error| format!("cannot run {}: {error}", name.display()))?;
    if status.success() {
        return Ok(());
    }
    let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    Err(format!("{} {} failed: {status}", name.display(), arguments.join(" ")).into())
}
