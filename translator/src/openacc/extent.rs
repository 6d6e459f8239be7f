//! What a construct uses of the data that a pointer leads to, where no clause says it: the section from the least
//! subscript to the largest. It is copied if nothing of it is on the device when the construct begins.
//!
//! Subscripts are read as polynomials ([`super::affine`]). In each variable of a loop they are straight lines, so
//! the least and the largest are among those at the ends of the loops: what is written here looks at these. Where a
//! condition on a loop's variable stands before them, it looks at the ends of the iterations where that holds.
//! Whatever else is done with the pointer leaves it as it is.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::collections::{BTreeSet, HashSet};
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
    /// Names of the first and the last of its iterations that are looked at, and what declares the variable in
    /// iteration `__acc_k`.
    ends: [String; 2],
    declared: String,
}

/// A condition under which a subscript is used.
struct Guard<'u> {
    condition: Node<'u>,
    holds: bool,
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
            CXCursor_IfStmt | CXCursor_ConditionalOperator => self.branches(&node.children(), names),
            CXCursor_BinaryOperator if node.operator() == CXBinaryOperator_LAnd => {
                self.branches(&node.children(), names)
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

    /// A condition, what is used where it holds, and what where it does not.
    fn branches(&mut self, nodes: &[Node<'w>], names: &Names) -> Option<String> {
        let (condition, rest) = match nodes {
            [condition, rest @ ..] if condition.is_expression() && rest.len() <= 2 => (*condition, rest),
            _ => return self.children(nodes, names),
        };
        let mut all = String::new();
        for (branch, holds) in rest.iter().zip([true, false]).rev() {
            let mut inner = self.node(*branch, names)?;
            let mut guards = Vec::new();
            self.guards(Guard { condition, holds }, &mut guards);
            let range = self.writer.whole(*branch);
            for guard in guards.iter().rev() {
                if inner.trim().is_empty() {
                    break;
                }
                inner = self.guarded(guard, &range, &inner, names).unwrap_or(inner);
            }
            all = inner + &all;
        }
        Some(self.node(condition, names)? + &all)
    }

    /// The comparisons that all have to be as a condition is.
    fn guards(&self, Guard { condition, holds }: Guard<'w>, found: &mut Vec<Guard<'w>>) {
        match condition.kind() {
            CXCursor_UnexposedExpr | CXCursor_ParenExpr => {
                if let Some(condition) = operand(condition) {
                    self.guards(Guard { condition, holds }, found);
                }
            }
            CXCursor_UnaryOperator
                if range_of(condition).is_some_and(|range| self.writer.text[range].starts_with('!')) =>
            {
                if let Some(condition) = operand(condition) {
                    self.guards(Guard { condition, holds: !holds }, found);
                }
            }
            CXCursor_BinaryOperator => match (condition.operator(), holds) {
                (CXBinaryOperator_LAnd, true) | (CXBinaryOperator_LOr, false) => {
                    for condition in condition.children() {
                        self.guards(Guard { condition, holds }, found);
                    }
                }
                (CXBinaryOperator_LT..=CXBinaryOperator_GE, _)
                | (CXBinaryOperator_NE, true)
                | (CXBinaryOperator_EQ, false) => {
                    found.push(Guard { condition, holds });
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// What is used under a condition on one loop's variable: at the first and the last of the loop's iterations where
    /// the condition holds. `None`: nothing is known of these.
    fn guarded(
        &mut self,
        guard: &Guard<'w>,
        range: &Range<usize>,
        inner: &str,
        names: &Names,
    ) -> Option<String> {
        let [left, right] = guard.condition.children()[..] else { return None };
        let mut variables = BTreeSet::new();
        for side in [left, right] {
            let value = self.poly(side)?;
            // What is below zero is large in a comparison without signs.
            if !side.ty().is_signed() && !value.is_positive_or_zero(&value.variables()) {
                return None;
            }
            variables.extend(value.variables());
        }
        let mut moving = (0..self.around.len()).filter(|at| variables.contains(&self.around[*at].variable));
        let (Some(at), None) = (moving.next(), moving.next()) else { return None };
        let Around { variable, ends: [first, last], declared, .. } = &self.around[at];
        let is_bound = |around: &Around| {
            around.low.variables().contains(variable) || around.high.variables().contains(variable)
        };
        // Other variables of the construct's have the values of the iteration that they were declared in.
        let condition = range_of(guard.condition)?;
        let is_other = |key: Key| self.needed.contains(&key) && !range.contains(&key);
        let mut uses = self
            .writer
            .index
            .uses_in(&condition)
            .chain(self.writer.index.uses_in(range))
            .map(|found| found.key);
        if self.around[at + 1..].iter().any(is_bound) || uses.any(is_other) {
            return None;
        }
        let is_straight = !matches!(guard.condition.operator(), CXBinaryOperator_EQ | CXBinaryOperator_NE);
        let text = self.writer.expression(&condition, names);
        let is_not = if guard.holds { "" } else { "!" };
        let holds = |iteration: &str| {
            format!("__extension__({{ const long __acc_k = {iteration}; {declared}{is_not}({text}); }})")
        };
        let [from, to] = ["__acc_from", "__acc_to"].map(str::to_owned);
        let narrowed = if is_straight {
            // It holds on one side of some iteration.
            let middle = holds("__acc_m");
            format!(
                "const int __acc_a = {}, __acc_b = {}; \
                 if (__acc_a && !__acc_b) {{ long __acc_x = {from}; while ({to} - __acc_x > 1) {{ \
                 const long __acc_m = __acc_x + ({to} - __acc_x) / 2; if ({middle}) __acc_x = __acc_m; else {to} = __acc_m; }} {to} = __acc_x; }} \
                 if (!__acc_a && __acc_b) {{ long __acc_x = {to}; while (__acc_x - {from} > 1) {{ \
                 const long __acc_m = {from} + (__acc_x - {from}) / 2; if ({middle}) __acc_x = __acc_m; else {from} = __acc_m; }} {from} = __acc_x; }} \
                 if (!__acc_a && !__acc_b) {to} = {from} - 1; ",
                holds(&from),
                holds(&to)
            )
        } else {
            format!(
                "const int __acc_a = {}, __acc_b = {}; {from} += !__acc_a; {to} -= !__acc_b; ",
                holds(&from),
                holds(&to)
            )
        };
        Some(format!(
            "{{ long {from} = {first}, {to} = {last}; {narrowed}\
             const long __acc_from_ = {from}, __acc_to_ = {to}; {{ const long {first} = __acc_from_, {last} = __acc_to_; \
             for (int __acc_c = 0; __acc_c < 2 && {first} <= {last}; ++__acc_c) {{ \
             const long __acc_k = __acc_c ? {last} : {first}; {declared}{inner}}} }} }} "
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
        let mut inner_names = names.clone();
        let heads = [head];
        let counts = self.writer.counts(&heads, names);
        let variables = self.writer.loop_variables(&heads, &numbers(&heads), &mut inner_names);
        let ends = ["begin", "end"].map(|end| self.writer.fresh("x", end));
        let [begin, end] = ends.clone();
        self.around.push(Around { variable, low, high, ends, declared: variables.clone() });
        let inner = self.node(body, &inner_names);
        self.around.pop();
        let inner = inner?;
        let (declared, total) = (counts.declared, counts.total.text);
        Some(format!(
            "{{ {declared}const long {begin} = 0, {end} = (long)({total}) - 1; \
             for (int __acc_c = 0; __acc_c < 2 && {begin} <= {end}; ++__acc_c) {{ \
             const long __acc_k = __acc_c ? {end} : {begin}; {variables}{inner}}} }} "
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
        for Around { variable, low, high, .. } in self.around.iter().rev() {
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
