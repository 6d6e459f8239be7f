//! Everything that the installed compilers make is read, checked, printed and read back.
//!
//! - GCC: each object of the nvptx archives that `gcc-offload-nvptx` leads to, and
//!   the image of an OpenMP and of an OpenACC program.
//! - clang: the programs of `tests/corpus` for several processors and levels of
//!   optimisation.
//!
//! Without a compiler its tests are reported as ignored, and a line says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_commands::Folder;
use gangway_compilers::{Language, accelerator, name};
use libtest_mimic::{Arguments, Failed, Trial};
use object::read::archive::ArchiveFile;

/// All archives but `libg.a`, which is `libc.a` under another name.
const ARCHIVES: &[&str] = &["atomic", "c", "caf_single", "gcc", "gcov", "gfortran", "gomp", "m"];

/// Processors, and the PTX version that clang is asked for with each.
const PROCESSORS: &[(u32, u32)] = &[(30, 60), (60, 60), (80, 78), (90, 86)];

fn main() {
    let mut trials = Vec::new();
    let accelerator = accelerator();
    let gcc = accelerator.is_ok();
    if let Err(why) = &accelerator {
        eprintln!("skipping the tests of GCC's output: {why}");
    }
    let accelerator = accelerator.unwrap_or_default();
    for folder in ["", "mgomp/"] {
        for archive in ARCHIVES {
            let name = format!("gcc/{folder}lib{archive}.a");
            let path = accelerator.join(format!("{folder}lib{archive}.a"));
            trials.push(Trial::test(name, move || every_object(&path)).with_ignored_flag(!gcc));
        }
    }
    for option in ["-fopenmp", "-fopenacc"] {
        for level in ["-O0", "-O1", "-O2"] {
            let name = format!("gcc/image{option}{level}");
            trials.push(Trial::test(name, move || image(option, level)).with_ignored_flag(!gcc));
        }
    }
    let clang = Command::new("clang-22").arg("--version").output().is_ok();
    if !clang {
        eprintln!("skipping the tests of clang's output: clang-22 is not installed");
    }
    for &(processor, version) in PROCESSORS {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let name = format!("clang/sm_{processor}{level}");
            let run = move || corpus(processor, version, level);
            trials.push(Trial::test(name, run).with_ignored_flag(!clang));
        }
    }
    let llc = Command::new("llc-22").arg("--version").output().is_ok();
    trials.push(Trial::test("llc/intrinsics", intrinsics).with_ignored_flag(!llc));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Reads a text, prints it, and reads that again.
fn there_and_back(name: &str, text: &[u8]) -> Result<gangway_ptx::Module, Failed> {
    let module = gangway_ptx::parse_bytes(text).map_err(|errors| format!("{name}: {errors}"))?;
    let printed = module.to_string();
    let again = gangway_ptx::parse(&printed).map_err(|errors| format!("{name}, printed: {errors}"))?;
    if again == module { Ok(module) } else { Err(format!("{name}: reads back as another module").into()) }
}

fn every_object(path: &Path) -> Result<(), Failed> {
    let data = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let archive = ArchiveFile::parse(&*data)?;
    let mut functions = 0;
    for member in archive.members() {
        let member = member?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let module = there_and_back(&name, member.data(&*data)?)?;
        functions += module.functions.iter().filter(|function| function.body.is_some()).count();
    }
    if functions == 0 { Err("no function in the whole archive".into()) } else { Ok(()) }
}

