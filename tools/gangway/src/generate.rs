//! Completion scripts and the man page, from the definitions of the command line.

use std::io::{Write, stdout};

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, italic, roman};

use crate::arguments::Gangway;
use crate::exit::{self, Outcome};
use crate::variables::VARIABLES;

const EXAMPLES: &[(&str, &str)] = &[
    ("gangway cc -fopenmp heat.c -o heat", "compile a program for CPU devices"),
    (
        "gangway cc -fopenmp --offload-arch=sm_80,x86_64 heat.c -o heat",
        "compile it for NVIDIA's GPUs and for CPU devices",
    ),
    ("gangway run --report -- ./heat field.png", "run a program and show where its time went"),
    ("gangway run --trace heat.json -- ./heat", "write a trace for https://ui.perfetto.dev"),
    ("gangway info", "show what programs can run on here"),
    ("gangway inspect ./heat", "show the device images of a program"),
    ("gangway inspect ./heat --extract 0 -o heat.so", "take an image out of it"),
    ("eval \"$(gangway env)\"", "let every program of this shell run on Gangway"),
];

pub fn completions(shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(Gangway::command()), "gangway", &mut script);
    stdout().write_all(&script)?;
    Ok(exit::SUCCESS)
}

/// The command line without what is hidden: the generator offers that, too.
fn visible(full: Command) -> Command {
    let shown = full.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    Command::new("gangway").version(env!("CARGO_PKG_VERSION")).propagate_version(true).subcommands(shown)
}

pub fn man_page() -> Outcome {
    let mut gangway = Gangway::command();
    gangway.build();
    // The page has its own sections for these.
    let gangway = gangway.after_long_help("").after_help("");
    let page = Man::new(gangway.clone());
    let mut out = Vec::new();
    page.render_title(&mut out)?;
    page.render_name_section(&mut out)?;
    page.render_synopsis_section(&mut out)?;
    page.render_description_section(&mut out)?;
    let mut roff = Roff::new();
    roff.control("SH", ["COMMANDS"]);
    for command in gangway.get_subcommands().filter(|command| !command.is_hide_set()) {
        if command.get_name() != "help" {
            command_section(&mut roff, command);
        }
    }
    list(&mut roff, "EXIT STATUS", exit::MEANINGS);
    list(&mut roff, "ENVIRONMENT", VARIABLES);
    roff.control("SH", ["FILES"]);
    roff.control("TP", []);
    roff.text([italic("../lib/gangway"), roman(", seen from the directory of the command")]);
    roff.text([roman("Gangway's libraries.")]);
    list(&mut roff, "EXAMPLES", EXAMPLES);
    roff.to_writer(&mut out)?;
    stdout().write_all(&out)?;
    Ok(exit::SUCCESS)
}

fn command_section(roff: &mut Roff, command: &Command) {
    let mut usage = command.clone().render_usage().to_string();
    usage = usage.trim_start_matches("Usage: ").to_owned();
    roff.control("SS", [usage.as_str()]);
    let about = command.get_long_about().or(command.get_about());
    for paragraph in about.map(ToString::to_string).unwrap_or_default().split("\n\n") {
        roff.control("PP", []);
        roff.text([roman(paragraph)]);
    }
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let id = argument.get_id().as_str();
        if id == "help" || id == "version" {
            continue;
        }
        let help = argument.get_long_help().or(argument.get_help());
        let Some(help) = help.map(ToString::to_string) else { continue };
        roff.control("TP", []);
        roff.text([bold(argument.to_string())]);
        roff.text([roman(help.replace("\n\n", ". "))]);
    }
}

fn list(roff: &mut Roff, title: &str, items: &[(&str, &str)]) {
    roff.control("SH", [title]);
    for (term, meaning) in items {
        roff.control("TP", []);
        roff.text([bold(*term)]);
        roff.text([roman(*meaning)]);
    }
}
