//! Runs libgomp's own testsuite on the virtual GPU: its acceptance suite.
//!
//! Stock gcc builds the tests, stock libgomp runs them, and only `libcuda.so.1` is ours; or
//! Gangway's front end for GCC is, too, and stands before libgomp. Or `gangway cc` compiles OpenACC's tests
//! in C and C++ with clang, and nothing is libgomp's but the tests. The steps: unpack the tests (`sources`), find those that offload and
//! read their directives (`catalogue`, with `directive`, `selector`, `plan`),
//! build and run them (`schedule`, with `compile`, `execute`, `verdict`), compare
//! with the committed lists (`rules`) and write the tables (`report`).
//!
//! | Module | What is in it |
//! |---|---|
//! | `arguments` | the command line |
//! | `process` | compilers and tests, with a limit of time |
//! | `sources` | the testsuite, unpacked |
//! | `suite` | the folders of the testsuite |
//! | `tcl` | words as Tcl splits them |
//! | `pattern` | patterns of `dg-output` |
//! | `directive` | `{ dg-... }` in the text of a test |
//! | `selector` | the selectors of the directives |
//! | `target` | what holds on this machine |
//! | `plan` | what is done with a test |
//! | `catalogue` | which tests there are |
//! | `compile` | builds tests |
//! | `execute` | runs a test |
//! | `verdict` | whether it passed |
//! | `record` | what came of each test |
//! | `rules` | the committed lists |
//! | `report` | the tables of a run |
//! | `schedule` | builds and runs many tests at once |

mod arguments;
mod catalogue;
mod compile;
mod directive;
mod execute;
mod pattern;
mod plan;
mod process;
mod record;
mod report;
mod rules;
mod schedule;
mod selector;
mod sources;
mod suite;
mod target;
mod tcl;
mod verdict;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::RwLock;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use sha2::{Digest, Sha256};

use gangway_checked::Known;

