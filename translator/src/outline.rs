//! One file: its directives found, and all that they need put in its place.

use std::ops::Range;
use std::path::PathBuf;

use crate::ast::Unit;
use crate::buffer::Buffer;
use crate::capture::{Action, captures, probes};
use crate::clause::Construct;
use crate::emit::{Outline, pointer_name};
use crate::error::{Complaint, Error};
use crate::lexer::{self, Kind, line_of};
use crate::offload::Offload;
use crate::pragma::{self, Directive, What};
use crate::region::{self, Region};
use crate::variable::Variable;
use crate::{Request, Translated};

/// What the calls and the host's functions are written with.
const HEADER: &str = "#include <gangway/reverse_offload.h>";

/// What a file may start with to say that it is UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A file that has directives, read.
#[derive(Debug)]
pub struct Source {
    pub file: PathBuf,
    pub(crate) text: Vec<u8>,
    pub buffer: Buffer,
    /// A construct that is not understood matters only if the preprocessor leaves it in.
    regions: Vec<(Range<usize>, Result<Construct, Complaint>)>,
    others: Vec<(Range<usize>, String)>,
}

impl Source {
    /// Reads the directives of a file. `None`: it has none.
    ///
    /// # Errors
    /// One of them is wrong.
    pub fn read(file: PathBuf, text: Vec<u8>) -> Result<Option<Self>, Error> {
        let mut source =
            Self { file, text, buffer: Buffer::default(), regions: Vec::new(), others: Vec::new() };
        let directives = pragma::directives(&source.text).map_err(|complaint| source.error(complaint))?;
        if directives.is_empty() {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for Directive { range, what } in directives {
            match what {
                What::Requires(clauses) => {
                    let rest = match clauses.is_empty() {
                        true => String::new(),
                        false => format!("_Pragma(\"omp requires {}\")", clauses.join(" ")),
                    };
                    parts.push((range.clone(), rest.clone()));
                    source.others.push((range, rest));
                }
                What::Ancestor(clauses) => {
                    let construct = Construct::read(&clauses);
                    parts.push((
                        range.clone(),
                        construct.as_ref().map_or_else(|_| probe(&Construct::default()), probe),
                    ));
                    source.regions.push((range, construct));
                }
            }
        }
        source.buffer = Buffer::new(&source.text, parts);
        Ok(Some(source))
    }

    /// A complaint about a byte of the file.
    pub(crate) fn error(&self, complaint: Complaint) -> Error {
        let (line, file) = self.presumed(complaint.at);
        let file = file.map_or_else(|| self.file.clone(), PathBuf::from);
        Error::Source { file, line, message: complaint.message }
    }

    /// The line and the file that a byte belongs to for the user, as `#line` says.
    fn presumed(&self, at: usize) -> (usize, Option<String>) {
        let line = line_of(&self.text, at);
        let mut presumed = (line, None);
        let tokens = lexer::tokens(&self.text[..at.min(self.text.len())]);
        for (index, token) in tokens.iter().enumerate() {
            let begins = index == 0 || tokens[index - 1].kind == Kind::Newline;
            if !begins || !token.is("#") {
                continue;
            }
            let named = tokens.get(index + 1).is_some_and(|token| token.is("line"));
            let rest = &tokens[index + 1 + usize::from(named)..];
            let number = rest.first().filter(|token| token.kind == Kind::Number);
            let Some(number) = number.and_then(|number| number.text.parse::<usize>().ok()) else { continue };
            let name = rest.get(1).filter(|token| token.kind == Kind::String);
            let name = name.map(|name| name.text.trim_matches('"').to_owned());
            let after = line - line_of(&self.text, token.range.start);
            presumed = ((number + after).saturating_sub(1), name.or(presumed.1));
        }
        presumed
    }

    /// The line of a byte, and the name of its file as a literal has it.
    fn quoted(&self, at: usize) -> (usize, String) {
        let (line, file) = self.presumed(at);
        let own = || self.file.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        (line, file.unwrap_or_else(own))
    }

    /// `#line` for a byte.
    pub(crate) fn line_directive(&self, at: usize) -> String {
        let (line, name) = self.quoted(at);
        format!("#line {line} \"{name}\"")
    }

    /// What is wrong if a directive stands in no function: clang speaks of what stands for it.
    #[must_use]
    pub fn outside_of_functions(&self) -> Option<Error> {
        let depth_at = |at: usize| {
            let tokens = lexer::tokens(&self.text[..at]);
            let count = |text: &str| tokens.iter().filter(|token| token.is(text)).count();
            count("{") > count("}")
        };
        let (range, _) = self.regions.iter().find(|(range, _)| !depth_at(range.start))?;
        let message = "`target` with `device(ancestor: 1)` stands in no function";
        Some(self.error(Complaint::new(range.start, message)))
    }

    /// Translates the file with the unit that it is part of. `None`: the preprocessor takes all of its
    /// directives out.
    ///
    /// # Errors
    /// A region that cannot be translated.
    pub fn translate(&self, unit: &Unit, request: &Request<'_>) -> Result<Option<Translated>, Error> {
        let mut functions: Vec<(usize, Vec<u8>)> = Vec::new();
        let mut end_of_last = 0;
        let offload = Offload::read(&self.text);
        let skipped: Vec<Range<usize>> = unit
            .skipped(&self.file)
            .into_iter()
            .map(|range| self.buffer.original(range.start)..self.buffer.original(range.end))
            .collect();
        let is_skipped = |at: usize| skipped.iter().any(|range| range.contains(&at));
        let mut edits: Vec<(Range<usize>, Vec<u8>)> = self
            .others
            .iter()
            .filter(|(range, _)| !is_skipped(range.start))
            .map(|(range, text)| (range.clone(), self.with_lines(text.clone(), range)))
            .collect();
        let before_regions = edits.len();
        for (number, (range, construct)) in self.regions.iter().enumerate() {
            let complain = |complaint: Complaint| self.error(complaint);
            if is_skipped(range.start) {
                continue;
            }
            let construct = construct.as_ref().map_err(|complaint| complain(complaint.clone()))?;
            if range.start < end_of_last {
                let message =
                    "the region of `device(ancestor: 1)` holds another one, and is on the host already";
                return Err(complain(Complaint::new(range.start, message)));
            }
            let place = self.buffer.place_of(range).unwrap_or_default();
            let region = region::find(unit.root(), &self.file, &self.buffer, place, request.is_cxx).map_err(
                |complaint| self.error(Complaint { at: self.buffer.original(complaint.at), ..complaint }),
            )?;
            let region = region.in_file(&self.buffer);
            let captures = captures(construct, &region).map_err(complain)?;
            let (name, identity) = (self.identity(), request.identity);
            // In C++ the symbol is a part of what the function is registered as.
            let unit = match request.is_cxx && region.is_of_its_unit {
                true => format!("{identity:016x}_"),
                false => String::new(),
            };
            let mut outline = Outline {
                by_macro: Vec::new(),
                symbol: format!("__gangway_reverse_{unit}{name:08x}_{number}"),
                key: format!("reverse_{identity:016x}_{name:08x}_{number}"),
                is_cxx: request.is_cxx,
                captures: &captures,
                conditions: &construct.conditions,
                device: &construct.device,
                is_for_devices: offload.declares(region.body.start),
                function: &region.function,
                parameters: &region.parameters,
            };
            end_of_last = region.body.end;
            if request.is_cxx {
                self.in_place(range, &region, &outline, &is_skipped, &mut edits);
                continue;
            }
            self.check_arrays(&outline)?;
            outline.by_macro = self.by_macro(&outline, &region)?;
            self.check_macros(&region, &is_skipped)?;
            let between = range.end..region.body.start;
            let (begin, end) = self.complements(&region.body);
            let pragmas = self.pragmas(&between, &is_skipped);
            let body = self.body(&outline, &region)?;
            let body = [&pragmas[..], begin.as_bytes(), &body, end.as_bytes()].concat();
            let conditionals = self.conditionals(&between) + &self.conditionals(&region.body);
            let function = outline.function(&body, &self.line_directive(region.body.start));
            let outside = self.after_declaration(region.outside);
            match functions.last_mut() {
                Some((last, text)) if *last == outside => {
                    text.push(b'\n');
                    text.extend_from_slice(&function);
                }
                _ => functions.push((outside, function)),
            }
            let whole = range.start..region.body.end;
            let call = if conditionals.is_empty() {
                self.with_lines(outline.call(), &whole)
            } else {
                let line = self.line_directive(region.body.end);
                format!("{}\n{conditionals}{line}\n", outline.call()).into_bytes()
            };
            edits.push((whole, call));
        }
        let has_regions = edits.len() > before_regions;
        if edits.is_empty() {
            return Ok(None);
        }
        for (outside, function) in functions {
            let line = self.line_directive(outside);
            let text = [b"\n", &function[..], b"\n", line.as_bytes(), b"\n"].concat();
            edits.push((outside..outside, text));
        }
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut text = Vec::with_capacity(self.text.len() * 2);
        let mut from = 0;
        if self.text.starts_with(MARK) {
            text.extend_from_slice(MARK);
            from = MARK.len();
        }
        if has_regions {
            text.extend_from_slice(format!("{HEADER}\n{}\n", self.line_directive(0)).as_bytes());
        }
        for (range, replacement) in edits {
            text.extend_from_slice(&self.text[from..range.start]);
            text.extend_from_slice(&replacement);
            from = range.end;
        }
        text.extend_from_slice(&self.text[from..]);
        Ok(Some(Translated { file: self.file.clone(), text }))
    }

    /// The region stays, in a function of the host's.
    fn in_place(
        &self,
        directive: &Range<usize>,
        region: &Region,
        outline: &Outline<'_>,
        is_skipped: &dyn Fn(usize) -> bool,
        edits: &mut Vec<(Range<usize>, Vec<u8>)>,
    ) {
        let body = &region.body;
        let between = directive.end..body.start;
        let line = self.line_directive(directive.start);
        let (begin, end) = self.complements(body);
        let kept = self.conditionals(&between);
        if begin.is_empty() && end.is_empty() && kept.is_empty() {
            let before = outline.before(&line, &self.line_directive(directive.end));
            edits.push((directive.clone(), before.into_bytes()));
        } else {
            // Conditional directives of ours stand around the region.
            let before = outline.before(&line, &self.line_directive(body.start));
            let pragmas = self.pragmas(&between, is_skipped);
            let text = [b"\n", kept.as_bytes(), before.as_bytes(), &pragmas, begin.as_bytes()].concat();
            edits.push((directive.start..body.start, text));
        }
        for (variable, action) in &outline.captures.variables {
            if *action != Action::Direct {
                let qualifiers = variable.qualifiers.iter();
                edits.extend(qualifiers.map(|qualifier| (qualifier.clone(), Vec::new())));
            }
        }
        for place in &region.this {
            let text = if place.is_empty() { "__gangway_this->" } else { "__gangway_this" };
            edits.push((place.clone(), text.into()));
        }
        let (line, name) = self.quoted(directive.start);
        let after = outline.after(&format!("\"{name}:{line}\""));
        let line = self.line_directive(body.end);
        let kept = self.conditionals(body);
        edits.push((body.end..body.end, format!("{end}{after}\n{kept}{line}\n").into_bytes()));
    }

    /// What tells this file from others in names.
    fn identity(&self) -> u32 {
        let hash = crate::identity(self.file.as_os_str().as_encoded_bytes());
        (hash ^ (hash >> 32)) as u32
    }

    /// A replacement with as many lines as what it replaces.
    fn with_lines(&self, text: String, range: &Range<usize>) -> Vec<u8> {
        let lines = self.text[range.clone()].iter().filter(|byte| **byte == b'\n').count();
        let mut text = text.into_bytes();
        text.extend(std::iter::repeat_n(b'\n', lines));
        text
    }

    /// The region, with what C has no references for spelt through pointers.
    fn body(&self, outline: &Outline<'_>, region: &Region) -> Result<Vec<u8>, Error> {
        let mut spellings: Vec<(Range<usize>, String)> = Vec::new();
        for (variable, action) in &outline.captures.variables {
            if !outline.is_indirect(variable, *action) {
                continue;
            }
            if outline.by_macro.contains(&variable.name) {
                continue;
            }
            let spelling = format!("(*{})", pointer_name(&variable.name));
            spellings.extend(variable.references.iter().map(|range| (range.clone(), spelling.clone())));
        }
        spellings.sort_by_key(|(range, _)| range.start);
        let mut text = Vec::new();
        let mut from = region.body.start;
        for (range, spelling) in spellings {
            text.extend_from_slice(&self.text[from..range.start]);
            text.extend_from_slice(spelling.as_bytes());
            from = range.end;
        }
        text.extend_from_slice(&self.text[from..region.body.end]);
        Ok(text)
    }

    /// The variables whose names a macro leads to their pointers: those that macros of the user's name,
    /// and if it can be, those in arguments of macros, which make text of what is spelt there.
    fn by_macro(&self, outline: &Outline<'_>, region: &Region) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        for (variable, action) in &outline.captures.variables {
            if !outline.is_indirect(variable, *action) {
                continue;
            }
            let checked = || self.check_macro(variable, region);
            if variable.in_macro {
                checked()?;
            }
            if variable.in_macro || variable.in_argument && checked().is_ok() {
                names.push(variable.name.clone());
            }
        }
        Ok(names)
    }

