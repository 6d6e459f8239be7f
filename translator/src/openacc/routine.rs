//! `routine`: functions that devices call, and by how many threads at once (OpenACC 3.3 section 2.15).
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::ops::Range;

#[allow(clippy::wildcard_imports, reason = "the kinds of declarations")]
use clang_sys::*;

use super::directive::{Directive, Name};
use super::index::{Key, Variable, key_of, range_of};
use super::nest::{self, Assigned, Levels};
use super::writer::{For, Names, Writer};
use crate::ast::Node;

/// A declaration of a function.
struct Declared {
    name: String,
    key: Key,
    range: Range<usize>,
}

fn functions(node: Node<'_>, found: &mut Vec<Declared>) {
    for child in node.children() {
        match child.kind() {
            CXCursor_FunctionDecl | CXCursor_FunctionTemplate | CXCursor_CXXMethod => {
                if let (Some(key), Some(range)) = (key_of(child), range_of(child)) {
                    found.push(Declared { name: child.name(), key, range });
                }
            }
            CXCursor_Namespace
            | CXCursor_LinkageSpec
            | CXCursor_UnexposedDecl
            | CXCursor_StructDecl
            | CXCursor_ClassDecl
            | CXCursor_ClassTemplate => functions(child, found),
            _ => {}
        }
    }
}

/// The level that a routine's clause names: with it, all that are within it.
fn level(directive: &Directive) -> Levels {
    match nest::said(directive) {
        none if none.is_empty() => none,
        level => nest::from(level),
    }
}

impl<'w> Writer<'w> {
    /// Finds the functions that `routine` directives are about.
    pub fn find_routines(&mut self, root: Node<'w>) {
        let directives: Vec<&Directive> =
            self.source.directives.iter().filter(|directive| directive.name == Name::Routine).collect();
        if directives.is_empty() {
            return;
        }
        let mut all = Vec::new();
        functions(root, &mut all);
        for directive in directives {
            let named =
                directive.argument.as_deref().and_then(|tokens| tokens.last()).map(|token| &*token.text);
            let about = match named {
                Some(name) => all.iter().find(|function| function.name == name),
                // A lambda expression is a variable's value: what it is called by has no declaration here.
                None => {
                    let at = directive.range.end;
                    let end = self.end_of_declaration(at).unwrap_or(at);
                    let behind = all.iter().filter(|function| (at..end).contains(&function.range.start));
                    behind.min_by_key(|function| function.range.start)
                }
            };
            let Some(about) = about else { continue };
            self.routines.insert(about.key, level(directive));
            if directive.clause("nohost").is_some() {
                self.nohost.insert(about.key);
            }
            if let Some(bind) = directive.clause("bind").and_then(|clause| clause.tokens.as_deref()?.first())
            {
                self.bound.insert(about.key, bind.text.trim_matches('"').to_owned());
            }
        }
    }

    /// What stands for the directive: functions behind it are devices', too.
    pub fn routine_directive(&mut self, directive: &Directive) -> String {
        match directive.argument.as_deref().and_then(|tokens| tokens.last()) {
            Some(name) => format!(
                "\n#pragma omp declare target({})\n{}",
                name.text,
                self.source.marker(directive.range.end)
            ),
            None => {
                format!("#pragma omp begin declare target{}", self.source.marker(directive.range.end))
            }
        }
    }

    /// The ends of declarations that a directive stands before, and the bodies of routines that threads
    /// share: what becomes of them.
    pub fn routine_bodies(&mut self, range: &Range<usize>) -> Vec<(Range<usize>, String)> {
        let mut edits = Vec::new();
        let directives: Vec<&Directive> = self
            .source
            .directives
            .iter()
            .filter(|one| {
                one.name == Name::Routine && one.argument.is_none() && range.contains(&one.range.start)
            })
            .collect();
        for directive in directives {
            let Some(end) = self.end_of_declaration(directive.range.end) else { continue };
            edits.push((end..end, format!("\n#pragma omp end declare target{}", self.source.marker(end))));
        }
        let functions: Vec<_> = self.index.functions.clone();
        for function in functions {
            let Some(body) =
                range_of(function.body).filter(|body| range.start <= body.start && body.end <= range.end)
            else {
                continue;
            };
            let Some(levels) = self.routines.get(&function.key).copied() else { continue };
            let is_nohost = self.nohost.contains(&function.key);
            let text = match levels.is_empty() {
                true if !is_nohost => continue,
                true => Some(self.plain(body.clone(), &Names::new(), For::Host)),
                false => self.routine_body(function.node, function.body, levels),
            };
            let Some(mut text) = text else { continue };
            if is_nohost {
                let name = super::quoted(&function.node.name());
                text = format!(
                    "{{\n#if __GANGWAY_ACC_GPU || defined(__GANGWAY_ACC_PROCESSORS)\n{}{text}\n#else\n\
                     __gangway_acc_nohost({name});\n#endif\n}}{}",
                    self.source.marker(body.start),
                    self.source.marker(body.end)
                );
            }
            edits.push((body, text));
        }
        edits
    }

    fn routine_body(&mut self, function: Node<'w>, body: Node<'w>, levels: Levels) -> Option<String> {
        let range = range_of(body)?;
        let mut loops =
            self.source.directives.iter().filter(|one| one.is_loop && range.contains(&one.range.start));
        if let Some(complaint) = loops.find_map(|one| self.check_slices(one, levels).err()) {
            self.complaints.push(complaint);
            return None;
        }
        self.look_at_loops_of_routine(&range);
        let iterations = |one: &Directive| self.iterations(one, true);
        let loops = nest::loops(body, &self.index, &self.directives, &iterations, &self.routines);
        let called = nest::called(&self.index, &range, &self.routines);
        let assigned = Assigned::new(&loops, levels, called);
        let mode = if levels.has_gangs() {
            Levels::NONE
        } else if levels.has(Levels::WORKER) {
            Levels::GANG
        } else {
            Levels::GANG | Levels::WORKER
        };
        let parameters: Vec<Variable> = function
            .children()
            .into_iter()
            .filter(|child| child.kind() == CXCursor_ParmDecl)
            .filter_map(|child| self.index.variable(key_of(child)?).cloned())
            .collect();
        let gpus = match self.routine_for_gpus(body, &assigned, mode, &parameters) {
            Ok(text) => text,
            Err(complaint) => {
                self.complaints.push(complaint);
                return None;
            }
        };
        let processors = match self.for_processor(range, &Names::new(), &assigned.levels) {
            Ok(text) => text,
            Err(complaint) => {
                self.complaints.push(complaint);
                return None;
            }
        };
        Some(format!("{{\n#if __GANGWAY_ACC_GPU\n{gpus}\n#else\n{processors}\n#endif\n}}"))
    }

    /// Where the function's declaration or definition ends that follows a byte.
    fn end_of_declaration(&self, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        let tokens = crate::lexer::tokens(rest.as_bytes());
        let (mut index, mut is_value) = (0, false);
        while let Some(token) = tokens.get(index) {
            if token.is(";") {
                return Some(at + token.range.end);
            }
            if token.is("(") || token.is("[") || token.is("{") && is_value {
                index += crate::pragma::closing(&tokens[index..])?;
            } else if token.is("{") {
                let close = index + crate::pragma::closing(&tokens[index..])?;
                return Some(at + tokens[close].range.end);
            }
            is_value |= token.is("=");
            index += 1;
        }
        None
    }
}
