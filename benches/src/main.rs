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
use clap::Parser;
use gangway_bench::options::{Common, status};
use gangway_bench::root::repository_root;
use gangway_bench::{machine, page};

use cases::{Case, cases};
use library::Library;
use measure::Sample;
use report::{Outcome, Row};

/// Compare OpenMP offloading under the stock runtime and under Gangway.
#[derive(Parser)]
struct Options {
    /// How often every program runs under each library.
    #[arg(long, default_value_t = 7)]
    rounds: usize,

    #[command(flatten)]
    common: Common,

    /// Folder with Gangway's libomptarget.so.22.1.
    #[arg(long, default_value = "build/stage/lib/gangway")]
    library: PathBuf,

    /// Measure the stock library alone (nothing is saved).
    #[arg(long)]
    stock_only: bool,

    /// Where the report goes.
    #[arg(long, default_value = "docs/benchmarks.md")]
    save: PathBuf,
}

fn main() -> ExitCode {
    status("gangway-bench", run(&Options::parse()))
}

/// `Ok(false)` says that `--check` was given and a figure missed its bar.
fn run(options: &Options) -> Result<bool> {
    if options.rounds == 0 {
        bail!("--rounds must be at least 1");
    }
    let root = repository_root()?;
    let mut cases = cases();
    if let Some(text) = &options.common.only {
        let names: Vec<&str> = cases.iter().map(|case| case.name).collect();
        let names = names.join(", ");
        cases.retain(|case| case.name.contains(text));
        if cases.is_empty() {
            bail!("no case contains {text:?}; the cases are: {names}");
        }
    }

    let mut libraries = vec![Library::stock()];
    if !options.stock_only {
        libraries.push(Library::gangway(&root.join(&options.library))?);
    }
    let binaries = programs::build(&root)?;
    for library in &libraries {
        library.verify(&binaries.join("empty"))?;
    }

    let mut rows = Vec::new();
    for case in &cases {
        eprint!("{:<18}", case.name);
        let samples = alternate(case, &libraries, &binaries, options.rounds)?;
        for metric in &case.metrics {
            let row = Row::new(metric, &samples);
            eprint!("  {}", row.summary());
            rows.push(row);
        }
        eprintln!();
    }

    println!("\n{}", report::table(&rows));
    let complete = options.common.only.is_none() && !options.stock_only;
    if complete {
        let rest = report::rest(&rows, options.rounds);
        page::save(&root, &options.save, report::HEAD, &[machine::stock_library()], &rest)?;
    }
    let missed = rows.iter().filter(|row| row.outcome() == Outcome::Miss).count();
    Ok(missed == 0 || !options.common.check)
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
