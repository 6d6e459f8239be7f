//! The programs, compiled once in each way, and commands that run and compile them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use gangway_bench::process::{compile, undisturbed};

use crate::cases::Case;

/// What compiles a program, and from which source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Gcc,
    OpenMp,
    Gangway,
}

pub const WAYS: [Way; 3] = [Way::Gcc, Way::OpenMp, Way::Gangway];

/// What all sources are compiled with.
const FLAGS: [&str; 2] = ["-O2", "-fno-math-errno"];

/// The processor that clang compiles GPU code for.
const ARCHITECTURE: &str = "--offload-arch=sm_80";

impl Way {
    const fn name(self) -> &'static str {
        match self {
            Self::Gcc => "gcc",
            Self::OpenMp => "openmp",
            Self::Gangway => "gangway",
        }
    }

    const fn form(self) -> &'static str {
        match self {
            Self::Gcc | Self::Gangway => "acc",
            Self::OpenMp => "omp",
        }
    }
}

pub struct Programs {
    sources: PathBuf,
    stage: PathBuf,
    folder: PathBuf,
}

impl Programs {
    pub fn new(root: &Path, stage: &Path, folder: &Path) -> Result<Self> {
        let this = Self { sources: root.join("benches/openacc"), stage: stage.into(), folder: folder.into() };
        if !this.gangway().is_file() {
            bail!("there is no {}: run `make build`", this.gangway().display());
        }
        Ok(this)
    }

    fn gangway(&self) -> PathBuf {
        self.stage.join("bin/gangway")
    }

    fn source(&self, case: &Case, way: Way) -> PathBuf {
        self.sources.join(format!("{}_{}.c", case.name, way.form()))
    }

    fn binary(&self, case: &Case, way: Way) -> PathBuf {
        self.folder.join(format!("{}-{}", case.name, way.name()))
    }

    /// Compiles a program in all ways.
    pub fn build(&self, case: &Case) -> Result<()> {
        for way in WAYS {
            let (compiler, model): (_, &[&str]) = match way {
                Way::Gcc => {
                    (gangway_compilers::gcc(), &["-fopenacc", "-foffload=nvptx-none", "-foffload=-lm"])
                }
                Way::OpenMp => (self.cc(), &["-fopenmp", ARCHITECTURE]),
                Way::Gangway => (self.cc(), &["-fopenacc", ARCHITECTURE]),
            };
            compile(compiler, &self.source(case, way), &self.binary(case, way), |command| {
                command.args(FLAGS).args(model).arg("-lm")
            })?;
        }
        Ok(())
    }

    fn cc(&self) -> Command {
        let mut command = undisturbed(&self.gangway());
        command.arg("cc");
        command
    }

    /// A command that runs a program under Gangway on the virtual GPU, with options of `gangway run`.
    pub fn run(&self, case: &Case, way: Way, options: &[&str]) -> Command {
        let mut command = undisturbed(&self.gangway());
        command.args(["run", "--device", "vgpu"]).args(options).arg("--").arg(self.binary(case, way));
        // A program that computed on the host instead would not say so.
        command.env("ACC_DEVICE_TYPE", "nvidia");
        command
    }

    /// Where the report of a program goes.
    pub fn report(&self, case: &Case, way: Way) -> Result<String> {
        let file = self.folder.join(format!("{}-{}.json", case.name, way.name()));
        Ok(file.to_str().context("a folder's name is not UTF-8")?.to_owned())
    }

    /// A command that compiles a source with Gangway, up to an object.
    pub fn compiled(&self, case: &Case, way: Way) -> Command {
        let mut command = self.cc();
        let model = if way == Way::OpenMp { "-fopenmp" } else { "-fopenacc" };
        command.args(FLAGS).args([model, ARCHITECTURE, "-c"]).arg(self.source(case, way));
        self.to_object(command)
    }

    /// A command that translates the OpenACC source.
    pub fn translated(&self, case: &Case) -> Command {
        let mut command = self.cc();
        command.args(FLAGS).args(["-fopenacc", ARCHITECTURE, "--emit-translated"]);
        command.arg(self.source(case, Way::Gangway));
        command
    }

    /// A command that compiles the OpenMP source with stock clang, up to an object. Without a CUDA toolkit
    /// it needs the folder that Gangway has in the place of one.
    pub fn clang(&self, case: &Case) -> Command {
        let mut command = undisturbed(Path::new("clang-22"));
        let mut toolkit = OsString::from("--cuda-path=");
        toolkit.push(self.stage.join("lib/gangway/cuda"));
        command.args(FLAGS).args(["-fopenmp", ARCHITECTURE, "-foffload-lto"]).arg(toolkit);
        command.arg("-c").arg(self.source(case, Way::OpenMp));
        self.to_object(command)
    }

    fn to_object(&self, mut command: Command) -> Command {
        command.arg("-o").arg(self.folder.join("compiled.o"));
        command
    }
}
