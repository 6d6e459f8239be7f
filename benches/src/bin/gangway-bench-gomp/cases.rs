//! What is measured, and what it has to come to.

use anyhow::Result;
use gangway_bench::process::{Calls, calls, figure, output};
use gangway_bench::program::Setting;
use gangway_bench::statistics::{median, median_ratio};
use gangway_bench::table::time;
use gangway_bench::verdict::Verdict;

use crate::programs::{Programs, Runtime};

/// What a case is about.
enum Kind {
    /// Driver calls of one region whose data is present: the launch, and the wait.
    Calls,
    /// Time of the driver's calls alone, which no runtime goes below.
    Floor,
    /// Time without kernels, as a part of stock's.
    Time(f64),
    /// Regions of two threads against those of one.
    Scaling(f64),
    /// The runtime's part of regions with kernels.
    Overhead(f64),
}

struct Case {
    name: &'static str,
    title: &'static str,
    program: &'static str,
    argument: &'static str,
    kind: Kind,
}

const fn case(
    name: &'static str,
    title: &'static str,
    program: &'static str,
    argument: &'static str,
    kind: Kind,
) -> Case {
    Case { name, title, program, argument, kind }
}

/// The parts of stock's time that regions, mapping, and counting what is mapped may take.
const REGION: Kind = Kind::Time(0.3);
const MAPPING: Kind = Kind::Time(0.5);
const COUNTING: Kind = Kind::Time(1.0);
/// The part of a kernel's region that may be the runtime's.
const STREAM: Kind = Kind::Overhead(0.01);

const CASES: &[Case] = &[
    case("calls-empty", "driver calls, empty region", "regions", "empty", Kind::Calls),
    case("calls-1", "driver calls, 1 present map", "regions", "present-1", Kind::Calls),
    case("calls-20", "driver calls, 20 present maps", "regions", "present-20", Kind::Calls),
    case("empty-floor", "launch and wait, without a runtime", "floor", "", Kind::Floor),
    case("empty", "empty region", "regions", "empty", REGION),
    case("present-1", "region, 1 present map", "regions", "present-1", REGION),
    case("present-5", "region, 5 present maps", "regions", "present-5", REGION),
    case("present-20", "region, 20 present maps", "regions", "present-20", REGION),
    case("find", "region, 1 of 10,000 present objects", "mapping", "find", REGION),
    case("threads", "two host threads launch", "two-threads", "present", Kind::Scaling(1.8)),
    case("objects", "10,000 objects come and go", "mapping", "objects", MAPPING),
    case("members", "structure with 16 pointers", "mapping", "members", MAPPING),
    case("descriptors", "10 allocatable arrays of Fortran", "descriptors", "", MAPPING),
    case("present-data-array", "present: array", "present-data", "array", COUNTING),
    case("present-data-section", "present: section through a pointer", "present-data", "section", COUNTING),
    case("present-data-member", "present: member of a structure", "present-data", "member", COUNTING),
    case("present-data-members", "present: 3 members", "present-data", "members", COUNTING),
    case("present-data-pointer", "present: section through a member", "present-data", "pointer", COUNTING),
    case(
        "present-data-pointers",
        "present: sections through 2 members",
        "present-data",
        "pointers",
        COUNTING,
    ),
    case("present-data-in-section", "`target data`, present section", "present-data", "in-section", COUNTING),
    case(
        "present-data-in-pointer",
        "`target data`, present through a member",
        "present-data",
        "in-pointer",
        COUNTING,
    ),
    case("copy", "copy, 2^25 f64", "stream", "copy", STREAM),
    case("mul", "mul, 2^25 f64", "stream", "mul", STREAM),
    case("add", "add, 2^25 f64", "stream", "add", STREAM),
    case("triad", "triad, 2^25 f64", "stream", "triad", STREAM),
    case("dot", "dot, 2^25 f64", "stream", "dot", STREAM),
    case("acc-copy", "copy, 2^25 f64, OpenACC", "stream-acc", "copy", STREAM),
    case("acc-mul", "mul, 2^25 f64, OpenACC", "stream-acc", "mul", STREAM),
    case("acc-add", "add, 2^25 f64, OpenACC", "stream-acc", "add", STREAM),
    case("acc-triad", "triad, 2^25 f64, OpenACC", "stream-acc", "triad", STREAM),
    case("acc-dot", "dot, 2^25 f64, OpenACC", "stream-acc", "dot", STREAM),
];

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

impl Case {
    fn measure(&self, programs: &Programs, rounds: usize) -> Result<Verdict> {
        match self.kind {
            Kind::Calls => self.calls(programs),
            Kind::Floor => self.floor(programs, rounds),
            Kind::Time(wanted) => self.time(programs, rounds, wanted),
            Kind::Scaling(wanted) => self.scaling(programs, rounds, wanted),
            Kind::Overhead(wanted) => self.overhead(programs, wanted),
        }
    }

