//! Programs and libraries of different compilers in one process, with data that they share on a device.
//!
//! Each compiler that is installed, clang 19 to 23 and GCC 12 to 16, makes a program and a library from the same
//! two sources (`chain/`). The program maps data and opens the libraries of all of them, whose regions change it on
//! the device; then the process becomes the next compiler's program. So each is once the program, and a library in all.
//!
//! - `cpu`: CPU devices. GCC makes no code for them: its library's regions run on the host, on the device's memory.
//! - `gpu`: the virtual GPU, with code of `gangway cc --llvm=N`, of clang with LLVM's own device runtime, and of GCC.
//!
//! What is not installed is left out by an ignored test that says so.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};

const GPU: &str = "sm_80";
/// The releases whose GPU code takes Gangway's device runtime.
const WITH_GPU: [u32; 2] = [22, 23];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compiler {
    Clang(u32),
    Gcc(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Device {
    Cpu,
    Gpu,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let clangs = (19..=23).map(Compiler::Clang);
    let compilers: Vec<Compiler> = clangs.chain((12..=16).map(Compiler::Gcc)).collect();
    let mut trials = Vec::new();
    for (device, name) in [(Device::Cpu, "cpu"), (Device::Gpu, "gpu")] {
        let mut found = Vec::new();
        for compiler in &compilers {
            match compiler.missing(device) {
                None => found.push(*compiler),
                Some(missing) => {
                    let name = format!("{name}/{} (left out: there is no {missing})", compiler.name());
                    trials.push(Trial::test(name, || Ok(())).with_ignored_flag(true));
                }
            }
        }
        let names: Vec<String> = found.iter().map(|compiler| compiler.name()).collect();
        let name = format!("{name}/{}", names.join("+"));
        trials.push(Trial::test(name, move || chain(&found, device).map_err(Failed::from)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn llvm(release: u32) -> PathBuf {
    PathBuf::from(format!("/usr/lib/llvm-{release}"))
}

fn stage() -> PathBuf {
    let stage = std::env::var_os("GANGWAY_STAGE").map(PathBuf::from);
    let stage = stage.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/stage"));
    stage.canonicalize().unwrap_or(stage)
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chain").join(name)
}

fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!("{command:?}\n{}\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

impl Compiler {
    fn name(self) -> String {
        match self {
            Self::Clang(release) => format!("clang-{release}"),
            Self::Gcc(release) => format!("gcc-{release}"),
        }
    }

    /// What it cannot be tried without.
    fn missing(self, device: Device) -> Option<String> {
        match self {
            Self::Gcc(release) => {
                let question = "-print-prog-name=accel/nvptx-none/mkoffload";
                let answer = said(Command::new(self.name()).arg(question)).unwrap_or_default();
                let wanted = if answer.is_empty() { String::new() } else { "-offload-nvptx".to_owned() };
                (!Path::new(answer.trim()).is_absolute()).then(|| format!("gcc-{release}{wanted}"))
            }
            Self::Clang(release) => {
                let stock = llvm(release).join(format!("lib/libomptarget.so.{release}.1"));
                let mut needed =
                    vec![llvm(release).join("bin/clang"), llvm(release).join("bin/clang-linker-wrapper")];
                match device {
                    Device::Cpu => needed.push(stock),
                    Device::Gpu if WITH_GPU.contains(&release) => {
                        needed.push(llvm(release).join("bin/clang-nvlink-wrapper"));
                    }
                    Device::Gpu => needed.extend([stock, device_runtime(release)]),
                }
                needed.into_iter().find(|file| !file.exists()).map(|file| file.display().to_string())
            }
        }
    }

    /// Calls the compiler with what offloading to the device needs.
    fn command(self, device: Device, work: &Path) -> Result<Command, String> {
        let mut command = match (self, device) {
            (Self::Gcc(_), _) => {
                let mut command = Command::new(self.name());
                command.args(["-foffload=nvptx-none", "-fopenmp"]);
                command
            }
            (Self::Clang(release), Device::Gpu) if WITH_GPU.contains(&release) => {
                let mut command = Command::new(stage().join("bin/gangway"));
                command.args([
                    "cc",
                    &format!("--llvm={release}"),
                    "-fopenmp",
                    &format!("--offload-arch={GPU}"),
                ]);
                command
            }
            (Self::Clang(release), _) => {
                let mut command = Command::new(llvm(release).join("bin/clang"));
                command.arg("-fopenmp").arg(format!("-L{}", llvm(release).join("lib").display()));
                if device == Device::Cpu {
                    command.arg("-fopenmp-targets=x86_64-pc-linux-gnu");
                } else {
                    command.args(["-fopenmp-target-jit", &format!("--offload-arch={GPU}")]);
                    command.args(with_llvms_device_runtime(release, work)?);
                }
                command
            }
        };
        command.args(["-O2", "-w", "-fPIC"]);
        Ok(command)
    }
}

/// LLVM's own device runtime, as Debian has it.
fn device_runtime(release: u32) -> PathBuf {
    let library = llvm(release).join("lib");
    let bitcode = library.join(format!("libomptarget-nvptx-{GPU}.bc"));
    if bitcode.is_file() { bitcode } else { library.join("nvptx64-nvidia-cuda/libompdevice.a") }
}

/// What has clang find it, and as much of a CUDA toolkit as clang looks for, with a library of its own bitcode.
fn with_llvms_device_runtime(release: u32, work: &Path) -> Result<Vec<OsString>, String> {
    let toolkit = work.join(format!("cuda-{release}"));
    let library = toolkit.join("nvvm/libdevice");
    if !library.exists() {
        let io = |error: std::io::Error| format!("{}: {error}", toolkit.display());
        std::fs::create_dir_all(&library).map_err(io)?;
        for part in ["bin", "include"] {
            std::os::unix::fs::symlink(stage().join("lib/gangway/cuda").join(part), toolkit.join(part))
                .map_err(io)?;
        }
        let mut empty = Command::new(llvm(release).join("bin/clang"));
        empty.args([
            "--target=nvptx64-nvidia-cuda",
            "-nogpulib",
            "-c",
            "-emit-llvm",
            "-x",
            "c",
            "/dev/null",
            "-o",
        ]);
        said(empty.arg(library.join("libdevice.10.bc")))?;
    }
    let mut words = vec![OsString::from(format!("--cuda-path={}", toolkit.display()))];
    let runtime = device_runtime(release);
    if let (true, Some(folder)) = (runtime.ends_with("libompdevice.a"), runtime.parent()) {
        words.extend(["-Xoffload-linker".into(), format!("-L{}", folder.display()).into()]);
    }
    Ok(words)
}

fn chain(compilers: &[Compiler], device: Device) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let work = folder.path();
    let (mut libraries, mut programs, mut wanted) = (Vec::new(), Vec::new(), String::new());
    for compiler in compilers {
        let name = compiler.name();
        let step = name.replace('-', "_");
        let library = work.join(format!("lib{step}.so"));
        let mut command = compiler.command(device, work)?;
        command.args(["-shared", &format!("-DSTEP={step}"), &format!("-DSTEP_ON={step}_on")]);
        said(command.arg(source("library.c")).arg("-o").arg(&library))?;
        libraries.push(format!("{}:{step}", library.display()));
        // GCC's programs have no CPU devices to share data on.
        if device == Device::Cpu && matches!(compiler, Compiler::Gcc(_)) {
            continue;
        }
        let program = work.join(&name);
        let mut command = compiler.command(device, work)?;
        command.arg(format!("-DBY=\"{name}\"")).arg(source("program.c")).arg("-o").arg(&program);
        said(command.arg("-ldl"))?;
        programs.push(program.display().to_string());
        wanted += &format!("{name}: right with {} libraries\n", compilers.len());
    }
    let Some((first, next)) = programs.split_first() else {
        return Err("no compiler of the chain is installed".to_owned());
    };
    let gangway = stage().join("bin/gangway");
    let mut run = Command::new(gangway);
    run.args(["run", "--device", if device == Device::Cpu { "cpu" } else { "vgpu" }, "--", first]);
    run.args(&libraries).env("CHAIN_NEXT", next.join(":"));
    if device == Device::Gpu {
        run.env("CHAIN_GPU", "1").env("OMP_TARGET_OFFLOAD", "MANDATORY");
    }
    // The command looks at the program, which opens GCC's libraries itself.
    if compilers.iter().any(|compiler| matches!(compiler, Compiler::Gcc(_))) {
        run.env("LD_PRELOAD", stage().join("lib/gangway/libgangway-gomp.so"));
    }
    let shown = said(&mut run)?;
    if shown == wanted { Ok(()) } else { Err(format!("{run:?} printed\n{shown}\nnot\n{wanted}")) }
}
