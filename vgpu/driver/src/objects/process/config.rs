//! The environment variables that describe the virtual devices, `GANGWAY_VGPU_*`.
//!
//! They are read once, by `cuInit`. A value that makes no sense is reported on stderr and the
//! default is used. A program must not run without a word on something else than what was asked
//! for.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicI32, Ordering};

use gangway_engine::{Checks, Execution, Tier};
use gangway_settings::{Maker, code_folder, default_device_size, device_size, file_variable};

use crate::objects::process::report::report;

/// A compute capability, 9.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capability {
    pub major: u8,
    pub minor: u8,
}

impl Capability {
    /// 90 for 9.0, as `sm_90` has it.
    pub const fn number(self) -> u16 {
        self.major as u16 * 10 + self.minor as u16
    }
}

impl FromStr for Capability {
    type Err = ();

    /// `9.0`, `90` or `sm_90`. Kernels must have been made for this processor or an older one.
    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.strip_prefix("sm_").unwrap_or(text);
        let (major, minor) = match text.split_once('.') {
            Some(parts) => parts,
            None if text.len() >= 2 && text.is_ascii() => text.split_at(text.len() - 1),
            None => return Err(()),
        };
        let (major, minor) = (major.parse().map_err(|_| ())?, minor.parse().map_err(|_| ())?);
        if (3..=12).contains(&major) && minor <= 9 { Ok(Self { major, minor }) } else { Err(()) }
    }
}

/// Reads a list of names with commas between.
fn checks(text: &str) -> Option<Checks> {
    text.split(',').try_fold(Checks::NONE, |checks, name| match name.trim() {
        "memory" => Some(Checks { memory: true, ..checks }),
        "race" => Some(Checks { race: true, ..checks }),
        "map" => Some(Checks { map: true, ..checks }),
        "sync" => Some(Checks { sync: true, ..checks }),
        "init" => Some(Checks { init: true, ..checks }),
        "all" => Some(Checks { memory: true, race: true, map: true, sync: true, init: true }),
        "none" | "0" => Some(checks),
        _ => None,
    })
}

/// What the virtual devices are like; all are alike.
#[derive(Clone, Debug)]
pub struct Config {
    pub name: String,
    pub capability: Capability,
    /// Bytes of memory of each device.
    pub memory: u64,
    pub devices: u32,
    pub workers: usize,
    /// Kernels that run at once, `GANGWAY_VGPU_KERNELS`; 0: as many as there are.
    pub kernels: usize,
    /// Whether kernels may use all of the host's memory, `GANGWAY_VGPU_UNIFIED`; without a value they
    /// may where the program requires it.
    pub unified: Option<bool>,
    /// What is checked while kernels run, `GANGWAY_VGPU_CHECK`.
    pub check: Checks,
    /// What runs kernels, `GANGWAY_VGPU_ENGINE`.
    pub execution: Execution,
    /// Which generators make code, `GANGWAY_VGPU_TIER`; without a value LLVM takes part where it is installed.
    pub tier: Option<Tier>,
    /// Where compiled code is kept.
    pub cache: Option<PathBuf>,
}

const DEFAULT_NAME: &str = "Gangway Virtual GPU";
const DEFAULT_CAPABILITY: Capability = Capability { major: 9, minor: 0 };
const MOST_DEVICES: u32 = 16;
const MOST_WORKERS: usize = 1024;
const MOST_KERNELS: usize = 128;

impl Config {
    pub fn from_environment() -> Self {
        Self::new(|name| std::env::var_os(name)?.into_string().ok(), file_variable)
    }

