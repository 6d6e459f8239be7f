//! The directives of reverse offload in a file: where they stand and what their clauses are.
//!
//! Two directives matter: `requires` with `reverse_offload`, and `target` with
//! `device(ancestor: 1)`, as a pragma or as `_Pragma`. All others are clang's.

use std::ops::Range;

use crate::error::Complaint;
use crate::lexer::{self, Kind, Token};

/// A directive that has to be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// The bytes of the pragma, without the end of its line.
    pub range: Range<usize>,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// `requires`, with the clauses that remain for clang.
    Requires(Vec<String>),
    /// `target device(ancestor: 1)`, with its clauses.
    Ancestor(Vec<Clause>),
}

/// A clause: its name, and the tokens between its parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    pub name: String,
    pub tokens: Vec<Token>,
    /// Its first byte in the file.
    pub at: usize,
}

/// Whether a file may have such a directive; fast, and right when it says no.
#[must_use]
pub fn may_concern(source: &[u8]) -> bool {
    let holds = |text: &[u8]| {
        let find = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
        find(b"ancestor") || find(b"reverse_offload")
    };
    if holds(source) {
        return true;
    }
    // A line that goes on may break a word in two.
    if !source.windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_whitespace()) {
        return false;
    }
    lexer::tokens(source).iter().any(|token| holds(token.text.as_bytes()))
}

