//! What code takes from the fuel, and where.
//!
//! In most modules a step back takes one, whatever it repeats. Fuel is only there so that warps
//! which wait in a loop yield. Where the warps of a block are kept abreast (`load::abreast`),
//! fuel is time. A step back takes what the loop's instructions would take on hardware. An
//! entered function takes what it would take without its loops.

use gangway_ptx::{Body, Meaning, Module, Opcode, StateSpace};

use crate::analysis::graph::{Block, End, Graph};

/// What an instruction takes in units of the simplest; only the proportions matter.
const MEMORY: u32 = 8;
const EXCHANGE: u32 = 16;
const CALL: u32 = 4;
/// A function's body takes at most this when it is entered: of a long one, only a part runs.
const MOST_ENTRY: u32 = 128;

#[derive(Debug)]
pub(crate) struct Fuel {
    /// What it takes to enter the function. Nothing is taken, or looked at, where it is none.
    pub entry: Option<i64>,
    /// What a step back to each block takes; empty where all take one.
    steps: Vec<i64>,
}

impl Fuel {
    #[must_use]
    pub fn new(module: &Module, body: &Body, graph: &Graph, abreast: bool) -> Self {
        if !abreast {
            return Fuel { entry: None, steps: Vec::new() };
        }
        let weights: Vec<u32> = graph.blocks.iter().map(|block| weight(module, body, block)).collect();
        // Every loop is in one piece, with its head first: it ends where the last step back is
        // made.
        let mut ends = vec![None; graph.blocks.len()];
        for (block, number) in graph.blocks.iter().zip(0u32..) {
            for to in block.end.successors().into_iter().filter(|&to| to <= number) {
                ends[to as usize] = Some(number as usize);
            }
        }
        let (mut entry, mut behind) = (0u32, 0);
        for (number, (&weight, &end)) in weights.iter().zip(&ends).enumerate() {
            behind = behind.max(end.map_or(0, |end| end + 1));
            if number >= behind {
                entry = entry.saturating_add(weight);
            }
        }
        let mut sums = Vec::with_capacity(weights.len() + 1);
        sums.push(0i64);
        sums.extend(weights.iter().scan(0i64, |sum, &weight| {
            *sum += i64::from(weight);
            Some(*sum)
        }));
        let steps = ends.iter().enumerate();
        let steps = steps.map(|(head, &end)| end.map_or(1, |end| (sums[end + 1] - sums[head]).max(1)));
        Fuel { entry: Some(entry.clamp(1, MOST_ENTRY).into()), steps: steps.collect() }
    }

    /// What a step back to a block takes.
    #[must_use]
    pub fn step(&self, block: u32) -> i64 {
        self.steps.get(block as usize).copied().unwrap_or(1)
    }
}

fn weight(module: &Module, body: &Body, block: &Block) -> u32 {
    let instructions = &body.instructions[block.instructions.start as usize..block.instructions.end as usize];
    let inside: u32 = instructions.iter().map(|instruction| cost(module.opcode(instruction))).sum();
    let end = match block.end {
        End::Call { .. } => CALL,
        _ => 1,
    };
    inside + end
}

fn cost(opcode: &Opcode) -> u32 {
    match opcode.meaning {
        Meaning::Load(access) | Meaning::Store(access) => match access.space {
            StateSpace::Global | StateSpace::Generic => MEMORY,
            _ => 1,
        },
        Meaning::Atomic(_) => EXCHANGE,
        Meaning::Compute(_)
        | Meaning::Move { .. }
        | Meaning::ConvertAddress { .. }
        | Meaning::IsInSpace(_)
        | Meaning::Copy(_)
        | Meaning::Stack(..)
        | Meaning::Control(_)
        | Meaning::Barrier(_)
        | Meaning::Exchange(_)
        | Meaning::Matrix(_)
        | Meaning::ActiveMask
        | Meaning::Fence
        | Meaning::Hint(_) => 1,
    }
}
