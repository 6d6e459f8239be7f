//! Where the compilers are, and where Gangway's files for them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Language;
use super::flags::{GPU_TRIPLE, Target};
use crate::exit::{FAILURE, Failure};
use crate::{library, program};

/// The version of LLVM whose programs ask for our libraries.
const VERSION: &str = "22";

/// LLVM's linker.
const LLD: &str = "ld.lld";

/// The device runtime as a linker calls it.
pub const LIBOMPDEVICE: &str = "ompdevice";

/// What translated source includes.
const REVERSE_OFFLOAD: &str = "gangway/reverse_offload.h";

/// The compiler for a language, and the folder of its tools: of the LLVM that `GANGWAY_LLVM`
/// names, of the one in the search path, or of the one where Debian installs it.
pub fn compiler(language: Language) -> Result<(PathBuf, PathBuf), Failure> {
    let name = language.compiler();
    if let Some(llvm) = env::var_os("GANGWAY_LLVM").filter(|llvm| !llvm.is_empty()) {
        let tools = Path::new(&llvm).join("bin");
        let compiler = tools.join(name);
        if compiler.is_file() {
            return Ok((compiler, tools));
        }
        let compiler = compiler.display();
        return Err(Failure::new(FAILURE, format!("there is no {compiler}, which GANGWAY_LLVM leads to")));
    }
    let versioned = format!("{name}-{VERSION}");
    let debian = Path::new("/usr/lib").join(format!("llvm-{VERSION}")).join("bin");
    let found = program::find(versioned.as_ref(), env::var_os("PATH").as_deref()).ok();
    let compiler = found.or_else(|| Some(debian.join(name)).filter(|path| path.is_file()));
    let compiler = compiler.ok_or_else(|| {
        Failure::new(
            FAILURE,
            format!(
                "{versioned} is not in PATH; install it (Debian: apt-get install {}), or set GANGWAY_LLVM to where \
                 LLVM {VERSION} is",
                packages(language)
            ),
        )
    })?;
    // The tools stand beside what the link in the search path leads to.
    let real = compiler.canonicalize()?;
    let tools = real.parent().unwrap_or(&debian).to_owned();
    Ok((compiler, tools))
}

/// The packages of Debian that offloading in a language needs; clang++ comes with clang, and both compilers
/// have clang link device code.
fn packages(language: Language) -> String {
    let compilers: &[&str] = if language == Language::Fortran { &["flang", "clang"] } else { &["clang"] };
    let tools = ["clang-tools", "llvm"];
    let all = compilers.iter().chain(&tools).map(|name| format!("{name}-{VERSION}"));
    all.chain([format!("libomp-{VERSION}-dev")]).collect::<Vec<_>>().join(" ")
}

/// Checks that the tools are there that the compiler calls: its own words are "posix_spawn failed". Debian
/// has them in packages of their own.
pub fn check_tools(language: Language, folder: &Path, target: &Target, links: bool) -> Result<(), Failure> {
    let mut needed = vec!["clang", "llvm-offload-binary"];
    if links {
        needed.push("clang-linker-wrapper");
        needed.extend(target.gpu().then_some("clang-nvlink-wrapper"));
        needed.extend(target.links_bitcode_for_cpu().then_some(LLD));
    }
    let missing: Vec<&str> = needed.into_iter().filter(|tool| !folder.join(tool).is_file()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    // Only bitcode for CPU devices needs it.
    let linker = if missing.contains(&LLD) { format!(" lld-{VERSION}") } else { String::new() };
    let text = format!(
        "{}-{VERSION} calls {}, and there is no such program in {}; install what offloading needs (Debian: apt-get \
         install {}{linker})",
        language.compiler(),
        missing.join(" and "),
        folder.display(),
        packages(language)
    );
    Err(Failure::new(FAILURE, text))
}

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

/// What flang is to link into GPU code: what stands in for NVIDIA's libdevice, which flang does not look
/// for, and the functions of complex numbers.
pub fn linked_by_flang() -> Result<[PathBuf; 2], Failure> {
    let toolkit = Toolkit { directory: library::directory()? };
    Ok([toolkit.libdevice(), toolkit.complex_functions()])
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
                Language::Fortran => toolkit.complex_functions(),
                Language::C | Language::Cxx => toolkit.compile_step(),
            });
            if links {
                needed.push(toolkit.device_runtime().join(format!("lib{LIBOMPDEVICE}.a")));
            }
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
        self.directory.join(GPU_TRIPLE)
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
    fn complex_functions(&self) -> PathBuf {
        self.device_runtime().join("fortran.bc")
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

    /// What flang takes for its own tools.
    pub fn flang_tools(&self) -> PathBuf {
        self.directory.join("flang/bin")
    }
}
