//! Compiles programs with the stock compiler, or finds them in the cache.
//!
//! Called by the test target for each program and level. A build is a directory
//! named by the hash of everything that goes into it (compiler version, flags,
//! sources, device archive), so a rerun compiles only what changed; it is filled
//! under a temporary name and renamed, so that tests may build at the same time.
//!
//! For CPU devices the compilers are called as a user of the stock toolchain calls them,
//! and Gangway's `libomptarget` is not linked. Only the device images of Fortran programs
//! take in Gangway's device archive, without which they do not link at all. For GPUs
//! the compilers are called by `gangway cc` and its like.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::corpus::{self, Program};
use crate::header::Reference;
use crate::toolchain::{Language, Toolchain, release};

/// What clang and flang need to make an x86-64 device image beside the host code.
const OFFLOAD_FLAGS: [&str; 2] = ["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"];

/// What `gangway cc` needs for images of CPUs and of NVIDIA's GPUs in one program.
pub const NVIDIA_FLAGS: [&str; 2] = ["-fopenmp", "--offload-arch=sm_80,x86_64"];

/// The lines of a compiler's messages that are shown: a crash prints hundreds.
const SHOWN_MESSAGES: usize = 40;

/// A compiled program.
#[derive(Debug, Clone)]
pub struct Built {
    pub executable: PathBuf,
    /// The shared library that the program opens, where its header names one.
    pub library: Option<PathBuf>,
    /// The OMPT tool, where its header names one.
    pub tool: Option<PathBuf>,
}

/// Compiles into `cache`.
#[derive(Debug)]
pub struct Builder<'a> {
    pub toolchain: &'a Toolchain,
    pub cache: PathBuf,
    pub devices: Devices,
}

