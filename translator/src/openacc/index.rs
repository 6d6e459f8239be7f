//! What the syntax tree says of names in constructs: every use of a variable, and what it does to it.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

#[allow(clippy::wildcard_imports, reason = "dozens of names of libclang's")]
use clang_sys::*;

use crate::ast::{Node, Type};
use crate::lexer::Token;

/// A variable's declaration: the byte of its name, in the first declaration.
pub type Key = usize;

/// What a use of a variable does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doing {
    Reads,
    /// An object is called as a function, which may change it.
    Calls,
    Writes,
    /// Its address becomes known, or an atomic construct updates it.
    Shares,
}

/// A place where a name of a variable stands.
#[derive(Clone, Debug)]
pub struct Use {
    /// With the qualifier of a namespace or class.
    pub range: Range<usize>,
    pub key: Key,
    pub doing: Doing,
    /// What is done to elements of arrays in it, of which `doing` says that their addresses are read.
    pub elements: Doing,
}

/// What kind of object a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Scalar,
    Pointer,
    Array,
    Record,
    /// Not known: of a template's parameter.
    Dependent,
}

/// A member of an object: what stands behind the object's name, and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub path: String,
    pub ty: String,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    /// The name with the namespaces and classes that it is in: what means it everywhere.
    pub path: String,
    pub key: Key,
    pub class: Class,
    /// An array whose length is known when the program runs, or that of its rows.
    pub is_vla: bool,
    /// What it consists of, or points to, if those are arrays of lengths that are known when the program runs.
    pub rows: Option<Rows>,
    /// A reference of C++: the class is that of what it refers to.
    pub is_reference: bool,
    /// How many pointers follow each other in it, arrays between them: two in `double **`, one in `double *[9]`.
    pub pointers: usize,
    pub is_const: bool,
    /// The length of the array as which a parameter is declared that is a pointer.
    pub bound: Option<Range<usize>>,
    /// A pointer whose objects are reached through it alone.
    pub is_restrict: bool,
    /// A whole number.
    pub is_whole: bool,
    /// Its type as source, without `const`.
    pub ty: String,
    /// It lives as long as the program.
    pub is_static: bool,
    /// Each thread of the host has its own.
    pub is_thread_local: bool,
    /// Other units of the program do not see it.
    pub is_of_its_unit: bool,
    /// A number that is known when it is compiled: no use needs the variable.
    pub is_constant: bool,
    /// How large it is, if that is known.
    pub space: Option<Space>,
    /// The array of unknown length at the end of the structure that it is, or leads to.
    pub flexible: Option<String>,
    /// The numbers that an object consists of, if it consists of nothing else and all can be named.
    pub numbers: Option<Vec<Member>>,
    /// The bytes of its declarator, and of its initialiser behind `=`, or with its brackets in C++.
    pub range: Range<usize>,
    pub initialiser: Option<Range<usize>>,
    /// It is initialised without `=`: by a constructor, if it is an object.
    pub is_direct: bool,
}

/// Bytes, and the multiple of bytes at which they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    pub bytes: u64,
    pub align: u64,
}

/// Arrays in each other.
#[derive(Clone, Debug)]
pub struct Rows {
    /// How many are in each other.
    pub depth: usize,
    /// The type of what the innermost consists of.
    pub element: String,
}

/// A call of a function by its name.
#[derive(Clone, Debug)]
pub struct Call {
    pub range: Range<usize>,
    pub name: Range<usize>,
    /// The declaration of what it calls.
    pub function: Key,
}

/// What is known of a file.
#[derive(Default)]
pub struct Index<'u> {
    pub uses: BTreeMap<usize, Use>,
    pub variables: HashMap<Key, Variable>,
    pub calls: Vec<Call>,
    /// Constructs by the byte of their `#`.
    pub constructs: HashMap<usize, Node<'u>>,
    /// Functions that have bodies: the whole definition, the body, and the declaration.
    pub functions: Vec<Function<'u>>,
    /// Uses of `this` that are not spelt: where, and of which length the member's name is.
    pub implicit_this: Vec<usize>,
    pub lambdas: Vec<Lambda>,
    /// Uses of `this` that are.
    pub this: Vec<usize>,
}

/// A lambda expression.
#[derive(Debug)]
pub struct Lambda {
    pub whole: Range<usize>,
    pub brackets: Range<usize>,
    /// Where names stand in the brackets that mean the same variables in the expression: `[a, &b]`, and not what
    /// another variable begins with (`[c = a]`).
    pub captures: Vec<usize>,
}

