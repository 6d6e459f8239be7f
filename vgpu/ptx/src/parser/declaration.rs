//! Declarations of variables, parameters and registers.

use crate::error::{Fault, Result, Span};
use crate::ir::{Linkage, Origin, Pointer, Symbol, Variable, VariableId};
use crate::lexer::{TokenKind, sign};
use crate::modifier::Word;
use crate::types::{StateSpace, Type, Version};

use super::Parser;
use super::function::Frame;

/// Variables larger than this are refused; no GPU has that much memory.
const LARGEST: u64 = 1 << 40;

/// Registers of one module; real modules stay far below.
const MOST_REGISTERS: usize = 1 << 22;

/// What stands before the name in a declaration.
#[derive(Clone, Copy, Default)]
pub(super) struct Specifiers {
    pub align: Option<u32>,
    pub ty: Option<Type>,
    pub vector: u8,
    pub managed: bool,
    pub pointer: Option<Pointer>,
}

impl<'a> Parser<'a> {
    /// `.global .align 4 .b8 x[4] = {1, 2}, y;` with the state space as the token. In a
    /// function's body, `frame` is where they belong.
    pub(super) fn variables(&mut self, linkage: Linkage, mut frame: Option<&mut Frame<'a>>) -> Result<()> {
        let span = self.advance().span;
        let space = StateSpace::from_text(&self.text(span)[1..]).expect("the caller saw a state space");
        let specifiers = self.specifiers()?;
        loop {
            let (name, variable) = self.declarator(space, linkage, &specifiers)?;
            if self.at(b'<') {
                self.counted_variables(name, &variable, frame.as_deref_mut())?;
                if !self.eat(b',') {
                    return self.expect(b';', "after a declaration");
                }
                continue;
            }
            let equals = self.token.span;
            let initialized = self.eat(b'=');
            if initialized
                && (!matches!(space, StateSpace::Global | StateSpace::Const) || linkage == Linkage::Extern)
            {
                return Err(Fault::invalid(
                    equals,
                    format!("the variable '{name}' cannot have an initial value"),
                ));
            }
            if variable.size().is_none()
                && !initialized
                && linkage != Linkage::Extern
                && space != StateSpace::Param
            {
                return Err(Fault::invalid(variable.origin.0, format!("the array '{name}' has no size")));
            }
            // Declared first: its initializer may hold its own address.
            let shape = variable.clone();
            let symbol = match &mut frame {
                Some(frame) => {
                    let taken = self.globals.contains_key(name);
                    Symbol::Local(frame.declare_variable(name, variable, taken))
                }
                None => Symbol::Variable(self.declare_global(name, variable)?),
            };
            if initialized {
                let (initializer, dimensions) = self.initializer(&shape, frame.as_deref())?;
                let variable = match (symbol, &mut frame) {
                    (Symbol::Local(index), Some(frame)) => &mut frame.body.variables[index as usize],
                    (Symbol::Variable(id), _) => &mut self.module.variables[id.index()],
                    _ => unreachable!("a variable was declared"),
                };
                (variable.initializer, variable.dimensions) = (Some(initializer), dimensions);
            }
            if !self.eat(b',') {
                return self.expect(b';', "after a declaration");
            }
        }
    }

    /// `<2>` after a variable's name: as many of them, with numbers.
    fn counted_variables(
        &mut self,
        name: &'a str,
        variable: &Variable,
        frame: Option<&mut Frame<'a>>,
    ) -> Result<()> {
        let span = self.advance().span;
        let count = self.small_number("a number of variables")?;
        self.expect(b'>', "after the number of variables")?;
        self.registers += count as usize;
        match frame {
            Some(frame)
                if variable.dimensions.is_empty() && count <= 1 << 10 && self.registers <= MOST_REGISTERS =>
            {
                frame.declare_variables(name, variable, count, self.globals.contains_key(name));
                Ok(())
            }
            Some(_) => {
                Err(Fault::unsupported(span, "so many variables in one declaration are not supported"))
            }
            None => Err(Fault::unsupported(span, "counted variables outside a function are not supported")),
        }
    }

