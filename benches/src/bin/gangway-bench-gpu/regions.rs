//! What one region costs: time, time outside of the driver, and the driver's calls.

use anyhow::{Context, Result};
use gangway_bench::process::{Calls, calls, figure, output};
use gangway_bench::program::Setting;
use gangway_bench::statistics::{median, median_ratio};
use gangway_bench::table::{self, time};

use crate::programs::Programs;
use gangway_bench::driver::{Driver, Runtime};

/// The most that a region may take outside of the driver.
const OUTSIDE: f64 = 1e3;

/// The most that an empty region may take on a card, against launching and waiting.
const ABOVE_BARE: f64 = 1.3;

/// Calls that a region may make, and how often.
type Allowed = &'static [(&'static str, f64)];

/// A case of `regions.c`, its name for people, and the calls that it may make.
const CASES: &[(&str, &str, Allowed)] = &[
    ("empty", "empty", REGION),
    ("present-1", "1 present map", REGION),
    ("present-5", "5 present maps", REGION),
    ("present-20", "20 present maps", REGION),
    ("fresh-1", "1 fresh map of 64 bytes", OWN),
    ("fresh-5", "5 fresh maps of 64 bytes", OWN),
    ("fresh-20", "20 fresh maps of 64 bytes", OWN),
    ("large", "1 fresh map of 1 MiB", LARGE),
];

const REGION: Allowed = &[("cuLaunchKernel", 1.0), ("cuStreamSynchronize", 1.0)];
/// Nobody asks for the data, so that nobody has to wait for it.
const OWN: Allowed = &[
    ("cuLaunchKernel", 1.0),
    ("cuStreamSynchronize", 1.0),
    ("cuMemcpyHtoDAsync_v2", 1.0),
    ("cuMemcpyDtoHAsync_v2", 1.0),
];
const LARGE: Allowed = &[
    ("cuLaunchKernel", 1.0),
    ("cuStreamSynchronize", 1.0),
    ("cuMemcpyHtoDAsync_v2", 1.0),
    ("cuMemcpyDtoHAsync_v2", 1.0),
    ("cuEventRecord", 1.0),
    ("cuMemAllocFromPoolAsync", 1.0),
    ("cuMemFreeAsync", 1.0),
];

/// The stock runtime's calls and time, and ours as a part of its.
struct Stock {
    calls: f64,
    region: f64,
    ratio: f64,
}

/// One line of the table.
pub struct Row {
    title: &'static str,
    calls: Calls,
    allowed: Allowed,
    region: f64,
    outside: f64,
    stock: Option<Stock>,
}

impl Row {
    pub fn passes(&self) -> bool {
        self.outside <= OUTSIDE && self.surplus().is_none()
    }

    /// The first call that is made more often than allowed. What happens now and then, such as
    /// more memory for a pool, counts as none.
    fn surplus(&self) -> Option<String> {
        let allowed = |name: &str| {
            self.allowed.iter().find(|(known, _)| *known == name).map_or(0.0, |&(_, count)| count)
        };
        let surplus = self.calls.iter().find(|(name, count)| **count > allowed(name) + 0.01);
        surplus.map(|(name, count)| format!("{name}: {count}, wanted {}", allowed(name)))
    }

    fn calls(&self) -> String {
        format!("{:.0}", self.calls.values().sum::<f64>())
    }

    fn cells(&self) -> [String; 6] {
        let result = match (self.passes(), self.surplus()) {
            (true, _) => "pass".into(),
            (false, Some(surplus)) => format!("MISS ({surplus})"),
            (false, None) => "MISS".into(),
        };
        let times = [self.region, self.outside, OUTSIDE].map(time);
        let [region, outside, wanted] = times;
        [self.title.into(), self.calls(), region, outside, wanted, result]
    }
}