/// The names of the headers that a file includes, without those that macros name.
#[must_use]
pub fn included(source: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(source);
    let name = |line: &str| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        let close = match rest.chars().next()? {
            '"' => '"',
            '<' => '>',
            _ => return None,
        };
        rest[1..].split_once(close).map(|(name, _)| name.to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// The directives of a file, in its order.
///
/// # Errors
/// A directive that is wrong, or that is hidden in a macro.
pub fn directives(source: &[u8]) -> Result<Vec<Directive>, Complaint> {
    let tokens = lexer::tokens(source);
    for line in tokens.split(|token| token.kind == Kind::Newline) {
        if let Some((name, rest)) = preprocessor_line(line)
            && name.is("define")
        {
            macro_definition(rest)?;
        }
    }
    let found = openmp(&tokens);
    let in_macro = tokens.windows(4).find(|part| {
        let words = ["device", "(", "ancestor", ":"];
        let at = part[0].range.start;
        part.iter().zip(words).all(|(token, word)| token.is(word))
            && !found.iter().any(|(range, _)| range.contains(&at))
            && is_code(source, at)
    });
    if let Some(part) = in_macro {
        let message =
            "`device(ancestor: 1)` stands in a macro's argument; write the directive outside of macros";
        return Err(Complaint::new(part[0].range.start, message));
    }
    let found = found.into_iter();
    found.filter_map(|(range, tokens)| directive(range, &tokens).transpose()).collect()
}

/// Whether a byte stands in no line of the preprocessor.
fn is_code(source: &[u8], at: usize) -> bool {
    let mut begin = at;
    loop {
        begin = source[..begin].iter().rposition(|byte| *byte == b'\n').map_or(0, |line| line + 1);
        // A line that goes on has a backslash before its end.
        let goes_on = source[..begin.saturating_sub(1)].trim_ascii_end().ends_with(b"\\");
        if begin == 0 || !goes_on {
            return !source[begin..at].trim_ascii_start().starts_with(b"#");
        }
        begin -= 1;
    }
}

/// Every directive of OpenMP: its bytes, and its tokens behind `omp`.
#[must_use]
pub fn openmp(tokens: &[Token]) -> Vec<(Range<usize>, Vec<Token>)> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut line_begins = true;
    while let Some(token) = tokens.get(at) {
        if token.kind == Kind::Newline {
            line_begins = true;
            at += 1;
            continue;
        }
        let length = tokens[at..].iter().take_while(|token| token.kind != Kind::Newline).count();
        let line = &tokens[at..at + length];
        if line_begins && let Some((name, rest)) = preprocessor_line(line) {
            if name.is("pragma") && rest.first().is_some_and(|token| token.is("omp")) {
                found.push((line[0].range.start..line[length - 1].range.end, rest[1..].to_vec()));
            }
            at += length;
            continue;
        }
        line_begins = false;
        if let Some((range, inner, length)) = attribute(&tokens[at..]) {
            found.push((range, inner));
            at += length;
            continue;
        }
        at += operator(&tokens[at..], &mut found).unwrap_or(1);
    }
    found
}

/// The name and the rest of a line that starts with `#`, or with `%:`, which means the same.
pub(crate) fn preprocessor_line(line: &[Token]) -> Option<(&Token, &[Token])> {
    match line {
        [hash, name, rest @ ..] if hash.is("#") => Some((name, rest)),
        [percent, colon, name, rest @ ..] if percent.is("%") && colon.is(":") => Some((name, rest)),
        _ => None,
    }
}

/// Macros are the preprocessor's; a directive that is in one cannot be translated.
fn macro_definition(tokens: &[Token]) -> Result<(), Complaint> {
    let Some(name) = tokens.first() else { return Ok(()) };
    let follows = |word: &str, then: &str| tokens.windows(2).any(|pair| pair[0].is(word) && pair[1].is(then));
    let in_string = tokens.iter().any(|token| {
        let text = inner_tokens(token);
        let has = |word: &str| text.iter().any(|token| token.is(word));
        has("omp") && (has("reverse_offload") || has("target") && has("ancestor"))
    });
    if in_string && tokens.iter().any(|token| token.is("_Pragma")) || follows("ancestor", ":") {
        let message = format!(
            "the macro `{}` holds a directive of reverse offload, which is understood outside macros only; \
             write the directive where the macro is used",
            name.text
        );
        return Err(Complaint::new(name.range.start, message));
    }
    Ok(())
}

/// `[[omp::directive(...)]]`: its bytes, the directive's tokens, and how many it has itself.
fn attribute(tokens: &[Token]) -> Option<(Range<usize>, Vec<Token>, usize)> {
    let visible: Vec<(usize, &Token)> =
        tokens.iter().enumerate().filter(|(_, token)| token.kind != Kind::Newline).take(6).collect();
    let words = ["[", "[", "omp", "::", "directive", "("];
    if visible.len() < words.len() || !visible.iter().zip(words).all(|((_, token), word)| token.is(word)) {
        return None;
    }
    let open = visible[5].0;
    let close = open + closing(&tokens[open..])?;
    let mut rest = tokens.iter().enumerate().skip(close + 1).filter(|(_, token)| token.kind != Kind::Newline);
    let (first, last) = (rest.next()?, rest.next()?);
    if !(first.1.is("]") && last.1.is("]")) {
        return None;
    }
    let inner = tokens[open + 1..close].iter().filter(|token| token.kind != Kind::Newline);
    Some((tokens[0].range.start..last.1.range.end, inner.cloned().collect(), last.0 + 1))
}

/// `_Pragma("...")`: how many tokens it has.
fn operator(tokens: &[Token], found: &mut Vec<(Range<usize>, Vec<Token>)>) -> Option<usize> {
    if !tokens[0].is("_Pragma") {
        return None;
    }
    let visible: Vec<(usize, &Token)> =
        tokens.iter().enumerate().filter(|(_, token)| token.kind != Kind::Newline).take(4).collect();
    let [(_, name), (_, open), (_, text), (last, close)] = visible[..] else { return None };
    if !(open.is("(") && text.kind == Kind::String && close.is(")")) {
        return None;
    }
    let range = name.range.start..close.range.end;
    let mut inner = inner_tokens(text);
    for token in &mut inner {
        token.range = range.clone();
    }
    if inner.first().is_some_and(|token| token.is("omp")) {
        found.push((range, inner.split_off(1)));
    }
    Some(last + 1)
}

/// The tokens that a string holds, as `_Pragma` reads it.
fn inner_tokens(string: &Token) -> Vec<Token> {
    let text = string.text.as_str();
    let text = text.trim_start_matches(|first: char| first.is_ascii_alphanumeric());
    let Some(text) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return Vec::new();
    };
    lexer::tokens(text.replace("\\\"", "\"").replace("\\\\", "\\").as_bytes())
}

