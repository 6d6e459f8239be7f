//! Checks what the grammar does not: operand types, state spaces, signatures of calls.
//!
//! It works on a finished module, so it also serves for modules that a program builds.
//! What each operand must be stands in the opcode's [`Expected`] list, which the form
//! table gave.

use crate::error::{Fault, Span};
use crate::forms::{Expected, Opcode, Role};
use crate::ir::{Base, Body, Function, FunctionId, Instruction, Module, Operand, Register, Symbol, Variable};
use crate::op::Op;
use crate::types::{StateSpace, Type, TypeClass};

type Check = std::result::Result<(), String>;

/// A part of a matrix has braces even if it is one register.
const FRAGMENT: &str = "one value where registers in braces are expected";

/// Adds the faults of `module`, at most `most` of them.
pub(crate) fn verify(module: &Module, most: usize, faults: &mut Vec<Fault>) {
    for index in 0..module.functions.len() {
        function(module, FunctionId(index as u32), most, faults);
    }
    aliases(module, faults);
    faults.truncate(most);
}

/// Adds the faults of a function, up to `most` in all.
pub(crate) fn function(module: &Module, id: FunctionId, most: usize, faults: &mut Vec<Fault>) {
    let function = &module.functions[id.index()];
    let Some(body) = &function.body else { return };
    let verifier = Verifier { module, function, body };
    for instruction in &body.instructions {
        if faults.len() >= most {
            return;
        }
        if let Err(message) = verifier.instruction(instruction) {
            let opcode = module.opcode(instruction);
            let span = instruction.origin.0;
            faults.push(Fault::invalid(span, format!("'{opcode}': {message}")));
        }
    }
    if function.entry && !function.returns.is_empty() {
        let message = format!("the kernel '{}' returns something", function.name);
        faults.push(Fault::invalid(function.origin.0, message));
    }
}

/// Adds the faults of aliases.
pub(crate) fn aliases(module: &Module, faults: &mut Vec<Fault>) {
    for alias in &module.aliases {
        if module.functions[alias.target.index()].body.is_none() {
            let name = &module.functions[alias.target.index()].name;
            let message = format!("an alias of '{name}', which is not defined here");
            faults.push(Fault::invalid(Span::default(), message));
        }
    }
}

struct Verifier<'m> {
    module: &'m Module,
    function: &'m Function,
    body: &'m Body,
}

