//! What the environment says about kernels of LLVM's, whatever the GPU. The names are those of the stock library and of
//! OpenMP.

use crate::launch::Wishes;
use gangway_settings::Reader;
use std::ffi::OsString;
use std::num::NonZeroU32;

/// The settings. Nothing is said of what is `None` or 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// Bytes of stack for each thread of a kernel.
    pub stack_size: Option<usize>,
    /// Bytes that `malloc` in kernels can give.
    pub heap_size: Option<usize>,
    /// Bytes of dynamic shared memory that every team gets at least.
    pub shared_memory: u32,
    /// What the device runtime checks and prints, in LLVM's bits.
    pub device_debug: u32,
    /// Shapes of launches.
    pub wishes: Wishes,
}

/// Bits of the device runtime's `DeviceDebugKind`, by the words of `GANGWAY_DEVICE_DEBUG`.
const DEBUG_WORDS: [(&str, u32); 2] = [("assert", 1), ("trace", 2)];

impl Settings {
    /// Reads them, and has the reader warn of what makes no sense.
    pub fn read<L: Fn(&str) -> Option<OsString>>(reader: &mut Reader<L>) -> Self {
        let bytes = "a size in bytes such as 65536 or 64K";
        let positive = "a number from 1";
        let usual = Wishes::default();
        Self {
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
            wishes: Wishes {
                num_teams: reader.setting("OMP_NUM_TEAMS", positive, parse_positive),
                thread_limit: reader.setting("OMP_TEAMS_THREAD_LIMIT", positive, parse_positive),
                threads_for_short_loops: reader
                    .setting("LIBOMPTARGET_MIN_THREADS_FOR_LOW_TRIP_COUNT", positive, parse_positive)
                    .map_or(usual.threads_for_short_loops, NonZeroU32::get),
                fewer_teams_for_long_loops: reader
                    .setting("LIBOMPTARGET_REUSE_BLOCKS_FOR_HIGH_TRIP_COUNT", "true or false", parse_switch)
                    .unwrap_or(usual.fewer_teams_for_long_loops),
            },
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

/// A switch, in the words that people use.
#[must_use]
pub fn parse_switch(text: &str) -> Option<bool> {
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

    fn read(pairs: &[(&str, &str)]) -> (Settings, Vec<String>) {
        let lookup = |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into());
        let mut reader = Reader { lookup, warnings: Vec::new() };
        let settings = Settings::read(&mut reader);
        (settings, reader.warnings)
    }

    #[test]
    fn an_empty_environment_leaves_all_to_the_driver() {
        assert_eq!(read(&[]), (Settings::default(), vec![]));
        assert_eq!(read(&[("OMP_NUM_TEAMS", " ")]), (Settings::default(), vec![]));
    }

    #[test]
    fn values_are_read() {
        let (settings, warnings) = read(&[
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
        let wishes = settings.wishes;
        assert_eq!((wishes.num_teams, wishes.thread_limit), (NonZeroU32::new(7), NonZeroU32::new(96)));
        assert!(!wishes.fewer_teams_for_long_loops && warnings.is_empty());
    }

    #[test]
    fn nonsense_is_told_and_ignored() {
        let (settings, warnings) = read(&[("OMP_NUM_TEAMS", "0"), ("GANGWAY_DEVICE_DEBUG", "asserts")]);
        assert_eq!(settings, Settings::default());
        assert_eq!(
            warnings,
            [
                "GANGWAY_DEVICE_DEBUG=asserts: expected assert, trace or both; it is ignored",
                "OMP_NUM_TEAMS=0: expected a number from 1; it is ignored",
            ]
        );
    }
}