    /// `file` is asked for the variables that name files.
    fn new(variable: impl Fn(&str) -> Option<String>, file: impl Fn(&str) -> Option<OsString>) -> Self {
        let value = |name: &str| {
            let full = format!("GANGWAY_VGPU_{name}");
            variable(&full).filter(|value| !value.is_empty())
        };
        fn read<T>(
            name: &str,
            text: Option<String>,
            parse: impl Fn(&str) -> Option<T>,
            wanted: impl Display,
        ) -> Option<T> {
            let text = text?;
            let parsed = parse(text.trim());
            if parsed.is_none() {
                report!("GANGWAY_VGPU_{name}={text} is not {wanted}; the default is used");
            }
            parsed
        }
        let in_range = |text: &str, most: usize| text.parse().ok().filter(|count| (1..=most).contains(count));
        let devices = read(
            "DEVICES",
            value("DEVICES"),
            |text| text.parse().ok().filter(|&count| count <= MOST_DEVICES),
            "a number of devices up to 16",
        )
        .unwrap_or(1);
        let makers = "a list of `nvidia` and `amd`";
        let is_there =
            read("MAKERS", value("MAKERS"), |text| Maker::Nvidia.is_in(text), makers).unwrap_or(true);
        Self {
            name: value("NAME").unwrap_or_else(|| DEFAULT_NAME.into()),
            capability: read(
                "CAPABILITY",
                value("CAPABILITY"),
                |text| text.parse().ok(),
                "a compute capability such as 9.0",
            )
            .unwrap_or(DEFAULT_CAPABILITY),
            memory: read("MEMORY", value("MEMORY"), device_size, "a size such as 16G")
                .unwrap_or_else(default_device_size),
            devices: if is_there { devices } else { 0 },
            workers: read(
                "WORKERS",
                value("WORKERS"),
                |text| in_range(text, MOST_WORKERS),
                "a number of threads from 1 to 1024",
            )
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |count| count.get())),
            kernels: read(
                "KERNELS",
                value("KERNELS"),
                |text| in_range(text, MOST_KERNELS),
                "a number of kernels from 1 to 128",
            )
            .unwrap_or(0),
            unified: read(
                "UNIFIED",
                value("UNIFIED"),
                |text| match text {
                    "1" => Some(true),
                    "0" => Some(false),
                    _ => None,
                },
                "0 or 1",
            ),
            check: read(
                "CHECK",
                value("CHECK"),
                checks,
                format_args!("a list of checks: {}, `all` or `none`", gangway_findings::Names),
            )
            .unwrap_or_default(),
            execution: read(
                "ENGINE",
                value("ENGINE"),
                |text| match text {
                    "compiler" => Some(Execution::Compiled),
                    "compiler-only" => Some(Execution::CompiledOnly),
                    "interpreter" => Some(Execution::Interpreted),
                    _ => None,
                },
                "`compiler`, `compiler-only` or `interpreter`",
            )
            .unwrap_or_default(),
            tier: read("TIER", value("TIER"), |text| text.parse().ok(), "`cranelift`, `llvm` or `auto`"),
            cache: code_folder(file),
        }
    }
}

/// What `cuDriverGetVersion` answers when nothing else is asked for: CUDA 13.5, whose PTX is
/// the newest that `gangway-ptx` reads.
const DEFAULT_DRIVER: i32 = 13_050;

