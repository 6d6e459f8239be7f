//! `cache` (OpenACC 3.3 section 2.10): sections of arrays that all threads of a gang, or the lanes of a worker, copy into
//! shared memory where a loop's body begins, and read there.
//!
//! It is a hint, so it is followed only where nothing can go wrong: the body does no more to the array than read
//! elements, nothing else that is written in it can be the array, and the length of the section is a number. The
//! array is one whose length is known, since a section may go beyond its end where the body does not, and
//! a copy must not. For everything else a note says why nothing is copied.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::ops::Range;

#[allow(clippy::wildcard_imports, reason = "the kinds of expressions")]
use clang_sys::*;

use super::directive::{Directive, Name};
use super::index::{Class, Key, Space, Variable, range_of};
use super::items::Item;
use super::sections::Section;
use super::writer::Writer;
use crate::ast::Node;
use crate::lexer::Kind;
use crate::pragma::split;

/// More bytes than that of one section keep gangs from running beside each other.
const MOST: u64 = 16 << 10;

/// A section of an array.
pub struct Cached {
    pub variable: Variable,
    /// The first element in each dimension, if it is not the first of all, and how many there are.
    pub sections: Vec<(Option<Range<usize>>, u64)>,
    /// The type of an element.
    pub element: String,
    pub space: Space,
}

impl Cached {
    pub fn elements(&self) -> u64 {
        self.sections.iter().fold(1, |all, (_, count)| all.saturating_mul(*count))
    }
}

