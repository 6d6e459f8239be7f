//! The programs, compiled once, and commands that run them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use gangway_bench::driver::{Driver, Runtime};
use gangway_bench::process::{compile, undisturbed};

/// Where a program's regions run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Gpu,
    Cpu,
}

impl Place {
    /// The end of its programs' names.
    fn name(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Cpu => "cpu",
        }
    }

    /// What compiles for it.
    fn flag(self) -> &'static str {
        match self {
            Self::Gpu => "--offload-arch=sm_80",
            Self::Cpu => "-fopenmp-targets=x86_64-pc-linux-gnu",
        }
    }
}

/// Sources below `benches`, the programs that they become, where, and what is included before.
const SOURCES: &[(&str, &str, Place, Option<&str>)] = &[
    ("calls/calls.c", "calls", Place::Gpu, None),
    ("calls/calls.c", "calls", Place::Cpu, None),
    ("gpu/regions.c", "without", Place::Gpu, None),
    ("gpu/regions.c", "unused", Place::Gpu, Some(UNUSED)),
    ("programs/present.c", "without", Place::Cpu, None),
    ("programs/present.c", "unused", Place::Cpu, Some(UNUSED)),
];

/// Gives a program a call that is never made.
const UNUSED: &str = "calls/unused.h";

/// The compiled programs, and the driver.
pub struct Programs {
    folder: PathBuf,
    driver: Driver,
}

impl Programs {
    /// Compiles them into a folder with the staged `gangway cc`.
    pub fn build(root: &Path, stage: &Path, folder: &Path, driver: Driver) -> Result<Self> {
        let gangway = stage.join("bin/gangway");
        if !gangway.is_file() {
            bail!("there is no {}: run `make build`", gangway.display());
        }
        let this = Self { folder: folder.to_owned(), driver };
        let benches = root.join("benches");
        for &(source, program, place, before) in SOURCES {
            let mut compiler = Command::new(&gangway);
            compiler.arg("cc");
            compile(compiler, &benches.join(source), &this.program(program, place), |command| {
                command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-fopenmp", place.flag(), "-lm", "-I"]);
                command.arg(stage.join("include"));
                if let Some(before) = before {
                    command.arg("-include").arg(benches.join(before));
                }
                command
            })?;
            this.driver.verify(&this.program(program, place), Runtime::Gangway)?;
        }
        Ok(this)
    }

    fn program(&self, name: &str, place: Place) -> PathBuf {
        self.folder.join(format!("{name}-{}", place.name()))
    }

    /// A command for a program.
    pub fn command(&self, name: &str, place: Place) -> Command {
        match place {
            Place::Gpu => self.driver.command(&self.program(name, place), Runtime::Gangway),
            Place::Cpu => undisturbed(&self.program(name, place)),
        }
    }

    /// A command for a program whose kernels do not start, where that can be had; calls of the
    /// driver are counted.
    pub fn without_kernels(&self, name: &str, place: Place) -> Command {
        match place {
            Place::Gpu => self.driver.counted_alone(&self.program(name, place), true),
            Place::Cpu => undisturbed(&self.program(name, place)),
        }
    }
}
