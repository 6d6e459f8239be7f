//! Whether the iterations of a loop are independent: loops that say `auto`, and loops of `kernels` that do not
//! say `independent` (OpenACC 3.3 sections 2.9.6 and 2.9.7).
//!
//! Every variable that the loop's body changes has to be private to an iteration or reduced, and every array
//! element that one iteration writes has to be another one than those that other iterations use. Subscripts
//! are compared as polynomials ([`affine`](super::affine)): where they have rows of one length, an iteration
//! stays in its row. What cannot be shown is sequential, and a note says why.
//!
//! Pointers may lead to the same object. That is asked when the program runs, see
//! [`region`](super::region): data that is mapped apart does not overlap.
#![allow(non_upper_case_globals, reason = "the names are libclang's")]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

#[allow(clippy::wildcard_imports, reason = "dozens of names of libclang's")]
use clang_sys::*;

use super::affine::{self, Poly, Values};
use super::directive::{Directive, Name};
use super::header::Header;
use super::index::{Class, Doing, Key, Use, Variable, key_of, range_of};
use super::nest::{Independent, Iterations, Reason};
use super::pure::Pure;
use super::writer::Writer;
use crate::ast::Node;

/// Whether the iterations of the loops are independent that a directive is about.
pub fn independent<'w>(
    writer: &Writer<'w>,
    directive: &Directive,
    statement: Node<'w>,
) -> Result<Independent, Reason> {
    let heads = writer.heads(directive, statement).map_err(|complaint| complaint.message)?;
    let mut found = Independent::default();
    let mut node = super::header::loop_in(statement);
    for head in &heads {
        let one = node.ok_or("it is no loop")?;
        let mut shown = Loop::new(writer, directive, one, head)?;
        let variables = heads.iter().filter_map(|head| writer.loop_key(head));
        shown.private.extend(variables.map(|key| (key, writer.whole(one))));
        let shown = shown.shown()?;
        found.apart.extend(shown.apart);
        for reduction in shown.reductions {
            if !found.reductions.contains(&reduction) {
                found.reductions.push(reduction);
            }
        }
        node = one.children().last().copied().and_then(super::header::loop_in);
    }
    Ok(found)
}

impl<'w> Writer<'w> {
    /// Looks at the loops of a construct that do not say whether their iterations are independent.
    pub fn look_at_loops(&mut self, body: &Range<usize>, construct: &'w Directive, are_independent: bool) {
        let inside = self.source.directives.iter().filter(|one| body.contains(&one.range.start));
        let is_asked = |one: &&Directive| one.is_loop && is_asked(one, are_independent);
        let loops: Vec<&'w Directive> = inside.chain([construct]).filter(is_asked).collect();
        for one in loops {
            let Ok(statement) = self.statement(one) else { continue };
            let found = independent(self, one, statement);
            if let Err(reason) = &found {
                self.notes.say(
                    one.range.start,
                    format!("the iterations of this loop are not shown to be independent: {reason}"),
                );
            }
            self.independent.insert(one.range.start, found);
        }
    }

    /// The same for a routine, which cannot ask whether data overlaps.
    pub fn look_at_loops_of_routine(&mut self, body: &Range<usize>) {
        let inside = self.source.directives.iter().filter(|one| body.contains(&one.range.start));
        let loops: Vec<&'w Directive> = inside.filter(|one| one.is_loop && is_asked(one, true)).collect();
        for one in loops {
            let Ok(statement) = self.statement(one) else { continue };
            let found = independent(self, one, statement).and_then(|found| match found.apart.is_empty() {
                true => Ok(found),
                false => Err("pointers may lead to the same memory".to_owned()),
            });
            self.independent.insert(one.range.start, found);
        }
    }

    /// How a loop's iterations follow each other: as it says, or as has been shown.
    pub fn iterations(&self, directive: &Directive, are_independent: bool) -> Iterations {
        match is_asked(directive, are_independent) {
            true if matches!(self.independent.get(&directive.range.start), Some(Ok(_))) => {
                Iterations::Independent
            }
            true => Iterations::InOrder,
            false if directive.clause("seq").is_none() => Iterations::Independent,
            // The text of `kernels` is what one thread would do.
            false if !are_independent => Iterations::InOrder,
            false => Iterations::Sequential,
        }
    }
}

