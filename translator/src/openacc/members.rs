//! Members that a construct uses of an object which no clause of it names. Where clauses before have brought other
//! members alone, these have to be on the device, too: kernels would find something else in their places (OpenACC 3.3
//! section 2.6.2).
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

#[allow(clippy::wildcard_imports, reason = "the kinds of nodes")]
use clang_sys::*;

use super::index::{Key, is_implicit, key_of, range_of};
use crate::ast::Node;

/// A number or a pointer in an object, or all of the object.
#[derive(Debug, PartialEq, Eq)]
pub struct Member {
    /// The variable; `None`: it is of `this`.
    pub of: Option<Key>,
    /// What stands behind the variable, or all of it.
    pub path: String,
    pub at: usize,
    pub is_pointer: bool,
}

/// The object at `this`.
pub const THIS: &str = "*this";

/// The members that code uses, each once. Of `this` it is all that code uses: the object itself if it uses that in
/// another way.
pub fn used(code: Node<'_>) -> Vec<Member> {
    let mut found = Vec::new();
    look(code, &mut found);
    found
}

/// Where code uses a member of a variable, or of what that leads to.
pub fn use_of(code: Node<'_>, of: Key, member: &str) -> Option<usize> {
    if code.kind() == CXCursor_MemberRefExpr
        && code.name() == member
        && variable_of(code).and_then(key_of) == Some(of)
    {
        return range_of(code).map(|range| range.start);
    }
    code.children().into_iter().find_map(|child| use_of(child, of, member))
}

/// The variable of which an expression names a member, in parentheses, as an element or by its address.
fn variable_of(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        CXCursor_DeclRefExpr => node.referenced(),
        CXCursor_MemberRefExpr
        | CXCursor_UnexposedExpr
        | CXCursor_ParenExpr
        | CXCursor_UnaryOperator
        | CXCursor_ArraySubscriptExpr => {
            variable_of(node.children().into_iter().find(|child| child.is_expression())?)
        }
        _ => None,
    }
}

fn look(node: Node<'_>, found: &mut Vec<Member>) {
    let at = range_of(node).map_or(0, |range| range.start);
    let mut add = |of, path, is_pointer| {
        if !found.iter().any(|known| known.of == of && known.path == path) {
            found.push(Member { of, path, at, is_pointer });
        }
    };
    if node.kind() == CXCursor_MemberRefExpr
        && is_simple(node)
        && let Some((of, path)) = path(node)
    {
        return add(of, path, node.ty().kind() == CXType_Pointer);
    }
    if node.kind() == CXCursor_CXXThisExpr || is_implicit(node) {
        add(None, THIS.to_owned(), false);
    }
    node.children().into_iter().for_each(|child| look(child, found));
}

/// Whether a member has bytes of its own, all of which are used.
fn is_simple(node: Node<'_>) -> bool {
    let is_plain = |field: Node<'_>| {
        field.kind() == CXCursor_FieldDecl
            && !field.is_bit_field()
            && !matches!(field.ty().kind(), CXType_LValueReference | CXType_RValueReference)
    };
    node.referenced().is_some_and(is_plain)
        && matches!(node.ty().kind(), CXType_Pointer | CXType_Enum | CXType_Bool..=CXType_LongDouble)
}

/// The object that a member is of, and what leads to the member.
fn path(node: Node<'_>) -> Option<(Option<Key>, String)> {
    let name = node.name();
    let mut base = node.children().into_iter().find(|child| child.is_expression());
    // An object as one of its base.
    while let Some(inner) = base.filter(|base| base.kind() == CXCursor_UnexposedExpr) {
        base = inner.children().into_iter().find(|child| child.is_expression());
    }
    let Some(base) = base.filter(|base| base.kind() != CXCursor_CXXThisExpr) else {
        return Some((None, format!("this->{name}")));
    };
    if base.ty().kind() != CXType_Record {
        return None;
    }
    match base.kind() {
        CXCursor_DeclRefExpr => Some((Some(key_of(base.referenced()?)?), format!(".{name}"))),
        CXCursor_MemberRefExpr => path(base).map(|(of, path)| (of, format!("{path}.{name}"))),
        _ => None,
    }
}
