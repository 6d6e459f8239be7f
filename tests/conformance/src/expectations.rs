//! What is known not to work, and why: `vgpu-expectations.txt` for the virtual GPU, `cpu-expectations.txt`
//! for CPU devices.
//!
//! Each line has a test's name (with or without its level), what is expected, with the releases of LLVM in
//! brackets unless it is all of them, and the reason. A test that passes although a failure is expected
//! fails: the list stays true.

use std::fmt;
use std::fs;
use std::path::Path;

use crate::releases::Releases;

/// What a test is expected to come to, other than success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// The compiler refuses the program for GPUs.
    Refused,
    /// It compiles, and its run differs from the CPU's, as it must or may on a GPU.
    Differs,
    /// It fails, and should not.
    Defect,
    /// It is not run: it is about CPU devices, or takes too long.
    NotRun,
}

impl Expected {
    const WORDS: [(&'static str, Expected); 4] = [
        ("refused", Expected::Refused),
        ("differs", Expected::Differs),
        ("defect", Expected::Defect),
        ("not-run", Expected::NotRun),
    ];
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::WORDS.iter().find(|(_, expected)| expected == self);
        f.write_str(word.map_or("", |(word, _)| word))
    }
}

/// The list.
#[derive(Debug, Default)]
pub struct Expectations(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    test: String,
    releases: Releases,
    expected: Expected,
    reason: String,
}

impl Expectations {
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", file.display()))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut entries = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.split_whitespace();
            let (test, word) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            let reason = words.collect::<Vec<_>>().join(" ");
            let (word, releases) =
                Releases::behind(word).map_err(|error| format!("line {}: {error}", index + 1))?;
            let expected = Expected::WORDS.iter().find(|(known, _)| *known == word);
            let Some(&(_, expected)) = expected.filter(|_| !reason.is_empty()) else {
                let words = Expected::WORDS.map(|(word, _)| word).join(", ");
                return Err(format!("line {}: expected a test, one of {words}, and a reason", index + 1));
            };
            entries.push(Entry { test: test.to_owned(), releases, expected, reason });
        }
        Ok(Self(entries))
    }

    /// What is expected of `program` at `level` with a release of LLVM, and why.
    pub fn of(&self, program: &str, level: &str, release: u32) -> Option<(Expected, &str)> {
        let name = format!("{program}@{level}");
        let is_of =
            |entry: &&Entry| (entry.test == program || entry.test == name) && entry.releases.contain(release);
        let entry = self.0.iter().find(is_of)?;
        Some((entry.expected, &entry.reason))
    }

    /// Entries that no test has, out of all `names` such as `c/map_to_from@O0`.
    pub fn unused<'a>(&'a self, names: &[String]) -> Vec<&'a str> {
        let is_of = |name: &String, test: &str| {
            name == test || name.strip_prefix(test).is_some_and(|rest| rest.starts_with('@'))
        };
        let unused = self.0.iter().filter(|entry| !names.iter().any(|name| is_of(name, &entry.test)));
        unused.map(|entry| entry.test.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_for_tests_or_for_all_levels() {
        let list = "# why\n\nc/a refused no long double\nc/b@O0 differs(-22) a bug, mended soon\n";
        let list = Expectations::parse(list).unwrap();
        assert_eq!(list.of("c/a", "O2", 23), Some((Expected::Refused, "no long double")));
        assert_eq!(list.of("c/b", "O0", 22), Some((Expected::Differs, "a bug, mended soon")));
        assert_eq!(list.of("c/b", "O0", 23), None);
        assert_eq!(list.of("c/b", "O2", 22), None);
        assert_eq!(list.unused(&["c/a@O0".into(), "c/bb@O0".into()]), ["c/b@O0"]);
    }

    #[test]
    fn a_reason_is_needed() {
        for line in ["c/a refused", "c/a", "c/a broken because", "c/a refused(x) because"] {
            assert!(Expectations::parse(line).unwrap_err().starts_with("line 1"), "{line}");
        }
    }
}
