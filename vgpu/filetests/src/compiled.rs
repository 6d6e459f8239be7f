//! C programs that clang-22 compiles for the host and, at several levels of optimisation, for several
//! processors. The PTX must give what the host gets, to the bit.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Failed;

/// The name of each program's kernel; its parameter is the address of its results.
pub const KERNEL: &str = "k";
/// Blocks and threads of the launch: one warp of each block is whole.
pub const GRID: u32 = 2;
pub const BLOCK: u32 = 48;
/// Bytes of dynamic shared memory.
pub const SHARED: u32 = 512;
/// How many 64-bit results it has.
pub const RESULTS: usize = (GRID * BLOCK) as usize;

/// A program, and what it is compiled for.
#[derive(Debug)]
struct Program {
    file: &'static str,
    /// Processors, and the PTX version for each.
    processors: &'static [(u32, u32)],
    levels: &'static [&'static str],
}

const PROGRAMS: &[Program] = &[
    // Computes. Half precision needs sm_53.
    Program {
        file: "mix.c",
        processors: &[(53, 60), (70, 63), (80, 78), (90, 86)],
        levels: &["-O0", "-O1", "-O2", "-O3"],
    },
    // Does what a runtime on the device does. Masks of lanes that run need PTX 6.2.
    Program { file: "device.c", processors: &[(60, 63), (70, 78), (90, 88)], levels: &["-O0", "-O2"] },
];

/// One way to compile a program.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    program: &'static Program,
    processor: u32,
    version: u32,
    pub level: &'static str,
}

/// Whether the compiler is there; says so if not.
#[must_use]
pub fn is_possible() -> bool {
    let clang = Command::new("clang-22").arg("--version").output().is_ok();
    if !clang {
        eprintln!("ignoring the compiled programs: clang-22 is not installed");
    }
    clang
}

pub fn variants() -> impl Iterator<Item = Variant> {
    PROGRAMS.iter().flat_map(|program| {
        program.processors.iter().flat_map(move |&(processor, version)| {
            let levels = program.levels.iter();
            levels.map(move |&level| Variant { program, processor, version, level })
        })
    })
}

impl Variant {
    #[must_use]
    pub fn name(self) -> String {
        format!("{}/sm_{}{}", self.program.file, self.processor, self.level)
    }

    /// The program's text for the device.
    pub fn ptx(self) -> Result<String, Failed> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.ptx").display().to_string();
        let (march, feature) = (format!("-march=sm_{}", self.processor), format!("+ptx{}", self.version));
        let target = ["--target=nvptx64-nvidia-cuda", "-S", self.level, &march];
        let feature = ["-Xclang", "-target-feature", "-Xclang", &feature, "-o", &path];
        // Memory from the stack whose size is only known when the program runs.
        let defined: &[&str] = if self.version >= 73 { &["-DPTX_73"] } else { &[] };
        self.clang(&[&target[..], &feature, defined].concat())?;
        Ok(std::fs::read_to_string(&path)?)
    }

    /// What the host gets.
    fn on_the_host(self) -> Result<Vec<u64>, Failed> {
        let folder = tempfile::tempdir()?;
        let program = folder.path().join("host");
        self.clang(&["-O1", "-o", &program.display().to_string(), "-lm"])?;
        let output = Command::new(&program).output()?;
        let text = String::from_utf8(output.stdout)?;
        text.lines().map(|line| u64::from_str_radix(line, 16).map_err(Failed::from)).collect()
    }

    /// Compares the results of a device with the host's.
    pub fn compare(self, found: &[u64]) -> Result<(), Failed> {
        let expected = self.on_the_host()?;
        let wrong: Vec<usize> =
            (0..RESULTS).filter(|&index| expected.get(index) != found.get(index)).collect();
        let complete = expected.len() == RESULTS && found.len() == RESULTS;
        if wrong.is_empty() && complete {
            return Ok(());
        }
        Err(format!("other results than the host's: {wrong:?}").into())
    }

    fn clang(self, arguments: &[&str]) -> Result<(), Failed> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(self.program.file);
        let mut command = Command::new("clang-22");
        let output = command.args(["-w", "-ffp-contract=off"]).arg(source).args(arguments).output()?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("clang-22 {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into())
    }
}
