//! Writes a module as PTX text that reads back as the same module.
//!
//! The text is normalised: declarations first, one counted or single register
//! declaration per line, no scopes, no comments.

use std::fmt::{self, Display, Formatter, Write};

use crate::forms::Role;
use crate::ir::{
    Base, Body, Function, Guard, Initializer, Instruction, Linkage, Module, Operand, Prototype, Relocation,
    Symbol, Variable,
};
use crate::op::Op;
use crate::types::{StateSpace, Type};

/// What is woven into a module's text: code that watches what its own code does.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    /// Behind the module's variables.
    pub declarations: String,
    /// By function; those without a body have none.
    pub functions: Vec<Added>,
}

/// What is woven into a function.
#[derive(Clone, Debug, Default)]
pub struct Added {
    /// At the beginning of the body: declarations, then instructions that run when it is entered.
    pub entry: String,
    /// By instruction: what comes before it and behind it.
    pub around: Vec<[String; 2]>,
}

/// An instruction of a function as text, for what is woven in.
#[must_use]
pub fn instruction_text(
    module: &Module,
    function: &Function,
    body: &Body,
    instruction: &Instruction,
) -> String {
    struct One<'a>(BodyText<'a>, &'a Instruction);
    impl Display for One<'_> {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            self.0.instruction(self.1, f)
        }
    }
    One(BodyText { module, function, body, added: None }, instruction).to_string()
}

/// A module with what is woven into it, as text that can be read.
#[derive(Clone, Copy, Debug)]
pub struct Woven<'a>(pub &'a Module, pub &'a Additions);

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.text(None, f)
    }
}

impl Display for Woven<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.text(Some(self.1), f)
    }
}

impl Module {
    fn text(&self, additions: Option<&Additions>, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, ".version {}", self.version)?;
        write!(f, ".target sm_{}", self.target.processor)?;
        if let Some(suffix) = self.target.suffix {
            f.write_char(suffix)?;
        }
        if let Some(mode) = &self.target.texture_mode {
            write!(f, ", {mode}")?;
        }
        writeln!(f, "{}", if self.target.debug { ", debug" } else { "" })?;
        writeln!(f, ".address_size {}", self.address_size)?;
        for file in &self.files {
            writeln!(f, ".file {} \"{}\"", file.index, file.name)?;
        }
        for function in &self.functions {
            Signature(function).fmt(f)?;
            writeln!(f, ";")?;
        }
        // An initializer may hold the address of a variable that is defined later.
        let forward = self.variables.iter().enumerate().any(|(index, variable)| {
            let relocations = variable.initializer.iter().flat_map(|initializer| &initializer.relocations);
            relocations.into_iter().any(|relocation| match relocation.symbol {
                Symbol::Variable(id) => id.index() > index,
                _ => false,
            })
        });
        if forward {
            for variable in &self.variables {
                let declared = Variable { initializer: None, linkage: Linkage::Extern, ..variable.clone() };
                Declaration(self, None, &declared).fmt(f)?;
                writeln!(f, ";")?;
            }
        }
        for variable in
            self.variables.iter().filter(|variable| !forward || variable.linkage != Linkage::Extern)
        {
            Declaration(self, None, variable).fmt(f)?;
            writeln!(f, ";")?;
        }
        if let Some(additions) = additions {
            f.write_str(&additions.declarations)?;
        }
        for (index, function) in self.functions.iter().enumerate() {
            if let Some(body) = &function.body {
                writeln!(f)?;
                Signature(function).fmt(f)?;
                writeln!(f, "\n{{")?;
                let added = additions.and_then(|additions| additions.functions.get(index));
                BodyText { module: self, function, body, added }.fmt(f)?;
                writeln!(f, "}}")?;
            }
        }
        for alias in &self.aliases {
            let [name, target] = [alias.alias, alias.target].map(|id| &self.functions[id.index()].name);
            writeln!(f, ".alias {name}, {target};")?;
        }
        Ok(())
    }
}

fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Internal => "",
        Linkage::Extern => ".extern ",
        Linkage::Visible => ".visible ",
        Linkage::Weak => ".weak ",
        Linkage::Common => ".common ",
    }
}

/// A function's signature with its directives.
struct Signature<'a>(&'a Function);

impl Display for Signature<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let function = self.0;
        write!(f, "{}{} ", linkage(function.linkage), if function.entry { ".entry" } else { ".func" })?;
        if !function.returns.is_empty() {
            parameters(&function.returns, f)?;
            f.write_char(' ')?;
        }
        f.write_str(&function.name)?;
        parameters(&function.parameters, f)?;
        if function.noreturn {
            f.write_str(" .noreturn")?;
        }
        let limits = &function.limits;
        for (word, dimensions) in [(".maxntid", limits.max_threads), (".reqntid", limits.required_threads)] {
            if let Some([x, y, z]) = dimensions {
                write!(f, " {word} {x}, {y}, {z}")?;
            }
        }
        let counts = [
            (".minnctapersm", limits.min_blocks),
            (".maxnctapersm", limits.max_blocks),
            (".maxnreg", limits.max_registers),
        ];
        for (word, count) in counts {
            if let Some(count) = count {
                write!(f, " {word} {count}")?;
            }
        }
        Ok(())
    }
}

