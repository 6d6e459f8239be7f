//! Instructions: the opcode by the form table, then as many operands as it expects.

use crate::error::{Fault, Result, Span};
use crate::forms::{self, Opcode, Role};
use crate::ir::{Base, Guard, Instruction, OpcodeId, Operand, Origin, Symbol};
use crate::lexer::{TokenKind, decimal, sign};
use crate::modifier::Modifier;
use crate::op::Op;
use crate::special::SpecialRegister;
use crate::types::{StateSpace, Type, TypeClass, Version};

use super::composed::Sum;
use super::function::{Binding, Frame};
use super::{Parser, shorten};

/// Memory that is used again for each instruction.
#[derive(Default)]
pub(super) struct Scratch {
    operands: Vec<Operand>,
    elements: Vec<Operand>,
    pub(super) sums: Vec<Sum>,
}

impl<'a> Parser<'a> {
    /// `@p` or `@!p` and the instruction.
    pub(super) fn guarded(&mut self, frame: &mut Frame<'a>) -> Result<()> {
        self.advance();
        let negated = self.eat(b'!');
        let (name, span) = self.name("a predicate after '@'")?;
        let Some((register, ty, 1)) = frame.register(name) else {
            return Err(Fault::invalid(span, format!("'{}' is no predicate", shorten(name))));
        };
        if ty != Type::Pred {
            return Err(Fault::invalid(span, format!("'{name}' is of type .{ty}, not a predicate")));
        }
        if self.token.kind != TokenKind::Name {
            return Err(self.unexpected("an instruction"));
        }
        let start = self.token.span.start;
        let end = self.lexer.opcode();
        self.instruction(frame, Some(Guard { register, negated }), Span::new(start, end))
    }

    /// An instruction whose opcode is `span`; the token is its first word and the lexer
    /// stands after the opcode.
    pub(super) fn instruction(
        &mut self,
        frame: &mut Frame<'a>,
        guard: Option<Guard>,
        span: Span,
    ) -> Result<()> {
        self.advance();
        let text = self.text(span);
        let id = match self.opcodes.get(text) {
            Some(&id) if self.token.kind != TokenKind::Dot => id,
            _ => {
                // Blanks may stand between the words.
                let mut full = text.to_owned();
                while self.token.kind == TokenKind::Dot {
                    full += self.word();
                    self.advance();
                }
                let span = Span::new(span.start, span.end.max(self.last_end));
                let id = self.opcode(&full, span)?;
                if full.len() == text.len() {
                    self.opcodes.insert(text, id);
                }
                id
            }
        };
        // Shared by all uses, so it is taken out while operands are parsed.
        let opcode = std::mem::take(&mut self.module.opcodes[id.index()].expected);
        let kind = self.module.opcodes[id.index()].op;
        let operands = self.operands(frame, kind, &opcode);
        self.module.opcodes[id.index()].expected = opcode;
        let operands = operands?;
        self.add_up(frame, span)?;
        let id = match self.named_space(frame, id, &operands) {
            Some(space) => self.opcode_in(id, space, span)?,
            None => id,
        };
        self.expect(b';', "after an instruction")?;
        let index = frame.body.instructions.len() as u32;
        frame.body.instructions.push(Instruction {
            opcode: id,
            guard,
            operands,
            location: frame.location,
            origin: Origin(span),
        });
        if matches!(kind, Op::Bra | Op::Brx | Op::Ret | Op::Exit | Op::Trap) {
            frame.labels.end_block(index);
        }
        Ok(())
    }

