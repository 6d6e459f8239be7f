//! Runs one program once and reads its figures.
//!
//! A program prints one `key value` line per figure (see `bench.h`); anything
//! else it prints, a missing figure or a non-zero status is an error.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::cases::{Case, Quantity};
use crate::library::Library;

/// What one run of one program printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    best_ns: f64,
    median_ns: f64,
    peak_kib: Option<f64>,
}

impl Sample {
    /// The figure that a metric is about, in nanoseconds or KiB.
    ///
    /// Of a latency or a pass the best batch counts, because a disturbance
    /// only ever adds time. A process is started twenty times only, and its
    /// median is what a user waits; so is that of threads that get into each
    /// other's way, where a lucky batch says little.
    pub fn value(&self, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Latency | Quantity::Bandwidth { .. } => self.best_ns,
            Quantity::Typical | Quantity::Process => self.median_ns,
            Quantity::Memory => self.peak_kib.unwrap_or(f64::NAN),
        }
    }
}

pub fn run(case: &Case, library: &Library, binaries: &Path) -> Result<Sample> {
    let (program, arguments) = case.command.split_first().context("the command is empty")?;
    let output = library
        .command(&binaries.join(program))
        .args(arguments)
        .current_dir(binaries)
        .output()
        .with_context(|| format!("cannot start {program}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("{program} ended with {}\n{stdout}{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    let sample = parse(&stdout).with_context(|| format!("output of {program}:\n{stdout}"))?;
    let needs_memory = case.metrics.iter().any(|metric| metric.quantity == Quantity::Memory);
    if needs_memory && sample.peak_kib.is_none() {
        bail!("{program} did not print peak_kib");
    }
    Ok(sample)
}

fn parse(text: &str) -> Result<Sample> {
    let (mut best, mut median, mut peak) = (None, None, None);
    for line in text.lines() {
        let (key, value) = line.split_once(' ').with_context(|| format!("not a figure: {line:?}"))?;
        let slot = match key {
            "best_ns" => &mut best,
            "median_ns" => &mut median,
            "peak_kib" => &mut peak,
            // What the comparison with GCC's runtime asks for.
            "cpu_ns" => continue,
            _ => bail!("unknown figure {key:?}"),
        };
        let value: f64 = value.parse().with_context(|| format!("not a number: {line:?}"))?;
        if !(value.is_finite() && value > 0.0) {
            bail!("not a positive figure: {line:?}");
        }
        *slot = Some(value);
    }
    Ok(Sample {
        best_ns: best.context("best_ns is missing")?,
        median_ns: median.context("median_ns is missing")?,
        peak_kib: peak,
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A sample for the tests of other modules.
    pub fn sample(best_ns: f64) -> Sample {
        Sample { best_ns, median_ns: best_ns, peak_kib: None }
    }

    #[test]
    fn reads_the_figures() {
        let sample = parse("best_ns 12.5\nmedian_ns 14\npeak_kib 2048\n").unwrap();
        assert_eq!(sample.value(Quantity::Latency), 12.5);
        assert_eq!(sample.value(Quantity::Process), 14.0);
        assert_eq!(sample.value(Quantity::Memory), 2048.0);
    }

    #[test]
    fn refuses_what_is_not_a_figure() {
        for text in [
            "",
            "best_ns 1\n",
            "best_ns x\nmedian_ns 1\n",
            "best_ns 1\nmedian_ns 1\nwarning: something\n",
            "best_ns 0\nmedian_ns 1\n",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
