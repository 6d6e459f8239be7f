//! The control flow of a function as both flavours see it.
//!
//! Blocks are cut so that everything that concerns control stands at an end: lanes part and wait
//! only between blocks. A collective instruction (`shfl.sync`) begins a block, in which lanes wait
//! for the others. Barriers, calls and all that leaves the function end one. Where such an
//! instruction has a guard, the guard becomes a branch around it.
//!
//! Blocks are numbered in the order in which masked code prefers them: topological, with every
//! loop in one piece. So lanes that wait behind a loop wait for all that are in it.

use gangway_ptx::meaning::{self, Control, Exchange, ExchangeOperation, Matrix};
use gangway_ptx::{Body, Guard, Instruction, Meaning, Module, Operand};

/// A straight line of instructions.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Instructions that run here, by index. Guards are still to be observed.
    pub instructions: std::ops::Range<u32>,
    /// The first instruction is a collective one that lanes have to wait at, without regard to its
    /// guard.
    pub collective: Option<Collective>,
    pub end: End,
}

/// What lanes wait for each other to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    Exchange(ExchangeOperation),
    /// It is for all lanes of the warp.
    Matrix(Matrix),
}

/// How a block ends; instructions are given by index, and their guards have been dealt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Jump(u32),
    /// To the first block where the guard holds.
    Branch(Guard, u32, u32),
    /// `brx.idx`
    Table {
        instruction: u32,
        targets: Vec<u32>,
    },
    Barrier {
        instruction: u32,
        barrier: meaning::Barrier,
        next: u32,
    },
    Call {
        instruction: u32,
        next: u32,
    },
    Return,
    Exit,
    Trap {
        instruction: u32,
    },
}

impl End {
    #[must_use]
    pub fn successors(&self) -> Vec<u32> {
        match self {
            End::Jump(to) | End::Barrier { next: to, .. } | End::Call { next: to, .. } => vec![*to],
            End::Branch(_, yes, no) => vec![*yes, *no],
            End::Table { targets, .. } => targets.clone(),
            End::Return | End::Exit | End::Trap { .. } => Vec::new(),
        }
    }

    /// Whether any of the blocks that may be next is one that `holds`.
    #[must_use]
    pub fn leads(&self, holds: impl Fn(u32) -> bool) -> bool {
        match self {
            End::Jump(to) | End::Barrier { next: to, .. } | End::Call { next: to, .. } => holds(*to),
            End::Branch(_, yes, no) => holds(*yes) || holds(*no),
            End::Table { targets, .. } => targets.iter().any(|&target| holds(target)),
            End::Return | End::Exit | End::Trap { .. } => false,
        }
    }

