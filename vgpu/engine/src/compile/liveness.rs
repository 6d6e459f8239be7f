//! Registers as engines keep them, and which of them live where blocks begin.
//!
//! A register with several elements is as many *slots*. A slot is written under a guard
//! without ending the life of what was in it.

use gangway_ptx::{Base, Body, Function, Instruction, Module, Op, Operand, RegisterId, Type};

use super::graph::{Block, End, Graph};
use super::layout::{Layout, Place};

/// The slots of a function: those of its registers, then those of scalar `.param` variables.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// The first slot of each register.
    first: Vec<u32>,
    pub types: Vec<Type>,
    pub layout: Layout,
}

impl Slots {
    pub fn new(module: &Module, function: &Function, body: &Body, symbols: u32) -> Slots {
        let (mut first, mut types) = (Vec::with_capacity(body.registers.len()), Vec::new());
        for register in &body.registers {
            first.push(types.len() as u32);
            types.extend((0..register.vector.max(1)).map(|_| register.ty));
        }
        let layout = Layout::new(module, function, body, types.len(), symbols);
        types.extend(&layout.slots);
        Slots { first, types, layout }
    }

    pub fn len(&self) -> usize {
        self.types.len()
    }

    pub fn of(&self, register: RegisterId, element: u8) -> u32 {
        self.first[register.index()] + u32::from(element)
    }
}

/// Tells which slots an instruction reads (`false`) and writes (`true`), its guard first.
pub(crate) fn accesses(
    module: &Module,
    body: &Body,
    slots: &Slots,
    instruction: &Instruction,
    tell: &mut dyn FnMut(u32, bool),
) {
    if let Some(guard) = instruction.guard {
        tell(slots.of(guard.register, 0), false);
    }
    let opcode = module.opcode(instruction);
    for (position, &operand) in body.operands(instruction).iter().enumerate() {
        let writes = match opcode.op {
            Op::Call => position == 0,
            _ => opcode.expected.get(position).is_some_and(|expected| expected.role.writes()),
        };
        let stores = opcode.op == Op::St && position == 0;
        visit(body, slots, operand, writes || stores, tell);
    }
}

fn visit(body: &Body, slots: &Slots, operand: Operand, writes: bool, tell: &mut dyn FnMut(u32, bool)) {
    match operand {
        Operand::Register(id) => {
            for element in 0..body.register(id).vector.max(1) {
                tell(slots.of(id, element), writes);
            }
        }
        Operand::Negated(id) => tell(slots.of(id, 0), writes),
        Operand::Component(id, element) => tell(slots.of(id, element), writes),
        Operand::Address(Base::Register(id), _) => tell(slots.of(id, 0), false),
        Operand::Address(Base::Symbol(symbol), _) | Operand::Symbol(symbol, _) => {
            if let Some(Place::Slot(slot)) = slots.layout.place(symbol) {
                tell(slot, writes);
            }
        }
        Operand::Vector { .. } | Operand::List { .. } => {
            for &element in body.elements(operand) {
                visit(body, slots, element, writes, tell);
            }
        }
        _ => {}
    }
}

/// A set of slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Set {
    words: Vec<u64>,
}

impl Set {
    pub fn new(slots: usize) -> Set {
        Set { words: vec![0; slots.div_ceil(64)] }
    }

    pub fn contains(&self, slot: u32) -> bool {
        self.words[slot as usize / 64] >> (slot % 64) & 1 != 0
    }

    pub fn insert(&mut self, slot: u32) {
        self.words[slot as usize / 64] |= 1 << (slot % 64);
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().zip(0u32..).flat_map(|(&word, index)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(64 * index + bit)
            })
        })
    }
}

/// What lives where.
#[derive(Clone, Debug)]
pub(crate) struct Liveness {
    /// The slots whose values each block needs from before.
    pub entering: Vec<Set>,
    /// The slots that live where any block begins.
    pub across: Set,
}

/// The instructions of a block with the one at its end; that one's guard is a branch elsewhere.
pub(crate) fn instructions(block: &Block) -> impl Iterator<Item = (u32, bool)> + '_ {
    let last = match block.end {
        End::Table { instruction, .. } | End::Barrier { instruction, .. } | End::Call { instruction, .. } => {
            Some((instruction, true))
        }
        _ => None,
    };
    let collective = block.collective;
    let first = block.instructions.start;
    block.instructions.clone().map(move |index| (index, collective && index == first)).chain(last)
}

impl Liveness {
    pub fn new(module: &Module, body: &Body, slots: &Slots, graph: &Graph) -> Liveness {
        let count = slots.len();
        let mut reads = Vec::with_capacity(graph.blocks.len());
        let mut writes = Vec::with_capacity(graph.blocks.len());
        for block in &graph.blocks {
            let (mut read, mut written) = (Set::new(count), Set::new(count));
            for (index, unguarded) in instructions(block) {
                let instruction = &body.instructions[index as usize];
                let guarded = instruction.guard.is_some() && !unguarded;
                accesses(module, body, slots, instruction, &mut |slot, write| {
                    if !write && !written.contains(slot) {
                        read.insert(slot);
                    }
                });
                accesses(module, body, slots, instruction, &mut |slot, write| {
                    if write && guarded && !written.contains(slot) {
                        read.insert(slot);
                    }
                    if write && !guarded {
                        written.insert(slot);
                    }
                });
            }
            if let End::Branch(guard, ..) = block.end
                && !written.contains(slots.of(guard.register, 0))
            {
                read.insert(slots.of(guard.register, 0));
            }
            reads.push(read);
            writes.push(written);
        }
        let mut entering = reads;
        let predecessors = graph.predecessors();
        let mut waiting: Vec<u32> = (0..graph.blocks.len() as u32).collect();
        let mut queued = vec![true; graph.blocks.len()];
        while let Some(number) = waiting.pop() {
            queued[number as usize] = false;
            let successors = graph.blocks[number as usize].end.successors();
            let mut changed = false;
            for to in successors {
                if to == number {
                    continue;
                }
                for word in 0..entering[number as usize].words.len() {
                    let comes = entering[to as usize].words[word] & !writes[number as usize].words[word];
                    let known = &mut entering[number as usize].words[word];
                    changed |= comes & !*known != 0;
                    *known |= comes;
                }
            }
            if changed {
                for &from in &predecessors[number as usize] {
                    if !std::mem::replace(&mut queued[from as usize], true) {
                        waiting.push(from);
                    }
                }
            }
        }
        let mut across = Set::new(count);
        for set in &entering {
            for (all, &word) in across.words.iter_mut().zip(&set.words) {
                *all |= word;
            }
        }
        Liveness { entering, across }
    }

    /// Whether a slot's value is needed behind a block.
    pub fn leaves(&self, block: &Block, slot: u32) -> bool {
        block.end.successors().iter().any(|&to| self.entering[to as usize].contains(slot))
    }
}
