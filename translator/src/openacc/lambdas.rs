//! Functions with lambda expressions, in C++.
//!
//! The name of a template's kernel has the type of a lambda that the template takes. clang numbers lambdas of
//! functions that are not `inline` when it first writes their names, which it does in another order for devices,
//! where there is no host code. So it leaves kernels out, or gives one the name of another. In `inline` functions
//! it counts them as they stand in the source (Itanium C++ ABI, section 5.1.8), which is the same for both.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::ops::Range;

use clang_sys::{
    CXCursor_CXXMethod, CXCursor_Constructor, CXCursor_ConversionFunction, CXCursor_Destructor,
    CXCursor_FunctionDecl, CXCursor_LambdaExpr, CXCursor_TranslationUnit,
};

use super::index::{Function, Index, range_of};
use crate::ast::Node;
use crate::lexer;

/// `main` must not be `inline`, but a function with its symbol may.
const MAIN: &str = "__gangway_acc_main";

/// What makes such functions `inline`: there is code of them as before, used or not.
pub fn inline(index: &Index<'_>, text: &str) -> Vec<(Range<usize>, String)> {
    let functions = index.functions.iter().filter(|function| {
        let is_inline =
            !is_function(function.node) || function.node.is_inline() || function.node.is_in_system_header();
        !is_inline && has_lambda(function.body, text)
    });
    functions.filter_map(|function| made_inline(function, text)).flatten().collect()
}

fn made_inline(function: &Function<'_>, text: &str) -> Option<Vec<(Range<usize>, String)>> {
    let begin = range_of(function.node)?.start;
    let body = range_of(function.body)?;
    let head = &text[begin..body.start];
    let first = lexer::tokens(head.as_bytes()).into_iter().next()?;
    // A member of a template is counted as the template is. Attributes stand before `inline`.
    if first.is("template") || first.is("[") {
        return None;
    }
    let word = if function.node.is_of_its_unit() { "inline " } else { "__attribute__((used)) inline " };
    let is_main = function.node.name() == "main" && function.node.parent().kind() == CXCursor_TranslationUnit;
    if !is_main {
        return Some(vec![(begin..begin, word.to_owned())]);
    }
    let place = function.node.place()?.at;
    let name = place.checked_sub(begin)?;
    let declared = format!("{}{MAIN}{}", &head[..name], &head[name + "main".len()..]);
    let declared: Vec<&str> = declared.lines().filter(|line| !line.starts_with("# ")).collect();
    Some(vec![
        (begin..begin, format!("{} __asm__(\"main\"); {word}", declared.join(" ").trim())),
        (place..place + "main".len(), MAIN.to_owned()),
        // Of no other function the end is a result.
        (body.end - 1..body.end - 1, " return 0; ".to_owned()),
    ])
}

fn is_function(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        CXCursor_FunctionDecl
            | CXCursor_CXXMethod
            | CXCursor_Constructor
            | CXCursor_Destructor
            | CXCursor_ConversionFunction
    )
}

fn has_lambda(body: Node<'_>, text: &str) -> bool {
    fn holds(node: Node<'_>) -> bool {
        node.kind() == CXCursor_LambdaExpr || node.children().into_iter().any(holds)
    }
    range_of(body).is_some_and(|range| text[range].contains('[')) && holds(body)
}