    fn redirect(&mut self, to: impl Fn(u32) -> u32) {
        match self {
            End::Jump(next) | End::Barrier { next, .. } | End::Call { next, .. } => *next = to(*next),
            End::Branch(_, yes, no) => (*yes, *no) = (to(*yes), to(*no)),
            End::Table { targets, .. } => targets.iter_mut().for_each(|target| *target = to(*target)),
            End::Return | End::Exit | End::Trap { .. } => {}
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// The entry is block 0.
    pub blocks: Vec<Block>,
}

impl Graph {
    /// A block begins with each instruction that is `speculative`.
    #[must_use]
    pub fn new(module: &Module, body: &Body, speculative: &dyn Fn(&Instruction) -> bool) -> Self {
        // What a block begins with besides what the source says.
        let alone = |index: u32| {
            let instruction = &body.instructions[index as usize];
            match module.opcode(instruction).meaning {
                Meaning::Control(Control::BranchIndexed) => true,
                // Lanes that call different functions do so one after the other.
                Meaning::Control(Control::Call) => {
                    !matches!(body.operands(instruction)[1], Operand::Function(_))
                }
                _ => speculative(instruction),
            }
        };
        let mut cutter = Cutter { blocks: Vec::new(), open: None };
        // The numbers of the blocks that the source's blocks begin with.
        let mut begins = Vec::with_capacity(body.blocks.len());
        for block in &body.blocks {
            let number = cutter.begin(block.instructions.start);
            begins.push(number);
            for index in block.instructions.clone() {
                if alone(index) {
                    cutter.begin(index);
                }
                cutter.add(module, body, index);
            }
        }
        cutter.begin(body.instructions.len() as u32);
        cutter.finish(End::Return);
        let mut blocks = cutter.blocks;
        // Until here branches name blocks of the source, marked by the top bit.
        for block in &mut blocks {
            block.end.redirect(|to| if to & SOURCE != 0 { begins[(to & !SOURCE) as usize] } else { to });
        }
        let forward = past_empty(&blocks);
        for block in &mut blocks {
            block.end.redirect(|to| forward[to as usize]);
        }
        let mut graph = Graph { blocks }.ordered(forward[0]);
        if graph.join(&alone) { graph.ordered(0) } else { graph }
    }

    /// Makes one block of two that stand one behind the other, where control comes to the second from
    /// the first alone, and lanes have nothing to look at in between. Whether there are such; their
    /// second ones are not reached any more.
    fn join(&mut self, alone: &dyn Fn(u32) -> bool) -> bool {
        let ways: Vec<usize> = self.predecessors().iter().map(Vec::len).collect();
        let mut gone = vec![false; self.blocks.len()];
        for first in 0..self.blocks.len() {
            while let (false, End::Jump(second)) = (gone[first], &self.blocks[first].end) {
                let second = *second as usize;
                let (one, other) = (&self.blocks[first], &self.blocks[second]);
                let at = other.instructions.start;
                if first == second
                    || second == 0
                    || ways[second] != 1
                    || other.collective.is_some()
                    || other.instructions.is_empty()
                    || one.instructions.end != at
                    || alone(at)
                {
                    break;
                }
                let (end, last) = (other.end.clone(), other.instructions.end);
                gone[second] = true;
                let one = &mut self.blocks[first];
                (one.end, one.instructions.end) = (end, last);
            }
        }
        gone.contains(&true)
    }

    fn ordered(self, entry: u32) -> Self {
        let order = crate::analysis::order::order(entry, self.blocks.len(), &|block| {
            self.blocks[block as usize].end.successors()
        });
        let mut number = vec![0; self.blocks.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old as usize] = new as u32;
        }
        let blocks = order.iter().map(|&old| {
            let mut block = self.blocks[old as usize].clone();
            block.end.redirect(|to| number[to as usize]);
            block
        });
        Graph { blocks: blocks.collect() }
    }

    /// By block, whether it is in a loop: those are in one piece.
    #[must_use]
    pub fn loops(&self) -> Vec<bool> {
        let mut loops = vec![false; self.blocks.len()];
        for (number, block) in self.blocks.iter().enumerate() {
            for head in
                block.end.successors().into_iter().map(|head| head as usize).filter(|&head| head <= number)
            {
                loops[head..=number].fill(true);
            }
        }
        loops
    }

    #[must_use]
    pub fn predecessors(&self) -> Vec<Vec<u32>> {
        let mut predecessors = vec![Vec::new(); self.blocks.len()];
        for (number, block) in self.blocks.iter().enumerate() {
            for to in block.end.successors() {
                predecessors[to as usize].push(number as u32);
            }
        }
        predecessors
    }
}

/// Marks the number of a block of the source.
const SOURCE: u32 = 1 << 31;

/// Where control really goes that goes to each block: past those that are empty. An empty loop
/// stays a loop.
fn past_empty(blocks: &[Block]) -> Vec<u32> {
    const UNKNOWN: u32 = u32::MAX;
    let mut forward = vec![UNKNOWN; blocks.len()];
    let mut path = Vec::new();
    for start in 0..blocks.len() as u32 {
        let mut block = start;
        while forward[block as usize] == UNKNOWN {
            path.push(block);
            // A path that comes here again has gone round in a circle.
            forward[block as usize] = block;
            match &blocks[block as usize] {
                Block { instructions, collective: None, end: End::Jump(to) } if instructions.is_empty() => {
                    block = *to;
                }
                _ => break,
            }
        }
        let end = forward[block as usize];
        for block in path.drain(..) {
            forward[block as usize] = end;
        }
    }
    forward
}

struct Cutter {
    blocks: Vec<Block>,
    /// The instructions of the block that is being filled, and the collective one that it begins
    /// with.
    open: Option<(std::ops::Range<u32>, Option<Collective>)>,
}

impl Cutter {
    /// Begins a block, into which control falls from the one before. Its number.
    fn begin(&mut self, at: u32) -> u32 {
        let next = self.blocks.len() as u32 + u32::from(self.open.is_some());
        if self.open.is_some() {
            self.finish(End::Jump(next));
        }
        self.open = Some((at..at, None));
        next
    }

