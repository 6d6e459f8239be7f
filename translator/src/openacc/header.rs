//! The head of a `for` that is partitioned: its variable, bounds and step (OpenACC 3.3 section 2.9 asks
//! for a loop whose number of iterations is known before it begins).
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::ops::Range;

use clang_sys::{CXCursor_CXXForRangeStmt, CXCursor_CompoundStmt, CXCursor_ForStmt};

use super::index::range_of;
use crate::ast::Node;
use crate::error::Complaint;
use crate::lexer::{self, Kind, Token};
use crate::pragma::{closing, split};

/// A loop's head.
#[derive(Clone, Debug)]
pub struct Header {
    pub variable: String,
    /// The byte of the variable's name where it gets its first value.
    pub at: usize,
    /// The type, where the head declares the variable.
    pub declared: Option<String>,
    pub first: Range<usize>,
    pub last: Range<usize>,
    /// How the variable is compared with the last value: `<`, `<=`, `>`, `>=` or `!=`.
    pub order: &'static str,
    /// What is added, or taken away.
    pub step: Option<Range<usize>>,
    pub descends: bool,
    /// How often it runs, if that is known now.
    pub iterations: Option<u64>,
    pub body: Range<usize>,
}

/// The `for` that a statement is, or that it holds alone; with it the blocks around it.
pub fn loop_in(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        CXCursor_ForStmt => Some(node),
        CXCursor_CompoundStmt => {
            let children = node.children();
            let [only] = children[..] else { return None };
            loop_in(only)
        }
        _ => None,
    }
}

impl Header {
    /// Reads the head of a `for`.
    ///
    /// # Errors
    /// It is not one whose iterations can be counted.
    pub fn read(node: Node<'_>, text: &str) -> Result<Self, Complaint> {
        let range = range_of(node).unwrap_or_default();
        let begin = range.start;
        let complain = |what: &str| {
            Complaint::new(begin, format!("a loop that is partitioned {what} (OpenACC 3.3 section 2.9)"))
        };
        if node.kind() == CXCursor_CXXForRangeStmt {
            return Err(complain("has to count: write `for (int i = 0; ...)`"));
        }
        let mut tokens = lexer::tokens(&text.as_bytes()[range]);
        for token in &mut tokens {
            token.range = token.range.start + begin..token.range.end + begin;
        }
        tokens.retain(|token| token.kind != Kind::Newline);
        let close = closing(&tokens[1..]).ok_or_else(|| complain("has no head"))? + 1;
        let parts = split(&tokens[2..close], ";");
        let body = node.children().last().and_then(|body| range_of(*body)).unwrap_or_default();
        let head = Self::of_parts(&parts, text).map_err(complain)?;
        Ok(Self { body, ..head })
    }

    /// Reads the tokens between a head's semicolons; the body is nowhere.
    ///
    /// # Errors
    /// What such a loop does, and this one does not.
    pub fn of_parts(parts: &[&[Token]], text: &str) -> Result<Self, &'static str> {
        let [init, condition, increment] = parts[..] else { return Err("needs three parts") };
        let (variable, at, declared, first) = initial(init, text).ok_or("sets one variable")?;
        let (order, last) =
            compared(condition, &variable).ok_or("compares its variable with a value that stays the same")?;
        let (step, descends) = stepped(increment, &variable).ok_or("adds a value that stays the same")?;
        Ok(Self { variable, at, declared, first, last, order, step, descends, iterations: None, body: 0..0 })
    }
}

fn bytes(tokens: &[Token]) -> Option<Range<usize>> {
    Some(tokens.first()?.range.start..tokens.last()?.range.end)
}

/// `int i = 0`, `i = 0`
fn initial(tokens: &[Token], text: &str) -> Option<(String, usize, Option<String>, Range<usize>)> {
    let parts = split(tokens, "=");
    let (left, right) = match parts[..] {
        [left, right] => (left, right),
        _ => {
            // `int i(0)`, `int i{0}`
            let open = tokens.iter().position(|token| token.is("(") || token.is("{"))?;
            if open < 2 || closing(&tokens[open..])? + open + 1 != tokens.len() {
                return None;
            }
            (&tokens[..open], &tokens[open + 1..tokens.len() - 1])
        }
    };
    let name = left.last().filter(|token| token.kind == Kind::Identifier)?;
    let before = &left[..left.len() - 1];
    // The space that closes a list of declarations is behind this one.
    if split(tokens, ",").len() > 1 {
        return None;
    }
    let declared = bytes(before).map(|range| text[range].to_owned());
    Some((name.text.clone(), name.range.start, declared, bytes(right)?))
}

/// What compares: its tokens, how it reads from the other side.
const ORDERS: [(&[&str], &str, &str); 5] = [
    (&["<="], "<=", ">="),
    (&[">="], ">=", "<="),
    (&["!", "="], "!=", "!="),
    (&["<"], "<", ">"),
    (&[">"], ">", "<"),
];

/// `i < n`, `n > i`
fn compared(tokens: &[Token], variable: &str) -> Option<(&'static str, Range<usize>)> {
    let tokens = unwrapped(tokens);
    let is = |part: &[Token], words: &[&str]| {
        part.len() == words.len() && part.iter().zip(words).all(|(token, word)| token.is(word))
    };
    for (words, order, turned) in ORDERS {
        let length = words.len();
        if tokens.len() > length + 1 && tokens[0].is(variable) && is(&tokens[1..=length], words) {
            return Some((order, bytes(&tokens[1 + length..])?));
        }
        let end = tokens.len().checked_sub(length + 1)?;
        if end > 0 && tokens[tokens.len() - 1].is(variable) && is(&tokens[end..end + length], words) {
            return Some((turned, bytes(&tokens[..end])?));
        }
    }
    None
}

/// Without parentheses around all of it.
fn unwrapped(tokens: &[Token]) -> &[Token] {
    match tokens {
        [open, .., _] if open.is("(") && closing(tokens) == Some(tokens.len() - 1) => {
            unwrapped(&tokens[1..tokens.len() - 1])
        }
        _ => tokens,
    }
}

/// `i++`, `i += 2`, `i = i - 1`: what is added, and whether it is taken away.
fn stepped(tokens: &[Token], variable: &str) -> Option<(Option<Range<usize>>, bool)> {
    let tokens = unwrapped(tokens);
    let words: Vec<&str> = tokens.iter().map(|token| &*token.text).collect();
    match words[..] {
        [name, "+", "+"] | ["+", "+", name] if name == variable => Some((None, false)),
        [name, "-", "-"] | ["-", "-", name] if name == variable => Some((None, true)),
        [name, "+", "=", ..] if name == variable => Some((Some(bytes(&tokens[3..])?), false)),
        [name, "-", "=", ..] if name == variable => Some((Some(bytes(&tokens[3..])?), true)),
        [name, "=", other, "+", ..] if name == variable && other == variable => {
            Some((Some(bytes(&tokens[4..])?), false))
        }
        [name, "=", other, "-", ..] if name == variable && other == variable => {
            Some((Some(bytes(&tokens[4..])?), true))
        }
        [name, "=", .., "+", other] if name == variable && other == variable => {
            Some((Some(bytes(&tokens[2..tokens.len() - 2])?), false))
        }
        _ => None,
    }
}

/// The body of the innermost of loops in each other.
pub fn body(statement: Node<'_>, count: usize) -> Node<'_> {
    let mut node = statement;
    for _ in 0..count {
        let inner = loop_in(node).and_then(|one| one.children().last().copied());
        node = inner.unwrap_or(node);
    }
    node
}
