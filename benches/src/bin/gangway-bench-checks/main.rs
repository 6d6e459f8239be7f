//! What checks cost: kernels of the virtual GPU without and with them, and whole programs with `map`.
//!
//! `make bench-checks` calls it. It compiles programs of `benches/openacc` and `benches/checks`, runs each
//! one without a check and with each of them in turn, prints a table of ratios and writes
//! `docs/benchmarks-checks.md`. The programs check their results; a wrong one, or a race that is found in
//! one, ends the benchmark.
#![forbid(unsafe_code)]

mod cases;
mod ratios;
mod stale;

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail};
use gangway_bench::machine;
use gangway_bench::process::{compile, undisturbed};
use gangway_bench::program::{self, Found, Program, Setting, Staged};

use cases::{CASES, Case, Compiler};
use stale::{Device, Form};

const PROGRAM: Program = Program {
    name: "gangway-bench-checks",
    about: "Measure what the checks of the virtual GPU cost",
    rounds: "3",
    page: "docs/benchmarks-checks.md",
    head: HEAD,
    example: "stencil",
};

fn main() -> ExitCode {
    program::main(&PROGRAM, |setting, options: &Staged| {
        let tool = setting.root.join(&options.stage).join("bin/gangway");
        if !tool.is_file() {
            bail!("there is no {}: run `make build`", tool.display());
        }
        let cases: Vec<_> = CASES.iter().filter(|case| setting.wants(case.name)).collect();
        if cases.is_empty() {
            return Ok(Found::default());
        }
        for case in &cases {
            Form::of(case).try_for_each(|form| build(setting, &tool, case, form))?;
        }
        let ratios = ratios::measure(&tool, setting, &cases)?;
        let stale = stale::measure(&tool, setting, &cases)?;
        let below = format!(
            "{}\n{}\n## Stale data\n\n{stale}\n{}",
            ratios.shown,
            ratios::notes(setting.rounds),
            stale::notes()
        );
        let shown = format!("{}\n{stale}", ratios.shown);
        Ok(Found { shown, below, facts: vec![machine::gcc()], passes: ratios.passes })
    })
}

/// Compiles a program, with the processor's time for its clock.
fn build(setting: &Setting, tool: &Path, case: &Case, form: Form) -> Result<()> {
    let (compiler, model): (_, &[&str]) = match case.compiler {
        Compiler::Gangway => {
            let mut command: Command = undisturbed(tool);
            command.arg("cc");
            if form.tells {
                command.arg("--check=map");
            }
            match form.device {
                Device::Cpu => (command, &["-fopenmp", "--offload-arch=x86_64"]),
                Device::VirtualGpu => (command, &["-fopenmp", "--offload-arch=sm_80"]),
            }
        }
        Compiler::Gcc => (gangway_compilers::gcc(), &["-fopenmp", "-foffload=nvptx-none", "-foffload=-lm"]),
    };
    compile(compiler, &setting.root.join(case.source), &setting.build.join(form.file(case)), |command| {
        command.args(["-O2", "-fno-math-errno", "-DGANGWAY_BENCH_PROCESSOR_TIME"]).args(model).arg("-lm")
    })
}

const HEAD: &str = "# Benchmarks of checks\n\n\
    OpenMP programs in C on the virtual GPU, without a check and with each of those that `gangway run --check`\n\
    has ([checks.md](checks.md)). `make bench-checks` writes this file.\n\n";
