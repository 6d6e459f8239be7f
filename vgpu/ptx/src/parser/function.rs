//! Functions: signatures, bodies, and the scopes of names inside them.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{Fault, Result, Span};
use crate::ir::{
    Body, Function, FunctionId, Limits, Linkage, Location, LocationId, Origin, Prototype, PrototypeId,
    Register, RegisterGroup, RegisterId, Symbol, Targets, TargetsId, Variable,
};
use crate::lexer::{TokenKind, sign};
use crate::types::Type;

use super::Parser;
use super::labels::{Labels, Marked};

/// What a name stands for at a point of a body.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binding {
    Register(RegisterId, Type, u8),
    /// A counted declaration, `%r<10>`.
    Group {
        first: RegisterId,
        count: u32,
        ty: Type,
        vector: u8,
    },
    Symbol(Symbol),
    /// A counted declaration of variables, `.param .u64 %P<2>`: the first and how many.
    Variables(u32, u32),
    /// The name was used in a scope that has ended.
    Gone,
}

/// A body in the making.
pub(super) struct Frame<'a> {
    pub function: FunctionId,
    pub body: Body,
    pub labels: Labels<'a>,
    pub location: Option<LocationId>,
    names: FxHashMap<&'a str, Binding>,
    /// Names that were made up for what is declared again in another scope.
    invented: FxHashSet<Box<str>>,
    /// The last number that was put to each name: counting from 1 every time would take steps that
    /// grow with the square of the scopes, of which compilers open one for every call.
    numbers: FxHashMap<Box<str>, u32>,
    /// What to restore at the end of scopes, and where each scope's part begins.
    shadowed: Vec<(&'a str, Binding)>,
    open: Vec<usize>,
}

impl<'a> Frame<'a> {
    fn new(function: FunctionId) -> Self {
        Frame {
            function,
            body: Body::default(),
            labels: Labels::new(),
            location: None,
            names: FxHashMap::default(),
            invented: FxHashSet::default(),
            numbers: FxHashMap::default(),
            shadowed: Vec::new(),
            open: Vec::new(),
        }
    }

    /// What a name means that is not a register's.
    #[must_use]
    pub fn lookup(&self, name: &str) -> Option<Binding> {
        match self.names.get(name) {
            Some(Binding::Gone) | None => {}
            Some(binding) => return Some(*binding),
        }
        counted_prefixes(name).find_map(|prefix| match self.names.get(prefix) {
            Some(&Binding::Variables(first, count)) => {
                number_of(name, prefix, count).map(|number| Binding::Symbol(Symbol::Local(first + number)))
            }
            _ => None,
        })
    }

    /// The register of a name, also of one that a counted declaration covers.
    #[must_use]
    pub fn register(&self, name: &str) -> Option<(RegisterId, Type, u8)> {
        match self.names.get(name) {
            Some(&Binding::Register(id, ty, vector)) => return Some((id, ty, vector)),
            Some(Binding::Symbol(_) | Binding::Group { .. } | Binding::Variables(..)) => return None,
            Some(Binding::Gone) | None => {}
        }
        counted_prefixes(name).find_map(|prefix| match self.names.get(prefix) {
            Some(&Binding::Group { first, count, ty, vector }) => {
                number_of(name, prefix, count).map(|number| (RegisterId(first.0 + number), ty, vector))
            }
            _ => None,
        })
    }

    /// Binds a name in the current scope and gives the name that is unique in the body.
    /// `taken` tells that the module has such a name: without scopes it would be hidden.
    fn bind(&mut self, name: &'a str, binding: Binding, taken: bool) -> Box<str> {
        let before = self.names.insert(name, binding);
        if !self.open.is_empty() {
            self.shadowed.push((name, before.unwrap_or(Binding::Gone)));
        }
        if before.is_none() && !taken && (self.invented.is_empty() || !self.invented.contains(name)) {
            return name.into();
        }
        self.invent(name)
    }

