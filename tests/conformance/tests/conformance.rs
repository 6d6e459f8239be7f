//! The conformance suite as a test target: `cargo test -p gangway-conformance`.
//!
//! One test per program and optimisation level, named `c/map_to_from@O0`, so the
//! usual filters work. `cpu-expectations.txt` says what is known to be different. Environment:
//!
//! - `GANGWAY_STAGE`: the staged installation to test (default `build/stage`,
//!   which `cargo xtask stage` fills).
//! - `GANGWAY_CONFORMANCE_LLVM`: the release of LLVM whose compilers and stock library are used (default 22).
//! - `GANGWAY_CONFORMANCE_SECONDS`: how long a program may run (default 60).
//! - `GANGWAY_CONFORMANCE_ONLY=stock`: run the programs under the stock library
//!   only. For writing programs; it says nothing about Gangway and says so.
//! - `GANGWAY_CONFORMANCE_PRELOAD`: a sanitizer's runtime, which the programs load first
//!   when they run under Gangway. Its own options reach them, too.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use gangway_conformance::build::{Builder, Built, Devices};
use gangway_conformance::corpus::{self, Program};
use gangway_conformance::execute::{Offload, OffloadLibrary, Outcome};
use gangway_conformance::expectations::{Expectations, Expected};
use gangway_conformance::header::Reference;
use gangway_conformance::toolchain::{Language, Toolchain, offload_library, release};
use gangway_conformance::verdict::{self, Side};
use libtest_mimic::{Arguments, Failed, Trial};

/// The variables from which the runtimes of sanitizers take their options.
const SANITIZER_OPTIONS: [&str; 2] = ["ASAN_OPTIONS", "LSAN_OPTIONS"];

/// The first release of flang that hands words on to the linker of device images (`-Xoffload-linker`): without
/// Gangway's archive for them they do not link, nor does LLVM have what they call.
const LINKS_FORTRAN: u32 = 20;

/// The releases whose library runs flang's programs on CPU devices. That of 23 hands all kernels the list of their
/// arguments, and crashes with flang's, which take the arguments.
const STOCK_RUNS_FORTRAN: std::ops::RangeInclusive<u32> = 19..=22;

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
    let programs = corpus::programs(&corpus::programs_directory())?;
    let expectations = Path::new(env!("CARGO_MANIFEST_DIR")).join("cpu-expectations.txt");
    let suite = Arc::new(Suite::new(Expectations::read(&expectations)?));
    if suite.stock_only && !arguments.list {
        eprintln!(
            "\n*** GANGWAY_CONFORMANCE_ONLY=stock: the programs run under the STOCK library only.\n\
             *** Gangway is NOT tested by this run; a pass means that the programs are sound.\n"
        );
    }
    let (mut trials, mut names) = (Vec::new(), Vec::new());
    for program in programs {
        let program = Arc::new(program);
        for level in program.header.levels.clone() {
            let (suite, program) = (Arc::clone(&suite), Arc::clone(&program));
            let mut name = format!("{}@{level}", program.name);
            names.push(name.clone());
            let expected = suite.expectations.of(&program.name, &level, release());
            let links = program.language != Language::Fortran || release() >= LINKS_FORTRAN;
            let skipped = !links || expected.is_some_and(|(expected, _)| expected == Expected::NotRun);
            if !links {
                name += " (left out: flang does not hand on words to the linker of images)";
            }
            let test = move || suite.check_as_expected(&program, &level).map_err(Failed::from);
            trials.push(Trial::test(name, test).with_ignored_flag(skipped));
        }
    }
    let unused = suite.expectations.unused(&names);
    if !unused.is_empty() {
        return Err(format!("{} names tests that do not exist: {unused:?}", expectations.display()));
    }
    Ok(trials)
}

/// What the tests share.
struct Suite {
    toolchain: Toolchain,
    stage: PathBuf,
    stock_only: bool,
    expectations: Expectations,
    /// What the first level of each program to finish printed under the reference;
    /// the other levels have to print the same.
    printed: Mutex<HashMap<String, (String, Outcome)>>,
}

impl Suite {
    fn new(expectations: Expectations) -> Suite {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = root.canonicalize().unwrap_or(root);
        let stage = env::var_os("GANGWAY_STAGE").map(PathBuf::from);
        Suite {
            toolchain: Toolchain::find(),
            stage: stage.unwrap_or_else(|| root.join("build/stage")),
            stock_only: env::var_os("GANGWAY_CONFORMANCE_ONLY").is_some_and(|only| only == "stock"),
            expectations,
            printed: Mutex::default(),
        }
    }

    /// Refused programs must not compile, others that are expected to fail must compile and differ.
    fn check_as_expected(&self, program: &Program, level: &str) -> Result<(), String> {
        let expected = self.expectations.of(&program.name, level, release());
        let kind = expected.map(|(expected, _)| expected);
        let done = match self.build(program, level) {
            Err(_) if kind == Some(Expected::Refused) => return Ok(()),
            Err(refusal) => return Err(refusal),
            Ok(built) => self.check(program, level, &built),
        };
        match (expected, done) {
            (None, done) => done,
            (Some((Expected::Differs | Expected::Defect, _)), Err(_)) => Ok(()),
            (Some((expected, reason)), _) => Err(format!(
                "this works although cpu-expectations.txt has it as {expected} ({reason}): remove the line"
            )),
        }
    }

