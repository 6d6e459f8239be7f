//! Runs the C programs in `tests/programs` and `tests/offload` on the library as programs find it.
//! The former are compiled with the system's compiler and linked against `libcuda.so.1`. The latter
//! are OpenMP programs of GCC's, which libgomp brings to it. Each has a process of its own, and
//! passes if it ends with 0. One may open a library of the same name from `tests/programs/libraries`, which lies
//! beside it.
//!
//! Without the compiler for offloading its programs are reported as ignored, and a line says so.

use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_commands::Run;
use libtest_mimic::{Arguments, Failed, Trial};

/// Makes a folder with the library under the names that programs look for.
fn library() -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libcuda");
    gangway_commands::under_names("libgangway_driver.so", &["libcuda.so.1", "libcuda.so"], &folder)?;
    Ok(folder)
}

fn offload(source: &Path, library: &Path) {
    let stem = source.file_stem().unwrap_or_default();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(stem);
    let arguments = ["-std=gnu11", "-O2", "-Wall", "-Werror", "-fopenmp", "-foffload=nvptx-none", "-o"];
    gangway_compilers::gcc().args(arguments).arg(&program).arg(source).run().succeeded();
    run(Command::new(program).env("OMP_TARGET_OFFLOAD", "MANDATORY"), library, "compiler");
}

fn compile(source: &Path, library: &Path, engine: &str) -> PathBuf {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{stem}-{engine}"));
    let compile = |source: &Path, options: &[&str], output: &Path| {
        let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        compiler.args(["-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-pthread"]).args(options).arg("-o");
        compiler.arg(output).arg(source).arg("-L").arg(library).args(["-lcuda", "-lm"]).run().succeeded();
    };
    // What the library calls is the program's.
    compile(source, &["-rdynamic"], &program);
    let opened = source.with_file_name("libraries").join(source.file_name().unwrap_or_default());
    if opened.exists() {
        compile(&opened, &["-shared", "-fPIC"], &program.with_extension("so"));
    }
    program
}

/// Programs that are run with the interpreter as well: what they do to kernels depends on what runs
/// those.
const INTERPRETED: [&str; 2] = ["unified", "vanishing"];

fn run(program: &mut Command, library: &Path, engine: &str) {
    program.env("GANGWAY_VGPU_ENGINE", engine).env("LD_LIBRARY_PATH", library);
    program.env("GANGWAY_VGPU_DEVICES", "2").run().succeeded();
}

/// The C programs in a folder of this crate, by name.
fn programs(folder: &str) -> Vec<(String, PathBuf)> {
    gangway_commands::programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
}

fn main() {
    let arguments = Arguments::from_args();
    // Once, before the programs run side by side.
    let library = library().unwrap_or_else(|error| panic!("{}", error.message().unwrap_or("no library")));
    let mut trials = Vec::new();
    for (name, path) in programs("tests/programs") {
        let interpreted = INTERPRETED.contains(&&*name);
        for engine in if interpreted { &["compiler-only", "interpreter"][..] } else { &["compiler-only"] } {
            let (path, library, name) = (path.clone(), library.clone(), name.clone());
            let name = if *engine == "compiler-only" { name } else { format!("{name}::{engine}") };
            trials.push(Trial::test(name, move || {
                run(&mut Command::new(compile(&path, &library, engine)), &library, engine);
                Ok(())
            }));
        }
    }
    let accelerator = gangway_compilers::accelerator();
    let offloads = accelerator.is_ok();
    if let Err(why) = accelerator {
        println!("ignored: GCC's programs: {why}");
    }
    for (name, path) in programs("tests/offload") {
        let library = library.clone();
        let name = format!("offload/{name}");
        let test = move || {
            offload(&path, &library);
            Ok(())
        };
        trials.push(Trial::test(name, test).with_ignored_flag(!offloads));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
