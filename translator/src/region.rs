//! A region and what it uses of its surroundings.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::ops::Range;
use std::path::Path;

use clang_sys::*;

use crate::ast::{Node, Place};
use crate::buffer::Buffer;
use crate::clause::Category;
use crate::error::Complaint;
use crate::offload::Offload;
use crate::variable::{Shape, Variable, is_local, shape, variable};

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
    /// The name of the function or lambda expression around it.
    pub function: String,
    /// It stands in a `target` construct of the same function.
    pub in_target: bool,
    /// Members of the object at `this` that clauses name.
    pub members: Vec<String>,
    /// What the block reaches by `this`: bytes to be replaced, and where none are, to be led to.
    pub this: Vec<Range<usize>>,
    /// Parameters of the function templates around it, as arguments of a template.
    pub parameters: Vec<String>,
    /// The function around it is another one in each translation unit.
    pub is_of_its_unit: bool,
}

impl Region {
    /// The same, with bytes of the file.
    #[must_use]
    pub fn in_file(mut self, buffer: &Buffer) -> Self {
        let original =
            |range: &Range<usize>| buffer.original(range.start)..buffer.original(range.end - 1) + 1;
        self.body = original(&self.body);
        self.outside = buffer.original(self.outside - 1) + 1;
        for place in &mut self.this {
            *place = buffer.original(place.start)..buffer.original(place.end);
        }
        for variable in &mut self.variables {
            variable.at = buffer.original(variable.at);
            for reference in &mut variable.references {
                *reference = original(reference);
            }
            for qualifier in &mut variable.qualifiers {
                *qualifier = original(qualifier);
            }
        }
        self
    }
}

/// Finds the region of the directive whose probe begins at `place`.
///
/// # Errors
/// The directive stands where none may, or the block has what cannot be moved to the host.
pub fn find(
    root: Node<'_>,
    file: &Path,
    buffer: &Buffer,
    place: usize,
    is_cxx: bool,
) -> Result<Region, Complaint> {
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
    let begin = buffer.end_of(place).unwrap_or(start).min(start);
    if let Some(at) = offload.construct_in(&(begin..end)) {
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
        methods: 0,
        members: Vec::new(),
        this: Vec::new(),
        is_cxx,
        probed: true,
        tries: 0,
        sets_jump: false,
        macros: expansions(root, file, &(start..end)),
    };
    let mut probes = Vec::new();
    for expression in casts(condition) {
        probes.push(search.probe(expression, place)?);
    }
    search.probed = false;
    search.sets_jump = calls(body, &SET_JUMP);
    search.walk(body)?;
    search.directives(begin, &path)?;
    let function = path.iter().find(|node| is_function(**node));
    let Search { body, variables, members, mut this, .. } = search;
    this.sort_by_key(|place| place.start);
    Ok(Region {
        body,
        outside,
        variables,
        probes,
        function: innermost(&path),
        in_target,
        members,
        this,
        parameters: parameters(&path, &buffer.text)?,
        is_of_its_unit: function.is_none_or(|function| function.is_of_its_unit()),
    })
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
    let is_scope = |node: &&Node<'u>| {
        matches!(node.kind(), CXCursor_TranslationUnit | CXCursor_Namespace | CXCursor_LinkageSpec)
    };
    let outermost = path.iter().find(|node| !is_scope(node));
    outermost.copied().ok_or_else(|| Complaint::new(place, "no function encloses the directive"))
}

/// Where macros stand in a range of the file.
fn expansions(root: Node<'_>, file: &Path, range: &Range<usize>) -> Vec<Range<usize>> {
    let children = root.children().into_iter();
    children
        .filter(|node| node.kind() == CXCursor_MacroExpansion)
        .filter_map(Node::extent)
        .filter(|(within, start, _)| within == file && range.contains(start))
        .map(|(_, start, end)| start..end)
        .collect()
}