use arguments::{Arguments, Device, FrontEnd};
use catalogue::Test;
use compile::Compiler;
use execute::Runner;
use plan::Decision;
use record::Record;
use report::Report;
use rules::Rules;
use schedule::Bench;
use suite::{Language, Model};

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Does what the command line says; whether all went as expected.
fn run(arguments: &Arguments) -> Result<bool> {
    process::without_core_files();
    ensure!(
        arguments.device != Device::Amd || arguments.front_end != FrontEnd::Clang,
        "`gangway cc` makes no code of OpenACC's for AMD's GPUs"
    );
    let folder = arguments.folder();
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let build = folder.canonicalize()?;
    let sources = sources::unpacked(&build, arguments.release)?;
    let mut tests = catalogue::tests(&sources, arguments.device)?;
    let mode = arguments.mode();
    let suffix = mode.suffix();
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rules = Rules::read(crate_folder, mode.lists(), mode.exceptions(), arguments.release)?;
    rules.check(&tests, arguments.release)?;
    let known = match arguments.check {
        Some(_) => Known::read(&crate_folder.join(mode.known())).map_err(anyhow::Error::msg)?,
        None => Known::default(),
    };
    let names = |test: &Test| [test.name.clone(), test.id().replace(' ', "@")];
    let unused = known.unused(&tests.iter().flat_map(names).collect::<Vec<_>>());
    ensure!(unused.is_empty(), "{} names tests that do not exist: {unused:?}", mode.known());
    for test in &mut tests {
        let options = rules.options(test, arguments.device);
        let (output, fails) = (rules.output(test).map(str::to_owned), rules.has_to_fail(test));
        if let Decision::Run(plan) = &mut test.decision {
            if output.is_some() {
                ensure!(plan.output.is_some(), "exceptions: {} expects no output of its own", test.name);
                plan.output = output;
                plan.should_fail |= fails;
            }
            plan.options.extend(options.iter().map(|option| (*option).to_owned()));
        }
    }

    let record = Record::open(&build.join(format!("results{suffix}.jsonl")))?;
    let is_compiled = |test: &Test| {
        arguments.front_end != FrontEnd::Clang
            || test.suite.model == Model::OpenAcc && test.suite.language != Language::Fortran
    };
    tests.retain(|test| is_compiled(test) && wanted(arguments, &record, test));
    ensure!(!tests.is_empty(), "no test is left to run");
    if arguments.list {
        tests.iter().for_each(list);
        return Ok(true);
    }

    let libraries = build.join("lib");
    // Without a driver, where tests run without devices.
    let for_programs = match arguments.device {
        Device::Nvidia => libraries.clone(),
        Device::Amd => build.join("lib-amd"),
        Device::Host => build.join("lib-host"),
    };
    let mut driver = String::new();
    let mut preloaded = None;
    if !arguments.compile_only {
        let folder = if arguments.device == Device::Amd { &for_programs } else { &libraries };
        driver = lay_out(&arguments.driver(), folder, arguments.device.library())?;
        link(folder, arguments.device.library())?;
        if arguments.front_end == FrontEnd::Gangway {
            let name = "libgangway-gomp.so";
            driver += &lay_out(&arguments.library, &for_programs, name)?;
            // It leads to this one, which it looks for beside itself.
            let behind = "libomptarget.so.22.1";
            driver += &lay_out(&arguments.library.with_file_name(behind), &for_programs, behind)?;
            preloaded = Some(for_programs.join(name));
        }
        if arguments.front_end == FrontEnd::Clang || arguments.check.is_some() {
            let library = arguments.library.with_file_name("libomptarget.so.22.1");
            driver += &digest(&fs::read(&library).with_context(|| library.display().to_string())?);
        }
    }
    let failures = build.join(format!("failures{suffix}"));
    fs::create_dir_all(&failures)?;
    let compiler = match arguments.front_end {
        FrontEnd::Stock | FrontEnd::Gangway => {
            Compiler::gcc(arguments.release, arguments.device, &sources, &build, &libraries)?
        }
        FrontEnd::Clang => {
            Compiler::clang(&arguments.gangway, arguments.device, &sources, &build, &libraries)?
        }
    };
    let gangway = std::path::absolute(&arguments.gangway)?;
    let time_limit = arguments.time_limit;
    let checks = arguments.check.clone();
    let runner = Runner { libraries: for_programs, preloaded, gangway, sources, time_limit, checks, mode };
    let runner = (!arguments.compile_only).then_some(runner);
    let (resume, running) = (arguments.resume, RwLock::default());
    let bench = Bench { compiler, runner, rules, known, record, driver, failures, resume, running };
    let jobs = arguments.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let entries = schedule::run(&bench, &tests, jobs)?;

    let report = Report::new(&tests, &entries, &bench.rules);
    fs::write(build.join(format!("report{suffix}.md")), report.markdown())?;
    fs::write(build.join(format!("report{suffix}.txt")), report.plain(false))?;
    print!("{}", report.plain(true));
    println!(
        "\nmore in {0}/report{suffix}.md, {0}/report{suffix}.txt and {0}/failures{suffix}",
        folder.display()
    );
    println!("{}", report.result_line());
    Ok(report.as_expected())
}

/// Whether the command line asks for the test.
fn wanted(arguments: &Arguments, record: &Record, test: &Test) -> bool {
    let id = test.id();
    let failed = || record.earlier(&id).is_some_and(|entry| entry.verdict.is_failure());
    (arguments.filter.is_empty() || arguments.filter.iter().any(|filter| filter.is_match(&id)))
        && !arguments.except.iter().any(|except| except.is_match(&id))
        && (!arguments.tenth || test.in_tenth())
        && (!arguments.retry_failures || failed())
}

fn list(test: &Test) {
    match &test.decision {
        Decision::Run(plan) => {
            let fails = if plan.should_fail { ", has to fail" } else { "" };
            println!("{}: {}{fails}", test.id(), plan.options.join(" "));
        }
        Decision::Skip(reason) => println!("{}: not run: {reason}", test.id()),
    }
}

/// Copies a library under the name that programs look for, so that building a new one does
/// not disturb a run; gives its digest.
fn lay_out(file: &Path, folder: &Path, name: &str) -> Result<String> {
    let bytes = fs::read(file).with_context(|| file.display().to_string())?;
    fs::create_dir_all(folder)?;
    let (library, fresh) = (folder.join(name), folder.join(format!("{name}.new")));
    fs::write(&fresh, &bytes)?;
    fs::rename(&fresh, &library)?;
    Ok(digest(&bytes))
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Gives the driver the name that linkers and some programs look for.
fn link(folder: &Path, library: &str) -> Result<()> {
    let link = folder.join(library.trim_end_matches(".1"));
    if !link.exists() {
        std::os::unix::fs::symlink(library, &link)?;
    }
    Ok(())
}
