//! Programs of stock GCC under its own runtime library and under Gangway's front end, on the
//! virtual GPU's driver, alternating in one run.
//!
//! `make bench-gomp` calls it. It compiles `benches/gomp/` and what the other benchmarks share
//! with GCC, measures each case with the same binary under both, prints the
//! tables and writes `docs/benchmarks-gomp.md`. The programs check their results.
#![forbid(unsafe_code)]

mod cases;
mod programs;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Parser;
use gangway_bench::driver::Driver;
use gangway_bench::options::{Common, status};
use gangway_bench::root::repository_root;
use gangway_bench::verdict::Verdict;
use gangway_bench::{machine, page};

use programs::Programs;

/// Measure GCC's programs under libgomp's own runtime and under Gangway's.
#[derive(Parser)]
struct Options {
    /// How often every case runs under each of the two.
    #[arg(long, default_value_t = 5)]
    rounds: usize,

    #[command(flatten)]
    common: Common,

    /// Gangway's installation.
    #[arg(long, default_value = "build/stage")]
    stage: PathBuf,

    /// Where the report goes.
    #[arg(long, default_value = "docs/benchmarks-gomp.md")]
    save: PathBuf,
}

fn main() -> ExitCode {
    status("gangway-bench-gomp", run(&Options::parse()))
}

/// `Ok(false)` says that `--check` was given and a figure missed its bar.
fn run(options: &Options) -> Result<bool> {
    let root = repository_root()?;
    let library = root.join(&options.stage).join("lib/gangway");
    let build = root.join("build/bench-gomp");
    std::fs::create_dir_all(&build)?;
    // A card would have its own figures; what is compared here is the host's work.
    let driver = Driver::choose(&root, &library.join("vgpu"), true, &build)?;
    let programs = Programs::build(&root, &build, driver, library.join("libgangway-gomp.so"))?;
    let rows = cases::measure(&programs, options.common.only.as_deref(), options.rounds.max(1))?;
    ensure!(!rows.is_empty(), "no case has such a name");
    let text = Verdict::table(&rows, "Stock");
    println!("\n{text}");
    if options.common.only.is_none() {
        page::save(&root, &options.save, HEAD, &[machine::gcc()], &rest(&text, options.rounds))?;
    }
    Ok(!options.common.check || rows.iter().all(|row| row.passes))
}

const HEAD: &str = "# Benchmarks of GCC's programs\n\n\
    The same binaries of GCC (`-O2 -fopenmp -foffload=nvptx-none`, or `-fopenacc`)\n\
    under stock libgomp with its plugin and under Gangway's front end, both on the virtual GPU's driver,\n\
    alternating. `make bench-gomp` writes this file.\n\n";

/// What stands below the facts of `docs/benchmarks-gomp.md`.
fn rest(text: &str, rounds: usize) -> String {
    format!(
        "{text}\n\
         - Regions and mapping are measured without kernels: a library in front of the driver answers\n  \
           `cuLaunchKernel` by itself. What is left is the runtime, and the driver's other calls. The best\n  \
           of many batches counts; figures are medians of {rounds} processes. The figure is our time / that\n  \
           of stock.\n\
         - An empty region has no maps, so stock libgomp makes no table for it, and launches and waits\n  \
           without anything else. The two calls by themselves, which no runtime can do without, are\n  \
           the row above: they take about 0.3 of its time.\n\
         - Two host threads launch regions with an array each. The figure is how many regions they launch\n  \
           in the time that one thread takes for one; a machine with other work has no second processor\n  \
           for it. In brackets is what a region takes of its thread's processor, alone and beside the\n  \
           other thread: that is what the threads cost each other. Where one waits for the other, as\n  \
           under stock libgomp, it takes nothing of a processor.\n\
         - `present` rows are an `enter data` and an `exit data` of what is mapped already.\n\
         - BabelStream's kernels run on 2^25 doubles. The figure is the part of a region that is spent\n  \
           outside of launching and waiting: the lowest of five passes.\n\n\
         ## Reproduce\n\n\
         ```sh\n\
         make bench-gomp                                                        # everything, and rewrite this file\n\
         cargo run --release -p gangway-bench --bin gangway-bench-gomp -- --only present\n\
         ```\n",
    )
}
