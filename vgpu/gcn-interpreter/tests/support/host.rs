//! Programs that run on a device and on the host.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_commands::Folder;
use gangway_gcn::Gpu;

use crate::generator;
use crate::support::{self, Device, Heap, Size};

/// As `run.h` has it.
const NUMBERS: usize = 4096;
const ITEMS: usize = 160;
const GROUP: u16 = 80;
const WORDS: usize = 512;

/// The levels of optimisation that programs are compiled at.
pub const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

/// Writes a random program and has it compared, on one processor at one level. One that differs is kept.
pub fn random(seed: u64, compare: impl FnOnce(Gpu, &str, &Path) -> Result<(), String>) -> Result<(), String> {
    let folder = Folder::new();
    let source = folder.join("random.c");
    let header = fs::read_to_string(sources().join("run.h")).map_err(|error| error.to_string())?;
    folder.write("run.h", header);
    folder.write("random.c", generator::program(seed));
    let gpu = Gpu::ALL[seed as usize % Gpu::ALL.len()];
    let level = LEVELS[seed as usize / Gpu::ALL.len() % LEVELS.len()];
    compare(gpu, level, &source).map_err(|error| {
        let kept = std::env::temp_dir().join(format!("gangway-random-{seed}.c"));
        let copied = fs::copy(&source, &kept).is_ok();
        format!("{gpu} {level} ({}, {copied}): {error}", kept.display())
    })
}

/// Where a program's numbers and results are on a device.
pub struct Run {
    numbers: Vec<u8>,
    from: u64,
    to: u64,
}

impl Run {
    pub fn new(device: &Device<impl Heap>) -> Self {
        let numbers = numbers(NUMBERS, 0x1234_5678_9abc_def1);
        let numbers: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let (from, to) = (device.buffer(&numbers), device.buffer(&vec![0; 8 * WORDS * ITEMS]));
        Self { numbers, from, to }
    }

    pub fn size(&self) -> Size {
        Size { grid: [ITEMS as u32, 1, 1], group: [GROUP, 1, 1], shared: 0, private: 4096 }
    }

    pub fn arguments(&self) -> [u64; 2] {
        [self.from, self.to]
    }

    /// Runs the program on the host, and compares the results to the bit.
    pub fn compare(&self, device: &Device<impl Heap>, source: &Path) -> Result<(), String> {
        let found = words(&device.read(self.to, 8 * WORDS * ITEMS));
        let expected = on_the_host(source, &self.numbers)?;
        let wrong: Vec<usize> = (0..found.len()).filter(|at| found[*at] != expected[*at]).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let shown = wrong.iter().take(12).map(|at| {
            let (item, word) = (at / WORDS, at % WORDS);
            format!("item {item}, word {word}: {:#x}, the host {:#x}", found[*at], expected[*at])
        });
        Err(format!("{} results differ:\n{}", wrong.len(), shown.collect::<Vec<_>>().join("\n")))
    }
}

fn on_the_host(source: &Path, numbers: &[u8]) -> Result<Vec<u64>, String> {
    let folder = Folder::new();
    let [program, from, to] = ["host", "numbers", "results"].map(|name| folder.join(name));
    fs::write(&from, numbers).map_err(|error| error.to_string())?;
    let (source, output) = (source.display().to_string(), program.display().to_string());
    support::clang(&["-O1", "-w", "-fwrapv", "-ffp-contract=off", &source, "-o", &output, "-lm"])?;
    let status = Command::new(&program).arg(&from).arg(&to).status().map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("the host's program: {status}"));
    }
    Ok(words(&fs::read(&to).map_err(|error| error.to_string())?))
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

/// Where sources of kernels are.
pub fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../gcn-interpreter/tests/programs")
}

/// Numbers that are random, and those at which something changes.
fn numbers(count: usize, mut seed: u64) -> Vec<u64> {
    const EDGES: [u64; 28] = [
        0,
        1,
        2,
        u64::MAX,
        u64::MAX - 1,
        1 << 63,
        (1 << 63) - 1,
        1 << 31,
        (1 << 31) - 1,
        1 << 32,
        u32::MAX as u64,
        0x8000_0001,
        0xffff_ffff_8000_0000,
        0x7f80_0000_7f80_0000,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0x3ff0_0000_3f80_0000,
        0x4330_0000_4b00_0000,
        0x0000_0000_0000_0001,
        0x000f_ffff_007f_ffff,
        0x0010_0000_0080_0000,
        0x7fef_ffff_7f7f_ffff,
        0xbff0_0000_bf80_0000,
        0x8000_0000_8000_0000,
        0x7bff_7c00_3c00_0400,
        0x8000_8001_fc00_7e00,
        0x5555_5555_aaaa_aaaa,
    ];
    (0..count)
        .map(|number| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            match number % 4 {
                0 => EDGES[(seed % EDGES.len() as u64) as usize],
                1 => seed >> (seed & 63),
                _ => seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            }
        })
        .collect()
}