/// The version that the driver says it has, 13050 for 13.5: `GANGWAY_VGPU_DRIVER`, read once.
/// Programs ask for it before they start the driver. No thread waits for the one that asks first: a
/// child that is forked meanwhile asks, too, and does not have that thread.
pub fn driver_version() -> i32 {
    static VERSION: AtomicI32 = AtomicI32::new(0);
    let known = VERSION.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let text = std::env::var("GANGWAY_VGPU_DRIVER").unwrap_or_default();
    let wanted = match text.trim() {
        "" => Some(DEFAULT_DRIVER),
        version => version_of(version),
    };
    let version = wanted.unwrap_or(DEFAULT_DRIVER);
    let first = VERSION.compare_exchange(0, version, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if first && wanted.is_none() {
        report!("GANGWAY_VGPU_DRIVER={text} is not a version from 12.8 to 13.5; the default is used");
    }
    version
}

/// `12.8` as the driver API numbers it, if the driver can be of that version.
fn version_of(text: &str) -> Option<i32> {
    let (major, minor) = text.split_once('.')?;
    let (major, minor): (i32, i32) = (major.parse().ok()?, minor.parse().ok()?);
    matches!((major, minor), (12, 8..=9) | (13, 0..=5)).then_some(major * 1000 + minor * 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Config {
        let variable = |name: &str| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned());
        Config::new(variable, |name| variable(name).map(Into::into))
    }

    #[test]
    fn defaults() {
        let config = with(&[]);
        assert_eq!(config.capability, DEFAULT_CAPABILITY);
        assert_eq!(
            (config.devices, config.check, config.execution, config.tier),
            (1, Checks::default(), Execution::Compiled, None)
        );
        assert_eq!(config.memory % (1 << 30), 0);
        assert_eq!(config.cache, None);
        assert!(config.workers >= 1);
        assert_eq!(config.kernels, 0);
    }

    #[test]
    fn values_are_read() {
        let config = with(&[
            ("GANGWAY_VGPU_NAME", "Card"),
            ("GANGWAY_VGPU_CAPABILITY", "sm_75"),
            ("GANGWAY_VGPU_MEMORY", "512MiB"),
            ("GANGWAY_VGPU_DEVICES", "3"),
            ("GANGWAY_VGPU_WORKERS", "5"),
            ("GANGWAY_VGPU_KERNELS", "1"),
            ("GANGWAY_VGPU_CHECK", "memory"),
            ("GANGWAY_VGPU_ENGINE", "interpreter"),
            ("GANGWAY_VGPU_TIER", "llvm"),
            ("GANGWAY_VGPU_CACHE", "/tmp/x"),
        ]);
        assert_eq!(config.name, "Card");
        assert_eq!(config.capability.number(), 75);
        assert_eq!(config.memory, 512 << 20);
        assert_eq!((config.devices, config.workers, config.check.memory), (3, 5, true));
        assert_eq!(config.kernels, 1);
        assert_eq!((config.execution, config.tier), (Execution::Interpreted, Some(Tier::Llvm)));
        assert_eq!(config.cache, Some("/tmp/x".into()));
    }

    #[test]
    fn checks_are_a_list() {
        let (memory, race, none) = (Checks::MEMORY, Checks::RACE, Checks::NONE);
        let both = Checks { memory: true, ..race };
        let all = Checks { map: true, sync: true, init: true, ..both };
        for (text, wanted) in [
            ("memory", memory),
            ("race", race),
            ("race, memory", both),
            ("all", all),
            ("map", Checks { map: true, ..none }),
            ("sync", Checks::SYNC),
            ("init", Checks::INIT),
            ("none", none),
            ("0", none),
        ] {
            assert_eq!(checks(text), Some(wanted), "{text}");
        }
        assert_eq!((checks("races"), checks("memory,")), (None, None));
    }

    #[test]
    fn unified_memory_is_asked_for_or_forbidden() {
        let unified = |value: &str| with(&[("GANGWAY_VGPU_UNIFIED", value)]).unified;
        assert_eq!(
            [unified("1"), unified("0"), unified(""), unified("x")],
            [Some(true), Some(false), None, None]
        );
    }

    #[test]
    fn a_program_with_more_rights_than_its_user_keeps_nothing_where_that_user_says() {
        let set = |name: &str| match name {
            "GANGWAY_VGPU_CACHE" | "XDG_CACHE_HOME" | "HOME" => Some("/home/x".to_owned()),
            "GANGWAY_VGPU_NAME" => Some("Card".to_owned()),
            _ => None,
        };
        assert_eq!(Config::new(set, |name| set(name).map(Into::into)).cache, Some("/home/x".into()));
        let config = Config::new(set, |_| None);
        assert_eq!((config.cache, config.name.as_str()), (None, "Card"));
    }

    #[test]
    fn nonsense_is_not_taken() {
        let config = with(&[
            ("GANGWAY_VGPU_CAPABILITY", "fast"),
            ("GANGWAY_VGPU_MEMORY", "lots"),
            ("GANGWAY_VGPU_DEVICES", "-1"),
            ("GANGWAY_VGPU_WORKERS", "0"),
            ("GANGWAY_VGPU_TIER", "fast"),
            ("GANGWAY_VGPU_CACHE", "off"),
        ]);
        assert_eq!(config.capability, DEFAULT_CAPABILITY);
        assert_eq!(config.memory, default_device_size());
        assert_eq!((config.devices, config.tier), (1, None));
        assert!(config.workers >= 1);
        assert_eq!(config.cache, None);
    }

    #[test]
    fn versions_of_the_driver() {
        assert_eq!(version_of("12.8"), Some(12_080));
        assert_eq!(version_of("13.5"), Some(13_050));
        for wrong in ["", "12", "12.7", "13.6", "14.0", "13.", "13.0.1", "-13.0", "4294967309.0"] {
            assert_eq!(version_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn capabilities() {
        assert_eq!("12.0".parse(), Ok(Capability { major: 12, minor: 0 }));
        assert_eq!("120".parse(), Ok(Capability { major: 12, minor: 0 }));
        assert_eq!("86".parse(), Ok(Capability { major: 8, minor: 6 }));
        for wrong in ["", "9", "9.", ".5", "1.0", "99.9", "9.10"] {
            assert_eq!(wrong.parse::<Capability>(), Err(()), "{wrong}");
        }
    }
}