    /// Adds a module variable, or merges it with an earlier declaration of its name.
    fn declare_global(&mut self, name: &'a str, variable: Variable) -> Result<VariableId> {
        let span = variable.origin.0;
        match self.globals.get(name).copied() {
            None => {
                let id = VariableId(self.module.variables.len() as u32);
                self.globals.insert(name, Symbol::Variable(id));
                self.module.variables.push(variable);
                Ok(id)
            }
            Some(Symbol::Variable(id)) => {
                let old = &mut self.module.variables[id.index()];
                if old.space != variable.space {
                    let message =
                        format!("'{name}' is in .{} here and in .{} before", variable.space, old.space);
                    return Err(Fault::invalid(span, message));
                }
                match (old.linkage, variable.linkage) {
                    (_, Linkage::Extern) => {}
                    (Linkage::Extern, _) => *old = variable,
                    (Linkage::Common, Linkage::Common) if old.size() >= variable.size() => {}
                    (Linkage::Common, _) => *old = variable,
                    _ => return Err(Fault::invalid(span, format!("a second definition of '{name}'"))),
                }
                Ok(id)
            }
            Some(_) => Err(Fault::invalid(span, format!("'{name}' is a function already"))),
        }
    }

    /// Alignment, attributes, vector and type, in any order, up to the name.
    pub(super) fn specifiers(&mut self) -> Result<Specifiers> {
        let mut specifiers = Specifiers { vector: 1, ..Specifiers::default() };
        while self.token.kind == TokenKind::Dot {
            let span = self.token.span;
            match &self.word()[1..] {
                "align" => {
                    self.advance();
                    specifiers.align = Some(self.alignment()?);
                }
                "attribute" => {
                    self.advance();
                    specifiers.managed |= self.attribute()?;
                }
                "ptr" => {
                    self.advance();
                    specifiers.pointer = Some(self.pointer()?);
                }
                "v2" => {
                    specifiers.vector = 2;
                    self.advance();
                }
                "v4" => {
                    specifiers.vector = 4;
                    self.advance();
                }
                "texref" | "samplerref" | "surfref" => {
                    let message = "textures, samplers and surfaces are not supported";
                    return Err(Fault::unsupported(span, message));
                }
                "b128" => {
                    return Err(Fault::unsupported(
                        span,
                        "128-bit variables and registers are not supported",
                    ));
                }
                word => match Type::from_text(word).filter(|ty| ty.is_fundamental()) {
                    Some(ty) if specifiers.ty.is_none() => {
                        specifiers.ty = Some(ty);
                        self.advance();
                    }
                    _ if Word::from_text(word).is_some() || Type::from_text(word).is_some() => {
                        return Err(Fault::invalid(span, format!("'.{word}' is no type for a declaration")));
                    }
                    _ => return Err(self.unexpected("a type or a name")),
                },
            }
        }
        Ok(specifiers)
    }

    fn alignment(&mut self) -> Result<u32> {
        let span = self.token.span;
        let align = self.small_number("an alignment")?;
        if !align.is_power_of_two() || align > 1 << 20 {
            return Err(Fault::invalid(
                span,
                format!("the alignment {align} is no power of two up to 1 MiB"),
            ));
        }
        Ok(align)
    }

    fn attribute(&mut self) -> Result<bool> {
        self.expect(b'(', "after .attribute")?;
        let span = self.token.span;
        let managed = self.eat_word(".managed");
        if !managed {
            return Err(Fault::unsupported(
                span,
                format!("the attribute '{}' is not supported", self.word()),
            ));
        }
        self.expect(b')', "after the attribute")?;
        Ok(managed)
    }

    fn pointer(&mut self) -> Result<Pointer> {
        let mut pointer = Pointer { space: StateSpace::Generic, align: 4 };
        if self.token.kind == TokenKind::Dot
            && let Some(space) = StateSpace::from_text(&self.word()[1..])
        {
            pointer.space = space;
            self.advance();
        }
        if self.eat_word(".align") {
            pointer.align = self.alignment()?;
        }
        Ok(pointer)
    }

