//! Lines that hold our figure against another's and against a bar.

use crate::program::Found;
use crate::table;

/// One line, as it is printed.
#[derive(Debug)]
pub struct Verdict {
    pub title: String,
    /// What is compared with.
    pub theirs: String,
    pub ours: String,
    pub figure: String,
    /// The bar, or `-` where there is none.
    pub wanted: String,
    pub passes: bool,
}

impl Verdict {
    #[must_use]
    pub fn cells(&self) -> [String; 6] {
        let result = match &*self.wanted {
            "-" => "-",
            _ if self.passes => "pass",
            _ => "MISS",
        };
        let Self { title, theirs, ours, figure, wanted, .. } = self;
        [title.clone(), theirs.clone(), ours.clone(), figure.clone(), wanted.clone(), result.into()]
    }

    /// The lines as a table, with notes below it on the page; `theirs` says what is compared with.
    #[must_use]
    pub fn found(lines: &[Self], theirs: &str, notes: &str) -> Found {
        if lines.is_empty() {
            return Found::default();
        }
        let head = ["Case", theirs, "Gangway", "Figure", "Wanted", "Result"].map(String::from);
        let cells: Vec<_> = std::iter::once(head).chain(lines.iter().map(Self::cells)).collect();
        let shown = table::render(&cells);
        let below = format!("{shown}\n{notes}");
        Found { below, shown, passes: lines.iter().all(|line| line.passes), ..Found::default() }
    }
}
