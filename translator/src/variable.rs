//! A variable that a region uses: its type, and how it may be reached.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::ops::Range;

use clang_sys::*;

use crate::ast::{Node, Place, Type};
use crate::clause::Category;
use crate::error::Complaint;

/// How far an expression is from what it designates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Pointer,
    Array,
    Object,
    /// A template's parameters decide.
    Unknown,
}

/// A variable from outside the region.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    /// What it is called where the region is: with its qualifier, if it is spelt with one.
    pub expression: String,
    /// Where it is declared: another one may have the same name.
    pub declared: Option<Place>,
    /// Its type, without a reference, as it can be written at file scope.
    pub ty: String,
    pub category: Category,
    pub is_array: bool,
    /// A template's parameters decide of its type.
    pub is_dependent: bool,
    /// In C++, a whole number that may stand where constants must.
    pub is_constant: bool,
    /// It is a variable of the program or of the host: the host's function can name it.
    pub is_global: bool,
    /// The host has one of its own, which the region means.
    pub is_hosts: bool,
    /// The block refers to it, and not clauses only.
    pub is_used: bool,
    /// Where the block spells it, if it is spelt there.
    pub references: Vec<Range<usize>>,
    /// The qualifiers before it there.
    pub qualifiers: Vec<Range<usize>>,
    /// A directive inside the region names it.
    pub in_directive: bool,
    pub is_const: bool,
    /// A macro from outside the block refers to it.
    pub in_macro: bool,
    /// It is spelt in an argument of a macro, which may make text of it.
    pub in_argument: bool,
    /// Where it is used first.
    pub at: usize,
}

/// What an expression of a type designates.
#[must_use]
pub fn shape(ty: Type<'_>) -> Shape {
    match ty.kind() {
        CXType_Pointer => Shape::Pointer,
        CXType_ConstantArray | CXType_VariableArray | CXType_IncompleteArray => Shape::Array,
        CXType_LValueReference | CXType_RValueReference => shape(ty.canonical().pointee()),
        // A template's parameters decide.
        CXType_Unexposed | CXType_Dependent | CXType_Auto => Shape::Unknown,
        _ => Shape::Object,
    }
}

/// What a declaration says of a variable.
///
/// # Errors
/// In C: its type cannot be named where the host's function stands.
pub fn variable(declaration: Node<'_>, name: String, at: usize, is_cxx: bool) -> Result<Variable, Complaint> {
    let mut ty = declaration.ty();
    if matches!(ty.kind(), CXType_LValueReference | CXType_RValueReference) {
        ty = ty.canonical().pointee();
    }
    // `typeof` may name what the host's function does not know.
    if ty.written_kind() == CXType_Auto || !is_cxx && ty.spelling().contains("typeof") {
        ty = ty.canonical();
    }
    let within = declaration.parent().kind();
    let at_file_scope = matches!(
        within,
        CXCursor_TranslationUnit
            | CXCursor_Namespace
            | CXCursor_LinkageSpec
            | CXCursor_ClassDecl
            | CXCursor_StructDecl
            | CXCursor_UnionDecl
            | CXCursor_ClassTemplate
            | CXCursor_ClassTemplatePartialSpecialization
    );
    let is_global = declaration.is_static() && at_file_scope;
    if ty.kind() == CXType_VariableArray {
        let message = format!(
            "`{name}` cannot be passed to the host: its type, `{}`, depends on variables; use a pointer and \
             an array section",
            ty.spelling()
        );
        return Err(Complaint::new(at, message));
    }
    if !is_global && !is_cxx {
        check_name(&name, ty, at)?;
    }
    let category = match ty.kind() {
        CXType_Pointer | CXType_NullPtr => Category::Pointer,
        CXType_Record | CXType_ConstantArray | CXType_VariableArray | CXType_IncompleteArray => {
            Category::Aggregate
        }
        _ => Category::Scalar,
    };
    Ok(Variable {
        expression: name.clone(),
        declared: declaration.place(),
        name,
        ty: ty.spelling(),
        category,
        is_array: shape(ty) == Shape::Array,
        is_dependent: shape(ty) == Shape::Unknown,
        is_constant: is_cxx && declaration.is_constant_number(),
        is_global,
        is_hosts: false,
        is_used: false,
        references: Vec::new(),
        qualifiers: Vec::new(),
        in_directive: false,
        is_const: ty.is_const(),
        in_macro: false,
        in_argument: false,
        at,
    })
}

/// Whether a type can be named where the host's function stands.
fn check_name(name: &str, ty: Type<'_>, at: usize) -> Result<(), Complaint> {
    let refuse = |why: &str| {
        Err(Complaint::new(
            at,
            format!("`{name}` cannot be passed to the host: its type, `{}`, {why}", ty.spelling()),
        ))
    };
    let mut inner = ty;
    loop {
        // A typedef of the function's own hides what it stands for.
        if is_local(inner.declaration()) {
            return refuse("is declared in a function; declare it at file scope");
        }
        inner = match inner.kind() {
            CXType_Pointer | CXType_LValueReference | CXType_RValueReference => inner.canonical().pointee(),
            CXType_ConstantArray | CXType_IncompleteArray => inner.canonical().element(),
            CXType_VariableArray => {
                return refuse("depends on variables; use a pointer and an array section");
            }
            _ => break,
        };
    }
    let spelling = inner.spelling();
    if spelling.contains("(unnamed") || spelling.contains("(anonymous") || spelling.contains("(lambda") {
        return refuse("has no name; give it one");
    }
    Ok(())
}

/// Whether a function declares it.
#[must_use]
pub fn is_local(declaration: Node<'_>) -> bool {
    let mut node = declaration;
    for _ in 0..64 {
        match node.kind() {
            CXCursor_FunctionDecl
            | CXCursor_CXXMethod
            | CXCursor_Constructor
            | CXCursor_Destructor
            | CXCursor_ConversionFunction => return true,
            CXCursor_TranslationUnit | CXCursor_NoDeclFound | CXCursor_InvalidFile => return false,
            _ => node = node.parent(),
        }
    }
    false
}