    /// Looks an opcode up in the form table and checks that the module may use it.
    pub(super) fn opcode(&mut self, text: &str, span: Span) -> Result<OpcodeId> {
        let mut words = text.split('.');
        let name = words.next().unwrap_or_default();
        let table = forms::table();
        let known = table.named(name).next().is_some();
        if !known {
            return Err(match forms::unsupported_instruction(name) {
                Some(what) => {
                    Fault::unsupported(span, format!("'{}': {what} are not supported", shorten(text)))
                }
                None => Fault::invalid(span, format!("no instruction is called '{}'", shorten(name))),
            });
        }
        let mut modifiers = Vec::new();
        let mut refused = None;
        for word in words {
            if forms::is_unsupported_word(word) {
                refused = refused.or(Some(word));
            }
            match Modifier::from_text(word) {
                Some(modifier) => modifiers.push(modifier),
                // Of several words, one that nothing here has says most.
                None if forms::is_unsupported_word(word) => refused = Some(word),
                None if refused.is_some() => {}
                None => {
                    return Err(Fault::invalid(
                        span,
                        format!("'.{}' is no modifier of '{name}'", shorten(word)),
                    ));
                }
            }
        }
        let found =
            if modifiers.len() == text.matches('.').count() { table.find(name, &modifiers) } else { None };
        let Some(opcode) = found else {
            if let Some(word) = refused {
                let message = format!("'{}': '.{word}' of '{name}' is not supported", shorten(text));
                return Err(Fault::unsupported(span, message));
            }
            if let Some(what) = forms::unsupported_form(name, &modifiers) {
                let message = format!("'{}': {what} are not supported", shorten(text));
                return Err(Fault::unsupported(span, message));
            }
            let mut message = format!("'{}' is no form of '{name}'; its forms are", shorten(text));
            for form in table.named(name).take(6) {
                message += &format!("\n  {}", form.syntax());
            }
            return Err(Fault::invalid(span, message));
        };
        self.check_target(&opcode, span)?;
        let id = match self.module.opcodes.iter().position(|other| *other == opcode) {
            Some(index) => index,
            None => {
                self.module.opcodes.push(opcode);
                self.module.opcodes.len() - 1
            }
        };
        Ok(OpcodeId(id as u32))
    }

    /// The state space of the variable that a load or store names without naming its
    /// space. Old GCC writes `st.u64 [%frame]` for a local variable, and libgomp's tests
    /// have drivers load that: only the variable's own space gives it a meaning.
    fn named_space(
        &self,
        frame: &Frame<'a>,
        id: OpcodeId,
        operands: &std::ops::Range<u32>,
    ) -> Option<StateSpace> {
        let opcode = &self.module.opcodes[id.index()];
        if !matches!(opcode.op, Op::Ld | Op::St) || opcode.space() != StateSpace::Generic {
            return None;
        }
        let operands = &frame.body.operands[operands.start as usize..operands.end as usize];
        let space = operands.iter().find_map(|operand| match operand {
            Operand::Address(Base::Symbol(Symbol::Local(index)), _) => {
                Some(frame.body.variables.get(*index as usize)?.space)
            }
            Operand::Address(Base::Symbol(Symbol::Variable(id)), _) => {
                Some(self.module.variables.get(id.index())?.space)
            }
            _ => None,
        })?;
        matches!(space.plain(), StateSpace::Local | StateSpace::Shared).then_some(space.plain())
    }

    /// The form of an access that names `space` besides what the opcode names.
    fn opcode_in(&mut self, id: OpcodeId, space: StateSpace, span: Span) -> Result<OpcodeId> {
        let opcode = &self.module.opcodes[id.index()];
        let (name, words) = (opcode.op.text(), opcode.modifiers.len());
        let spelled = |at: usize| {
            let mut modifiers = opcode.modifiers.to_vec();
            modifiers.insert(at, Modifier::Space(space));
            modifiers
        };
        let found = (0..=words).map(spelled).find(|modifiers| forms::table().find(name, modifiers).is_some());
        let Some(modifiers) = found else {
            return Err(Fault::invalid(span, format!("'{opcode}' has no form for .{space}")));
        };
        let text: String = modifiers.iter().map(|modifier| format!(".{}", modifier.text())).collect();
        self.opcode(&format!("{name}{text}"), span)
    }

    fn check_target(&self, opcode: &Opcode, span: Span) -> Result<()> {
        let (version, processor) = (self.module.version, self.module.target.processor);
        if opcode.since > version {
            return Err(Fault::invalid(
                span,
                format!("'{opcode}' needs PTX {}, and this module is PTX {version}", opcode.since),
            ));
        }
        if opcode.processor > processor {
            let message =
                format!("'{opcode}' needs sm_{}, and this module is for sm_{processor}", opcode.processor);
            return Err(Fault::invalid(span, message));
        }
        if let Some(until) = opcode.until
            && processor >= until
            && version >= Version::new(6, 4)
            && self.origin == super::Origin::Source
        {
            let message = format!("sm_{until} and later have no '{opcode}', only '{}.sync'", opcode.op);
            return Err(Fault::invalid(span, message));
        }
        Ok(())
    }