fn parameters(list: &[Variable], f: &mut Formatter<'_>) -> fmt::Result {
    f.write_char('(')?;
    for (index, variable) in list.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        declarator(variable, f)?;
    }
    f.write_char(')')
}

/// `.global .align 4 .v2 .f32 x[3]`
fn declarator(variable: &Variable, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, ".{} .align {} ", variable.space, variable.align)?;
    if variable.managed {
        f.write_str(".attribute(.managed) ")?;
    }
    if variable.vector > 1 {
        write!(f, ".v{} ", variable.vector)?;
    }
    write!(f, ".{} ", variable.ty)?;
    if let Some(pointer) = variable.pointer {
        f.write_str(".ptr ")?;
        if pointer.space != StateSpace::Generic {
            write!(f, ".{} ", pointer.space)?;
        }
        write!(f, ".align {} ", pointer.align)?;
    }
    f.write_str(&variable.name)?;
    for &length in &variable.dimensions {
        match length {
            0 => f.write_str("[]")?,
            _ => write!(f, "[{length}]")?,
        }
    }
    Ok(())
}

/// A variable of a module, or of a function's body, with its initial value.
struct Declaration<'a>(&'a Module, Option<&'a Body>, &'a Variable);

impl Display for Declaration<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let &Declaration(module, body, variable) = self;
        f.write_str(linkage(variable.linkage))?;
        declarator(variable, f)?;
        let Some(Initializer { bytes, relocations }) = &variable.initializer else { return Ok(()) };
        let braces = !variable.dimensions.is_empty() || variable.vector > 1;
        f.write_str(if braces { " = {" } else { " = " })?;
        let size = variable.ty.size() as usize;
        let mut relocations = relocations.iter().peekable();
        for (index, element) in bytes.chunks(size).enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            match relocations.next_if(|relocation| relocation.offset == (index * size) as u64) {
                Some(relocation) => address(module, body, relocation, f)?,
                None => value(variable.ty, element, f)?,
            }
        }
        f.write_str(if braces { "}" } else { "" })
    }
}

fn value(ty: Type, bytes: &[u8], f: &mut Formatter<'_>) -> fmt::Result {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    match ty {
        Type::F32 => write!(f, "0f{bits:08X}"),
        Type::F64 => write!(f, "0d{bits:016X}"),
        _ => write!(f, "{bits}"),
    }
}

fn address(
    module: &Module,
    body: Option<&Body>,
    relocation: &Relocation,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    let masked = relocation.mask != u64::MAX;
    if masked {
        write!(f, "{:#X}(", relocation.mask)?;
    }
    let name = match (relocation.symbol, body) {
        (Symbol::Variable(id), _) => &module.variables[id.index()].name,
        (Symbol::Function(id), _) => &module.functions[id.index()].name,
        (Symbol::Local(index), Some(body)) => &body.variables[index as usize].name,
        _ => return Err(fmt::Error),
    };
    if relocation.generic {
        write!(f, "generic({name})")?;
    } else {
        f.write_str(name)?;
    }
    if relocation.addend != 0 {
        write!(f, "{:+}", relocation.addend)?;
    }
    f.write_str(if masked { ")" } else { "" })
}

struct BodyText<'a> {
    module: &'a Module,
    function: &'a Function,
    body: &'a Body,
    added: Option<&'a Added>,
}

impl Display for BodyText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let body = self.body;
        for group in &body.groups {
            // A counted declaration of no registers has no register to ask for its type.
            let register = body.registers.get(group.first.index()).filter(|_| group.count != Some(0));
            let Some(register) = register else {
                writeln!(f, "\t.reg .b32 {}<0>;", group.name)?;
                continue;
            };
            f.write_str("\t.reg ")?;
            if register.vector > 1 {
                write!(f, ".v{} ", register.vector)?;
            }
            write!(f, ".{} {}", register.ty, group.name)?;
            match group.count {
                Some(count) => writeln!(f, "<{count}>;")?,
                None => writeln!(f, ";")?,
            }
        }
        for variable in &body.variables {
            f.write_char('\t')?;
            Declaration(self.module, Some(body), variable).fmt(f)?;
            writeln!(f, ";")?;
        }
        for Prototype { name, returns, parameters: list, noreturn } in &body.prototypes {
            write!(f, "\t{name}: .callprototype ")?;
            parameters(returns, f)?;
            f.write_str(" _ ")?;
            parameters(list, f)?;
            writeln!(f, "{};", if *noreturn { " .noreturn" } else { "" })?;
        }
        for targets in &body.targets {
            write!(f, "\t{}: .branchtargets ", targets.name)?;
            for (index, &block) in targets.blocks.iter().enumerate() {
                let label = body.blocks[block.index()].label.as_deref().ok_or(fmt::Error)?;
                write!(f, "{}{label}", if index > 0 { ", " } else { "" })?;
            }
            writeln!(f, ";")?;
        }
        if let Some(added) = self.added {
            f.write_str(&added.entry)?;
        }
        let mut located = 0;
        for block in &body.blocks {
            if let Some(label) = &block.label {
                writeln!(f, "{label}:")?;
            }
            for index in block.instructions.clone() {
                let instruction = &body.instructions[index as usize];
                let upto = instruction.location.map_or(0, |location| location.index() + 1);
                self.locations(located, upto, f)?;
                located = located.max(upto);
                let around = self.added.and_then(|added| added.around.get(index as usize));
                let [before, behind] =
                    around.map_or(["", ""], |around| around.each_ref().map(|text| &**text));
                f.write_str(before)?;
                self.instruction(instruction, f)?;
                f.write_str(behind)?;
            }
        }
        self.locations(located, body.locations.len(), f)
    }
}