/// What programs are compiled for, and with what.
#[derive(Debug, Clone)]
pub enum Devices {
    /// CPUs; `archive` is `libgangway-host-openmp.a`, linked into the images of Fortran programs.
    /// `command` is the staged one, for programs that are translated, with `files` of its own.
    Cpu { archive: PathBuf, command: PathBuf, files: Vec<PathBuf> },
    /// CPUs and GPUs, by the staged command with these flags, of which `version` tells that it is another one;
    /// `files` are what it links into the images. With `watched` the host's loads and stores are told
    /// to `--check=map`, which flang has no way to do.
    All { command: PathBuf, flags: [&'static str; 2], version: String, files: Vec<PathBuf>, watched: bool },
}

/// One run of a compiler: its name, what identifies it, and its arguments but `-o`.
struct Step {
    program: PathBuf,
    version: String,
    arguments: Vec<OsString>,
    sources: Vec<PathBuf>,
    output: &'static str,
}

impl Builder<'_> {
    /// Builds `program` at `level` (`O0`, `O2`).
    pub fn build(&self, program: &Program, level: &str) -> Result<Built, String> {
        let mut steps = vec![self.executable(program, level)?];
        if let Some(source) = &program.header.library {
            let step = self.step(Language::C, "library.so")?;
            steps.push(shared_library(step, source, level, self.offload_flags()));
        }
        if let Some(source) = &program.header.tool {
            // Not by `gangway cc`: a tool that is linked with libomptarget loads it while libomp starts.
            let step = self.stock_step(Language::C, "tool.so")?;
            steps.push(shared_library(step, source, level, &["-fopenmp"]));
        }

        for step in &mut steps {
            step.sources.extend(included(&step.sources)?);
        }

        let directory = self.cache.join(key(&steps)?);
        if !directory.is_dir() {
            self.fill(&directory, &steps)?;
        }
        Ok(Built {
            executable: directory.join("program"),
            library: program.header.library.as_ref().map(|_| directory.join("library.so")),
            tool: program.header.tool.as_ref().map(|_| directory.join("tool.so")),
        })
    }

    fn offload_flags(&self) -> &[&'static str] {
        match &self.devices {
            Devices::Cpu { .. } => &OFFLOAD_FLAGS,
            Devices::All { flags, .. } => flags,
        }
    }

    /// A call of the stock compiler for a language, without flags.
    fn stock_step(&self, language: Language, output: &'static str) -> Result<Step, String> {
        let compiler = self.toolchain.compiler(language)?;
        let version = compiler.version.clone();
        Ok(Step {
            program: compiler.program.clone().into(),
            version,
            arguments: vec![],
            sources: vec![],
            output,
        })
    }

    /// A call of the compiler for the devices.
    fn step(&self, language: Language, output: &'static str) -> Result<Step, String> {
        let mut step = self.stock_step(language, output)?;
        if let Devices::All { command, version, files, watched, .. } = &self.devices {
            for file in files.iter().chain([command]) {
                if !file.is_file() {
                    return Err(format!("{} is missing: run `cargo xtask stage`", file.display()));
                }
            }
            step.program.clone_from(command);
            step.version += version;
            step.arguments.push(language.subcommand().into());
            step.arguments.push(format!("--llvm={}", release()).into());
            if *watched && language != Language::Fortran {
                step.arguments.push("--check=map".into());
            }
            step.sources.clone_from(files);
        }
        Ok(step)
    }

    fn executable(&self, program: &Program, level: &str) -> Result<Step, String> {
        let mut step = self.step(program.language, "program")?;
        if let (true, Devices::Cpu { command, files, .. }) = (program.header.translated, &self.devices) {
            step.program.clone_from(command);
            step.arguments.push(program.language.subcommand().into());
            step.arguments.push(format!("--llvm={}", release()).into());
            step.sources.extend(files.iter().chain([command]).cloned());
        }
        step.arguments.extend([format!("-{level}").into(), "-g".into()]);
        if !program.header.plain {
            step.arguments.extend(self.offload_flags().iter().map(OsString::from));
        }
        step.arguments.push(program.source.clone().into());
        step.arguments.extend(program.header.flags.iter().map(OsString::from));
        step.sources.push(program.source.clone());
        for unit in &program.header.units {
            let unit = corpus::support_directory().join(unit);
            step.arguments.push(unit.clone().into());
            step.sources.push(unit);
        }
        if let (Language::Fortran, Devices::Cpu { archive, .. }) = (program.language, &self.devices) {
            if !archive.is_file() {
                return Err(format!(
                    "{} is missing: run `cargo xtask stage` (flang calls device functions that \
                     only this archive defines)",
                    archive.display()
                ));
            }
            step.arguments.push("-Xoffload-linker".into());
            step.arguments.push(archive.clone().into());
            // Fortran has no weak references: what only Gangway has, it is linked with.
            if let (Reference::ExpectedStockUnusable, Some(folder)) =
                (program.header.reference(), archive.parent())
            {
                step.arguments.push("-L".into());
                step.arguments.push(folder.into());
            }
            step.sources.push(archive.clone());
        }
        Ok(step)
    }

    fn fill(&self, directory: &Path, steps: &[Step]) -> Result<(), String> {
        fs::create_dir_all(&self.cache).map_err(|error| format!("{}: {error}", self.cache.display()))?;
        let unfinished = tempfile::Builder::new()
            .prefix("unfinished-")
            .tempdir_in(&self.cache)
            .map_err(|error| format!("{}: {error}", self.cache.display()))?;
        for step in steps {
            step.run(unfinished.path())?;
        }
        // Another test may have finished the same build first; its result is as good.
        match fs::rename(unfinished.path(), directory) {
            Ok(()) => {
                let _ = unfinished.keep();
                Ok(())
            }
            Err(_) if directory.is_dir() => Ok(()),
            Err(error) => Err(format!("{}: {error}", directory.display())),
        }
    }
}

fn shared_library(mut step: Step, source: &str, level: &str, flags: &[&str]) -> Step {
    let source = corpus::support_directory().join(source);
    step.arguments.extend([format!("-{level}").into(), "-g".into()]);
    step.arguments.extend(["-shared", "-fPIC"].map(OsString::from));
    step.arguments.extend(flags.iter().map(OsString::from));
    step.arguments.push(source.clone().into());
    step.sources.push(source);
    step
}

impl Step {
    fn run(&self, directory: &Path) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg("-o").arg(directory.join(self.output));
        // A compiler that crashes leaves its report here, not in the system's directory;
        // one of Fortran writes its modules where it runs, and several run at once.
        command.env("TMPDIR", directory).current_dir(directory);
        let output = command.output().map_err(|error| format!("{}: {error}", self.program.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let messages = String::from_utf8_lossy(&output.stderr);
        let shown: Vec<&str> = messages.lines().take(SHOWN_MESSAGES).collect();
        Err(format!("does not compile: {command:?}\n{}", shown.join("\n")))
    }
}

/// The files that `sources` include with quotes, directly or not: part of the hash.
fn included(sources: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut open = sources.to_vec();
    while let Some(source) = open.pop() {
        // The device archive is a source too, and no text.
        let Ok(text) = fs::read_to_string(&source) else { continue };
        for line in text.lines() {
            let Some(name) = line.strip_prefix("#include \"").and_then(|rest| rest.split('"').next()) else {
                continue;
            };
            let path = source.parent().unwrap_or(Path::new(".")).join(name);
            let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
            if !found.contains(&path) {
                open.push(path.clone());
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// The hash of a command, which changes what it makes when it is another one.
///
/// # Errors
/// If it cannot be read.
pub fn version_of(command: &Path) -> Result<String, String> {
    let contents = fs::read(command).map_err(|error| format!("{}: {error}", command.display()))?;
    Ok(Sha256::digest(contents).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The hash of everything that decides what the steps make.
fn key(steps: &[Step]) -> Result<String, String> {
    let mut hash = Sha256::new();
    // Lengths go in before the contents, so that no two inputs run together.
    let mut feed = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for step in steps {
        feed(step.program.as_os_str().as_encoded_bytes());
        feed(step.version.as_bytes());
        for argument in &step.arguments {
            feed(argument.as_encoded_bytes());
        }
        for source in &step.sources {
            let contents = fs::read(source).map_err(|error| format!("{}: {error}", source.display()))?;
            feed(&contents);
        }
    }
    Ok(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}