/// A directive of OpenMP, if it is one of those that matter.
fn directive(range: Range<usize>, tokens: &[Token]) -> Result<Option<Directive>, Complaint> {
    let Some(name) = tokens.first() else { return Ok(None) };
    if name.is("requires") && tokens.iter().any(|token| token.is("reverse_offload")) {
        let clauses = clauses(&tokens[1..])?;
        let rest = clauses.into_iter().filter(|clause| clause.name != "reverse_offload");
        let rest = rest.map(|clause| match clause.tokens.is_empty() {
            true => clause.name,
            false => format!("{}({})", clause.name, text_of(&clause.tokens)),
        });
        return Ok(Some(Directive { range, what: What::Requires(rest.collect()) }));
    }
    let ancestor = tokens.windows(2).any(|pair| pair[0].is("ancestor") && pair[1].is(":"));
    if name.is("metadirective") && ancestor {
        let message = "`device(ancestor: 1)` in `metadirective` is not understood; write the directive itself, \
                       with `#if` around it";
        return Err(Complaint::new(name.range.start, message));
    }
    if !name.is("target") || !ancestor {
        return Ok(None);
    }
    let clauses = clauses(&tokens[1..])?;
    let Some(device) = clauses.iter().find(|clause| clause.name == "device") else { return Ok(None) };
    if !matches!(&device.tokens[..], [name, colon, ..] if name.is("ancestor") && colon.is(":")) {
        return Ok(None);
    }
    if clauses[0].tokens.is_empty() && clauses[0].name != "nowait" {
        let message = format!(
            "`device(ancestor: 1)` stands on a bare `target` only, not on `target {}`",
            clauses[0].name
        );
        return Err(Complaint::new(clauses[0].at, message));
    }
    let what = What::Ancestor(clauses);
    Ok(Some(Directive { range, what }))
}

/// Splits `name(...), name(...) name`.
fn clauses(tokens: &[Token]) -> Result<Vec<Clause>, Complaint> {
    let mut clauses = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if token.is(",") {
            continue;
        }
        if token.kind != Kind::Identifier {
            let message = format!("expected the name of a clause, found `{}`", token.text);
            return Err(Complaint::new(token.range.start, message));
        }
        let mut inner = Vec::new();
        if tokens.get(at).is_some_and(|token| token.is("(")) {
            let length = closing(&tokens[at..]).ok_or_else(|| {
                let message = format!("the clause `{}` has no closing parenthesis", token.text);
                Complaint::new(token.range.start, message)
            })?;
            inner = tokens[at + 1..at + length].to_vec();
            at += length + 1;
        }
        clauses.push(Clause { name: token.text.clone(), tokens: inner, at: token.range.start });
    }
    Ok(clauses)
}

/// Where the bracket closes that tokens start with.
#[must_use]
pub fn closing(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Punctuation {
            continue;
        }
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Splits at a separator that stands in no brackets.
#[must_use]
pub fn split<'t>(tokens: &'t [Token], separator: &str) -> Vec<&'t [Token]> {
    let mut parts = Vec::new();
    let (mut begin, mut at) = (0, 0);
    while let Some(token) = tokens.get(at) {
        if token.is(separator) {
            parts.push(&tokens[begin..at]);
            begin = at + 1;
        }
        let opens = ["(", "[", "{"].iter().any(|bracket| token.is(bracket));
        at += if opens { closing(&tokens[at..]).unwrap_or(tokens.len() - at - 1) } else { 0 } + 1;
    }
    parts.push(&tokens[begin..]);
    parts
}

/// Tokens as source again.
#[must_use]
pub fn text_of(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        let apart = text.ends_with(|last: char| last.is_alphanumeric() || last == '_')
            && token.kind != Kind::Punctuation;
        let operator =
            token.kind == Kind::Punctuation && text.ends_with(|last: char| "+-&|<>*/".contains(last));
        if apart || operator {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}
