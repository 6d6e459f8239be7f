//! The compilers that are there, and what Gangway does with programs of theirs.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_image::GccTarget;
use serde::Serialize;

use crate::compile::{Compiler, KNOWN, Language};

/// The names of GCC's compilers.
const GCC: [&str; 2] = ["gcc", "gfortran"];
/// Where GCC has its tools for devices, below its own folder.
const MKOFFLOAD: &str = "mkoffload";

/// A compiler that was found.
#[derive(Debug, Serialize)]
pub struct Found {
    /// `clang-22`
    pub name: String,
    pub path: PathBuf,
    pub release: u32,
    /// What its OpenMP programs run on with Gangway: `cpu`, `nvptx`.
    pub openmp: Vec<&'static str>,
    /// The same of OpenACC.
    pub openacc: Vec<&'static str>,
    /// Why it is not more.
    pub note: Option<String>,
}

/// All that the search path has, and Debian's folders of LLVM.
pub fn found() -> Vec<Found> {
    let mut found = Vec::new();
    for (language, name) in [(Language::C, "clang"), (Language::Fortran, "flang")] {
        found.extend(releases(name).into_iter().filter_map(|release| llvm(language, release)));
    }
    for name in GCC {
        found.extend(releases(name).into_iter().filter_map(|release| gcc(name, release)));
    }
    found
}

/// The releases of a compiler whose names end in them, the newest first.
fn releases(name: &str) -> Vec<u32> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).filter_map(|folder| folder.read_dir().ok());
    let names = folders.flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut releases: BTreeSet<u32> =
        names.filter_map(|file| file.strip_prefix(name)?.strip_prefix('-')?.parse().ok()).collect();
    releases.extend(KNOWN.filter(|_| !GCC.contains(&name)));
    releases.into_iter().rev().collect()
}

fn llvm(language: Language, release: u32) -> Option<Found> {
    let compiler = Compiler::installed(language, release)?;
    let (openmp, note) = if KNOWN.contains(&release) {
        compiler.abilities()
    } else {
        let (first, last) = (KNOWN.start(), KNOWN.end());
        (Vec::new(), Some(format!("programs of LLVM {first} to {last} run on Gangway")))
    };
    Some(Found { name: compiler.name(), path: compiler.program, release, openmp, openacc: Vec::new(), note })
}

fn gcc(name: &str, release: u32) -> Option<Found> {
    let name = format!("{name}-{release}");
    let path = env::var_os("PATH")?;
    let path = env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file())?;
    let said = Command::new(&path).arg("-print-libgcc-file-name").output().ok()?;
    let library = PathBuf::from(String::from_utf8_lossy(&said.stdout).trim());
    let targets = targets(library.parent()?);
    // What no back end takes is no device here.
    let devices: Vec<&str> = GccTarget::COMPILED
        .into_iter()
        .filter(|target| target.is_registered())
        .filter_map(GccTarget::triple)
        .filter(|triple| targets.contains(*triple))
        .map(|triple| triple.split('-').next().unwrap_or(triple))
        .collect();
    let note = devices.is_empty().then(|| {
        let there = targets.iter().cloned().collect::<Vec<_>>().join(", ");
        let besides = if there.is_empty() { String::new() } else { format!(", besides {there}") };
        format!("the host runs regions: there is no gcc-{release}-offload-nvptx{besides}")
    });
    Some(Found { name, path, release, openmp: devices.clone(), openacc: devices, note })
}

/// The devices that a GCC has its tools for: Debian has them in packages of their own.
fn targets(folder: &Path) -> BTreeSet<String> {
    let libexec: PathBuf = folder
        .components()
        .map(|part| if part.as_os_str() == "lib" { "libexec".as_ref() } else { part.as_os_str() })
        .collect();
    let places = [folder.join("accel"), libexec.join("accel")];
    let entries = places.iter().filter_map(|place| place.read_dir().ok()).flatten().flatten();
    let complete = entries.filter(|entry| entry.path().join(MKOFFLOAD).is_file());
    complete.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