    /// A variable that a macro names is renamed by a macro, which renames all of that name.
    fn check_macro(&self, variable: &Variable, region: &Region) -> Result<(), Error> {
        let tokens = lexer::tokens(&self.text[region.body.clone()]);
        let mut lines = tokens.split(|token| token.kind == Kind::Newline);
        // What a macro is defined as counts where the macro is used.
        let code = lines.by_ref().filter(|line| !line.first().is_some_and(|first| first.is("#")));
        let mut tokens = code.flatten();
        let other = tokens.find(|token| {
            let at = region.body.start + token.range.start;
            token.is(&variable.name) && !variable.references.iter().any(|range| range.start == at)
        });
        let Some(other) = other else { return Ok(()) };
        let message = format!(
            "`{0}` is used in a macro here, and something else is named `{0}`, too; give that another name",
            variable.name
        );
        Err(self.error(Complaint::new(region.body.start + other.range.start, message)))
    }

    /// The byte after a declaration and its semicolon.
    fn after_declaration(&self, end: usize) -> usize {
        let tokens = lexer::tokens(&self.text[end..]);
        let next = tokens.iter().find(|token| token.kind != Kind::Newline);
        next.filter(|token| token.is(";")).map_or(end, |token| end + token.range.end)
    }
}

/// The statement that libclang reads in the place of a directive: a loop over what follows,
/// whose condition holds the expressions.
fn probe(construct: &Construct) -> String {
    let mut text = "while (".to_owned();
    for expression in probes(construct) {
        text.push_str(&format!("(void)({expression}), "));
    }
    text.push_str("1) ");
    text
}
