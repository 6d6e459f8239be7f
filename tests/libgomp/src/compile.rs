//! Builds tests with a compiler, and keeps what it built.
//!
//! Called by `schedule`. A program is found again by the compiler's version, the
//! options and the contents of all files of the testsuite that it is built from,
//! so a second run compiles nothing. Failed builds are not kept. For stock gcc the command is
//! the one that DejaGnu would give; for clang it is `gangway cc`, without options that only
//! GCC has. Nothing looks at warnings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use crate::arguments::Device;
use crate::catalogue::Test;
use crate::plan::Plan;
use crate::process::{self, Ending};
use crate::suite::Language;

/// Plenty for one file; a compiler that needs longer hangs.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// How options begin that only GCC has: what it optimises, dumps and notes.
const OF_GCC: [&str; 10] = [
    "-foffload",
    "-fopt-info",
    "-fdump-",
    "--param=",
    "-Wopenacc-",
    "-fipa-pta",
    "-ftree-",
    "-fno-tree-",
    "-flto-partition",
    "-fcompare-debug",
];

/// The GPU code that is made: any that the virtual GPU runs.
const ARCHITECTURE: &str = "sm_80";

/// The clang that `gangway cc` calls.
const CLANG: &str = "clang-22";

/// Where a compiler is, and where its results are kept.
pub struct Compiler {
    kind: Kind,
    /// The root of GCC's sources.
    sources: PathBuf,
    cache: PathBuf,
    /// Holds a `libcuda.so` for tests that call the driver themselves.
    libraries: PathBuf,
    /// What results depend on.
    version: String,
}

/// The compilers there are, with their commands.
enum Kind {
    Gcc(String),
    /// Gangway's, for clang.
    Clang {
        gangway: PathBuf,
        device: Device,
        /// The folder of `openacc.h`.
        headers: PathBuf,
    },
}

/// What became of a build.
pub enum Built {
    Program(PathBuf),
    /// The compiler refused, with this output.
    Failed(String),
}

impl Compiler {
    /// Stock gcc of a release.
    pub fn gcc(release: u8, device: Device, sources: &Path, build: &Path, libraries: &Path) -> Result<Self> {
        let name = format!("gcc-{release}");
        let output = Command::new(&name).arg("-v").output().with_context(|| format!("{name} is needed"))?;
        let version = String::from_utf8_lossy(&output.stderr).into_owned();
        let target = device.target();
        ensure!(
            version.contains(target.target()),
            "{name} cannot offload: install Debian's package {name}-offload-{}",
            target.package()
        );
        Self::new(Kind::Gcc(name), version, sources, build, libraries)
    }

