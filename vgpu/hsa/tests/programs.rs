//! Runs the C programs in `tests/programs` on the library as programs find it: compiled with the system's
//! compiler and linked against `libhsa-runtime64.so.1`. Each has a process of its own, and passes if
//! it ends with 0. Kernels come from `tests/kernels`: clang makes code objects of them, whose folder the
//! programs are told in `KERNELS`.
//!
//! Programs in `tests/offload` are OpenMP's and OpenACC's: GCC compiles them, and the stock libgomp brings them to
//! the library through its plugin. Those in `tests/llvm` go through LLVM's plugin for AMD's GPUs.
//!
//! Without clang, GCC's compiler for AMD's GPUs or LLVM's plugins their programs are reported as ignored, and a
//! line says so.

use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_commands::{Folder, Run};
use gangway_compilers::Maker;
use libtest_mimic::{Arguments, Failed, Trial};

/// Makes a folder with the library under the names that programs look for.
fn library() -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libhsa");
    gangway_commands::under_names(
        "libgangway_hsa_driver.so",
        &["libhsa-runtime64.so.1", "libhsa-runtime64.so"],
        &folder,
    )?;
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

/// The processors that clang makes code objects for, and that programs are run on.
const PROCESSORS: [&str; 5] = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"];

/// Makes the code objects; a folder with them, or why there is none.
fn kernels() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/kernels.c");
    for processor in PROCESSORS {
        let image = folder.join(format!("kernels.{processor}.so"));
        let mut clang = Command::new("clang-22");
        clang.args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-O2", "-Werror", "-fvisibility=default"]);
        clang.arg(format!("-mcpu={processor}")).arg(&source).arg("-o").arg(&image);
        let output = clang.output().map_err(|_| "clang-22 is not installed".to_owned())?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(folder)
}

/// The programs that launch kernels, and those that are run on every processor.
const WITH_KERNELS: [&str; 4] = ["attacks", "code", "failing", "launches"];
const ON_ALL: [&str; 1] = ["launches"];

/// The processors that GCC 12 makes code for. For gfx908, with the assembler that Debian has for it, GCC cannot link
/// programs with its own libgomp: the ELF headers' flags differ.
const OF_GCC: [&str; 2] = ["gfx900", "gfx906"];

/// What runs GCC's kernels; what the compiler does not know is interpreted.
const ENGINES: [&str; 2] = ["interpreter", "compiler"];

/// Has GCC compile a program for a processor, and runs it with an engine.
fn offload(source: &Path, library: &Path, processor: &str, engine: &str) {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{stem}-{processor}-{engine}"));
    let model = if stem == "gangs" { "-fopenacc" } else { "-fopenmp" };
    let mut compiler = gangway_compilers::gcc();
    compiler.args(["-std=gnu11", "-O2", "-Wall", "-Werror", model, "-foffload=amdgcn-amdhsa"]);
    compiler.arg(format!("-foffload-options=amdgcn-amdhsa=-march={processor}")).arg("-foffload-options=-lm");
    compiler.arg("-o").arg(&program).arg(source).arg("-lm").run().succeeded();
    let mut program = Command::new(program);
    program.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("ACC_DEVICE_TYPE", "radeon");
    program.env("GANGWAY_VGPU_ENGINE", engine);
    run(&mut program, library, processor);
}

/// Where LLVM has its plugins behind a C interface.
const LLVM: &str = "/usr/lib/llvm-22/lib";
const PLUGINS: &str = "libLLVMOffload.so.22.1";

/// Compiles a program for LLVM's plugins, and runs it.
fn through_llvm(source: &Path, library: &Path, kernels: &Path) {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("through-llvm");
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-std=gnu11", "-O1", "-Wall", "-Werror", "-o"]).arg(&program).arg(source);
    compiler.arg(format!("-L{LLVM}")).arg(format!("-l:{PLUGINS}")).arg(format!("-Wl,-rpath,{LLVM}"));
    compiler.run().succeeded();
    run(Command::new(program).env("KERNELS", kernels), library, "gfx90a");
}

fn run(program: &mut Command, library: &Path, processor: &str) {
    program.env("LD_LIBRARY_PATH", library).env("GANGWAY_VGPU_PROCESSOR", processor);
    program.env("GANGWAY_VGPU_DEVICES", "2").run().succeeded();
}

