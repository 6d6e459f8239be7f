//! What the environment says about this back end: OpenMP's variables, and those of libgomp's plugin.

use gangway_settings::Reader;
use std::ffi::OsString;
use std::num::NonZeroU32;

/// Bytes that `malloc` in GCC's kernels can give, as in libgomp's plugin.
const HEAP: usize = 100 << 20;

/// The back end's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Bytes that `malloc` in GCC's kernels can give.
    pub heap_size: usize,
    /// Teams of a region without a `num_teams` clause, at most.
    pub num_teams: Option<NonZeroU32>,
    /// Threads per team of a region without a `thread_limit` clause, at most.
    pub thread_limit: Option<NonZeroU32>,
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
        let mut number = |names: &[&str]| {
            let name = names.iter().find(|name| reader.text(name).is_some())?;
            reader.setting(name, "a number from 1", |text| text.parse().ok())
        };
        let num_teams = number(&["OMP_NUM_TEAMS"]);
        let thread_limit = number(&["OMP_TEAMS_THREAD_LIMIT"]);
        let forced_teams = number(&["GCN_NUM_TEAMS", "GCN_NUM_GANGS"]);
        let forced_threads = number(&["GCN_NUM_THREADS", "GCN_NUM_WORKERS"]);
        let heap_size = reader.setting("GCN_HEAP_SIZE", "a size in bytes such as 65536 or 64K", parse_bytes);
        let heap_size = heap_size.unwrap_or(HEAP);
        let warnings = reader.warnings;
        Self { heap_size, num_teams, thread_limit, forced_teams, forced_threads, warnings }
    }
}

fn parse_bytes(text: &str) -> Option<usize> {
    let bytes = parse_size::Config::new().with_binary().parse_size(text).ok()?;
    usize::try_from(bytes).ok().filter(|&bytes| bytes > 0)
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
        assert_eq!((settings.num_teams, settings.forced_threads), (NonZeroU32::new(3), NonZeroU32::new(2)));
        assert_eq!((settings.heap_size, settings.forced_teams), (1 << 20, None));
        assert_eq!(read(&[]).heap_size, HEAP);
    }

    #[test]
    fn nonsense_is_a_warning() {
        let settings = read(&[("GCN_NUM_TEAMS", "0"), ("GCN_HEAP_SIZE", "much")]);
        assert_eq!((settings.warnings.len(), settings.heap_size), (2, HEAP));
    }
}
