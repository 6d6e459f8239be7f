//! Every file in `programs/` is compiled with and without optimisation, and with no word of it, for NVIDIA's and AMD's GPUs
//! and for processors, and runs there. With and without optimisation for GPUs programs take turns, but where a filter names
//! tests, or `GANGWAY_OPENACC_WAYS=all`; so they do for AMD's GPUs with optimisation and without a word of it. A program checks what it has computed, and prints `ok`, or what the same source prints
//! without OpenACC if its first line says so. `// options:` in its first lines are given to the compiler,
//! `// environment: NAME=value` to the program, as often as it stands there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_commands::{Folder, Run, gangway};
use libtest_mimic::{Arguments, Failed, Trial};

/// Levels of optimisation, and devices. Without a level GPU code is optimised where it is linked, and only there.
const WAYS: [(&str, &str, &str); 6] = [
    ("", "sm_80", "vgpu"),
    ("-O0", "sm_80", "vgpu"),
    ("-O2", "sm_80", "vgpu"),
    ("", "gfx90a", "vgpu"),
    ("-O2", "gfx90a", "vgpu"),
    ("-O2", "x86_64", "cpu"),
];

/// Whether a program of that number leaves out a way where they take turns.
fn is_others_turn(number: usize, (level, architecture, _): (&str, &str, &str)) -> bool {
    let of_even = match architecture {
        "sm_80" => "-O0",
        "gfx90a" => "",
        _ => return false,
    };
    let of_odd = "-O2";
    level == if number.is_multiple_of(2) { of_even } else { of_odd }
}

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let files =
        fs::read_dir(folder).expect("programs are there").map(|entry| entry.expect("it can be read").path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    let mut trials = Vec::new();
    let all = arguments.filter.is_some() || std::env::var_os("GANGWAY_OPENACC_WAYS").is_some();
    for (number, file) in files.into_iter().enumerate() {
        let ways = WAYS.into_iter().filter(|way| all || !is_others_turn(number, *way));
        for (level, architecture, device) in ways {
            let place = if device == "cpu" { "cpu" } else { architecture };
            let name = format!("{}{level}_{place}", file.file_name().unwrap_or_default().display());
            let file = file.clone();
            trials.push(Trial::test(name, move || runs(&file, level, architecture, device)));
        }
    }
    trials.push(Trial::test("every_routine_is_declared_and_called", every_routine_is_declared_and_called));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The routines that the library exports are those of the headers, and the programs call each.
fn every_routine_is_declared_and_called() -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join("../../frontends").join(path));
    let exports = read("omptarget/exports.txt")?;
    let exported: BTreeSet<&str> = exports.lines().filter(|name| name.starts_with("acc_")).collect();
    let headers = read("openacc/include/openacc.h")? + &read("openacc/include/acc_prof.h")?;
    let declared: BTreeSet<&str> = called(&headers).collect();
    if exported.len() < 75 || exported != declared {
        let differ: Vec<_> = exported.symmetric_difference(&declared).collect();
        return Err(format!("{} routines; in one of both: {differ:?}", exported.len()).into());
    }
    let mut programs = String::new();
    for file in fs::read_dir(root.join("programs"))? {
        programs += &fs::read_to_string(file?.path())?;
    }
    let called: BTreeSet<&str> = called(&programs).collect();
    let idle: Vec<_> = exported.difference(&called).collect();
    if idle.is_empty() { Ok(()) } else { Err(format!("no program calls {idle:?}").into()) }
}

/// The names of OpenACC's that stand before a parenthesis.
fn called(text: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let names =
        text.split('(').map(move |part| part.rsplit(|letter| !is_of_name(letter)).next().unwrap_or_default());
    names.filter(|name| name.starts_with("acc_"))
}

fn runs(file: &Path, level: &str, architecture: &str, device: &str) -> Result<(), Failed> {
    let text = fs::read_to_string(file)?;
    let head = || text.lines().take_while(|line| line.starts_with("//"));
    let options = head().filter_map(|line| line.strip_prefix("// options: ")).flat_map(str::split_whitespace);
    let environment = head().filter_map(|line| line.strip_prefix("// environment: ")?.split_once('='));
    let is_cxx = file.extension().is_some_and(|extension| extension == "cpp");
    let compiler = if is_cxx { "c++" } else { "cc" };
    let folder = Folder::new();
    let program = folder.path("program");
    let mut compile = gangway();
    compile.args([compiler, "-fopenacc", "-Wall", "-Werror"]).args(level.split_whitespace()).args(options);
    compile.arg(format!("--offload-arch={architecture}")).arg(file).arg("-o").arg(&program).arg("-lm");
    compile.run().succeeded();
    let expected = match text.starts_with("// as without OpenACC\n") {
        true => {
            let plain = folder.path("plain");
            let mut compile = Command::new(if is_cxx { "clang++-22" } else { "clang-22" });
            compile.args(["-w", "-O1"]).arg(file).arg("-o").arg(&plain).arg("-lm").run().succeeded();
            Command::new(&plain).run().succeeded().stdout
        }
        false => "ok\n".to_owned(),
    };
    gangway().args(["run", "--device", device]).arg(&program).envs(environment).run().printed(&expected);
    Ok(())
}