impl Verifier<'_> {
    fn instruction(&self, instruction: &Instruction) -> Check {
        let opcode = self.module.opcode(instruction);
        let operands = self.body.operands(instruction);
        if opcode.op == Op::Call {
            return self.call(operands);
        }
        for (position, (&operand, expected)) in operands.iter().zip(&opcode.expected).enumerate() {
            let checked = match expected.role {
                Role::Address => self.address(operand, opcode, position),
                _ => self.operand(operand, expected, opcode),
            };
            checked.map_err(|message| format!("operand {}: {message}", position + 1))?;
        }
        match opcode.op {
            Op::Lop3 => {
                let table = opcode.expected.iter().position(|expected| expected.role == Role::Constant);
                range(operands[table.unwrap_or(0)], 0, 255)
            }
            Op::Cp if operands.len() == 4 => self.copy_size(operands, opcode),
            Op::Bar | Op::Barrier => self.barrier(operands, opcode),
            Op::Alloca => match operands[2] {
                Operand::Integer(align) if align <= 0 || !(align as u64).is_power_of_two() => {
                    Err(format!("the alignment {align} is no power of two"))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn operand(&self, operand: Operand, expected: &Expected, opcode: &Opcode) -> Check {
        let writes = expected.role.writes();
        match operand {
            Operand::Absent if expected.optional => Ok(()),
            Operand::Absent => Err("is missing".to_owned()),
            Operand::Sink if expected.sink && !(expected.role.takes_vectors() && opcode.vector() > 1) => {
                Ok(())
            }
            Operand::Sink => Err("'_' is not allowed".to_owned()),
            Operand::Block(_) if expected.role == Role::Label => Ok(()),
            Operand::Targets(_) if expected.role == Role::Targets => Ok(()),
            Operand::Block(_) | Operand::Targets(_) | Operand::Prototype(_) => {
                Err("this label marks something else".to_owned())
            }
            Operand::Register(id) => {
                if expected.role == Role::Constant {
                    return Err("must be a constant".to_owned());
                }
                self.register(self.body.register(id), expected, opcode)
            }
            Operand::Negated(id) if expected.negatable => {
                self.register(self.body.register(id), expected, opcode)
            }
            Operand::Negated(_) => Err("'!' is not allowed".to_owned()),
            Operand::Component(id, _) => {
                let register = Register { vector: 1, ..self.body.register(id) };
                self.register(register, expected, opcode)
            }
            Operand::Vector { .. } => self.vector(operand, expected, opcode),
            _ if expected.role.takes_vectors() && opcode.vector() > 1 => {
                Err(format!("one value where a vector of {} is expected", opcode.vector()))
            }
            _ if expected.role.fragment().is_some() => Err(FRAGMENT.to_owned()),
            _ if writes => Err("must be a register".to_owned()),
            Operand::Special(special) => match expected.ty {
                Some(ty)
                    if matches!(ty.class(), TypeClass::Float | TypeClass::Predicate)
                        || !special.reads_as(ty) =>
                {
                    Err(format!("{special} is of type .{}, not .{ty}", special.ty()))
                }
                _ => Ok(()),
            },
            Operand::Integer(_) => match expected.ty {
                Some(ty) if ty.class() == TypeClass::Float => {
                    Err(format!("an integer where type .{ty} is expected"))
                }
                _ => Ok(()),
            },
            Operand::Float32(_) | Operand::Float64(_) => {
                let size = if matches!(operand, Operand::Float32(_)) { 4 } else { 8 };
                match expected.ty {
                    Some(ty)
                        if ty.size() != size || !matches!(ty.class(), TypeClass::Float | TypeClass::Bits) =>
                    {
                        Err(format!("a floating-point constant where type .{ty} is expected"))
                    }
                    _ => Ok(()),
                }
            }
            Operand::Symbol(symbol, _) => self.symbol(symbol, expected, opcode),
            Operand::Address(..) => Err("an address in brackets is not allowed".to_owned()),
            Operand::List { .. } | Operand::Function(_) => Err("is not allowed".to_owned()),
        }
    }

    fn register(&self, register: Register, expected: &Expected, opcode: &Opcode) -> Check {
        // GCC moves whole vector registers.
        let elements = if opcode.op == Op::Mov { opcode.vector() } else { 1 };
        let vector = match expected.role {
            Role::VectorDestination | Role::VectorSource => opcode.vector(),
            Role::FragmentDestination(registers) | Role::FragmentSource(registers) => registers.into(),
            _ => elements,
        };
        if vector == 1 && expected.role.fragment().is_some() {
            return Err(FRAGMENT.to_owned());
        }
        // It also packs one into a value, or unpacks a value into one, by name.
        let moves = matches!(expected.role, Role::MoveDestination | Role::MoveSource) && vector == 1;
        if let Some(ty) = expected.ty
            && moves
            && register.vector > 1
            && ty.class() == TypeClass::Bits
            && u32::from(register.vector) * register.ty.size() == ty.size()
        {
            return Ok(());
        }
        if usize::from(register.vector) != vector {
            return Err(match (register.vector, vector) {
                (1, wanted) => format!("one register where a vector of {wanted} is expected"),
                (got, _) => format!("a register of {got} elements is not expected here"),
            });
        }
        let Some(ty) = expected.ty else {
            let address = matches!(register.ty.size(), 4 | 8) && register.ty.class() != TypeClass::Float;
            return if address { Ok(()) } else { Err(format!("type .{} is no address", register.ty)) };
        };
        let fits = match expected.relaxed {
            true => ty.accepts_wider(register.ty, !expected.role.writes()),
            false => ty.accepts(register.ty),
        };
        if fits {
            Ok(())
        } else {
            Err(format!("a register of type .{} where .{ty} is expected", register.ty))
        }
    }

    fn vector(&self, operand: Operand, expected: &Expected, opcode: &Opcode) -> Check {
        let elements = self.body.elements(operand);
        let Some(ty) = expected.ty else { return Err("a vector is not allowed".to_owned()) };
        let writes = expected.role.writes();
        let (count, element, relaxed) = match expected.role {
            Role::VectorDestination | Role::VectorSource => (opcode.vector(), ty, true),
            Role::FragmentDestination(registers) | Role::FragmentSource(registers) => {
                (registers.into(), ty, false)
            }
            Role::MoveDestination | Role::MoveSource if opcode.vector() > 1 => (opcode.vector(), ty, false),
            // Packing: two or four parts make one value.
            Role::MoveDestination | Role::MoveSource => {
                let size = ty.size() / elements.len().max(1) as u32;
                let part = match size {
                    1 => Type::B8,
                    2 => Type::B16,
                    4 => Type::B32,
                    8 => Type::B64,
                    _ => return Err(format!("{} parts do not make a value of type .{ty}", elements.len())),
                };
                if ty.class() != TypeClass::Bits || !matches!(elements.len(), 2 | 4) {
                    return Err(format!("{} parts do not make a value of type .{ty}", elements.len()));
                }
                (elements.len(), part, false)
            }
            _ => return Err("a vector is not allowed".to_owned()),
        };
        if count == 1 && expected.role.fragment().is_none() {
            return Err("a vector, but the instruction has no .v2 or .v4".to_owned());
        }
        if elements.len() != count {
            return Err(format!("a vector of {}, not {count}", elements.len()));
        }
        let accesses = matches!(expected.role, Role::VectorDestination | Role::VectorSource);
        if accesses && count * ty.size() as usize > 16 {
            return Err("an access of more than 16 bytes".to_owned());
        }
        let role = if writes { Role::Destination } else { Role::Source };
        let each =
            Expected { role, ty: Some(element), relaxed, optional: false, sink: writes, negatable: false };
        // An element is one register whatever the instruction's vector is.
        elements.iter().try_for_each(|&operand| match operand {
            Operand::Vector { .. } => Err("a vector in a vector".to_owned()),
            Operand::Register(id) if self.body.register(id).vector == 1 => {
                self.element_register(self.body.register(id), &each)
            }
            other => self.operand(other, &each, opcode),
        })
    }

    fn element_register(&self, register: Register, expected: &Expected) -> Check {
        let Some(ty) = expected.ty else { return Ok(()) };
        let writes = expected.role.writes();
        let fits =
            if expected.relaxed { ty.accepts_wider(register.ty, !writes) } else { ty.accepts(register.ty) };
        if fits {
            Ok(())
        } else {
            Err(format!("a register of type .{} where .{ty} is expected", register.ty))
        }
    }

    /// A name as a value: its address.
    fn symbol(&self, symbol: Symbol, expected: &Expected, opcode: &Opcode) -> Check {
        if expected.role != Role::MoveSource {
            return Err("the address of a variable is not allowed; use mov first".to_owned());
        }
        if let Some(ty) = expected.ty
            && (!matches!(ty.size(), 4 | 8) || ty.class() == TypeClass::Float)
        {
            return Err(format!("an address does not fit type .{ty}"));
        }
        if opcode.op == Op::Cvta
            && let Some(variable) = self.module.variable_of(self.function, symbol)
        {
            return same_space(variable, opcode.space());
        }
        Ok(())
    }

    fn address(&self, operand: Operand, opcode: &Opcode, position: usize) -> Check {
        let Operand::Address(base, _) = operand else {
            return Err("must be an address in brackets".to_owned());
        };
        // `cp.async` reads from global memory what it writes to shared memory.
        let space = match (opcode.op, position) {
            (Op::Cp, 0) => StateSpace::Shared,
            (Op::Cp, _) => StateSpace::Global,
            _ => opcode.space(),
        };
        match base {
            Base::Absolute => Ok(()),
            Base::Register(id) => {
                let register = self.body.register(id);
                let fits = register.vector == 1
                    && matches!(register.ty.size(), 4 | 8)
                    && matches!(
                        register.ty.class(),
                        TypeClass::Bits | TypeClass::Unsigned | TypeClass::Signed
                    );
                if fits { Ok(()) } else { Err(format!("a register of type .{} is no address", register.ty)) }
            }
            Base::Symbol(symbol) => match self.module.variable_of(self.function, symbol) {
                Some(variable) => same_space(variable, space),
                None => Err("a function is not accessed by loads and stores".to_owned()),
            },
        }
    }

    fn copy_size(&self, operands: &[Operand], opcode: &Opcode) -> Check {
        let sizes: &[i64] = if opcode.has(crate::Word::Cg) { &[16] } else { &[4, 8, 16] };
        match operands[2] {
            Operand::Integer(size) if sizes.contains(&size) => Ok(()),
            _ => Err(format!("operand 3: the size is one of {sizes:?}")),
        }
    }

    fn barrier(&self, operands: &[Operand], opcode: &Opcode) -> Check {
        if opcode.has(crate::Word::Warp) {
            return Ok(());
        }
        let first = usize::from(opcode.has(crate::Word::Red));
        range(operands[first], 0, 15).map_err(|message| format!("the barrier: {message}"))?;
        match operands.get(first + 1) {
            Some(&Operand::Integer(threads)) if threads <= 0 || threads % 32 != 0 => {
                Err(format!("{threads} threads are no multiple of the warp's size"))
            }
            _ => Ok(()),
        }
    }

    fn call(&self, operands: &[Operand]) -> Check {
        let &[results, callee, arguments, prototype] = operands else {
            return Err("is incomplete".to_owned());
        };
        let (returns, parameters) = match (callee, prototype) {
            (Operand::Function(id), Operand::Absent) => {
                let function = &self.module.functions[id.index()];
                if function.entry {
                    return Err(format!("the kernel '{}' cannot be called", function.name));
                }
                (&function.returns, &function.parameters)
            }
            (Operand::Register(id), Operand::Prototype(prototype)) => {
                let register = self.body.register(id);
                if !matches!(register.ty.size(), 4 | 8) || register.ty.class() == TypeClass::Float {
                    return Err(format!("a register of type .{} holds no function", register.ty));
                }
                let prototype = &self.body.prototypes[prototype.index()];
                (&prototype.returns, &prototype.parameters)
            }
            _ => return Err("a direct call has no prototype, and an indirect call has one".to_owned()),
        };
        for (list, parameters, what) in [(results, returns, "results"), (arguments, parameters, "arguments")]
        {
            let list = self.body.elements(list);
            if list.len() != parameters.len() {
                return Err(format!("{} {what}, but the function has {}", list.len(), parameters.len()));
            }
            for (&argument, parameter) in list.iter().zip(parameters) {
                self.argument(argument, parameter, what == "results")?;
            }
        }
        Ok(())
    }

    fn argument(&self, argument: Operand, parameter: &Variable, result: bool) -> Check {
        let expected = Expected {
            role: if result { Role::Destination } else { Role::Source },
            ty: Some(parameter.ty),
            relaxed: false,
            optional: false,
            sink: result,
            negatable: false,
        };
        match argument {
            Operand::Symbol(symbol, 0) => {
                let Some(variable) = self.module.variable_of(self.function, symbol) else {
                    return Err("a function is passed; pass its address in a register".to_owned());
                };
                if variable.space.plain() != StateSpace::Param {
                    return Err(format!("'{}' is passed, which is no .param variable", variable.name));
                }
                match (variable.size(), parameter.size()) {
                    (Some(got), Some(wanted)) if got != wanted => {
                        Err(format!("'{}' has {got} bytes, and the parameter has {wanted}", variable.name))
                    }
                    _ => Ok(()),
                }
            }
            Operand::Register(id) => {
                let register = self.body.register(id);
                if register.vector != 1 || !parameter.dimensions.is_empty() {
                    return Err("a register is passed for an array".to_owned());
                }
                self.element_register(register, &expected)
            }
            Operand::Integer(_) if !result && parameter.ty.class() != TypeClass::Float => Ok(()),
            Operand::Float32(_) if !result && parameter.ty.size() == 4 => Ok(()),
            Operand::Float64(_) if !result && parameter.ty.size() == 8 => Ok(()),
            Operand::Sink if result => Ok(()),
            _ => Err("this cannot be passed".to_owned()),
        }
    }
}

/// A constant in a range; anything that is not constant passes.
fn range(operand: Operand, least: i64, most: i64) -> Check {
    match operand {
        Operand::Integer(value) if !(least..=most).contains(&value) => {
            Err(format!("{value} is not between {least} and {most}"))
        }
        _ => Ok(()),
    }
}

fn same_space(variable: &Variable, space: StateSpace) -> Check {
    let own = variable.space.plain();
    // A generic access with a name: global addresses are generic ones as they are.
    let fits = own == space || (space == StateSpace::Generic && own == StateSpace::Global);
    match fits {
        true => Ok(()),
        false if space == StateSpace::Generic => {
            Err(format!("'{}' is in .{own}, which a generic access does not reach by name", variable.name))
        }
        false => Err(format!("'{}' is in .{own}, not in .{space}", variable.name)),
    }
}
