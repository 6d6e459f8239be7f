//! The programs of the suite on the virtual GPU: `cargo test -p gangway-conformance --test vgpu`.
//!
//! Each program is compiled by `gangway cc`, `c++` or `fc` into one executable with an image for
//! CPU devices and one for GPUs. It is run on the CPU devices, then on virtual GPUs, as many as
//! there are CPU devices. Both runs have to end as the header says, and to print the same.
//! `vgpu-expectations.txt` says what is known to be different.
//!
//! Without a filter every fourth test runs, which covers every language and level in a few
//! minutes; `GANGWAY_CONFORMANCE_VGPU=all` runs them all, and so does a filter with what it names.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use gangway_conformance::build::{self, Builder, Built, Devices};
use gangway_conformance::corpus::{self, Program};
use gangway_conformance::execute::{Offload, OffloadLibrary};
use gangway_conformance::expectations::{Expectations, Expected};
use gangway_conformance::header::Reference;
use gangway_conformance::toolchain::{Toolchain, offload_library, release};
use gangway_conformance::verdict::{self, Side};
use libtest_mimic::{Arguments, Failed, Trial};

/// Of how many tests one runs, if all are not asked for.
const SHARE: usize = 4;

/// As many as the CPU back end has, so that programs that number devices print the same.
const VIRTUAL_GPUS: &str = "4";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match trials(&arguments) {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn trials(arguments: &Arguments) -> Result<Vec<Trial>, String> {
    let expectations = Path::new(env!("CARGO_MANIFEST_DIR")).join("vgpu-expectations.txt");
    let suite = Arc::new(Suite::new(Expectations::read(&expectations)?));
    let mut names = Vec::new();
    let mut trials = Vec::new();
    for program in corpus::programs(&corpus::programs_directory())? {
        let program = Arc::new(program);
        for level in program.header.levels.clone() {
            let (suite, program) = (Arc::clone(&suite), Arc::clone(&program));
            let name = format!("{}@{level}", program.name);
            names.push(name.clone());
            let skipped = suite.expectations.of(&program.name, &level, release());
            let skipped = skipped.filter(|(expected, _)| *expected == Expected::NotRun).is_some();
            let test = move || suite.check(&program, &level).map_err(Failed::from);
            trials.push(Trial::test(name, test).with_ignored_flag(skipped));
        }
    }
    let unused = suite.expectations.unused(&names);
    if !unused.is_empty() {
        return Err(format!("{} names tests that do not exist: {unused:?}", expectations.display()));
    }
    let all = env::var_os("GANGWAY_CONFORMANCE_VGPU").is_some_and(|value| value == "all");
    if arguments.filter.is_none() && !all {
        let count = trials.len();
        // Neighbours are the levels of one program, so the step is not a multiple of their number.
        let mut index = 0;
        trials.retain(|_| {
            index += 1;
            (index + index / (2 * SHARE)).is_multiple_of(SHARE)
        });
        eprintln!("{} of {count} tests; GANGWAY_CONFORMANCE_VGPU=all runs the others, too", trials.len());
    }
    Ok(trials)
}

struct Suite {
    toolchain: Toolchain,
    stage: PathBuf,
    expectations: Expectations,
    /// Of the command that compiles the programs.
    version: OnceLock<Result<String, String>>,
}

impl Suite {
    fn new(expectations: Expectations) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = root.canonicalize().unwrap_or(root);
        let stage = env::var_os("GANGWAY_STAGE").map(PathBuf::from);
        Self {
            toolchain: Toolchain::find(),
            stage: stage.unwrap_or_else(|| root.join("build/stage")),
            expectations,
            version: OnceLock::new(),
        }
    }

    fn libraries(&self) -> PathBuf {
        self.stage.join("lib/gangway")
    }

    fn check(&self, program: &Program, level: &str) -> Result<(), String> {
        let command = self.stage.join("bin/gangway");
        let version = self.version.get_or_init(|| build::version_of(&command)).clone();
        let version = version.map_err(|error| format!("{error}: run `cargo xtask stage`"))?;
        let builder = Builder {
            toolchain: &self.toolchain,
            cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance"),
            devices: Devices::All {
                command,
                version,
                files: vec![
                    self.libraries().join("nvptx64-nvidia-cuda/libompdevice.a"),
                    self.libraries().join("libgangway-host-openmp.a"),
                ],
            },
        };
        let expected = self.expectations.of(&program.name, level, release());
        let kind = expected.map(|(expected, _)| expected);
        let done = match builder.build(program, level) {
            Err(_) if matches!(kind, Some(Expected::Refused | Expected::Defect)) => return Ok(()),
            Err(refusal) => return Err(refusal),
            Ok(built) => self.compare(program, &built),
        };
        match (expected, done) {
            (None, done) => done,
            (Some((Expected::Differs | Expected::Defect, _)), Err(_)) => Ok(()),
            (Some((expected, reason)), _) => Err(format!(
                "this works although vgpu-expectations.txt has it as {expected} ({reason}): remove the line"
            )),
        }
    }

    /// Runs the program on CPUs and on GPUs.
    fn compare(&self, program: &Program, built: &Built) -> Result<(), String> {
        let header = &program.header;
        let cpu = self.library("CPU devices", "cpu", None)?.run(header, built, Offload::AsHeaderSays)?;
        let cpu = Side { name: "CPU devices", outcome: &cpu };
        verdict::check_status(cpu, header.status)?;
        verdict::check_not_empty(cpu)?;
        let driver = Some(self.libraries().join("vgpu"));
        let gpu = self.library("virtual GPU", "cuda", driver)?.run(header, built, Offload::AsHeaderSays)?;
        let gpu = Side { name: "virtual GPU", outcome: &gpu };
        verdict::check_status(gpu, header.status)?;
        match header.reference() {
            Reference::Stock => verdict::check_output(cpu, gpu),
            Reference::ExpectedStockDiffers | Reference::ExpectedStockUnusable => {
                let path = program.expected_output();
                let text =
                    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                verdict::check_text("expected", &text, gpu)
            }
        }
    }

    /// Gangway's library, with the devices of one back end.
    fn library(
        &self,
        name: &'static str,
        device: &str,
        driver: Option<PathBuf>,
    ) -> Result<OffloadLibrary, String> {
        let directory = self.libraries();
        if !directory.join(offload_library()).is_file() {
            let file = directory.join(offload_library());
            return Err(format!(
                "{} is missing: run `cargo xtask stage`, or set GANGWAY_STAGE",
                file.display()
            ));
        }
        Ok(OffloadLibrary {
            name,
            directory,
            driver,
            libomp: self.toolchain.stock_libraries()?.to_owned(),
            leaves_no_files: true,
            preloaded: Vec::new(),
            environment: vec![
                ("GANGWAY_DEVICE", OsString::from(device)),
                ("GANGWAY_VGPU_DEVICES", VIRTUAL_GPUS.into()),
            ],
        })
    }
}
