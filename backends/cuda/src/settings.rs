//! What the environment says about this back end.
//!
//! Read once, when the back end is made. Nothing is printed here: what makes no sense is a warning for the runtime.

use gangway_device_code::{Settings as KernelSettings, parse_switch};
use gangway_settings::Reader;
use std::ffi::OsString;

/// The back end's settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Settings {
    /// What kernels get, whatever the GPU.
    pub kernels: KernelSettings,
    /// Whether the runtime looks for host calls where the driver would tell of them.
    pub look_for_calls: bool,
    /// One line per value that was not understood.
    pub warnings: Vec<String>,
}

impl Settings {
    /// The settings in the environment of this process.
    pub fn from_environment() -> Self {
        Self::read(|name| std::env::var_os(name))
    }

    /// The settings that `lookup` gives.
    pub fn read(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let mut reader = Reader { lookup, warnings: Vec::new() };
        let kernels = KernelSettings::read(&mut reader);
        let look_for_calls =
            reader.setting("GANGWAY_HOST_CALLS_LOOK", "true or false", parse_switch).unwrap_or(false);
        Self { kernels, look_for_calls, warnings: reader.warnings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let pairs = [("GANGWAY_HOST_CALLS_LOOK", "on"), ("LIBOMPTARGET_STACK_SIZE", "much")];
        let read = |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        let settings = Settings::read(read);
        assert!(settings.look_for_calls && settings.warnings.len() == 1);
        assert_eq!(Settings::read(|_| None), Settings::default());
    }
}