    fn run(&self, programs: &Programs, runtime: Runtime, null_kernels: bool) -> Result<String> {
        self.run_program(programs, self.program, runtime, null_kernels)
    }

    fn run_program(
        &self,
        programs: &Programs,
        program: &str,
        runtime: Runtime,
        null_kernels: bool,
    ) -> Result<String> {
        let mut command = programs.command(program, runtime, null_kernels);
        if !self.argument.is_empty() {
            command.arg(self.argument);
        }
        output(&mut command)
    }

    /// One launch and one wait.
    fn calls(&self, programs: &Programs) -> Result<Verdict> {
        let [stock, ours] =
            [Runtime::Stock, Runtime::Gangway].map(|runtime| calls(&self.run(programs, runtime, true)?));
        let (stock, ours) = (stock?, ours?);
        let all = |calls: &Calls| calls.values().sum::<f64>();
        let allowed = ["cuLaunchKernel", "cuStreamSynchronize"];
        let passes = ours.iter().all(|(name, count)| {
            // What happens now and then counts as nothing.
            *count <= 0.01 || allowed.contains(&name.as_str()) && *count <= 1.01
        });
        let shown = |calls| format!("{:.0}", all(calls));
        Ok(self.row(shown(&stock), shown(&ours), shown(&ours), "2: launch and wait".into(), passes))
    }

    fn floor(&self, programs: &Programs, rounds: usize) -> Result<Verdict> {
        let once = |_| figure(&self.run(programs, Runtime::Stock, true)?, "best_ns");
        let times = (0..rounds).map(once).collect::<Result<Vec<_>>>()?;
        let shown = time(median(&times));
        Ok(self.row(shown.clone(), shown, "-".into(), "-".into(), true))
    }

    fn time(&self, programs: &Programs, rounds: usize, wanted: f64) -> Result<Verdict> {
        let (mut stock, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            stock.push(figure(&self.run(programs, Runtime::Stock, true)?, "best_ns")?);
            ours.push(figure(&self.run(programs, Runtime::Gangway, true)?, "best_ns")?);
        }
        let ratio = median_ratio(&ours, &stock);
        let times = (time(median(&stock)), time(median(&ours)));
        Ok(self.row(times.0, times.1, format!("{ratio:.2}"), format!("{wanted:.2}"), ratio <= wanted))
    }

    fn scaling(&self, programs: &Programs, rounds: usize, wanted: f64) -> Result<Verdict> {
        let mut measured = [const { (Vec::new(), Vec::new(), Vec::new()) }; 2];
        for _ in 0..rounds {
            for (runtime, (scaling, one, two)) in
                [Runtime::Stock, Runtime::Gangway].into_iter().zip(&mut measured)
            {
                let run = |program| -> Result<(f64, f64)> {
                    let text = self.run_program(programs, program, runtime, true)?;
                    Ok((figure(&text, "best_ns")?, figure(&text, "cpu_ns")?))
                };
                let (alone, both) = (run("one-thread")?, run("two-threads")?);
                scaling.push(2.0 * alone.0 / both.0);
                one.push(alone.1);
                two.push(both.1);
            }
        }
        let [stock, ours] = measured.map(|(scaling, one, two)| {
            let cpu = format!("{} → {}", time(median(&one)), time(median(&two)));
            (median(&scaling), cpu)
        });
        let shown = |(value, cpu): &(f64, String)| format!("{value:.2} ({cpu})");
        let figures = (format!("{:.2}", ours.0), format!("{wanted:.2}"));
        Ok(self.row(shown(&stock), shown(&ours), figures.0, figures.1, ours.0 >= wanted))
    }

    fn overhead(&self, programs: &Programs, wanted: f64) -> Result<Verdict> {
        let [stock, ours] = [Runtime::Stock, Runtime::Gangway].map(|runtime| {
            let text = self.run(programs, runtime, false)?;
            Ok::<_, anyhow::Error>((figure(&text, "best_ns")?, figure(&text, "overhead")?))
        });
        let (stock, ours) = (stock?, ours?);
        let shown = |(best, share): (f64, f64)| format!("{} ({:.2} %)", time(best), 100.0 * share);
        let figures = (format!("{:.2} %", 100.0 * ours.1), format!("{:.2} %", 100.0 * wanted));
        Ok(self.row(shown(stock), shown(ours), figures.0, figures.1, ours.1 <= wanted))
    }

    fn row(&self, stock: String, ours: String, figure: String, wanted: String, passes: bool) -> Verdict {
        Verdict { title: self.title.into(), theirs: stock, ours, figure, wanted, passes }
    }
}
