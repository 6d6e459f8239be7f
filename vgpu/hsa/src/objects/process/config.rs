//! The environment variables that describe the virtual devices, `GANGWAY_VGPU_*`.
//!
//! They are read once, by the first `hsa_init`. A value that makes no sense is reported on stderr
//! and the default is used. Those that the virtual NVIDIA GPU has, too, mean the same here.

use std::ffi::OsString;
use std::path::PathBuf;

use gangway_gcn::Gpu;
use gangway_settings::{Maker, Reader, code_folder, default_device_size, device_size, file_variable};

use crate::objects::process::report::report;

/// What runs kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Execution {
    /// They are interpreted until they are compiled, which goes on meanwhile.
    #[default]
    Meanwhile,
    Interpreted,
    /// They are compiled, or else interpreted.
    Compiled,
    /// What cannot be compiled fails.
    CompiledOnly,
}

/// What the virtual devices are like; all are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub name: String,
    /// `GANGWAY_VGPU_PROCESSOR`
    pub processor: Gpu,
    /// Bytes of memory of each device.
    pub memory: u64,
    pub devices: u32,
    /// What `HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT` answers, `GANGWAY_VGPU_WORKERS`.
    pub workers: u32,
    /// `GANGWAY_VGPU_ENGINE`
    pub execution: Execution,
    /// Whether kernels may use all of the host's memory (XNACK in AMD's terms), where the user has said so.
    pub unified: Option<bool>,
    /// Whether new memory is filled with NaN, and leaks are told: `memory` in `GANGWAY_VGPU_CHECK`.
    pub check_memory: bool,
    /// Where compiled code is kept.
    pub cache: Option<PathBuf>,
}

const DEFAULT_NAME: &str = "Gangway Virtual GPU";
const DEFAULT_PROCESSOR: Gpu = Gpu::Gfx90a;
const ENGINES: &str = "`interpreter`, `compiler` or `compiler-only`";
const MOST_DEVICES: u32 = 16;
const MOST_WORKERS: u32 = 1024;

impl Config {
    #[must_use]
    pub fn from_environment() -> Self {
        let (config, warnings) = Self::new(|name| std::env::var_os(name), file_variable);
        warnings.iter().for_each(|warning| report!("{warning}"));
        config
    }

    /// `file` is asked for the variables that name files.
    fn new(
        lookup: impl Fn(&str) -> Option<OsString>,
        file: impl Fn(&str) -> Option<OsString>,
    ) -> (Self, Vec<String>) {
        let mut reader = Reader { lookup, warnings: Vec::new() };
        let checks = reader.setting("GANGWAY_VGPU_CHECK", "a list of checks, `all` or `none`", checks);
        let execution = reader.setting("GANGWAY_VGPU_ENGINE", ENGINES, |text| match text {
            "interpreter" => Some(Execution::Interpreted),
            "compiler" => Some(Execution::Compiled),
            "compiler-only" => Some(Execution::CompiledOnly),
            _ => None,
        });
        let is_there = reader
            .setting("GANGWAY_VGPU_MAKERS", "a list of `nvidia` and `amd`", |text| Maker::Amd.is_in(text))
            .unwrap_or(true);
        let mut config = Self {
            name: reader.text("GANGWAY_VGPU_NAME").unwrap_or_else(|| DEFAULT_NAME.into()),
            processor: reader
                .setting_or(
                    "GANGWAY_VGPU_PROCESSOR",
                    "gfx900, gfx906, gfx908, gfx90a or gfx942",
                    (DEFAULT_PROCESSOR.name(), DEFAULT_PROCESSOR),
                    Gpu::named,
                )
                .unwrap_or(DEFAULT_PROCESSOR),
            memory: reader
                .setting("GANGWAY_VGPU_MEMORY", "a size such as 16G", device_size)
                .unwrap_or_else(default_device_size),
            devices: reader
                .setting("GANGWAY_VGPU_DEVICES", "a number of devices up to 16", |text| {
                    text.parse().ok().filter(|&count| count <= MOST_DEVICES)
                })
                .unwrap_or(1),
            workers: reader
                .setting("GANGWAY_VGPU_WORKERS", "a number of threads from 1 to 1024", |text| {
                    text.parse().ok().filter(|count| (1..=MOST_WORKERS).contains(count))
                })
                .unwrap_or_else(processors),
            execution: execution.unwrap_or_default(),
            unified: reader.setting("GANGWAY_VGPU_UNIFIED", "0 or 1", |text| match text {
                "1" => Some(true),
                "0" => Some(false),
                _ => None,
            }),
            check_memory: checks.unwrap_or(false),
            cache: code_folder(file),
        };
        if !is_there {
            config.devices = 0;
        }
        (config, reader.warnings)
    }
}

/// Whether a list of checks has the one of memory; the others are for kernels that are compiled.
fn checks(text: &str) -> Option<bool> {
    text.split(',').try_fold(false, |memory, name| match name.trim() {
        "memory" | "all" => Some(true),
        "race" | "map" | "sync" | "init" | "none" | "0" => Some(memory),
        _ => None,
    })
}

fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> (Config, Vec<String>) {
        let variable = |name: &str| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.into());
        Config::new(variable, variable)
    }

    #[test]
    fn defaults() {
        let (config, warnings) = with(&[]);
        assert_eq!((config.processor, config.devices, config.unified), (Gpu::Gfx90a, 1, None));
        assert_eq!(config.memory % (1 << 30), 0);
        assert!(config.workers >= 1 && warnings.is_empty());
    }

    #[test]
    fn values_are_read() {
        let (config, warnings) = with(&[
            ("GANGWAY_VGPU_PROCESSOR", "gfx906"),
            ("GANGWAY_VGPU_MEMORY", "512M"),
            ("GANGWAY_VGPU_DEVICES", "3"),
            ("GANGWAY_VGPU_CHECK", "race,memory"),
            ("GANGWAY_VGPU_UNIFIED", "1"),
            ("GANGWAY_VGPU_ENGINE", "compiler"),
            ("GANGWAY_VGPU_CACHE", "/tmp/x"),
        ]);
        assert_eq!(config.cache, Some("/tmp/x".into()));
        assert_eq!((config.processor, config.memory, config.devices), (Gpu::Gfx906, 512 << 20, 3));
        assert!(
            config.check_memory
                && config.unified == Some(true)
                && config.execution == Execution::Compiled
                && warnings.is_empty()
        );
    }

    #[test]
    fn there_may_be_none() {
        assert_eq!(with(&[("GANGWAY_VGPU_MAKERS", "nvidia")]).0.devices, 0);
        assert_eq!(
            with(&[("GANGWAY_VGPU_MAKERS", "nvidia,amd"), ("GANGWAY_VGPU_DEVICES", "2")]).0.devices,
            2
        );
        assert_eq!(with(&[("GANGWAY_VGPU_MAKERS", "ati")]).1.len(), 1);
    }

    #[test]
    fn nonsense_is_told_and_not_taken() {
        let (config, warnings) = with(&[
            ("GANGWAY_VGPU_PROCESSOR", "gfx1"),
            ("GANGWAY_VGPU_MEMORY", "lots"),
            ("GANGWAY_VGPU_DEVICES", "17"),
            ("GANGWAY_VGPU_CHECK", "races"),
            ("GANGWAY_VGPU_ENGINE", "jit"),
        ]);
        assert_eq!((config.processor, config.devices, config.check_memory), (Gpu::Gfx90a, 1, false));
        assert_eq!(warnings.len(), 5, "{warnings:?}");
    }
}
