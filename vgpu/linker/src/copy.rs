//! Moves functions and initial values from an input into the result: ids of functions,
//! variables, opcodes and files become those of the result.
//!
//! `link` calls it for what it keeps. Everything that a kept body names
//! has been kept as well.

use gangway_ptx::{
    Base, Body, FunctionId, Initializer, Module, Op, Opcode, OpcodeId, Operand, SourceFile, Symbol,
    VariableId,
};
use rustc_hash::FxHashMap;

/// Where things of the inputs are in the result.
pub(crate) struct Numbers {
    pub functions: Vec<FunctionId>,
    pub variables: Vec<VariableId>,
}

/// Stands for what is not part of the result.
pub(crate) const DROPPED: u32 = u32::MAX;

pub(crate) struct Copier {
    inputs: Vec<Numbers>,
    /// How many results each function of the result has.
    results: Vec<usize>,
    /// The result's opcodes.
    opcodes: FxHashMap<Opcode, OpcodeId>,
    files: FxHashMap<Box<str>, u32>,
    /// Of the input whose bodies are copied: the ids of its opcodes and files.
    current: Option<u32>,
    opcode_ids: Vec<OpcodeId>,
    file_ids: FxHashMap<u32, u32>,
}

impl Copier {
    pub fn new(inputs: Vec<Numbers>, results: Vec<usize>) -> Self {
        Self {
            inputs,
            results,
            opcodes: FxHashMap::default(),
            files: FxHashMap::default(),
            current: None,
            opcode_ids: Vec::new(),
            file_ids: FxHashMap::default(),
        }
    }

    pub fn initializer(&self, input: u32, initializer: &mut Initializer) {
        for relocation in &mut initializer.relocations {
            relocation.symbol = self.symbol(input, relocation.symbol);
        }
    }

    /// Turns a body of `source` into one of `module`.
    pub fn body(&mut self, input: u32, body: &mut Body, source: &Module, module: &mut Module) {
        if self.current != Some(input) {
            self.current = Some(input);
            self.opcode_ids = vec![OpcodeId(DROPPED); source.opcodes.len()];
            self.file_ids.clear();
        }
        for instruction in &mut body.instructions {
            instruction.opcode = self.opcode(instruction.opcode, source, module);
        }
        for operand in &mut body.operands {
            match operand {
                Operand::Symbol(symbol, _) | Operand::Address(Base::Symbol(symbol), _) => {
                    *symbol = self.symbol(input, *symbol);
                }
                Operand::Function(id) => *id = self.function(input, *id),
                _ => {}
            }
        }
        for index in 0..body.instructions.len() {
            let instruction = &body.instructions[index];
            if module.opcode(instruction).op == Op::Call {
                let first = instruction.operands.start as usize;
                self.adapt_call(first, body);
            }
        }
        for initializer in body.variables.iter_mut().filter_map(|variable| variable.initializer.as_mut()) {
            self.initializer(input, initializer);
        }
        for location in &mut body.locations {
            location.file = self.file(location.file, source, module);
        }
    }

    /// Gives a direct call as many results as its function has. Callers may have declared it with a
    /// result that it does not have, or without the one that it has.
    fn adapt_call(&self, first: usize, body: &mut Body) {
        let (Operand::List { length, .. }, Operand::Function(id)) =
            (body.operands[first], body.operands[first + 1])
        else {
            return;
        };
        let wanted = self.results[id.index()];
        if length as usize != wanted {
            let list = Operand::List { first: body.operands.len() as u32, length: wanted as u32 };
            body.operands.extend(std::iter::repeat_n(Operand::Sink, wanted));
            body.operands[first] = list;
        }
    }

    fn symbol(&self, input: u32, symbol: Symbol) -> Symbol {
        match symbol {
            Symbol::Function(id) => Symbol::Function(self.function(input, id)),
            Symbol::Variable(id) => Symbol::Variable(self.variable(input, id)),
            Symbol::Local(_) | Symbol::Parameter(_) | Symbol::Return(_) => symbol,
        }
    }

    fn function(&self, input: u32, id: FunctionId) -> FunctionId {
        self.inputs[input as usize].functions[id.index()]
    }

    fn variable(&self, input: u32, id: VariableId) -> VariableId {
        self.inputs[input as usize].variables[id.index()]
    }

    /// Numbered in the order of their use, as the parser does it.
    fn opcode(&mut self, id: OpcodeId, source: &Module, module: &mut Module) -> OpcodeId {
        let known = self.opcode_ids[id.index()];
        if known != OpcodeId(DROPPED) {
            return known;
        }
        let opcode = &source.opcodes[id.index()];
        let new = match self.opcodes.get(opcode) {
            Some(&new) => new,
            None => {
                let new = OpcodeId(module.opcodes.len() as u32);
                module.opcodes.push(opcode.clone());
                self.opcodes.insert(opcode.clone(), new);
                new
            }
        };
        self.opcode_ids[id.index()] = new;
        new
    }

    /// One number per name, from 1; 0 for a number that the input says nothing about.
    fn file(&mut self, index: u32, source: &Module, module: &mut Module) -> u32 {
        if let Some(&new) = self.file_ids.get(&index) {
            return new;
        }
        let new = match source.files.iter().find(|file| file.index == index) {
            None => 0,
            Some(SourceFile { name, .. }) => match self.files.get(name) {
                Some(&new) => new,
                None => {
                    let new = module.files.len() as u32 + 1;
                    module.files.push(SourceFile { index: new, name: name.clone() });
                    self.files.insert(name.clone(), new);
                    new
                }
            },
        };
        self.file_ids.insert(index, new);
        new
    }
}
