//! AMD's GPUs: GCC's programs under its own runtime and under Gangway's front end, on the virtual AMD GPU; and kernels of
//! clang's there against the same source on the virtual NVIDIA GPU.
//!
//! `make bench-hsa` calls it. GCC's compiler for AMD's GPUs has to be there: `scripts/amdgcn.sh` lends it. It prints a table
//! and writes `docs/benchmarks-hsa.md`. The programs check their results.
#![forbid(unsafe_code)]

mod cases;
mod programs;

use std::process::ExitCode;

use gangway_bench::machine;
use gangway_bench::program::{self, Found, Program, Staged};
use gangway_bench::verdict::Verdict;

use programs::Programs;

const PROGRAM: Program = Program {
    name: "gangway-bench-hsa",
    about: "Measure programs for AMD's GPUs under libgomp's own runtime and under Gangway's",
    rounds: "5",
    page: "docs/benchmarks-hsa.md",
    head: HEAD,
    example: "present",
};

fn main() -> ExitCode {
    program::main(&PROGRAM, |setting, options: &Staged| {
        let programs = Programs::build(setting, &setting.root.join(&options.stage))?;
        let found =
            Verdict::found(&cases::measure(&programs, setting)?, "Compared with", &notes(setting.rounds));
        Ok(Found { facts: vec![machine::gcc()], ..found })
    })
}

const HEAD: &str = "# Benchmarks of programs for AMD's GPUs\n\n\
    The same binaries of GCC (`-O2 -fopenmp -foffload=amdgcn-amdhsa`, gfx906) under stock libgomp with its plugin and under\n\
    Gangway's front end, alternating, both on the virtual AMD GPU; and programs of clang's for gfx90a there, against the same\n\
    source for sm_80 on the virtual NVIDIA GPU. `make bench-hsa` writes this file.\n\n";

/// What stands below the table of `docs/benchmarks-hsa.md`.
fn notes(rounds: usize) -> String {
    format!(
        "- Regions are measured without kernels: a library in front of the HSA runtime gives programs a kernel that does\n  \
           nothing, whichever they ask for. What is left is the runtime, the packet and the wait. The best\n  \
           of many batches counts; figures are medians of {rounds} processes, and the figure is our time / that of stock.\n\
         - Allocations are calls of `hsa_memory_allocate` and `hsa_amd_memory_pool_allocate` for each region. Stock libgomp\n  \
           allocates the table of a region's variables; ours stands in the memory of the kernel's arguments.\n\
         - Kernels are compared by the processor's time of the best of their passes. `GANGWAY_VGPU_ENGINE` is not set:\n  \
           it is what users get.\n\
         - A first launch is the life of a process with one small region, compiled by `gangway cc`, with nothing kept from before.\n"
    )
}
