//! Functions that change nothing and read nothing but their arguments: a loop that calls them may be partitioned as one
//! that has their statements.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::collections::HashSet;

#[allow(clippy::wildcard_imports, reason = "dozens of names of libclang's")]
use clang_sys::*;

use super::index::{Function, Index, Key, key_of, range_of};
use crate::ast::Node;

/// Those of the library; `f` and `l` may follow.
const LIBRARY: [&str; 42] = [
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos", "tan",
    "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc",
    "fabs", "abs", "labs", "llabs", "floor", "ceil", "round", "trunc", "rint", "fmod", "fmin", "fmax", "fma",
    "hypot", "copysign", "tgamma", "lgamma",
];

/// They say where a thread is, as the preprocessor leaves them.
const PLACES: [&str; 2] = ["__gangway_acc_parlevel_id", "__gangway_acc_parlevel_size"];

/// Looks into functions.
pub struct Pure<'i, 'u> {
    pub index: &'i Index<'u>,
    pub text: &'i str,
    /// Functions of which devices have others.
    pub is_bound: &'i dyn Fn(Key) -> bool,
}

impl<'u> Pure<'_, 'u> {
    /// Whether what a call calls is such a function.
    pub fn is_call_of(&self, call: Node<'u>) -> bool {
        self.calls(call, &mut HashSet::new())
    }

    fn calls(&self, call: Node<'u>, inside: &mut HashSet<Key>) -> bool {
        let Some(function) = call.referenced() else { return false };
        let key = key_of(function).filter(|_| !function.is_in_system_header());
        // The program may have its own of the library's names.
        match self.index.functions.iter().find(|known| Some(known.key) == key) {
            Some(own) => self.is_pure(own, inside),
            None => is_known(&call.name()) && is_of_library(function),
        }
    }

    fn is_pure(&self, function: &Function<'u>, inside: &mut HashSet<Key>) -> bool {
        if function.node.kind() != CXCursor_FunctionDecl || (self.is_bound)(function.key) {
            return false;
        }
        // Of one that calls itself it is known when the first call has been looked into.
        !inside.insert(function.key) || self.has_no_effect(function.body, function.node, inside)
    }

    fn has_no_effect(&self, node: Node<'u>, function: Node<'u>, inside: &mut HashSet<Key>) -> bool {
        let children = node.children();
        let operand = || children.iter().copied().find(|child| child.is_expression());
        let is_harmless = match node.kind() {
            CXCursor_AsmStmt
            | CXCursor_MSAsmStmt
            | CXCursor_CXXThrowExpr
            | CXCursor_CXXTryStmt
            | CXCursor_CXXThisExpr
            | CXCursor_CXXNewExpr
            | CXCursor_CXXDeleteExpr
            | CXCursor_CXXForRangeStmt
            | CXCursor_LambdaExpr
            | CXCursor_StmtExpr => false,
            CXCursor_VarDecl => !node.is_static() && is_value(node),
            CXCursor_DeclRefExpr => is_own(node, function),
            CXCursor_UnaryOperator => !self.is_about_memory(node),
            // An element of an array, and not of what a pointer leads to; a member of an object likewise.
            CXCursor_ArraySubscriptExpr => operand().is_some_and(is_array),
            CXCursor_MemberRefExpr => operand().is_some_and(|object| object.ty().kind() != CXType_Pointer),
            CXCursor_CallExpr => self.calls(node, inside),
            _ => true,
        };
        is_harmless && children.into_iter().all(|child| self.has_no_effect(child, function, inside))
    }

    /// Whether an operator takes an address, or goes to one.
    fn is_about_memory(&self, operator: Node<'u>) -> bool {
        let operand = operator.children().first().copied().and_then(range_of);
        let Some((whole, operand)) = range_of(operator).zip(operand) else { return true };
        // What stands behind its operand is `++` or `--`.
        self.text.get(whole.start..operand.start).is_none_or(|sign| sign.contains(['*', '&']))
    }
}

/// Whether the library's functions of that name are pure.
fn is_known(name: &str) -> bool {
    let plain = name.strip_prefix("__builtin_").unwrap_or(name);
    let is_like = |pure: &&str| plain.strip_prefix(*pure).is_some_and(|rest| matches!(rest, "" | "f" | "l"));
    PLACES.contains(&name) || LIBRARY.iter().any(is_like)
}

/// Whether what has a name of the library's is the library's: a function of its headers, or one that is declared without
/// them where the library's would be.
fn is_of_library(function: Node<'_>) -> bool {
    let is_outermost = || matches!(function.parent().kind(), CXCursor_TranslationUnit | CXCursor_LinkageSpec);
    function.kind() == CXCursor_FunctionDecl && (function.is_in_system_header() || is_outermost())
}

/// Whether a name is a function's own variable, a constant, or no variable.
fn is_own(name: Node<'_>, function: Node<'_>) -> bool {
    let Some(declaration) = name.referenced() else { return false };
    let is_variable = matches!(declaration.kind(), CXCursor_VarDecl | CXCursor_ParmDecl);
    let around = range_of(function).zip(key_of(declaration));
    let is_inside = around.is_some_and(|(range, key)| range.contains(&key));
    !is_variable || declaration.is_constant_number() || is_inside && is_value(declaration)
}

/// Whether a variable has its value itself, and keeps it.
fn is_value(variable: Node<'_>) -> bool {
    let ty = variable.ty();
    !matches!(ty.kind(), CXType_LValueReference | CXType_RValueReference) && !ty.is_volatile()
}

fn is_array(base: Node<'_>) -> bool {
    match base.kind() {
        CXCursor_UnexposedExpr | CXCursor_ParenExpr => base.children().first().copied().is_some_and(is_array),
        // A parameter that is spelt as an array is a pointer.
        CXCursor_DeclRefExpr if base.referenced().is_some_and(|of| of.kind() == CXCursor_ParmDecl) => false,
        _ => matches!(base.ty().kind(), CXType_ConstantArray | CXType_VariableArray),
    }
}
