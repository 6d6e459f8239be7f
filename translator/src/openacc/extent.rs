//! What a construct uses of the data that a pointer leads to, where no clause says it: the section from the least
//! subscript to the largest. It is copied if nothing of it is on the device when the construct begins.
//!
//! Subscripts are read as polynomials ([`super::affine`]). In each variable of a loop they are straight lines, so
//! the least and the largest are among those at the ends of the loops: what is written here looks at these.
//! Whatever else is done with the pointer leaves it as it is.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::collections::HashSet;
use std::ops::Range;

#[allow(clippy::wildcard_imports, reason = "the kinds of nodes")]
use clang_sys::*;

use super::affine::{self, Poly, Values};
use super::header::Header;
use super::index::{Doing, Key, Variable, key_of, range_of};
use super::share::numbers;
use super::writer::{Names, Writer};
use crate::ast::Node;

/// The subscripts at the ends of more loops in each other are not looked at.
const MOST_ENDS: usize = 64;

/// Which part of a pointer's data a construct uses.
pub struct Extent {
    /// Finds out the numbers.
    pub declared: String,
    /// Names of the least and the largest subscript.
    pub first: String,
    pub last: String,
    /// Nothing of it is written.
    pub is_read: bool,
}

/// A loop around a subscript, with the least and the largest value of its variable.
struct Around {
    variable: Key,
    low: Poly,
    high: Poly,
}

struct Walk<'e, 'w> {
    writer: &'e mut Writer<'w>,
    body: Range<usize>,
    pointer: Key,
    around: Vec<Around>,
    /// Variables of the construct's whose values subscripts and bounds need.
    needed: HashSet<Key>,
    first: String,
    last: String,
    /// Nothing has been done to an element but that it was read.
    is_read: bool,
}

impl<'w> Writer<'w> {
    /// The extent of what a construct uses through a pointer, if all of it can be told.
    pub fn extent(
        &mut self,
        statement: Node<'w>,
        body: &Range<usize>,
        pointer: &Variable,
        names: &Names,
    ) -> Option<Extent> {
        let first = self.fresh("x", &format!("{}_first", pointer.name));
        let last = self.fresh("x", &format!("{}_last", pointer.name));
        let mut walk = Walk {
            writer: self,
            body: body.clone(),
            pointer: pointer.key,
            around: Vec::new(),
            needed: HashSet::new(),
            first,
            last,
            is_read: true,
        };
        let text = walk.node(statement, names)?;
        let Walk { first, last, is_read, .. } = walk;
        let declared = format!(
            "long {first} = 0x7fffffffffffffffl, {last} = -0x7fffffffffffffffl - 1; {text}\
             if ({last} < {first}) {first} = 0, {last} = -1; "
        );
        Some(Extent { declared, first, last, is_read })
    }
}

