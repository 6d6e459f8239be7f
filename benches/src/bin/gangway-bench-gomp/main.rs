//! Programs of stock GCC under its own runtime library and under Gangway's front end, on the
//! virtual GPU's driver, alternating in one run.
//!
//! `make bench-gomp` calls it. It compiles `benches/gomp/` and what the other benchmarks share
//! with GCC, measures each case with the same binary under both, prints the
//! tables and writes `docs/benchmarks-gomp.md`. The programs check their results.
#![forbid(unsafe_code)]

mod cases;
mod programs;

use std::process::ExitCode;

use gangway_bench::driver::Driver;
use gangway_bench::machine;
use gangway_bench::program::{self, Found, Program, Staged};
use gangway_bench::verdict::Verdict;

use programs::Programs;

const PROGRAM: Program = Program {
    name: "gangway-bench-gomp",
    about: "Measure GCC's programs under libgomp's own runtime and under Gangway's",
    rounds: "5",
    page: "docs/benchmarks-gomp.md",
    head: HEAD,
    example: "present",
};

fn main() -> ExitCode {
    program::main(&PROGRAM, |setting, options: &Staged| {
        let library = setting.root.join(&options.stage).join("lib/gangway");
        // A card would have its own figures; what is compared here is the host's work.
        let driver = Driver::choose(&setting.root, &library.join("vgpu"), true, &setting.build)?;
        let front = library.join("libgangway-gomp.so");
        let programs = Programs::build(&setting.root, &setting.build, driver, front)?;
        let found = Verdict::found(&cases::measure(&programs, setting)?, "Stock", &notes(setting.rounds));
        Ok(Found { facts: vec![machine::gcc()], ..found })
    })
}

const HEAD: &str = "# Benchmarks of GCC's programs\n\n\
    The same binaries of GCC (`-O2 -fopenmp -foffload=nvptx-none`, or `-fopenacc`)\n\
    under stock libgomp with its plugin and under Gangway's front end, both on the virtual GPU's driver,\n\
    alternating. `make bench-gomp` writes this file.\n\n";

/// What stands below the table of `docs/benchmarks-gomp.md`.
fn notes(rounds: usize) -> String {
    format!(
        "- Regions and mapping are measured without kernels: a library in front of the driver answers\n  \
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
           outside of launching and waiting: the lowest of five passes.\n",
    )
}
