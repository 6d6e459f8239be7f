//! What compiling takes: the OpenACC source with Gangway, next to the OpenMP source with stock clang.

use std::process::Command;
use std::time::Instant;

use anyhow::Result;
use gangway_bench::process::output;
use gangway_bench::table::{self, time};

use crate::Table;
use crate::cases::Case;
use crate::programs::Programs;

/// The part of clang's time that compiling with a translation may take: the translation adds 0.3 of it.
const BAR: f64 = 1.30;

/// Compilations of each round.
const TIMES: usize = 2;

struct Row {
    title: &'static str,
    clang: f64,
    gangway: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.gangway / self.clang
    }

    fn passes(&self) -> bool {
        self.ratio() <= BAR
    }

    fn cells(&self) -> [String; 6] {
        let result = if self.passes() { "pass" } else { "MISS" };
        let ratio = format!("{:.2}", self.ratio());
        [self.title.into(), time(self.clang), time(self.gangway), ratio, format!("{BAR:.2}"), result.into()]
    }
}

pub fn measure(programs: &Programs, cases: &[&Case], rounds: usize) -> Result<Table> {
    let mut rows = Vec::new();
    for case in cases {
        let (mut clang, mut gangway) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..rounds * TIMES {
            clang = clang.min(nanoseconds(programs.compile_openmp(case))?);
            gangway = gangway.min(nanoseconds(programs.compile_openacc(case))?);
        }
        rows.push(Row { title: case.title, clang, gangway });
    }
    let head = ["Case", "clang-22, OpenMP", "Gangway, OpenACC", "Ratio", "Wanted", "Result"];
    let lines: Vec<_> = std::iter::once(head.map(String::from)).chain(rows.iter().map(Row::cells)).collect();
    Ok(Table { shown: table::render(&lines), passes: rows.iter().all(Row::passes) })
}

fn nanoseconds(mut command: Command) -> Result<f64> {
    let start = Instant::now();
    output(&mut command)?;
    Ok(start.elapsed().as_nanos() as f64)
}

/// What stands below the table.
pub fn notes(rounds: usize) -> String {
    format!(
        "- `gangway cc -fopenacc -c` of the OpenACC source, and stock `clang-22 -fopenmp -c` of the OpenMP\n  \
           source, with the same flags: the best of {} compilations each, in turn.\n",
        rounds * TIMES
    )
}
