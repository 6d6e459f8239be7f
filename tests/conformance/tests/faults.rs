//! The faults of clang that `gangway cc` works around, tried with every release that is installed:
//! `tools/gangway/faults.txt` says which releases have them, and a work-around is used with those only.
//!
//! For each there is a program in `faults/` that ends with 0 if all is right. Built without the work-around it must
//! fail with a release that has the fault, and be right with one that has it not; built as users build it, it is
//! right always. So a release that no longer needs a work-around, or needs it again, fails here until the list
//! says so. A header line of a program says how a fault that is not mended is told: `refused:` by an error,
//! `warned:` by a warning.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gangway_commands::{Folder, Run, gangway};
use libtest_mimic::{Arguments, Failed, Trial};

/// The releases whose GPU code takes Gangway's device runtime.
const RELEASES: [u32; 2] = [22, 23];
const GPU: &str = "sm_80";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let list = manifest().join("../../tools/gangway/faults.txt");
    let text = fs::read_to_string(&list).unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    let mut trials = Vec::new();
    for fault in text.lines().filter(|line| !line.starts_with('#')).filter_map(Fault::read) {
        for release in RELEASES {
            let compiler = PathBuf::from(format!("/usr/lib/llvm-{release}/bin/clang"));
            let linker = compiler.with_file_name("clang-nvlink-wrapper");
            let missing = [compiler, linker].into_iter().find(|file| !file.exists());
            let name = match &missing {
                Some(file) => {
                    format!("{}/clang-{release} (left out: there is no {})", fault.name, file.display())
                }
                None => format!("{}/clang-{release}", fault.name),
            };
            let fault = fault.clone();
            let test = move || fault.check(release).map_err(Failed::from);
            trials.push(Trial::test(name, test).with_ignored_flag(missing.is_some()));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A line of the list, with its program.
#[derive(Debug, Clone)]
struct Fault {
    name: String,
    releases: RangeInclusive<u32>,
}

/// What came of a program.
#[derive(Debug)]
enum Came {
    NotCompiled(String),
    /// What the compiler has said, and whether the results were right.
    Ran {
        said: String,
        right: bool,
    },
}

impl Fault {
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        let (first, last) = words.next()?.split_once('-')?;
        Some(Self { name, releases: first.parse().ok()?..=last.parse().ok()? })
    }

    fn source(&self) -> Result<(PathBuf, String), String> {
        let folder = manifest().join("tests/faults");
        let files = ["c", "cpp"].map(|extension| folder.join(format!("{}.{extension}", self.name)));
        let file = files.into_iter().find(|file| file.is_file());
        let file =
            file.ok_or_else(|| format!("there is no program for {} in {}", self.name, folder.display()))?;
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok((file, text))
    }

    fn check(&self, release: u32) -> Result<(), String> {
        let (file, text) = self.source()?;
        let header = |key: &str| text.lines().find_map(|line| line.strip_prefix("// ")?.strip_prefix(key));
        let flags = header("flags:").ok_or("the program has no `flags:`")?;
        let (refused, warned) = (header("refused:").map(str::trim), header("warned:").map(str::trim));
        let listed = self.releases.contains(&release);
        let unmended = build_and_run(&file, flags, release, Some(&self.name));
        let wrong = !matches!(&unmended, Came::Ran { right: true, .. });
        if wrong != listed {
            let has = if wrong { "has this fault" } else { "no longer has this fault" };
            return Err(format!("clang-{release} {has}: change {} in faults.txt\n{unmended:?}", self.name));
        }
        let usual = build_and_run(&file, flags, release, None);
        let told = |said: &str, text: Option<&str>| text.is_some_and(|text| said.contains(text));
        let done = match &usual {
            Came::NotCompiled(said) => listed && told(said, refused),
            Came::Ran { said, .. } if warned.is_some() => told(said, warned) == listed,
            Came::Ran { right, .. } => *right && (refused.is_none() || !listed),
        };
        if done { Ok(()) } else { Err(format!("with the work-around, if any: {usual:?}")) }
    }
}

fn build_and_run(file: &Path, flags: &str, release: u32, unmended: Option<&str>) -> Came {
    let folder = Folder::new();
    let mut command = gangway();
    command.arg(if file.extension().is_some_and(|extension| extension == "cpp") { "c++" } else { "cc" });
    command.arg(format!("--llvm={release}")).args(flags.split_whitespace());
    command.args(["-fopenmp", &format!("--offload-arch={GPU}"), "-fcrash-diagnostics=off"]);
    command.arg(file).arg("-o").arg(folder.path("program")).env("TMPDIR", &*folder);
    let built = command.env("GANGWAY_CC_UNMENDED", unmended.unwrap_or_default()).run();
    if !built.status.success() {
        return Came::NotCompiled(built.stderr);
    }
    let mut run = gangway();
    run.args(["run", "--device", "vgpu", "--"]).arg(folder.path("program"));
    let ran = run.env("OMP_TARGET_OFFLOAD", "MANDATORY").run();
    Came::Ran { said: built.stderr, right: ran.status.success() }
}
