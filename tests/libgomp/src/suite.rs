//! The folders of libgomp's testsuite, and how each `.exp` file has its tests built.
//!
//! Called by everything that needs to know what a folder's tests are: `catalogue`
//! to find them, `plan` for options and effective targets, `compile` and
//! `execute` for command lines and environments. The options are those that a
//! run of the original harness uses for GCC 12 with one offload target.

use std::path::{Path, PathBuf};

use crate::arguments::Device;

/// The programming model of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    OpenMp,
    OpenAcc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

/// One `.exp` file's worth of tests.
#[derive(Debug, PartialEq, Eq)]
pub struct Suite {
    /// Its folder's name, which starts the names of its tests.
    pub name: &'static str,
    pub model: Model,
    pub language: Language,
    /// A folder whose `.c` files belong to this suite as well.
    pub common: Option<&'static str>,
}

/// All suites, in the order of their names.
pub const SUITES: [Suite; 6] = [
    Suite {
        name: "libgomp.c",
        model: Model::OpenMp,
        language: Language::C,
        common: Some("libgomp.c-c++-common"),
    },
    Suite {
        name: "libgomp.c++",
        model: Model::OpenMp,
        language: Language::Cxx,
        common: Some("libgomp.c-c++-common"),
    },
    Suite { name: "libgomp.fortran", model: Model::OpenMp, language: Language::Fortran, common: None },
    Suite {
        name: "libgomp.oacc-c",
        model: Model::OpenAcc,
        language: Language::C,
        common: Some("libgomp.oacc-c-c++-common"),
    },
    Suite {
        name: "libgomp.oacc-c++",
        model: Model::OpenAcc,
        language: Language::Cxx,
        common: Some("libgomp.oacc-c-c++-common"),
    },
    Suite { name: "libgomp.oacc-fortran", model: Model::OpenAcc, language: Language::Fortran, common: None },
];

/// The processor that code for AMD's GPUs is made for, and that the virtual one is. GCC's own choice is too old.
pub const PROCESSOR: &str = "gfx906";

/// What has GCC make code for AMD's GPUs.
const OF_AMD: [&str; 2] = ["-foffload=amdgcn-amdhsa", "-foffload-options=amdgcn-amdhsa=-march=gfx906"];

/// The level of optimisation that the harness adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    O0,
    O2,
}

impl Level {
    pub const ALL: [Self; 2] = [Self::O0, Self::O2];

    pub fn option(self) -> &'static str {
        match self {
            Self::O0 => "-O0",
            Self::O2 => "-O2",
        }
    }
}

impl Suite {
    /// Whether a file of the suite's own folder is a test of it.
    pub fn owns(&self, file: &Path) -> bool {
        let extension = file.extension().and_then(|it| it.to_str()).unwrap_or_default();
        match self.language {
            Language::C => extension == "c",
            Language::Cxx => extension == "C",
            Language::Fortran => {
                matches!(extension.strip_prefix(['f', 'F']), Some("" | "90" | "95" | "03" | "08"))
            }
        }
    }

    /// The options before those of the test: what the `.exp` file always passes.
    pub fn options(&self, device: Device) -> Vec<&'static str> {
        match (self.model, device) {
            (Model::OpenMp, Device::Amd) => OF_AMD.to_vec(),
            (Model::OpenAcc, Device::Amd) => {
                [&["-DACC_DEVICE_TYPE_radeon=1", "-DACC_MEM_SHARED=0"], &OF_AMD[..]].concat()
            }
            // Given always, since Debian's gcc also compiles for amdgcn if that is installed.
            // Programs of OpenMP have code for devices, and find none.
            (Model::OpenMp, _) => vec!["-foffload=nvptx-none"],
            (Model::OpenAcc, Device::Nvidia) => {
                vec!["-DACC_DEVICE_TYPE_nvidia=1", "-DACC_MEM_SHARED=0", "-foffload=nvptx-none"]
            }
            (Model::OpenAcc, Device::Host) => {
                vec!["-DACC_DEVICE_TYPE_host=1", "-DACC_MEM_SHARED=1", "-foffload=disable"]
            }
        }
    }

    /// Whether the harness gives the level of optimisation only to tests that
    /// have no `dg-options` of their own. The others get it in any case.
    pub fn level_is_default(&self) -> bool {
        self.model == Model::OpenMp && self.language != Language::Fortran
    }

    /// What the compiler gets for the model.
    pub fn model_option(&self) -> &'static str {
        match self.model {
            Model::OpenMp => "-fopenmp",
            Model::OpenAcc => "-fopenacc",
        }
    }

    /// How the compiler is told the language: the common tests are `.c` files
    /// that the C++ suites compile as C++.
    pub fn language_options(&self) -> &'static [&'static str] {
        match self.language {
            Language::C | Language::Fortran => &[],
            Language::Cxx => &["-x", "c++"],
        }
    }

    /// The libraries of the language.
    pub fn libraries(&self) -> &'static [&'static str] {
        match self.language {
            Language::C => &[],
            Language::Cxx => &["-lstdc++"],
            Language::Fortran => &["-lgfortran", "-foffload=-lgfortran", "-lquadmath"],
        }
    }

    /// The folders to search for headers, below the root of GCC's sources.
    pub fn include_folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = ["include", "include/cuda", "libgomp"].map(PathBuf::from).into();
        if self.model == Model::OpenAcc && self.language != Language::Fortran {
            folders.push("libgomp/testsuite/libgomp.oacc-c-c++-common".into());
        }
        folders
    }

    /// The variables that make the program use the device, or fail.
    pub fn environment(&self, device: Device) -> (&'static str, &'static str) {
        match (self.model, device) {
            (Model::OpenMp, Device::Nvidia | Device::Amd) => ("OMP_TARGET_OFFLOAD", "MANDATORY"),
            (Model::OpenMp, Device::Host) => ("OMP_TARGET_OFFLOAD", "DEFAULT"),
            (Model::OpenAcc, Device::Nvidia) => ("ACC_DEVICE_TYPE", "nvidia"),
            (Model::OpenAcc, Device::Amd) => ("ACC_DEVICE_TYPE", "radeon"),
            (Model::OpenAcc, Device::Host) => ("ACC_DEVICE_TYPE", "host"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{OF_AMD, PROCESSOR, SUITES};

    #[test]
    fn code_is_for_the_virtual_gpus_processor() {
        assert!(OF_AMD[1].ends_with(PROCESSOR));
    }

    #[test]
    fn files_of_a_suite() {
        let owner = |file: &str| -> Vec<&str> {
            SUITES.iter().filter(|suite| suite.owns(Path::new(file))).map(|suite| suite.name).collect()
        };
        assert_eq!(owner("a.c"), ["libgomp.c", "libgomp.oacc-c"]);
        assert_eq!(owner("a.C"), ["libgomp.c++", "libgomp.oacc-c++"]);
        for file in ["a.f", "a.F90", "a.f95", "a.f03"] {
            assert_eq!(owner(file), ["libgomp.fortran", "libgomp.oacc-fortran"], "{file}");
        }
        for file in ["a.h", "a.exp", "a.inc", "f", "a.cc"] {
            assert!(owner(file).is_empty(), "{file}");
        }
    }
}