    /// The name and the dimensions.
    pub(super) fn declarator(
        &mut self,
        space: StateSpace,
        linkage: Linkage,
        specifiers: &Specifiers,
    ) -> Result<(&'a str, Variable)> {
        let Some(ty) = specifiers.ty else { return Err(self.unexpected("a type")) };
        let (name, span) = self.name("a name")?;
        if ty == Type::Pred {
            return Err(Fault::invalid(span, format!("the predicate '{name}' can only be a register")));
        }
        let mut dimensions = Vec::new();
        let mut size = u64::from(ty.size()) * u64::from(specifiers.vector);
        let natural = size as u32;
        while self.at(b'[') {
            let open = self.advance().span;
            let mut length = 0;
            if !self.at(b']') {
                length = self.constant()? as u64;
            } else if !dimensions.is_empty() {
                return Err(self.unexpected("the length of a dimension"));
            }
            self.expect(b']', "after the length of an array")?;
            size = size.checked_mul(length.max(1)).filter(|&size| size <= LARGEST).ok_or_else(|| {
                Fault::invalid(open.to(span), format!("'{name}' is larger than {LARGEST} bytes"))
            })?;
            dimensions.push(length);
        }
        if dimensions.iter().skip(1).any(|&length| length == 0) {
            return Err(Fault::invalid(span, format!("an inner dimension of '{name}' has no length")));
        }
        let variable = Variable {
            name: name.into(),
            linkage,
            space,
            ty,
            vector: specifiers.vector,
            align: specifiers.align.unwrap_or(natural),
            dimensions: dimensions.into(),
            initializer: None,
            managed: specifiers.managed,
            pointer: specifiers.pointer,
            origin: Origin(span),
        };
        Ok((name, variable))
    }

    /// `(.param .u32 a, .param .align 8 .b8 b[16])`, if there is a list.
    pub(super) fn parameters(&mut self) -> Result<Vec<Variable>> {
        let mut parameters = Vec::new();
        if !self.eat(b'(') {
            return Ok(parameters);
        }
        while !self.eat(b')') {
            if !parameters.is_empty() {
                self.expect(b',', "between parameters")?;
            }
            let span = self.token.span;
            if !self.eat_word(".param") {
                if self.eat_word(".reg") {
                    return Err(Fault::unsupported(
                        span,
                        "parameters in registers are not supported, only .param",
                    ));
                }
                return Err(self.unexpected(".param"));
            }
            let specifiers = self.specifiers()?;
            let (_, parameter) = self.declarator(StateSpace::Param, Linkage::Internal, &specifiers)?;
            parameters.push(parameter);
        }
        Ok(parameters)
    }

    /// `.reg .b32 %r<10>, x;` with `.reg` as the token.
    pub(super) fn declare_registers(&mut self, frame: &mut Frame<'a>) -> Result<()> {
        self.advance();
        let specifiers = self.specifiers()?;
        let Some(ty) = specifiers.ty else { return Err(self.unexpected("the registers' type")) };
        self.check_register_type(ty)?;
        loop {
            let (name, span) = self.name("a register's name")?;
            let count = if self.token.kind == sign(b'<') {
                self.advance();
                let count = self.small_number("a number of registers")?;
                self.expect(b'>', "after the number of registers")?;
                Some(count)
            } else {
                None
            };
            self.registers += count.unwrap_or(1) as usize;
            if self.registers > MOST_REGISTERS {
                let message = format!("more than {MOST_REGISTERS} registers in one module are not supported");
                return Err(Fault::unsupported(span, message));
            }
            frame.declare_register(name, ty, specifiers.vector, count, self.globals.contains_key(name));
            if !self.eat(b',') {
                return self.expect(b';', "after registers");
            }
        }
    }

    fn check_register_type(&self, ty: Type) -> Result<()> {
        let span = Span::new(self.last_end, self.last_end);
        match ty {
            Type::F16 | Type::F16x2 if self.module.version < Version::new(4, 2) => {
                Err(Fault::invalid(span, format!(".{ty} needs PTX 4.2")))
            }
            _ => Ok(()),
        }
    }
}
