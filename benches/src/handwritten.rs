//! The kernels of `benches/vgpu`, written as a CUDA programmer would, and the program that
//! runs them through the driver and natively.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::process::{compile, figure, output, undisturbed};

/// What all sources are compiled with.
pub const STRICT: [&str; 5] = ["-O3", "-fno-math-errno", "-Wall", "-Wextra", "-Werror"];

/// What host code is compiled with besides.
pub const NATIVE: [&str; 3] = ["-march=native", "-fopenmp", "-lm"];

/// The compiled kernels and their program.
pub struct HandWritten {
    folder: PathBuf,
    kernels: &'static str,
}

/// Nanoseconds of one case, natively and on the device.
pub struct Times {
    pub native: f64,
    pub device: f64,
}

impl HandWritten {
    /// Compiles the kernels with clang-22, to PTX, which every driver takes.
    pub fn build(root: &Path, folder: &Path) -> Result<Self> {
        let sources = root.join("benches/vgpu");
        let device = [
            "--target=nvptx64-nvidia-cuda",
            "-march=sm_80",
            "-Xclang",
            "-target-feature",
            "-Xclang",
            "+ptx80",
        ];
        let kernels = "kernels.ptx";
        compile(Command::new("clang-22"), &sources.join("kernels.c"), &folder.join(kernels), |command| {
            command.args(STRICT).args(device).arg("-S")
        })?;
        Self::program(&sources, folder, kernels)
    }

    /// Compiles the kernels with a CUDA toolkit's compiler, for the device that is there.
    pub fn build_with(nvcc: &Path, root: &Path, folder: &Path) -> Result<Self> {
        let sources = root.join("benches/vgpu");
        let kernels = "kernels.cubin";
        compile(Command::new(nvcc), &sources.join("kernels.c"), &folder.join(kernels), |command| {
            command.args(["-x", "cu", "-O3", "-arch=native", "-cubin"])
        })?;
        Self::program(&sources, folder, kernels)
    }

    fn program(sources: &Path, folder: &Path, kernels: &'static str) -> Result<Self> {
        compile(Command::new("clang-22"), &sources.join("compare.c"), &folder.join("compare"), |command| {
            command.args(STRICT).args(NATIVE)
        })?;
        Ok(Self { folder: folder.to_owned(), kernels })
    }

    /// The file of the kernels.
    pub fn kernels(&self) -> PathBuf {
        self.folder.join(self.kernels)
    }

    /// Runs a case once with the driver in a folder, or with the one that the loader finds.
    pub fn run(&self, case: &str, driver: Option<&Path>) -> Result<Times> {
        let mut command = undisturbed(&self.folder.join("compare"));
        command.arg(case).arg(self.kernels());
        if let Some(folder) = driver {
            command.env("LD_LIBRARY_PATH", folder);
        }
        let text = output(&mut command)?;
        Ok(Times { native: figure(&text, "native_ns")?, device: figure(&text, "device_ns")? })
    }
}
