//! The command line.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use gangway_compilers::Maker;
use regex::Regex;

/// Builds libgomp's offloading tests with stock gcc, or with Gangway's compiler for clang, and runs
/// them on the virtual GPU.
///
/// Results, programs and descriptions of failures are kept in the build folder.
/// The exit status is 1 if a test fails that is not expected to, or passes though
/// it is expected to fail.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// The virtual GPU's driver library [default: that of the device in build/stage/lib/gangway/vgpu]
    #[arg(long, value_name = "FILE")]
    pub driver: Option<PathBuf>,

    /// What runs the device half of the tests
    #[arg(long, value_name = "NAME", default_value = "stock")]
    pub front_end: FrontEnd,

    /// Gangway's front end, for `--front-end gangway`
    #[arg(long, value_name = "FILE", default_value = "build/stage/lib/gangway/libgangway-gomp.so")]
    pub library: PathBuf,

    /// Gangway's command, for `--front-end clang`
    #[arg(long, value_name = "FILE", default_value = "build/stage/bin/gangway")]
    pub gangway: PathBuf,

    /// Where constructs for devices run
    #[arg(long, value_name = "NAME", default_value = "nvidia")]
    pub device: Device,

    /// GCC's release, 12 to 16: its compilers build its own tests [default: that of gcc]
    #[arg(long, value_name = "NUMBER", default_value_t = gangway_compilers::release().unwrap_or(12),
        hide_default_value = true, value_parser = clap::value_parser!(u8).range(12..=16))]
    pub release: u8,

    /// How many virtual GPUs there are
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub devices: NonZeroU32,

    /// Run programs with `gangway run --check=CHECKS`: nothing may be found but what `checked*.txt` has
    #[arg(long, value_name = "CHECKS", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub check: Option<String>,

    /// Where sources, programs and results are kept
    #[arg(long, value_name = "FOLDER", default_value = "build/libgomp")]
    pub build: PathBuf,

    /// Only tests whose name and level match; may be given several times, and any may match
    #[arg(long, value_name = "REGEX")]
    pub filter: Vec<Regex>,

    /// No tests whose name and level match; may be given several times
    #[arg(long, value_name = "REGEX")]
    pub except: Vec<Regex>,

    /// Only the fixed tenth that continuous integration runs
    #[arg(long)]
    pub tenth: bool,

    /// Only tests that failed when they last ran
    #[arg(long)]
    pub retry_failures: bool,

    /// Take over results that earlier runs got with the same driver
    #[arg(long, conflicts_with = "retry_failures")]
    pub resume: bool,

    /// Print the tests and what would be done with them
    #[arg(long)]
    pub list: bool,

    /// Build the tests but run none
    #[arg(long)]
    pub compile_only: bool,

    /// How many tests to work on at once [default: one per core]
    #[arg(long, value_name = "NUMBER")]
    pub jobs: Option<usize>,

    /// How many seconds a test may run that sets no limit of its own
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub time_limit: Duration,
}

/// The runtime that a test's calls for devices go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FrontEnd {
    /// libgomp and its plugin
    Stock,
    /// Gangway, before libgomp
    Gangway,
    /// Gangway alone: `gangway cc -fopenacc` compiles OpenACC's tests in C and C++ instead of gcc
    Clang,
}

/// What a run has for devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Device {
    /// The virtual GPU
    Nvidia,
    /// The virtual AMD GPU, of the processor that GCC's code is for
    Amd,
    /// None: OpenMP's regions run on the host, and OpenACC's on its host device
    Host,
}

impl Device {
    /// Whether there is a virtual GPU.
    pub fn is_gpu(self) -> bool {
        self != Self::Host
    }

    /// The name that programs know the driver's library by.
    pub fn library(self) -> &'static str {
        match self {
            Self::Amd => "libhsa-runtime64.so.1",
            Self::Nvidia | Self::Host => "libcuda.so.1",
        }
    }

    /// What `-foffload` names.
    pub fn target(self) -> Maker {
        match self {
            Self::Amd => Maker::Amd,
            Self::Nvidia | Self::Host => Maker::Nvidia,
        }
    }
}

/// What tells one kind of run from another: each has results and expectations of its own.
#[derive(Debug, Clone, Copy)]
pub struct Mode {
    pub front_end: FrontEnd,
    pub device: Device,
    /// Virtual GPUs.
    pub devices: NonZeroU32,
    /// Whether mistakes are looked for.
    pub is_checked: bool,
}

impl Mode {
    /// What stands behind the names of files that belong to it.
    pub fn suffix(self) -> String {
        let mut suffix = match self.front_end {
            FrontEnd::Stock => String::new(),
            FrontEnd::Gangway => "-gangway".to_owned(),
            FrontEnd::Clang => "-clang".to_owned(),
        };
        match self.device {
            Device::Nvidia => {}
            Device::Amd => suffix.push_str("-amd"),
            Device::Host => suffix.push_str("-host"),
        }
        if self.device.is_gpu() && self.devices > NonZeroU32::MIN {
            suffix.push_str(&format!("-{}-devices", self.devices));
        }
        if self.is_checked {
            suffix.push_str("-checked");
        }
        suffix
    }

