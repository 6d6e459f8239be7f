//! Every exported function: success and each documented error. The programs in
//! `functions/` call them as compilers do; each names in its first lines the
//! functions it tests. The interoperability functions have a test of their own.

mod support;

use gangway_commands::{Folder, Run};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let staged = support::staged();
    let built = Folder::new();
    let image = built.path("image.so");
    compile(&["-shared", "-fPIC"], "image.c", &image);
    let mut trials = vec![
        Trial::test("every_export_is_tested", every_export_is_tested),
        Trial::test("programs_call_what_they_name", programs_call_what_they_name),
    ];
    for program in programs() {
        let name = program.file_stem().unwrap().to_string_lossy().into_owned();
        let (staged, image, output) = (staged.clone(), image.clone(), built.path(&name));
        trials.push(Trial::test(name, move || {
            // Stock clang-22's library lacks what later releases have.
            let ours = format!("-L{}", staged.display());
            compile(&["-fopenmp", &ours, "-lomptarget"], program.to_str().unwrap(), &output);
            let mut command = Command::new(&output);
            command.arg(&image).env_clear().env("LD_LIBRARY_PATH", &staged).run().succeeded();
            Ok(())
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/functions")
}

fn programs() -> Vec<PathBuf> {
    let files = fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path());
    let is_program =
        |path: &PathBuf| path.extension().is_some_and(|e| e == "c") && !path.ends_with("image.c");
    let mut programs: Vec<_> = files.filter(is_program).collect();
    programs.sort();
    programs
}

fn compile(flags: &[&str], source: &str, output: &Path) {
    Command::new("clang-22")
        .args(["-O1", "-g", "-Wall", "-Werror", "-Wno-unused"])
        .arg(source)
        .args(flags)
        .arg("-o")
        .arg(output)
        .current_dir(directory())
        .run()
        .succeeded();
}

/// The functions a program says it tests.
fn named(source: &str) -> BTreeSet<String> {
    let lines = source.lines().filter_map(|line| line.strip_prefix("// functions:"));
    lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
}

fn every_export_is_tested() -> Result<(), Failed> {
    let exports = Path::new(env!("CARGO_MANIFEST_DIR")).join("exports.txt");
    // `tests/interop.rs` is about the first. OpenACC's routines, and what its translated constructs call, have the programs
    // of `tests/openacc`; its tests say whether they call all.
    let elsewhere = |name: &str| {
        name.contains("interop") || name.starts_with("acc_") || name.starts_with("__gangway_acc_")
    };
    let exports: BTreeSet<String> = fs::read_to_string(exports)?
        .lines()
        .filter(|name| !name.is_empty() && !elsewhere(name))
        .map(str::to_owned)
        .collect();
    let mut tested = BTreeSet::new();
    for program in programs() {
        tested.append(&mut named(&fs::read_to_string(program)?));
    }
    let missing: Vec<_> = exports.difference(&tested).collect();
    let unknown: Vec<_> = tested.difference(&exports).collect();
    if exports.len() < 60 || !missing.is_empty() || !unknown.is_empty() {
        return Err(
            format!("{} exports; untested: {missing:?}; no exports: {unknown:?}", exports.len()).into()
        );
    }
    Ok(())
}

/// Naming is not testing: the object file of a program has to refer to each
/// function it names.
fn programs_call_what_they_name() -> Result<(), Failed> {
    use object::{Object, ObjectSymbol};
    let built = Folder::new();
    for program in programs() {
        let object = built.path("program.o");
        compile(&["-fopenmp", "-c"], program.to_str().unwrap(), &object);
        let bytes = fs::read(&object)?;
        let file = object::File::parse(&*bytes)?;
        let undefined = file.symbols().filter(ObjectSymbol::is_undefined);
        let called: BTreeSet<String> = undefined.filter_map(|s| s.name().ok().map(str::to_owned)).collect();
        let named = named(&fs::read_to_string(&program)?);
        let idle: Vec<_> = named.difference(&called).collect();
        if !idle.is_empty() {
            return Err(format!("{} never calls {idle:?}", program.display()).into());
        }
    }
    Ok(())
}
