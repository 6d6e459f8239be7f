//! Random programs under the checks: see `README.md`.
//!
//! Each number is a program. Without a mistake it prints what it prints on the host, and all checks are silent; with a mistake that is
//! planted, the check for that kind finds it.

use std::env;
use std::process::ExitCode;

use gangway_checked::found;
use gangway_commands::{Folder, Ran, Run, gangway};
use gangway_twins::judge;
use gangway_twins::random::{Mistake, program};
use libtest_mimic::{Arguments, Failed, Trial};

/// How many programs there are without `GANGWAY_TWINS_SEEDS`.
const SEEDS: u64 = 6;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let range = env::var("GANGWAY_TWINS_SEEDS");
    let all = range.is_ok() || arguments.filter.is_some();
    let (first, end) = match range {
        Err(_) => (0, SEEDS),
        Ok(range) => {
            let ends = range.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
            ends.expect("GANGWAY_TWINS_SEEDS is a range of numbers such as 12..100")
        }
    };
    let trials = (first..end).flat_map(|seed| {
        let right = Trial::test(format!("{seed}/right"), move || right(seed));
        let wrong = move |mistake: &Mistake| {
            let mistake = *mistake;
            Trial::test(format!("{seed}/{}", mistake.check()), move || wrong(seed, mistake))
        };
        // By default there is time for one mistake of each.
        let turn = (seed % 3) as usize;
        let mistakes = if all { &Mistake::ALL[..] } else { &Mistake::ALL[turn..=turn] };
        [right].into_iter().chain(mistakes.iter().map(wrong))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// Compiles the program of a number. Loads and stores of the host are told, so that each byte counts.
fn compiled(seed: u64, options: &[&str], folder: &Folder) -> String {
    let program = program(seed);
    folder.write("program.c", &program.text);
    let mut command = gangway();
    command
        .args(["cc", "-fopenmp", "--offload-arch=sm_80", "--check=map", "-g", program.level])
        .args(options);
    command.arg("-o").arg(folder.path("program")).arg(folder.path("program.c")).run().succeeded();
    program.text
}

fn checked(checks: &str, folder: &Folder) -> Ran {
    let mut command = gangway();
    command.args(["run", "--device", "vgpu", "--sarif"]).arg(folder.path("found.sarif"));
    command.arg(format!("--check={checks}")).arg("--").arg(folder.path("program")).run()
}

fn right(seed: u64) -> Result<(), Failed> {
    // clang 22's vectorizer makes wrong code for the host of loops with an array of their own, with `schedule(dynamic)` and
    // others (program 34).
    let scalar = Folder::new();
    compiled(seed, &["-fno-vectorize"], &scalar);
    let mut host = gangway();
    host.args(["run", "--device", "none", "--"]).arg(scalar.path("program"));
    let host = host.run().succeeded();
    let folder = Folder::new();
    let text = compiled(seed, &[], &folder);
    let ran = checked("all", &folder);
    match ran.code() {
        Some(0) if ran.stdout == host.stdout => Ok(()),
        _ => Err(format!("the host has {}{ran}\n{text}", host.stdout).into()),
    }
}

fn wrong(seed: u64, mistake: Mistake) -> Result<(), Failed> {
    let folder = Folder::new();
    let text = compiled(seed, &[&format!("-D{}", mistake.name())], &folder);
    let ran = checked(mistake.check(), &folder);
    let found = found(&folder.text("found.sarif"))?;
    let planted = program(seed).planted[mistake as usize];
    judge(mistake.check(), &[], &found).map_err(|error| format!("{planted}: {error}\n{ran}\n{text}").into())
}
