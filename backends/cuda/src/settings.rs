//! What the environment says about this back end.
//!
//! Read once, when the back end is made. The names are those of the stock library and of
//! OpenMP. Nothing is printed here: what makes no sense is a warning for the runtime.

use gangway_device_code::Wishes;
use gangway_settings::Reader;
use std::ffi::OsString;
use std::num::NonZeroU32;

/// The back end's settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Settings {
    /// Bytes of stack for each thread of a kernel.
    pub stack_size: Option<usize>,
    /// Bytes that `malloc` in kernels can give.
    pub heap_size: Option<usize>,
    /// Bytes of dynamic shared memory that every team gets at least.
    pub shared_memory: u32,
    /// What the device runtime checks and prints, in LLVM's bits.
    pub device_debug: u32,
    /// Teams of a region without a `num_teams` clause, at most.
    pub num_teams: Option<NonZeroU32>,
    /// Threads per team of a region without a `thread_limit` clause, at most.
    pub thread_limit: Option<NonZeroU32>,
    /// Threads that a team keeps when a loop is too short for all teams.
    pub threads_for_short_loops: Option<NonZeroU32>,
    /// Whether teams work on several parts of a long loop instead of there being more.
    pub fewer_teams_for_long_loops: bool,
    /// Whether the runtime looks for host calls where the driver would tell of them.
    pub look_for_calls: bool,
    /// One line per value that was not understood.
    pub warnings: Vec<String>,
}

/// Bits of the device runtime's `DeviceDebugKind`, by the words of `GANGWAY_DEVICE_DEBUG`.
const DEBUG_WORDS: [(&str, u32); 2] = [("assert", 1), ("trace", 2)];

impl Settings {
    /// The settings in the environment of this process.
    pub fn from_environment() -> Self {
        Self::read(|name| std::env::var_os(name))
    }

    /// The settings that `lookup` gives.
    pub fn read(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let mut reader = Reader { lookup, warnings: Vec::new() };
        let bytes = "a size in bytes such as 65536 or 64K";
        let positive = "a number from 1";
        let settings = Self {
            stack_size: reader.setting("LIBOMPTARGET_STACK_SIZE", bytes, parse_bytes),
            heap_size: reader.setting("LIBOMPTARGET_HEAP_SIZE", bytes, parse_bytes),
            shared_memory: reader
                .setting("LIBOMPTARGET_SHARED_MEMORY_SIZE", bytes, |text| {
                    parse_bytes(text).and_then(|size| u32::try_from(size).ok())
                })
                .unwrap_or(0),
            device_debug: reader
                .setting("LIBOMPTARGET_DEVICE_RTL_DEBUG", "a number", parse_number)
                .unwrap_or(0)
                | reader.setting("GANGWAY_DEVICE_DEBUG", "assert, trace or both", parse_words).unwrap_or(0),
            num_teams: reader.setting("OMP_NUM_TEAMS", positive, parse_positive),
            thread_limit: reader.setting("OMP_TEAMS_THREAD_LIMIT", positive, parse_positive),
            threads_for_short_loops: reader.setting(
                "LIBOMPTARGET_MIN_THREADS_FOR_LOW_TRIP_COUNT",
                positive,
                parse_positive,
            ),
            fewer_teams_for_long_loops: reader
                .setting("LIBOMPTARGET_REUSE_BLOCKS_FOR_HIGH_TRIP_COUNT", "true or false", parse_switch)
                .unwrap_or(true),
            look_for_calls: reader
                .setting("GANGWAY_HOST_CALLS_LOOK", "true or false", parse_switch)
                .unwrap_or(false),
            warnings: Vec::new(),
        };
        Self { warnings: reader.warnings, ..settings }
    }
}

impl From<&Settings> for Wishes {
    fn from(settings: &Settings) -> Self {
        let usual = Self::default();
        Self {
            num_teams: settings.num_teams,
            thread_limit: settings.thread_limit,
            threads_for_short_loops: settings
                .threads_for_short_loops
                .map_or(usual.threads_for_short_loops, NonZeroU32::get),
            fewer_teams_for_long_loops: settings.fewer_teams_for_long_loops,
        }
    }
}

fn parse_number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn parse_positive(text: &str) -> Option<NonZeroU32> {
    text.parse().ok()
}

fn parse_bytes(text: &str) -> Option<usize> {
    usize::try_from(gangway_settings::size(text)?).ok()
}

fn parse_switch(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

fn parse_words(text: &str) -> Option<u32> {
    text.split(',').try_fold(0, |bits, word| {
        let known = DEBUG_WORDS.iter().find(|(known, _)| *known == word.trim());
        known.map(|(_, bit)| bits | bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Settings {
        Settings::read(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into()))
    }

    #[test]
    fn an_empty_environment_leaves_all_to_the_driver() {
        let expected = Settings { fewer_teams_for_long_loops: true, ..Settings::default() };
        assert_eq!(read(&[]), expected);
        assert_eq!(read(&[("OMP_NUM_TEAMS", " ")]), expected);
    }

    #[test]
    fn values_are_read() {
        let settings = read(&[
            ("LIBOMPTARGET_STACK_SIZE", "4096"),
            ("LIBOMPTARGET_HEAP_SIZE", "64M"),
            ("LIBOMPTARGET_SHARED_MEMORY_SIZE", "1k"),
            ("LIBOMPTARGET_DEVICE_RTL_DEBUG", "0x4"),
            ("GANGWAY_DEVICE_DEBUG", "assert, trace"),
            ("OMP_NUM_TEAMS", "7"),
            ("OMP_TEAMS_THREAD_LIMIT", "96"),
            ("LIBOMPTARGET_REUSE_BLOCKS_FOR_HIGH_TRIP_COUNT", "off"),
        ]);
        assert_eq!((settings.stack_size, settings.heap_size), (Some(4096), Some(64 << 20)));
        assert_eq!((settings.shared_memory, settings.device_debug), (1024, 7));
        assert_eq!((settings.num_teams, settings.thread_limit), (NonZeroU32::new(7), NonZeroU32::new(96)));
        assert!(!settings.fewer_teams_for_long_loops && settings.warnings.is_empty());
    }

    #[test]
    fn nonsense_is_told_and_ignored() {
        let settings = read(&[("OMP_NUM_TEAMS", "0"), ("GANGWAY_DEVICE_DEBUG", "asserts")]);
        assert_eq!((settings.num_teams, settings.device_debug), (None, 0));
        assert_eq!(
            settings.warnings,
            [
                "GANGWAY_DEVICE_DEBUG=asserts: expected assert, trace or both; it is ignored",
                "OMP_NUM_TEAMS=0: expected a number from 1; it is ignored",
            ]
        );
    }
}
