//! What each program takes on the device, next to GCC's and to OpenMP.

use anyhow::{Context, Result};
use gangway_bench::process::{figure, output};
use gangway_bench::table::{self, time};

use crate::Table;
use crate::cases::Case;
use crate::programs::{Programs, WAYS, Way};

/// The parts of GCC's time, and of that of OpenMP, that pass.
const OF_GCC: f64 = 0.70;
const OF_OPENMP: f64 = 1.10;

/// One line: nanoseconds of each of `WAYS`.
struct Row {
    title: &'static str,
    times: [f64; 3],
}

impl Row {
    fn of(&self, way: Way) -> f64 {
        let [gcc, openmp, gangway] = self.times;
        match way {
            Way::Gcc => gcc,
            Way::OpenMp => openmp,
            Way::Gangway => gangway,
        }
    }

    fn ratio(&self, to: Way) -> f64 {
        self.of(Way::Gangway) / self.of(to)
    }

    fn passes(&self) -> bool {
        self.ratio(Way::Gcc) <= OF_GCC && self.ratio(Way::OpenMp) <= OF_OPENMP
    }

    fn cells(&self) -> [String; 7] {
        let ratio = |to| format!("{:.2}", self.ratio(to));
        let [gcc, openmp, gangway] = self.times.map(time);
        let result = if self.passes() { "pass" } else { "MISS" };
        [self.title.into(), gcc, openmp, gangway, ratio(Way::Gcc), ratio(Way::OpenMp), result.into()]
    }
}

pub fn measure(programs: &Programs, cases: &[&Case], rounds: usize) -> Result<Table> {
    let mut rows = Vec::new();
    for case in cases {
        let mut times = [f64::INFINITY; 3];
        for _ in 0..rounds {
            for (way, best) in WAYS.into_iter().zip(&mut times) {
                let text = output(&mut programs.run(case, way, &[]))
                    .with_context(|| format!("{}, {way:?}", case.name))?;
                *best = best.min(figure(&text, "best_ns")?);
            }
        }
        let row = Row { title: case.title, times };
        eprintln!("{}", row.cells().join("  "));
        rows.push(row);
    }
    let of = |name: &str, bar: f64| format!("Of {name} (≤ {bar:.2})");
    let head = [
        "Case".to_owned(),
        "GCC".to_owned(),
        "OpenMP".to_owned(),
        "Gangway".to_owned(),
        of("GCC", OF_GCC),
        of("OpenMP", OF_OPENMP),
        "Result".to_owned(),
    ];
    let lines: Vec<_> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    Ok(Table { shown: table::render(&lines), passes: rows.iter().all(Row::passes) })
}

/// What stands below the table.
pub fn notes(rounds: usize) -> String {
    format!(
        "- A pass computes everything once, on data that stays on the device. A process makes one to\n  \
           compile its kernels and seven that are timed; {rounds} processes of each program run in turn.\n  \
           The best pass of all counts, as a disturbance only adds time.\n\
         - GCC and Gangway compile the same source. OpenMP has two levels of parallelism in clang where\n  \
           OpenACC has three, so in its n-body a thread has a body to itself, and in its sparse product an\n  \
           element of the result. Its two outer loops may be collapsed in OpenMP: of that one's processor time\n  \
           Gangway took 0.6.\n\
         - GCC 12 makes rows of 256 elements of tiles of 16 x 16. Of rows of 16 a warp has two.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_to_reach_both_bars() {
        let row = |times| Row { title: "a case", times };
        assert!(row([10.0, 6.4, 7.0]).passes());
        assert!(!row([10.0, 6.3, 7.0]).passes(), "1.11 of OpenMP");
        assert!(!row([10.0, 7.0, 7.1]).passes(), "0.71 of GCC");
        assert_eq!(
            row([1e7, 5e6, 6e6]).cells()[1..],
            ["10.00 ms", "5.00 ms", "6.00 ms", "0.60", "1.20", "MISS"]
        );
    }
}
