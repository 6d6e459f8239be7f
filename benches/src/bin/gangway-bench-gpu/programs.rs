//! The programs of `benches/gpu`, compiled once.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use gangway_bench::handwritten::{HandWritten, NATIVE, STRICT};
use gangway_bench::process::compile;

use gangway_bench::driver;

/// The processor that GPU code is compiled for.
const ARCHITECTURE: &str = "--offload-arch=sm_80";

/// The compiled programs.
pub struct Programs {
    pub regions: PathBuf,
    /// The loops for the device, and the same source for the host.
    pub kernels: PathBuf,
    pub native: PathBuf,
    pub bare: PathBuf,
    /// The same loops as kernels written by hand, compiled by clang-22.
    pub handwritten: HandWritten,
    /// And by NVIDIA's compiler, if there is one.
    pub nvcc: Option<HandWritten>,
    /// The stock runtime can run them: it takes machine code only, for which NVIDIA's
    /// assembler is needed.
    pub suits_stock: bool,
}

impl Programs {
    /// Compiles them into a folder, the offloading ones with the staged `gangway cc`.
    pub fn build(root: &Path, gangway: &Path, folder: &Path, on_card: bool) -> Result<Self> {
        if !gangway.is_file() {
            bail!("there is no {}: run `make build`", gangway.display());
        }
        let sources = root.join("benches/gpu");
        let nvcc = find_nvcc().filter(|_| on_card);
        let toolkit = nvcc.as_deref().and_then(|nvcc| nvcc.parent()?.parent());
        let offload = |name: &str| -> Result<PathBuf> {
            let mut compiler = Command::new(gangway);
            compiler.arg("cc");
            if let Some(toolkit) = toolkit {
                compiler.env("GANGWAY_CUDA_PATH", toolkit);
            }
            let target = folder.join(name);
            compile(compiler, &sources.join(name).with_extension("c"), &target, |command| {
                command.args(STRICT).args(["-fopenmp", ARCHITECTURE, "-lm"])
            })?;
            Ok(target)
        };
        let (regions, kernels) = (offload("regions")?, offload("kernels")?);
        let (native, bare) = (folder.join("native"), folder.join("bare"));
        compile(Command::new("clang-22"), &sources.join("kernels.c"), &native, |command| {
            command.args(STRICT).args(NATIVE)
        })?;
        compile(Command::new("clang-22"), &sources.join("bare.c"), &bare, |command| command.args(STRICT))?;
        let handwritten = HandWritten::build(root, folder)?;
        let suits_stock = toolkit.is_some() && driver::has_stock();
        let nvcc = match &nvcc {
            Some(nvcc) => {
                let folder = folder.join("nvcc");
                std::fs::create_dir_all(&folder)?;
                Some(HandWritten::build_with(nvcc, root, &folder).context("nvcc is there")?)
            }
            None => None,
        };
        Ok(Self { regions, kernels, native, bare, handwritten, nvcc, suits_stock })
    }

    /// The best of what is written by hand, and who has compiled it.
    pub fn best_handwritten(&self) -> (&HandWritten, &'static str) {
        match &self.nvcc {
            Some(nvcc) => (nvcc, "nvcc"),
            None => (&self.handwritten, "clang-22"),
        }
    }
}

/// NVIDIA's compiler, in the search path or where its packages put it.
fn find_nvcc() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/local/cuda/bin")]);
    folders.map(|folder| folder.join("nvcc")).find(|file| file.is_file())
}
