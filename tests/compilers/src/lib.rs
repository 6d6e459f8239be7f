//! Which of GCC's compilers tests and benchmarks call, in one place.
//!
//! It is the release of Debian that chooses: the commands without a number are its own GCC, 12 on
//! Debian 12 and 14 on Debian 13, and `scripts/bootstrap.sh` installs what belongs to them.
//! `GANGWAY_TEST_GCC=13` chooses another version that is installed; `scripts/compilers.sh` reads the
//! same variable. Called by tests, benchmarks and attacks; nothing of what is installed asks it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that chooses another version than the release's.
pub const VARIABLE: &str = "GANGWAY_TEST_GCC";

/// The languages that GCC offloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

impl Language {
    /// The language of a source, by its extension.
    #[must_use]
    pub fn of(source: &Path) -> Self {
        match source.extension().and_then(|extension| extension.to_str()) {
            Some("cpp" | "C") => Self::Cxx,
            Some("f90" | "F90" | "f") => Self::Fortran,
            _ => Self::C,
        }
    }

    fn command(self) -> &'static str {
        match self {
            Self::C => "gcc",
            Self::Cxx => "g++",
            Self::Fortran => "gfortran",
        }
    }
}

/// The name of a language's compiler, as a shell takes it.
#[must_use]
pub fn name(language: Language) -> String {
    named(language, std::env::var(VARIABLE).ok().as_deref())
}

fn named(language: Language, version: Option<&str>) -> String {
    match version.filter(|version| !version.is_empty()) {
        Some(version) => format!("{}-{version}", language.command()),
        None => language.command().to_owned(),
    }
}

/// GCC for C.
#[must_use]
pub fn gcc() -> Command {
    Command::new(name(Language::C))
}

/// GCC's release, such as 12; nothing where there is no GCC.
#[must_use]
pub fn release() -> Option<u8> {
    let output = gcc().arg("-dumpversion").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.split('.').next()?.trim().parse().ok()
}

/// The makers of GPUs that GCC offloads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    Nvidia,
    Amd,
}

impl Maker {
    /// What `-foffload` names.
    #[must_use]
    pub fn target(self) -> &'static str {
        match self {
            Self::Nvidia => "nvptx-none",
            Self::Amd => "amdgcn-amdhsa",
        }
    }

    /// How the name of Debian's package with the compiler ends.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Self::Nvidia => "nvptx",
            Self::Amd => "amdgcn",
        }
    }
}

/// Where GCC has its compiler and libraries for NVIDIA's GPUs.
///
/// # Errors
/// GCC or its offload compiler is not installed; the text says what to install.
pub fn accelerator() -> Result<PathBuf, String> {
    accelerator_of(Maker::Nvidia)
}

/// Where GCC has its compiler and libraries for a maker's GPUs.
///
/// # Errors
/// GCC or its offload compiler is not installed; the text says what to install.
pub fn accelerator_of(maker: Maker) -> Result<PathBuf, String> {
    // GCC answers with the question where it finds nothing.
    let (name, target) = (name(Language::C), maker.target());
    let answer = |question: &str| {
        let output = gcc().arg(question).output().map_err(|error| format!("{name}: {error}"))?;
        Ok::<_, String>(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
    };
    let compiler = answer(&format!("-print-prog-name=accel/{target}/mkoffload"))?;
    let libraries = answer(&format!("-print-file-name=accel/{target}"))?;
    if compiler.is_absolute() && libraries.is_absolute() {
        return Ok(libraries);
    }
    let whose = match maker {
        Maker::Nvidia => "NVIDIA's",
        Maker::Amd => "AMD's",
    };
    Err(format!(
        "{name} has no compiler for {whose} GPUs (Debian: apt-get install {name}-offload-{})",
        maker.package()
    ))
}

#[cfg(test)]
mod tests {
    use super::{Language, accelerator, gcc, name, named, release};
    use std::path::Path;

    #[test]
    fn names() {
        assert_eq!(named(Language::C, None), "gcc");
        assert_eq!(named(Language::Cxx, Some("")), "g++");
        assert_eq!(named(Language::Fortran, Some("13")), "gfortran-13");
        assert_eq!(Language::of(Path::new("a.f90")), Language::Fortran);
        assert_eq!(Language::of(Path::new("a/b.cpp")), Language::Cxx);
        assert_eq!(Language::of(Path::new("a.c")), Language::C);
    }

    /// What `make bootstrap-test` installs belongs together.
    #[test]
    fn compilers_of_one_version_are_there() {
        let version = |language| {
            let output = std::process::Command::new(name(language)).arg("-dumpversion").output();
            String::from_utf8(output.unwrap_or_else(|error| panic!("{language:?}: {error}")).stdout).unwrap()
        };
        for language in [Language::Cxx, Language::Fortran] {
            assert_eq!(version(language), version(Language::C), "{language:?}");
        }
        assert!(version(Language::C).starts_with(&release().unwrap().to_string()));
        assert_eq!(gcc().get_program().to_str(), Some(&*name(Language::C)));
        assert!(accelerator().unwrap().join("libgomp.a").exists());
    }
}