impl BodyText<'_> {
    fn locations(&self, from: usize, to: usize, f: &mut Formatter<'_>) -> fmt::Result {
        for location in self.body.locations.iter().take(to).skip(from) {
            writeln!(f, "\t.loc {} {} {}", location.file, location.line, location.column)?;
        }
        Ok(())
    }

    fn instruction(&self, instruction: &Instruction, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('\t')?;
        if let Some(Guard { register, negated }) = instruction.guard {
            write!(f, "@{}{} ", if negated { "!" } else { "" }, self.body.register_name(register))?;
        }
        let opcode = self.module.opcode(instruction);
        write!(f, "{opcode}")?;
        let operands = self.body.operands(instruction);
        if opcode.op == Op::Call {
            self.call(operands, f)?;
        } else {
            let mut first = true;
            for (&operand, expected) in operands.iter().zip(&opcode.expected) {
                if operand == Operand::Absent {
                    continue;
                }
                f.write_str(match (first, expected.role) {
                    (true, _) => " ",
                    (false, Role::SecondDestination) => "|",
                    (false, _) => ", ",
                })?;
                first = false;
                if expected.role.fragment().is_some() && !matches!(operand, Operand::Vector { .. }) {
                    f.write_char('{')?;
                    self.operand(operand, f)?;
                    f.write_char('}')?;
                } else {
                    self.operand(operand, f)?;
                }
            }
        }
        writeln!(f, ";")
    }

    /// Results, callee, arguments, prototype; empty lists are left out.
    fn call(&self, operands: &[Operand], f: &mut Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for &operand in operands {
            if matches!(operand, Operand::Absent | Operand::List { length: 0, .. }) {
                continue;
            }
            f.write_str(if first { " " } else { ", " })?;
            first = false;
            self.operand(operand, f)?;
        }
        Ok(())
    }

    fn operand(&self, operand: Operand, f: &mut Formatter<'_>) -> fmt::Result {
        let register = |id| self.body.register_name(id);
        match operand {
            Operand::Absent => Ok(()),
            Operand::Sink => f.write_char('_'),
            Operand::Register(id) => f.write_str(&register(id)),
            Operand::Negated(id) => write!(f, "!{}", register(id)),
            Operand::Component(id, element) => {
                write!(f, "{}.{}", register(id), ["x", "y", "z", "w"][usize::from(element & 3)])
            }
            Operand::Special(special) => write!(f, "{special}"),
            Operand::Integer(value) => write!(f, "{value}"),
            Operand::Float32(bits) => write!(f, "0f{bits:08X}"),
            Operand::Float64(bits) => write!(f, "0d{bits:016X}"),
            Operand::Symbol(symbol, offset) => {
                f.write_str(self.symbol(symbol))?;
                if offset != 0 { write!(f, "{offset:+}") } else { Ok(()) }
            }
            Operand::Address(base, offset) => {
                match base {
                    Base::Register(id) => write!(f, "[{}", register(id))?,
                    Base::Symbol(symbol) => write!(f, "[{}", self.symbol(symbol))?,
                    Base::Absolute => return write!(f, "[{offset}]"),
                }
                if offset != 0 { write!(f, "{offset:+}]") } else { f.write_char(']') }
            }
            Operand::Vector { .. } | Operand::List { .. } => {
                let (open, close) =
                    if matches!(operand, Operand::List { .. }) { ('(', ')') } else { ('{', '}') };
                f.write_char(open)?;
                for (index, &element) in self.body.elements(operand).iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    self.operand(element, f)?;
                }
                f.write_char(close)
            }
            Operand::Block(id) => {
                f.write_str(self.body.blocks[id.index()].label.as_deref().ok_or(fmt::Error)?)
            }
            Operand::Targets(id) => f.write_str(&self.body.targets[id.index()].name),
            Operand::Prototype(id) => f.write_str(&self.body.prototypes[id.index()].name),
            Operand::Function(id) => f.write_str(&self.module.functions[id.index()].name),
        }
    }

    fn symbol(&self, symbol: Symbol) -> &str {
        match self.module.variable_of(self.function, symbol) {
            Some(variable) => &variable.name,
            None => match symbol {
                Symbol::Function(id) => &self.module.functions[id.index()].name,
                _ => "",
            },
        }
    }
}