    /// A name like `name` that nothing in the body has. It ends in no digit, so it is
    /// no register of a counted declaration either.
    fn invent(&mut self, name: &str) -> Box<str> {
        if !self.numbers.contains_key(name) {
            self.numbers.insert(name.into(), 0);
        }
        let number = self.numbers.get_mut(name).expect("the name has a number");
        loop {
            *number += 1;
            let fresh = format!("{name}${number}$");
            if !self.names.contains_key(&*fresh) && self.invented.insert(fresh.clone().into()) {
                return fresh.into();
            }
        }
    }

    pub fn declare_variable(&mut self, name: &'a str, variable: Variable, taken: bool) -> u32 {
        let index = self.body.variables.len() as u32;
        let name = self.bind(name, Binding::Symbol(Symbol::Local(index)), taken);
        self.body.variables.push(Variable { name, ..variable });
        index
    }

    /// As many variables as `count` says, with numbers after the name.
    pub fn declare_variables(&mut self, name: &'a str, variable: &Variable, count: u32, taken: bool) {
        let first = self.body.variables.len() as u32;
        let name = self.bind(name, Binding::Variables(first, count), taken);
        for number in 0..count {
            let mut numbered = format!("{name}{number}").into_boxed_str();
            if self.names.contains_key(&*numbered) || !self.invented.insert(numbered.clone()) {
                numbered = self.invent(&numbered);
            }
            self.body.variables.push(Variable { name: numbered, ..variable.clone() });
        }
    }

    pub fn declare_register(&mut self, name: &'a str, ty: Type, vector: u8, count: Option<u32>, taken: bool) {
        let first = RegisterId(self.body.registers.len() as u32);
        let binding = match count {
            Some(count) => Binding::Group { first, count, ty, vector },
            None => Binding::Register(first, ty, vector),
        };
        let name = self.bind(name, binding, taken);
        let group = self.body.groups.len() as u32;
        self.body.groups.push(RegisterGroup { name, count, first });
        let register = Register { ty, vector, group };
        match count {
            None => self.body.registers.push(register),
            Some(count) => self.body.registers.extend(std::iter::repeat_n(register, count as usize)),
        }
    }

    /// A register that no text names, for a value between two instructions.
    pub fn make_register(&mut self, name: &str, ty: Type) -> RegisterId {
        let first = RegisterId(self.body.registers.len() as u32);
        let name = self.invent(name);
        let group = self.body.groups.len() as u32;
        self.body.groups.push(RegisterGroup { name, count: None, first });
        self.body.registers.push(Register { ty, vector: 1, group });
        first
    }

    /// Renames what would be taken for a register of a counted declaration once scopes
    /// are gone: `%r5` of an inner scope beside `%r<10>`.
    fn separate_counted(&mut self) {
        let counted: FxHashMap<Box<str>, u32> = self
            .body
            .groups
            .iter()
            .filter_map(|group| group.count.map(|count| (group.name.clone(), count)))
            .collect();
        if counted.is_empty() {
            return;
        }
        let clashes = |name: &str| {
            counted_prefixes(name)
                .any(|prefix| counted.get(prefix).is_some_and(|_| prefix.len() < name.len()))
        };
        for index in 0..self.body.groups.len() {
            if clashes(&self.body.groups[index].name) {
                self.body.groups[index].name = self.invent(&self.body.groups[index].name.clone());
            }
        }
        for index in 0..self.body.variables.len() {
            if clashes(&self.body.variables[index].name) {
                self.body.variables[index].name = self.invent(&self.body.variables[index].name.clone());
            }
        }
    }

    fn open_scope(&mut self) {
        self.open.push(self.shadowed.len());
        self.labels.open_scope();
    }

    /// `false` when there is no scope to close but the body itself.
    fn close_scope(&mut self) -> bool {
        let Some(start) = self.open.pop() else { return false };
        for (name, before) in self.shadowed.drain(start..).rev() {
            self.names.insert(name, before);
        }
        self.labels.close_scope();
        true
    }
}

