//! OpenACC programs in C through stock GCC and through `gangway cc -fopenacc`, and the same computations
//! written by hand in OpenMP, all on the virtual GPU.
//!
//! `make bench-openacc` calls it. It compiles `benches/openacc/`, measures what each program takes of
//! the device, what its kernels take of shared memory and what compiling it takes, prints the tables
//! and writes `docs/benchmarks-openacc.md`. The programs check their results, whoever has compiled
//! them; a wrong one ends the benchmark.
#![forbid(unsafe_code)]

mod cases;
mod compiling;
mod memory;
mod programs;
mod times;

use std::process::ExitCode;

use gangway_bench::machine;
use gangway_bench::program::{self, Found, Program, Staged};

use cases::CASES;
use programs::Programs;

const PROGRAM: Program = Program {
    name: "gangway-bench-openacc",
    about: "Compare OpenACC through clang and Gangway with GCC's, and with OpenMP",
    rounds: "5",
    page: "docs/benchmarks-openacc.md",
    head: HEAD,
    example: "stencil",
};

fn main() -> ExitCode {
    program::main(&PROGRAM, |setting, options: &Staged| {
        let cases: Vec<_> = CASES.iter().filter(|case| setting.wants(case.name)).collect();
        if cases.is_empty() {
            return Ok(Found::default());
        }
        let programs = Programs::new(&setting.root, &setting.root.join(&options.stage), &setting.build)?;
        for case in &cases {
            programs.build(case)?;
        }
        let rounds = setting.rounds;
        let times = times::measure(&programs, &cases, rounds)?;
        let memory = memory::measure(&programs, &cases)?;
        let compiling = compiling::measure(&programs, &cases, rounds)?;
        let shown = format!("{}\n{}\n{}", times.shown, memory.shown, compiling.shown);
        let below = format!(
            "## Time on the device\n\n{}\n{}\n## Shared memory\n\n{}\n{}\n## Compiling\n\n{}\n{}",
            times.shown,
            times::notes(rounds),
            memory.shown,
            memory::NOTES,
            compiling.shown,
            compiling::notes(rounds),
        );
        let passes = times.passes && memory.passes && compiling.passes;
        Ok(Found { shown, below, passes, facts: vec![machine::gcc()] })
    })
}

/// A table, and whether every line of it reaches its bar.
struct Table {
    shown: String,
    passes: bool,
}

const HEAD: &str = "# Benchmarks of OpenACC\n\n\
    Six computations in C (`benches/openacc`). The OpenACC source goes through stock GCC and through\n\
    `gangway cc -fopenacc`; an OpenMP source of the same loops, written by hand, through\n\
    `gangway cc -fopenmp`. All run under Gangway on the virtual GPU, alternating. `make bench-openacc`\n\
    writes this file.\n\n";
