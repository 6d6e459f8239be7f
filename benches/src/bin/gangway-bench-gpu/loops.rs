//! Loops of `kernels.c` on the device, against the same source on the host, against kernels
//! written by hand, and against each other.

use std::path::Path;

use anyhow::Result;
use gangway_bench::process::{figure, output};
use gangway_bench::program::Setting;
use gangway_bench::statistics::{median, median_ratio};
use gangway_bench::table::{self, time};

use crate::programs::Programs;
use gangway_bench::driver::{Driver, Runtime};

/// What a loop is held against.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reference {
    /// The same source without offloading, on the host's cores.
    Native,
    /// The same loop as a kernel written by hand, on the same device.
    HandWritten,
    /// Another loop of the program on the same device.
    Loop(&'static str),
}

struct Case {
    name: &'static str,
    title: &'static str,
    reference: Reference,
    /// The largest ratio that passes on the virtual GPU, and on a card.
    on_virtual: Option<f64>,
    on_card: Option<f64>,
}

/// "At least 0.97 of the bandwidth", "within 5 %", "at least 0.95 of the triad's".
const BANDWIDTH: Option<f64> = Some(1.0 / 0.97);
const TIME: Option<f64> = Some(1.05);

/// "No slower" than what is measured in another process: two runs differ by this much.
const EQUAL: Option<f64> = Some(1.05);

const CASES: &[Case] = &[
    native("triad", "triad, f64"),
    native("dot", "dot, f64"),
    by_hand("copy", "copy, f64", None, BANDWIDTH),
    by_hand("mul", "mul, f64", None, BANDWIDTH),
    by_hand("add", "add, f64", None, BANDWIDTH),
    by_hand("triad", "triad, f64", None, BANDWIDTH),
    by_hand("dot", "dot, f64", None, BANDWIDTH),
    by_hand("stencil", "7-point stencil, f32", EQUAL, TIME),
    by_hand("nbody", "n-body, f32", EQUAL, TIME),
    reduction("sum-float", "sum of 2^24 f32", "triad-float"),
    reduction("sum-double", "sum of 2^24 f64", "triad-double"),
];

const fn native(name: &'static str, title: &'static str) -> Case {
    Case { name, title, reference: Reference::Native, on_virtual: Some(2.5), on_card: None }
}

const fn by_hand(
    name: &'static str,
    title: &'static str,
    on_virtual: Option<f64>,
    on_card: Option<f64>,
) -> Case {
    Case { name, title, reference: Reference::HandWritten, on_virtual, on_card }
}

const fn reduction(name: &'static str, title: &'static str, triad: &'static str) -> Case {
    let wanted = Some(1.5);
    Case { name, title, reference: Reference::Loop(triad), on_virtual: wanted, on_card: wanted }
}

/// One line of the table.
pub struct Row {
    title: &'static str,
    against: String,
    reference: f64,
    ours: f64,
    ratio: f64,
    wanted: Option<f64>,
}

impl Row {
    pub fn passes(&self) -> bool {
        self.wanted.is_none_or(|wanted| self.ratio <= wanted)
    }

    fn cells(&self) -> [String; 7] {
        let result = match (self.wanted, self.passes()) {
            (None, _) => "-",
            (Some(_), true) => "pass",
            (Some(_), false) => "MISS",
        };
        [
            self.title.into(),
            self.against.clone(),
            time(self.reference),
            time(self.ours),
            format!("{:.2}", self.ratio),
            self.wanted.map_or("-".into(), |wanted| format!("{wanted:.2}")),
            result.into(),
        ]
    }
}

/// Measures all cases that are wanted.
pub fn measure(driver: &Driver, programs: &Programs, setting: &Setting) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for case in CASES.iter().filter(|case| setting.wants(case.name)) {
        let (mut ours, mut references) = (Vec::new(), Vec::new());
        for _ in 0..setting.rounds {
            references.push(reference(driver, programs, case)?);
            ours.push(on_device(driver, programs, case.name)?);
        }
        let row = Row {
            title: case.title,
            against: match case.reference {
                Reference::Native => "clang-22 -O3 -march=native".into(),
                Reference::HandWritten => format!("by hand, {}", programs.best_handwritten().1),
                Reference::Loop(_) => "triad of the same arrays".into(),
            },
            reference: median(&references),
            ours: median(&ours),
            ratio: median_ratio(&ours, &references),
            wanted: if driver.is_virtual() { case.on_virtual } else { case.on_card },
        };
        eprintln!("{}", row.cells().join("  "));
        rows.push(row);
    }
    Ok(rows)
}

pub fn render(rows: &[Row]) -> String {
    let head = ["Loop", "Against", "Its time", "Time", "Ratio", "Wanted", "Result"].map(String::from);
    let lines: Vec<_> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    table::render(&lines)
}

fn reference(driver: &Driver, programs: &Programs, case: &Case) -> Result<f64> {
    match case.reference {
        Reference::Native => {
            let mut command = driver.command(&programs.native, Runtime::Gangway);
            // It has no device to be held to.
            best(command.env_remove("OMP_TARGET_OFFLOAD").args([case.name, "host"]))
        }
        Reference::HandWritten => {
            let (kernels, _) = programs.best_handwritten();
            Ok(kernels.run(case.name, driver.folder())?.device)
        }
        Reference::Loop(name) => on_device(driver, programs, name),
    }
}

fn on_device(driver: &Driver, programs: &Programs, case: &str) -> Result<f64> {
    let program: &Path = &programs.kernels;
    driver.verify(program, Runtime::Gangway)?;
    best(driver.command(program, Runtime::Gangway).args([case, "device"]))
}

fn best(command: &mut std::process::Command) -> Result<f64> {
    figure(&output(command)?, "best_ns")
}
