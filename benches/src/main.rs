//! `gangway-bench`: what a program pays for offloading, under the stock
//! runtime and under Gangway.
//!
//! `make bench` calls it. It compiles the C programs of `benches/programs/`
//! once with the stock compiler, runs each binary under both libraries in
//! turn, several rounds, prints a table of medians and ratios, and writes
//! `docs/benchmarks.md`.
//!
//! It must never compare two different binaries, nor report a figure without
//! having made sure which library the binary loaded.

#![forbid(unsafe_code)]

mod cases;
mod library;
mod measure;
mod programs;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use gangway_bench::machine;
use gangway_bench::program::{self, Found, Program, Setting};

use cases::{Case, cases};
use library::Library;
use measure::Sample;
use report::{Outcome, Row};

const PROGRAM: Program = Program {
    name: "gangway-bench",
    about: "Compare OpenMP offloading under the stock runtime and under Gangway",
    rounds: "7",
    page: "docs/benchmarks.md",
    head: report::HEAD,
    example: "present",
};

/// What it has besides.
#[derive(Args)]
struct Options {
    /// Folder with Gangway's libomptarget.so.22.1.
    #[arg(long, default_value = "build/stage/lib/gangway")]
    library: PathBuf,

    /// Measure the stock library alone (nothing is saved).
    #[arg(long)]
    stock_only: bool,
}

fn main() -> ExitCode {
    program::main(&PROGRAM, compare)
}

fn compare(setting: &Setting, options: &Options) -> Result<Found> {
    let mut cases = cases();
    let names: Vec<&str> = cases.iter().map(|case| case.name).collect();
    let names = names.join(", ");
    cases.retain(|case| setting.wants(case.name));
    if cases.is_empty() {
        bail!("no case has such a name; the cases are: {names}");
    }

    let mut libraries = vec![Library::stock()];
    if !options.stock_only {
        libraries.push(Library::gangway(&setting.root.join(&options.library))?);
    }
    programs::build(setting)?;
    for library in &libraries {
        library.verify(&setting.build.join("empty"))?;
    }

    let mut rows = Vec::new();
    for case in &cases {
        eprint!("{:<18}", case.name);
        let samples = alternate(case, &libraries, &setting.build, setting.rounds)?;
        for metric in &case.metrics {
            let row = Row::new(metric, &samples);
            eprint!("  {}", row.summary());
            rows.push(row);
        }
        eprintln!();
    }
    let below = if options.stock_only { String::new() } else { report::below(&rows, setting.rounds) };
    Ok(Found {
        shown: report::table(&rows),
        facts: vec![machine::stock_library()],
        below,
        passes: rows.iter().all(|row| row.outcome() != Outcome::Miss),
    })
}

/// Runs one case `rounds` times under each library, and in every other round
/// in the opposite order, so that neither library always finds the machine as
/// the other one left it. The answer is one list of samples per library.
fn alternate(case: &Case, libraries: &[Library], binaries: &Path, rounds: usize) -> Result<Vec<Vec<Sample>>> {
    let mut samples = vec![Vec::with_capacity(rounds); libraries.len()];
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..libraries.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for which in order {
            let library = &libraries[which];
            let sample = measure::run(case, library, binaries)
                .with_context(|| format!("case {:?} under {}", case.name, library.name()))?;
            samples[which].push(sample);
        }
    }
    Ok(samples)
}
