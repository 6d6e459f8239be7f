//! Build steps that cargo cannot do alone. `cargo xtask help` lists them.

mod exports;
mod stage;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask <command>

  stage    build everything in release mode and lay it out under build/stage
           as it is to be installed
  help     this text
";

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    let done = match command.as_deref() {
        Some("stage") => stage::run(),
        Some("help") | None => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => Err(format!("there is no command `{other}`\n\n{HELP}").into()),
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
