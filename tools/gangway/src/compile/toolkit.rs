//! Where Gangway's files for the compilers are.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Language;
use super::target::{AMD_TRIPLE, GPU_TRIPLE, GpuKind, Target};
use crate::exit::{FAILURE, Failure};
use crate::library;

/// The device runtime as a linker calls it.
pub const LIBOMPDEVICE: &str = "ompdevice";

/// What translated source includes.
const REVERSE_OFFLOAD: &str = "gangway/reverse_offload.h";

/// Checks that there is a GPU to compile for where the user asks for the one that is there. clang says twice
/// that it "cannot determine nvptx64 architecture", and not what to do.
pub fn check_native(folder: &Path, target: &Target) -> Result<(), Failure> {
    if !target.gpus.iter().any(|gpu| gpu == "native") {
        return Ok(());
    }
    let found = Command::new(folder.join("nvptx-arch")).stderr(Stdio::null()).output();
    if found.is_ok_and(|output| output.stdout.starts_with(b"sm_")) {
        return Ok(());
    }
    let text = "--offload-arch=native: there is no GPU of NVIDIA's here; name what the program is to run on, such as \
                --offload-arch=sm_80, which the virtual GPU runs, too";
    Err(Failure::new(FAILURE, text))
}

/// What flang is to link into GPU code: the functions of complex numbers, and what stands in for NVIDIA's
/// libdevice, which flang does not look for.
pub fn linked_by_flang(gpu: GpuKind) -> Result<Vec<PathBuf>, Failure> {
    let toolkit = Toolkit { directory: library::directory()? };
    let libdevice = (gpu == GpuKind::Nvidia).then(|| toolkit.libdevice());
    Ok(libdevice.into_iter().chain([toolkit.complex_functions(gpu)]).collect())
}

/// Gangway's part of a compilation.
#[derive(Debug)]
pub struct Toolkit {
    directory: PathBuf,
}

impl Toolkit {
    /// Checks that what the target needs is there.
    pub fn find(language: Language, target: &Target, links: bool) -> Result<Self, Failure> {
        let toolkit = Self { directory: library::directory()? };
        let mut needed = Vec::new();
        if target.gpu() {
            if target.cuda.is_none() {
                needed.push(toolkit.cuda().join("bin/ptxas"));
                needed.push(toolkit.libdevice());
            }
            needed.push(match language {
                Language::Fortran => toolkit.complex_functions(GpuKind::Nvidia),
                Language::C | Language::Cxx => toolkit.compile_step(),
            });
            if links {
                needed.push(toolkit.device_runtime().join(format!("lib{LIBOMPDEVICE}.a")));
            }
        }
        if target.amd() && language == Language::Fortran {
            needed.push(toolkit.complex_functions(GpuKind::Amd));
        }
        if links && target.amd() {
            needed.push(toolkit.device_runtime_of(AMD_TRIPLE).join(format!("lib{LIBOMPDEVICE}.a")));
        }
        if links && target.cpu && language == Language::Fortran {
            needed.push(toolkit.host_archive());
        }
        for file in needed {
            if !file.is_file() {
                let text =
                    format!("there is no {}; the installation of Gangway is incomplete", file.display());
                return Err(Failure::new(FAILURE, text));
            }
        }
        if let Some(cuda) = &target.cuda {
            let ptxas = cuda.join("bin/ptxas");
            if !ptxas.is_file() {
                let text = format!("{} is no CUDA toolkit: it has no bin/ptxas", cuda.display());
                return Err(Failure::new(FAILURE, text));
            }
        }
        Ok(toolkit)
    }

    /// The folder with the libraries that programs are linked with.
    pub fn libraries(&self) -> &Path {
        &self.directory
    }

    /// The folders in which a linker finds `libomptarget.so`, the first one first: what has the name of a
    /// release of LLVM, where there is one, so that programs ask for it as those do which that release's
    /// compilers link by themselves.
    pub fn linked(&self, release: u32) -> Vec<PathBuf> {
        let named = self.directory.join(format!("llvm-{release}"));
        let named = Some(named).filter(|folder| folder.join("libomptarget.so").is_file());
        named.into_iter().chain([self.directory.clone()]).collect()
    }

    /// The folder with Gangway's headers: `include` beside `lib/gangway`.
    pub fn headers(&self) -> PathBuf {
        let prefix = self.directory.parent().and_then(Path::parent);
        prefix.unwrap_or(Path::new("/")).join("include")
    }

    /// The same for source that is translated, which needs one of them.
    pub fn headers_of_translated() -> Result<PathBuf, Failure> {
        let headers = Self { directory: library::directory()? }.headers();
        let needed = headers.join(REVERSE_OFFLOAD);
        if !needed.is_file() {
            let text = format!("there is no {}; the installation of Gangway is incomplete", needed.display());
            return Err(Failure::new(FAILURE, text));
        }
        Ok(headers)
    }

    /// The folder with the device runtime for NVIDIA's GPUs.
    pub fn device_runtime(&self) -> PathBuf {
        self.device_runtime_of(GPU_TRIPLE)
    }

    /// The folder with the device runtime for a kind of GPU.
    pub fn device_runtime_of(&self, triple: &str) -> PathBuf {
        self.directory.join(triple)
    }

    /// What Fortran's code for CPU devices is linked with.
    pub fn host_archive(&self) -> PathBuf {
        self.directory.join("libgangway-host-openmp.a")
    }

    /// Gangway's own.
    pub fn cuda(&self) -> PathBuf {
        self.directory.join("cuda")
    }

    /// What stands in for NVIDIA's libdevice.
    fn libdevice(&self) -> PathBuf {
        self.cuda().join("nvvm/libdevice/libdevice.10.bc")
    }

    /// What Fortran's GPU code calls for complex numbers.
    fn complex_functions(&self, gpu: GpuKind) -> PathBuf {
        self.device_runtime_of(gpu.triple()).join("fortran.bc")
    }

    /// The plugin by which clang has Gangway mend GPU code.
    pub fn compile_step(&self) -> PathBuf {
        self.directory.join("libgangway-compile-step.so")
    }

    /// What clang takes for a CUDA toolkit, or the one that the user has named.
    pub fn cuda_for(&self, target: &Target) -> PathBuf {
        target.cuda.clone().unwrap_or_else(|| self.cuda())
    }

    /// The folder with `ptxas`.
    pub fn cuda_tools(&self, target: &Target) -> PathBuf {
        self.cuda_for(target).join("bin")
    }

    /// What links code for CPU devices without a sanitizer's runtime.
    pub fn linker_without_runtimes(&self) -> PathBuf {
        self.directory.join("cpu/bin/ld")
    }

    /// What flang takes for its own tools.
    pub fn flang_tools(&self) -> PathBuf {
        self.directory.join("flang/bin")
    }
}
