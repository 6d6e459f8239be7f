//! The driver that programs get, and programs that get it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::counting::{self, Api};
use crate::process::{output, undisturbed};
use anyhow::{Context, Result, bail};

/// What every CUDA driver is called.
const LIBRARY: &str = "libcuda.so.1";

/// Where the stock runtime is, as its package has it.
const STOCK: &str = "/usr/lib/llvm-22/lib";

/// A CUDA driver.
pub struct Driver {
    file: PathBuf,
    is_virtual: bool,
    /// A folder with a library that counts the driver's calls in front of it.
    counting: PathBuf,
}

/// Whose libomptarget a program gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    /// The one that `gangway cc` has linked it with.
    Gangway,
    /// That of its package.
    Stock,
}

impl Driver {
    /// NVIDIA's driver if there is a card, otherwise the virtual GPU's.
    ///
    /// # Errors
    /// There is none, or what stands in front of it cannot be built.
    pub fn choose(root: &Path, virtual_gpu: &Path, want_virtual: bool, build: &Path) -> Result<Self> {
        let card = if want_virtual { None } else { card()? };
        let is_virtual = card.is_none();
        let file = card.unwrap_or_else(|| virtual_gpu.join(LIBRARY));
        if !file.is_file() {
            bail!("there is no {}: run `make build`", file.display());
        }
        let counting = build.join("counting");
        counting::build(root, &file, LIBRARY, Api::Cuda, &counting)?;
        Ok(Self { file: file.canonicalize()?, is_virtual, counting })
    }

    /// Whether it is the virtual GPU's.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        self.is_virtual
    }

    /// The folder that leads to the driver; none for the one that the loader finds.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        if self.is_virtual { self.file.parent() } else { None }
    }

    /// A command for a program on this driver.
    #[must_use]
    pub fn command(&self, program: &Path, runtime: Runtime) -> Command {
        self.command_with(program, runtime, self.folder())
    }

    /// A command for a program whose runtime somebody else chooses, on this driver with its calls
    /// counted. With `null_kernels`, no kernel is started.
    #[must_use]
    pub fn counted_alone(&self, program: &Path, null_kernels: bool) -> Command {
        let mut command = undisturbed(program);
        command.env("LD_LIBRARY_PATH", &self.counting).env("GANGWAY_BENCH_DRIVER", &self.file);
        if null_kernels {
            command.env("GANGWAY_BENCH_NULL", "1");
        }
        command
    }

    /// As [`command`](Self::command), with the calls of the driver counted.
    #[must_use]
    pub fn counted(&self, program: &Path, runtime: Runtime) -> Command {
        let mut command = self.command_with(program, runtime, Some(&self.counting));
        command.env("GANGWAY_BENCH_DRIVER", &self.file);
        command
    }

    fn command_with(&self, program: &Path, runtime: Runtime, folder: Option<&Path>) -> Command {
        let mut command = undisturbed(program);
        let stock = (runtime == Runtime::Stock).then_some(Path::new(STOCK));
        let folders: Vec<&str> = [folder, stock].into_iter().flatten().filter_map(Path::to_str).collect();
        if !folders.is_empty() {
            command.env("LD_LIBRARY_PATH", folders.join(":"));
        }
        command
    }

    /// Makes sure that a program gets the runtime that is asked for.
    ///
    /// # Errors
    /// It gets another one.
    pub fn verify(&self, program: &Path, runtime: Runtime) -> Result<()> {
        let listing = output(self.command(program, runtime).env("LD_TRACE_LOADED_OBJECTS", "1"))?;
        let line = listing.lines().find(|line| line.contains("libomptarget.so"));
        let line = line.with_context(|| format!("{} uses no libomptarget", program.display()))?;
        if line.contains(STOCK) != (runtime == Runtime::Stock) {
            bail!("the loader takes the wrong library:{line}");
        }
        Ok(())
    }
}

/// Whether the stock runtime is installed.
#[must_use]
pub fn has_stock() -> bool {
    Path::new(STOCK).join("libomptarget.so.22.1").exists()
}

/// NVIDIA's driver, if there is a card: what the loader's cache says.
fn card() -> Result<Option<PathBuf>> {
    if !Path::new("/proc/driver/nvidia/version").exists() {
        return Ok(None);
    }
    let cache = output(Command::new("/sbin/ldconfig").arg("-p"))?;
    let line = cache.lines().find(|line| line.trim_start().starts_with(LIBRARY));
    Ok(line.and_then(|line| line.split_once("=> ")).map(|(_, path)| PathBuf::from(path.trim())))
}