    /// `gangway cc` of an installation, for a device.
    pub fn clang(
        gangway: &Path,
        device: Device,
        sources: &Path,
        build: &Path,
        libraries: &Path,
    ) -> Result<Self> {
        let gangway = gangway.canonicalize().with_context(|| gangway.display().to_string())?;
        let root = gangway.parent().and_then(Path::parent).context("it lies in a folder `bin`")?;
        let headers = root.join("include/gangway");
        let output =
            Command::new(CLANG).arg("--version").output().with_context(|| format!("{CLANG} is needed"))?;
        let mut version = String::from_utf8_lossy(&output.stdout).into_owned();
        // What programs are made of besides.
        let mut files = vec![gangway.clone()];
        for folder in [&headers, &headers.join("openacc"), &root.join("lib/gangway/nvptx64-nvidia-cuda")] {
            for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
                files.push(entry?.path());
            }
        }
        files.sort();
        for file in files.iter().filter(|file| file.is_file()) {
            version += &hexadecimal(&Sha256::digest(fs::read(file)?)[..16]);
        }
        let headers = headers.join("openacc");
        Self::new(Kind::Clang { gangway, device, headers }, version, sources, build, libraries)
    }

    fn new(kind: Kind, version: String, sources: &Path, build: &Path, libraries: &Path) -> Result<Self> {
        let cache = build.join("programs");
        fs::create_dir_all(&cache)?;
        Ok(Self { kind, sources: sources.to_owned(), cache, libraries: libraries.to_owned(), version })
    }

    /// The arguments of the compiler, without where the result goes.
    pub fn arguments(&self, test: &Test, plan: &Plan) -> Vec<String> {
        match &self.kind {
            Kind::Gcc(_) => self.for_gcc(test, plan),
            Kind::Clang { device, .. } => {
                let mut arguments = self.for_clang(test, plan);
                let command = if test.suite.language == Language::Cxx { "c++" } else { "cc" };
                arguments.insert(0, command.to_owned());
                if *device == Device::Nvidia {
                    arguments.push(format!("--offload-arch={ARCHITECTURE}"));
                }
                arguments.push(format!("-L{}", self.libraries.display()));
                arguments.push("-lm".to_owned());
                arguments
            }
        }
    }

    fn for_gcc(&self, test: &Test, plan: &Plan) -> Vec<String> {
        let suite = test.suite;
        let mut arguments: Vec<String> = suite.language_options().iter().map(|it| (*it).to_owned()).collect();
        arguments.push(test.source.display().to_string());
        arguments.extend(self.include_options(test, plan));
        arguments.push(format!("-L{}", self.libraries.display()));
        // Debian's gcc leaves out libraries that no object before them needs. The
        // object that registers device code comes late, so that libgomp would be missing
        // in a program that has nothing but variables on the device.
        arguments.push("-Wl,--no-as-needed".to_owned());
        for option in ["-fmessage-length=0", "-fno-diagnostics-show-caret", "-fdiagnostics-color=never"] {
            arguments.push(option.to_owned());
        }
        arguments.push(suite.model_option().to_owned());
        arguments.extend(plan.options.iter().cloned());
        arguments.extend(suite.libraries().iter().map(|it| (*it).to_owned()));
        if !plan.additional_sources.is_empty() {
            arguments.extend(additional_sources(test, plan));
            arguments.extend(["-dumpbase".to_owned(), String::new()]);
        }
        arguments.push("-lm".to_owned());
        arguments
    }

    /// What clang and `gangway cc` take both.
    fn for_clang(&self, test: &Test, plan: &Plan) -> Vec<String> {
        let mut arguments = vec![test.suite.model_option().to_owned(), "-w".to_owned()];
        arguments.extend(test.suite.language_options().iter().map(|it| (*it).to_owned()));
        arguments.push(test.source.display().to_string());
        arguments.extend(additional_sources(test, plan));
        arguments.extend(self.include_options(test, plan));
        let of_gcc = |option: &str| OF_GCC.iter().any(|start| option.starts_with(start));
        arguments.extend(plan.options.iter().filter(|option| !of_gcc(option)).cloned());
        arguments
    }

    fn include_options(&self, test: &Test, plan: &Plan) -> Vec<String> {
        let mut folders = Vec::new();
        if plan.options.iter().any(|option| option == "-lcuda") {
            folders.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"));
        }
        // libgomp's own headers are for programs that call it.
        let foreign = |folder: &Path| !matches!(self.kind, Kind::Gcc(_)) && folder == Path::new("libgomp");
        let of_suite = test.suite.include_folders().into_iter().filter(|folder| !foreign(folder));
        folders.extend(of_suite.map(|folder| self.sources.join(folder)));
        folders.iter().map(|folder| format!("-I{}", folder.display())).collect()
    }

    /// The command of the compiler, for messages.
    pub fn name(&self) -> String {
        match &self.kind {
            Kind::Gcc(name) => name.clone(),
            Kind::Clang { gangway, .. } => gangway.display().to_string(),
        }
    }

    /// What refuses a test that is not compiled, for messages.
    pub fn short_name(&self) -> &'static str {
        match self.kind {
            Kind::Gcc(_) => "gcc",
            Kind::Clang { .. } => "gangway cc",
        }
    }

    /// Whether clang's own front end takes a test's sources, without anything of Gangway's but its headers.
    pub fn is_taken_by_clang(&self, test: &Test, plan: &Plan) -> Result<bool> {
        let Kind::Clang { headers, .. } = &self.kind else { return Ok(true) };
        let mut command = Command::new(CLANG);
        command.args(["-fsyntax-only", "-idirafter"]).arg(headers).args(self.for_clang(test, plan));
        Ok(process::run(&mut command, TIME_LIMIT)?.ending.succeeded())
    }

    /// The program of a test, built if it is not there yet.
    pub fn build(&self, test: &Test, plan: &Plan) -> Result<Built> {
        let kept = self.cache.join(self.key(test, plan)?);
        let program = kept.join("program");
        if program.exists() {
            return Ok(Built::Program(program));
        }
        // A folder of its own: dumps and Fortran modules go to the current one.
        let folder = tempfile::Builder::new().prefix("building-").tempdir_in(&self.cache)?;
        let mut command = Command::new(self.name());
        command.args(self.arguments(test, plan)).args(["-o", "program"]).current_dir(folder.path());
        command.env("LC_ALL", "C").env("TMPDIR", folder.path());
        let finished = process::run(&mut command, TIME_LIMIT)?;
        if !finished.ending.succeeded() {
            let why = if finished.ending == Ending::TimedOut { "the compiler hangs\n" } else { "" };
            return Ok(Built::Failed(format!("{why}{}", finished.output)));
        }
        fs::create_dir_all(&kept)?;
        // The last step: a run that is interrupted leaves no half-written program.
        fs::rename(folder.path().join("program"), &program)?;
        Ok(Built::Program(program))
    }

    /// A name that differs whenever the program could.
    fn key(&self, test: &Test, plan: &Plan) -> Result<String> {
        let mut digest = Sha256::new();
        let mut part = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        part(self.version.as_bytes());
        for argument in self.arguments(test, plan) {
            part(argument.as_bytes());
        }
        for file in &test.files {
            part(file.as_os_str().as_encoded_bytes());
            part(&fs::read(file).with_context(|| file.display().to_string())?);
        }
        Ok(hexadecimal(&digest.finalize()[..16]))
    }
}

fn additional_sources<'p>(test: &'p Test, plan: &'p Plan) -> impl Iterator<Item = String> + 'p {
    plan.additional_sources.iter().map(|source| test.source.with_file_name(source).display().to_string())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