const OPENMP: &str = "
#include <stdio.h>
#pragma omp declare target
int calls;
static int fibonacci(int n) { calls++; return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
#pragma omp end declare target
int main(void) {
  double sum = 0, values[100];
  int small = 0;
  long largest = 0;
#pragma omp target teams distribute parallel for map(from : values) reduction(+ : sum) reduction(max : largest)
  for (int i = 0; i < 100; i++) { values[i] = fibonacci(i % 9) / 3.0f; sum += values[i]; largest = i; }
#pragma omp target parallel map(tofrom : small, sum)
  {
#pragma omp atomic
    small++;
#pragma omp critical
    sum += 1;
#pragma omp barrier
    printf(\"%d\\n\", small);
  }
#pragma omp target simd map(values) reduction(+ : sum) lastprivate(largest)
  for (int i = 0; i < 100; i++) { sum += values[i]; largest = i; }
  return sum + largest == 3;
}
";

const OPENACC: &str = "
#pragma acc routine vector
float total(float *a, int n) {
  float sum = 0;
#pragma acc loop vector reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += a[i];
  return sum;
}
int main(void) {
  float a[100], sum = 0;
  long most = 0;
#pragma acc parallel loop gang worker vector copy(a) reduction(+ : sum) num_workers(4) vector_length(64)
  for (int i = 0; i < 100; i++) { a[i] = i; sum += i; }
#pragma acc parallel copy(a) reduction(max : most)
#pragma acc loop gang
  for (int j = 0; j < 4; j++) {
    float t = total(a, 100);
#pragma acc loop worker vector
    for (int i = 0; i < 100; i++) {
#pragma acc atomic update
      a[i % 7] += t;
    }
    most = j;
  }
  return sum == most;
}
";

/// What GCC's linker makes for a program: its own code and all of the libraries that it
/// needs, as texts that zero bytes separate.
fn image(option: &str, level: &str) -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write("a.c", if option == "-fopenmp" { OPENMP } else { OPENACC });
    // Formatted output on the device needs 16-byte atomics.
    let mut arguments = vec![option, level, "-foffload=nvptx-none", "-foffload=-latomic"];
    arguments.extend(["-save-temps", "-foffload=-save-temps", "a.c", "-o", "a"]);
    folder.tool(&name(Language::C), &arguments);
    let linked = files(&folder, "mkoffload")?;
    let [linked] = &linked[..] else { return Err(format!("not one linked image: {linked:?}").into()) };
    let data = fs::read(linked)?;
    let mut kernels = 0;
    for (index, text) in data.split(|&byte| byte == 0).filter(|text| !text.is_empty()).enumerate() {
        kernels += there_and_back(&format!("text {index}"), text)?.kernels().count();
    }
    if kernels == 0 { Err("no kernel in the image".into()) } else { Ok(()) }
}

fn corpus(processor: u32, version: u32, level: &str) -> Result<(), Failed> {
    let folder = Folder::new();
    let sources = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus"), "c")?;
    if sources.is_empty() {
        return Err("no corpus".into());
    }
    for source in &sources {
        let march = format!("-march=sm_{processor}");
        let feature = format!("+ptx{version}");
        let source = source.display().to_string();
        let mut arguments = vec!["--target=nvptx64-nvidia-cuda", "-w", "-S", "-g", level, &march];
        arguments.extend(["-Xclang", "-target-feature", "-Xclang", &feature, &source, "-o", "a.ptx"]);
        if processor >= 70 {
            arguments.push("-DSM_70");
        }
        if version >= 73 {
            arguments.push("-DPTX_73");
        }
        folder.tool("clang-22", &arguments);
        let module = there_and_back(&source, &folder.read("a.ptx"))?;
        if module.kernels().next().is_none() {
            return Err(format!("{source}: no kernel").into());
        }
    }
    Ok(())
}

fn intrinsics() -> Result<(), Failed> {
    let folder = Folder::new();
    let source = format!("{}/tests/corpus/intrinsics.ll", env!("CARGO_MANIFEST_DIR"));
    folder.tool("llc-22", &["-mcpu=sm_90", "-mattr=+ptx86", &source, "-o", "a.ptx"]);
    let module = there_and_back("intrinsics", &folder.read("a.ptx"))?;
    if module.kernels().count() == 3 { Ok(()) } else { Err("not three kernels".into()) }
}

fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Failed> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    found.sort();
    Ok(found)
}
