//! Programs that use what is new since GCC 12, compiled by every newer release that is installed.
//!
//! A release without a compiler for the device is left out, which is said by name: a machine with
//! gcc-12 alone has the tests of what such compilers make (`reverse.rs`, the units of `arrays`,
//! `limits`, `interop` and `register`).

mod support;

use gangway_commands::{Folder, Run};
use std::path::{Path, PathBuf};
use std::process::Command;

const RELEASES: [u8; 4] = [13, 14, 15, 16];

fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/releases");
    let mut sources: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.sort();
    sources
}

/// The release that a program needs, from its first line.
fn since(source: &Path) -> u8 {
    let text = std::fs::read_to_string(source).unwrap();
    let words = text.split_once("Since GCC ").and_then(|(_, rest)| rest.split_once(':'));
    let (release, _) = words.unwrap_or_else(|| panic!("{}: since which release?", source.display()));
    release.parse().unwrap()
}

/// Whether a compiler of a release is there, and has one for the device beside it.
fn offloads(compiler: &str) -> bool {
    let told = Command::new(compiler).arg("-v").output();
    told.is_ok_and(|told| String::from_utf8_lossy(&told.stderr).contains("nvptx-none"))
}

fn compiler(source: &Path, release: u8) -> String {
    let name = match source.extension().and_then(|extension| extension.to_str()) {
        Some("cpp") => "g++",
        Some("f90") => "gfortran",
        _ => "gcc",
    };
    format!("{name}-{release}")
}

#[test]
fn every_program_says_since_when() {
    let sources = sources();
    assert!(sources.len() > 40, "{}", sources.len());
    for source in sources {
        assert!(RELEASES.contains(&since(&source)), "{}", source.display());
    }
}

#[test]
fn programs_of_newer_releases() {
    let folder = Folder::new();
    let mut wrong = Vec::new();
    for release in RELEASES {
        let of_release = sources().into_iter().filter(|source| since(source) <= release);
        for source in of_release {
            let (compiler, name) =
                (compiler(&source, release), source.file_name().unwrap().to_string_lossy());
            if !offloads(&compiler) {
                eprintln!("left out: {name}, as {compiler} for nvptx-none is not installed");
                continue;
            }
            let program = folder.path(format!("{name}.{release}"));
            let model = if name.contains("_acc.") { "-fopenacc" } else { "-fopenmp" };
            let mut command = Command::new(&compiler);
            command.args(["-O2", "-w", model, "-foffload=nvptx-none"]);
            // The default has no reverse offload.
            if release < 15 {
                command.arg("-foffload-options=nvptx-none=-march=sm_35");
            }
            let built = command.arg(&source).arg("-o").arg(&program).current_dir(&*folder).run();
            if !built.status.success() {
                wrong.push(format!("{compiler} {name}: {built}"));
                continue;
            }
            let output = support::run(&program, &[], &[support::MANDATORY], &[]);
            if !output.status.success() || output.stdout != "passed\n" {
                wrong.push(format!("{compiler} {name}: {output}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
