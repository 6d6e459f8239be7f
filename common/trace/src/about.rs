//! What a report says of the process beside what it did: who ran what, where and when.

use std::collections::BTreeMap;
use std::env;
use std::fmt::{self, Display};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Who has recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The command line, quoted as a shell reads it.
    pub command: String,
    /// The machine's name.
    pub host: String,
    pub rank: Option<Rank>,
    /// Seconds since 1970 when recording began.
    pub started: u64,
    /// What the devices are that have been used.
    pub devices: BTreeMap<i32, String>,
}

/// The place of a process in a parallel program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    pub rank: u32,
    /// How many there are, where the launcher says it.
    pub of: Option<u32>,
}

/// What launchers call rank and size: Open MPI, MPICH and Intel MPI, MVAPICH, PMIx, Slurm.
const LAUNCHERS: [(&str, &str); 5] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "PMIX_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
];

impl About {
    /// This process.
    pub fn process() -> Self {
        let words: Vec<String> = env::args_os().map(|word| quoted(&word.to_string_lossy())).collect();
        About {
            command: words.join(" "),
            host: host(),
            rank: Rank::of_process(),
            started: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            devices: BTreeMap::new(),
        }
    }

    /// When recording began, in UTC.
    pub fn date(&self) -> Date {
        Date(self.started)
    }
}

impl Rank {
    /// That of this process, if a launcher of parallel programs has started it.
    pub fn of_process() -> Option<Self> {
        let number = |name: &str| env::var(name).ok()?.trim().parse().ok();
        LAUNCHERS.iter().find_map(|(rank, of)| Some(Rank { rank: number(rank)?, of: number(of) }))
    }

    /// Whether there are others, which must not write the same file.
    pub fn has_others(self) -> bool {
        self.of != Some(1)
    }
}

impl Display for Rank {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "rank {}", self.rank)?;
        self.of.map_or(Ok(()), |of| write!(out, " of {of}"))
    }
}

/// Seconds since 1970, shown as `2026-11-24 19:20:33 UTC`.
#[derive(Clone, Copy, Debug)]
pub struct Date(u64);

impl Display for Date {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0 / 86_400, self.0 % 86_400);
        // Years that begin in March have their leap day at the end; 400 of them are 146,097 days.
        let since_era = days + 719_468;
        let (era, day) = (since_era / 146_097, since_era % 146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = era * 400 + year + u64::from(month <= 2);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(out, "{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
    }
}

/// A word of a command line.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+=./:,@%".contains(&byte) || !byte.is_ascii();
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn host() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: room for the name; the last byte stays NUL.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(0);
    std::ffi::OsStr::from_bytes(&name[..length]).to_string_lossy().into_owned()
}

/// What the program is called.
pub fn program() -> String {
    let from_arguments = env::args_os().next().map(PathBuf::from);
    let path = from_arguments.or_else(|| env::current_exe().ok()).unwrap_or_default();
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (second, shown) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (951_868_800, "2000-03-01 00:00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(Date(second).to_string(), shown);
        }
    }

    #[test]
    fn words_of_a_command() {
        assert_eq!(quoted("--size=3"), "--size=3");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn ranks() {
        let rank = |of| Rank { rank: 3, of };
        assert_eq!(rank(Some(8)).to_string(), "rank 3 of 8");
        assert_eq!(rank(None).to_string(), "rank 3");
        assert!(rank(None).has_others() && rank(Some(8)).has_others() && !rank(Some(1)).has_others());
    }
}