impl Lambda {
    fn read(whole: Range<usize>, text: &str) -> Self {
        let tokens = crate::lexer::tokens(text[whole.clone()].as_bytes());
        let end = crate::pragma::closing(&tokens).unwrap_or(0);
        let items = crate::pragma::split(tokens.get(1..end).unwrap_or_default(), ",");
        let name = |item: &&[Token]| match item {
            [name] => Some(name.range.start),
            [by, name] if by.is("&") => Some(name.range.start),
            _ => None,
        };
        let captures = items.iter().filter_map(name).map(|at| whole.start + at).collect();
        let brackets = whole.start..whole.start + tokens.get(end).map_or(0, |last| last.range.end);
        Self { whole, brackets, captures }
    }
}

/// A function with a body.
#[derive(Clone, Copy)]
pub struct Function<'u> {
    pub node: Node<'u>,
    pub body: Node<'u>,
    pub key: Key,
}

/// Kinds of cursors that are younger than the binding: of `OpenACCComputeConstruct` to
/// `OpenACCCacheConstruct`.
const CONSTRUCTS: Range<i32> = 320..340;

impl<'u> Index<'u> {
    /// Reads the part of a tree that is of the user's, whose text is given.
    pub fn new(root: Node<'u>, text: &str, wanted: &dyn Fn(&Range<usize>) -> bool) -> Self {
        let mut index = Self::default();
        let mut walk = Walk { index: &mut index, text, path: Vec::new() };
        for node in root.children() {
            walk.declaration(node, wanted);
        }
        index
    }

    /// The uses that stand in a range.
    pub fn uses_in(&self, range: &Range<usize>) -> impl Iterator<Item = &Use> {
        self.uses.range(range.clone()).map(|(_, found)| found)
    }

    pub fn variable(&self, key: Key) -> Option<&Variable> {
        self.variables.get(&key)
    }

    /// The function whose body holds a byte: the innermost.
    pub fn function_at(&self, at: usize) -> Option<&Function<'u>> {
        let holds =
            |function: &&Function<'u>| range_of(function.node).is_some_and(|range| range.contains(&at));
        self.functions
            .iter()
            .filter(holds)
            .min_by_key(|function| range_of(function.node).map(|range| range.len()))
    }
}

/// The bytes of a node.
pub fn range_of(node: Node<'_>) -> Option<Range<usize>> {
    node.extent().map(|(_, begin, end)| begin..end)
}

/// The key of a declaration.
pub fn key_of(declaration: Node<'_>) -> Option<Key> {
    let at = declaration.canonical().place().or_else(|| declaration.place())?.at;
    // Those of all specialisations stand in one place.
    Some(specialisation(declaration).map_or(at, |name| {
        let mut hasher = DefaultHasher::new();
        (at, name).hash(&mut hasher);
        SPECIALISED | usize::try_from(hasher.finish() >> 2).unwrap_or_default()
    }))
}

/// Keys of members of specialised classes: no byte of a text.
const SPECIALISED: Key = 1 << (usize::BITS - 2);

/// The specialised class of which a variable is a static member, or the variable if it is of a template itself.
fn specialisation(variable: Node<'_>) -> Option<String> {
    if variable.kind() != CXCursor_VarDecl {
        return None;
    }
    let parent = variable.parent();
    match parent.kind() {
        CXCursor_ClassDecl | CXCursor_StructDecl => {
            Some(parent.ty().canonical().spelling()).filter(|name| name.contains('<'))
        }
        CXCursor_TranslationUnit | CXCursor_Namespace => {
            Some(variable.identity()).filter(|name| name.contains('>'))
        }
        _ => None,
    }
}

struct Walk<'w, 'u> {
    index: &'w mut Index<'u>,
    text: &'w str,
    path: Vec<Node<'u>>,
}

