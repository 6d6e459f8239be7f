//! The programs of the suite on the virtual GPU: `cargo test -p gangway-conformance --test vgpu`.
//!
//! Each program is compiled by `gangway cc`, `c++` or `fc` into one executable with an image for
//! CPU devices and one for GPUs. It is run on the CPU devices, then on virtual GPUs, as many as
//! there are CPU devices. Both runs have to end as the header says, and to print the same.
//! `vgpu-expectations.txt` says what is known to be different.
//!
//! With `GANGWAY_CONFORMANCE_GPU=gfx90a` (or `gfx906`) the programs of C and C++ are compiled for, and run on, virtual
//! AMD GPUs; `amd-expectations.txt` is their list (`make conformance-amd`).
//!
//! Without a filter every fourth test runs (of AMD's every twelfth), which covers every language and level in a few
//! minutes; `GANGWAY_CONFORMANCE_VGPU=all` runs them all, and so does a filter with what it names.

use std::env;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use gangway_conformance::build::Built;
use gangway_conformance::corpus::{self, Program};
use gangway_conformance::execute::Offload;
use gangway_conformance::expectations::{Expectations, Expected};
use gangway_conformance::toolchain::release;
use gangway_conformance::verdict::Side;
use gangway_conformance::vgpu::{Installation, Target};
use libtest_mimic::{Arguments, Failed, Trial};

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
    let target = Target::wanted()?;
    let expectations = Path::new(env!("CARGO_MANIFEST_DIR")).join(target.expectations);
    let suite = Arc::new(Suite {
        installation: Installation::find(env!("CARGO_TARGET_TMPDIR"), target),
        expectations: Expectations::read(&expectations)?,
        target,
    });
    let mut names = Vec::new();
    let mut trials = Vec::new();
    let programs = corpus::programs(&corpus::programs_directory())?;
    for program in programs {
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
            (index + index / (2 * target.share)).is_multiple_of(target.share)
        });
        eprintln!("{} of {count} tests; GANGWAY_CONFORMANCE_VGPU=all runs the others, too", trials.len());
    }
    Ok(trials)
}

struct Suite {
    target: Target,
    installation: Installation,
    expectations: Expectations,
}

impl Suite {
    fn check(&self, program: &Program, level: &str) -> Result<(), String> {
        let expected = self.expectations.of(&program.name, level, release());
        let kind = expected.map(|(expected, _)| expected);
        let done = match self.installation.build(program, level, false) {
            Err(_) if matches!(kind, Some(Expected::Refused | Expected::Defect)) => return Ok(()),
            Err(refusal) => return Err(refusal),
            Ok(built) => self.compare(program, &built),
        };
        match (expected, done) {
            (None, done) => done,
            (Some((Expected::Differs | Expected::Defect, _)), Err(_)) => Ok(()),
            (Some((expected, reason)), _) => Err(format!(
                "this works although {} has it as {expected} ({reason}): remove the line",
                self.target.expectations
            )),
        }
    }

    /// Runs the program on CPUs and on GPUs.
    fn compare(&self, program: &Program, built: &Built) -> Result<(), String> {
        let cpu = self.installation.run_on_cpus(program, built)?;
        let gpus = self.installation.virtual_gpus()?;
        let gpu = gpus.run(&program.header, built, Offload::AsHeaderSays)?;
        self.installation.compare(program, &cpu, Side { name: gpus.name, outcome: &gpu })
    }
}