impl<'w> Walk<'_, 'w> {
    fn node(&mut self, node: Node<'w>, names: &Names) -> Option<String> {
        match node.kind() {
            CXCursor_ForStmt => self.counted(node, names),
            // The value of an element, or of a member of it, is read.
            CXCursor_UnexposedExpr if let Some(element) = element(node) => self.element(element, names),
            CXCursor_ArraySubscriptExpr => {
                if node.children().first().is_some_and(|base| self.is_pointer(*base)) {
                    self.is_read = false;
                }
                self.element(node, names)
            }
            CXCursor_DeclRefExpr => (!self.is_pointer(node)).then(String::new),
            CXCursor_LambdaExpr => {
                let range = range_of(node)?;
                let mut uses = self.writer.index.uses_in(&range);
                uses.all(|found| found.key != self.pointer).then(String::new)
            }
            CXCursor_VarDecl => {
                let inner = self.children(&node.children(), names)?;
                let variable = key_of(node).and_then(|key| self.writer.index.variable(key)).cloned();
                let variable = variable.filter(|variable| self.needed.contains(&variable.key));
                let value = variable.as_ref().and_then(|variable| variable.initialiser.clone());
                Some(match (variable, value) {
                    (Some(variable), Some(value)) => {
                        let value = self.writer.expression(&value, names);
                        let Variable { name, ty, .. } = variable;
                        format!("{inner}const __typeof__({ty}) {name} = {value}; (void){name}; ")
                    }
                    _ => inner,
                })
            }
            CXCursor_CompoundStmt => Some(match self.children(&node.children(), names)? {
                text if text.is_empty() => text,
                text => format!("{{ {text}}} "),
            }),
            _ => self.children(&node.children(), names),
        }
    }

    /// An element that a subscript chooses.
    fn element(&mut self, node: Node<'w>, names: &Names) -> Option<String> {
        let children = node.children();
        let [base, subscript] = children[..] else { return None };
        if !self.is_pointer(base) {
            return self.children(&children, names);
        }
        let value = self.poly(subscript)?;
        self.check(value)?;
        let inner = self.node(subscript, names)?;
        let text = self.writer.expression(&range_of(subscript)?, names);
        let Self { first, last, .. } = self;
        Some(format!(
            "{inner}{{ const long __acc_x = (long)({text}); if (__acc_x < {first}) {first} = __acc_x; \
             if (__acc_x > {last}) {last} = __acc_x; }} "
        ))
    }

    /// What stands last comes first: it says which variables it needs.
    fn children(&mut self, nodes: &[Node<'w>], names: &Names) -> Option<String> {
        let mut all = String::new();
        for node in nodes.iter().rev() {
            all = self.node(*node, names)? + &all;
        }
        Some(all)
    }

    fn counted(&mut self, node: Node<'w>, names: &Names) -> Option<String> {
        let children = node.children();
        let is_used =
            |range: &Range<usize>| self.writer.index.uses_in(range).any(|found| found.key == self.pointer);
        let whole = self.writer.whole(node);
        if !is_used(&whole) {
            return Some(String::new());
        }
        let head = Header::read(node, self.writer.text).ok()?;
        let variable = self.writer.loop_key(&head)?;
        let body = *children.last()?;
        let moved = self.writer.whole(body);
        if self.is_changed(variable, &moved) || self.around.iter().any(|one| one.variable == variable) {
            return None;
        }
        let first = self.poly(affine::expression(node, &head.first)?)?;
        let last = self.poly(affine::expression(node, &head.last)?)?;
        if let Some(step) = &head.step {
            self.poly(affine::expression(node, step)?)?;
        }
        let one = Poly::number(1);
        let (low, high) = match head.order {
            "<" => (first, last.minus(&one)?),
            "<=" => (first, last),
            ">" => (last.add(&one)?, first),
            ">=" => (last, first),
            _ => return None,
        };
        self.around.push(Around { variable, low, high });
        let mut inner_names = names.clone();
        let heads = [head];
        let counts = self.writer.counts(&heads, names);
        let variables = self.writer.loop_variables(&heads, &numbers(&heads), &mut inner_names);
        let inner = self.node(body, &inner_names);
        self.around.pop();
        let inner = inner?;
        let (declared, total) = (counts.declared, counts.total.text);
        Some(format!(
            "{{ {declared}const long __acc_t = (long)({total}); \
             for (int __acc_c = 0; __acc_c < 2 && __acc_t > 0; ++__acc_c) {{ \
             const long __acc_k = __acc_c ? __acc_t - 1 : 0; {variables}{inner}}} }} "
        ))
    }

    fn is_pointer(&self, node: Node<'w>) -> bool {
        let inner = without_decay(node);
        inner.kind() == CXCursor_DeclRefExpr
            && inner.referenced().and_then(key_of).is_some_and(|key| key == self.pointer)
    }

    fn is_changed(&self, key: Key, range: &Range<usize>) -> bool {
        self.writer.index.uses_in(range).any(|found| found.key == key && found.doing != Doing::Reads)
    }

    fn poly(&mut self, node: Node<'w>) -> Option<Poly> {
        let text = self.writer.text;
        affine::read(node, text, self)
    }

    /// Whether the least and the largest value are at the ends of loops.
    fn check(&self, value: Poly) -> Option<()> {
        let mut ends = vec![value];
        for Around { variable, low, high } in self.around.iter().rev() {
            let mut next = Vec::new();
            for end in ends {
                next.push(end.with(*variable, low)?);
                next.push(end.with(*variable, high)?);
            }
            ends = next;
            if ends.len() > MOST_ENDS {
                return None;
            }
        }
        Some(())
    }
}

impl<'w> Values<'w> for Walk<'_, 'w> {
    fn value(&mut self, node: Node<'w>, key: Key) -> Option<Poly> {
        if let Some(value) = node.referenced().and_then(Node::enumerator) {
            return Some(Poly::number(value));
        }
        if let Some(value) = self.writer.constant(key) {
            return Some(Poly::number(value));
        }
        if self.around.iter().any(|one| one.variable == key) {
            return Some(Poly::variable(key));
        }
        let variable = self.writer.index.variable(key)?;
        if variable.is_reference || !node.ty().is_integer() || self.is_changed(key, &self.body.clone()) {
            return None;
        }
        if !self.body.contains(&key) {
            return Some(Poly::variable(key));
        }
        // One of the construct's own has the value that it is declared with.
        let declared = node.referenced()?;
        let value = declared.children().into_iter().rfind(|child| child.is_expression())?;
        let value = self.poly(value)?;
        self.needed.insert(key);
        Some(value)
    }
}

/// The element that an expression is the value of, or of whose members it is one: a number or a pointer. An array
/// that becomes an address, and an object that becomes one of its base, may be written through that.
fn element<'u>(node: Node<'u>) -> Option<Node<'u>> {
    let is_address = |node: Node<'_>| {
        matches!(
            node.ty().canonical().kind(),
            CXType_Record | CXType_ConstantArray | CXType_VariableArray | CXType_IncompleteArray
        )
    };
    let mut inner = operand(node).filter(|inner| !is_address(node) && !is_address(*inner))?;
    loop {
        inner = match inner.kind() {
            CXCursor_ArraySubscriptExpr => return Some(inner),
            CXCursor_ParenExpr | CXCursor_MemberRefExpr => operand(inner)?,
            _ => return None,
        };
    }
}

/// What an expression is made of, if that is one.
fn operand<'u>(node: Node<'u>) -> Option<Node<'u>> {
    node.children().into_iter().rfind(|child| child.is_expression())
}

/// An expression before the value of a variable is read, or an array becomes the address of its first element.
fn without_decay<'u>(node: Node<'u>) -> Node<'u> {
    match operand(node) {
        Some(inner) if matches!(node.kind(), CXCursor_UnexposedExpr | CXCursor_ParenExpr) => {
            without_decay(inner)
        }
        _ => node,
    }
}
