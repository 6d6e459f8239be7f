//! What the environment says about this back end.
//!
//! Read once, when the back end is made. Must never print: a value that makes no
//! sense is kept as a warning for the runtime to show, and the default is used.

use crate::memory::Poison;
use gangway_findings::CHECKS;
use gangway_settings::Reader;
use std::ffi::OsString;

/// Logical devices without `GANGWAY_CPU_DEVICES`: as many as the stock host plug-in has.
const DEFAULT_DEVICES: usize = 4;

/// Upper bound of `GANGWAY_CPU_DEVICES`.
pub(crate) const MAX_DEVICES: usize = 64;

/// What is checked (`GANGWAY_CHECK`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Check {
    /// Nothing.
    Off,
    /// Writes beside mapped sections (`1`).
    Guards,
    /// Also uses of the host's pages behind mapped variables (`2`).
    Pages,
}

/// What `GANGWAY_CHECK` may be.
const CHECK_VALUES: &str = "0, 1, 2 or names of checks with commas between";

impl Check {
    /// A list: 1 and 2 are short forms of `memory`, other checks are not this back end's.
    fn read(text: &str) -> Option<Self> {
        let of_name = |name: &str| match name.trim() {
            "2" => Some(Self::Pages),
            "1" | "memory" | "all" => Some(Self::Guards),
            "0" => Some(Self::Off),
            name => CHECKS.iter().any(|check| check.name == name).then_some(Self::Off),
        };
        text.split(',').try_fold(Self::Off, |most, name| of_name(name).map(|check| most.max(check)))
    }
}

/// The back end's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// Number of logical devices.
    pub devices: usize,
    /// Why there are none, if so.
    pub why_absent: Option<String>,
    /// Bytes that may be allocated on each device; `None` is as much as the host gives.
    pub memory: Option<usize>,
    /// How device memory is poisoned.
    pub poison: Poison,
    /// Report crashes of kernels.
    pub catch_signals: bool,
    /// Leave the images of kernels in files, where `perf` finds their symbols.
    pub keep_images: bool,
    /// What is checked.
    pub check: Check,
    /// One line per value that was not understood.
    pub warnings: Vec<String>,
}

impl Config {
    /// The settings in the environment of this process.
    pub fn from_environment() -> Self {
        Self::read(|name| std::env::var_os(name))
    }

