//! What `map` costs: time and memory of whole processes, on CPU devices and on the virtual GPU, with pages that are
//! closed and with code that tells its accesses.

use std::path::Path;

use anyhow::{Context, Result};
use gangway_bench::process::{figure, output, undisturbed};
use gangway_bench::program::Setting;
use gangway_bench::table::{self, time};

use crate::cases::{Case, Compiler};
use crate::ratios::mib;

/// Where a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    Cpu,
    VirtualGpu,
}

impl Device {
    const ALL: [Self; 2] = [Self::Cpu, Self::VirtualGpu];

    fn option(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::VirtualGpu => "vgpu",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::VirtualGpu => "virtual GPU",
        }
    }
}

/// A form of a program: for a device, and telling its accesses or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    pub device: Device,
    pub tells: bool,
}

impl Form {
    /// All forms that a case has.
    pub fn of(case: &Case) -> impl Iterator<Item = Self> {
        let gcc = case.compiler == Compiler::Gcc;
        let forms =
            Device::ALL.into_iter().flat_map(|device| [false, true].map(|tells| Self { device, tells }));
        forms.filter(move |form| !gcc || (form.device == Device::VirtualGpu && !form.tells))
    }

    /// The name of the program's file.
    pub fn file(self, case: &Case) -> String {
        let device = if self.device == Device::Cpu { "-cpu" } else { "" };
        let tells = if self.tells { "-tells" } else { "" };
        format!("{}{device}{tells}", case.name)
    }
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    ns: f64,
    kib: f64,
}

fn run(tool: &Path, setting: &Setting, case: &Case, form: Form, check: bool) -> Result<Taken> {
    let mut command = undisturbed(tool);
    command.args(["run", "--device", form.device.option()]);
    if check {
        command.arg("--check=map");
    }
    command.arg("--").arg(setting.build.join(form.file(case))).env("GANGWAY_VGPU_WORKERS", "1");
    let text = output(&mut command).with_context(|| form.file(case))?;
    Ok(Taken { ns: figure(&text, "whole_ns")?, kib: figure(&text, "peak_kib")? })
}

fn cells(title: &str, device: Device, without: Taken, pages: Taken, tells: Option<Taken>) -> [String; 8] {
    let ratio = |ratio: f64| format!("{ratio:.2}");
    let told = |of: fn(Taken) -> f64| tells.map_or("-".into(), |taken| ratio(of(taken) / of(without)));
    [
        title.into(),
        device.title().into(),
        time(without.ns),
        ratio(pages.ns / without.ns),
        told(|taken| taken.ns),
        mib(without.kib),
        ratio(pages.kib / without.kib),
        told(|taken| taken.kib),
    ]
}

/// The table.
pub fn measure(tool: &Path, setting: &Setting, cases: &[&Case]) -> Result<String> {
    let head = ["Case", "Device", "Time", "`map`", "tells", "Memory", "`map`", "tells"];
    let mut lines = vec![head.map(String::from)];
    for case in cases {
        for device in Device::ALL {
            let form = |tells| Form { device, tells };
            if !Form::of(case).any(|one| one == form(false)) {
                continue;
            }
            let has_told = Form::of(case).any(|one| one == form(true));
            let mut best = [Taken { ns: f64::INFINITY, kib: f64::INFINITY }; 3];
            for _ in 0..setting.rounds {
                let runs = [(false, false), (false, true), (true, true)].into_iter().zip(&mut best);
                for ((tells, check), best) in runs.filter(|((tells, _), _)| !tells || has_told) {
                    let taken = run(tool, setting, case, form(tells), check)?;
                    *best = Taken { ns: best.ns.min(taken.ns), kib: best.kib.min(taken.kib) };
                }
            }
            let line = cells(case.title, device, best[0], best[1], has_told.then_some(best[2]));
            eprintln!("{}", line.join("  "));
            lines.push(line);
        }
    }
    Ok(table::render(&lines))
}

/// What stands below the table.
pub fn notes() -> &'static str {
    "- Time is the processor's, of the whole process: what prepares and checks the data on the host, nine passes,\n  \
       and compilation. `map` compares contents around each of the passes, so a short kernel on much data pays most.\n\
     - *tells*: the same program through `gangway cc --check=map`, compared with the one that was compiled without.\n\
     - Nothing is found in any of them.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gcc_compiles_for_the_virtual_gpu_alone() {
        let case = |compiler| Case { name: "one", title: "a case", source: "one.c", compiler };
        let files = |case: Case| Form::of(&case).map(|form| form.file(&case)).collect::<Vec<_>>();
        assert_eq!(files(case(Compiler::Gcc)), ["one"]);
        assert_eq!(files(case(Compiler::Gangway)), ["one-cpu", "one-cpu-tells", "one", "one-tells"]);
    }

    #[test]
    fn figures_are_multiples_of_the_plain_program() {
        let taken = |ns, kib| Taken { ns, kib };
        let cells = cells("a case", Device::Cpu, taken(1e6, 1024.0), taken(3e6, 2048.0), None);
        assert_eq!(cells[1..], ["CPU", "1.00 ms", "3.00", "-", "1 MiB", "2.00", "-"]);
    }
}
