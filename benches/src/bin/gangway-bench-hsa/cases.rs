//! What is measured, and what it has to come to.

use std::time::Instant;

use anyhow::Result;
use gangway_bench::process::{Calls, calls, figure, output};
use gangway_bench::program::Setting;
use gangway_bench::statistics::{median, median_ratio};
use gangway_bench::table::time;
use gangway_bench::verdict::Verdict;

use crate::programs::{Maker, Programs, Runtime};

/// What a case is about.
enum Kind {
    /// Time of a region without its kernel, as a part of stock's.
    Region(f64),
    /// Memory that is allocated for a region.
    Allocations,
    /// A kernel's time, as a multiple of the same source's on the other virtual GPU.
    Kernel(f64),
    /// Nanoseconds of a process with one small region.
    First(f64),
}

struct Case {
    name: &'static str,
    title: &'static str,
    /// A case of `regions.c`, or a source.
    subject: &'static str,
    kind: Kind,
}

const fn case(name: &'static str, title: &'static str, subject: &'static str, kind: Kind) -> Case {
    Case { name, title, subject, kind }
}

const REGION: Kind = Kind::Region(0.1);
const KERNEL: Kind = Kind::Kernel(1.3);

const CASES: &[Case] = &[
    case("allocations-1", "allocations, region, 1 present map", "present-1", Kind::Allocations),
    case("allocations-20", "allocations, region, 20 present maps", "present-20", Kind::Allocations),
    case("present-1", "region, 1 present map", "present-1", REGION),
    case("present-5", "region, 5 present maps", "present-5", REGION),
    case("present-20", "region, 20 present maps", "present-20", REGION),
    case("stencil", "five-point stencil, f64", "openacc/stencil_omp.c", KERNEL),
    case("dot", "dot product, f64", "checks/dot_omp.c", KERNEL),
    case("nbody", "n-body, f32", "openacc/nbody_omp.c", KERNEL),
    case("matmul", "matrix product, f32", "openacc/matmul_omp.c", KERNEL),
    case("first", "start of a program to its end, one small region", "vgpu/first.c", Kind::First(100e6)),
];

/// Measures all cases whose name contains `only`.
pub fn measure(programs: &Programs, setting: &Setting) -> Result<Vec<Verdict>> {
    let mut rows = Vec::new();
    for case in CASES.iter().filter(|case| setting.wants(case.name)) {
        let row = case.measure(programs, setting)?;
        eprintln!("{}", row.cells().join("  "));
        rows.push(row);
    }
    Ok(rows)
}

impl Case {
    fn measure(&self, programs: &Programs, setting: &Setting) -> Result<Verdict> {
        match self.kind {
            Kind::Region(wanted) => self.region(programs, setting.rounds, wanted),
            Kind::Allocations => self.allocations(programs),
            Kind::Kernel(wanted) => self.kernel(programs, wanted),
            Kind::First(wanted) => self.first(programs, setting, wanted),
        }
    }

    fn region(&self, programs: &Programs, rounds: usize, wanted: f64) -> Result<Verdict> {
        let (mut stock, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            stock.push(figure(&programs.region(self.subject, Runtime::Stock)?, "best_ns")?);
            ours.push(figure(&programs.region(self.subject, Runtime::Gangway)?, "best_ns")?);
        }
        let ratio = median_ratio(&ours, &stock);
        let (stock, ours) = (format!("libgomp {}", time(median(&stock))), time(median(&ours)));
        Ok(self.row(stock, ours, format!("{ratio:.2}"), format!("{wanted:.2}"), ratio <= wanted))
    }

    fn allocations(&self, programs: &Programs) -> Result<Verdict> {
        let count = |runtime| -> Result<f64> {
            let calls: Calls = calls(&programs.region(self.subject, runtime)?)?;
            let allocations = ["hsa_memory_allocate", "hsa_amd_memory_pool_allocate"];
            Ok(allocations.iter().filter_map(|name| calls.get(*name)).fold(0.0, |sum, count| sum + count))
        };
        let (stock, ours) = (count(Runtime::Stock)?, count(Runtime::Gangway)?);
        // What happens now and then counts as nothing.
        let passes = ours <= 0.01;
        Ok(self.row(
            format!("libgomp {stock:.2}"),
            format!("{ours:.2}"),
            format!("{ours:.2}"),
            "0".into(),
            passes,
        ))
    }

    /// One process each: the best of its passes counts.
    fn kernel(&self, programs: &Programs, wanted: f64) -> Result<Verdict> {
        let best = |maker| figure(&output(&mut programs.of_clang(self.subject, maker))?, "best_ns");
        let (nvidia, amd) = (best(Maker::Nvidia)?, best(Maker::Amd)?);
        let ratio = amd / nvidia;
        let figures = (format!("{ratio:.2}"), format!("{wanted:.2}"));
        Ok(self.row(format!("sm_80 {}", time(nvidia)), time(amd), figures.0, figures.1, ratio <= wanted))
    }

    fn first(&self, programs: &Programs, setting: &Setting, wanted: f64) -> Result<Verdict> {
        let cache = setting.build.join("cache");
        let measured = |maker| -> Result<f64> {
            let mut times = Vec::new();
            for _ in 0..setting.rounds {
                // Nothing is kept from one to the next.
                let _ = std::fs::remove_dir_all(&cache);
                let mut command = programs.of_clang(self.subject, maker);
                command.env("GANGWAY_VGPU_CACHE", &cache);
                let start = Instant::now();
                output(&mut command)?;
                times.push(start.elapsed().as_nanos() as f64);
            }
            Ok(median(&times))
        };
        let (nvidia, amd) = (measured(Maker::Nvidia)?, measured(Maker::Amd)?);
        Ok(self.row(format!("sm_80 {}", time(nvidia)), time(amd), time(amd), time(wanted), amd <= wanted))
    }

    fn row(&self, theirs: String, ours: String, figure: String, wanted: String, passes: bool) -> Verdict {
        Verdict { title: self.title.into(), theirs, ours, figure, wanted, passes }
    }
}