/// What `__func__` is.
fn innermost(path: &[Node<'_>]) -> String {
    let function = path.iter().rev().find(|node| is_function(**node) || node.kind() == CXCursor_LambdaExpr);
    function.map_or_else(String::new, |function| match function.kind() {
        CXCursor_LambdaExpr => "operator()".to_owned(),
        _ => function.name(),
    })
}

/// The variable of the functions around a place that a name means there.
fn visible<'u>(path: &[Node<'u>], name: &str, place: usize) -> Option<Node<'u>> {
    let is_meant = |node: &Node<'u>| {
        matches!(node.kind(), CXCursor_VarDecl | CXCursor_ParmDecl)
            && node.name() == name
            && node.extent().is_some_and(|(_, start, _)| start < place)
    };
    let scopes = path.iter().rev().take_while(|node| {
        !matches!(node.kind(), CXCursor_TranslationUnit | CXCursor_Namespace | CXCursor_LinkageSpec)
    });
    scopes.flat_map(|scope| scope.children().into_iter().rev()).find_map(|child| match child.kind() {
        CXCursor_DeclStmt => child.children().into_iter().rev().find(is_meant),
        _ => Some(child).filter(is_meant),
    })
}

fn is_function(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        CXCursor_FunctionDecl
            | CXCursor_FunctionTemplate
            | CXCursor_CXXMethod
            | CXCursor_Constructor
            | CXCursor_Destructor
            | CXCursor_ConversionFunction
    )
}