    /// The settings that `lookup` gives.
    pub fn read(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let mut reader = Reader { lookup, warnings: Vec::new() };
        let devices = reader
            .setting_or("GANGWAY_CPU_DEVICES", "a number from 1 to 64", ("4", DEFAULT_DEVICES), |text| {
                text.parse().ok().filter(|count| (1..=MAX_DEVICES).contains(count))
            })
            .unwrap_or(DEFAULT_DEVICES);
        let memory = reader
            .setting_or("GANGWAY_CPU_MEMORY", "a size such as 512M or 16G", ("no limit", None), |text| {
                parse_bytes(text).map(Some)
            })
            .flatten();
        let poison = reader
            .setting_or("GANGWAY_CPU_POISON", "0, 1 or all", ("1", Poison::Bounded), |text| match text {
                "1" => Some(Poison::Bounded),
                "0" => Some(Poison::Off),
                "all" => Some(Poison::Everything),
                _ => None,
            })
            .unwrap_or(Poison::Bounded);
        let catch_signals = reader
            .setting_or("GANGWAY_CPU_CATCH_SIGNALS", "0 or 1", ("1", true), |text| match text {
                "1" => Some(true),
                "0" => Some(false),
                _ => None,
            })
            .unwrap_or(true);
        let mut check = reader
            .setting_or("GANGWAY_CHECK", CHECK_VALUES, ("1", Check::Guards), Check::read)
            .unwrap_or(Check::Off);
        if check == Check::Pages && !catch_signals {
            reader.warn("GANGWAY_CHECK", "2 only without GANGWAY_CPU_CATCH_SIGNALS=0", "using 1");
            check = Check::Guards;
        }
        let keep_images = reader.text("GANGWAY_PERF_MAP").is_some_and(|value| value != "0");
        // The stock runtime's switch for its host plug-in. Programs and job
        // scripts that set it expect no CPU device from us either.
        let disabled = reader
            .text("OMPTARGET_DISABLE_HOST_PLUGIN")
            .is_some_and(|v| matches!(v.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on"));
        let why_absent =
            disabled.then(|| "switched off by OMPTARGET_DISABLE_HOST_PLUGIN in the environment".to_owned());
        let devices = if disabled { 0 } else { devices };
        let warnings = reader.warnings;
        Self { devices, why_absent, memory, poison, catch_signals, keep_images, check, warnings }
    }
}

/// `1048576`, `8M`, `64 MiB`, `2g`, `1.5GiB` in bytes; units are powers of 1024, as in
/// `GANGWAY_VGPU_MEMORY`.
fn parse_bytes(text: &str) -> Option<usize> {
    usize::try_from(gangway_settings::size(text)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(pairs: &[(&str, &str)]) -> Config {
        Config::read(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into()))
    }

    #[test]
    fn defaults_are_those_of_the_stock_host_plugin() {
        let config = config(&[]);
        assert_eq!((config.devices, config.why_absent, config.memory), (4, None, None));
        assert!(config.catch_signals && config.poison == Poison::Bounded && config.warnings.is_empty());
    }

    #[test]
    fn device_count_is_bounded_and_complained_about() {
        assert_eq!(config(&[("GANGWAY_CPU_DEVICES", "64")]).devices, 64);
        assert_eq!(config(&[("GANGWAY_CPU_DEVICES", "")]).warnings, Vec::<String>::new());
        for bad in ["0", "65", "-1", "two", "1.5"] {
            let config = config(&[("GANGWAY_CPU_DEVICES", bad)]);
            assert_eq!(config.devices, 4);
            assert_eq!(
                config.warnings,
                [format!("GANGWAY_CPU_DEVICES={bad}: expected a number from 1 to 64; using 4")]
            );
        }
    }

    #[test]
    fn stock_switch_removes_the_devices_and_says_so() {
        let config = config(&[("OMPTARGET_DISABLE_HOST_PLUGIN", "true"), ("GANGWAY_CPU_DEVICES", "2")]);
        assert_eq!(config.devices, 0);
        assert!(config.why_absent.unwrap().contains("OMPTARGET_DISABLE_HOST_PLUGIN"));
        assert_eq!(super::tests::config(&[("OMPTARGET_DISABLE_HOST_PLUGIN", "0")]).devices, 4);
    }

    #[test]
    fn memory_sizes() {
        let sizes = [
            ("4096", 4096),
            ("4 kib", 4096),
            ("8M", 8 << 20),
            ("8m", 8 << 20),
            ("8MB", 8 << 20),
            ("1.5GiB", 3 << 29),
            ("2GiB", 2 << 30),
            ("1T", 1 << 40),
        ];
        for (text, bytes) in sizes {
            assert_eq!(parse_bytes(text), Some(bytes), "{text}");
        }
        for bad in ["", "GiB", "-1", "1 furlong", "M8", "99999999999999999999", "99999999999GiB"] {
            assert_eq!(parse_bytes(bad), None, "{bad}");
        }
        assert_eq!(config(&[("GANGWAY_CPU_MEMORY", "lots")]).warnings.len(), 1);
    }

    #[test]
    fn checks() {
        let check = |value| config(&[("GANGWAY_CHECK", value)]).check;
        assert_eq!(["", "0", "1", "2"].map(check), [Check::Off, Check::Off, Check::Guards, Check::Pages]);
        assert_eq!(
            ["map", "map,memory", "all", "race, 2"].map(check),
            [Check::Off, Check::Guards, Check::Guards, Check::Pages]
        );
        assert_eq!(
            config(&[("GANGWAY_CHECK", "some")]).warnings,
            [format!("GANGWAY_CHECK=some: expected {CHECK_VALUES}; using 1")]
        );
        let config = config(&[("GANGWAY_CHECK", "2"), ("GANGWAY_CPU_CATCH_SIGNALS", "0")]);
        assert_eq!((config.check, config.warnings.len()), (Check::Guards, 1));
    }

    #[test]
    fn switches() {
        assert_eq!(config(&[("GANGWAY_CPU_POISON", "0")]).poison, Poison::Off);
        assert_eq!(config(&[("GANGWAY_CPU_POISON", "all")]).poison, Poison::Everything);
        assert!(!config(&[("GANGWAY_CPU_CATCH_SIGNALS", "0")]).catch_signals);
        let keeps = |value| config(&[("GANGWAY_PERF_MAP", value)]).keep_images;
        assert!(keeps("1") && !keeps("0") && !keeps(""));
        assert_eq!(
            config(&[("GANGWAY_CPU_POISON", "x"), ("GANGWAY_CPU_CATCH_SIGNALS", "y")]).warnings.len(),
            2
        );
    }
}
