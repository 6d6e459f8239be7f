//! What a kernel costs on the virtual GPU, against the same C code run natively on
//! the same cores in the same process.
//!
//! `make bench-vgpu` calls it. It compiles `benches/vgpu/` with the stock compilers,
//! runs every case for several rounds, prints a table of medians and ratios, and
//! writes `docs/benchmarks-vgpu.md`. `compare.c` checks the results; a wrong one ends
//! the benchmark, and so does a loop of `loops.c` that gives another sum than on the host.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use gangway_bench::handwritten::{HandWritten, NATIVE, STRICT};
use gangway_bench::process::{compile, figure, output, undisturbed};
use gangway_bench::program::{self, Found, Program, Setting};
use gangway_bench::statistics::{median, median_ratio};
use gangway_bench::table::{self, time};

const PROGRAM: Program = Program {
    name: "gangway-bench-vgpu",
    about: "Measure the virtual GPU against native code",
    rounds: "5",
    page: "docs/benchmarks-vgpu.md",
    head: HEAD,
    example: "nbody",
};

/// What it has besides.
#[derive(Args)]
struct Options {
    /// Folder with Gangway's libcuda.so.1.
    #[arg(long, default_value = "build/stage/lib/gangway/vgpu")]
    library: PathBuf,
}

/// A kernel of `kernels.c`, its name for people, and the largest ratio that passes.
const KERNELS: &[(&str, &str, f64)] = &[
    ("triad", "triad, f64", 3.0),
    ("dot", "dot, f64", 3.0),
    ("stencil", "7-point stencil, f32", 3.0),
    ("nbody", "n-body, f32", 3.0),
    ("matmul", "matrix product in shared-memory tiles, f32", 5.0),
    ("walks", "Monte Carlo, divergent loop", 10.0),
    ("histogram", "histogram with atomics", 10.0),
];

/// A loop of `loops.c`, and the largest ratios that pass: with clang, and with GCC if that compiles it.
const LOOPS: &[(&str, f64, Option<f64>)] = &[
    ("triad", 1.1, Some(1.3)),
    ("saxpy", 1.1, Some(1.3)),
    ("dot", 1.1, Some(1.3)),
    ("largest", 1.1, Some(1.3)),
    ("stencil", 1.1, Some(1.3)),
    ("flattened", 1.1, Some(1.3)),
    ("jacobi", 1.1, Some(1.3)),
    ("transpose", 1.1, Some(1.3)),
    ("nbody", 1.1, Some(1.3)),
    ("matmul", 1.1, Some(1.3)),
    ("montecarlo", 1.1, Some(1.3)),
    ("walks", 1.1, Some(1.3)),
    ("mandelbrot", 1.1, Some(1.3)),
    ("sparse", 1.1, Some(1.3)),
    ("gather", 1.1, Some(1.3)),
    ("options", 1.1, Some(1.3)),
    ("waves", 1.1, Some(1.3)),
    ("nearest", 1.1, Some(1.3)),
    ("histogram", 2.0, None),
    ("atomics", 2.0, Some(2.0)),
];

/// Launches per measured time of the case `empty`.
const LAUNCHES: f64 = 1000.0;

/// One line of the report: a figure, what it is held against, and its bar.
struct Row {
    title: String,
    native: Option<f64>,
    device: f64,
    /// The ratio, or the figure itself where there is nothing native.
    figure: f64,
    wanted: f64,
}

impl Row {
    fn passes(&self) -> bool {
        self.figure <= self.wanted
    }

    fn cells(&self) -> [String; 6] {
        let (native, ratio, wanted) = match self.native {
            Some(native) => (time(native), format!("{:.2}", self.figure), self.wanted.to_string()),
            None => ("-".into(), "-".into(), time(self.wanted)),
        };
        let result = if self.passes() { "pass" } else { "MISS" };
        [self.title.clone(), native, time(self.device), ratio, wanted, result.into()]
    }
}

fn main() -> ExitCode {
    program::main(&PROGRAM, measure)
}