/// Whether a loop leaves it open: `auto`, or nothing where that means the same.
fn is_asked(directive: &Directive, are_independent: bool) -> bool {
    let says = |name| directive.clause(name).is_some();
    says("auto") || !are_independent && !says("independent") && !says("seq")
}

/// A loop inside of the one that is looked at, whose variable has known bounds.
struct Inner {
    variable: Key,
    range: Range<usize>,
    /// The least and the largest value that the variable has.
    bounds: Option<(Poly, Poly)>,
}

/// What an access begins at.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Root {
    /// A variable, or a member of it.
    Object(Key, String),
    /// What a pointer leads to.
    Pointee(Key, String),
}

/// An access to memory that other iterations have, too.
struct Access {
    root: Root,
    /// By dimension; what is not known is none.
    subscripts: Vec<Option<Poly>>,
    writes: bool,
    is_atomic: bool,
    at: usize,
}

/// What is done to what an expression names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Read,
    Write,
}

struct Loop<'l, 'w> {
    writer: &'l Writer<'w>,
    variable: Key,
    statement: Node<'w>,
    body: Node<'w>,
    range: Range<usize>,
    /// Where variables are private, or put together by reductions.
    private: Vec<(Key, Range<usize>)>,
    /// Variables that the loop changes, or may change.
    written: HashSet<Key>,
    inner: Vec<Inner>,
    /// Variables that an iteration has of its own, and begins with a value.
    locals: BTreeMap<Key, Node<'w>>,
    /// Those of them that are declared outside.
    assigned: HashSet<Key>,
    accesses: Vec<Access>,
    /// What the values of variables are asked for is not asked for again on the way.
    asked: Vec<Key>,
    /// The compute construct around the loop, or the loop itself in a routine.
    scope: Range<usize>,
}

impl<'l, 'w> Loop<'l, 'w> {
    fn new(
        writer: &'l Writer<'w>,
        directive: &Directive,
        statement: Node<'w>,
        head: &Header,
    ) -> Result<Self, Reason> {
        let variable = writer.loop_key(head).ok_or("its variable is not known")?;
        let body = statement.children().last().copied().ok_or("it has no body")?;
        let range = writer.whole(body);
        let listed = |directive: &Directive| {
            let lists = ["private", "reduction"].map(|name| writer.listed(directive, name));
            lists.concat()
        };
        let mut private: Vec<(Key, Range<usize>)> =
            listed(directive).into_iter().map(|key| (key, range.clone())).collect();
        for inner in writer.source.directives.iter().filter(|inner| range.contains(&inner.range.start)) {
            if inner.is_loop
                && let Ok(statement) = writer.statement(inner)
            {
                let mut keys = listed(inner);
                let heads = writer.heads(inner, statement).unwrap_or_default();
                keys.extend(heads.iter().filter_map(|head| writer.loop_key(head)));
                let whole = writer.whole(statement);
                private.extend(keys.into_iter().map(|key| (key, whole.clone())));
            }
        }
        Ok(Self {
            writer,
            variable,
            statement,
            body,
            private,
            written: HashSet::new(),
            inner: Vec::new(),
            locals: BTreeMap::new(),
            assigned: HashSet::new(),
            accesses: Vec::new(),
            asked: Vec::new(),
            scope: compute_around(writer, &range).unwrap_or_else(|| range.clone()),
            range,
        })
    }

    fn shown(mut self) -> Result<Independent, Reason> {
        let reductions = self.scalars()?;
        self.find(self.body);
        // Its own bounds say what is positive.
        self.add_inner(self.statement);
        for at in 0..self.inner.len() {
            self.inner[at].bounds = self.bounds_of(at);
        }
        self.visit(self.body, How::Read, false)?;
        let mut apart = BTreeSet::new();
        for (number, write) in self.accesses.iter().enumerate().filter(|(_, access)| access.writes) {
            for other in self.accesses.iter().enumerate().filter(|(at, other)| !other.writes || *at >= number)
            {
                self.compare(write, other.1, &mut apart)?;
            }
        }
        Ok(Independent { reductions, apart })
    }

