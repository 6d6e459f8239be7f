//! What the environment says about this back end: OpenMP's variables, and those of libgomp's plugin.

use gangway_device_code::Settings as KernelSettings;
use gangway_settings::Reader;
use std::ffi::OsString;
use std::num::NonZeroU32;

/// Bytes that `malloc` in GCC's kernels can give, as in libgomp's plugin.
const HEAP: usize = 100 << 20;

/// Bytes of private memory of threads of which nobody knows how much they need: the library takes them for all threads
/// that the device can have under way.
const STACK: u32 = 64 << 10;

/// The back end's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// What kernels of LLVM's get, whatever the GPU.
    pub kernels: KernelSettings,
    /// Bytes that `malloc` in GCC's kernels can give.
    pub heap_size: usize,
    /// Teams or gangs of GCC's kernels, whatever is asked for.
    pub forced_teams: Option<NonZeroU32>,
    /// Threads or workers of GCC's kernels, whatever is asked for.
    pub forced_threads: Option<NonZeroU32>,
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
        let mut number = |names: &[&str]| {
            let name = names.iter().find(|name| reader.text(name).is_some())?;
            reader.setting(name, "a number from 1", |text| text.parse().ok())
        };
        let forced_teams = number(&["GCN_NUM_TEAMS", "GCN_NUM_GANGS"]);
        let forced_threads = number(&["GCN_NUM_THREADS", "GCN_NUM_WORKERS"]);
        let heap_size = reader.setting("GCN_HEAP_SIZE", "a size in bytes such as 65536 or 64K", parse_bytes);
        let heap_size = heap_size.unwrap_or(HEAP);
        Self { kernels, heap_size, forced_teams, forced_threads, warnings: reader.warnings }
    }

    /// Bytes of private memory of threads of which nobody knows how much they need.
    pub fn stack_size(&self) -> u32 {
        self.kernels.stack_size.map_or(STACK, |bytes| u32::try_from(bytes).unwrap_or(u32::MAX))
    }
}

fn parse_bytes(text: &str) -> Option<usize> {
    usize::try_from(gangway_settings::size(text)?).ok().filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Settings {
        Settings::read(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.into()))
    }

    #[test]
    fn names_are_those_of_openmp_and_of_the_plugin() {
        let settings = read(&[("OMP_NUM_TEAMS", "3"), ("GCN_NUM_WORKERS", "2"), ("GCN_HEAP_SIZE", "1M")]);
        let teams = settings.kernels.wishes.num_teams;
        assert_eq!((teams, settings.forced_threads), (NonZeroU32::new(3), NonZeroU32::new(2)));
        assert_eq!((settings.heap_size, settings.forced_teams), (1 << 20, None));
        assert_eq!((read(&[]).heap_size, read(&[]).stack_size()), (HEAP, STACK));
    }

    #[test]
    fn nonsense_is_a_warning() {
        let settings = read(&[("GCN_NUM_TEAMS", "0"), ("GCN_HEAP_SIZE", "much")]);
        assert_eq!((settings.warnings.len(), settings.heap_size), (2, HEAP));
    }
}