impl<'u> Walk<'_, 'u> {
    fn declaration(&mut self, node: Node<'u>, wanted: &dyn Fn(&Range<usize>) -> bool) {
        match node.kind() {
            CXCursor_VarDecl => self.visit(node),
            CXCursor_FunctionDecl
            | CXCursor_FunctionTemplate
            | CXCursor_CXXMethod
            | CXCursor_Constructor
            | CXCursor_Destructor
            | CXCursor_ConversionFunction => {
                let Some(range) = range_of(node) else { return };
                let body = node.children().into_iter().find(|child| child.kind() == CXCursor_CompoundStmt);
                let (Some(body), Some(key)) = (body, key_of(node)) else { return };
                self.index.functions.push(Function { node, body, key });
                if wanted(&range) {
                    self.visit(node);
                }
            }
            CXCursor_Namespace
            | CXCursor_LinkageSpec
            | CXCursor_UnexposedDecl
            | CXCursor_StructDecl
            | CXCursor_ClassDecl
            | CXCursor_UnionDecl
            | CXCursor_FriendDecl
            | CXCursor_ClassTemplate
            | CXCursor_ClassTemplatePartialSpecialization => {
                for child in node.children() {
                    self.declaration(child, wanted);
                }
            }
            kind if CONSTRUCTS.contains(&kind) => self.visit(node),
            _ => {}
        }
    }

    fn visit(&mut self, node: Node<'u>) {
        match node.kind() {
            CXCursor_DeclRefExpr => self.name(node),
            CXCursor_VarDecl | CXCursor_ParmDecl => {
                if let Some(variable) = variable(node, self.text) {
                    self.index.variables.insert(variable.key, variable);
                }
            }
            CXCursor_CallExpr => self.call(node),
            CXCursor_LambdaExpr => {
                self.index.lambdas.extend(range_of(node).map(|whole| Lambda::read(whole, self.text)));
            }
            CXCursor_CXXThisExpr => {
                if let Some(place) = node.place()
                    && self.text[place.at..].starts_with("this")
                {
                    self.index.this.push(place.at);
                }
            }
            _ if is_implicit(node) => {
                self.index.implicit_this.extend(range_of(node).map(|range| range.start));
            }
            kind if CONSTRUCTS.contains(&kind) => {
                if let Some(range) = range_of(node) {
                    self.index.constructs.insert(range.start, node);
                }
            }
            _ => {}
        }
        self.path.push(node);
        for child in node.children() {
            self.visit(child);
        }
        self.path.pop();
    }

    fn name(&mut self, node: Node<'u>) {
        let Some(declaration) = node.referenced() else { return };
        if !matches!(declaration.kind(), CXCursor_VarDecl | CXCursor_ParmDecl) {
            return;
        }
        let (Some(key), Some(place), Some(range)) = (key_of(declaration), node.place(), range_of(node))
        else {
            return;
        };
        let name = node.name();
        let behind_name = place.at + name.len();
        if !self.text[..behind_name].ends_with(&name) {
            return;
        }
        // A variable of a template has its arguments.
        let has_arguments = range.end > behind_name
            && matches!(declaration.parent().kind(), CXCursor_TranslationUnit | CXCursor_Namespace)
            && specialisation(declaration).is_some();
        let end = if has_arguments { range.end } else { behind_name };
        let arguments = self.text[behind_name..end].to_owned();
        let range = range.start.min(place.at)..end;
        let doing = self.doing(&self.path, &range);
        let elements = self.doing_to_elements(&range);
        if !self.index.variables.contains_key(&key)
            && let Some(mut found) = variable(declaration, self.text)
        {
            found.key = key;
            found.path += &arguments;
            self.index.variables.insert(key, found);
        }
        let found = self.index.uses.entry(range.start).or_insert(Use { range, key, doing, elements });
        found.doing = found.doing.max(doing);
        found.elements = found.elements.max(elements);
    }

    /// What is done to elements of an array: of what stands at the end of the path, or of a member of that.
    fn doing_to_elements(&self, range: &Range<usize>) -> Doing {
        let mut inner = range.clone();
        let mut path = &self.path[..];
        let mut is_element = false;
        while let Some((node, around)) = path.split_last() {
            let Some(outer) = range_of(*node) else { return Doing::Shares };
            let is_chosen = |chosen: &Node<'_>| match chosen.kind() {
                CXCursor_ArraySubscriptExpr => {
                    range_of(*chosen).is_some_and(|range| range.start == inner.start)
                }
                CXCursor_UnaryOperator => {
                    range_of(*chosen).is_some_and(|range| self.text[range].starts_with('*'))
                }
                _ => false,
            };
            match node.kind() {
                CXCursor_ParenExpr | CXCursor_MemberRefExpr => (inner, path) = (outer, around),
                // Its address, by which one element is chosen, or which goes elsewhere.
                CXCursor_UnexposedExpr if outer == inner && is_decay(*node) => {
                    let Some((chosen, around)) = around.split_last().filter(|(chosen, _)| is_chosen(chosen))
                    else {
                        return Doing::Shares;
                    };
                    let Some(element) = range_of(*chosen) else { return Doing::Shares };
                    (inner, path, is_element) = (element, around, true);
                }
                _ => break,
            }
        }
        if is_element { self.doing(path, &inner) } else { Doing::Reads }
    }

    /// What is done to what stands at the end of a path.
    fn doing(&self, path: &[Node<'u>], range: &Range<usize>) -> Doing {
        let mut inner = range.clone();
        for node in path.iter().rev() {
            let Some(outer) = range_of(*node) else { return Doing::Shares };
            match node.kind() {
                // The value is read, or an array's begin is meant.
                CXCursor_UnexposedExpr if outer == inner => return Doing::Reads,
                CXCursor_ParenExpr => {}
                // A part of it: what is done to that.
                CXCursor_MemberRefExpr => {}
                CXCursor_UnaryOperator => {
                    let text = &self.text[outer.clone()];
                    return if text.starts_with('&') {
                        Doing::Shares
                    } else if text.starts_with("++")
                        || text.starts_with("--")
                        || text.ends_with("++")
                        || text.ends_with("--")
                    {
                        Doing::Writes
                    } else {
                        Doing::Reads
                    };
                }
                CXCursor_CompoundAssignOperator => {
                    return if inner.start == outer.start { Doing::Writes } else { Doing::Reads };
                }
                CXCursor_BinaryOperator => {
                    let is_left = inner.start == outer.start;
                    return if is_left && node.operator() == CXBinaryOperator_Assign {
                        Doing::Writes
                    } else {
                        Doing::Reads
                    };
                }
                CXCursor_ArraySubscriptExpr | CXCursor_ArraySectionExpr => {
                    return Doing::Reads;
                }
                // In the type of another variable: nobody asks for its value.
                CXCursor_VarDecl if node.place().is_some_and(|place| inner.end <= place.at) => {
                    return Doing::Reads;
                }
                CXCursor_CallExpr if inner == *range && outer.start == inner.start => return Doing::Calls,
                CXCursor_CallExpr if outer.start == inner.start => return Doing::Shares,
                CXCursor_CallExpr | CXCursor_VarDecl | CXCursor_LambdaExpr | CXCursor_InitListExpr => {
                    return Doing::Shares;
                }
                _ => return Doing::Reads,
            }
            inner = outer;
        }
        Doing::Reads
    }

    fn call(&mut self, node: Node<'u>) {
        let (Some(range), Some(function)) = (range_of(node), node.referenced()) else { return };
        let (Some(key), Some(callee)) = (key_of(function), node.children().first().copied()) else { return };
        let Some(name) = range_of(callee) else { return };
        self.index.calls.push(Call { range, name, function: key });
    }
}

