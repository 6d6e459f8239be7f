//! The programs, compiled once, and commands that run them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use gangway_bench::counting::{self, Api};
use gangway_bench::process::{compile, output, undisturbed};
use gangway_bench::program::Setting;

/// What every HSA runtime is called.
const LIBRARY: &str = "libhsa-runtime64.so.1";

/// The processor of GCC's programs. Its own choice is too old.
const PROCESSOR: &str = "gfx906";

/// Whose runtime a program of GCC's gets for its devices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    Stock,
    Gangway,
}

/// Whose GPU a program of clang's is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    Amd,
    Nvidia,
}

impl Maker {
    const fn processor(self) -> &'static str {
        match self {
            Self::Amd => "gfx90a",
            Self::Nvidia => "sm_80",
        }
    }
}

/// Programs of clang's, below `benches`.
const KERNELS: [&str; 5] = [
    "openacc/stencil_omp.c",
    "openacc/nbody_omp.c",
    "openacc/matmul_omp.c",
    "checks/dot_omp.c",
    "vgpu/first.c",
];

/// The compiled programs, and the libraries that make the difference.
pub struct Programs {
    folder: PathBuf,
    /// The HSA runtime of the virtual GPU.
    hsa: PathBuf,
    /// The folder of the library that counts its calls.
    counting: PathBuf,
    front: PathBuf,
    gangway: PathBuf,
}

impl Programs {
    /// Compiles them.
    ///
    /// # Errors
    /// GCC has no compiler for AMD's GPUs, Gangway is not installed, or what a compiler says.
    pub fn build(setting: &Setting, stage: &Path) -> Result<Self> {
        let library = stage.join("lib/gangway");
        let this = Self {
            folder: setting.build.clone(),
            hsa: library.join("vgpu").join(LIBRARY),
            counting: setting.build.join("counting"),
            front: library.join("libgangway-gomp.so"),
            gangway: stage.join("bin/gangway"),
        };
        for file in [&this.hsa, &this.front, &this.gangway] {
            if !file.is_file() {
                bail!("there is no {}: run `make build`", file.display());
            }
        }
        let sources = setting.root.join("benches");
        counting::build(&setting.root, &this.hsa, LIBRARY, Api::Hsa, &this.counting)?;
        compile(Command::new("clang-22"), &sources.join("gpu/nothing.s"), &this.nothing(), |command| {
            command.arg("--target=amdgcn-amd-amdhsa").arg(format!("-mcpu={PROCESSOR}"))
        })?;
        let march = format!("-foffload-options=amdgcn-amdhsa=-march={PROCESSOR}");
        compile(
            gangway_compilers::gcc(),
            &sources.join("gpu/regions.c"),
            &this.folder.join("regions"),
            |command| {
                command.args(["-O2", "-fopenmp", "-foffload=amdgcn-amdhsa", &march, "-ldl"]);
                command.arg(format!("-DDRIVER=\"{LIBRARY}\""))
            },
        )?;
        for source in KERNELS {
            for maker in [Maker::Amd, Maker::Nvidia] {
                let target = this.program(source, maker);
                let mut compiler = Command::new(&this.gangway);
                compiler.arg("cc");
                compile(compiler, &sources.join(source), &target, |command| {
                    command.args([
                        "-O2",
                        "-fno-math-errno",
                        "-fopenmp",
                        "-lm",
                        "-DGANGWAY_BENCH_PROCESSOR_TIME",
                    ]);
                    command.arg(format!("--offload-arch={}", maker.processor()))
                })?;
            }
        }
        Ok(this)
    }

    /// The code object of the kernel that does nothing.
    fn nothing(&self) -> PathBuf {
        self.folder.join("nothing.hsaco")
    }

    fn program(&self, source: &str, maker: Maker) -> PathBuf {
        let name = Path::new(source).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        self.folder.join(format!("{name}-{}", maker.processor()))
    }

    /// What GCC's program of regions prints about a case, under one of the runtimes.
    pub fn region(&self, case: &str, runtime: Runtime) -> Result<String> {
        let mut command = undisturbed(&self.folder.join("regions"));
        command.arg(case).env("LD_LIBRARY_PATH", &self.counting).env("GANGWAY_BENCH_DRIVER", &self.hsa);
        command.env("GANGWAY_BENCH_NULL", self.nothing()).env("GANGWAY_VGPU_PROCESSOR", PROCESSOR);
        if runtime == Runtime::Gangway {
            command.env("LD_PRELOAD", &self.front);
        }
        output(&mut command)
    }

    /// A command for a program of clang's, which runs on the virtual GPU that it is for.
    pub fn of_clang(&self, source: &str, maker: Maker) -> Command {
        let mut command = undisturbed(&self.gangway);
        command.args(["run", "--device", "vgpu", "--"]).arg(self.program(source, maker));
        command
    }
}
