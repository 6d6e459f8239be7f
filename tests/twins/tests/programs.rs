//! Programs of the repository that are right, under all checks: the device runtime's (`device/gpu/tests/programs`, which
//! are about reductions, worksharing, tasks and the heap), OpenACC's (`tests/openacc/programs`) and the examples.
//!
//! Each ends as it does without checks, and nothing is found but what `known.txt` has. A filter names some; without one,
//! every twenty-fifth runs. `GANGWAY_TWINS_PROGRAMS=all` runs them all.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use gangway_checked::{Kind, Known, found, judge};
use gangway_commands::{Folder, Run, gangway};
use gangway_twins::{Way, compile};
use libtest_mimic::{Arguments, Failed, Trial};

/// Of how many tests one runs, if all are not asked for.
const SHARE: usize = 25;

/// Programs of the device runtime's tests that are about errors, or about what is printed.
const WRONG: [&str; 9] = [
    "checked",
    "copyprivate_too_large",
    "error_directive",
    "exceptions",
    "formats",
    "fortran_kinds",
    "fortran_output",
    "fortran_unsupported",
    "output",
];

/// A program, and how it is built.
#[derive(Clone, Debug)]
struct Program {
    /// As in `device/tasks@-O0`.
    name: String,
    file: PathBuf,
    way: Way,
    options: Vec<String>,
    environment: Vec<(String, String)>,
    /// What it prints as its last line.
    last_line: Option<&'static str>,
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let known = Arc::new(Known::read(&folder.join("known.txt")).expect("the list can be read"));
    let mut programs = device(&folder.join("../../device/gpu/tests/programs"));
    programs.extend(openacc(&folder.join("../openacc/programs")));
    programs.extend(examples(&folder.join("../../examples")));
    let names: Vec<_> = programs.iter().map(|program| program.name.clone()).collect();
    let unused = known.unused(&names);
    if !unused.is_empty() {
        eprintln!("error: known.txt names programs that do not exist: {unused:?}");
        return ExitCode::FAILURE;
    }
    if arguments.filter.is_none() && env::var_os("GANGWAY_TWINS_PROGRAMS").is_none_or(|value| value != "all")
    {
        let mut index = 0;
        programs.retain(|_| {
            index += 1;
            (index + index / (2 * SHARE)).is_multiple_of(SHARE)
        });
        eprintln!(
            "{} of {} programs; GANGWAY_TWINS_PROGRAMS=all runs the others, too",
            programs.len(),
            names.len()
        );
    }
    let trial = |program: Program| {
        let known = Arc::clone(&known);
        let is_slow = known.of(&[&program.name]).iter().any(|entry| entry.kind == Kind::Slow);
        Trial::test(program.name.clone(), move || check(&program, &known)).with_ignored_flag(is_slow)
    };
    libtest_mimic::run(&arguments, programs.into_iter().map(trial).collect()).exit_code()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("programs are there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end != "h"));
    files.sort();
    files
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().display().to_string()
}

fn is_fortran(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "f90")
}

/// Those of the device runtime.
fn device(folder: &Path) -> Vec<Program> {
    let files = files(folder).into_iter().filter(|file| !WRONG.contains(&&*stem(file)));
    let of_file = |file: PathBuf| {
        ["-O0", "-O2"].map(|level| {
            let mut options = strings(&[level]);
            if !is_fortran(&file) {
                options.extend(strings(&["-g", "-fopenmp-version=51", "-lm", "-latomic"]));
            }
            let name = stem(&file);
            let environment = if name.starts_with("heap") {
                pairs(&[("LIBOMPTARGET_HEAP_SIZE", "8388608"), ("GANGWAY_VGPU_MEMORY", "512M")])
            } else {
                vec![]
            };
            Program {
                name: format!("device/{name}@{level}"),
                file: file.clone(),
                way: Way::OpenMp,
                options,
                environment,
                last_line: (!["saxpy", "lines"].contains(&&*name)).then_some("passed"),
            }
        })
    };
    files.flat_map(of_file).collect()
}

/// OpenACC's, whose first lines have options and variables.
fn openacc(folder: &Path) -> Vec<Program> {
    let of_file = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("it can be read");
        let head = || text.lines().take_while(|line| line.starts_with("//"));
        let own = head().filter_map(|line| line.strip_prefix("// options: ")).flat_map(str::split_whitespace);
        let variables = head().filter_map(|line| line.strip_prefix("// environment: ")?.split_once('='));
        ["-O0", "-O2"].map(|level| Program {
            name: format!("openacc/{}@{level}", stem(&file)),
            file: file.clone(),
            way: Way::OpenAcc,
            options: own.clone().map(str::to_owned).chain(strings(&[level, "-g", "-lm"])).collect(),
            environment: pairs(&variables.clone().collect::<Vec<_>>()),
            last_line: (!text.starts_with("// as without OpenACC\n")).then_some("ok"),
        })
    };
    files(folder).into_iter().flat_map(of_file).collect()
}

/// The examples, but the one that needs MPI.
fn examples(folder: &Path) -> Vec<Program> {
    let files = files(folder).into_iter().filter(|file| stem(file) != "halo_mpi");
    let of_file = |file: PathBuf| {
        let name = stem(&file);
        let ways: &[Way] = match &*name {
            "mandelbrot" => &[Way::Gcc],
            "laplace" => &[Way::OpenAcc, Way::GccOpenAcc],
            "contrast_acc" => &[Way::OpenAcc],
            "cg_acc" => &[Way::GccOpenAcc],
            acc if acc.ends_with("_acc") => &[Way::OpenAcc, Way::GccOpenAcc],
            _ => &[Way::OpenMp],
        };
        let mut options = strings(&["-O2", "-lm"]);
        if !is_fortran(&file) {
            options.push("-g".to_owned());
        }
        if name == "cg_acc" {
            options.push("-foffload=-lgfortran".to_owned());
        }
        let program = |way: &Way| Program {
            name: format!("examples/{name}@{}", way.name()),
            file: file.clone(),
            way: *way,
            options: options.clone(),
            environment: pairs(&[("ACC_DEVICE_TYPE", "nvidia")]),
            last_line: None,
        };
        ways.iter().map(program).collect::<Vec<_>>()
    };
    files.flat_map(of_file).collect()
}

fn check(program: &Program, known: &Known) -> Result<(), Failed> {
    let folder = Folder::new();
    let binary = folder.path("program");
    // Fortran leaves descriptions of modules.
    let mut compiler = compile(program.way, &program.file.canonicalize()?, "vgpu");
    compiler.current_dir(&*folder).args(&program.options).arg("-o").arg(&binary).run().succeeded();
    let mut command = gangway();
    command.args(["run", "--device", "vgpu", "--check=all", "--check-exit", "0", "--sarif"]);
    command.arg(folder.path("found.sarif")).arg("--").arg(&binary);
    let variables = program.environment.iter().map(|(name, value)| (name, value));
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY").envs(variables);
    let ran = command.current_dir(&*folder).run();
    let is_right =
        ran.code() == Some(0) && program.last_line.is_none_or(|line| ran.stdout.lines().last() == Some(line));
    let known = known.of(&[&program.name]);
    match (is_right, known.iter().find(|entry| entry.kind == Kind::Differs)) {
        (true, None) => {}
        (false, Some(_)) => return Ok(()),
        (true, Some(entry)) => return Err(format!("it does not differ: {}", entry.reason).into()),
        (false, None) => return Err(format!("it has failed: {ran}").into()),
    }
    let found = found(&folder.text("found.sarif"))?;
    judge(&known, &found).map_err(|error| format!("{error}\n{ran}").into())
}
