//! Builds tests with stock gcc, and keeps what it built.
//!
//! Called by `schedule`. A program is found again by the compiler's version, the
//! options and the contents of all files of the testsuite that it is built from,
//! so a second run compiles nothing. Failed builds are not kept. The command is
//! the one that DejaGnu would give, and nothing looks at warnings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use crate::catalogue::Test;
use crate::plan::Plan;
use crate::process::{self, Ending};

/// Plenty for one file; a compiler that needs longer hangs.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// Where gcc is, and where its results are kept.
pub struct Compiler {
    /// The root of GCC's sources.
    sources: PathBuf,
    cache: PathBuf,
    /// Holds a `libcuda.so` for tests that call the driver themselves.
    libraries: PathBuf,
    /// Its command.
    name: String,
    version: String,
}

/// What became of a build.
pub enum Built {
    Program(PathBuf),
    /// gcc refused, with this output.
    Failed(String),
}

impl Compiler {
    pub fn new(release: u8, sources: &Path, build: &Path, libraries: &Path) -> Result<Self> {
        let name = format!("gcc-{release}");
        let output = Command::new(&name).arg("-v").output().with_context(|| format!("{name} is needed"))?;
        let version = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            version.contains("nvptx-none"),
            "{name} cannot offload: install Debian's package {name}-offload-nvptx"
        );
        let cache = build.join("programs");
        fs::create_dir_all(&cache)?;
        Ok(Self { sources: sources.to_owned(), cache, libraries: libraries.to_owned(), name, version })
    }

    /// The arguments of the compiler, without where the result goes.
    pub fn arguments(&self, test: &Test, plan: &Plan) -> Vec<String> {
        let suite = test.suite;
        let mut arguments: Vec<String> = suite.language_options().iter().map(|it| (*it).to_owned()).collect();
        arguments.push(test.source.display().to_string());
        if plan.options.iter().any(|option| option == "-lcuda") {
            arguments.push(format!("-I{}/include", env!("CARGO_MANIFEST_DIR")));
        }
        for folder in suite.include_folders() {
            arguments.push(format!("-I{}", self.sources.join(folder).display()));
        }
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
            for source in &plan.additional_sources {
                arguments.push(test.source.with_file_name(source).display().to_string());
            }
            arguments.extend(["-dumpbase".to_owned(), String::new()]);
        }
        arguments.push("-lm".to_owned());
        arguments
    }

    /// The name of the compiler, for messages.
    pub fn name(&self) -> &str {
        &self.name
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
        let mut command = Command::new(&self.name);
        command.args(self.arguments(test, plan)).args(["-o", "program"]).current_dir(folder.path());
        command.env("LC_ALL", "C").env("TMPDIR", folder.path());
        let finished = process::run(&mut command, TIME_LIMIT)?;
        if !finished.ending.succeeded() {
            let why = if finished.ending == Ending::TimedOut { "gcc hangs\n" } else { "" };
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
        Ok(digest.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
