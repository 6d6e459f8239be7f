//! What is known to be found in programs of a suite, and why.
//!
//! Each line has a test's name, in which `*` stands for any letters, what kind of thing it is, where it is found, and the
//! reason. Where is the line that would suppress the finding (`race:heat.c:17`), in which `*` stands for any letters, too.
//! A `?` behind the place says that it is not found in each run. What has nothing to do with a finding has `-` there.

use std::fs;
use std::path::Path;

use crate::Found;

/// What a line of the list says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The program is wrong, on purpose or not.
    Mistake,
    /// The compiler makes wrong code of a program that is right.
    Compiler,
    /// The program is right; `docs/checks.md` says why this is found all the same.
    Limit,
    /// The program is right, and nobody has found out why this is told.
    Defect,
    /// The program is about what checks change: its output or its end is another with them.
    Differs,
    /// It takes too long.
    Slow,
}

impl Kind {
    const WORDS: [(&'static str, Self); 6] = [
        ("mistake", Self::Mistake),
        ("compiler", Self::Compiler),
        ("limit", Self::Limit),
        ("defect", Self::Defect),
        ("differs", Self::Differs),
        ("slow", Self::Slow),
    ];

    fn has_place(self) -> bool {
        !matches!(self, Self::Differs | Self::Slow)
    }
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub test: String,
    pub kind: Kind,
    /// Of a finding; empty where there is none.
    pub place: String,
    /// Whether it is found in each run.
    pub always: bool,
    pub reason: String,
}

impl Entry {
    /// Whether it counts in a run with these checks, as `--check` names them.
    #[must_use]
    pub fn is_of(&self, checks: &str) -> bool {
        let Some((check, _)) = self.place.split_once(':') else { return true };
        checks.split(',').any(|name| name == check || name == "all")
    }

    fn read(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        let mut word = || words.next().unwrap_or_default();
        let (test, kind, place) = (word().to_owned(), word(), word());
        let reason = words.collect::<Vec<_>>().join(" ");
        let kind = Kind::WORDS.iter().find(|(known, _)| *known == kind).map(|(_, kind)| *kind);
        match kind {
            Some(kind) if !reason.is_empty() && kind.has_place() == (place != "-") => {
                let (place, always) = place.strip_suffix('?').map_or((place, true), |place| (place, false));
                let place = if kind.has_place() { place.to_owned() } else { String::new() };
                Ok(Self { test, kind, place, always, reason })
            }
            _ => {
                let words = Kind::WORDS.map(|(word, _)| word).join(", ");
                Err(format!("`{line}` is not a test, one of {words}, a place (or `-`) and a reason"))
            }
        }
    }
}

/// The list.
#[derive(Clone, Debug, Default)]
pub struct Known(Vec<Entry>);

impl Known {
    /// Reads the list.
    ///
    /// # Errors
    /// It cannot be read, or a line says nothing.
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", file.display()))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(Entry::read).collect::<Result<_, _>>().map(Self)
    }

    /// What is known of a test, by its name and another that it has for all its forms.
    #[must_use]
    pub fn of(&self, names: &[&str]) -> Vec<&Entry> {
        let is_of = |entry: &&Entry| names.iter().any(|name| fits(&entry.test, name));
        self.0.iter().filter(is_of).collect()
    }

    /// Lines that fit none of these names.
    #[must_use]
    pub fn unused<'a>(&'a self, names: &[String]) -> Vec<&'a str> {
        let unused = self.0.iter().filter(|entry| !names.iter().any(|name| fits(&entry.test, name)));
        unused.map(|entry| entry.test.as_str()).collect()
    }
}

/// Compares what was found with what is known of a test.
///
/// # Errors
/// What is not known, or no longer found.
pub fn judge(known: &[&Entry], found: &[Found]) -> Result<(), String> {
    let with_place = || known.iter().filter(|entry| entry.kind.has_place());
    for one in found {
        if !with_place().any(|entry| fits(&entry.place, &one.suppression)) {
            return Err(format!("found {}: {}", one.suppression, one.message));
        }
    }
    for entry in with_place().filter(|entry| entry.always) {
        if !found.iter().any(|one| fits(&entry.place, &one.suppression)) {
            return Err(format!("{} is not found any more ({}): remove the line", entry.place, entry.reason));
        }
    }
    Ok(())
}

/// Whether a text is one in which `*` stands for any letters.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.into_iter().any(|at| fits(tail, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# why\n\nc/a* mistake race:a.c:* it says so\nc/b@O0 slow - minutes\nc/d mistake map:d.c:5? by luck\n";

    fn found(suppression: &str) -> Found {
        Found { suppression: suppression.to_owned(), ..Found::default() }
    }

    #[test]
    fn lines_are_for_tests() {
        let known = Known::parse(LIST).unwrap();
        assert_eq!(known.of(&["c/ab@O2", "c/ab"])[0].reason, "it says so");
        assert_eq!(known.of(&["c/b@O0"])[0].kind, Kind::Slow);
        assert!(known.of(&["c/b@O2"]).is_empty());
        assert_eq!(known.unused(&["c/ab@O2".into(), "c/d".into()]), ["c/b@O0"]);
        for line in ["c/a", "c/a mistake race:a.c:1", "c/a mistake - why", "c/a slow x why", "c/a no - why"] {
            Known::parse(line).expect_err(line);
        }
    }

    #[test]
    fn each_finding_needs_a_line_and_each_line_a_finding() {
        let known = Known::parse(LIST).unwrap();
        let of_a = known.of(&["c/a"]);
        judge(&of_a, &[found("race:a.c:7"), found("race:a.c:9")]).unwrap();
        judge(&of_a, &[]).expect_err("the line is not needed");
        judge(&of_a, &[found("race:a.c:7"), found("init:a.c:9")]).expect_err("another check");
        judge(&known.of(&["c/b@O0"]), &[]).unwrap();
        let of_d = known.of(&["c/d"]);
        judge(&of_d, &[]).unwrap();
        judge(&of_d, &[found("map:d.c:5")]).unwrap();
        assert!(of_a[0].is_of("all") && of_a[0].is_of("sync,race") && !of_a[0].is_of("sync"));
        judge(&[], &[found("race:a.c:7")]).expect_err("not known");
    }
}
