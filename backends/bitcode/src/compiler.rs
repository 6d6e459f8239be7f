//! clang: which and where it is, and what it is told.
//!
//! It has to be of the version that made the bitcode, or a later one. The link has optimised the image
//! (`clang-linker-wrapper --embed-bitcode`), at the level that the user has chosen, so that LLVM's passes do not
//! run again.

use crate::step::run;
use gangway_settings::file_variable;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The releases that are taken, the newest first: one reads what all before it have made.
const RELEASES: [u32; 2] = [23, 22];
/// The version of PTX that Gangway has clang make everywhere. Code may use what it brings.
pub const PTX: &str = "+ptx87";

/// A shared library of an image for the host's processors. What it calls of libomp is the program's: the link
/// has left out the names of libraries.
pub fn library(image: &[u8], folder: &Path) -> Result<Vec<u8>, String> {
    let words = [
        "--no-default-config",
        "--target=x86_64-pc-linux-gnu",
        "-w",
        "-O2",
        "-Xclang",
        "-disable-llvm-passes",
        "-shared",
        "-fPIC",
        "-Wl,-Bsymbolic",
        "-x",
        "ir",
    ];
    compile(image, folder, &words, &["-x", "none", "-lm"])
}

/// PTX of an image for GPUs of NVIDIA's.
pub fn ptx(image: &[u8], processor: &str, folder: &Path) -> Result<Vec<u8>, String> {
    // clang's driver looks for a CUDA toolkit, of which nothing is needed.
    let words = [
        "-cc1",
        "-triple",
        "nvptx64-nvidia-cuda",
        "-target-cpu",
        processor,
        "-target-feature",
        PTX,
        "-w",
        "-O2",
        "-disable-llvm-passes",
        "-S",
        "-x",
        "ir",
    ];
    compile(image, folder, &words, &[])
}

/// Calls it for a file with the image.
fn compile(image: &[u8], folder: &Path, before: &[&str], behind: &[&str]) -> Result<Vec<u8>, String> {
    let compiler = find()?;
    let (input, output) = (folder.join("image.bc"), folder.join("image"));
    fs::write(&input, image).map_err(|error| format!("cannot write {}: {error}", input.display()))?;
    let mut words: Vec<&OsStr> = before.iter().map(OsStr::new).collect();
    words.push(input.as_os_str());
    words.extend(behind.iter().map(OsStr::new));
    words.extend([OsStr::new("-o"), output.as_os_str()]);
    run(&compiler, &words, folder, &output)
}

/// The compiler: of the LLVM that `GANGWAY_LLVM` names by number or folder, or the newest in the search path or
/// where Debian installs it. A program with more rights than its user runs nothing that the user names.
fn find() -> Result<PathBuf, String> {
    let variable = |name| file_variable(name).filter(|value| !value.is_empty());
    let path = variable("PATH").unwrap_or_default();
    let installed = |release: u32| {
        let in_path = env::split_paths(&path).map(|folder| folder.join(format!("clang-{release}")));
        let debian = PathBuf::from(format!("/usr/lib/llvm-{release}/bin/clang"));
        in_path.chain([debian]).find(|place| place.is_absolute() && place.is_file())
    };
    let Some(llvm) = variable("GANGWAY_LLVM") else {
        let [.., oldest] = RELEASES;
        let found = RELEASES.into_iter().find_map(installed);
        return found.ok_or_else(|| missing(Path::new(&format!("clang-{oldest}"))));
    };
    if let Some(release) = llvm.to_str().and_then(|text| text.parse().ok()) {
        return installed(release).ok_or_else(|| missing(Path::new(&format!("clang-{release}"))));
    }
    let compiler = Path::new(&llvm).join("bin/clang");
    if compiler.is_file() { Ok(compiler) } else { Err(missing(&compiler)) }
}

fn missing(compiler: &Path) -> String {
    format!(
        "it is LLVM bitcode, to be compiled when the program runs, and there is no {}\n  \
         help: install LLVM 22 (Debian: apt-get install clang-22), or set GANGWAY_LLVM to where it is; or compile the \
         program without -fopenmp-target-jit",
        compiler.display()
    )
}