impl<'w> Writer<'w> {
    /// What a directive names that may be copied, and why something may not. `body` is what stands behind it in
    /// its loop; what is declared in `construct` is no array of around.
    pub fn cached(
        &self,
        directive: &Directive,
        node: Node<'w>,
        body: &[Node<'w>],
        construct: &Range<usize>,
    ) -> Vec<Result<Cached, String>> {
        let tokens = directive.argument.as_deref().unwrap_or_default();
        let is_read_only = matches!(tokens, [word, colon, ..] if word.is("readonly") && colon.is(":"));
        let list = split(if is_read_only { &tokens[2..] } else { tokens }, ",");
        let items = list.into_iter().filter(|item| !item.is_empty());
        let read = |item| Item::read("", Vec::new(), item, &self.index, directive.range.start);
        let items = items.filter_map(|item| read(item).ok());
        items
            .map(|item| {
                let written = item.written(self.text);
                let why = |why: &str| format!("`cache` does nothing for `{written}`: {why}");
                self.section(&item, node, body, construct, is_read_only).map_err(why)
            })
            .collect()
    }

    fn section(
        &self,
        item: &Item,
        node: Node<'w>,
        body: &[Node<'w>],
        construct: &Range<usize>,
        is_read_only: bool,
    ) -> Result<Cached, &'static str> {
        if item.sections.is_empty() {
            return Err("it is no section");
        }
        let name = &self.text[item.object.clone()];
        let variable = item.key.or_else(|| self.variable_named(name, construct));
        let variable =
            variable.and_then(|key| self.index.variable(key)).filter(|variable| variable.name == name);
        let variable = variable.ok_or("it is no array")?;
        let size = variable.space.filter(|_| variable.rows.is_none() && !variable.is_vla);
        let size = size.filter(|_| variable.class == Class::Array);
        let size = size.ok_or("how many elements the array has is not known")?;
        if construct.contains(&variable.key) {
            return Err("it is a variable of the construct");
        }
        let number = |range: &Range<usize>| {
            let named = |name: &str| self.enumerator_named(name, range.start);
            let factor = |part: &str| part.trim().parse().ok().or_else(|| named(part.trim()));
            // A product, where clang has left the item out.
            let parts = || self.text[range.clone()].split('*');
            let product = || parts().try_fold(1i64, |all, part| all.checked_mul(factor(part)?));
            self.known_number(node, range).or_else(product)
        };
        let mut sections = Vec::new();
        for Section { first, count } in &item.sections {
            let count = match count {
                Some(count) if *count == Section::ONE => Some(1),
                Some(count) => number(count).and_then(|count| u64::try_from(count).ok()),
                None => None,
            };
            let count = count.filter(|count| *count > 0).ok_or("the length of the section is no number")?;
            sections.push((first.clone(), count));
        }
        let range = body.first().and_then(|first| range_of(*first)).unwrap_or_default().start
            ..body.last().map_or(0, |last| self.whole(*last).end);
        let mut reads = Reads { key: variable.key, depth: sections.len(), element: None, count: 0 };
        let only_reads = body.iter().all(|node| reads.look(*node, &mut Vec::new()));
        // Another directive may name it whose items clang leaves out.
        let uses = self.index.uses_in(&range).filter(|found| found.key == variable.key).count();
        let atomic = self.source.directives.iter().any(|directive| {
            directive.name == Name::Atomic
                && range.contains(&directive.range.start)
                && self.statement(directive).is_ok_and(|statement| {
                    self.index.uses_in(&self.whole(statement)).any(|found| found.key == variable.key)
                })
        });
        if !only_reads || uses != reads.count || atomic {
            return Err("the loop does more to it than read elements");
        }
        let (element, one) = reads.element.ok_or("the loop does not use it")?;
        if !is_read_only && self.may_be_written(&range) {
            return Err(
                "the loop may change it through a pointer or a function, and `readonly` does not rule it out",
            );
        }
        let elements = sections.iter().fold(1u64, |all, (_, count)| all.saturating_mul(*count));
        let space = Space { bytes: elements.saturating_mul(one.bytes), align: one.align };
        if space.bytes > MOST || size.bytes < one.bytes {
            return Err("it is too large");
        }
        Ok(Cached { variable: variable.clone(), sections, element, space })
    }

    /// The names in an expression that clang says nothing of.
    pub fn unknown_names(&self, range: &Range<usize>) -> Vec<(String, Range<usize>)> {
        let tokens = crate::lexer::tokens(self.text[range.clone()].as_bytes());
        let names = tokens.into_iter().filter(|token| token.kind == Kind::Identifier);
        let placed =
            names.map(|token| (token.text, range.start + token.range.start..range.start + token.range.end));
        placed.filter(|(_, at)| self.index.uses_in(at).next().is_none()).collect()
    }

    /// The variable of a name, if it is that of one only where code uses it.
    pub fn variable_named(&self, name: &str, code: &Range<usize>) -> Option<Key> {
        let mut uses = self.index.uses_in(code).filter(|found| &self.text[found.range.clone()] == name);
        let key = uses.next()?.key;
        uses.all(|found| found.key == key).then_some(key)
    }

    /// The number that a name stands for in the function around a byte, if it is one number only.
    pub fn enumerator_named(&self, name: &str, at: usize) -> Option<i64> {
        fn find(node: Node<'_>, name: &str, found: &mut Vec<Option<i64>>) {
            if node.kind() == CXCursor_DeclRefExpr && node.name() == name {
                found.push(node.referenced().and_then(Node::enumerator));
            }
            node.children().into_iter().for_each(|child| find(child, name, found));
        }
        let mut found = Vec::new();
        find(self.index.function_at(at)?.body, name, &mut found);
        let (first, rest) = found.split_first()?;
        (*first).filter(|_| rest.iter().all(|other| other == first))
    }

    /// Whether code may write to an array that it does not name: through pointers, references or functions.
    fn may_be_written(&self, range: &Range<usize>) -> bool {
        let by_name = |key: Key| {
            self.index.variable(key).is_some_and(|variable| {
                matches!(variable.class, Class::Scalar | Class::Array) && !variable.is_reference
            })
        };
        self.index.calls.iter().any(|call| range.contains(&call.range.start))
            || self.index.this.iter().chain(&self.index.implicit_this).any(|at| range.contains(at))
            || !self.index.uses_in(range).all(|found| by_name(found.key))
    }
}

/// The uses of an array that read an element.
struct Reads {
    key: Key,
    depth: usize,
    /// The type of an element, and its size.
    element: Option<(String, Space)>,
    count: usize,
}

impl Reads {
    /// Whether what is below a node does nothing else to the array.
    fn look<'w>(&mut self, node: Node<'w>, path: &mut Vec<Node<'w>>) -> bool {
        if node.kind() == CXCursor_DeclRefExpr
            && node.referenced().and_then(super::index::key_of) == Some(self.key)
        {
            return self.reads(node, path);
        }
        path.push(node);
        let all = node.children().into_iter().all(|child| self.look(child, path));
        path.pop();
        all
    }

    fn reads<'w>(&mut self, name: Node<'w>, path: &[Node<'w>]) -> bool {
        let mut outer = path.iter().rev().copied();
        let mut element = name;
        for _ in 0..self.depth {
            // The begin of an array is meant where it stands.
            let Some(subscript) = outer.find(|node| node.kind() != CXCursor_UnexposedExpr) else {
                return false;
            };
            let begins = |node: Node<'w>| range_of(node).map(|range| range.start);
            let base = subscript.children().first().copied();
            if subscript.kind() != CXCursor_ArraySubscriptExpr || base.and_then(begins) != begins(element) {
                return false;
            }
            element = subscript;
        }
        let Some(cast) = outer.next() else { return false };
        // Its value is taken.
        let ty = element.ty();
        let is_value = cast.kind() == CXCursor_UnexposedExpr && range_of(cast) == range_of(element);
        let is_number = matches!(ty.kind(), CXType_Bool..=CXType_LongDouble) && !ty.is_volatile();
        let (true, true, Some(bytes), Some(align)) = (is_value, is_number, ty.size(), ty.align()) else {
            return false;
        };
        let spelling = ty.canonical().spelling();
        let plain = spelling.strip_prefix("const ").unwrap_or(&spelling).to_owned();
        self.element = Some((plain, Space { bytes, align }));
        self.count += 1;
        true
    }
}