    /// Variables that are changed: the reductions among them.
    fn scalars(&mut self) -> Result<Vec<(Key, &'static str)>, Reason> {
        let mut reductions: Vec<(Key, &'static str)> = Vec::new();
        let writer = self.writer;
        for found in writer.index.uses_in(&self.range.clone()) {
            let is_own = self.range.contains(&found.key);
            if found.doing != Doing::Reads {
                self.written.insert(found.key);
            }
            let is_private = self
                .private
                .iter()
                .any(|(key, range)| *key == found.key && range.contains(&found.range.start));
            if is_own || is_private || found.doing == Doing::Reads {
                continue;
            }
            let Some(variable) = writer.index.variable(found.key) else {
                return Err("it changes what is not known".to_owned());
            };
            let name = &variable.name;
            if found.key == self.variable {
                return Err(format!("its body changes `{name}`"));
            }
            if variable.class == Class::Array || self.is_atomic(&found.range) {
                continue;
            }
            if found.doing == Doing::Shares {
                return Err(format!("the address of `{name}` is taken"));
            }
            if reductions.iter().any(|(key, _)| *key == found.key) {
                continue;
            }
            match self.reduced(variable) {
                Some(operator) => reductions.push((found.key, operator)),
                None if self.is_of_an_iteration(variable) => {}
                None => return Err(format!("each iteration changes `{name}`")),
            }
        }
        Ok(reductions)
    }

    /// Whether each iteration writes a variable before it reads it, and nobody reads it behind.
    fn is_of_an_iteration(&mut self, variable: &Variable) -> bool {
        let Some(flow) = self.writer.flow(variable.key, self.range.start) else { return false };
        let whole = self.writer.whole(self.statement);
        let is_own = variable.class == Class::Scalar
            && flow.is_written_first(&self.range)
            && !flow.is_read_behind(&whole)
            && !self.writer.is_needed_behind(variable, &self.scope);
        if is_own {
            self.private.push((variable.key, self.range.clone()));
            // Assigned in one place, it has that value wherever it is read.
            let mut values = flow.values.iter().filter(|(at, _)| self.range.contains(at));
            if let (Some((_, value)), None) = (values.next(), values.next()) {
                self.assigned.insert(variable.key);
                self.locals.insert(variable.key, *value);
            }
        }
        is_own
    }

    /// The operator of a reduction that nobody has said: every use adds to the variable, or multiplies it.
    /// The sum of numbers that are not whole depends on the order, so that is for the program to say.
    fn reduced(&self, variable: &Variable) -> Option<&'static str> {
        if variable.class != Class::Scalar || variable.is_reference {
            return None;
        }
        let mut operator = None;
        for found in self.writer.index.uses_in(&self.range).filter(|found| found.key == variable.key) {
            let text = &self.writer.text;
            let before = text[..found.range.start].trim_end();
            let behind = text[found.range.end..].trim_start();
            let is_statement = before.ends_with([';', '{', '}', ')', '\n']) || before.ends_with("else");
            let how = match () {
                () if behind.starts_with("+=") || behind.starts_with("-=") => "+",
                () if behind.starts_with("++;") || behind.starts_with("--;") => "+",
                () if behind.starts_with("*=") => "*",
                () if behind.starts_with("&=") => "&",
                () if behind.starts_with("|=") => "|",
                () if behind.starts_with("^=") => "^",
                () => return None,
            };
            // What is added must not be the variable, and nobody may use the result.
            let end = behind.find(';')?;
            let rest =
                found.range.end..found.range.end + (text[found.range.end..].len() - behind.len()) + end;
            let uses_itself = self
                .writer
                .index
                .uses_in(&rest)
                .any(|other| other.key == variable.key && other.range.start != found.range.start);
            if !is_statement || uses_itself || operator.is_some_and(|known| known != how) {
                return None;
            }
            operator = Some(how);
        }
        operator.filter(|_| variable.is_whole)
    }

    /// Whether a use is in an atomic construct.
    fn is_atomic(&self, place: &Range<usize>) -> bool {
        let inside = self.writer.source.directives.iter().filter(|one| self.range.contains(&one.range.start));
        inside.filter(|one| one.name == Name::Atomic).any(|one| {
            let statement = self.writer.statement(one).ok();
            statement.is_some_and(|statement| self.writer.whole(statement).contains(&place.start))
        })
    }

    /// Loops and variables in the body.
    fn find(&mut self, node: Node<'w>) {
        match node.kind() {
            CXCursor_ForStmt => self.add_inner(node),
            CXCursor_VarDecl => {
                let initialiser = node.children().into_iter().rfind(|child| child.is_expression());
                if let (Some(key), Some(initialiser)) = (key_of(node), initialiser) {
                    self.locals.insert(key, initialiser);
                }
            }
            _ => {}
        }
        for child in node.children() {
            self.find(child);
        }
    }

