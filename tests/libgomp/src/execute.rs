//! Runs a built test on the virtual GPU, or on the host.
//!
//! Called by `schedule`. The environment is made from nothing, so that the
//! caller's shell decides no result; only `GANGWAY_VGPU_*` passes through. The
//! driver writes a trace of its calls, from which a run tells how many kernels
//! it launched: a program that fell back to the host cannot pass for one that
//! offloaded.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::arguments::{Device, FrontEnd, Mode};
use crate::catalogue::Test;
use crate::plan::Plan;
use crate::process::{self, Finished};
use crate::suite::{Model, PROCESSOR};

/// What a line of a trace has that is a kernel's.
const KERNEL: &str = "\"cat\":\"kernel\"";

/// How tests are run.
pub struct Runner {
    /// The folder of `libcuda.so.1`.
    pub libraries: PathBuf,
    /// The library that stands before libgomp, if one does.
    pub preloaded: Option<PathBuf>,
    /// The command that runs programs of clang's.
    pub gangway: PathBuf,
    /// The root of GCC's sources.
    pub sources: PathBuf,
    /// For tests that set no limit of their own.
    pub time_limit: Duration,
    /// What is looked for, as `--check` names it.
    pub checks: Option<String>,
    pub mode: Mode,
}

/// What a run did.
#[derive(Debug)]
pub struct Run {
    pub finished: Finished,
    /// How many kernels were launched; none if the driver wrote no trace.
    pub launches: Option<usize>,
    /// What checks have found, as SARIF.
    pub findings: Option<String>,
}

/// The file with what checks have found, in the folder of a run.
const FINDINGS: &str = "findings.sarif";

/// How many times as long a test may take under checks, or where kernels are interpreted.
const PATIENCE: u32 = 5;

impl Runner {
    /// How long a test may take.
    pub fn limit(&self, plan: &Plan) -> Duration {
        let is_slow = self.checks.is_some() || self.mode.device == Device::Amd;
        let patience = if is_slow { PATIENCE } else { 1 };
        plan.seconds.map_or(self.time_limit, Duration::from_secs).mul_f64(plan.time_factor) * patience
    }

    /// The variables that a test is run with, besides what every program needs.
    /// `mandatory` is false where a test falls back to the host on purpose.
    pub fn environment(&self, test: &Test, plan: &Plan, mandatory: bool) -> Vec<(String, String)> {
        let mut variables = Vec::new();
        if !self.is_by_gangway() {
            variables.push(("LD_LIBRARY_PATH".to_owned(), self.libraries.display().to_string()));
        }
        if let Some(library) = self.preloaded.as_ref().filter(|_| !self.is_by_gangway()) {
            variables.push(("LD_PRELOAD".to_owned(), library.display().to_string()));
        }
        if mandatory || test.suite.model == Model::OpenAcc {
            let (name, value) = test.suite.environment(self.mode.device);
            variables.push((name.to_owned(), value.to_owned()));
        }
        if self.mode.device == Device::Amd {
            variables.push(("GANGWAY_VGPU_PROCESSOR".to_owned(), PROCESSOR.to_owned()));
        }
        if self.mode.devices > NonZeroU32::MIN {
            variables.push(("GANGWAY_VGPU_DEVICES".to_owned(), self.mode.devices.to_string()));
        }
        variables.extend(plan.environment.iter().cloned());
        variables
    }

    /// The words of the command that runs a program.
    pub fn command(&self, program: &Path) -> Vec<String> {
        let mut words = Vec::new();
        if self.is_by_gangway() {
            let device = if self.mode.device.is_gpu() { "vgpu" } else { "cpu" };
            words.push(self.gangway.display().to_string());
            words.extend(["run", "--device", device].map(str::to_owned));
            words.extend(self.checks.iter().map(|checks| format!("--check={checks}")));
            if self.checks.is_some() {
                words.extend(["--check-exit", "0", "--sarif", FINDINGS].map(str::to_owned));
            }
            match self.mode.front_end {
                FrontEnd::Stock => words.extend(["--gcc-runtime", "stock"].map(str::to_owned)),
                FrontEnd::Gangway => words.extend(["--gcc-runtime", "gangway"].map(str::to_owned)),
                FrontEnd::Clang => {}
            }
            words.push("--".to_owned());
        }
        words.push(program.display().to_string());
        words
    }

    /// Whether `gangway run` runs programs.
    fn is_by_gangway(&self) -> bool {
        self.mode.front_end == FrontEnd::Clang || self.checks.is_some()
    }

    /// Runs `program` in a folder of its own.
    pub fn run(&self, test: &Test, plan: &Plan, program: &Path, mandatory: bool) -> Result<Run> {
        let folder = tempfile::Builder::new().prefix("gangway-libgomp-").tempdir()?;
        let trace = folder.path().join("trace.json");
        let work = folder.path().join("work");
        fs::create_dir(&work)?;
        // Some OpenACC tests load this file from the current folder.
        let ptx = self.sources.join("libgomp/testsuite/libgomp.oacc-c-c++-common/subr.ptx");
        fs::copy(&ptx, work.join("subr.ptx")).with_context(|| ptx.display().to_string())?;

        let words = self.command(program);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&work).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").env("TMPDIR", folder.path());
        // What the interpreter runs in place of compiled code has failed, unless the caller wants that.
        if self.mode.device == Device::Nvidia {
            command.env("GANGWAY_VGPU_ENGINE", "compiler-only");
        }
        for (name, value) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GANGWAY_VGPU_") || name == "HOME" {
                command.env(name, value);
            }
        }
        command.env("GANGWAY_VGPU_TRACE", &trace);
        command.envs(self.environment(test, plan, mandatory));
        let finished = process::run(&mut command, self.limit(plan))?;
        let launches = fs::read(&trace).ok().map(|bytes| launches(&String::from_utf8_lossy(&bytes)));
        let findings = fs::read_to_string(work.join(FINDINGS)).ok();
        Ok(Run { finished, launches, findings })
    }
}

/// Kernels that run constructors and destructors: every program for AMD's GPUs has them.
const NOT_THE_TESTS: [&str; 2] = ["\"name\":\"_init_array\"", "\"name\":\"_fini_array\""];

/// How many kernels of the test a trace shows; one line is one event.
fn launches(trace: &str) -> usize {
    let is_tests =
        |line: &&str| line.contains(KERNEL) && !NOT_THE_TESTS.iter().any(|name| line.contains(name));
    trace.lines().filter(is_tests).count()
}

#[cfg(test)]
mod tests {
    use super::launches;

    #[test]
    fn kernels_in_a_trace() {
        let trace = "[\n{\"name\":\"cuInit\",\"cat\":\"call\"},\n{\"name\":\"f\",\"cat\":\"kernel\",\"ts\":1},\n\
                     {\"name\":\"_init_array\",\"cat\":\"kernel\"},\n\
                     {\"name\":\"cuLaunchKernel\",\"cat\":\"call\"},\n{\"name\":\"g\",\"cat\":\"kernel\",\"ts\":2},\n{\"na";
        assert_eq!(launches(trace), 2);
        assert_eq!(launches("[\n"), 0);
    }
}