/// Whether an expression is the address of the first element of the array in it.
fn is_decay(node: Node<'_>) -> bool {
    let is_array = |inner: &Node<'_>| class(inner.ty()) == Class::Array;
    class(node.ty()) == Class::Pointer && node.children().first().is_some_and(is_array)
}

/// Whether a member belongs to the object at `this` without saying so.
pub fn is_implicit(node: Node<'_>) -> bool {
    let is_field = node.kind() == CXCursor_MemberRefExpr
        && node
            .referenced()
            .is_some_and(|field| matches!(field.kind(), CXCursor_FieldDecl | CXCursor_CXXMethod));
    is_field
        && !node.children().iter().any(|child| child.is_expression() && child.kind() != CXCursor_CXXThisExpr)
        && !node.children().iter().any(|child| {
            child.kind() == CXCursor_CXXThisExpr && range_of(*child).is_some_and(|range| range.len() == 4)
        })
}

/// What a type's objects are.
fn class(ty: Type<'_>) -> Class {
    match ty.kind() {
        CXType_Pointer | CXType_MemberPointer => Class::Pointer,
        CXType_ConstantArray | CXType_VariableArray | CXType_IncompleteArray | CXType_DependentSizedArray => {
            Class::Array
        }
        CXType_Record => Class::Record,
        // An object of a class template, in the template.
        CXType_Unexposed if is_class(ty.canonical().declaration()) => Class::Record,
        CXType_Unexposed | CXType_Dependent | CXType_Invalid | CXType_Auto => Class::Dependent,
        _ => Class::Scalar,
    }
}

fn is_class(declaration: Node<'_>) -> bool {
    matches!(
        declaration.kind(),
        CXCursor_ClassTemplate
            | CXCursor_ClassTemplatePartialSpecialization
            | CXCursor_StructDecl
            | CXCursor_ClassDecl
            | CXCursor_UnionDecl
    )
}

