//! A function as generators get it: operations in blocks, with the control between them.

mod parse;
mod print;
mod verify;

use std::ops::Range;

pub use verify::Fault;

use crate::operation::{Guard, Operation};
use crate::scalar::Scalar;

/// A function. The entry is block 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// What each slot holds.
    pub slots: Vec<Scalar>,
    /// In the order of the source, so that a number of these is a place in it. Blocks may leave some
    /// out.
    pub operations: Vec<Operation>,
    pub blocks: Vec<Block>,
}

/// A straight line of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Operations that run here, by index. Guards are still to be observed.
    pub operations: Range<u32>,
    /// The first operation is one that lanes have to wait for each other at, without regard to its
    /// guard.
    pub collective: bool,
    pub end: End,
}

/// How a block ends; operations are given by index, and their guards have been dealt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Jump(u32),
    /// To the first block where the guard holds.
    Branch(Guard, u32, u32),
    /// To the block that an index chooses.
    Table {
        operation: u32,
        targets: Vec<u32>,
    },
    Barrier {
        operation: u32,
        next: u32,
    },
    Call {
        operation: u32,
        next: u32,
    },
    Return,
    Exit,
    Trap {
        operation: u32,
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

    /// Replaces the blocks that may be next.
    pub fn redirect(&mut self, to: impl Fn(u32) -> u32) {
        match self {
            End::Jump(next) | End::Barrier { next, .. } | End::Call { next, .. } => *next = to(*next),
            End::Branch(_, yes, no) => (*yes, *no) = (to(*yes), to(*no)),
            End::Table { targets, .. } => targets.iter_mut().for_each(|target| *target = to(*target)),
            End::Return | End::Exit | End::Trap { .. } => {}
        }
    }
}

impl Block {
    /// Its operations with the one at its end; whether each runs without regard to its guard.
    pub fn each_operation(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        let last = match self.end {
            End::Table { operation, .. } | End::Barrier { operation, .. } | End::Call { operation, .. } => {
                Some((operation, true))
            }
            _ => None,
        };
        let first = self.operations.start;
        let unguarded = move |index| (index, self.collective && index == first);
        self.operations.clone().map(unguarded).chain(last)
    }
}

/// The blocks that lead to each block.
#[must_use]
pub fn predecessors(blocks: &[Block]) -> Vec<Vec<u32>> {
    let mut predecessors = vec![Vec::new(); blocks.len()];
    for (number, block) in (0u32..).zip(blocks) {
        for to in block.end.successors() {
            predecessors[to as usize].push(number);
        }
    }
    predecessors
}

/// By block, whether it is in a loop: those are in one piece.
#[must_use]
pub fn loops(blocks: &[Block]) -> Vec<bool> {
    let mut loops = vec![false; blocks.len()];
    for (number, block) in blocks.iter().enumerate() {
        for head in
            block.end.successors().into_iter().map(|head| head as usize).filter(|&head| head <= number)
        {
            loops[head..=number].fill(true);
        }
    }
    loops
}
