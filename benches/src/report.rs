//! Turns samples into the printed table and into `docs/benchmarks.md`.
//!
//! A row never hides its absolute figures behind a ratio, and a figure that
//! misses its bar says so in both places.

use std::fmt::Write;

use crate::cases::{Metric, Quantity};
use crate::measure::Sample;
use gangway_bench::statistics::{median, median_ratio};
use gangway_bench::table;

/// How a figure stands against its bar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Outcome {
    Pass,
    Miss,
    /// A reference figure, or Gangway was not measured.
    NoBar,
}

pub struct Row {
    metric: Metric,
    stock: f64,
    /// Gangway's median and the median of the paired ratios.
    ours: Option<(f64, f64)>,
}

impl Row {
    /// `samples` holds the stock library's runs and then, if measured, ours.
    pub fn new(metric: &Metric, samples: &[Vec<Sample>]) -> Self {
        let values =
            |runs: &Vec<Sample>| -> Vec<f64> { runs.iter().map(|run| run.value(metric.quantity)).collect() };
        let stock = values(&samples[0]);
        let ours = samples.get(1).map(|runs| {
            let ours = values(runs);
            (median(&ours), median_ratio(&ours, &stock))
        });
        Row { metric: metric.clone(), stock: median(&stock), ours }
    }

    pub fn outcome(&self) -> Outcome {
        match (self.ours, self.metric.wanted) {
            (Some((_, ratio)), Some(wanted)) if ratio <= wanted => Outcome::Pass,
            (Some(_), Some(_)) => Outcome::Miss,
            _ => Outcome::NoBar,
        }
    }

    /// For the progress line: the ratio, or the stock figure if that is all.
    pub fn summary(&self) -> String {
        match self.ours {
            Some((_, ratio)) => format!("{ratio:.3}"),
            None => figure(self.metric.quantity, self.stock),
        }
    }

    fn cells(&self) -> [String; 6] {
        let quantity = self.metric.quantity;
        let wanted = match (quantity, self.metric.wanted) {
            (_, None) => "-".into(),
            (Quantity::Bandwidth { .. }, Some(wanted)) => format!("1.0 (within {wanted})"),
            (_, Some(wanted)) => format!("{wanted}"),
        };
        let (ours, ratio) = match self.ours {
            Some((value, ratio)) => (figure(quantity, value), format!("{ratio:.3}")),
            None => ("-".into(), "-".into()),
        };
        let result = match self.outcome() {
            Outcome::Pass => "pass",
            Outcome::Miss => "MISS",
            Outcome::NoBar => "-",
        };
        [self.metric.title.into(), figure(quantity, self.stock), ours, ratio, wanted, result.into()]
    }
}

/// A value in the unit of its quantity.
fn figure(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Latency | Quantity::Typical => format!("{:.3} µs", value / 1e3),
        Quantity::Process => format!("{:.2} ms", value / 1e6),
        Quantity::Memory => format!("{:.1} MiB", value / 1024.0),
        Quantity::Bandwidth { bytes } => format!("{:.1} GB/s", bytes / value),
    }
}

/// A Markdown table whose columns also line up on a terminal.
pub fn table(rows: &[Row]) -> String {
    let head = ["Case", "Stock", "Gangway", "Ratio", "Wanted", "Result"].map(String::from);
    let lines: Vec<[String; 6]> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    table::render(&lines)
}

pub const HEAD: &str = "# Benchmarks\n\n\
    The same binaries, built once by the stock compiler with `-O2`, run under the stock\n\
    `libomptarget.so.22.1` and under Gangway's. `make bench` writes this file.\n\n";

/// What stands below the facts of `docs/benchmarks.md`.
pub fn below(rows: &[Row], rounds: usize) -> String {
    let mut text = format!("{}\n", table(rows));
    let missed = rows.iter().filter(|row| row.outcome() == Outcome::Miss).count();
    let barred = rows.iter().filter(|row| row.outcome() != Outcome::NoBar).count();
    let _ = writeln!(text, "{} of {barred} figures reach their bar.\n", barred - missed);
    let _ = write!(
        text,
        "## How to read it\n\n\
         - Ratio is Gangway / stock of times and memory: smaller is better in every row, also\n  \
           for the bandwidth cases, whose figures are shown as rates.\n\
         - A latency is the best of {batches} batches of at least 2 ms in one process; of a\n  \
           bandwidth the best of 12 passes. The two libraries alternate for {rounds} rounds; the\n  \
           figures are medians over the rounds, the ratio is the median of the rounds' ratios.\n\
         - With two host threads, one operation is one region on each of them.\n\
         - Of 20,000 `nowait` regions in flight the time of one region in the median of 12 queues\n  \
           counts: nearly all of it is spent in `libomp`, whose helper threads get into each other's way.\n\
         - Wall time is the median of 20 starts of a process, peak memory the largest\n  \
           `ru_maxrss` of them. Without OpenMP the program loads neither library, so its\n  \
           ratio only shows the noise.\n\
         - The machine is whatever ran the command last; compare ratios, not microseconds,\n  \
           between machines.\n",
        batches = 150,
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::tests::sample;

    fn row(stock: f64, ours: Option<f64>, wanted: Option<f64>) -> Row {
        let metric = Metric { title: "a case", quantity: Quantity::Latency, wanted };
        let mut samples = vec![vec![sample(stock)]];
        samples.extend(ours.map(|ours| vec![sample(ours)]));
        Row::new(&metric, &samples)
    }

    #[test]
    fn a_row_is_judged_by_its_bar() {
        let outcome = |ours, wanted| row(1000.0, ours, wanted).outcome();
        assert_eq!(outcome(Some(400.0), Some(0.4)), Outcome::Pass);
        assert_eq!(outcome(Some(401.0), Some(0.4)), Outcome::Miss);
        assert_eq!(outcome(Some(400.0), None), Outcome::NoBar);
        assert_eq!(outcome(None, Some(0.4)), Outcome::NoBar);
    }

    #[test]
    fn the_table_shows_absolute_figures_and_the_verdict() {
        let text = table(&[row(1000.0, Some(500.0), Some(0.4))]);
        let last = text.lines().last().unwrap();
        assert_eq!(
            last.split('|').map(str::trim).collect::<Vec<_>>(),
            ["", "a case", "1.000 µs", "0.500 µs", "0.500", "0.4", "MISS", ""]
        );
    }

    #[test]
    fn rates_are_bytes_over_nanoseconds() {
        let quantity = Quantity::Bandwidth { bytes: 50e9 };
        assert_eq!(figure(quantity, 1e9), "50.0 GB/s");
    }
}