impl<'a> Parser<'a> {
    /// A function with `.func` or `.entry` as the token.
    pub(super) fn function(&mut self, linkage: Linkage) -> Result<()> {
        let entry = self.word() == ".entry";
        self.advance();
        let mut function = Function {
            name: "".into(),
            linkage,
            entry,
            returns: Vec::new(),
            parameters: Vec::new(),
            noreturn: false,
            limits: Limits::default(),
            body: None,
            origin: Origin::default(),
        };
        while self.token.kind == TokenKind::Dot {
            self.function_directive(&mut function)?;
        }
        if !entry {
            function.returns = self.parameters()?;
        }
        let (name, span) = self.name("the function's name")?;
        function.name = name.into();
        function.origin = Origin(span);
        function.parameters = self.parameters()?;
        while self.token.kind == TokenKind::Dot {
            self.function_directive(&mut function)?;
        }
        let declares = self.eat(b';');
        if !declares && !self.at(b'{') {
            return Err(self.unexpected("';' or a body after a function's signature"));
        }
        if !declares && linkage == Linkage::Extern {
            return Err(Fault::invalid(span, format!("the .extern function '{name}' has a body")));
        }
        let id = self.declare_function(name, function, !declares)?;
        match self.deferred {
            _ if declares => Ok(()),
            Some(_) => self.defer(id),
            None => self.body(id),
        }
    }

    /// Adds a function, or merges it with an earlier declaration of its name.
    fn declare_function(&mut self, name: &'a str, function: Function, defines: bool) -> Result<FunctionId> {
        let span = function.origin.0;
        let id = match self.globals.get(name).copied() {
            None => {
                let id = FunctionId(self.module.functions.len() as u32);
                self.globals.insert(name, Symbol::Function(id));
                self.module.functions.push(function);
                return Ok(id);
            }
            Some(Symbol::Function(id)) => id,
            Some(_) => return Err(Fault::invalid(span, format!("'{name}' is a variable already"))),
        };
        let old = &mut self.module.functions[id.index()];
        if old.entry != function.entry
            || !same_shape(&old.returns, &function.returns)
            || !same_shape(&old.parameters, &function.parameters)
        {
            return Err(Fault::invalid(span, format!("'{name}' was declared otherwise before")));
        }
        if defines && old.body.is_some() {
            return Err(Fault::invalid(span, format!("a second body for '{name}'")));
        }
        let noreturn = old.noreturn || function.noreturn;
        if defines || (old.body.is_none() && old.linkage == Linkage::Extern) {
            *old = function;
        }
        old.noreturn = noreturn;
        Ok(id)
    }

    fn function_directive(&mut self, function: &mut Function) -> Result<()> {
        let span = self.token.span;
        let word = self.word();
        if word == ".pragma" {
            return self.pragma();
        }
        self.advance();
        match word {
            ".noreturn" => function.noreturn = true,
            ".maxntid" => function.limits.max_threads = Some(self.dimensions()?),
            ".reqntid" => function.limits.required_threads = Some(self.dimensions()?),
            ".minnctapersm" => function.limits.min_blocks = Some(self.small_number("a number of blocks")?),
            ".maxnctapersm" => function.limits.max_blocks = Some(self.small_number("a number of blocks")?),
            ".maxnreg" => function.limits.max_registers = Some(self.small_number("a number of registers")?),
            // Launches are without clusters, and so within any bound: clang up to 21 writes `num_teams` here.
            ".maxclusterrank" => drop(self.small_number("a number of blocks")?),
            ".reqnctapercluster" | ".explicitcluster" | ".blocksareclusters" => {
                return Err(Fault::unsupported(
                    span,
                    format!("{word} is not supported: there are no clusters"),
                ));
            }
            ".attribute" | ".abi_preserve" | ".abi_preserve_control" => {
                return Err(Fault::unsupported(span, format!("{word} of a function is not supported")));
            }
            _ => return Err(Fault::invalid(span, format!("'{word}' is no directive of a function"))),
        }
        Ok(())
    }

    fn dimensions(&mut self) -> Result<[u32; 3]> {
        let mut dimensions = [1; 3];
        for (index, dimension) in dimensions.iter_mut().enumerate() {
            if index > 0 && !self.eat(b',') {
                break;
            }
            *dimension = self.small_number("a number of threads")?;
        }
        Ok(dimensions)
    }

