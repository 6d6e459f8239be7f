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

use std::process::ExitCode;

use gangway_bench::driver::Driver;
use gangway_bench::machine;
use gangway_bench::program::{self, Found, OnGpu, Program};

use programs::Programs;
use regions::Bare;

const PROGRAM: Program = Program {
    name: "gangway-bench-gpu",
    about: "Measure target regions on a GPU, or on the virtual one",
    rounds: "5",
    page: "docs/benchmarks-gpu.md",
    head: HEAD,
    example: "present",
};

fn main() -> ExitCode {
    program::main(&PROGRAM, |setting, options: &OnGpu| {
        let stage = setting.root.join(&options.staged.stage);
        let virtual_gpu = stage.join("lib/gangway/vgpu");
        let driver = Driver::choose(&setting.root, &virtual_gpu, options.r#virtual, &setting.build)?;
        let tool = stage.join("bin/gangway");
        let programs = Programs::build(&setting.root, &tool, &setting.build, !driver.is_virtual())?;
        let regions = regions::measure(&driver, &programs, setting)?;
        let loops = loops::measure(&driver, &programs, setting)?;
        if regions.is_empty() && loops.is_empty() {
            return Ok(Found::default());
        }
        let stock = regions::render_stock(&regions).map(|table| table + "\n").unwrap_or_default();
        let tables = [regions::render(&regions), stock, loops::render(&loops)];
        let mut found = Found { shown: tables.join("\n"), ..Found::default() };
        found.passes = regions.iter().all(regions::Row::passes) && loops.iter().all(loops::Row::passes);
        if setting.only.is_none() {
            let bare = Bare::measure(&driver, &programs, setting.rounds)?;
            found.passes &= bare.passes();
            found.shown += &format!("\n{}", bare.sentence());
            found.facts.push(("Device", bare.device.clone()));
            if programs.suits_stock {
                found.facts.push(machine::stock_library());
            }
            found.below = below(&tables, &bare, setting.rounds);
        }
        Ok(found)
    })
}

const HEAD: &str = "# Benchmarks of target regions on GPUs\n\n\
    Programs compiled by `gangway cc -O3 --offload-arch=sm_80`, on NVIDIA's driver where there is a\n\
    card and on the virtual GPU otherwise. `make bench-gpu` writes this file.\n\n";

/// What stands below the facts of `docs/benchmarks-gpu.md`.
fn below([regions, stock, loops]: &[String; 3], bare: &Bare, rounds: usize) -> String {
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
         - A sum is held against the triad of the same arrays: it reads a third of what that moves.\n",
        bare.sentence(),
    )
}