    fn add_inner(&mut self, node: Node<'w>) {
        let Ok(head) = Header::read(node, self.writer.text) else { return };
        let (Some(variable), Some(body)) = (self.writer.loop_key(&head), node.children().last().copied())
        else {
            return;
        };
        let range = self.writer.whole(body);
        // It is what the head says only if nothing else changes it.
        let changes = self
            .writer
            .index
            .uses_in(&range)
            .any(|found| found.key == variable && found.doing != Doing::Reads);
        if !changes {
            self.inner.push(Inner { variable, range, bounds: None });
        }
    }

    /// The least and the largest value of a loop's variable.
    fn bounds_of(&mut self, at: usize) -> Option<(Poly, Poly)> {
        let Inner { variable, range, .. } = &self.inner[at];
        let (variable, range) = (*variable, range.clone());
        // One variable of several loops has no bounds of its own.
        if self.inner.iter().filter(|one| one.variable == variable).count() > 1 {
            return None;
        }
        let node = self.loop_around(self.statement, &range)?;
        let head = Header::read(node, self.writer.text).ok()?;
        let first = self.expression(node, &head.first)?;
        let last = self.expression(node, &head.last)?;
        match head.order {
            "<" => Some((first, last.add(&Poly::number(-1))?)),
            "<=" => Some((first, last)),
            ">" => Some((last.add(&Poly::number(1))?, first)),
            ">=" => Some((last, first)),
            _ => None,
        }
    }

    /// The loop with a body.
    fn loop_around(&self, node: Node<'w>, body: &Range<usize>) -> Option<Node<'w>> {
        if node.kind() == CXCursor_ForStmt
            && node.children().last().is_some_and(|last| self.writer.whole(*last) == *body)
        {
            return Some(node);
        }
        node.children().into_iter().find_map(|child| self.loop_around(child, body))
    }

    /// The expression with these bytes.
    fn expression(&mut self, node: Node<'w>, range: &Range<usize>) -> Option<Poly> {
        let found = affine::expression(node, range)?;
        let text = self.writer.text;
        affine::read(found, text, self)
    }

    /// Everything in the body that reads or writes memory.
    fn visit(&mut self, node: Node<'w>, how: How, is_atomic: bool) -> Result<(), Reason> {
        let children = node.children();
        let text = self.writer.text;
        let range = range_of(node).unwrap_or_default();
        match node.kind() {
            CXCursor_ReturnStmt
            | CXCursor_GotoStmt
            | CXCursor_IndirectGotoStmt
            | CXCursor_LabelStmt
            | CXCursor_AsmStmt
            | CXCursor_MSAsmStmt
            | CXCursor_CXXThrowExpr
            | CXCursor_CXXTryStmt
            | CXCursor_LambdaExpr
            | CXCursor_StmtExpr
            | CXCursor_CXXNewExpr
            | CXCursor_CXXDeleteExpr
            | CXCursor_CXXForRangeStmt => Err("it has a statement that is not looked into".to_owned()),
            CXCursor_BreakStmt if self.leaves(&range) => Err("`break` leaves it".to_owned()),
            CXCursor_BinaryOperator => {
                let [left, right] = children[..] else { return Err("an operator is not known".to_owned()) };
                let assigns = node.operator() == CXBinaryOperator_Assign;
                self.visit(left, if assigns { How::Write } else { How::Read }, is_atomic)?;
                self.visit(right, How::Read, is_atomic)
            }
            CXCursor_CompoundAssignOperator => {
                let [left, right] = children[..] else { return Err("an operator is not known".to_owned()) };
                self.visit(left, How::Write, is_atomic)?;
                self.visit(right, How::Read, is_atomic)
            }
            CXCursor_UnaryOperator => {
                let spelt = text.get(range).unwrap_or_default();
                let changes =
                    ["++", "--"].iter().any(|sign| spelt.starts_with(sign) || spelt.ends_with(sign));
                if spelt.starts_with('*') {
                    return self.access(node, how, is_atomic);
                }
                if spelt.starts_with('&') {
                    return Err("it takes an address".to_owned());
                }
                let how = if changes { How::Write } else { How::Read };
                children.into_iter().try_for_each(|child| self.visit(child, how, is_atomic))
            }
            CXCursor_ArraySubscriptExpr | CXCursor_MemberRefExpr => self.access(node, how, is_atomic),
            CXCursor_DeclRefExpr => self.name(node),
            CXCursor_ParenExpr => {
                children.into_iter().try_for_each(|child| self.visit(child, how, is_atomic))
            }
            CXCursor_CallExpr => self.call(node, &children, is_atomic),
            CXCursor_ForStmt | CXCursor_WhileStmt | CXCursor_DoStmt | CXCursor_SwitchStmt => {
                children.into_iter().try_for_each(|child| self.visit(child, How::Read, is_atomic))
            }
            CXCursor_VarDecl if node.is_static() => Err("it has a variable that stays".to_owned()),
            _ => {
                let directive = self.writer.directives.get(&range.start);
                let directive = directive.filter(|_| self.writer.index.constructs.contains_key(&range.start));
                let directive = directive.filter(|directive| range.end <= directive.range.end);
                let Some(directive) = directive else {
                    return children
                        .into_iter()
                        .try_for_each(|child| self.visit(child, How::Read, is_atomic));
                };
                let statement = self.writer.statement(directive).map_err(|complaint| complaint.message)?;
                match directive.name {
                    Name::Loop => self.visit(statement, How::Read, is_atomic),
                    Name::Atomic => self.visit(statement, How::Read, true),
                    Name::Cache => Ok(()),
                    _ => Err("it has a directive that is not looked into".to_owned()),
                }
            }
        }
    }

    /// Whether a `break` is of this loop.
    fn leaves(&self, place: &Range<usize>) -> bool {
        fn holds(node: Node<'_>, place: &Range<usize>) -> bool {
            let inside =
                range_of(node).is_some_and(|range| range.start <= place.start && place.end <= range.end);
            let is_target = matches!(
                node.kind(),
                CXCursor_ForStmt | CXCursor_WhileStmt | CXCursor_DoStmt | CXCursor_SwitchStmt
            );
            inside && is_target || node.children().into_iter().any(|child| holds(child, place))
        }
        !holds(self.body, place)
    }

    fn call(&mut self, node: Node<'w>, children: &[Node<'w>], is_atomic: bool) -> Result<(), Reason> {
        let name = node.name();
        let is_bound = |key| self.writer.bound.contains_key(&key);
        let pure = Pure { index: &self.writer.index, text: self.writer.text, is_bound: &is_bound };
        if !pure.is_call_of(node) {
            return Err(format!("what `{name}` does is not known"));
        }
        children.iter().skip(1).try_for_each(|child| self.visit(*child, How::Read, is_atomic))
    }

