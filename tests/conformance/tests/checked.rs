//! The programs of the suite under the checks of `gangway run`: `cargo test -p gangway-conformance --test checked`.
//!
//! Each program is compiled as for `tests/vgpu.rs`; at levels above `O0` with `--check=map`, so that each byte counts that
//! the host reads. It is run on virtual GPUs with `--check=all`. It has to end as its header says, to print what it
//! prints on CPU devices, and nothing may be found. `checked.txt` has what is known to be found, and why.
//!
//! Without a filter every fortieth test runs; `GANGWAY_CONFORMANCE_CHECKED=all` runs them all, and so does a filter with what it
//! names. `GANGWAY_CONFORMANCE_CHECKS=race` looks for less, and passes over lines of `checked.txt` that are about other checks.

use std::env;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use gangway_checked::{Entry, Kind, Known, found, judge};
use gangway_conformance::build::Built;
use gangway_conformance::corpus::{self, Program};
use gangway_conformance::execute::{Checker, Offload};
use gangway_conformance::expectations::Expectations;
use gangway_conformance::toolchain::release;
use gangway_conformance::verdict::Side;
use gangway_conformance::vgpu::{Installation, Target};
use libtest_mimic::{Arguments, Failed, Trial};

/// Of how many tests one runs, if all are not asked for.
const SHARE: usize = 40;

/// How many times as long as without checks a program may take.
const PATIENCE: u32 = 5;

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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let on_gpus = Expectations::read(&folder.join(Target::NVIDIA.expectations))?;
    let suite = Arc::new(Suite {
        installation: Installation::find(env!("CARGO_TARGET_TMPDIR"), Target::NVIDIA),
        known: Known::read(&folder.join("checked.txt"))?,
        checks: env::var("GANGWAY_CONFORMANCE_CHECKS").unwrap_or_else(|_| "all".to_owned()),
    });
    let mut names = Vec::new();
    let mut trials = Vec::new();
    for program in corpus::programs(&corpus::programs_directory())? {
        let program = Arc::new(program);
        for level in program.header.levels.clone() {
            // What does not work without checks is no concern of theirs.
            if on_gpus.of(&program.name, &level, release()).is_some() {
                continue;
            }
            let (suite, program) = (Arc::clone(&suite), Arc::clone(&program));
            let name = format!("{}@{level}", program.name);
            names.extend([name.clone(), program.name.clone()]);
            let slow = suite.known_of(&program, &level).iter().any(|entry| entry.kind == Kind::Slow);
            let test = move || suite.check(&program, &level).map_err(Failed::from);
            trials.push(Trial::test(name, test).with_ignored_flag(slow));
        }
    }
    let unused = suite.known.unused(&names);
    if !unused.is_empty() {
        return Err(format!("checked.txt names tests that do not exist: {unused:?}"));
    }
    let all = env::var_os("GANGWAY_CONFORMANCE_CHECKED").is_some_and(|value| value == "all");
    if arguments.filter.is_none() && !all {
        let count = trials.len();
        // Neighbours are the levels of one program, so the step is not a multiple of their number.
        let mut index = 0;
        trials.retain(|_| {
            index += 1;
            (index + index / (2 * SHARE)).is_multiple_of(SHARE)
        });
        eprintln!("{} of {count} tests; GANGWAY_CONFORMANCE_CHECKED=all runs the others, too", trials.len());
    }
    Ok(trials)
}

struct Suite {
    installation: Installation,
    known: Known,
    /// As `--check` names them.
    checks: String,
}

impl Suite {
    fn known_of(&self, program: &Program, level: &str) -> Vec<&Entry> {
        let mut known = self.known.of(&[&program.name, &format!("{}@{level}", program.name)]);
        known.retain(|entry| entry.is_of(&self.checks));
        known
    }

    fn check(&self, program: &Program, level: &str) -> Result<(), String> {
        let built = self.installation.build(program, level, level != "O0" && !program.header.plain)?;
        let known = self.known_of(program, level);
        let differs = known.iter().find(|entry| entry.kind == Kind::Differs);
        match (self.run(program, &built, &known), differs) {
            (done, None) => done,
            (Err(_), Some(_)) => Ok(()),
            (Ok(()), Some(Entry { reason, .. })) => {
                Err(format!("it does not differ although checked.txt says so ({reason}): remove the line"))
            }
        }
    }

    fn run(&self, program: &Program, built: &Built, known: &[&Entry]) -> Result<(), String> {
        let cpu = self.installation.run_on_cpus(program, built)?;
        let mut gpus = self.installation.virtual_gpus()?;
        let (gangway, checks) = (self.installation.command(), self.checks.clone());
        gpus.checker = Some(Checker { gangway, checks, patience: PATIENCE });
        let gpu = gpus.run(&program.header, built, Offload::AsHeaderSays)?;
        self.installation.compare(program, &cpu, Side { name: gpus.name, outcome: &gpu })?;
        let found = found(gpu.findings.as_deref().unwrap_or_default())?;
        judge(known, &found).map_err(|error| format!("{error}\n--- stderr\n{}", gpu.stderr))
    }
}
