//! What is measured, and what it has to come to.

use anyhow::Result;
use gangway_bench::process::{Calls, calls, figure, output};
use gangway_bench::program::Setting;
use gangway_bench::statistics::{median, median_ratio};
use gangway_bench::table::time;
use gangway_bench::verdict::Verdict;

use crate::programs::{Place, Programs};

/// What a case is about.
#[derive(Clone, Copy)]
enum Kind {
    /// A call and its answer, of one caller.
    RoundTrip,
    /// Calls a second, of so many callers; how many times the slot's.
    Rate(u32, Option<f64>),
    /// Time of a region, with and without a call that is never made.
    Unused(&'static str),
    /// The driver's calls for such a region.
    UnusedCalls(&'static str),
    /// What of a processor looking for calls takes, where the driver does not tell of them.
    Looking,
}

struct Case {
    name: &'static str,
    title: &'static str,
    place: Place,
    kind: Kind,
}

const fn case(name: &'static str, title: &'static str, place: Place, kind: Kind) -> Case {
    Case { name, title, place, kind }
}

/// The part of the slot's time that a round trip may take, and its time.
const ROUND_TRIP: f64 = 0.2;
const LONGEST_NS: f64 = 10e3;
/// How many times the slot's rate that of many callers has to be.
const MANY: Option<f64> = Some(20.0);
/// What of a processor looking may take while no kernel runs.
const IDLE: f64 = 0.0005;
/// What a call that is never made may cost: noise.
const NOISE: f64 = 1.05;

const CASES: &[Case] = &[
    case("gpu-one", "GPU, round trip", Place::Gpu, Kind::RoundTrip),
    case("gpu-rate-1", "GPU, calls a second, 1 caller", Place::Gpu, Kind::Rate(1, None)),
    case("gpu-rate-256", "GPU, calls a second, 256 callers", Place::Gpu, Kind::Rate(256, MANY)),
    case("gpu-rate-100000", "GPU, calls a second, 100,000 callers", Place::Gpu, Kind::Rate(100_000, MANY)),
    case("cpu-one", "CPU device, round trip", Place::Cpu, Kind::RoundTrip),
    case("cpu-rate-1", "CPU device, calls a second, 1 caller", Place::Cpu, Kind::Rate(1, None)),
    case("cpu-rate-256", "CPU device, calls a second, 256 callers", Place::Cpu, Kind::Rate(256, MANY)),
    case(
        "cpu-rate-100000",
        "CPU device, calls a second, 100,000 callers",
        Place::Cpu,
        Kind::Rate(100_000, MANY),
    ),
    case("gpu-idle", "GPU that does not ring, idle channel", Place::Gpu, Kind::Looking),
    case(
        "gpu-none-calls",
        "GPU, driver calls without host calls",
        Place::Gpu,
        Kind::UnusedCalls("present-1"),
    ),
    case("gpu-none-empty", "GPU, empty region without host calls", Place::Gpu, Kind::Unused("empty")),
    case(
        "gpu-none-present",
        "GPU, region without host calls, 1 present map",
        Place::Gpu,
        Kind::Unused("present-1"),
    ),
    case(
        "cpu-none-present",
        "CPU device, region without host calls, 1 present map",
        Place::Cpu,
        Kind::Unused("1"),
    ),
];

/// Such a region takes so little time that where the loader puts a process shows: the median of a
/// few processes hides that.
const UNUSED_ROUNDS: usize = 7;

/// Measures all cases whose name contains `only`.
pub fn measure(programs: &Programs, setting: &Setting) -> Result<Vec<Verdict>> {
    let mut rows = Vec::new();
    for case in CASES.iter().filter(|case| setting.wants(case.name)) {
        let row = case.measure(programs, setting.rounds)?;
        eprintln!("{}", row.cells().join("  "));
        rows.push(row);
    }
    Ok(rows)
}

/// What several processes have measured, for both ways, in nanoseconds.
#[derive(Default)]
struct Samples {
    best: [Vec<f64>; 2],
    median: [Vec<f64>; 2],
}

impl Samples {
    /// Runs both, one after the other, `rounds` times.
    fn take(rounds: usize, mut run: impl FnMut(usize) -> Result<String>) -> Result<Self> {
        let mut samples = Self::default();
        for _ in 0..rounds {
            for which in 0..2 {
                let text = run(which)?;
                samples.best[which].push(figure(&text, "best_ns")?);
                samples.median[which].push(figure(&text, "median_ns")?);
            }
        }
        Ok(samples)
    }
}

impl Case {
    fn measure(&self, programs: &Programs, rounds: usize) -> Result<Verdict> {
        match self.kind {
            Kind::RoundTrip => self.round_trip(programs, rounds),
            Kind::Rate(callers, wanted) => self.rate(programs, rounds, callers, wanted),
            Kind::Unused(argument) => self.unused(programs, rounds.max(UNUSED_ROUNDS), argument),
            Kind::UnusedCalls(argument) => self.unused_calls(programs, argument),
            Kind::Looking => self.looking(programs, rounds),
        }
    }

    /// The slot's samples, and the channel's.
    fn ways(&self, programs: &Programs, rounds: usize, callers: u32) -> Result<Samples> {
        Samples::take(rounds, |which| {
            let mut command = programs.command("calls", self.place);
            output(command.arg(["slot", "channel"][which]).arg(callers.to_string()))
        })
    }

    fn round_trip(&self, programs: &Programs, rounds: usize) -> Result<Verdict> {
        let Samples { best: [slot, ours], median: medians } = self.ways(programs, rounds, 1)?;
        let ratio = median_ratio(&ours, &slot);
        let passes = ratio <= ROUND_TRIP && median(&ours) < LONGEST_NS;
        let shown = |best, all| format!("{} ({})", time(median(best)), time(median(all)));
        let wanted = format!("{ROUND_TRIP:.2}, {}", time(LONGEST_NS));
        let times = (shown(&slot, &medians[0]), shown(&ours, &medians[1]));
        Ok(self.verdict(times, format!("{ratio:.3}"), wanted, passes))
    }

    fn rate(&self, programs: &Programs, rounds: usize, callers: u32, wanted: Option<f64>) -> Result<Verdict> {
        let Samples { best: [slot, ours], .. } = self.ways(programs, rounds, callers)?;
        let times = median_ratio(&slot, &ours);
        let rates = (per_second(median(&slot)), per_second(median(&ours)));
        let bar = wanted.map_or("-".to_owned(), |wanted| format!("{wanted:.0} times"));
        let passes = wanted.is_none_or(|wanted| times >= wanted);
        Ok(self.verdict(rates, format!("{times:.0} times"), bar, passes))
    }

    fn unused(&self, programs: &Programs, rounds: usize, argument: &str) -> Result<Verdict> {
        let Samples { best: [unused, without], .. } = Samples::take(rounds, |which| {
            let program = ["unused", "without"][which];
            output(programs.without_kernels(program, self.place).arg(argument))
        })?;
        let ratio = median_ratio(&without, &unused);
        let times = (time(median(&unused)), time(median(&without)));
        Ok(self.verdict(times, format!("{ratio:.2}"), format!("{NOISE:.2}"), ratio <= NOISE))
    }

    fn unused_calls(&self, programs: &Programs, argument: &str) -> Result<Verdict> {
        let [unused, without] = ["unused", "without"].map(|program| {
            let text = output(programs.without_kernels(program, self.place).arg(argument))?;
            // What happens now and then counts as nothing.
            let often = |(_, count): &(String, f64)| *count > 0.01;
            Ok::<_, anyhow::Error>(calls(&text)?.into_iter().filter(often).collect::<Calls>())
        });
        let (unused, without) = (unused?, without?);
        let shown = |calls: &Calls| format!("{:.0}", calls.values().sum::<f64>());
        let passes = unused.keys().eq(without.keys()) && shown(&unused) == shown(&without);
        let both = (shown(&unused), shown(&without));
        Ok(self.verdict(both, shown(&without), "the same".into(), passes))
    }

    fn looking(&self, programs: &Programs, rounds: usize) -> Result<Verdict> {
        let Samples { best: [running, idle], .. } = Samples::take(rounds, |which| {
            let mut command = programs.command("calls", self.place);
            output(command.env("GANGWAY_HOST_CALLS_LOOK", "1").args([["running", "idle"][which], "1"]))
        })?;
        let [running, idle] = [running, idle].map(|samples| median(&samples) / 1e9);
        let shown = |share: f64| format!("{:.2} %", share * 100.0);
        let both = (shown(running), shown(idle));
        Ok(self.verdict(both, shown(idle), shown(IDLE), idle <= IDLE))
    }

    fn verdict(
        &self,
        (theirs, ours): (String, String),
        figure: String,
        wanted: String,
        passes: bool,
    ) -> Verdict {
        Verdict { title: self.title.into(), theirs, ours, figure, wanted, passes }
    }
}

/// Calls a second, of the time that one of them takes.
fn per_second(ns: f64) -> String {
    match 1e9 / ns {
        rate if rate < 1e6 => format!("{:.1} thousand", rate / 1e3),
        rate => format!("{:.2} million", rate / 1e6),
    }
}
