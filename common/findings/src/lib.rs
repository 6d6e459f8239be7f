//! What the checks of `gangway run --check` have found.
//!
//! The virtual GPU and the host's runtime find mistakes of programs. Each is a [`Finding`], which is [told](tell) to
//! people as text and to tools as a line of JSON in the file of `GANGWAY_CHECK_LOG`. `gangway run` reads that file
//! ([`Finding::read`]). A finding that a line of `GANGWAY_CHECK_SUPPRESS` fits is told to nobody.
//!
//! The crate is below all others, and prints through its caller: each library has its own way to stderr.

mod finding;
mod log;
mod suppressed;

use std::fmt::{self, Arguments, Display, Formatter};
use std::sync::{Mutex, PoisonError};

pub use finding::{Finding, Side, Source};

/// A check, as `--check` names it, and what its findings are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    pub name: &'static str,
    /// `race`, `races`
    pub found: [&'static str; 2],
    /// One sentence for tools.
    pub about: &'static str,
}

/// All checks.
pub const CHECKS: [Check; 5] = [
    Check {
        name: "memory",
        found: ["wrong use of memory", "wrong uses of memory"],
        about: "An access to memory that is not the program's, or not the kernel's",
    },
    Check {
        name: "map",
        found: ["stale value", "stale values"],
        about: "A read of mapped data that the other side has newer, or a copy over newer data",
    },
    Check {
        name: "race",
        found: ["race", "races"],
        about: "Accesses of two threads to one place, of which one writes, that nothing orders",
    },
    Check {
        name: "sync",
        found: ["wrong synchronization", "wrong synchronizations"],
        about: "Threads that wait for others which do not come, or come elsewhere",
    },
    Check {
        name: "init",
        found: ["use of what was not written", "uses of what was not written"],
        about: "A branch, an address or the program's memory that depends on memory that nothing has written",
    },
];

/// The names of all checks, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Names;

impl Display for Names {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        CHECKS.iter().enumerate().try_for_each(|(index, check)| {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}`{}`", check.name)
        })
    }
}

/// Whether a value of `GANGWAY_CHECK` asks for a check: a list of names, in which `all` stands for all of them, and 1
/// and 2 for `memory`.
#[must_use]
pub fn asks_for(value: &str, check: &str) -> bool {
    value
        .split(',')
        .map(str::trim)
        .any(|name| name == check || name == "all" || check == "memory" && (name == "1" || name == "2"))
}

/// How many findings of each check have been told.
static TOLD: Mutex<[usize; CHECKS.len()]> = Mutex::new([0; CHECKS.len()]);

/// Tells a finding, unless the user does not want to hear of it; whether it has been told. `print` prints a line of
/// this library's on stderr.
pub fn tell(finding: &Finding, print: impl Fn(Arguments<'_>)) -> bool {
    if suppressed::is_suppressed(&finding.check, &finding.words(), &print) {
        return false;
    }
    let line = finding.suppression();
    print(format_args!("{finding}\n  to hear no more of it: the line `{line}` in the file of --suppress"));
    if let Some(index) = CHECKS.iter().position(|known| known.name == finding.check) {
        TOLD.lock().unwrap_or_else(PoisonError::into_inner)[index] += 1;
    }
    log::add(finding, print);
    true
}

/// Adds a finding to the file for tools alone: people hear of it in other words.
pub fn note(finding: &Finding, print: impl Fn(Arguments<'_>)) {
    log::add(finding, print);
}

/// What has been told in this process, in words: `found 2 races`.
#[must_use]
pub fn told() -> Option<String> {
    let told = *TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    sum(told)
}

fn sum(told: [usize; CHECKS.len()]) -> Option<String> {
    let some = CHECKS.iter().zip(told).filter(|(_, count)| *count > 0);
    let parts: Vec<String> =
        some.map(|(check, count)| format!("{count} {}", check.found[usize::from(count > 1)])).collect();
    (!parts.is_empty()).then(|| format!("found {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_forms() {
        assert!(["1", "2", "memory", "map, memory", "all"].iter().all(|value| asks_for(value, "memory")));
        assert!(["map", "race,map", "all", "1,map"].iter().all(|value| asks_for(value, "map")));
        assert!(["0", "", "1", "maps"].iter().all(|value| !asks_for(value, "map")));
    }

    #[test]
    fn what_was_found_is_counted_by_check() {
        let counts = |memory, race| {
            sum(std::array::from_fn(|at| match CHECKS[at].name {
                "memory" => memory,
                "race" => race,
                _ => 0,
            }))
        };
        assert_eq!(counts(0, 0), None);
        assert_eq!(counts(0, 1).unwrap(), "found 1 race");
        assert_eq!(counts(2, 3).unwrap(), "found 2 wrong uses of memory, 3 races");
    }
}
