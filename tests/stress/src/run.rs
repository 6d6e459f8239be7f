//! Runs an attack in a process of its own, and says how that ended.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use wait_timeout::ChildExt;

use crate::attack::{Attack, Target};
use crate::compile::DRIVER;
use crate::watch::{self, Sample, Stuck, Watch};

/// How often a running attack is looked at.
const OFTEN: Duration = Duration::from_secs(1);
/// So much of what an attack said is shown.
const SHOWN: usize = 6000;

/// How an attack ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Ok,
    /// It says that something was wrong.
    Found(i32),
    Crashed(i32),
    /// It was ended, as it did not get on.
    Hung(Stuck),
    /// It has done nothing, or has not said what.
    Silent,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Ok => f.write_str("ok"),
            Ended::Found(status) => write!(f, "FAILED: something was wrong, status {status}"),
            Ended::Crashed(signal) => write!(f, "FAILED: crashed by signal {signal}"),
            Ended::Hung(stuck) => write!(f, "FAILED: does not end: {stuck}"),
            Ended::Silent => f.write_str("FAILED: it made no calls"),
        }
    }
}

/// What an attack did.
#[derive(Clone, Debug)]
pub struct Report {
    pub ended: Ended,
    pub calls: u64,
    /// The end of what it wrote to both outputs.
    pub output: String,
}

/// What attacks run with.
#[derive(Debug)]
pub struct Libraries {
    /// The staged installation.
    pub stage: PathBuf,
    /// A library that is loaded before all others.
    pub preloaded: Option<PathBuf>,
}

pub fn run(
    attack: &Attack,
    program: &Path,
    installed: &Libraries,
    seed: u64,
    seconds: u32,
) -> Result<Report> {
    let stage = &installed.stage;
    let place = program.parent().context("a program is in a folder")?;
    let (stdout, stderr) = (place.join("stdout"), place.join("stderr"));
    let mut command = match attack.target {
        Target::Driver | Target::Hsa | Target::OpenMp => Command::new(program),
        Target::Gpu | Target::Amd | Target::Gcc => {
            let mut command = Command::new(stage.join("bin/gangway"));
            command.args(["run", "--device", "vgpu"]);
            if attack.target == Target::Gcc {
                // It loads the front end before the program, or refuses.
                command.args(["--gcc-runtime", "gangway"]);
            }
            command.arg("--").arg(program);
            command
        }
    };
    command.arg(seed.to_string()).arg(seconds.to_string()).current_dir(place);
    for (name, _) in std::env::vars_os() {
        // What the caller's shell has set is not to decide a result.
        let text = name.to_string_lossy();
        if ["GANGWAY_", "OMP_", "ACC_", "GOMP_", "LIBOMPTARGET_", "KMP_", "LD_"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
        {
            command.env_remove(&name);
        }
    }
    let libraries = match attack.target {
        Target::Driver | Target::Hsa => stage.join(DRIVER).into_os_string(),
        Target::OpenMp | Target::Gpu | Target::Amd | Target::Gcc => {
            stage.join("lib/gangway").into_os_string()
        }
    };
    if attack.target != Target::Gcc {
        check_library(program, &libraries, stage)?;
    }
    command.env("LD_LIBRARY_PATH", libraries).env("GANGWAY_VGPU_DEVICES", "2");
    command.env("GANGWAY_VGPU_CACHE", place.join("cache"));
    // Where attacks on the HSA API find their code objects.
    command.env("KERNELS", place);
    if let Some(preloaded) = &installed.preloaded {
        command.env("LD_PRELOAD", preloaded);
    }
    command.envs(attack.environment.iter().map(|(name, value)| (name, value)));
    // Files, not pipes: a grandchild that lives on would keep a pipe open.
    command.stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
    // Here the attack counts its calls.
    let progress = place.join("progress");
    fs::write(&progress, 0_u64.to_ne_bytes())?;
    let mut child = command.process_group(0).spawn().with_context(|| attack.name())?;
    let mut watch = Watch::new(Instant::now(), Duration::from_secs(seconds.into()));
    let mut where_it_is = String::new();
    let status = loop {
        if let Some(status) = child.wait_timeout(OFTEN)? {
            break Ok(status);
        }
        let processes = watch::processes(child.id())?;
        let calls = fs::read(&progress)?.try_into().map_or(0, u64::from_ne_bytes);
        let ran = processes.iter().map(|process| process.ran).sum();
        if let Some(stuck) = watch.look(Sample { at: Instant::now(), calls, ran }) {
            where_it_is = watch::stacks(&processes, place);
            break Err(stuck);
        }
    };
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // What it has started ends with it. The group is gone already where it started nothing.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let text = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let (said, errors) = (text(&stdout)?, text(&stderr)?);
    let calls = said.lines().rev().find_map(|line| line.strip_prefix("calls: ")?.parse().ok()).unwrap_or(0);
    let ended = match status {
        Err(stuck) => {
            child.wait()?;
            Ended::Hung(stuck)
        }
        Ok(status) => match (status.signal(), status.code()) {
            (Some(signal), _) => Ended::Crashed(signal),
            (_, Some(0)) if calls > 0 => Ended::Ok,
            (_, Some(0)) => Ended::Silent,
            (_, code) => Ended::Found(code.unwrap_or(-1)),
        },
    };
    Ok(Report { ended, calls, output: format!("{}{}{where_it_is}", tail(&said), tail(&errors)) })
}

/// An attack on another library than ours would prove nothing.
fn check_library(program: &Path, libraries: &OsStr, stage: &Path) -> Result<()> {
    let output =
        Command::new("ldd").arg(program).env("LD_LIBRARY_PATH", libraries).output().context("ldd")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let ours = |line: &str| line.contains(&*stage.to_string_lossy());
    if !text.lines().any(ours) {
        bail!("{} does not find the libraries of {}:\n{text}", program.display(), stage.display());
    }
    if let Some(missing) = text.lines().find(|line| line.contains("not found")) {
        bail!("{}: {}", program.display(), missing.trim());
    }
    Ok(())
}

/// The last lines of a text.
fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(SHOWN);
    let start = (from..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    &text[start..]
}