/// What is compiled is kept in a folder: a second process finds all of it there, and adds nothing.
fn keep(program: &Path, library: &Path, kernels: &Path) {
    let folder = Folder::new();
    let cache = folder.path("cache");
    let kept = || {
        let mut program = Command::new(program);
        program.env("KERNELS", kernels).env("GANGWAY_VGPU_MEMORY", "64M").env("GANGWAY_VGPU_CACHE", &cache);
        run(program.env("GANGWAY_VGPU_ENGINE", "compiler"), library, "gfx90a");
        let files = |folder: &Path| -> Vec<PathBuf> {
            let entries = std::fs::read_dir(folder).expect("a folder");
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
            paths.sort();
            paths
        };
        files(&cache).iter().flat_map(|part| files(part)).collect::<Vec<PathBuf>>()
    };
    let first = kept();
    assert!(!first.is_empty(), "nothing is kept");
    assert_eq!(first, kept());
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
    let kernels = kernels();
    if let Err(why) = &kernels {
        println!("ignored: programs with kernels: {why}");
    }
    for (name, path) in programs("tests/programs") {
        let processors = if ON_ALL.contains(&&*name) { &PROCESSORS[..] } else { &["gfx90a"] };
        let (launches, fails) = (WITH_KERNELS.contains(&&*name), name == "failing");
        let ignored = kernels.is_err() && launches;
        let program = if ignored { PathBuf::new() } else { compile(&path, &library) };
        for processor in processors {
            let (library, program) = (library.clone(), program.clone());
            let folder = kernels.clone().unwrap_or_default();
            let test = move || {
                let trace = program.with_extension(format!("{processor}.json"));
                let mut program = Command::new(&program);
                program.env("KERNELS", &folder).env("GANGWAY_VGPU_MEMORY", "64M");
                program.env("GANGWAY_VGPU_TRACE", &trace);
                // Compiled code looks at every byte only where it is asked to.
                if fails {
                    program.env("GANGWAY_VGPU_CHECK", "memory");
                }
                run(&mut program, &library, processor);
                let traced = std::fs::read_to_string(&trace)?;
                assert_eq!(traced.contains("\"cat\":\"kernel\""), launches, "{traced}");
                Ok(())
            };
            let name = if processors.len() > 1 { format!("{name}::{processor}") } else { name.clone() };
            trials.push(Trial::test(name, test).with_ignored_flag(ignored));
        }
        if name == "launches" {
            let (library, program) = (library.clone(), program.clone());
            let folder = kernels.clone().unwrap_or_default();
            let test = move || {
                keep(&program, &library, &folder);
                Ok(())
            };
            trials.push(Trial::test(format!("{name}::kept"), test).with_ignored_flag(ignored));
        }
        // By default kernels are interpreted until they are compiled. The same with one of the two.
        for engine in ENGINES.into_iter().filter(|_| launches) {
            let (library, program) = (library.clone(), program.clone());
            let folder = kernels.clone().unwrap_or_default();
            let test = move || {
                let mut program = Command::new(&program);
                program.env("KERNELS", &folder).env("GANGWAY_VGPU_MEMORY", "64M");
                program.env("GANGWAY_VGPU_ENGINE", engine).env("GANGWAY_VGPU_CHECK", "memory");
                run(&mut program, &library, "gfx90a");
                Ok(())
            };
            trials.push(Trial::test(format!("{name}::{engine}"), test).with_ignored_flag(ignored));
        }
    }
    let accelerator = gangway_compilers::accelerator_of(Maker::Amd);
    if let Err(why) = &accelerator {
        println!("ignored: GCC's programs: {why}");
    }
    for (name, path) in programs("tests/offload") {
        // What compilers make for the two differs little, and compiling libgomp takes a minute without optimisation.
        let all = OF_GCC.into_iter().flat_map(|processor| ENGINES.map(|engine| (processor, engine)));
        for (processor, engine) in all.filter(|case| *case != ("gfx900", "compiler")) {
            let (path, library) = (path.clone(), library.clone());
            let test = move || {
                offload(&path, &library, processor, engine);
                Ok(())
            };
            let (name, ignored) = (format!("offload/{name}::{processor}::{engine}"), accelerator.is_err());
            trials.push(Trial::test(name, test).with_ignored_flag(ignored));
        }
    }
    let plugins = Path::new(LLVM).join(PLUGINS).exists();
    if !plugins {
        println!("ignored: LLVM's plugins: {LLVM}/{PLUGINS} is not there (Debian: liboffload-22)");
    }
    for (name, path) in programs("tests/llvm") {
        let (library, kernels) = (library.clone(), kernels.clone());
        let ignored = !plugins || kernels.is_err();
        let test = move || {
            through_llvm(&path, &library, &kernels.unwrap_or_default());
            Ok(())
        };
        trials.push(Trial::test(format!("llvm/{name}"), test).with_ignored_flag(ignored));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