    /// The lists of what fails.
    pub fn lists(self) -> &'static [&'static str] {
        match (self.device, self.front_end) {
            (Device::Nvidia, FrontEnd::Stock) => &["expected-failures.txt", "expected-failures-stock.txt"],
            (Device::Nvidia, FrontEnd::Gangway) => &[
                "expected-failures.txt",
                "expected-failures-gangway.txt",
                "expected-failures-gangway-nvidia.txt",
            ],
            (Device::Amd, FrontEnd::Stock) => {
                &["expected-failures-amd.txt", "expected-failures-amd-stock.txt"]
            }
            (Device::Amd, FrontEnd::Gangway | FrontEnd::Clang) => &[
                "expected-failures-amd.txt",
                "expected-failures-gangway.txt",
                "expected-failures-amd-gangway.txt",
            ],
            (Device::Host, FrontEnd::Stock) => &["expected-failures-host.txt"],
            (Device::Host, FrontEnd::Gangway) => &["expected-failures-gangway-host.txt"],
            (Device::Nvidia, FrontEnd::Clang) => {
                &["expected-failures-clang.txt", "expected-failures-clang-gpu.txt"]
            }
            (Device::Host, FrontEnd::Clang) => {
                &["expected-failures-clang.txt", "expected-failures-clang-host.txt"]
            }
        }
    }

    /// The list of what checks find.
    pub fn known(self) -> &'static str {
        match self.front_end {
            FrontEnd::Clang => "checked-clang.txt",
            FrontEnd::Stock | FrontEnd::Gangway => "checked.txt",
        }
    }

    /// The lists of what else is special about tests.
    pub fn exceptions(self) -> &'static [&'static str] {
        match (self.front_end, self.device) {
            (FrontEnd::Stock | FrontEnd::Gangway, Device::Amd) => &["exceptions.txt", "exceptions-amd.txt"],
            (FrontEnd::Stock | FrontEnd::Gangway, _) => &["exceptions.txt"],
            (FrontEnd::Clang, Device::Host) => &["exceptions.txt", "exceptions-clang.txt"],
            (FrontEnd::Clang, Device::Nvidia | Device::Amd) => {
                &["exceptions.txt", "exceptions-clang.txt", "exceptions-clang-gpu.txt"]
            }
        }
    }
}

impl Arguments {
    /// Where a release's sources, programs and results are: each but GCC 12 has a folder of its own.
    pub fn folder(&self) -> PathBuf {
        match self.release {
            12 => self.build.clone(),
            release => self.build.join(format!("gcc-{release}")),
        }
    }

    /// The driver's library.
    pub fn driver(&self) -> PathBuf {
        let staged = || PathBuf::from("build/stage/lib/gangway/vgpu").join(self.device.library());
        self.driver.clone().unwrap_or_else(staged)
    }

    pub fn mode(&self) -> Mode {
        let is_checked = self.check.is_some();
        Mode { front_end: self.front_end, device: self.device, devices: self.devices, is_checked }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(0) => Err("a test needs some time".to_owned()),
        Ok(seconds) => Ok(Duration::from_secs(seconds)),
        Err(error) => Err(format!("{error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::{CommandFactory, Parser};

    use super::Arguments;

    #[test]
    fn each_kind_of_run_has_names_of_its_own() {
        let suffix = |options: &[&str]| {
            let command = [&["suite"], options].concat();
            Arguments::try_parse_from(command).unwrap().mode().suffix()
        };
        assert_eq!(suffix(&[]), "");
        assert_eq!(suffix(&["--front-end", "gangway"]), "-gangway");
        assert_eq!(suffix(&["--front-end", "gangway", "--device", "host"]), "-gangway-host");
        assert_eq!(suffix(&["--devices", "3"]), "-3-devices");
        assert_eq!(suffix(&["--device", "amd"]), "-amd");
        assert_eq!(suffix(&["--front-end", "clang", "--check"]), "-clang-checked");
        assert_eq!(suffix(&["--front-end", "clang", "--device", "host"]), "-clang-host");
        assert!(Arguments::try_parse_from(["suite", "--devices", "0"]).is_err());
    }

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
        assert!(Arguments::try_parse_from(["suite", "--time-limit", "0"]).is_err());
        assert!(Arguments::try_parse_from(["suite", "--resume", "--retry-failures"]).is_err());
    }

    #[test]
    fn each_release_has_a_folder() {
        let folder = |release: &str| {
            let command = ["suite", "--build", "b", "--release", release];
            Arguments::try_parse_from(command).map(|arguments| arguments.folder())
        };
        assert_eq!(folder("12").unwrap(), Path::new("b"));
        assert_eq!(folder("16").unwrap(), Path::new("b/gcc-16"));
        assert!(folder("11").is_err() && folder("17").is_err());
    }
}
