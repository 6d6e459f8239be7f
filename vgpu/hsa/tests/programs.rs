//! Runs the C programs in `tests/programs` on the library as programs find it: compiled with the system's
//! compiler and linked against `libhsa-runtime64.so.1`. Each has a process of its own, and passes if
//! it ends with 0. Kernels come from `tests/kernels`: clang makes code objects of them, whose folder the
//! programs are told in `KERNELS`.
//!
//! Without clang the programs that launch kernels are reported as ignored, and a line says so.

use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_commands::Run;
use libtest_mimic::{Arguments, Failed, Trial};

/// Makes a folder with the library under the names that programs look for.
fn library() -> Result<PathBuf, Failed> {
    let tests = std::env::current_exe()?;
    let built = tests.with_file_name("libgangway_hsa_driver.so");
    if !built.exists() {
        return Err(format!("{} has not been built", built.display()).into());
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libhsa");
    std::fs::create_dir_all(&folder)?;
    for name in ["libhsa-runtime64.so.1", "libhsa-runtime64.so"] {
        let link = folder.join(name);
        if std::fs::read_link(&link).ok().as_deref() == Some(&built) {
            continue;
        }
        // Another process may be making it, too: what counts is that it is there.
        let temporary = folder.join(format!("{name}.{}", std::process::id()));
        std::os::unix::fs::symlink(&built, &temporary)?;
        std::fs::rename(&temporary, &link)?;
    }
    Ok(folder)
}

fn compile(source: &Path, library: &Path) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(source.file_stem().unwrap_or_default());
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-Wno-unused-variable", "-pthread", "-o"]);
    compiler
        .arg(&program)
        .arg(source)
        .arg("-L")
        .arg(library)
        .args(["-lhsa-runtime64", "-lm"])
        .run()
        .succeeded();
    program
}

/// The C programs in a folder, by name.
fn programs(folder: &str) -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder of programs");
    let paths = entries.map(|entry| entry.expect("an entry of the folder of programs").path());
    let sources = paths.filter(|path| path.extension().is_some_and(|extension| extension == "c"));
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let programs: Vec<_> = sources.map(|path| (name(&path), path)).collect();
    assert!(!programs.is_empty(), "no programs in {}", folder.display());
    programs
}

fn main() {
    let arguments = Arguments::from_args();
    // Once, before the programs run side by side.
    let library = library().unwrap_or_else(|error| panic!("{}", error.message().unwrap_or("no library")));
    let mut trials = Vec::new();
    for (name, path) in programs("tests/programs") {
        let library = library.clone();
        trials.push(Trial::test(name, move || {
            let mut program = Command::new(compile(&path, &library));
            program.env("LD_LIBRARY_PATH", &library).env("GANGWAY_VGPU_DEVICES", "2");
            program.env("GANGWAY_VGPU_MEMORY", "64M").run().succeeded();
            Ok(())
        }));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