    pub(super) fn body(&mut self, id: FunctionId) -> Result<()> {
        self.advance();
        let mut frame = Frame::new(id);
        let function = &self.module.functions[id.index()];
        let lists = [(&function.returns, true), (&function.parameters, false)];
        for (list, returned) in lists {
            for (index, variable) in list.iter().enumerate() {
                let index = index as u32;
                let symbol = if returned { Symbol::Return(index) } else { Symbol::Parameter(index) };
                let span = variable.origin.0;
                let name = self.source.get(span.start as usize..span.end as usize).unwrap_or("");
                if frame.names.insert(name, Binding::Symbol(symbol)).is_some() && name != "_" {
                    return Err(Fault::invalid(span, format!("a second parameter '{name}'")));
                }
            }
        }
        let faults = self.faults.len();
        loop {
            match self.statement(&mut frame) {
                Ok(true) => {}
                Ok(false) => break,
                Err(fault) => self.recover(fault)?,
            }
        }
        frame.separate_counted();
        // With a fault somewhere a label may be missing for that reason alone.
        match frame.labels.finish(&mut frame.body) {
            Err(fault) if self.faults.len() == faults => self.faults.push(fault),
            _ => {}
        }
        self.module.functions[id.index()].body = Some(frame.body);
        Ok(())
    }

    /// One statement; `false` after the brace that ends the body.
    fn statement(&mut self, frame: &mut Frame<'a>) -> Result<bool> {
        match self.token.kind {
            TokenKind::Dot => self.body_directive(frame)?,
            TokenKind::Name => {
                let start = self.token.span;
                let end = self.lexer.opcode();
                if end == start.end && self.lexer.clone().next().kind == sign(b':') {
                    let name = self.word();
                    self.advance();
                    self.advance();
                    self.label(frame, name, start)?;
                } else {
                    self.instruction(frame, None, Span::new(start.start, end))?;
                }
            }
            kind if kind == sign(b'@') => self.guarded(frame)?,
            kind if kind == sign(b'{') => {
                frame.open_scope();
                self.advance();
            }
            kind if kind == sign(b'}') => {
                if !frame.close_scope() {
                    self.advance();
                    return Ok(false);
                }
                self.advance();
            }
            kind if kind == sign(b';') => {
                self.advance();
            }
            TokenKind::End => {
                // Not recoverable: the caller must not ask for more.
                let fault = self.unexpected("an instruction or '}'");
                self.faults.push(fault);
                return Ok(false);
            }
            _ => {
                let fault = self.unexpected("an instruction");
                self.advance();
                return Err(fault);
            }
        }
        Ok(true)
    }

    fn body_directive(&mut self, frame: &mut Frame<'a>) -> Result<()> {
        match self.word() {
            ".reg" => self.declare_registers(frame),
            ".local" | ".shared" | ".param" | ".global" | ".const" => {
                self.variables(Linkage::Internal, Some(frame))
            }
            ".loc" => self.location(frame),
            ".pragma" => self.pragma(),
            ".file" => self.file(),
            ".noreturn" | ".maxnreg" => Err(self.unexpected("an instruction")),
            _ => {
                let fault = self.unexpected("an instruction or a declaration");
                self.advance();
                Err(fault)
            }
        }
    }

    /// `.loc 1 23 5` and, of inlined code, `, function_name $L, inlined_at 1 2 3`.
    fn location(&mut self, frame: &mut Frame<'a>) -> Result<()> {
        self.advance();
        let file = self.small_number("a file's number")?;
        let line = self.small_number("a line")?;
        let column = self.small_number("a column")?;
        while self.eat(b',') {
            match self.name("function_name or inlined_at")?.0 {
                "function_name" => {
                    self.name("a label")?;
                    if self.eat(b'+') {
                        self.number("an offset")?;
                    }
                }
                "inlined_at" => {
                    for what in ["a file's number", "a line", "a column"] {
                        self.number(what)?;
                    }
                }
                other => {
                    let span = Span::new(self.last_end - other.len() as u32, self.last_end);
                    return Err(Fault::invalid(span, format!("'{other}' is no attribute of .loc")));
                }
            }
        }
        frame.location = Some(LocationId(frame.body.locations.len() as u32));
        frame.body.locations.push(Location { file, line, column });
        Ok(())
    }

