//! How programs are compiled.

use std::path::Path;
use std::process::Command;
use std::str::FromStr;

use gangway_commands::gangway;
use gangway_compilers::Language;

/// A compiler and what it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    OpenMp,
    OpenAcc,
    Gcc,
    GccOpenAcc,
}

impl Way {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenMp => "openmp",
            Self::OpenAcc => "openacc",
            Self::Gcc => "gcc",
            Self::GccOpenAcc => "gcc-openacc",
        }
    }

    fn option(self) -> &'static str {
        match self {
            Self::OpenMp | Self::Gcc => "-fopenmp",
            Self::OpenAcc | Self::GccOpenAcc => "-fopenacc",
        }
    }

    fn is_gcc(self) -> bool {
        matches!(self, Self::Gcc | Self::GccOpenAcc)
    }
}

impl FromStr for Way {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::OpenMp, Self::OpenAcc, Self::Gcc, Self::GccOpenAcc];
        all.into_iter().find(|way| way.name() == text).ok_or_else(|| format!("`{text}` is no way to compile"))
    }
}

/// The command that compiles a file for a device, without what it is to make.
#[must_use]
pub fn compile(way: Way, file: &Path, device: &str) -> Command {
    let language = Language::of(file);
    let mut command = if way.is_gcc() {
        let mut command = Command::new(gangway_compilers::name(language));
        command.args(["-foffload=nvptx-none", "-foffload-options=-lm"]);
        command
    } else {
        let mut command = gangway();
        command.arg(match language {
            Language::Cxx => "c++",
            Language::Fortran => "fc",
            Language::C => "cc",
        });
        command.arg(format!("--offload-arch={}", if device == "cpu" { "x86_64" } else { "sm_80" }));
        command
    };
    command.arg(way.option()).arg(file);
    command
}
