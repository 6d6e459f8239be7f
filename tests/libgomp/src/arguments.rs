//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use regex::Regex;

/// Builds libgomp's offloading tests with stock gcc and runs them on the virtual GPU.
///
/// Results, programs and descriptions of failures are kept in the build folder.
/// The exit status is 1 if a test fails that is not expected to, or passes though
/// it is expected to fail.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// The virtual GPU's driver library
    #[arg(long, value_name = "FILE", default_value = "build/stage/lib/gangway/vgpu/libcuda.so.1")]
    pub driver: PathBuf,

    /// What runs the device half of the tests
    #[arg(long, value_name = "NAME", default_value = "stock")]
    pub front_end: FrontEnd,

    /// Gangway's front end, for `--front-end gangway`
    #[arg(long, value_name = "FILE", default_value = "build/stage/lib/gangway/libgangway-gomp.so")]
    pub library: PathBuf,

    /// Where sources, programs and results are kept
    #[arg(long, value_name = "FOLDER", default_value = "build/libgomp")]
    pub build: PathBuf,

    /// Only tests whose name and level match; may be given several times, and any may match
    #[arg(long, value_name = "REGEX")]
    pub filter: Vec<Regex>,

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
}

impl FrontEnd {
    /// What stands behind the names of files that belong to it.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Stock => "",
            Self::Gangway => "-gangway",
        }
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
    use clap::{CommandFactory, Parser};

    use super::Arguments;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
        assert!(Arguments::try_parse_from(["suite", "--time-limit", "0"]).is_err());
        assert!(Arguments::try_parse_from(["suite", "--resume", "--retry-failures"]).is_err());
    }
}
