//! The control flow of a function as both flavours see it.
//!
//! Blocks are cut so that everything that concerns control stands at an end: lanes part and wait
//! only between blocks. A collective instruction (`shfl.sync`) begins a block, in which lanes wait
//! for the others. Barriers, calls and all that leaves the function end one. Where such an
//! instruction has a guard, the guard becomes a branch around it.
//!
//! Blocks are numbered in the order in which masked code prefers them: topological, with every
//! loop in one piece. So lanes that wait behind a loop wait for all that are in it.

use std::ops::Range;

use gangway_ptx::meaning::{Control, Exchange};
use gangway_ptx::{Body, Instruction, Meaning, Module, Operand};
use gangway_simt::{Block, End, Guard, predecessors};

use crate::analysis::order::order;

/// The blocks of a function, with the guards that `guard` makes of its own. A block begins with each
/// instruction that is `speculative`.
#[must_use]
pub(crate) fn blocks(
    module: &Module,
    body: &Body,
    guard: &dyn Fn(gangway_ptx::Guard) -> Guard,
    speculative: &dyn Fn(u32) -> bool,
) -> Vec<Block> {
    // What a block begins with besides what the source says.
    let alone = |index: u32| {
        let instruction = &body.instructions[index as usize];
        match module.opcode(instruction).meaning {
            Meaning::Control(Control::BranchIndexed) => true,
            // Lanes that call different functions do so one after the other.
            Meaning::Control(Control::Call) => !matches!(body.operands(instruction)[1], Operand::Function(_)),
            _ => speculative(index),
        }
    };
    let mut cutter = Cutter { blocks: Vec::new(), open: None, guard };
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
    let mut blocks = ordered(&blocks, forward[0]);
    if join(&mut blocks, &alone) { ordered(&blocks, 0) } else { blocks }
}

/// Makes one block of two that stand one behind the other, where control comes to the second from
/// the first alone, and lanes have nothing to look at in between. Whether there are such; their
/// second ones are not reached any more.
fn join(blocks: &mut [Block], alone: &dyn Fn(u32) -> bool) -> bool {
    let ways: Vec<usize> = predecessors(blocks).iter().map(Vec::len).collect();
    let mut gone = vec![false; blocks.len()];
    for first in 0..blocks.len() {
        while let (false, End::Jump(second)) = (gone[first], &blocks[first].end) {
            let second = *second as usize;
            let (one, other) = (&blocks[first], &blocks[second]);
            let at = other.operations.start;
            if first == second
                || second == 0
                || ways[second] != 1
                || other.collective
                || other.operations.is_empty()
                || one.operations.end != at
                || alone(at)
            {
                break;
            }
            let (end, last) = (other.end.clone(), other.operations.end);
            gone[second] = true;
            let one = &mut blocks[first];
            (one.end, one.operations.end) = (end, last);
        }
    }
    gone.contains(&true)
}

fn ordered(blocks: &[Block], entry: u32) -> Vec<Block> {
    let order = order(entry, blocks.len(), &|block| blocks[block as usize].end.successors());
    let mut number = vec![0; blocks.len()];
    for (new, &old) in order.iter().enumerate() {
        number[old as usize] = new as u32;
    }
    let blocks = order.iter().map(|&old| {
        let mut block = blocks[old as usize].clone();
        block.end.redirect(|to| number[to as usize]);
        block
    });
    blocks.collect()
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
                Block { operations, collective: false, end: End::Jump(to) } if operations.is_empty() => {
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

struct Cutter<'a> {
    blocks: Vec<Block>,
    /// The instructions of the block that is being filled, and whether it begins with a collective
    /// one.
    open: Option<(Range<u32>, bool)>,
    guard: &'a dyn Fn(gangway_ptx::Guard) -> Guard,
}

impl Cutter<'_> {
    /// Begins a block, into which control falls from the one before. Its number.
    fn begin(&mut self, at: u32) -> u32 {
        let next = self.blocks.len() as u32 + u32::from(self.open.is_some());
        if self.open.is_some() {
            self.finish(End::Jump(next));
        }
        self.open = Some((at..at, false));
        next
    }

    fn finish(&mut self, end: End) {
        if let Some((operations, collective)) = self.open.take() {
            self.blocks.push(Block { operations, collective, end });
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
                        Some(guard) => End::Branch((self.guard)(guard), to(operands[0]), next),
                        None => End::Jump(to(operands[0])),
                    },
                    Control::BranchIndexed => {
                        let Operand::Targets(targets) = operands[1] else {
                            unreachable!("the verifier has seen to it that brx has targets");
                        };
                        let blocks = &body.targets[targets.index()].blocks;
                        End::Table {
                            operation: index,
                            targets: blocks.iter().map(|block| block.0 | SOURCE).collect(),
                        }
                    }
                    Control::Call => End::Call { operation: index, next },
                    Control::Return => End::Return,
                    Control::Exit => End::Exit,
                    Control::Trap => End::Trap { operation: index },
                };
                self.finish(end);
                self.begin(index + 1);
            }
            Meaning::Barrier(_) => {
                self.own_block(instruction, index);
                let next = self.next();
                self.finish(End::Barrier { operation: index, next });
                self.begin(index + 1);
            }
            // Lanes wait for each other in it.
            Meaning::Exchange(Exchange { sync: true, .. }) | Meaning::Matrix(_) => {
                self.meets(instruction, index);
            }
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
            | Meaning::Fence { .. }
            | Meaning::Hint(_) => {
                self.open.as_mut().expect("it was just begun").0.end = index + 1;
            }
        }
    }

    /// Begins a block with an instruction that lanes wait for each other at.
    fn meets(&mut self, instruction: &Instruction, index: u32) {
        self.own_block(instruction, index);
        if instruction.guard.is_none() {
            self.begin(index);
        }
        self.open = Some((index..index + 1, true));
        if instruction.guard.is_some() {
            self.begin(index + 1);
        }
    }

    /// Gives an instruction with a guard a block of its own, which is the next one.
    fn own_block(&mut self, instruction: &Instruction, index: u32) {
        if let Some(guard) = instruction.guard {
            let own = self.next();
            self.finish(End::Branch((self.guard)(guard), own, own + 1));
            self.begin(index);
        }
    }
}