    fn finish(&mut self, end: End) {
        if let Some((instructions, collective)) = self.open.take() {
            self.blocks.push(Block { instructions, collective, end });
        }
    }

    /// The number of the block after the open one.
    fn next(&self) -> u32 {
        self.blocks.len() as u32 + 1
    }

    fn add(&mut self, module: &Module, body: &Body, index: u32) {
        let instruction: &Instruction = &body.instructions[index as usize];
        let meaning = module.opcode(instruction).meaning;
        if self.open.is_none() {
            self.begin(index);
        }
        let operands = body.operands(instruction);
        let to = |operand| match operand {
            Operand::Block(block) => block.0 | SOURCE,
            _ => unreachable!("the verifier has seen to it that a branch goes to a block"),
        };
        match meaning {
            Meaning::Control(control) => {
                // A branch under a guard is a way to part, all else is one way of it.
                if control != Control::Branch {
                    self.own_block(instruction, index);
                }
                let next = self.next();
                let end = match control {
                    Control::Branch => match instruction.guard {
                        Some(guard) => End::Branch(guard, to(operands[0]), next),
                        None => End::Jump(to(operands[0])),
                    },
                    Control::BranchIndexed => {
                        let Operand::Targets(targets) = operands[1] else {
                            unreachable!("the verifier has seen to it that brx has targets");
                        };
                        let blocks = &body.targets[targets.index()].blocks;
                        End::Table {
                            instruction: index,
                            targets: blocks.iter().map(|block| block.0 | SOURCE).collect(),
                        }
                    }
                    Control::Call => End::Call { instruction: index, next },
                    Control::Return => End::Return,
                    Control::Exit => End::Exit,
                    Control::Trap => End::Trap { instruction: index },
                };
                self.finish(end);
                self.begin(index + 1);
            }
            Meaning::Barrier(barrier) => {
                self.own_block(instruction, index);
                let next = self.next();
                self.finish(End::Barrier { instruction: index, barrier, next });
                self.begin(index + 1);
            }
            // Lanes wait for each other in it.
            Meaning::Exchange(Exchange { sync: true, op }) => {
                self.meets(instruction, index, Collective::Exchange(op));
            }
            Meaning::Matrix(matrix) => self.meets(instruction, index, Collective::Matrix(matrix)),
            Meaning::Exchange(Exchange { sync: false, .. })
            | Meaning::Compute(_)
            | Meaning::Move { .. }
            | Meaning::ConvertAddress { .. }
            | Meaning::IsInSpace(_)
            | Meaning::Load(_)
            | Meaning::Store(_)
            | Meaning::Atomic(_)
            | Meaning::Copy(_)
            | Meaning::Stack(..)
            | Meaning::ActiveMask
            | Meaning::Fence
            | Meaning::Hint(_) => {
                self.open.as_mut().expect("it was just begun").0.end = index + 1;
            }
        }
    }

    /// Begins a block with an instruction that lanes wait for each other at.
    fn meets(&mut self, instruction: &Instruction, index: u32, collective: Collective) {
        self.own_block(instruction, index);
        if instruction.guard.is_none() {
            self.begin(index);
        }
        self.open = Some((index..index + 1, Some(collective)));
        if instruction.guard.is_some() {
            self.begin(index + 1);
        }
    }

    /// Gives an instruction with a guard a block of its own, which is the next one.
    fn own_block(&mut self, instruction: &Instruction, index: u32) {
        if let Some(guard) = instruction.guard {
            let own = self.next();
            self.finish(End::Branch(guard, own, own + 1));
            self.begin(index);
        }
    }
}
