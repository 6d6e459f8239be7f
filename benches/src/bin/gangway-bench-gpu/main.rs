//! What `target` regions cost on a GPU: calls of the driver, time outside of it, and loops
//! against native code and against kernels written by hand.
//!
//! `make bench-gpu` calls it. It compiles `benches/gpu/` with the staged `gangway cc`, runs
//! every case for several rounds on NVIDIA's driver if there is a card and on the virtual GPU
//! otherwise, prints tables of medians and ratios, and writes `docs/benchmarks-gpu.md`. The
//! programs check their results; a wrong one ends the benchmark.
#![forbid(unsafe_code)]

mod loops;
mod programs;
mod regions;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Parser;
use gangway_bench::driver::Driver;
use gangway_bench::options::{Common, status};
use gangway_bench::root::repository_root;
use gangway_bench::{machine, page};

use programs::Programs;
use regions::Bare;

/// Measure target regions on a GPU, or on the virtual one.
#[derive(Parser)]
struct Options {
    /// How often every case runs.
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
    #[arg(long, default_value = "docs/benchmarks-gpu.md")]
    save: PathBuf,
}

fn main() -> ExitCode {
    status("gangway-bench-gpu", run(&Options::parse()))
}

/// `Ok(false)` says that `--check` was given and a figure missed its bar.
fn run(options: &Options) -> Result<bool> {
    let root = repository_root()?;
    let (stage, build) = (root.join(&options.stage), root.join("build/bench-gpu"));
    std::fs::create_dir_all(&build)?;
    let driver = Driver::choose(&root, &stage.join("lib/gangway/vgpu"), options.r#virtual, &build)?;
    let programs = Programs::build(&root, &stage.join("bin/gangway"), &build, !driver.is_virtual())?;
    let (only, rounds) = (options.common.only.as_deref(), options.rounds.max(1));
    let regions = regions::measure(&driver, &programs, only, rounds)?;
    let loops = loops::measure(&driver, &programs, only, rounds)?;
    if regions.is_empty() && loops.is_empty() {
        bail!("no case has such a name");
    }
    let stock = regions::render_stock(&regions).map(|table| table + "\n").unwrap_or_default();
    let tables = [regions::render(&regions), stock, loops::render(&loops)];
    println!("\n{}", tables.join("\n"));
    let mut passes = regions.iter().all(regions::Row::passes) && loops.iter().all(loops::Row::passes);
    if only.is_none() {
        let bare = Bare::measure(&driver, &programs, rounds)?;
        passes &= bare.passes();
        println!("{}", bare.sentence());
        let mut facts = vec![("Device", bare.device.clone())];
        if programs.suits_stock {
            facts.push(machine::stock_library());
        }
        page::save(&root, &options.save, HEAD, &facts, &rest(&tables, &bare, rounds))?;
    }
    Ok(!options.common.check || passes)
}

const HEAD: &str = "# Benchmarks of target regions on GPUs\n\n\
    Programs compiled by `gangway cc -O3 --offload-arch=sm_80`, on NVIDIA's driver where there is a\n\
    card and on the virtual GPU otherwise. `make bench-gpu` writes this file.\n\n";

/// What stands below the facts of `docs/benchmarks-gpu.md`.
fn rest([regions, stock, loops]: &[String; 3], bare: &Bare, rounds: usize) -> String {
    format!(
        "## Regions\n\n{regions}\n{}\n\
         - Driver calls are those of one region when others like it have run before. A case fails, too,\n  \
           if it makes one that it should not need.\n\
         - Time is the best of 150 batches of at least 2 ms. Outside the driver is what remains of it\n  \
           without the calls, which a library in front of the driver measures. What its readings of\n  \
           the clock add is measured in the same run, with calls of nothing, and taken off.\n\
         - The stock runtime runs machine code only. It is measured beside ours where there is a card and\n  \
           a CUDA toolkit, which makes some.\n\n{stock}\
         ## Loops\n\n{loops}\n\
         - Ratio is our time / the other's: smaller is better in every row. The best of nine passes\n  \
           counts, and figures are medians of {rounds} processes. Results are compared in every process.\n\
         - Native code is the same source without offloading, on all cores. Kernels written by hand are\n  \
           those of `make bench-vgpu`, on the same device, compiled by nvcc if there is a card and a CUDA\n  \
           toolkit, and otherwise by clang-22.\n\
         - A sum is held against the triad of the same arrays: it reads a third of what that moves.\n\n\
         ## Reproduce\n\n\
         ```sh\n\
         make bench-gpu                                                         # everything, and rewrite this file\n\
         cargo run --release -p gangway-bench --bin gangway-bench-gpu -- --only present\n\
         ```\n",
        bare.sentence(),
    )
}
