//! Calls of the host from device code, against the protocol that libgomp has for them, on the
//! virtual GPU, or a card where there is one, and on CPU devices.
//!
//! `make bench-host-calls` calls it. It compiles `benches/calls/` with the staged `gangway cc`,
//! measures each case in both ways, prints the table and writes `docs/benchmarks-host-calls.md`.
//! The programs check their answers.
#![forbid(unsafe_code)]

mod cases;
mod programs;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Parser;
use gangway_bench::driver::Driver;
use gangway_bench::options::{Common, status};
use gangway_bench::page;
use gangway_bench::root::repository_root;
use gangway_bench::verdict::Verdict;

use programs::Programs;

/// Measure calls of the host from device code.
#[derive(Parser)]
struct Options {
    /// How often every case runs in each of the two ways.
    #[arg(long, default_value_t = 5)]
    rounds: usize,

    #[command(flatten)]
    common: Common,

    /// Use the virtual GPU even if there is a card.
    #[arg(long)]
    r#virtual: bool,

    /// Gangway's installation.
    #[arg(long, default_value = "build/stage")]
    stage: PathBuf,

    /// Where the report goes.
    #[arg(long, default_value = "docs/benchmarks-host-calls.md")]
    save: PathBuf,
}

fn main() -> ExitCode {
    status("gangway-bench-host-calls", run(&Options::parse()))
}

/// `Ok(false)` says that `--check` was given and a figure missed its bar.
fn run(options: &Options) -> Result<bool> {
    let root = repository_root()?;
    let (stage, build) = (root.join(&options.stage), root.join("build/bench-host-calls"));
    std::fs::create_dir_all(&build)?;
    let driver = Driver::choose(&root, &stage.join("lib/gangway/vgpu"), options.r#virtual, &build)?;
    let device = if driver.is_virtual() { "virtual GPU" } else { "GPU" };
    let programs = Programs::build(&root, &stage, &build, driver)?;
    let rows = cases::measure(&programs, options.common.only.as_deref(), options.rounds.max(1))?;
    ensure!(!rows.is_empty(), "no case has such a name");
    let table = Verdict::table(&rows, "Compared with");
    println!("\n{table}");
    if options.common.only.is_none() {
        let facts = [("Device", format!("{device}, and CPU devices"))];
        page::save(&root, &options.save, HEAD, &facts, &rest(&table, options.rounds))?;
    }
    Ok(!options.common.check || rows.iter().all(|row| row.passes))
}

const HEAD: &str = "# Benchmarks of host calls\n\n\
    Code on a device calls a function of the host, with a block of 8 bytes, through Gangway's channel\n\
    and through the protocol that libgomp has had since GCC 13. Programs are compiled by `gangway cc -O2`.\n\
    `make bench-host-calls` writes this file.\n\n";

/// What stands below the facts of the page.
fn rest(table: &str, rounds: usize) -> String {
    format!(
        "{table}\n\
         - The protocol of libgomp has one slot for all callers, behind a lock. The host looks at it, serves\n  \
           what stands there, and sleeps for a microsecond, again and again (`benches/calls/slot.h`). It is\n  \
           better here than there: the block stands in the slot and need not be copied from the device.\n\
         - A round trip is the best of 150 batches of at least 2 ms; beside it in brackets is the median of the\n  \
           batches. The figure is our time / that of the slot, and the bar besides 10 µs.\n\
         - Callers are the threads of one region. Its whole time counts, launch and end too. The best\n  \
           of five such regions counts. The slot is measured with one region that ends after three seconds,\n  \
           as it would take minutes. The figure is our rate / that of the slot.\n\
         - A card does not tell of calls, so a thread looks for them while a kernel runs that could call. What it takes of a\n  \
           processor is measured on the virtual GPU with `GANGWAY_HOST_CALLS_LOOK=1`: while a kernel runs that does not\n  \
           call, and beside it while none runs.\n\
         - Programs without calls launch an empty region, or one with a present array, on a driver that starts no\n  \
           kernel. They are compared with the same program whose image has a call that is never made.\n\
         - All figures are medians of {rounds} processes.\n\n\
         ## Reproduce\n\n\
         ```sh\n\
         make bench-host-calls                                                  # everything, and rewrite this file\n\
         cargo run --release -p gangway-bench --bin gangway-bench-host-calls -- --only one\n\
         ```\n",
    )
}
