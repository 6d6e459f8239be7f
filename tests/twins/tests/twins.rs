//! Every file in `programs/` is compiled twice and run under the checks: see `README.md`. Files take turns in which of
//! their ways they are compiled; with `GANGWAY_TWINS_WAYS=all`, or where a filter names tests, it is all of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gangway_checked::{Found, found};
use gangway_commands::{Folder, Ran, Run, gangway};
use gangway_twins::{Header, Way, compile, judge};
use libtest_mimic::{Arguments, Failed, Trial};

/// What `gangway run` ends with where something was found.
const FOUND: i32 = 23;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut trials = Vec::new();
    let mut files = 0;
    let all = arguments.filter.is_some() || std::env::var_os("GANGWAY_TWINS_WAYS").is_some();
    for folder in entries(&programs) {
        let check = folder.file_name().unwrap_or_default().display().to_string();
        for file in entries(&folder) {
            let name = format!("{check}/{}", file.file_name().unwrap_or_default().display());
            let text = fs::read_to_string(&file).expect("it can be read");
            match Header::read(&text) {
                Err(error) => trials.push(Trial::test(name, move || Err(error.into()))),
                Ok(header) => {
                    let turn = files % header.ways.len();
                    files += 1;
                    let ways = header.ways.iter().enumerate().filter(|&(number, _)| all || number == turn);
                    trials.extend(ways.map(|(_, &way)| {
                        let (check, file) = (check.clone(), file.clone());
                        let name = format!("{name}@{}", way.name());
                        Trial::test(name, move || twins(&check, &file, way))
                    }));
                }
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A line, and a text of the message.
type Finds = (u32, Option<String>);

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).expect("programs are there");
    let mut entries: Vec<PathBuf> = read.map(|entry| entry.expect("it can be read").path()).collect();
    entries.sort();
    entries
}

fn twins(check: &str, file: &Path, way: Way) -> Result<(), Failed> {
    let header = Header::read(&fs::read_to_string(file)?)?;
    let folder = Folder::new();
    let (ran, silent) = run(&header, file, way, &folder, "all", &[]);
    if ran.code() != Some(0) || !silent.is_empty() {
        return Err(format!("the right one: {silent:?}\n{ran}").into());
    }
    let (ran, found) = run(&header, file, way, &folder, check, &["-DWRONG"]);
    if ran.code() == Some(0) {
        return Err(format!("the wrong one has ended with 0\n{ran}").into());
    }
    let finds: Vec<_> = header.finds.into_iter().filter_map(|finds| known(finds, check, file, way)).collect();
    judge(check, &finds, &found).map_err(|error| format!("the wrong one: {error}\n{ran}").into())
}

/// A line and a text of which a finding can be, as far as the compiler tells them. LLVM refuses the debug information that
/// flang makes for GPUs. Names of variables in `init`, and the places where those are declared that come back unwritten, are
/// told by clang's OpenMP alone.
fn known(finds: Finds, check: &str, file: &Path, way: Way) -> Option<Finds> {
    let (line, text) = finds;
    let is_name = |text: &String| text.starts_with('`');
    let is_declaration = text.as_deref().is_some_and(|text| text.starts_with("copied back"));
    match way {
        Way::OpenMp => file.extension().is_none_or(|extension| extension != "F90").then_some((line, text)),
        _ if check == "init" => (!is_declaration).then(|| (line, text.filter(|text| !is_name(text)))),
        _ => Some((line, text)),
    }
}

/// Compiles one of the two, and runs it under checks.
fn run(
    header: &Header,
    file: &Path,
    way: Way,
    folder: &Folder,
    check: &str,
    options: &[&str],
) -> (Ran, Vec<Found>) {
    let (program, sarif) = (folder.path("program"), folder.path("found.sarif"));
    // Fortran leaves descriptions of modules.
    compile(way, file, &header.device)
        .current_dir(&**folder)
        .args(&header.options)
        .args(options)
        .arg("-o")
        .arg(&program)
        .run()
        .succeeded();
    let mut command = gangway();
    command.args([
        "run",
        "--device",
        &header.device,
        &format!("--check={check}"),
        "--check-exit",
        &FOUND.to_string(),
        "--sarif",
    ]);
    command.arg(&sarif).arg("--").arg(&program);
    command.envs(header.environment.iter().map(|(name, value)| (name, value)));
    let ran = command.run();
    let text = fs::read_to_string(&sarif).unwrap_or_else(|error| panic!("what was found: {error}: {ran}"));
    (ran, found(&text).expect("it is SARIF"))
}