    fn build(&self, program: &Program, level: &str) -> Result<Built, String> {
        let builder = Builder {
            toolchain: &self.toolchain,
            cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance"),
            devices: Devices::Cpu {
                archive: self.stage.join("lib/gangway/libgangway-host-openmp.a"),
                command: self.stage.join("bin/gangway"),
                files: vec![self.stage.join("include/gangway/reverse_offload.h")],
            },
        };
        builder.build(program, level)
    }

    fn check(&self, program: &Program, level: &str, built: &Built) -> Result<(), String> {
        let stock = self.check_stock(program, level, built)?;
        if self.stock_only {
            return Ok(());
        }
        self.check_gangway(program, built, stock.as_ref())
    }

    /// Runs the program under the stock library, unless its header says that this
    /// cannot be done. The outcome is there to compare with, unless it is known to be wrong.
    fn check_stock(&self, program: &Program, level: &str, built: &Built) -> Result<Option<Outcome>, String> {
        let header = &program.header;
        if header.reference() == Reference::ExpectedStockUnusable {
            return Ok(None);
        }
        let library = self.stock_library()?;
        if program.language == Language::Fortran && !STOCK_RUNS_FORTRAN.contains(&release()) {
            return self.check_on_host(program, built, &library);
        }
        let outcome = library.run(header, built, Offload::AsHeaderSays)?;
        let side = Side { name: library.name, outcome: &outcome };
        if header.reference() == Reference::ExpectedStockDiffers {
            let expected = read_expected(program)?;
            if outcome.status == header.status && outcome.stdout == expected {
                return Err("the stock library is right after all: remove the `stock:` line".into());
            }
            return Ok(None);
        }
        verdict::check_status(side, header.status)?;
        verdict::check_not_empty(side)?;
        self.check_levels_agree(program, level, &outcome)?;
        if header.equals_host_run {
            let host = library.run(header, built, Offload::Disabled)?;
            verdict::check_output(Side { name: "stock, host only", outcome: &host }, side)?;
        }
        Ok(Some(outcome))
    }

    /// Runs a program on the host, which is what it is compared with where the stock library cannot run it.
    fn check_on_host(
        &self,
        program: &Program,
        built: &Built,
        library: &OffloadLibrary,
    ) -> Result<Option<Outcome>, String> {
        let header = &program.header;
        if header.reference() == Reference::ExpectedStockDiffers {
            return Ok(None);
        }
        let outcome = library.run(header, built, Offload::Disabled)?;
        let side = Side { name: "stock, host only", outcome: &outcome };
        verdict::check_status(side, header.status)?;
        verdict::check_not_empty(side)?;
        Ok(Some(outcome))
    }

    fn check_gangway(&self, program: &Program, built: &Built, stock: Option<&Outcome>) -> Result<(), String> {
        let header = &program.header;
        let library = self.gangway_library()?;
        let outcome = library.run(header, built, Offload::AsHeaderSays)?;
        let side = Side { name: library.name, outcome: &outcome };
        verdict::check_status(side, header.status)?;
        match stock {
            Some(stock) => {
                let stock = Side { name: "stock", outcome: stock };
                verdict::check_output(stock, side)?;
                if let Some(texts) = &header.messages {
                    verdict::check_messages(texts, stock, side)?;
                }
            }
            None => verdict::check_text("expected", &read_expected(program)?, side)?,
        }
        verdict::check_not_empty(side)?;
        if header.equals_host_run {
            let host = library.run(header, built, Offload::Disabled)?;
            verdict::check_output(Side { name: "gangway, host only", outcome: &host }, side)?;
        }
        Ok(())
    }

    /// Programs print the same at every level, or a difference between the
    /// libraries could hide behind one between the levels.
    fn check_levels_agree(&self, program: &Program, level: &str, outcome: &Outcome) -> Result<(), String> {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((other_level, other)) = printed.get(&program.name) else {
            printed.insert(program.name.clone(), (level.to_owned(), outcome.clone()));
            return Ok(());
        };
        let other = Side { name: &format!("stock at {other_level}"), outcome: other };
        verdict::check_output(other, Side { name: &format!("stock at {level}"), outcome })
    }

    fn stock_library(&self) -> Result<OffloadLibrary, String> {
        let directory = self.toolchain.stock_libraries()?.to_owned();
        Ok(OffloadLibrary {
            name: "stock",
            libomp: directory.clone(),
            driver: None,
            directory,
            leaves_no_files: false,
            preloaded: Vec::new(),
            environment: Vec::new(),
            checker: None,
        })
    }

    fn gangway_library(&self) -> Result<OffloadLibrary, String> {
        let directory = self.stage.join("lib/gangway");
        if !directory.join(offload_library()).is_file() {
            return Err(format!(
                "{} is missing: run `cargo xtask stage`, or set GANGWAY_STAGE",
                directory.join(offload_library()).display()
            ));
        }
        Ok(OffloadLibrary {
            name: "gangway",
            directory,
            driver: None,
            libomp: self.toolchain.stock_libraries()?.to_owned(),
            leaves_no_files: true,
            preloaded: env::var_os("GANGWAY_CONFORMANCE_PRELOAD").map(PathBuf::from).into_iter().collect(),
            environment: SANITIZER_OPTIONS
                .iter()
                .filter_map(|name| Some((*name, env::var_os(name)?)))
                .collect(),
            checker: None,
        })
    }
}

fn read_expected(program: &Program) -> Result<String, String> {
    let path = program.expected_output();
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}
