//! What a construct or a loop leaves in a variable: whether anybody reads it behind. Where nobody does, and where each
//! iteration writes the variable before it reads it, iterations have nothing to do with each other's values.
//!
//! A read is of a value that was assigned in the same block before, or in all branches of a condition there. Others
//! count as reads of what was there.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

#[allow(clippy::wildcard_imports, reason = "the kinds of nodes")]
use clang_sys::*;

use super::index::{Function, Index, Key, key_of, range_of};
use crate::ast::Node;

/// What a function does with a variable.
pub struct Flow<'u> {
    key: Key,
    /// Where all is that is no assignment.
    reads: Vec<usize>,
    assignments: Vec<Assignment>,
    /// What stands on the right of all of them.
    pub values: Vec<(usize, Node<'u>)>,
    loops: Vec<Range<usize>>,
    /// Control goes other ways than blocks say, or others know the variable.
    is_unknown: bool,
}

/// What has been found of functions and variables: loops ask again and again.
#[derive(Default)]
pub struct Flows<'u>(RefCell<HashMap<(usize, Key), Rc<Flow<'u>>>>);

impl<'u> Flows<'u> {
    /// What the function around a byte does with a variable.
    pub fn around(&self, at: usize, key: Key, index: &Index<'u>) -> Option<Rc<Flow<'u>>> {
        let function = index.function_at(at)?;
        let range = range_of(function.node)?;
        let mut known = self.0.borrow_mut();
        let flow = known.entry((range.start, key));
        Some(Rc::clone(flow.or_insert_with(|| Rc::new(Flow::of(key, function, &range, index)))))
    }
}

/// A statement behind which the variable has a new value.
struct Assignment {
    end: usize,
    /// What comes behind it, and is not reached without it.
    block: Range<usize>,
}

impl<'u> Flow<'u> {
    fn of(key: Key, function: &Function<'u>, range: &Range<usize>, index: &Index<'u>) -> Self {
        let mut flow = Self {
            key,
            reads: Vec::new(),
            assignments: Vec::new(),
            values: Vec::new(),
            loops: Vec::new(),
            is_unknown: false,
        };
        flow.look(function.body);
        let uses = || index.uses_in(range).filter(|found| found.key == key);
        flow.is_unknown |= uses().any(|found| found.doing == super::index::Doing::Shares);
        let is_read = |at: &usize| !flow.values.iter().any(|(written, _)| written == at);
        let reads = uses().map(|found| found.range.start).filter(is_read).collect();
        Self { reads, ..flow }
    }

    /// Whether somebody may read what code leaves in the variable.
    pub fn is_read_behind(&self, code: &Range<usize>) -> bool {
        let may_follow = |read: usize| match read {
            _ if code.contains(&read) => false,
            _ if read >= code.end => !self.is_assigned(read, &(code.end..usize::MAX)),
            // The code comes before it where both are in a loop.
            _ => {
                let around = self.loops.iter().filter(|around| {
                    around.contains(&read) && around.start <= code.start && code.end <= around.end
                });
                around.min_by_key(|around| around.len()).is_some_and(|around| !self.is_assigned(read, around))
            }
        };
        self.is_unknown || self.reads.iter().any(|read| may_follow(*read))
    }

    /// Whether code reads nothing but what it has written before.
    pub fn is_written_first(&self, code: &Range<usize>) -> bool {
        let mut inside = self.reads.iter().filter(|read| code.contains(read));
        !self.is_unknown && inside.all(|read| self.is_assigned(*read, code))
    }

    /// Whether the body of a loop assigns the variable each time.
    pub fn is_assigned_by(&self, body: Node<'u>) -> bool {
        fn goes_on_early(node: Node<'_>) -> bool {
            node.kind() == CXCursor_ContinueStmt || node.children().into_iter().any(goes_on_early)
        }
        self.assigns(body) && !goes_on_early(body)
    }

    /// Whether what is read was assigned in a part of the function.
    fn is_assigned(&self, read: usize, within: &Range<usize>) -> bool {
        self.assignments.iter().any(|one| {
            let is_inside =
                within.start <= one.end && (within.end == usize::MAX || one.block.end <= within.end);
            let begins = within.end == usize::MAX || within.start <= one.block.start;
            is_inside && begins && one.end <= read && one.block.contains(&read)
        })
    }

    fn look(&mut self, node: Node<'u>) {
        let children = node.children();
        let range = range_of(node).unwrap_or_default();
        match node.kind() {
            CXCursor_CompoundStmt => self.add_assignments(&children, &range),
            CXCursor_ForStmt => {
                self.loops.push(range.clone());
                self.add_assignments(children.get(..1).unwrap_or_default(), &range);
            }
            CXCursor_WhileStmt | CXCursor_DoStmt | CXCursor_CXXForRangeStmt => self.loops.push(range),
            CXCursor_GotoStmt | CXCursor_IndirectGotoStmt | CXCursor_LabelStmt | CXCursor_SwitchStmt => {
                self.is_unknown = true;
            }
            CXCursor_BinaryOperator if self.is_assignment(node) => {
                if let [left, right] = children[..] {
                    self.values.push((range_of(left).unwrap_or_default().start, right));
                }
            }
            _ => {}
        }
        children.into_iter().for_each(|child| self.look(child));
    }

    fn add_assignments(&mut self, statements: &[Node<'u>], block: &Range<usize>) {
        let assigning = statements.iter().filter(|one| self.assigns(**one)).filter_map(|one| range_of(*one));
        let ends: Vec<usize> = assigning.map(|range| range.end).collect();
        self.assignments.extend(ends.into_iter().map(|end| Assignment { end, block: block.clone() }));
    }

    /// Whether a statement assigns the variable, whichever way it goes.
    fn assigns(&self, node: Node<'u>) -> bool {
        let children = node.children();
        match node.kind() {
            CXCursor_BinaryOperator if node.operator() == CXBinaryOperator_Comma => {
                children.into_iter().any(|child| self.assigns(child))
            }
            CXCursor_BinaryOperator => {
                self.is_assignment(node)
                    || node.operator() == CXBinaryOperator_Assign
                        && children.last().is_some_and(|right| self.assigns(*right))
            }
            CXCursor_CompoundStmt | CXCursor_ParenExpr | CXCursor_UnexposedExpr => {
                children.into_iter().any(|child| self.assigns(child))
            }
            CXCursor_IfStmt => match children[..] {
                [_, one, other] => self.assigns(one) && self.assigns(other),
                _ => false,
            },
            _ => false,
        }
    }

    fn is_assignment(&self, node: Node<'u>) -> bool {
        let left = node.children().first().copied().filter(|_| node.operator() == CXBinaryOperator_Assign);
        left.and_then(Node::referenced).and_then(key_of) == Some(self.key)
            && left.is_some_and(|left| left.kind() == CXCursor_DeclRefExpr)
    }
}
