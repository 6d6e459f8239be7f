//! What the preprocessor and other directives do around a region that is moved, in C out of its
//! function.

use std::ops::Range;

use crate::emit::Outline;
use crate::error::{Complaint, Error};
use crate::lexer::{self, Kind, Token};
use crate::outline::Source;
use crate::pragma::preprocessor_line;
use crate::region::Region;

/// Directives that begin a conditional part, divide and end it.
const BEGIN: [&str; 3] = ["if", "ifdef", "ifndef"];
const DIVIDE: [&str; 4] = ["else", "elif", "elifdef", "elifndef"];

impl Source {
    /// The lines of the preprocessor in a range: the name of each, the rest, and its bytes.
    fn lines(&self, range: &Range<usize>) -> Vec<(String, Vec<Token>, Range<usize>)> {
        let tokens = lexer::tokens(&self.text[range.clone()]);
        let lines = tokens.split(|token| token.kind == Kind::Newline);
        lines
            .filter_map(|line| {
                let (name, rest) = preprocessor_line(line)?;
                let bytes = line[0].range.start..line[line.len() - 1].range.end;
                let bytes = range.start + bytes.start..range.start + bytes.end;
                Some((name.text.clone(), rest.to_vec(), bytes))
            })
            .collect()
    }

    /// The pragmas between the directive and the statement, which are a part of the region.
    pub(crate) fn pragmas(&self, between: &Range<usize>, is_skipped: &dyn Fn(usize) -> bool) -> Vec<u8> {
        let mut text = Vec::new();
        for (name, _, bytes) in self.lines(between) {
            if name == "pragma" && !is_skipped(bytes.start) {
                text.extend_from_slice(self.line_directive(bytes.start).as_bytes());
                text.push(b'\n');
                text.extend_from_slice(&self.text[bytes]);
                text.push(b'\n');
            }
        }
        // `_Pragma` may stand there as well.
        let tokens = lexer::tokens(&self.text[between.clone()]);
        for (range, _) in crate::pragma::openmp(&tokens) {
            let bytes = between.start + range.start..between.start + range.end;
            if self.text[bytes.clone()].starts_with(b"_Pragma") && !is_skipped(bytes.start) {
                text.extend_from_slice(&self.text[bytes]);
                text.push(b'\n');
            }
        }
        if !text.is_empty() {
            text.extend_from_slice(self.line_directive(between.end).as_bytes());
            text.push(b'\n');
        }
        text
    }

    /// How many conditional parts a range ends that it does not begin, and the other way round.
    fn halves(&self, range: &Range<usize>) -> (usize, usize) {
        let (mut unopened, mut open) = (0_usize, 0_usize);
        for (name, ..) in self.lines(range) {
            if BEGIN.contains(&name.as_str()) {
                open += 1;
            } else if name == "endif" && open > 0 {
                open -= 1;
            } else if name == "endif" {
                unopened += 1;
            }
        }
        (unopened, open)
    }

    /// The conditional directives of a range that goes elsewhere, if its surroundings need them.
    pub(crate) fn conditionals(&self, range: &Range<usize>) -> String {
        let mut text = String::new();
        if self.halves(range) != (0, 0) {
            for (name, _, bytes) in self.lines(range) {
                let word = name.as_str();
                if BEGIN.contains(&word) || DIVIDE.contains(&word) || word == "endif" {
                    text += &String::from_utf8_lossy(&self.text[bytes]);
                    text.push('\n');
                }
            }
        }
        text
    }

    /// What stands before and behind a range so that it ends all conditional parts that it begins,
    /// and the other way round.
    pub(crate) fn complements(&self, range: &Range<usize>) -> (String, String) {
        let (unopened, open) = self.halves(range);
        let mut begin = "#if 1\n".repeat(unopened);
        if unopened > 0 {
            begin += &format!("{}\n", self.line_directive(range.start));
        }
        (begin, if open > 0 { format!("\n{}", "#endif\n".repeat(open)) } else { String::new() })
    }

    /// A macro that the region uses has to be the same behind the function, where the region goes.
    pub(crate) fn check_macros(
        &self,
        region: &Region,
        is_skipped: &dyn Fn(usize) -> bool,
    ) -> Result<(), Error> {
        let used = lexer::tokens(&self.text[region.body.clone()]);
        let mut names: Vec<String> = used.into_iter().map(|token| token.text).collect();
        // What a macro's text names, the region uses as well.
        let definitions = self.lines(&(0..region.body.end));
        let mut known = 0;
        while known < names.len() {
            let before = names.len();
            for (name, rest, _) in &definitions {
                if name == "define"
                    && rest.first().is_some_and(|first| names[known..before].contains(&first.text))
                {
                    let new = rest[1..].iter().filter(|token| token.kind == Kind::Identifier);
                    let new: Vec<String> = new.map(|token| token.text.clone()).collect();
                    names.extend(new.into_iter().filter(|text| !names.contains(text)).collect::<Vec<_>>());
                }
            }
            known = before;
        }
        for (name, rest, bytes) in self.lines(&(region.body.end..region.outside)) {
            let Some(changed) = rest.first().filter(|_| matches!(name.as_str(), "define" | "undef")) else {
                continue;
            };
            if is_skipped(bytes.start) || !names.contains(&changed.text) {
                continue;
            }
            let message = format!(
                "the macro `{0}` changes here, and the region of `device(ancestor: 1)` before uses it; in C the \
                 region is compiled behind its function: move this line there, too",
                changed.text
            );
            return Err(self.error(Complaint::new(bytes.start, message)));
        }
        Ok(())
    }

    /// Clauses of directives in a region cannot name what is reached through a pointer.
    pub(crate) fn check_arrays(&self, outline: &Outline<'_>) -> Result<(), Error> {
        let wrong = outline
            .captures
            .variables
            .iter()
            .find(|(variable, action)| variable.in_directive && outline.is_indirect(variable, *action));
        let Some((variable, _)) = wrong else { return Ok(()) };
        let message = format!(
            "a directive inside of the region of `device(ancestor: 1)` names the array `{}`; in C, have it \
             name a pointer to it",
            variable.name
        );
        Err(self.error(Complaint::new(variable.at, message)))
    }
}
