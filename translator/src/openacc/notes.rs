//! What is said of loops and variables with `-fopenacc-notes`, in the words that users of GCC know.

use super::source::Source;

/// A note for a line of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub file: String,
    pub line: usize,
    pub text: String,
}

/// Notes that are being collected.
#[derive(Debug, Default)]
pub struct Notes(Vec<(usize, String)>);

impl Notes {
    /// Says something about a byte, once.
    pub fn say(&mut self, at: usize, text: String) {
        let note = (at, text);
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }

    /// Whether something has been said about a byte.
    pub fn has(&self, at: usize) -> bool {
        self.0.iter().any(|(known, _)| *known == at)
    }

    pub fn into_notes(mut self, source: &Source) -> Vec<Note> {
        self.0.sort_by_key(|(at, _)| *at);
        let note = |(at, text): (usize, String)| {
            let (file, line) = source.presumed(at);
            Note { file: file.to_owned(), line, text }
        };
        self.0.into_iter().map(note).collect()
    }
}