/// Whether the length of an array, or of those in it, is known only when the program runs.
fn has_unknown_length(ty: Type<'_>) -> bool {
    match ty.kind() {
        CXType_VariableArray => true,
        CXType_ConstantArray => has_unknown_length(ty.canonical().element()),
        _ => false,
    }
}

fn rows(of: Type<'_>) -> Option<Rows> {
    let row = match class(of) {
        Class::Array => of.canonical().element(),
        Class::Pointer => of.canonical().pointee(),
        _ => return None,
    };
    if !has_unknown_length(row) {
        return None;
    }
    let (mut depth, mut element) = (0, row);
    while class(element) == Class::Array {
        (depth, element) = (depth + 1, element.canonical().element());
    }
    Some(Rows { depth, element: element.spelling() })
}

/// What arrays and pointers consist of, and lead to, in the end.
fn innermost(of: Type<'_>) -> Type<'_> {
    match class(of) {
        Class::Array => innermost(of.canonical().element()),
        Class::Pointer => innermost(of.canonical().pointee()),
        _ => of,
    }
}

/// How many pointers follow each other.
fn pointers(of: Type<'_>) -> usize {
    match class(of) {
        Class::Array => pointers(of.canonical().element()),
        Class::Pointer => 1 + pointers(of.canonical().pointee()),
        _ => 0,
    }
}

fn variable(node: Node<'_>, text: &str) -> Option<Variable> {
    let key = key_of(node)?;
    let range = range_of(node)?;
    let mut ty = node.ty();
    let is_reference = matches!(ty.kind(), CXType_LValueReference | CXType_RValueReference);
    if is_reference {
        ty = ty.canonical().pointee();
    }
    // What is written as an array is a pointer, as a parameter.
    let is_pointer = node.kind() == CXCursor_ParmDecl && class(ty) == Class::Array && !is_reference;
    let name = node.name();
    let place = node.place()?.at;
    let behind = text.get(place..range.end).unwrap_or_default();
    let tokens = crate::lexer::tokens(behind.as_bytes());
    let parts = crate::pragma::split(&tokens, "=");
    let mut initialiser = (parts.len() > 1).then(|| place + parts[1][0].range.start..range.end);
    let mut is_direct = false;
    if node.kind() == CXCursor_VarDecl && initialiser.is_none() {
        // Behind the lengths of an array.
        let mut behind = tokens.get(1..).unwrap_or_default();
        while behind.first().is_some_and(|first| first.is("[")) {
            behind = crate::pragma::closing(behind).map_or(&[][..], |end| &behind[end + 1..]);
        }
        let first = behind.first().filter(|first| first.is("{") || first.is("("));
        // clang's range of the declaration ends before the last parenthesis.
        let is_closed = crate::pragma::closing(behind).is_some();
        let missing = if is_closed { Some(0) } else { text[range.end..].find(')').map(|at| at + 1) };
        initialiser =
            first.zip(missing).map(|(first, missing)| place + first.range.start..range.end + missing);
        let calls = |child: &Node<'_>| child.kind() == CXCursor_CallExpr;
        is_direct = initialiser.is_some() || class(ty) == Class::Record && node.children().iter().any(calls);
    }
    // Truth values are known by their own name.
    let mut spelling = if innermost(ty).kind() == CXType_Bool { ty.canonical() } else { ty }.spelling();
    // `float *const` is a constant pointer, `const float *` is not.
    if class(ty) == Class::Pointer {
        spelling = spelling.trim_end_matches("const").trim_end().to_owned();
        if let Some(stripped) = spelling.strip_suffix("restrict") {
            spelling = stripped.trim_end().to_owned();
        }
    } else if let Some(rest) = spelling.strip_prefix("const ") {
        spelling = rest.to_owned();
    }
    if is_pointer {
        spelling = format!("__typeof__(&(*(__typeof__({spelling}) *)0)[0])");
    }
    let path = path(node, &name);
    if has_no_name(&spelling) {
        spelling = format!("__typeof__({path})");
    }
    Some(Variable {
        bound: if is_pointer { bound(&tokens, place) } else { None },
        path,
        name,
        key,
        class: if is_pointer { Class::Pointer } else { class(ty) },
        is_vla: !is_pointer && has_unknown_length(ty),
        rows: rows(ty),
        is_reference,
        pointers: pointers(ty) + usize::from(is_pointer),
        is_const: ty.is_const(),
        is_restrict: ty.is_restrict() || is_pointer && text[range.clone()].contains("restrict"),
        is_whole: ty.is_integer() && ty.kind() != CXType_Bool,
        ty: spelling,
        is_static: node.is_static(),
        is_thread_local: node.is_thread_local(),
        is_of_its_unit: node.is_of_its_unit(),
        space: if is_pointer { Some(POINTER) } else { space(ty) },
        flexible: flexible(if class(ty) == Class::Pointer { ty.canonical().pointee() } else { ty }),
        numbers: if class(ty) == Class::Record { numbers(ty) } else { None },
        is_constant: node.kind() == CXCursor_VarDecl && node.is_constant_number(),
        range,
        initialiser,
        is_direct,
    })
}

/// Whether a type can be spelt by its variable alone.
fn has_no_name(ty: &str) -> bool {
    ty == "auto" || ["(unnamed ", "(anonymous struct", "(anonymous union"].iter().any(|no| ty.contains(no))
}

/// The length of the array as which a parameter is declared: `double a[n][m]`, `double a[static 4]`.
fn bound(declarator: &[Token], place: usize) -> Option<Range<usize>> {
    let open = declarator.get(1..).filter(|rest| rest.first().is_some_and(|first| first.is("[")))?;
    let inner = &open[1..crate::pragma::closing(open)?];
    let is_word =
        |token: &&Token| ["static", "const", "restrict", "volatile"].iter().any(|word| token.is(word));
    let length = &inner[inner.iter().take_while(is_word).count()..];
    let range = super::directive::bytes(length)?;
    Some(place + range.start..place + range.end)
}

/// A pointer.
const POINTER: Space = Space { bytes: 8, align: 8 };

fn space(ty: Type<'_>) -> Option<Space> {
    Some(Space { bytes: ty.size()?, align: ty.align()?.max(1) })
}

/// A variable's name with those of the namespaces and classes around it. What is in a function or has no name around
/// it is meant by its own.
fn path(node: Node<'_>, name: &str) -> String {
    let mut path = name.to_owned();
    let mut around = node.canonical().parent();
    loop {
        match around.kind() {
            CXCursor_ClassDecl | CXCursor_StructDecl => {
                let class = around.ty().canonical().spelling();
                // What is in no named namespace is named as if it were in the one around.
                let class = class.replace("(anonymous namespace)::", "");
                // It has all that is around the class, and the arguments of its template.
                if !class.is_empty()
                    && !["(unnamed", "(anonymous", "(lambda"].iter().any(|no| class.contains(no))
                {
                    return format!("::{class}::{path}");
                }
                path = format!("{}::{path}", around.name());
            }
            CXCursor_Namespace if !around.name().is_empty() && !around.name().starts_with('(') => {
                path = format!("{}::{path}", around.name());
            }
            CXCursor_Namespace | CXCursor_LinkageSpec | CXCursor_UnexposedDecl => {}
            CXCursor_TranslationUnit if path != name => return format!("::{path}"),
            _ => return name.to_owned(),
        }
        around = around.parent();
    }
}

/// The flexible array member of a structure (C17 section 6.7.2.1), also as GCC's array without elements.
fn flexible(ty: Type<'_>) -> Option<String> {
    if class(ty) != Class::Record {
        return None;
    }
    let members = ty.canonical().declaration().children();
    let last = members.into_iter().rfind(|member| member.kind() == CXCursor_FieldDecl)?;
    let ty = last.ty().canonical();
    let is_open =
        ty.kind() == CXType_IncompleteArray || ty.kind() == CXType_ConstantArray && ty.size() == Some(0);
    is_open.then(|| last.name())
}

/// The numbers that objects of a class consist of. clang wants no others in reductions.
fn numbers(ty: Type<'_>) -> Option<Vec<Member>> {
    let declaration = ty.canonical().declaration();
    if declaration.kind() == CXCursor_UnionDecl {
        return None;
    }
    let mut found = Vec::new();
    for field in declaration.children() {
        match field.kind() {
            CXCursor_FieldDecl if field.is_public() && !field.name().is_empty() => {}
            CXCursor_FieldDecl | CXCursor_CXXBaseSpecifier => return None,
            _ => continue,
        }
        let name = field.name();
        match class(field.ty()) {
            Class::Scalar if field.ty().kind() == CXType_Bool => {
                found.push(Member { path: format!(".{name}"), ty: field.ty().canonical().spelling() });
            }
            Class::Scalar => found.push(Member { path: format!(".{name}"), ty: field.ty().spelling() }),
            _ => return None,
        }
    }
    Some(found)
}