/// Measures all cases that are wanted.
pub fn measure(driver: &Driver, programs: &Programs, setting: &Setting) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &(case, title, allowed) in CASES {
        if !setting.wants(case) {
            continue;
        }
        driver.verify(&programs.regions, Runtime::Gangway)?;
        let (mut ours, mut theirs, mut outside) = (Vec::new(), Vec::new(), Vec::new());
        let region = |runtime| -> Result<f64> {
            figure(&output(driver.command(&programs.regions, runtime).arg(case))?, "best_ns")
        };
        let counted = |runtime| output(driver.counted(&programs.regions, runtime).arg(case));
        let mut made = Calls::new();
        for _ in 0..setting.rounds {
            ours.push(region(Runtime::Gangway)?);
            if programs.suits_stock {
                theirs.push(region(Runtime::Stock)?);
            }
            let text = counted(Runtime::Gangway)?;
            outside.push(figure(&text, "outside_ns")?);
            made = calls(&text)?;
        }
        let stock = if programs.suits_stock {
            driver.verify(&programs.regions, Runtime::Stock)?;
            let calls = calls(&counted(Runtime::Stock)?)?.values().sum();
            Some(Stock { calls, region: median(&theirs), ratio: median_ratio(&ours, &theirs) })
        } else {
            None
        };
        let row =
            Row { title, calls: made, allowed, region: median(&ours), outside: median(&outside), stock };
        eprintln!("{}", row.cells().join("  "));
        rows.push(row);
    }
    Ok(rows)
}

pub fn render(rows: &[Row]) -> String {
    let head = ["Region", "Driver calls", "Time", "Outside driver", "Wanted", "Result"].map(String::from);
    let lines: Vec<_> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    table::render(&lines)
}

/// The same binary under the stock runtime, where that can run it.
pub fn render_stock(rows: &[Row]) -> Option<String> {
    let head = ["Region", "Driver calls", "Stock", "Time", "Stock", "Ratio"].map(String::from);
    let lines: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let Stock { calls, region, ratio } = row.stock.as_ref()?;
            let cells = [format!("{calls:.0}"), time(row.region), time(*region), format!("{ratio:.2}")];
            let [calls, ours, theirs, ratio] = cells;
            Some([row.title.into(), row.calls(), calls, ours, theirs, ratio])
        })
        .collect();
    let lines: Vec<_> = std::iter::once(head).chain(lines).collect();
    (lines.len() > 1).then(|| table::render(&lines))
}

/// An empty region beside an empty kernel that is launched and waited for.
pub struct Bare {
    pub device: String,
    bare: f64,
    region: f64,
    ratio: f64,
    /// On the virtual GPU the kernel is so short that the runtime's share counts for more.
    wanted: Option<f64>,
}

impl Bare {
    pub fn measure(driver: &Driver, programs: &Programs, rounds: usize) -> Result<Self> {
        let (mut bare, mut region) = (Vec::new(), Vec::new());
        let mut device = String::new();
        for _ in 0..rounds {
            let mut command = driver.command(&programs.bare, Runtime::Gangway);
            let text = output(command.arg(programs.handwritten.kernels()))?;
            bare.push(figure(&text, "best_ns")?);
            let name = text.lines().find_map(|line| line.strip_prefix("device "));
            name.context("the device has no name")?.clone_into(&mut device);
            let text = output(driver.command(&programs.regions, Runtime::Gangway).arg("empty"))?;
            region.push(figure(&text, "best_ns")?);
        }
        Ok(Self {
            device,
            bare: median(&bare),
            region: median(&region),
            ratio: median_ratio(&region, &bare),
            wanted: (!driver.is_virtual()).then_some(ABOVE_BARE),
        })
    }

    pub fn passes(&self) -> bool {
        self.wanted.is_none_or(|wanted| self.ratio <= wanted)
    }

    pub fn sentence(&self) -> String {
        let Self { bare, region, ratio, .. } = self;
        let bar = match self.wanted {
            Some(wanted) => {
                format!(", wanted {wanted}: {}", if self.passes() { "pass" } else { "MISS" })
            }
            None => String::new(),
        };
        format!(
            "An empty kernel, launched and waited for through the driver API, takes {}. An empty\n\
             region takes {}, which is {ratio:.2} of that{bar}.\n",
            time(*bare),
            time(*region)
        )
    }
}