fn measure(setting: &Setting, options: &Options) -> Result<Found> {
    let bench = Bench::build(setting, &setting.root.join(&options.library))?;
    let mut rows = Vec::new();
    let mut add = |row: Row| {
        eprintln!("{:<44} {}", row.title, row.cells()[2..4].join("  "));
        rows.push(row);
    };
    for &(name, title, wanted) in KERNELS.iter().filter(|kernel| setting.wants(kernel.0)) {
        let (native, device) = bench.kernel(name, setting.rounds)?;
        let figure = median_ratio(&device, &native);
        let (native, device) = (Some(median(&native)), median(&device));
        add(Row { title: title.into(), native, device, figure, wanted });
    }
    for &(name, clang, gcc) in LOOPS.iter().filter(|one| setting.wants(&format!("loop {}", one.0))) {
        let bars = [("clang", Some(clang)), ("gcc", gcc)];
        for (compiler, wanted) in bars.iter().filter_map(|&(compiler, wanted)| Some((compiler, wanted?))) {
            let (native, device) = bench.a_loop(name, compiler, setting.rounds)?;
            let figure = median(&device) / median(&native);
            let (native, device) = (Some(median(&native)), median(&device));
            add(Row { title: format!("loop {name}, {compiler}"), native, device, figure, wanted });
        }
    }
    if setting.wants("empty") {
        let (_, device) = bench.kernel("empty", setting.rounds)?;
        let device = median(&device) / LAUNCHES;
        let title = "empty launch and synchronise".into();
        add(Row { title, native: None, device, figure: device, wanted: 5e3 });
    }
    if setting.wants("first launch") {
        for (title, cold, wanted) in [("cold", true, 150e6), ("warm cache", false, 40e6)] {
            let device = median(&bench.first_launch(cold, setting.rounds)?);
            let title = format!("GCC OpenMP program, start to first kernel done, {title}");
            add(Row { title, native: None, device, figure: device, wanted });
        }
    }
    if rows.is_empty() {
        return Ok(Found::default());
    }
    let head = ["Case", "Native", "Virtual GPU", "Ratio", "Wanted", "Result"].map(String::from);
    let lines: Vec<_> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    let shown = table::render(&lines);
    let below = below(&shown, setting.rounds);
    Ok(Found { shown, below, passes: rows.iter().all(Row::passes), ..Found::default() })
}

/// The compiled programs.
struct Bench {
    folder: PathBuf,
    library: PathBuf,
    kernels: HandWritten,
}

impl Bench {
    fn build(setting: &Setting, library: &Path) -> Result<Bench> {
        if !library.join("libcuda.so.1").is_file() {
            bail!("there is no libcuda.so.1 in {}: run `make build`", library.display());
        }
        let (root, folder) = (&setting.root, setting.build.clone());
        let sources = root.join("benches/vgpu");
        let kernels = HandWritten::build(root, &folder)?;
        compile(gangway_compilers::gcc(), &sources.join("first.c"), &folder.join("first"), |command| {
            command.args(["-O2", "-fopenmp", "-foffload=nvptx-none", "-foffload=-O2"])
        })?;
        let loops = sources.join("loops.c");
        compile(Command::new("clang-22"), &loops, &folder.join("loops-host"), |command| {
            command.args(STRICT).args(NATIVE)
        })?;
        compile(
            Command::new(installed(library, "gangway-cc")),
            &loops,
            &folder.join("loops-clang"),
            |command| command.args(["-O3", "-DDEVICE", "-fopenmp", "--offload-arch=sm_80", "-lm"]),
        )?;
        compile(gangway_compilers::gcc(), &loops, &folder.join("loops-gcc"), |command| {
            command.args(["-O3", "-DDEVICE", "-fopenmp", "-foffload=nvptx-none", "-foffload=-O3 -lm", "-lm"])
        })?;
        Ok(Bench { folder, library: library.to_owned(), kernels })
    }

