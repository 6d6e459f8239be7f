//! Compiles an attack, and the libraries that attacks on the OpenMP runtime open.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::attack::{self, Attack, Target};

/// Where the staged installation has the virtual GPUs' libraries.
pub const DRIVER: &str = "lib/gangway/vgpu";
/// What the offload compiler is told besides the source.
const OFFLOAD: [&str; 2] = ["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"];

/// The processor of AMD's that programs are compiled for: the one that the virtual GPU is if nobody says otherwise.
const OF_AMD: &str = "gfx90a";

/// What every compiler is told.
const STRICT: [&str; 6] = ["-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-fwrapv"];

/// The program of an attack, in a folder of its own with what it opens.
pub fn compile(attack: &Attack, folder: &Path, stage: &Path, place: &Path) -> Result<PathBuf> {
    let own = place.join(attack.name());
    fs::create_dir_all(&own)?;
    let program = own.join("attack");
    match attack.target {
        Target::Driver => {
            let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vgpu/driver/tests/programs");
            let mut command = host_compiler(attack, folder, stage, &program);
            command.arg("-I").arg(headers).args(["-lcuda", "-lm", "-ldl"]);
            build(command)?;
        }
        Target::Hsa => {
            let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vgpu/hsa/tests");
            build(kernels(&tests, &own))?;
            let mut command = host_compiler(attack, folder, stage, &program);
            // As the system's: not every attack uses all of their functions.
            command.arg("-isystem").arg(tests.join("programs")).arg("-lhsa-runtime64");
            build(command)?;
        }
        Target::OpenMp | Target::Gpu | Target::Amd => {
            let offload_compiler = || offload_compiler(attack.target, folder, stage);
            for library in attack::sources(&folder.join("openmp/libraries"))? {
                let stem = library.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let mut command = offload_compiler();
                command.args(["-fPIC", "-shared"]).arg(&library).arg("-o");
                build({
                    command.arg(own.join(format!("lib{stem}.so")));
                    command
                })?;
            }
            let mut command = offload_compiler();
            command.arg(&attack.source).arg("-o").arg(&program).args(["-pthread", "-lm", "-ldl"]);
            build(command)?;
        }
        Target::Gcc => {
            let mut command = gangway_compilers::gcc();
            command.args(["-fopenacc", "-foffload=nvptx-none"]).args(STRICT).arg("-I").arg(folder);
            command.arg(&attack.source).arg("-o").arg(&program).arg("-pthread").current_dir(&own);
            build(command)?;
        }
    }
    Ok(program)
}

/// The system's compiler, for a program that calls a library of the virtual GPUs itself.
fn host_compiler(attack: &Attack, folder: &Path, stage: &Path, program: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command.args(STRICT).arg("-pthread").arg("-I").arg(folder).arg(&attack.source).arg("-o").arg(program);
    command.arg("-L").arg(stage.join(DRIVER));
    // A sanitized library leaves its runtime to who loads it.
    command.arg("-Wl,--allow-shlib-undefined");
    command
}

/// The kernels of the HSA library's own tests, where its programs look for them.
fn kernels(tests: &Path, folder: &Path) -> Command {
    let mut command = Command::new("clang-22");
    command.args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-O2", "-Werror", "-fvisibility=default"]);
    command.arg(format!("-mcpu={OF_AMD}")).arg(tests.join("kernels/kernels.c"));
    command.arg("-o").arg(folder.join(format!("kernels.{OF_AMD}.so")));
    command
}

/// Stock clang for the CPU devices, and for GPUs what gives it a device runtime.
fn offload_compiler(target: Target, folder: &Path, stage: &Path) -> Command {
    let processor = match target {
        Target::Gpu => Some("sm_80"),
        Target::Amd => Some(OF_AMD),
        Target::Driver | Target::Hsa | Target::OpenMp | Target::Gcc => None,
    };
    let mut command = if let Some(processor) = processor {
        let mut command = Command::new(stage.join("bin/gangway"));
        command.args(["cc", "-fopenmp"]).arg(format!("--offload-arch={processor}"));
        command
    } else {
        let mut command = Command::new("clang-22");
        command.args(OFFLOAD);
        command
    };
    command.args(STRICT).arg("-I").arg(folder);
    command
}

fn build(mut command: Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("{program} cannot be run; `make bootstrap`"))?;
    if !output.status.success() {
        bail!("{program} fails:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
