//! Time of kernels and memory of processes with each check, as multiples of what they are without one.

use std::path::Path;

use anyhow::{Context, Result};
use gangway_bench::process::{figure, output, undisturbed};
use gangway_bench::program::{Found, Setting};
use gangway_bench::table::{self, time};

use crate::cases::Case;

/// A check, and how many times as long kernels may take with it.
struct Check {
    name: &'static str,
    bar: f64,
}

const CHECKS: [Check; 5] = [
    Check { name: "memory", bar: 2.0 },
    Check { name: "init", bar: 4.0 },
    Check { name: "race", bar: 15.0 },
    Check { name: "sync", bar: 1.5 },
    Check { name: "all", bar: 25.0 },
];
/// How many times as much memory the process may take, with any of them.
const MEMORY: f64 = 5.0;

/// What a program takes.
#[derive(Clone, Copy, Debug)]
struct Taken {
    ns: f64,
    kib: f64,
}

/// The case, and for time and for memory the figure without and those with each check; the verdict.
const COLUMNS: usize = 2 * (1 + CHECKS.len()) + 2;

fn columns(cells: Vec<String>) -> [String; COLUMNS] {
    cells.try_into().expect("each check has two columns")
}

/// One line: without a check, and with each of them.
struct Row {
    title: &'static str,
    without: Taken,
    with: [Taken; CHECKS.len()],
}

impl Row {
    fn times(&self) -> [f64; CHECKS.len()] {
        self.with.map(|taken| taken.ns / self.without.ns)
    }

    fn memory(&self) -> [f64; CHECKS.len()] {
        self.with.map(|taken| taken.kib / self.without.kib)
    }

    fn passes(&self) -> bool {
        let in_time = self.times().iter().zip(&CHECKS).all(|(&ratio, check)| ratio <= check.bar);
        in_time && self.memory().iter().all(|&ratio| ratio <= MEMORY)
    }

    fn cells(&self) -> [String; COLUMNS] {
        let ratio = |ratio: f64| format!("{ratio:.2}");
        let mut cells = vec![self.title.into(), time(self.without.ns)];
        cells.extend(self.times().map(ratio));
        cells.push(mib(self.without.kib));
        cells.extend(self.memory().map(ratio));
        cells.push(if self.passes() { "pass" } else { "MISS" }.into());
        columns(cells)
    }
}

/// Memory in words.
pub fn mib(kib: f64) -> String {
    format!("{:.0} MiB", kib / 1024.0)
}

/// Runs a program once, with code of whoever makes it by default.
fn run(tool: &Path, setting: &Setting, case: &Case, check: Option<&Check>) -> Result<Taken> {
    let mut command = undisturbed(tool);
    command.args(["run", "--device", "vgpu"]);
    if let Some(check) = check {
        command.arg(format!("--check={}", check.name));
    }
    command.arg("--").arg(setting.build.join(case.name)).env("GANGWAY_VGPU_WORKERS", "1");
    let text = output(&mut command).with_context(|| case.name)?;
    Ok(Taken { ns: figure(&text, "best_ns")?, kib: figure(&text, "peak_kib")? })
}

pub fn measure(tool: &Path, setting: &Setting, cases: &[&Case]) -> Result<Found> {
    let mut rows = Vec::new();
    for case in cases {
        let none = Taken { ns: f64::INFINITY, kib: f64::INFINITY };
        let mut row = Row { title: case.title, without: none, with: [none; CHECKS.len()] };
        for _ in 0..setting.rounds {
            let checks = CHECKS.iter().map(Some).zip(&mut row.with);
            for (check, best) in std::iter::once((None, &mut row.without)).chain(checks) {
                let taken = run(tool, setting, case, check)?;
                *best = Taken { ns: best.ns.min(taken.ns), kib: best.kib.min(taken.kib) };
            }
        }
        eprintln!("{}", row.cells().join("  "));
        rows.push(row);
    }
    let mut head = vec!["Case".into(), "Time".into()];
    head.extend(CHECKS.map(|check| format!("`{}` (≤ {})", check.name, check.bar)));
    head.push("Memory".into());
    head.extend(CHECKS.map(|check| format!("`{}` (≤ {MEMORY:.0})", check.name)));
    head.push("Result".into());
    let lines: Vec<_> = std::iter::once(columns(head)).chain(rows.iter().map(Row::cells)).collect();
    let passes = rows.iter().all(Row::passes);
    Ok(Found { shown: table::render(&lines), passes, ..Found::default() })
}

/// What stands below the table.
pub fn notes(rounds: usize) -> String {
    format!(
        "- Time is the processor's, of a pass that computes everything once on one worker, the best of seven\n  \
           in each of {rounds} processes that run in turn. With a check it is a multiple of that.\n\
         - Code is of whoever makes it by default. LLVM makes code of loops without a check and with `memory`, `init` and `sync`; with\n  \
           `race`, `map` and `all` only where all lanes do the same, as in GCC's programs. So these cost most where LLVM's code is\n  \
           much faster elsewhere.\n\
         - Memory is the most that the process has had, and so are its multiples.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_to_reach_all_bars() {
        let taken = |ns, kib| Taken { ns, kib };
        let row = |with: [Taken; 5]| Row { title: "a case", without: taken(1e6, 1024.0), with };
        let right = [(2e6, 2048.0), (4e6, 2048.0), (15e6, 5120.0), (1e6, 1024.0), (25e6, 5120.0)]
            .map(|(ns, kib)| taken(ns, kib));
        assert!(row(right).passes());
        for (number, wrong) in [
            (0, taken(2.1e6, 2048.0)),
            (1, taken(4.1e6, 1.0)),
            (2, taken(15e6, 5200.0)),
            (4, taken(26e6, 1.0)),
        ] {
            let mut with = right;
            with[number] = wrong;
            assert!(!row(with).passes(), "{number}");
        }
        let cells = row(right).cells();
        let times = ["1.00 ms", "2.00", "4.00", "15.00", "1.00", "25.00"];
        assert_eq!(cells[1..7], times);
        assert_eq!(cells[7..], ["1 MiB", "2.00", "2.00", "5.00", "1.00", "5.00", "pass"]);
    }
}
