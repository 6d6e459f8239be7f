//! Registers as engines keep them, and which of them live where blocks begin.
//!
//! A register with several elements is as many *slots*. A slot is written under a guard
//! without ending the life of what was in it.

use gangway_ptx::meaning::Control;
use gangway_ptx::{Base, Body, Function, Instruction, Meaning, Module, Operand, RegisterId, Type};

use crate::analysis::graph::{Block, End, Graph};
use crate::analysis::layout::{Layout, Place};

/// The slots of a function: those of its registers, then those of scalar `.param` variables.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// The first slot of each register.
    first: Vec<u32>,
    pub types: Vec<Type>,
    pub layout: Layout,
}

impl Slots {
    #[must_use]
    pub fn new(module: &Module, function: &Function, body: &Body, symbols: u32) -> Self {
        let (mut first, mut types) = (Vec::with_capacity(body.registers.len()), Vec::new());
        for register in &body.registers {
            first.push(types.len() as u32);
            types.extend((0..register.vector.max(1)).map(|_| register.ty));
        }
        let layout = Layout::new(module, function, body, types.len(), symbols);
        types.extend(&layout.slots);
        Slots { first, types, layout }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.types.len()
    }

    #[must_use]
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
        let writes = match opcode.meaning {
            // A store may be to a variable that is a slot.
            Meaning::Control(Control::Call) | Meaning::Store(_) => position == 0,
            _ => opcode.expected.get(position).is_some_and(|expected| expected.role.writes()),
        };
        visit(body, slots, operand, writes, tell);
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
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Set { words: vec![0; slots.div_ceil(64)] }
    }

    #[must_use]
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

/// Slots, each once, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listed {
    list: Vec<u32>,
    is_in: Vec<bool>,
}

impl Listed {
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Listed { list: Vec::new(), is_in: vec![false; slots] }
    }

    pub fn insert(&mut self, slot: u32) {
        if !std::mem::replace(&mut self.is_in[slot as usize], true) {
            self.list.push(slot);
        }
    }

    #[must_use]
    pub fn contains(&self, slot: u32) -> bool {
        self.is_in[slot as usize]
    }

    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.list
    }

    /// Empties it; what was in it.
    pub fn take(&mut self) -> Vec<u32> {
        for &slot in &self.list {
            self.is_in[slot as usize] = false;
        }
        std::mem::take(&mut self.list)
    }
}

/// What lives where.
#[derive(Clone, Debug)]
pub(crate) struct Liveness {
    /// The slots whose values each block needs from before, in their order.
    entering: Vec<Vec<u32>>,
    /// The slots that live where any block begins.
    pub across: Set,
}

/// How many slots may live at the beginnings of all blocks together.
const MOST: usize = 1 << 24;

/// The instructions of a block with the one at its end; that one's guard is a branch elsewhere.
pub(crate) fn instructions(block: &Block) -> impl Iterator<Item = (u32, bool)> + '_ {
    let last = match block.end {
        End::Table { instruction, .. } | End::Barrier { instruction, .. } | End::Call { instruction, .. } => {
            Some((instruction, true))
        }
        _ => None,
    };
    let collective = block.collective.is_some();
    let first = block.instructions.start;
    block.instructions.clone().map(move |index| (index, collective && index == first)).chain(last)
}

/// What blocks read before they write it, and what they write whatever guards say: pairs of slot
/// and block.
struct Touched {
    reads: Vec<(u32, u32)>,
    writes: Vec<(u32, u32)>,
}

impl Touched {
    fn new(module: &Module, body: &Body, slots: &Slots, graph: &Graph) -> Self {
        let mut touched = Touched { reads: Vec::new(), writes: Vec::new() };
        let (mut read, mut written) = (Listed::new(slots.len()), Listed::new(slots.len()));
        for (block, number) in graph.blocks.iter().zip(0u32..) {
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
            if let End::Branch(guard, ..) = block.end {
                let slot = slots.of(guard.register, 0);
                if !written.contains(slot) {
                    read.insert(slot);
                }
            }
            touched.reads.extend(read.take().into_iter().map(|slot| (slot, number)));
            touched.writes.extend(written.take().into_iter().map(|slot| (slot, number)));
        }
        touched.reads.sort_unstable();
        touched.writes.sort_unstable();
        touched
    }
}

impl Liveness {
    /// Goes from each read backwards to where the slot is written: so it costs what it finds. None
    /// if that is too much.
    #[must_use]
    pub fn new(module: &Module, body: &Body, slots: &Slots, graph: &Graph) -> Option<Self> {
        let touched = Touched::new(module, body, slots, graph);
        let predecessors = graph.predecessors();
        let mut entering = vec![Vec::new(); graph.blocks.len()];
        let mut across = Set::new(slots.len());
        // By block: one more than the slot that is written there, or found to enter.
        let (mut writes, mut enters) = (vec![0; graph.blocks.len()], vec![0; graph.blocks.len()]);
        let mut found = 0;
        let mut steps = touched.reads.len() + touched.writes.len();
        let mut writers = touched.writes.iter().peekable();
        let mut waiting = Vec::new();
        for &(slot, block) in &touched.reads {
            while let Some(&(written, writer)) = writers.next_if(|&&(written, _)| written <= slot) {
                if written == slot {
                    writes[writer as usize] = slot + 1;
                }
            }
            waiting.push(block);
            while let Some(block) = waiting.pop() {
                if std::mem::replace(&mut enters[block as usize], slot + 1) == slot + 1 {
                    continue;
                }
                entering[block as usize].push(slot);
                found += 1;
                steps += predecessors[block as usize].len();
                if found > MOST {
                    return None;
                }
                let before = predecessors[block as usize].iter().copied();
                waiting.extend(before.filter(|&from| writes[from as usize] != slot + 1));
            }
            across.insert(slot);
        }
        crate::work::count(steps);
        Some(Liveness { entering, across })
    }

    /// The slots whose values a block needs from before.
    #[must_use]
    pub fn entering(&self, block: u32) -> &[u32] {
        &self.entering[block as usize]
    }

    #[must_use]
    pub fn enters(&self, block: u32, slot: u32) -> bool {
        self.entering[block as usize].binary_search(&slot).is_ok()
    }

    /// Whether a slot's value is needed behind a block.
    #[must_use]
    pub fn leaves(&self, block: &Block, slot: u32) -> bool {
        self.across.contains(slot) && block.end.leads(|to| self.enters(to, slot))
    }
}
