//! A region and what it uses of its surroundings.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::ops::Range;
use std::path::Path;

use clang_sys::*;

use crate::ast::{Node, Place, Type};
use crate::buffer::Buffer;
use crate::clause::Category;
use crate::error::Complaint;
use crate::offload::Offload;

/// What the syntax tree says of one construct. Bytes are the buffer's.
#[derive(Debug)]
pub struct Region {
    /// The structured block.
    pub body: Range<usize>,
    /// The end of the function, or of whatever it is at file scope.
    pub outside: usize,
    /// Variables of the surroundings that the block or the clauses name.
    pub variables: Vec<Variable>,
    /// Whether each expression that was asked for is a pointer.
    pub probes: Vec<Shape>,
    /// It stands in a `target` construct of the same function.
    pub in_target: bool,
}

impl Region {
    /// The same, with bytes of the file.
    #[must_use]
    pub fn in_file(mut self, buffer: &Buffer) -> Self {
        let original =
            |range: &Range<usize>| buffer.original(range.start)..buffer.original(range.end - 1) + 1;
        self.body = original(&self.body);
        self.outside = buffer.original(self.outside - 1) + 1;
        for variable in &mut self.variables {
            variable.at = buffer.original(variable.at);
            for reference in &mut variable.references {
                *reference = original(reference);
            }
        }
        self
    }
}

/// How far an expression is from what it designates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Pointer,
    Array,
    Object,
}

/// A variable from outside the region.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    /// Its type, without a reference, as it can be written at file scope.
    pub ty: String,
    pub category: Category,
    pub is_array: bool,
    /// It is a variable of the program or of the host: the host's function can name it.
    pub is_global: bool,
    /// The host has one of its own, which the region means.
    pub is_hosts: bool,
    /// The block refers to it, and not clauses only.
    pub is_used: bool,
    /// Where the block spells it, if it is spelt there.
    pub references: Vec<Range<usize>>,
    /// A macro from outside the block refers to it.
    pub in_macro: bool,
    /// Where it is used first.
    pub at: usize,
}

/// Finds the region of the directive whose probe begins at `place`.
///
/// # Errors
/// The directive stands where none may, or the block has what cannot be moved to the host.
pub fn find(root: Node<'_>, file: &Path, buffer: &Buffer, place: usize) -> Result<Region, Complaint> {
    let offload = Offload::read(&buffer.text);
    let mut path = Vec::new();
    let Some(probe) = descend(root, file, place, &mut path) else {
        return Err(Complaint::new(
            place,
            "this `target` with `device(ancestor: 1)` is not before a statement of a function",
        ));
    };
    let enclosing = enclosing(&path, place)?;
    let (_, _, outside) =
        enclosing.extent().ok_or_else(|| Complaint::new(place, "no end of the function"))?;
    let children = probe.children();
    let [condition, body] = children[..] else {
        return Err(Complaint::new(place, "no statement follows the directive"));
    };
    let Some((_, start, end)) = body.extent() else {
        return Err(Complaint::new(place, "the region does not begin and end in one file"));
    };
    let end = if body.kind() == CXCursor_CompoundStmt { end } else { statement_end(&buffer.text, end) };
    if let Some(at) = offload.construct_in(&(start..end)) {
        let message = "the region of `device(ancestor: 1)` holds a construct for devices, which OpenMP does not \
                       allow there; move it out of the region";
        return Err(Complaint::new(at, message));
    }
    let in_target = path.iter().any(|node| node.extent().is_some_and(|(_, at, _)| offload.begins_block(at)));
    let mut search = Search {
        file,
        buffer,
        offload,
        body: start..end,
        variables: Vec::new(),
        functions: 0,
        probed: true,
        tries: 0,
        sets_jump: false,
    };
    let mut probes = Vec::new();
    for expression in casts(condition) {
        probes.push(search.probe(expression, place)?);
    }
    search.probed = false;
    search.sets_jump = calls(body, &SET_JUMP);
    search.walk(body)?;
    let Search { body, variables, .. } = search;
    Ok(Region { body, outside, variables, probes, in_target })
}

/// Goes down to the loop that stands for the directive.
fn descend<'u>(node: Node<'u>, file: &Path, place: usize, path: &mut Vec<Node<'u>>) -> Option<Node<'u>> {
    path.push(node);
    for child in node.children() {
        let Some((within, start, end)) = child.extent() else { continue };
        if within != file || !(start <= place && place < end) {
            continue;
        }
        if child.kind() == CXCursor_WhileStmt && start == place {
            return Some(child);
        }
        if let Some(found) = descend(child, file, place, path) {
            return Some(found);
        }
    }
    path.pop();
    None
}

