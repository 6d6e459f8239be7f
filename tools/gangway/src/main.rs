//! The `gangway` command: runs stock-built offload programs on Gangway, and shows what
//! programs and machines have to offer.
//!
//! Each subcommand is a module of its name. They return an exit code or an error;
//! only this file turns errors into messages. docs/cli.md describes the JSON forms.
//!
//! | Module | What is in it |
//! |---|---|
//! | `exit` | exit codes and failures |
//! | `faults` | faults of clang that are worked around |
//! | `variables` | the environment variables that Gangway reads |
//! | `reports` | the values of `--report` |
//! | `checks` | the values of `--check`, and a program that is checked |
//! | `scratch` | folders for what a compiler reads and writes |
//! | `member` | what stands at a byte of a variable |
//! | `crash_place` | where a kernel has crashed |
//! | `library` | where Gangway's libraries are |
//! | `devices` | the names that `--device` takes |
//! | `arguments` | the command line |
//! | `libomp` | the libomp that programs get |
//! | `suitable` | whether a program has anything for a device |
//! | `program` | what must be known of a program before it starts |
//! | `environment` | the variables that put a program on Gangway |
//! | `vgpu` | the virtual GPU, as it is shown |
//! | `compile` | the stock compilers, told what offloading needs |
//! | `compilers` | the compilers that are there |
//! | `stand_in` | what stands in for tools that compilers call |
//! | `run` | `gangway run` |
//! | `shell` | `gangway env` |
//! | `info` | `gangway info` |
//! | `inspect` | `gangway inspect` |
//! | `diff` | `gangway report diff` |
//! | `generate` | completion scripts and the man page |
#![deny(unsafe_code)]

mod arguments;
mod checks;
mod compile;
mod compilers;
mod crash_place;
mod devices;
mod diff;
mod environment;
mod exit;
mod faults;
mod generate;
mod info;
mod inspect;
mod libomp;
mod library;
mod member;
mod program;
mod reports;
mod run;
mod scratch;
mod shell;
mod stand_in;
mod suitable;
mod variables;
mod vgpu;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use arguments::{Command, Gangway};
use compile::Language;
use exit::Outcome;

fn main() -> ExitCode {
    if let Some(code) = compiler() {
        return code;
    }
    finish(obey(&Gangway::parse_from(arguments::with_report_forms(std::env::args_os()))))
}

fn obey(gangway: &Gangway) -> Outcome {
    match &gangway.command {
        Command::Run(options) => run::run(options),
        Command::Info(options) => info::info(options),
        Command::Inspect(options) => inspect::inspect(options),
        Command::Report(arguments::Report::Diff(options)) => diff::diff(options),
        Command::Env(options) => shell::print(options),
        Command::Completions { shell } => generate::completions(*shell),
        Command::Cc(options) => compile::compile(Language::C, &options.arguments),
        Command::Cxx(options) => compile::compile(Language::Cxx, &options.arguments),
        Command::Fc(options) => compile::compile(Language::Fortran, &options.arguments),
        Command::StandIn(options) => Ok(stand_in::run(options)),
        Command::CrashPlace { image, record } => crash_place::print(image, record),
        Command::CodePlace { file, address } => crash_place::print_code(file, *address),
        Command::MemberName { file, variable, line, offset } => {
            member::print_pointer(file, variable, *line, *offset)
        }
        Command::ElementName { file, variable, line, offset } => {
            member::print_element(file, variable, *line, *offset)
        }
        Command::Man => generate::man_page(),
    }
}

/// Links to this program have names of their own: the compilers, as build systems want to call
/// them.
fn compiler() -> Option<ExitCode> {
    let mut arguments = std::env::args_os();
    let language = Language::named(&arguments.next()?)?;
    let arguments: Vec<OsString> = arguments.collect();
    Some(finish(compile::compile(language, &arguments)))
}

fn finish(done: Outcome) -> ExitCode {
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) if failure.is_broken_pipe() => ExitCode::from(exit::SUCCESS),
        Err(failure) => {
            eprintln!("gangway: {failure}");
            ExitCode::from(failure.code)
        }
    }
}
