//! The `gangway` command: runs stock-built offload programs on Gangway, and shows what
//! programs and machines have to offer.
//!
//! Each subcommand is a module of its name. They return an exit code or an error;
//! only this file turns errors into messages. docs/cli.md describes the JSON forms.
#![deny(unsafe_code)]

mod arguments;
mod environment;
mod exit;
mod generate;
mod info;
mod inspect;
mod library;
mod program;
mod run;
mod shell;
mod vgpu;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Command, Gangway};

fn main() -> ExitCode {
    let gangway = Gangway::parse();
    let done = match &gangway.command {
        Command::Run(options) => run::run(options),
        Command::Info(options) => info::info(options),
        Command::Inspect(options) => inspect::inspect(options),
        Command::Env(options) => shell::print(options),
        Command::Completions { shell } => generate::completions(*shell),
        Command::Man => generate::man_page(),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) if failure.is_broken_pipe() => ExitCode::from(exit::SUCCESS),
        Err(failure) => {
            eprintln!("gangway: {failure}");
            ExitCode::from(failure.code)
        }
    }
}