/// The declaration at the scope of a file or namespace.
fn enclosing<'u>(path: &[Node<'u>], place: usize) -> Result<Node<'u>, Complaint> {
    let mut outermost = None;
    for node in path {
        let template = match node.kind() {
            CXCursor_TranslationUnit | CXCursor_Namespace | CXCursor_LinkageSpec => continue,
            CXCursor_FunctionTemplate => "a function template",
            CXCursor_ClassTemplate | CXCursor_ClassTemplatePartialSpecialization => "a class template",
            _ => "",
        };
        if !template.is_empty() {
            let message = format!(
                "reverse offload cannot be translated in {template}, `{}`: what its types are is not known \
                 yet; move the region to a function that is no template",
                node.name()
            );
            return Err(Complaint::new(place, message));
        }
        outermost.get_or_insert(*node);
    }
    outermost.ok_or_else(|| Complaint::new(place, "no function encloses the directive"))
}

/// The byte after the semicolon that ends a statement.
fn statement_end(text: &[u8], end: usize) -> usize {
    if text.get(end - 1) == Some(&b'}') || text.get(end - 1) == Some(&b';') {
        return end;
    }
    let tokens = crate::lexer::tokens(&text[end..]);
    tokens.iter().find(|token| token.is(";")).map_or(end, |token| end + token.range.end)
}

/// The casts to `void` of a probe, in order.
fn casts(node: Node<'_>) -> Vec<Node<'_>> {
    if node.kind() == CXCursor_CStyleCastExpr {
        return vec![node];
    }
    node.children().into_iter().flat_map(casts).collect()
}

/// Whether a part calls one of these functions.
fn calls(node: Node<'_>, names: &[&str]) -> bool {
    let is_one = node.kind() == CXCursor_CallExpr && names.contains(&node.name().as_str());
    is_one || node.children().into_iter().any(|child| calls(child, names))
}

struct Search<'s> {
    file: &'s Path,
    buffer: &'s Buffer,
    offload: Offload,
    body: Range<usize>,
    variables: Vec<Variable>,
    /// Functions inside the region that enclose what is looked at.
    functions: usize,
    probed: bool,
    /// Blocks of `try` in the region that enclose what is looked at.
    tries: usize,
    /// The region sets a place to jump to.
    sets_jump: bool,
}

