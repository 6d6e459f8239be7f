//! What every benchmark program can be asked, and how it ends.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

/// Options of every program.
#[derive(Debug, Args)]
pub struct Common {
    /// Run only the cases whose name contains this text (nothing is saved).
    #[arg(long)]
    pub only: Option<String>,

    /// End with status 1 if any figure misses its bar.
    #[arg(long)]
    pub check: bool,
}

/// The status of a program: 0 if all is well, 1 if `--check` was given and a figure missed its bar,
/// 2 for an error, which is said.
pub fn status(program: &str, outcome: Result<bool>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{program}: {error:#}");
            ExitCode::from(2)
        }
    }
}
