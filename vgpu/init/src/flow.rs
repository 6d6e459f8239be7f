//! Which registers may hold something undefined. What is computed of parameters and special registers alone, as most
//! indices are, needs no shadow.

use gangway_ptx::meaning::{Control, ExchangeOperation};
use gangway_ptx::{Body, Function, Instruction, Meaning, Module, Operand, RegisterId, StateSpace};

/// What is known of a function's registers.
pub(crate) struct Flow {
    /// By register: it may be undefined.
    pub undefined: Vec<bool>,
    /// By register: it may be read where nothing has set it.
    pub unset: Vec<bool>,
}

/// The registers that an instruction writes.
pub(crate) fn results(module: &Module, body: &Body, instruction: &Instruction) -> Vec<RegisterId> {
    operands(module, body, instruction, true)
}

/// The registers that it reads, as values or addresses; without its guard.
pub(crate) fn sources(module: &Module, body: &Body, instruction: &Instruction) -> Vec<RegisterId> {
    operands(module, body, instruction, false)
}

fn operands(module: &Module, body: &Body, instruction: &Instruction, writes: bool) -> Vec<RegisterId> {
    use gangway_ptx::Base;
    let opcode = module.opcode(instruction);
    let all = body.operands(instruction);
    let mut found = Vec::new();
    let mut add = |operand: Operand| match operand {
        Operand::Register(id) | Operand::Negated(id) => found.push(id),
        Operand::Address(Base::Register(id), _) if !writes => found.push(id),
        _ => {}
    };
    if matches!(opcode.meaning, Meaning::Control(Control::Call)) {
        // Results, callee, arguments, prototype.
        for (index, &operand) in all.iter().enumerate() {
            if (index == 0) == writes {
                add(operand);
                body.elements(operand).iter().for_each(|&element| add(element));
            }
        }
        return found;
    }
    for (&operand, expected) in all.iter().zip(&opcode.expected) {
        if expected.role.writes() == writes {
            add(operand);
            body.elements(operand).iter().for_each(|&element| add(element));
        }
    }
    found
}

/// Whether a register has a shadow at all.
fn is_followed(body: &Body, id: RegisterId) -> bool {
    let register = body.register(id);
    register.vector == 1
        && (register.ty.bits() == 8) == (register.ty == gangway_ptx::Type::Pred)
        && register.ty.bits() <= 64
}

impl Flow {
    pub fn of(module: &Module, function: &Function, body: &Body) -> Self {
        let unset = unset(module, body);
        let mut flow = Self { undefined: unset.clone(), unset };
        loop {
            let mut changed = false;
            for instruction in &body.instructions {
                if flow.gives(module, function, body, instruction) {
                    for id in results(module, body, instruction) {
                        let undefined = &mut flow.undefined[id.index()];
                        changed |= !*undefined && is_followed(body, id);
                        *undefined |= is_followed(body, id);
                    }
                }
            }
            if !changed {
                return flow;
            }
        }
    }

    /// Whether what an instruction writes may be undefined.
    fn gives(&self, module: &Module, function: &Function, body: &Body, instruction: &Instruction) -> bool {
        let undefined = |id: RegisterId| self.undefined[id.index()];
        let guard = instruction.guard.is_some_and(|guard| undefined(guard.register));
        guard
            || match module.opcode(instruction).meaning {
                Meaning::Load(access) => match access.space.plain() {
                    StateSpace::Const => false,
                    StateSpace::Param | StateSpace::ParamEntry | StateSpace::ParamFunc => {
                        !reads_kernels(function, body.operands(instruction)[1])
                    }
                    _ => true,
                },
                Meaning::Atomic(_) | Meaning::Control(Control::Call) => true,
                Meaning::Exchange(exchange) => matches!(exchange.op, ExchangeOperation::Shuffle(_)),
                Meaning::Compute(_)
                | Meaning::Move { .. }
                | Meaning::ConvertAddress { .. }
                | Meaning::IsInSpace(_) => sources(module, body, instruction).into_iter().any(undefined),
                Meaning::Store(_)
                | Meaning::Copy(_)
                | Meaning::Stack(..)
                | Meaning::Control(_)
                | Meaning::Barrier(_)
                | Meaning::Matrix(_)
                | Meaning::ActiveMask
                | Meaning::Fence { .. }
                | Meaning::Hint(_) => false,
            }
    }
}

/// Whether an address in parameter space is one of a kernel's parameters.
pub(crate) fn reads_kernels(function: &Function, address: Operand) -> bool {
    use gangway_ptx::{Base, Symbol};
    match address {
        Operand::Address(Base::Symbol(Symbol::Parameter(_)), _) => function.entry,
        Operand::Address(Base::Symbol(_), _) => false,
        _ => true,
    }
}

/// The registers that may be read before anything is written to them. What a guard lets write counts as written.
fn unset(module: &Module, body: &Body) -> Vec<bool> {
    let (count, registers) = (body.blocks.len(), body.registers.len());
    // By block: what has been set before it on all ways; none where nothing leads to it as far as is known.
    let mut before: Vec<Option<Vec<bool>>> = vec![None; count];
    let mut unset = vec![false; registers];
    if count == 0 {
        return unset;
    }
    before[0] = Some(vec![false; registers]);
    let mut waiting = vec![0];
    while let Some(block) = waiting.pop() {
        let Some(mut set) = before[block].clone() else { continue };
        for index in body.blocks[block].instructions.clone() {
            for id in results(module, body, &body.instructions[index as usize]) {
                set[id.index()] = true;
            }
        }
        for next in successors(module, body, block) {
            let changed = match &mut before[next] {
                Some(known) => {
                    let mut changed = false;
                    for (known, set) in known.iter_mut().zip(&set) {
                        changed |= *known && !set;
                        *known &= set;
                    }
                    changed
                }
                empty => {
                    *empty = Some(set.clone());
                    true
                }
            };
            if changed {
                waiting.push(next);
            }
        }
    }
    for (block, before) in body.blocks.iter().zip(before) {
        let Some(mut set) = before else { continue };
        for index in block.instructions.clone() {
            let instruction = &body.instructions[index as usize];
            let guard = instruction.guard.map(|guard| guard.register);
            for id in sources(module, body, instruction).into_iter().chain(guard) {
                unset[id.index()] |= !set[id.index()] && is_followed(body, id);
            }
            for id in results(module, body, instruction) {
                set[id.index()] = true;
            }
        }
    }
    unset
}

pub(crate) fn successors(module: &Module, body: &Body, block: usize) -> Vec<usize> {
    let mut next = Vec::new();
    let mut falls = true;
    for index in body.blocks[block].instructions.clone() {
        let instruction = &body.instructions[index as usize];
        let Meaning::Control(control) = module.opcode(instruction).meaning else { continue };
        let operands = body.operands(instruction);
        match control {
            Control::Call => continue,
            Control::Branch => {
                if let Operand::Block(id) = operands[0] {
                    next.push(id.index());
                }
            }
            Control::BranchIndexed => {
                if let Operand::Targets(id) = operands[1] {
                    next.extend(body.targets[id.index()].blocks.iter().map(|id| id.index()));
                }
            }
            Control::Return | Control::Exit | Control::Trap => {}
        }
        falls &= instruction.guard.is_some();
    }
    if falls && block + 1 < body.blocks.len() {
        next.push(block + 1);
    }
    next
}