/// What marks a place to jump to, and what jumps there, under the names that glibc gives them.
const SET_JUMP: [&str; 5] = ["setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "__builtin_setjmp"];
const JUMP: [&str; 4] = ["longjmp", "_longjmp", "siglongjmp", "__builtin_longjmp"];

impl Search<'_> {
    /// An expression of the clauses: `(void)(expression)`.
    fn probe(&mut self, cast: Node<'_>, place: usize) -> Result<Shape, Complaint> {
        let mut node = cast;
        while node.kind() != CXCursor_ParenExpr {
            // The type of the cast comes before it.
            let Some(inner) = node.children().into_iter().next_back() else {
                return Err(Complaint::new(place, "an expression of the directive is not understood"));
            };
            node = inner;
        }
        self.walk(node)?;
        Ok(shape(node.ty()))
    }

    fn walk(&mut self, node: Node<'_>) -> Result<(), Complaint> {
        let nested = match node.kind() {
            CXCursor_DeclRefExpr => {
                self.reference(node)?;
                false
            }
            CXCursor_LambdaExpr | CXCursor_CXXMethod | CXCursor_Constructor | CXCursor_Destructor => true,
            CXCursor_CXXThisExpr if self.functions == 0 => {
                return self.refuse(node, "uses `this`; give it a reference to what it needs of the object");
            }
            CXCursor_MemberRefExpr if self.functions == 0 && node.children().is_empty() => {
                let text = format!("uses `this`, in `{}`; give it a reference to that", node.name());
                return self.refuse(node, &text);
            }
            CXCursor_ReturnStmt if self.functions == 0 => {
                return self.refuse(node, "is left by `return`");
            }
            CXCursor_IndirectGotoStmt if self.functions == 0 => {
                return self.refuse(node, "is left by `goto`");
            }
            CXCursor_CallExpr if !self.sets_jump && JUMP.contains(&node.name().as_str()) => {
                return self.refuse(node, &format!("is left by `{}`", node.name()));
            }
            CXCursor_CXXThrowExpr if self.functions == 0 && self.tries == 0 => {
                return self.refuse(node, "is left by an exception; catch it in the region");
            }
            _ => false,
        };
        let is_try = node.kind() == CXCursor_CXXTryStmt;
        self.functions += usize::from(nested);
        for (at, child) in node.children().into_iter().enumerate() {
            // The handlers follow the block.
            let guarded = usize::from(is_try && at == 0);
            self.tries += guarded;
            self.walk(child)?;
            self.tries -= guarded;
        }
        self.functions -= usize::from(nested);
        Ok(())
    }

    fn refuse(&self, node: Node<'_>, what: &str) -> Result<(), Complaint> {
        let at = node.place().map_or(self.body.start, |place| place.at);
        Err(Complaint::new(at, format!("the region of `device(ancestor: 1)` {what}")))
    }

    fn is_declare_target(&self, variable: &Variable, declared: &Place) -> bool {
        if !variable.is_global || self.offload.lists(&variable.name) {
            return variable.is_global;
        }
        if declared.file == self.file {
            return self.offload.declares(declared.at);
        }
        let Ok(text) = std::fs::read(&declared.file) else { return false };
        let offload = Offload::read(&text);
        offload.declares(declared.at) || offload.lists(&variable.name)
    }

    fn reference(&mut self, node: Node<'_>) -> Result<(), Complaint> {
        let Some(declaration) = node.referenced() else { return Ok(()) };
        match declaration.kind() {
            CXCursor_VarDecl | CXCursor_ParmDecl => {}
            CXCursor_UnexposedDecl => {
                let text = format!("uses the structured binding `{}`; name a variable", node.name());
                return self.refuse(node, &text);
            }
            _ => return Ok(()),
        }
        let Some(declared) = declaration.place() else { return Ok(()) };
        if declared.file == self.file && self.body.contains(&declared.at) {
            return Ok(());
        }
        let name = node.name();
        let place = node.place().filter(|place| place.file == self.file);
        let at = place.as_ref().map_or(self.body.start, |place| place.at);
        let known = self.variables.iter().position(|variable| variable.name == name);
        let known = match known {
            Some(known) => known,
            None => {
                let mut variable = variable(declaration, name.clone(), at)?;
                variable.is_hosts =
                    declaration.is_in_system_header() || self.is_declare_target(&variable, &declared);
                self.variables.push(variable);
                self.variables.len() - 1
            }
        };
        if self.probed {
            return Ok(());
        }
        let variable = &mut self.variables[known];
        variable.is_used = true;
        // `ns::x` begins with its qualifier.
        let spelled = at..at + name.len();
        let is_spelled = place.is_some()
            && self.body.contains(&at)
            && self.buffer.text.get(spelled.clone()) == Some(name.as_bytes());
        if !is_spelled {
            variable.in_macro = true;
        } else if !variable.references.contains(&spelled) {
            variable.references.push(spelled);
        }
        Ok(())
    }
}

fn shape(ty: Type<'_>) -> Shape {
    match ty.kind() {
        CXType_Pointer => Shape::Pointer,
        CXType_ConstantArray | CXType_VariableArray | CXType_IncompleteArray => Shape::Array,
        CXType_LValueReference | CXType_RValueReference => shape(ty.canonical().pointee()),
        _ => Shape::Object,
    }
}

fn variable(declaration: Node<'_>, name: String, at: usize) -> Result<Variable, Complaint> {
    let mut ty = declaration.ty();
    if matches!(ty.kind(), CXType_LValueReference | CXType_RValueReference) {
        ty = ty.canonical().pointee();
    }
    if ty.written_kind() == CXType_Auto {
        ty = ty.canonical();
    }
    let within = declaration.parent().kind();
    let at_file_scope =
        matches!(within, CXCursor_TranslationUnit | CXCursor_Namespace | CXCursor_LinkageSpec);
    let is_global = declaration.is_static() && at_file_scope;
    if !is_global {
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
        name,
        ty: ty.spelling(),
        category,
        is_array: shape(ty) == Shape::Array,
        is_global,
        is_hosts: false,
        is_used: false,
        references: Vec::new(),
        in_macro: false,
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

fn is_local(declaration: Node<'_>) -> bool {
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
