//! Where a function's parameters and variables are while it runs.

use std::ops::Range;

use gangway_ptx::meaning::{Control, MemoryAccess};
use gangway_ptx::{Base, Body, Function, Meaning, Module, Operand, StateSpace, Symbol, Variable};
use gangway_simt::Place;

/// A parameter that is copied between local memory and the caller's pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copied {
    /// The number of the pointer, or the offset in the kernel's parameters.
    pub from: u32,
    /// The offset from the frame in local memory.
    pub local: u32,
    pub size: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub parameters: Vec<Place>,
    pub returns: Vec<Place>,
    pub variables: Vec<Place>,
    /// What is copied to local memory on entry, and back on return.
    pub enters: Vec<Copied>,
    pub leaves: Vec<Copied>,
    /// The types of slots beyond those of registers.
    pub slots: Vec<gangway_ptx::Type>,
    /// Bytes of local memory.
    pub local: u32,
}

/// Whether a parameter is passed as values of 32 lanes, not as copies of an array.
pub(crate) fn is_scalar(variable: &Variable) -> bool {
    variable.dimensions.is_empty() && variable.vector == 1 && variable.ty.size() <= 8
}

/// How a function's named things are used.
struct Uses {
    /// By symbol: whether it is only ever loaded, stored and passed as a whole.
    parameters: Vec<bool>,
    returns: Vec<bool>,
    variables: Vec<bool>,
    /// By parameter: whether loads by name are all there is.
    loaded: Vec<bool>,
}

impl Uses {
    fn new(module: &Module, function: &Function, body: &Body) -> Self {
        let mut uses = Uses {
            parameters: function.parameters.iter().map(is_scalar).collect(),
            returns: function.returns.iter().map(is_scalar).collect(),
            variables: body.variables.iter().map(is_scalar).collect(),
            loaded: vec![true; function.parameters.len()],
        };
        for instruction in &body.instructions {
            let opcode = module.opcode(instruction);
            if opcode.meaning == Meaning::Control(Control::Call) {
                uses.call(module, body, body.operands(instruction));
            }
            for &operand in body.operands(instruction) {
                match operand {
                    Operand::Symbol(symbol, _) => uses.taken(symbol),
                    Operand::Address(Base::Symbol(symbol), offset) => {
                        let plain =
                            |access: &&MemoryAccess| !access.uniform && access.vector == 1 && offset == 0;
                        let size = opcode.meaning.access().filter(plain).map(|access| access.ty.size());
                        let variable = module.variable_of(function, symbol);
                        if variable.is_none_or(|variable| Some(variable.ty.size()) != size) {
                            uses.partly(symbol);
                        }
                        let loads = matches!(opcode.meaning, Meaning::Load(access) if !access.uniform);
                        if !loads && let Symbol::Parameter(index) = symbol {
                            uses.loaded[index as usize] = false;
                        }
                    }
                    _ => {}
                }
            }
        }
        uses
    }

    /// What is passed as an array has to be one here as well.
    fn call(&mut self, module: &Module, body: &Body, operands: &[Operand]) {
        let (returns, parameters) = match (operands[1], operands[3]) {
            (Operand::Function(id), _) => {
                let callee = &module.functions[id.index()];
                (&callee.returns, &callee.parameters)
            }
            (_, Operand::Prototype(id)) => {
                let prototype = &body.prototypes[id.index()];
                (&prototype.returns, &prototype.parameters)
            }
            _ => return,
        };
        for (list, variables) in [(operands[0], returns), (operands[2], parameters)] {
            for (&operand, variable) in body.elements(list).iter().zip(variables) {
                if let Operand::Symbol(symbol, _) = operand
                    && !is_scalar(variable)
                {
                    self.taken(symbol);
                }
            }
        }
    }

    fn partly(&mut self, symbol: Symbol) {
        match symbol {
            Symbol::Parameter(index) => self.parameters[index as usize] = false,
            Symbol::Return(index) => self.returns[index as usize] = false,
            Symbol::Local(index) => self.variables[index as usize] = false,
            Symbol::Variable(_) | Symbol::Function(_) => {}
        }
    }

    fn taken(&mut self, symbol: Symbol) {
        self.partly(symbol);
        if let Symbol::Parameter(index) = symbol {
            self.loaded[index as usize] = false;
        }
    }
}

/// Where each parameter of a kernel is in the launch's parameters.
pub(crate) fn parameter_offsets(function: &Function) -> Vec<Range<u32>> {
    let mut end = 0;
    let place = |parameter: &Variable| {
        let start = u32::next_multiple_of(end, parameter.align.max(1));
        end = start + parameter.size().unwrap_or(0) as u32;
        start..end
    };
    function.parameters.iter().map(place).collect()
}

impl Layout {
    /// `registers` is how many slots registers have; `symbols` the index of the function's first
    /// variable in the table of symbols.
    #[must_use]
    pub fn new(module: &Module, function: &Function, body: &Body, registers: usize, symbols: u32) -> Self {
        let uses = Uses::new(module, function, body);
        let mut layout = Layout {
            parameters: Vec::new(),
            returns: Vec::new(),
            variables: Vec::new(),
            enters: Vec::new(),
            leaves: Vec::new(),
            slots: Vec::new(),
            local: 0,
        };
        let offsets = parameter_offsets(function);
        for (index, parameter) in function.parameters.iter().enumerate() {
            let place = if function.entry && uses.loaded[index] {
                Place::Parameter(offsets[index].start)
            } else if !function.entry && uses.parameters[index] {
                Place::Argument(index as u32)
            } else {
                let local = layout.reserve(parameter);
                let from = if function.entry { offsets[index].start } else { index as u32 };
                layout.enters.push(Copied { from, local, size: parameter.size().unwrap_or(0) as u32 });
                Place::Local(local)
            };
            layout.parameters.push(place);
        }
        for (index, parameter) in function.returns.iter().enumerate() {
            let from = (function.parameters.len() + index) as u32;
            let place = if uses.returns[index] {
                Place::Argument(from)
            } else {
                let local = layout.reserve(parameter);
                layout.leaves.push(Copied { from, local, size: parameter.size().unwrap_or(0) as u32 });
                Place::Local(local)
            };
            layout.returns.push(place);
        }
        for (index, variable) in body.variables.iter().enumerate() {
            let place = match variable.space.plain() {
                StateSpace::Param if uses.variables[index] => {
                    layout.slots.push(variable.ty);
                    Place::Slot((registers + layout.slots.len() - 1) as u32)
                }
                StateSpace::Local | StateSpace::Param => Place::Local(layout.reserve(variable)),
                _ => Place::Symbol(symbols + index as u32),
            };
            layout.variables.push(place);
        }
        layout
    }

    fn reserve(&mut self, variable: &Variable) -> u32 {
        let offset = self.local.next_multiple_of(variable.align.max(1));
        self.local = offset + variable.size().unwrap_or(0) as u32;
        offset
    }

    /// Where a symbol is.
    #[must_use]
    pub fn place(&self, symbol: Symbol) -> Place {
        match symbol {
            Symbol::Variable(id) => Place::Symbol(id.0),
            Symbol::Function(id) => Place::Function(id.0),
            Symbol::Local(index) => self.variables[index as usize],
            Symbol::Parameter(index) => self.parameters[index as usize],
            Symbol::Return(index) => self.returns[index as usize],
        }
    }
}