/// The parameters of function templates: names of functions do not show what stands for them.
fn parameters(path: &[Node<'_>], text: &[u8]) -> Result<Vec<String>, Complaint> {
    let mut parameters = Vec::new();
    for template in path.iter().filter(|node| node.kind() == CXCursor_FunctionTemplate) {
        for parameter in template.children() {
            let (begin, end) = match parameter.kind() {
                CXCursor_TemplateTypeParameter => ("", ""),
                CXCursor_NonTypeTemplateParameter => ("gangway_reverse_value<", ">"),
                CXCursor_TemplateTemplateParameter => ("gangway_reverse_template<", ">"),
                _ => continue,
            };
            let (name, Some((_, start, stop))) = (parameter.name(), parameter.extent()) else { continue };
            let is_pack =
                crate::lexer::tokens(&text[start..stop]).iter().any(|token| token.text.starts_with('.'));
            // Of an `auto` parameter of the function, the name shows the type.
            if text[start..stop].starts_with(b"auto") && parameter.kind() == CXCursor_TemplateTypeParameter {
                continue;
            }
            if name.is_empty() {
                let message =
                    "a parameter of the template around `device(ancestor: 1)` has no name; give it one";
                return Err(Complaint::new(start, message));
            }
            let value = if begin.starts_with("gangway_reverse_value") {
                format!("{begin}__typeof__({name}), {name}{end}")
            } else {
                format!("{begin}{name}{end}")
            };
            parameters.push(if is_pack { format!("{value}...") } else { value });
        }
    }
    Ok(parameters)
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

/// Whether a member belongs to the object at `this` without saying so.
fn is_implicit(node: Node<'_>) -> bool {
    let Some((_, start, _)) = node.extent() else { return false };
    !node
        .children()
        .iter()
        .any(|child| child.is_expression() && child.extent().is_some_and(|(_, begin, _)| begin == start))
}

struct Search<'s> {
    file: &'s Path,
    buffer: &'s Buffer,
    offload: Offload,
    body: Range<usize>,
    variables: Vec<Variable>,
    /// Functions inside the region that enclose what is looked at, and those that have a `this`.
    functions: usize,
    methods: usize,
    members: Vec<String>,
    this: Vec<Range<usize>>,
    is_cxx: bool,
    probed: bool,
    /// Blocks of `try` in the region that enclose what is looked at.
    tries: usize,
    /// The region sets a place to jump to.
    sets_jump: bool,
    /// Where macros stand in the region.
    macros: Vec<Range<usize>>,
}

/// What marks a place to jump to, and what jumps there, under the names that glibc gives them.
const SET_JUMP: [&str; 5] = ["setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "__builtin_setjmp"];
const JUMP: [&str; 4] = ["longjmp", "_longjmp", "siglongjmp", "__builtin_longjmp"];

impl Search<'_> {
    /// Variables that directives between a place and the region's end name: libclang, which is
    /// not told of OpenMP, shows nothing of them.
    fn directives(&mut self, begin: usize, path: &[Node<'_>]) -> Result<(), Complaint> {
        let text = &self.buffer.text[begin..self.body.end];
        for (range, tokens) in crate::pragma::openmp(&crate::lexer::tokens(text)) {
            let mut depth = 0_usize;
            for token in &tokens {
                match token.text.as_str() {
                    "(" => depth += 1,
                    ")" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth == 0 || token.kind != crate::lexer::Kind::Identifier {
                    continue;
                }
                let known = self.variables.iter().position(|variable| variable.name == token.text);
                if let Some(known) = known {
                    self.variables[known].is_used = true;
                    self.variables[known].in_directive = true;
                    continue;
                }
                let Some(declaration) = visible(path, &token.text, begin) else { continue };
                let at = begin + range.start;
                let mut variable = variable(declaration, token.text.clone(), at, self.is_cxx)?;
                variable.is_used = true;
                variable.in_directive = true;
                variable.is_constant |= self.is_constexpr(declaration, &variable);
                self.variables.push(variable);
            }
        }
        Ok(())
    }

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
            CXCursor_TypeRef if !self.is_cxx => {
                self.named(node)?;
                false
            }
            CXCursor_LambdaExpr => {
                self.captured(node)?;
                true
            }
            CXCursor_CXXMethod | CXCursor_Constructor | CXCursor_Destructor => {
                self.methods += 1;
                true
            }
            CXCursor_CXXThisExpr if self.methods == 0 => {
                self.this_object(node)?;
                false
            }
            CXCursor_MemberRefExpr if self.methods == 0 && is_implicit(node) => {
                self.member(node)?;
                false
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
        self.methods -= usize::from(nested && node.kind() != CXCursor_LambdaExpr);
        Ok(())
    }

    /// Where the block spells something, if it does so itself.
    fn spelled(&self, at: Option<Place>, text: &str) -> Option<Range<usize>> {
        let place = at.filter(|place| place.file == self.file && self.body.contains(&place.at))?;
        let range = place.at..place.at + text.len();
        (self.buffer.text.get(range.clone()) == Some(text.as_bytes())).then_some(range)
    }

    /// A type or a constant: in C, the host's function stands where those of a function are unknown.
    fn named(&self, node: Node<'_>) -> Result<(), Complaint> {
        let Some(declaration) = node.referenced().filter(|declaration| is_local(declaration.parent())) else {
            return Ok(());
        };
        match declaration.place() {
            Some(place) if place.file == self.file && self.body.contains(&place.at) => Ok(()),
            _ => {
                let text = format!(
                    "uses `{}`, which is declared in the function around it; declare it at file scope",
                    declaration.name()
                );
                self.refuse(node, &text)
            }
        }
    }

    /// `this`, spelt or not.
    fn this_object(&mut self, node: Node<'_>) -> Result<(), Complaint> {
        if self.probed {
            self.members.push("this".to_owned());
            return Ok(());
        }
        match self.spelled(node.place(), "this") {
            Some(range) => self.lead(range),
            None => self.refuse(node, "uses `this` in a macro; write it out"),
        }
    }

    /// `this` among what a lambda expression captures, which is no part of the tree.
    fn captured(&mut self, lambda: Node<'_>) -> Result<(), Complaint> {
        let Some((file, start, end)) = lambda.extent() else { return Ok(()) };
        if self.methods > 0 || file != self.file || self.probed {
            return Ok(());
        }
        let tokens = crate::lexer::tokens(&self.buffer.text[start..end]);
        let list = &tokens[..crate::pragma::closing(&tokens).unwrap_or(0)];
        for (at, token) in list.iter().enumerate().filter(|(_, token)| token.is("this")) {
            if at > 0 && list[at - 1].is("*") || list.iter().any(|token| token.is("=")) {
                return self.refuse(lambda, "captures `this` beside others; capture it alone, or by `&`");
            }
            self.lead(start + token.range.start..start + token.range.end)?;
        }
        Ok(())
    }

    /// A member of the object at `this`, which is not spelt.
    fn member(&mut self, node: Node<'_>) -> Result<(), Complaint> {
        let name = node.name();
        if self.probed {
            self.members.push(name);
            return Ok(());
        }
        // `Base::member` begins with its qualifier.
        let begin = node.extent().map(|(file, at, _)| Place { file, at });
        match (self.spelled(node.place(), &name), begin) {
            (Some(_), Some(begin)) if self.body.contains(&begin.at) => self.lead(begin.at..begin.at),
            _ => self.refuse(node, &format!("uses `this`, in `{name}`, in a macro; write it out")),
        }
    }

    fn lead(&mut self, range: Range<usize>) -> Result<(), Complaint> {
        if !self.this.contains(&range) {
            self.this.push(range);
        }
        Ok(())
    }

    fn refuse(&self, node: Node<'_>, what: &str) -> Result<(), Complaint> {
        let at = node.place().map_or(self.body.start, |place| place.at);
        Err(Complaint::new(at, format!("the region of `device(ancestor: 1)` {what}")))
    }

    /// In a template, a constant may have no value yet.
    fn is_constexpr(&self, declaration: Node<'_>, variable: &Variable) -> bool {
        let Some((file, start, end)) = declaration.extent() else { return false };
        variable.category == Category::Scalar
            && !variable.is_global
            && file == self.file
            && crate::lexer::tokens(&self.buffer.text[start..end]).iter().any(|token| token.is("constexpr"))
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
            _ => return if self.is_cxx { Ok(()) } else { self.named(node) },
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
            Some(known) if self.variables[known].declared.as_ref() != Some(&declared) => {
                let text = format!("uses two variables that are named `{name}`; give one another name");
                return self.refuse(node, &text);
            }
            Some(known) => known,
            None => {
                let mut variable = variable(declaration, name.clone(), at, self.is_cxx)?;
                variable.is_hosts =
                    declaration.is_in_system_header() || self.is_declare_target(&variable, &declared);
                variable.is_constant |= self.is_constexpr(declaration, &variable);
                self.variables.push(variable);
                self.variables.len() - 1
            }
        };
        let spelled = at..at + name.len();
        let is_spelled = place.is_some() && self.buffer.text.get(spelled.clone()) == Some(name.as_bytes());
        let begin = node.extent().filter(|(file, ..)| file == self.file).map_or(at, |(_, begin, _)| begin);
        let qualifier = if is_spelled && begin < at { begin..at } else { at..at };
        if !qualifier.is_empty() {
            let text = self.buffer.text[begin..spelled.end].to_vec();
            self.variables[known].expression = String::from_utf8_lossy(&text).into_owned();
        }
        if self.probed {
            return Ok(());
        }
        let variable = &mut self.variables[known];
        variable.is_used = true;
        if !(is_spelled && self.body.contains(&at)) {
            variable.in_macro = true;
        } else if !variable.references.contains(&spelled) {
            variable.in_argument |= self.macros.iter().any(|range| range.contains(&at));
            variable.references.push(spelled);
            // `ns::x` begins with its qualifier.
            if !qualifier.is_empty() && self.body.contains(&begin) {
                variable.qualifiers.push(qualifier);
            }
        }
        Ok(())
    }
}
