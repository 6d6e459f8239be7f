//! What compiling the OpenACC source takes, translation included, next to what stock clang takes to compile the
//! OpenMP source.

use std::process::Command;
use std::time::Instant;

use anyhow::Result;
use gangway_bench::process::output;
use gangway_bench::table::{self, time};

use crate::Table;
use crate::cases::Case;
use crate::programs::{Programs, Way};

/// The part of clang's time that OpenACC may add.
const BAR: f64 = 0.30;

/// Nanoseconds.
struct Row {
    title: &'static str,
    /// Stock clang, the OpenMP source.
    clang: f64,
    /// Gangway, the OpenMP source and the OpenACC source.
    openmp: f64,
    openacc: f64,
    /// The translation alone.
    translation: f64,
}

impl Row {
    fn added(&self) -> f64 {
        self.openacc / self.clang - 1.0
    }

    fn passes(&self) -> bool {
        self.added() <= BAR
    }

    fn cells(&self) -> [String; 7] {
        let result = if self.passes() { "pass" } else { "MISS" };
        let added = format!("{:.2}", self.added());
        let [clang, openmp, openacc, translation] =
            [self.clang, self.openmp, self.openacc, self.translation].map(time);
        [self.title.into(), clang, openmp, openacc, translation, added, result.into()]
    }
}

pub fn measure(programs: &Programs, cases: &[&Case], rounds: usize) -> Result<Table> {
    let mut rows = Vec::new();
    for case in cases {
        let mut row = Row {
            title: case.title,
            clang: f64::INFINITY,
            openmp: f64::INFINITY,
            openacc: f64::INFINITY,
            translation: f64::INFINITY,
        };
        for _ in 0..rounds {
            row.clang = row.clang.min(nanoseconds(programs.clang(case))?);
            row.openmp = row.openmp.min(nanoseconds(programs.compiled(case, Way::OpenMp))?);
            row.openacc = row.openacc.min(nanoseconds(programs.compiled(case, Way::Gangway))?);
            row.translation = row.translation.min(nanoseconds(programs.translated(case))?);
        }
        rows.push(row);
    }
    let head = [
        "Case".to_owned(),
        "clang-22, OpenMP".to_owned(),
        "Gangway, OpenMP".to_owned(),
        "Gangway, OpenACC".to_owned(),
        "Translation alone".to_owned(),
        format!("Added to clang-22's (≤ {BAR:.2})"),
        "Result".to_owned(),
    ];
    let lines: Vec<_> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
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
        "- All of them compile to an object, `-c`, with the same flags: stock `clang-22 -fopenmp`,\n  \
           `gangway cc -fopenmp`, which mends GPU code on the way, and `gangway cc -fopenacc`, which needs not\n  \
           mend these. The translation alone is `--emit-translated`. The best of {rounds} each counts, in turn.\n"
    )
}