    /// Nanoseconds natively and on the virtual GPU, one of each per round.
    fn kernel(&self, name: &str, rounds: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let (mut native, mut device) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let times = self.kernels.run(name, Some(&self.library))?;
            native.push(times.native);
            device.push(times.device);
        }
        Ok((native, device))
    }

    /// Nanoseconds of all threads' processor time natively and on the virtual GPU, one of each per round.
    fn a_loop(&self, name: &str, compiler: &str, rounds: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let (mut native, mut device) = (Vec::new(), Vec::new());
        let run = |command: &mut Command| {
            // Threads that look for work are not to be measured.
            command.arg(name).env("OMP_WAIT_POLICY", "passive").env("KMP_BLOCKTIME", "0");
            let text = output(command)?;
            Ok::<_, anyhow::Error>((figure(&text, "best_ns")?, figure(&text, "sum")?))
        };
        let tier = std::env::var_os("GANGWAY_VGPU_TIER").unwrap_or_else(|| "llvm".into());
        for _ in 0..rounds {
            let mut host = undisturbed(&self.folder.join("loops-host"));
            let (time, wanted) = run(host.env("OMP_TARGET_OFFLOAD", "DISABLED"))?;
            native.push(time);
            let mut command = undisturbed(&installed(&self.library, "gangway"));
            command
                .args(["run", "--device", "vgpu", "--"])
                .arg(self.folder.join(format!("loops-{compiler}")));
            let (time, sum) = run(command.env("GANGWAY_VGPU_TIER", &tier))?;
            device.push(time);
            if (sum - wanted).abs() > 1e-6 * wanted.abs() {
                bail!("{name} with {compiler}: the sum is {sum}, and {wanted} on the host");
            }
        }
        Ok((native, device))
    }

    /// Nanoseconds from the start of a process to its end, which comes right after its
    /// first kernel.
    fn first_launch(&self, cold: bool, rounds: usize) -> Result<Vec<f64>> {
        let cache = self.folder.join("cache");
        let mut times = Vec::new();
        // The first run of the warm ones fills the cache and is not counted.
        for round in 0..=rounds {
            if cold {
                let _ = std::fs::remove_dir_all(&cache);
            }
            let mut command = Command::new(self.folder.join("first"));
            command.env("LD_LIBRARY_PATH", &self.library);
            command.env("GANGWAY_VGPU_CACHE", &cache).env("OMP_TARGET_OFFLOAD", "MANDATORY");
            let start = Instant::now();
            output(&mut command)?;
            if round > 0 {
                times.push(start.elapsed().as_nanos() as f64);
            }
        }
        Ok(times)
    }
}

/// A command in the installation that a driver's folder is part of.
fn installed(library: &Path, name: &str) -> PathBuf {
    library.ancestors().nth(3).unwrap_or(library).join("bin").join(name)
}

const HEAD: &str = "# Benchmarks of the virtual GPU\n\n\
    Kernels on the virtual GPU against the same C code compiled with `-O3 -march=native\n\
    -fopenmp`, on the same cores in the same process. `make bench-vgpu` writes this file.\n\n";

/// What stands below the facts of `docs/benchmarks-vgpu.md`.
fn below(table: &str, rounds: usize) -> String {
    format!(
        "{table}\n\
         ## How to read it\n\n\
         - Ratio is virtual GPU / native time: smaller is better. Each process runs one\n  \
           seven times and, when OpenMP's threads have gone to sleep, the other seven times; the best time of\n  \
           each counts, and the figures are medians of {rounds} processes.\n\
         - Results are compared in every process.\n\
         - Loops are OpenMP's, as users write them (`benches/vgpu/loops.c`): the least processor time of all threads in nine\n  \
           runs, with what `GANGWAY_VGPU_TIER` says, or LLVM; medians of {rounds} processes.\n\
         - What `GANGWAY_VGPU_TIER=llvm` changes is in [benchmarks-vgpu-llvm.md](benchmarks-vgpu-llvm.md).\n\
         - A GCC program's first launch is the life of a whole process: start of the program,\n  \
           loading and linking its image, one `target` region, exit.\n",
    )
}