    /// After `name:`, a place in the code or a declaration that has a label for a name.
    fn label(&mut self, frame: &mut Frame<'a>, name: &'a str, span: Span) -> Result<()> {
        let marked = match self.word() {
            ".callprototype" => {
                self.advance();
                let returns = self.parameters()?;
                self.name("'_' in a prototype")?;
                let parameters = self.parameters()?;
                let noreturn = self.eat_word(".noreturn");
                self.expect(b';', "after .callprototype")?;
                let id = PrototypeId(frame.body.prototypes.len() as u32);
                frame.body.prototypes.push(Prototype { name: name.into(), returns, parameters, noreturn });
                Marked::Prototype(id)
            }
            ".branchtargets" => {
                self.advance();
                let id = TargetsId(frame.body.targets.len() as u32);
                frame.body.targets.push(Targets { name: name.into(), blocks: Vec::new() });
                loop {
                    let (target, span) = self.name("a label")?;
                    frame.labels.refer_from_list(target, span, id);
                    if !self.eat(b',') {
                        break;
                    }
                }
                self.expect(b';', "after .branchtargets")?;
                Marked::Targets(id)
            }
            ".calltargets" => {
                self.advance();
                let prototype = self.call_targets(name)?;
                let id = PrototypeId(frame.body.prototypes.len() as u32);
                frame.body.prototypes.push(prototype);
                Marked::Prototype(id)
            }
            _ => Marked::Code(frame.body.instructions.len() as u32),
        };
        frame.labels.define(name, span, marked)
    }

    /// The functions that an indirect call may reach. They have the same parameters, which is all
    /// that the call needs of them: the list stands for their prototype.
    fn call_targets(&mut self, name: &str) -> Result<Prototype> {
        let mut found: Option<Prototype> = None;
        loop {
            let (target, span) = self.name("a function")?;
            let Some(&Symbol::Function(id)) = self.globals.get(target) else {
                return Err(Fault::invalid(span, format!("'{target}' is no function")));
            };
            let function = &self.module.functions[id.index()];
            if function.entry {
                return Err(Fault::invalid(span, format!("the kernel '{target}' cannot be called")));
            }
            match &found {
                Some(first)
                    if !same_shape(&first.parameters, &function.parameters)
                        || !same_shape(&first.returns, &function.returns) =>
                {
                    let message = format!("'{target}' has other parameters than the functions before it");
                    return Err(Fault::invalid(span, message));
                }
                Some(_) => {}
                None => {
                    found = Some(Prototype {
                        name: name.into(),
                        returns: function.returns.clone(),
                        parameters: function.parameters.clone(),
                        noreturn: false,
                    });
                }
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b';', "after .calltargets")?;
        found.ok_or_else(|| self.unexpected("a function"))
    }
}

/// The parts of a name that may be a counted declaration's, the shortest first: `%r1`
/// and `%r` are those of `%r12`, which may be number 2 of `%r1<9>`.
fn counted_prefixes(name: &str) -> impl Iterator<Item = &str> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    (name.len() - digits..name.len()).map(|end| &name[..end])
}

/// The number of a register of a counted declaration: 7 of `%r7`, if there are so many.
fn number_of(name: &str, prefix: &str, count: u32) -> Option<u32> {
    let digits = &name[prefix.len()..];
    let number = digits.parse().ok()?;
    (number < count && (digits == "0" || !digits.starts_with('0'))).then_some(number)
}

/// Whether two declarations of a function have the same parameters.
fn same_shape(left: &[Variable], right: &[Variable]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| {
            left.size() == right.size() && left.dimensions.is_empty() == right.dimensions.is_empty()
        })
}
