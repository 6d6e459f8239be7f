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

#[path = "support/llvm.rs"]
mod llvm;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use gangway_commands::{Folder, Run, gangway, stage};
use libtest_mimic::{Arguments, Trial};
use llvm::{GPU, WITH_GPU, device_runtime, llvm};

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
        trials.push(Trial::test(name, move || {
            chain(&found, device);
            Ok(())
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chain").join(name)
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
                let Ok(answer) = Command::new(self.name()).arg(question).output() else {
                    return Some(self.name());
                };
                let found = answer.stdout.starts_with(b"/");
                (!found).then(|| format!("gcc-{release}-offload-nvptx"))
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
    fn command(self, device: Device, work: &Path) -> Command {
        let mut command = match (self, device) {
            (Self::Gcc(_), _) => {
                let mut command = Command::new(self.name());
                command.args(["-foffload=nvptx-none", "-fopenmp"]);
                command
            }
            (Self::Clang(release), Device::Gpu) if WITH_GPU.contains(&release) => {
                let mut command = gangway();
                command.args(["cc", &format!("--llvm={release}"), "-fopenmp"]);
                command.arg(format!("--offload-arch={GPU}"));
                command
            }
            (Self::Clang(release), _) => {
                let mut command = Command::new(llvm(release).join("bin/clang"));
                command.arg("-fopenmp").arg(format!("-L{}", llvm(release).join("lib").display()));
                if device == Device::Cpu {
                    command.arg("-fopenmp-targets=x86_64-pc-linux-gnu");
                } else {
                    command.args(["-fopenmp-target-jit", &format!("--offload-arch={GPU}")]);
                    command.args(llvm::with_device_runtime(release, work));
                }
                command
            }
        };
        command.args(["-O2", "-w", "-fPIC"]);
        command
    }
}

fn chain(compilers: &[Compiler], device: Device) {
    let work = Folder::new();
    let (mut libraries, mut programs, mut wanted) = (Vec::new(), Vec::new(), String::new());
    for compiler in compilers {
        let name = compiler.name();
        let step = name.replace('-', "_");
        let library = work.path(format!("lib{step}.so"));
        let mut command = compiler.command(device, &work);
        command.args(["-shared", &format!("-DSTEP={step}"), &format!("-DSTEP_ON={step}_on")]);
        command.arg(source("library.c")).arg("-o").arg(&library).run().succeeded();
        libraries.push(format!("{}:{step}", library.display()));
        // GCC's programs have no CPU devices to share data on.
        if device == Device::Cpu && matches!(compiler, Compiler::Gcc(_)) {
            continue;
        }
        let program = work.path(&name);
        let mut command = compiler.command(device, &work);
        command.arg(format!("-DBY=\"{name}\"")).arg(source("program.c")).arg("-o").arg(&program);
        command.arg("-ldl").run().succeeded();
        programs.push(program.display().to_string());
        wanted += &format!("{name}: right with {} libraries\n", compilers.len());
    }
    let (first, next) = programs.split_first().expect("a compiler of the chain is installed");
    let mut run = gangway();
    run.args(["run", "--device", if device == Device::Cpu { "cpu" } else { "vgpu" }, "--", first]);
    run.args(&libraries).env("CHAIN_NEXT", next.join(":"));
    if device == Device::Gpu {
        run.env("CHAIN_GPU", "1").env("OMP_TARGET_OFFLOAD", "MANDATORY");
    }
    // The command looks at the program, which opens GCC's libraries itself.
    if compilers.iter().any(|compiler| matches!(compiler, Compiler::Gcc(_))) {
        run.env("LD_PRELOAD", stage().join("lib/gangway/libgangway-gomp.so"));
    }
    run.run().printed(&wanted);
}