    /// A name by itself: numbers are looked at where they are changed, an array's address may go anywhere.
    fn name(&self, node: Node<'w>) -> Result<(), Reason> {
        let Some(variable) = self.variable_of(node) else { return Ok(()) };
        let is_address = matches!(variable.class, Class::Array | Class::Record | Class::Dependent)
            && !self.range.contains(&variable.key);
        if is_address || variable.is_reference || node.ty().is_volatile() {
            return Err(format!("all of `{}` is used at once", variable.name));
        }
        Ok(())
    }

    fn variable_of(&self, node: Node<'w>) -> Option<&'l Variable> {
        self.writer.index.variable(key_of(node.referenced()?)?)
    }

    fn access(&mut self, node: Node<'w>, how: How, is_atomic: bool) -> Result<(), Reason> {
        if node.ty().is_volatile() {
            return Err("it uses what may change at any time".to_owned());
        }
        let is_function = matches!(node.ty().kind(), CXType_FunctionProto | CXType_FunctionNoProto);
        let writes = how == How::Write;
        let mut subscripts = Vec::new();
        let root = self.place(node, &mut subscripts, is_atomic)?;
        if is_function || matches!(node.ty().kind(), CXType_ConstantArray | CXType_VariableArray) {
            return Err("all of an array is used at once".to_owned());
        }
        if writes && node.ty().kind() == CXType_Pointer {
            return Err("it changes pointers in memory".to_owned());
        }
        let at = range_of(node).unwrap_or_default().start;
        let (Root::Object(key, _) | Root::Pointee(key, _)) = &root;
        let is_own = self.range.contains(key);
        match root {
            // Each iteration has its own.
            Root::Object(..) if is_own => {}
            Root::Pointee(..) if is_own => return Err("it uses a pointer of its own".to_owned()),
            root => self.accesses.push(Access { root, subscripts, writes, is_atomic, at }),
        }
        Ok(())
    }

    /// What an expression names: where it begins, and the subscripts on the way.
    fn place(
        &mut self,
        node: Node<'w>,
        subscripts: &mut Vec<Option<Poly>>,
        is_atomic: bool,
    ) -> Result<Root, Reason> {
        let children = node.children();
        let unknown = || "it uses memory that is not known".to_owned();
        match node.kind() {
            CXCursor_DeclRefExpr => {
                let variable = self.variable_of(node).ok_or_else(unknown)?;
                // What a reference leads to is not known.
                if variable.is_reference {
                    Err(unknown())
                } else {
                    Ok(Root::Object(variable.key, String::new()))
                }
            }
            CXCursor_ParenExpr | CXCursor_UnexposedExpr => {
                let inner = children.into_iter().rfind(|child| child.is_expression());
                self.place(inner.ok_or_else(unknown)?, subscripts, is_atomic)
            }
            CXCursor_MemberRefExpr => {
                let base = children.into_iter().find(|child| child.is_expression()).ok_or_else(unknown)?;
                let in_union =
                    node.referenced().is_some_and(|field| field.parent().kind() == CXCursor_UnionDecl);
                if in_union {
                    return Err("it uses a union".to_owned());
                }
                let mut root = self.place(base, subscripts, is_atomic)?;
                if base.ty().kind() == CXType_Pointer {
                    root = led_to(root, subscripts).ok_or_else(unknown)?;
                }
                let (Root::Object(_, path) | Root::Pointee(_, path)) = &mut root;
                path.push_str(&format!("{}.{}", "[]".repeat(subscripts.len()), node.name()));
                Ok(root)
            }
            CXCursor_ArraySubscriptExpr => {
                let [base, subscript] = children[..] else { return Err(unknown()) };
                let root = self.place(base, subscripts, is_atomic)?;
                let is_array = matches!(
                    without_decay(base).ty().kind(),
                    CXType_ConstantArray | CXType_VariableArray | CXType_IncompleteArray
                );
                let root = if is_array { root } else { led_to(root, subscripts).ok_or_else(unknown)? };
                self.visit(subscript, How::Read, is_atomic)?;
                let text = self.writer.text;
                subscripts.push(affine::read(subscript, text, self));
                Ok(root)
            }
            CXCursor_UnaryOperator => {
                // `*p`, `*(p + i)`
                let pointer = without_parentheses(*children.first().ok_or_else(unknown)?);
                let parts = pointer.children();
                let (base, offset) = match parts[..] {
                    [base, offset]
                        if pointer.kind() == CXCursor_BinaryOperator && offset.ty().is_integer() =>
                    {
                        (base, Some(offset))
                    }
                    _ => (pointer, None),
                };
                let root = self.place(base, subscripts, is_atomic)?;
                let is_array = without_decay(base).ty().kind() != CXType_Pointer;
                let root = if is_array { root } else { led_to(root, subscripts).ok_or_else(unknown)? };
                let text = self.writer.text;
                let value = match offset {
                    Some(offset) => {
                        self.visit(offset, How::Read, is_atomic)?;
                        let is_sum = pointer.operator() == CXBinaryOperator_Add;
                        affine::read(offset, text, self).filter(|_| is_sum)
                    }
                    None => Some(Poly::number(0)),
                };
                subscripts.push(value);
                Ok(root)
            }
            _ => Err(unknown()),
        }
    }

    /// Whether two accesses of different iterations may be of the same memory.
    fn compare(
        &self,
        write: &Access,
        other: &Access,
        apart: &mut BTreeSet<(Key, Key)>,
    ) -> Result<(), Reason> {
        if write.is_atomic && other.is_atomic {
            return Ok(());
        }
        let (Root::Object(one, path) | Root::Pointee(one, path)) = &write.root;
        let (Root::Object(two, other_path) | Root::Pointee(two, other_path)) = &other.root;
        let name =
            |key: &Key| self.writer.index.variable(*key).map_or("", |variable| &variable.name).to_owned();
        if one == two && std::mem::discriminant(&write.root) == std::mem::discriminant(&other.root) {
            // Members that are not in each other.
            if !path.starts_with(&**other_path) && !other_path.starts_with(&**path) {
                return Ok(());
            }
            let parts = write.subscripts.iter().zip(&other.subscripts);
            let positive = self.positive(write.at);
            let differ = |(one, two): (&Option<Poly>, &Option<Poly>)| {
                one.as_ref().zip(two.as_ref()).and_then(|(one, two)| self.separates(one, two, &positive))
                    == Some(true)
            };
            if parts.into_iter().any(differ) {
                return Ok(());
            }
            let (_, line) = self.writer.source.presumed(write.at);
            let (_, other_line) = self.writer.source.presumed(other.at);
            return Err(if std::ptr::eq(write, other) {
                format!("several iterations may write the same of `{}` in line {line}", name(one))
            } else {
                format!(
                    "what line {line} writes of `{}`, line {other_line} may use in another iteration",
                    name(one)
                )
            });
        }
        let is_restrict = |root: &Root| matches!(root, Root::Pointee(key, path) if path.is_empty() && self.is_restrict(*key));
        if is_restrict(&write.root) || is_restrict(&other.root) {
            return Ok(());
        }
        if let (Root::Object(..), Root::Object(..)) = (&write.root, &other.root) {
            return Ok(());
        }
        let reaches = match (&write.root, &other.root) {
            (Root::Object(object, _), Root::Pointee(pointer, _))
            | (Root::Pointee(pointer, _), Root::Object(object, _)) => self.may_reach(*pointer, *object),
            _ => true,
        };
        if !reaches {
            return Ok(());
        }
        // Nothing can be asked of what is declared behind the begin of the construct.
        let is_late = [one, two].iter().any(|key| self.scope.contains(key));
        if is_late || !path.is_empty() || !other_path.is_empty() {
            return Err(format!("`{}` and `{}` may lead to the same memory", name(one), name(two)));
        }
        apart.insert((*one.min(two), *one.max(two)));
        Ok(())
    }

    /// Whether a pointer may lead to a variable: not to one that is younger than its value.
    fn may_reach(&self, pointer: Key, object: Key) -> bool {
        let scope = &self.scope;
        let keeps_its_value =
            |used: &Use| used.key != pointer || matches!(used.doing, Doing::Reads | Doing::Calls);
        !scope.contains(&object)
            || scope.contains(&pointer)
            || !self.writer.index.uses_in(scope).all(keeps_its_value)
    }

    fn is_restrict(&self, key: Key) -> bool {
        self.writer.index.variable(key).is_some_and(|variable| variable.is_restrict)
    }

    /// Variables that are one or more where the code at a place runs: loops around it say so.
    fn positive(&self, at: usize) -> BTreeSet<Key> {
        let around = self.inner.iter().filter(|one| one.range.contains(&at));
        let bounds = around.filter_map(|one| one.bounds.as_ref());
        bounds
            .filter(|(low, _)| low.as_number().is_some_and(|low| low >= 0))
            .filter_map(|(low, high)| {
                // `low <= high`, and the variable is `high` plus a number.
                let key = *high.variables().iter().next()?;
                let rest = high.minus(&Poly::variable(key))?.as_number()?;
                (low.as_number()? - rest >= 1).then_some(key)
            })
            .collect()
    }

    /// Whether two subscripts differ in any two iterations, whatever loops inside do. `None`: it is not known.
    fn separates(&self, one: &Poly, two: &Poly, positive: &BTreeSet<Key>) -> Option<bool> {
        let (mut factor, mut rest) = one.split(self.variable)?;
        let (other_factor, mut other_rest) = two.split(self.variable)?;
        if factor != other_factor {
            return None;
        }
        let is_inner = |rest: &Poly| {
            rest.variables().iter().any(|key| self.inner.iter().any(|one| one.variable == *key))
        };
        if !is_inner(&rest) && !is_inner(&other_rest) {
            let distance = other_rest.minus(&rest)?.as_number()?;
            return Some(match factor.as_number() {
                Some(0) => false,
                Some(factor) => distance % factor != 0 || distance == 0,
                // One or more, and the same element in the same iteration alone.
                None => distance == 0 && factor.is_positive_or_zero(positive),
            });
        }
        // Rows: an iteration has the elements from `factor * i` on, and fewer than `factor` of them.
        let minus = Poly::number(-1);
        if factor.times(&minus)?.is_positive_or_zero(positive) {
            factor = factor.times(&minus)?;
            (rest, other_rest) = (rest.times(&minus)?, other_rest.times(&minus)?);
        }
        let (low, high) = self.extent(rest, positive)?;
        let (other_low, other_high) = self.extent(other_rest, positive)?;
        let fits = |low: &Poly, high: &Poly| {
            let left = factor.minus(&high.minus(low)?)?.add(&minus)?;
            Some(left.is_positive_or_zero(positive))
        };
        Some(fits(&other_low, &high)? && fits(&low, &other_high)?)
    }

    /// The least and the largest value of an expression over the loops inside.
    fn extent(&self, value: Poly, positive: &BTreeSet<Key>) -> Option<(Poly, Poly)> {
        let (mut low, mut high) = (value.clone(), value);
        // Inner loops stand behind outer ones: what bounds their variables are made of is replaced after them.
        for inner in self.inner.iter().rev().filter(|inner| inner.variable != self.variable) {
            let replaced = |value: &Poly, for_low: bool| {
                let (factor, _) = value.split(inner.variable)?;
                if factor.as_number() == Some(0) {
                    return Some(value.clone());
                }
                let (least, most) = inner.bounds.as_ref()?;
                let rises = factor.is_positive_or_zero(positive);
                if !rises && !factor.times(&Poly::number(-1))?.is_positive_or_zero(positive) {
                    return None;
                }
                value.with(inner.variable, if rises == for_low { least } else { most })
            };
            (low, high) = (replaced(&low, true)?, replaced(&high, false)?);
        }
        // Bounds that depend on the loop's own variable are other ones in another iteration.
        let depends = |value: &Poly| value.variables().contains(&self.variable);
        (!depends(&low) && !depends(&high)).then_some((low, high))
    }
}

impl<'w> Values<'w> for Loop<'_, 'w> {
    fn value(&mut self, node: Node<'w>, key: Key) -> Option<Poly> {
        if let Some(value) = node.referenced().and_then(Node::enumerator) {
            return Some(Poly::number(value));
        }
        let place = range_of(node)?.start;
        if key == self.variable {
            return Some(Poly::variable(key));
        }
        if self.inner.iter().any(|inner| inner.variable == key) {
            let inside = self.inner.iter().any(|inner| inner.variable == key && inner.range.contains(&place));
            return inside.then(|| Poly::variable(key));
        }
        if self.written.contains(&key) && !self.assigned.contains(&key) || self.asked.contains(&key) {
            return None;
        }
        if let Some(initialiser) = self.locals.get(&key).copied() {
            self.asked.push(key);
            let text = self.writer.text;
            let value = affine::read(initialiser, text, self);
            self.asked.pop();
            return value;
        }
        let variable = self.writer.index.variable(key)?;
        if self.range.contains(&key) || variable.is_reference || !node.ty().is_integer() {
            return None;
        }
        let constant = self.writer.constant(key);
        Some(constant.map_or_else(|| Poly::variable(key), Poly::number))
    }
}

/// The statement of the compute construct around a loop's body.
fn compute_around(writer: &Writer<'_>, loop_body: &Range<usize>) -> Option<Range<usize>> {
    let constructs = writer.source.directives.iter().filter(|one| one.is_compute());
    let mut bodies = constructs.filter_map(|one| Some(writer.whole(writer.statement(one).ok()?)));
    bodies.find(|body| body.start <= loop_body.start && loop_body.end <= body.end)
}

/// What a pointer leads to that is a variable or a member of one; what is in memory that subscripts choose is
/// another one for each.
fn led_to(root: Root, subscripts: &[Option<Poly>]) -> Option<Root> {
    match root {
        Root::Object(key, path) if subscripts.is_empty() => Some(Root::Pointee(key, path)),
        Root::Pointee(key, path) if subscripts.is_empty() && !path.is_empty() => {
            Some(Root::Pointee(key, path + "->"))
        }
        _ => None,
    }
}

/// An expression before an array becomes the address of its first element.
fn without_decay(node: Node<'_>) -> Node<'_> {
    let inner = node.children().into_iter().rfind(|child| child.is_expression());
    match inner {
        Some(inner) if matches!(node.kind(), CXCursor_UnexposedExpr | CXCursor_ParenExpr) => {
            without_decay(inner)
        }
        _ => node,
    }
}

fn without_parentheses(node: Node<'_>) -> Node<'_> {
    let inner = node.children().into_iter().rfind(|child| child.is_expression());
    match inner {
        Some(inner) if matches!(node.kind(), CXCursor_UnexposedExpr | CXCursor_ParenExpr) => {
            without_parentheses(inner)
        }
        _ => node,
    }
}