    /// The operands up to the semicolon, one for each position that is expected.
    fn operands(
        &mut self,
        frame: &mut Frame<'a>,
        op: Op,
        expected: &[forms::Expected],
    ) -> Result<std::ops::Range<u32>> {
        let start = self.token.span;
        let mut given = std::mem::take(&mut self.scratch.operands);
        given.clear();
        self.scratch.sums.clear();
        let mut labels = [None; 2];
        let result = if op == Op::Call {
            self.call(frame, &mut given, &mut labels)
        } else {
            self.operand_list(frame, expected, &mut given, &mut labels)
        };
        let first = frame.body.operands.len() as u32;
        let placed = result.and_then(|()| place(&given, expected, op, &mut frame.body.operands));
        self.scratch.operands = given;
        if let Err(mut fault) = placed {
            if fault.span == Span::default() {
                fault.span = Span::new(start.start, self.last_end.max(start.end));
            }
            return Err(fault);
        }
        for (position, name, span) in labels.into_iter().flatten() {
            frame.labels.refer(name, span, first + position);
        }
        Ok(first..frame.body.operands.len() as u32)
    }

    fn operand_list(
        &mut self,
        frame: &mut Frame<'a>,
        expected: &[forms::Expected],
        given: &mut Vec<Operand>,
        labels: &mut [Option<(u32, &'a str, Span)>; 2],
    ) -> Result<()> {
        if self.at(b';') {
            return Ok(());
        }
        loop {
            let want = expected.get(given.len()).or(expected.last());
            let role = want.map_or(Role::Source, |want| want.role);
            match role {
                Role::Label | Role::Targets => {
                    let (name, span) = self.name("a label")?;
                    labels[0] = Some((given.len() as u32, name, span));
                    given.push(Operand::Absent);
                }
                Role::Address => given.push(self.address(frame)?),
                _ => {
                    let start = self.token.span;
                    let operand = self.operand(frame, want.and_then(|want| want.ty))?;
                    // Nearly always it is one token.
                    let more = self.last_end > start.end || self.at(b'+');
                    given.push(if more { self.composed(frame, operand, want, start)? } else { operand });
                }
            }
            if expected.get(given.len()).is_some_and(|next| next.role == Role::SecondDestination) {
                let second =
                    if self.eat(b'|') { self.operand(frame, Some(Type::Pred))? } else { Operand::Absent };
                given.push(second);
            }
            if !self.eat(b',') {
                return Ok(());
            }
        }
    }

    /// A value or a register. `ty` is what floating-point constants become.
    fn operand(&mut self, frame: &mut Frame<'a>, ty: Option<Type>) -> Result<Operand> {
        let span = self.token.span;
        match self.token.kind {
            TokenKind::Name => self.named(frame),
            TokenKind::Float32 | TokenKind::Float64 | TokenKind::Decimal => self.float(ty, false),
            kind if kind == sign(b'-') && matches!(ty.map(Type::class), Some(TypeClass::Float)) => {
                self.advance();
                match self.token.kind {
                    TokenKind::Float32 | TokenKind::Float64 | TokenKind::Decimal => self.float(ty, true),
                    _ => Err(self.unexpected("a floating-point constant")),
                }
            }
            kind if kind == sign(b'{') => self.vector(frame, ty),
            kind if kind == sign(b'!') && self.lexer.clone().next().kind == TokenKind::Name => {
                self.advance();
                match self.named(frame)? {
                    Operand::Register(id) => Ok(Operand::Negated(id)),
                    _ => Err(Fault::invalid(span, "'!' stands before a predicate")),
                }
            }
            kind if kind == sign(b'[') => Err(self.unexpected("a value, not an address,")),
            _ if self.at_constant() => Ok(Operand::Integer(self.constant()?)),
            _ => Err(self.unexpected("an operand")),
        }
    }

    /// A floating-point constant, as bits of the type that is expected.
    fn float(&mut self, ty: Option<Type>, negative: bool) -> Result<Operand> {
        let single = self.token.kind == TokenKind::Float32;
        let (exact, value) = match self.token.kind {
            TokenKind::Float32 => (self.hexadecimal(), f64::from(f32::from_bits(self.hexadecimal() as u32))),
            TokenKind::Float64 => (self.hexadecimal(), f64::from_bits(self.hexadecimal())),
            _ => {
                let value = decimal(self.word().as_bytes()).unwrap_or_default();
                (value.to_bits(), value)
            }
        };
        self.advance();
        let value = if negative { -value } else { value };
        Ok(match ty.map_or(8, Type::size) {
            4 if single => Operand::Float32(exact as u32 ^ u32::from(negative) << 31),
            4 => Operand::Float32((value as f32).to_bits()),
            8 if single => Operand::Float64(value.to_bits()),
            8 => Operand::Float64(exact ^ u64::from(negative) << 63),
            _ => {
                return Err(Fault::invalid(
                    Span::default(),
                    "a floating-point constant does not fit this operand",
                ));
            }
        })
    }

    /// A register, an element of one, a special register, or the address of something.
    fn named(&mut self, frame: &mut Frame<'a>) -> Result<Operand> {
        let (name, span) = self.name("a name")?;
        if let Some((id, _, vector)) = frame.register(name) {
            return match self.token.kind {
                TokenKind::Dot => self.component(id, vector),
                _ => Ok(Operand::Register(id)),
            };
        }
        match name {
            "_" => return Ok(Operand::Sink),
            "WARP_SZ" => return Ok(Operand::Integer(32)),
            _ => {}
        }
        if name.starts_with('%') && frame.lookup(name).is_none() {
            let mut full = name.to_owned();
            if self.token.kind == TokenKind::Dot && self.token.span.start == span.end {
                full += self.word();
                self.advance();
            }
            let span = Span::new(span.start, self.last_end);
            return self.special(&full, span);
        }
        let symbol = self.symbol(frame, name, span)?;
        let offset = match self.token.kind {
            kind if kind == sign(b'+') || kind == sign(b'-') => self.constant()?,
            kind if kind == sign(b'[') => self.index(frame, symbol, name)?,
            _ => 0,
        };
        Ok(Operand::Symbol(symbol, offset))
    }

    fn component(&mut self, id: crate::ir::RegisterId, vector: u8) -> Result<Operand> {
        let element = match self.word() {
            ".x" | ".r" => 0,
            ".y" | ".g" => 1,
            ".z" | ".b" => 2,
            ".w" | ".a" => 3,
            ".b0" | ".b1" | ".b2" | ".b3" | ".h0" | ".h1" => {
                return Err(Fault::unsupported(
                    self.token.span,
                    "selectors of video instructions are not supported",
                ));
            }
            _ => return Err(self.unexpected("an element such as .x")),
        };
        if vector == 1 || element >= vector {
            return Err(Fault::invalid(
                self.token.span,
                format!("the register has no element {}", self.word()),
            ));
        }
        self.advance();
        Ok(Operand::Component(id, element))
    }

    fn special(&self, name: &str, span: Span) -> Result<Operand> {
        let Some(special) = SpecialRegister::from_text(name) else {
            return Err(match SpecialRegister::is_known_elsewhere(name) {
                true => Fault::unsupported(span, format!("the special register '{name}' is not supported")),
                false => Fault::invalid(span, format!("'{}' has not been declared", shorten(name))),
            });
        };
        if special.since() > self.module.version {
            return Err(Fault::invalid(span, format!("'{name}' needs PTX {}", special.since())));
        }
        Ok(Operand::Special(special))
    }

    fn symbol(&self, frame: &Frame<'a>, name: &str, span: Span) -> Result<Symbol> {
        let symbol = match frame.lookup(name) {
            Some(Binding::Symbol(symbol)) => Some(symbol),
            _ => self.globals.get(name).copied(),
        };
        symbol.ok_or_else(|| Fault::invalid(span, format!("'{}' has not been declared", shorten(name))))
    }

    /// `[base]`, `[base+offset]`, `[offset]`, and `array[index]`
    fn address(&mut self, frame: &mut Frame<'a>) -> Result<Operand> {
        if self.token.kind == TokenKind::Name && self.lexer.clone().next().kind == sign(b'[') {
            let span = self.token.span;
            return match self.named(frame)? {
                Operand::Symbol(symbol, offset) => Ok(Operand::Address(Base::Symbol(symbol), offset)),
                _ => Err(Fault::invalid(span, "an address stands in brackets, or is an array's element")),
            };
        }
        self.expect(b'[', "before an address")?;
        let operand = if self.token.kind == TokenKind::Name {
            let span = self.token.span;
            match self.named(frame)? {
                Operand::Register(id) => {
                    let offset = if self.at(b'+') || self.at(b'-') { self.constant()? } else { 0 };
                    Operand::Address(Base::Register(id), offset)
                }
                Operand::Symbol(..) if self.source.as_bytes()[self.last_end as usize - 1] == b']' => {
                    return Err(Fault::invalid(span, "an array's element has no other brackets around it"));
                }
                Operand::Symbol(symbol, offset) => Operand::Address(Base::Symbol(symbol), offset),
                Operand::Integer(offset) => Operand::Address(Base::Absolute, offset),
                _ => return Err(Fault::invalid(span, "an address is a register, a variable or a number")),
            }
        } else {
            Operand::Address(Base::Absolute, self.constant()?)
        };
        if self.at(b',') {
            return Err(Fault::unsupported(self.token.span, "addresses of textures are not supported"));
        }
        self.expect(b']', "after an address")?;
        Ok(operand)
    }

    fn vector(&mut self, frame: &mut Frame<'a>, ty: Option<Type>) -> Result<Operand> {
        let open = self.advance().span;
        let mut elements = std::mem::take(&mut self.scratch.elements);
        elements.clear();
        let result = loop {
            if self.at(b'{') || elements.len() == 8 {
                break Err(self.unexpected("a vector of up to eight elements"));
            }
            match self.operand(frame, ty) {
                Ok(operand) => elements.push(operand),
                Err(fault) => break Err(fault),
            }
            if !self.eat(b',') {
                break self.expect(b'}', "after a vector");
            }
        };
        let first = frame.body.operands.len() as u32;
        let length = elements.len() as u8;
        frame.body.operands.extend_from_slice(&elements);
        self.scratch.elements = elements;
        result.map_err(|mut fault| {
            if fault.span == Span::default() {
                fault.span = open;
            }
            fault
        })?;
        Ok(Operand::Vector { first, length })
    }

    /// `(results), callee, (arguments), prototype`: always four operands.
    fn call(
        &mut self,
        frame: &mut Frame<'a>,
        given: &mut Vec<Operand>,
        labels: &mut [Option<(u32, &'a str, Span)>; 2],
    ) -> Result<()> {
        let results = if self.at(b'(') {
            let results = self.call_list(frame)?;
            self.expect(b',', "after the results of a call")?;
            results
        } else {
            Operand::List { first: 0, length: 0 }
        };
        let (name, span) = self.name("the function to call")?;
        let callee = match frame.register(name) {
            Some((id, _, _)) => Operand::Register(id),
            None => match self.symbol(frame, name, span)? {
                Symbol::Function(id) => Operand::Function(id),
                _ => return Err(Fault::invalid(span, format!("'{name}' is no function"))),
            },
        };
        let mut arguments = Operand::List { first: 0, length: 0 };
        let mut more = self.eat(b',');
        if more && self.at(b'(') {
            arguments = self.call_list(frame)?;
            more = self.eat(b',');
        }
        given.extend([results, callee, arguments, Operand::Absent]);
        if more {
            let (name, span) = self.name("the prototype of an indirect call")?;
            labels[0] = Some((3, name, span));
        } else if matches!(callee, Operand::Register(_)) {
            return Err(Fault::invalid(span, format!("the call through '{name}' has no prototype")));
        }
        Ok(())
    }

    fn call_list(&mut self, frame: &mut Frame<'a>) -> Result<Operand> {
        self.advance();
        let mut elements = Vec::new();
        while !self.eat(b')') {
            if !elements.is_empty() {
                self.expect(b',', "between arguments")?;
            }
            elements.push(self.operand(frame, None)?);
        }
        let first = frame.body.operands.len() as u32;
        frame.body.operands.extend_from_slice(&elements);
        // The empty list has one form, whatever was written.
        let first = if elements.is_empty() { 0 } else { first };
        Ok(Operand::List { first, length: elements.len() as u32 })
    }
}

/// Puts the given operands to the positions that are expected, `Absent` where an
/// optional one is left out.
fn place(given: &[Operand], expected: &[forms::Expected], op: Op, into: &mut Vec<Operand>) -> Result<()> {
    if op == Op::Call || given.len() == expected.len() {
        into.extend_from_slice(given);
        return Ok(());
    }
    let required = expected.iter().filter(|expected| !expected.optional).count();
    // The second of a pair is always there, perhaps as `Absent`.
    let pairs = expected.iter().filter(|expected| expected.role == Role::SecondDestination).count();
    let least = required + pairs;
    if given.len() < least || given.len() > expected.len() {
        let most = expected.len() - pairs;
        let wanted = if required == most { most.to_string() } else { format!("{required} to {most}") };
        let (count, plural) =
            (given.len().saturating_sub(pairs.min(given.len() / 2)), if most == 1 { "" } else { "s" });
        let message = format!("'{op}' takes {wanted} operand{plural} here, not {count}");
        return Err(Fault::invalid(Span::default(), message));
    }
    let mut spare = given.len() - least;
    let mut given = given.iter();
    for expected in expected {
        let optional = expected.optional && expected.role != Role::SecondDestination;
        if optional && spare == 0 {
            into.push(Operand::Absent);
            continue;
        }
        spare -= usize::from(optional);
        into.push(*given.next().unwrap_or(&Operand::Absent));
    }
    Ok(())
}
