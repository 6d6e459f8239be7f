//! Which attacks there are: the C files of `attacks/driver`, `attacks/hsa`, `attacks/openmp`, `attacks/gpu` and
//! `attacks/gcc`.
//!
//! A file says at its beginning, in comments, what it does, and with `// environment: NAME=VALUE` what it wants to run
//! in, or with `// devices: cpu` that it cannot run on virtual GPUs. Files in `attacks/openmp/libraries` are shared libraries that attacks open.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// What an attack attacks, which decides how it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The driver API of the virtual GPU: an ordinary C program, linked with `libcuda.so.1`.
    Driver,
    /// The HSA API of the virtual AMD GPU: an ordinary C program, linked with `libhsa-runtime64.so.1`.
    Hsa,
    /// The OpenMP runtime: compiled by clang with offloading to the CPU devices.
    OpenMp,
    /// The same programs, compiled for GPUs and run on the virtual one.
    Gpu,
    /// The same programs, compiled for AMD's GPUs and run on the virtual one.
    Amd,
    /// The front end for GCC's programs: compiled by GCC, and run on the virtual GPU.
    Gcc,
}

impl Target {
    pub const ALL: [Target; 6] =
        [Target::Driver, Target::Hsa, Target::OpenMp, Target::Gpu, Target::Amd, Target::Gcc];

    /// What the names of its attacks begin with.
    pub fn name(self) -> &'static str {
        match self {
            Target::Driver => "driver",
            Target::Hsa => "hsa",
            Target::OpenMp => "openmp",
            Target::Gpu => "gpu",
            Target::Amd => "amd",
            Target::Gcc => "gcc",
        }
    }

    /// Where its programs are.
    fn folders(self) -> &'static [&'static str] {
        match self {
            Target::Driver => &["driver"],
            Target::Hsa => &["hsa"],
            Target::OpenMp | Target::Amd => &["openmp"],
            Target::Gpu => &["gpu", "openmp"],
            Target::Gcc => &["gcc"],
        }
    }
}

#[derive(Clone, Debug)]
pub struct Attack {
    pub target: Target,
    pub source: PathBuf,
    stem: String,
    /// Names and values.
    pub environment: Vec<(String, String)>,
}

impl Attack {
    /// `None` if the program is not for that target.
    fn read(target: Target, source: PathBuf) -> Result<Option<Attack>> {
        let text = fs::read_to_string(&source).with_context(|| source.display().to_string())?;
        if matches!(target, Target::Gpu | Target::Amd) && text.lines().any(|line| line == "// devices: cpu") {
            return Ok(None);
        }
        let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let environment = text
            .lines()
            .filter_map(|line| line.strip_prefix("// environment: ")?.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Ok(Some(Attack { target, source, stem, environment }))
    }

    /// As it is told and chosen: `driver/vanishing`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.target.name(), self.stem)
    }

    /// Whether one of the names is its own, or that of what it attacks. No names mean all.
    pub fn is_chosen(&self, names: &[String]) -> bool {
        let own = self.name();
        names.is_empty() || names.iter().any(|name| *name == own || name == self.target.name())
    }
}

/// The C files of a folder, in order of their names.
pub fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// All attacks, in order of their names.
pub fn all(folder: &Path) -> Result<Vec<Attack>> {
    let mut attacks = Vec::new();
    for target in Target::ALL {
        for own in target.folders() {
            for source in sources(&folder.join(own))? {
                attacks.extend(Attack::read(target, source)?);
            }
        }
    }
    Ok(attacks)
}
