//! A mistake of the program's: what it is, and the places that have to do with it.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// A line of the program's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Source {
    pub file: String,
    pub line: u32,
    /// 0 where it is not known.
    pub column: u32,
}

/// File, line and column, as those have them who read debug information.
impl From<(String, u32, u32)> for Source {
    fn from((file, line, column): (String, u32, u32)) -> Self {
        Self { file, line, column }
    }
}

/// A mistake that a check has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the check, as in `--check=race`.
    pub check: String,
    /// What is wrong, in a sentence without its end.
    pub message: String,
    /// The kernel, or empty where none has to do with it.
    pub kernel: String,
    /// Places in the order in which people want to read them. The last one is where the mistake shows.
    pub sides: Vec<Side>,
    /// What to do, or what else is known: a line each.
    pub notes: Vec<String>,
    /// How often it was seen in the first launch, or until it was told, that had it.
    pub count: u64,
}

/// One of the places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// What the place is in the finding: `first`, `then`; may be empty.
    pub label: String,
    /// `a write by thread (0, 0, 0) of block (1, 0, 0)`
    pub what: String,
    pub function: String,
    /// As in PTX; may be empty.
    pub instruction: String,
    pub source: Option<Source>,
}

impl Finding {
    /// Reads a line of the file for tools.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }

    /// What a line that suppresses it may be about.
    pub(crate) fn words(&self) -> Vec<String> {
        let of_side = |side: &Side| {
            let place = side.source.as_ref().map(|Source { file, line, .. }| format!("{file}:{line}"));
            [place, Some(side.function.clone())].into_iter().flatten().collect::<Vec<_>>()
        };
        let sides = self.sides.iter().flat_map(of_side);
        std::iter::once(self.kernel.clone()).chain(sides).filter(|word| !word.is_empty()).collect()
    }

    /// The line that suppresses it: `race:heat.c:17`.
    #[must_use]
    pub fn suppression(&self) -> String {
        format!("{}:{}", self.check, self.place())
    }

    /// The text that fits this one best.
    fn place(&self) -> String {
        let source = self.sides.iter().rev().find_map(|side| side.source.as_ref());
        let function = || self.sides.iter().rev().map(|side| &side.function).find(|name| !name.is_empty());
        match source {
            Some(Source { file, line, .. }) => {
                format!("{}:{line}", file.rsplit('/').next().unwrap_or(file))
            }
            None => function().unwrap_or(&self.kernel).clone(),
        }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Finding { check, message, kernel, sides, notes, count } = self;
        write!(f, "{check}: {message}")?;
        let width = sides.iter().map(|side| side.label.len()).max().unwrap_or(0);
        for side in sides {
            let label = if side.label.is_empty() { String::new() } else { format!("{}:", side.label) };
            let width = if width == 0 { 0 } else { width + 2 };
            write!(f, "\n  {label:width$}{side}")?;
        }
        if !kernel.is_empty() {
            write!(f, "\n  in kernel '{kernel}', ")?;
            match count {
                0 | 1 => write!(f, "once")?,
                count => write!(f, "{count} times in its first launch with it")?,
            }
        }
        notes.iter().try_for_each(|note| write!(f, "\n  {note}"))
    }
}

impl Display for Side {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.source {
            Some(Source { file, line, column: 0 }) => write!(f, " at {file}:{line}")?,
            Some(Source { file, line, column }) => write!(f, " at {file}:{line}:{column}")?,
            None if self.function.is_empty() => {}
            None => write!(f, " in '{}'", self.function)?,
        }
        if self.instruction.is_empty() { Ok(()) } else { write!(f, ", instruction {}", self.instruction) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(label: &str, file: Option<&str>) -> Side {
        let source = file.map(|file| Source { file: file.to_owned(), line: 7, column: 3 });
        let (what, function) = ("a read".to_owned(), "f".to_owned());
        Side { label: label.to_owned(), what, function, instruction: "ld".to_owned(), source }
    }

    fn finding(file: Option<&str>) -> Finding {
        Finding {
            check: "race".to_owned(),
            message: "nothing orders them".to_owned(),
            kernel: "k".to_owned(),
            sides: vec![side("first", None), side("then", file)],
            count: 3,
            ..Finding::default()
        }
    }

    #[test]
    fn places_stand_below_each_other() {
        assert_eq!(
            finding(Some("/x/a.c")).to_string(),
            "race: nothing orders them\n  first: a read in 'f', instruction ld\n  \
             then:  a read at /x/a.c:7:3, instruction ld\n  in kernel 'k', 3 times in its first launch with it"
        );
        let sides = vec![Side { instruction: String::new(), ..side("", Some("a.c")) }];
        let other = Finding { sides, notes: vec!["help: mend it".to_owned()], count: 1, ..finding(None) };
        assert_eq!(
            other.to_string(),
            "race: nothing orders them\n  a read at a.c:7:3\n  in kernel 'k', once\n  help: mend it"
        );
    }

    #[test]
    fn a_finding_names_the_line_that_suppresses_it() {
        assert_eq!(finding(Some("/home/x/a.c")).place(), "a.c:7");
        assert_eq!(finding(None).place(), "f");
        let side = Side { what: "a copy".to_owned(), ..Side::default() };
        let mut before = finding(Some("a.c"));
        before.sides.push(side);
        assert_eq!(before.place(), "a.c:7");
        assert_eq!(finding(Some("/home/x/a.c")).words(), ["k", "f", "/home/x/a.c:7", "f"]);
    }

    #[test]
    fn tools_read_what_was_written() {
        let finding = finding(Some("a.c"));
        assert_eq!(Finding::read(&serde_json::to_string(&finding).unwrap()), Some(finding));
        assert_eq!(Finding::read("{"), None);
    }
}
