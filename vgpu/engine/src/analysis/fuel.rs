//! What code takes from the fuel, and where.
//!
//! In most modules a step back takes one, whatever it repeats. Fuel is only there so that warps
//! which wait in a loop yield. Where the warps of a block are kept abreast (`load::abreast`),
//! fuel is time. A step back takes what the loop's instructions would take on hardware. An
//! entered function takes what it would take without its loops.

use gangway_simt::{Block, End, Function, Kind, Operation, Space};

/// What an operation takes in units of the simplest; only the proportions matter.
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
    pub fn new(code: &Function, abreast: bool) -> Self {
        if !abreast {
            return Fuel { entry: None, steps: Vec::new() };
        }
        let weights: Vec<u32> = code.blocks.iter().map(|block| weight(code, block)).collect();
        // Every loop is in one piece, with its head first: it ends where the last step back is
        // made.
        let mut ends = vec![None; code.blocks.len()];
        for (block, number) in code.blocks.iter().zip(0u32..) {
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

fn weight(code: &Function, block: &Block) -> u32 {
    let operations = &code.operations[block.operations.start as usize..block.operations.end as usize];
    let inside: u32 = operations.iter().map(cost).sum();
    let end = match block.end {
        End::Call { .. } => CALL,
        _ => 1,
    };
    inside + end
}

fn cost(operation: &Operation) -> u32 {
    match &operation.kind {
        Kind::Load { access, .. } | Kind::Store { access, .. } => match access.space {
            Space::Global | Space::Generic => MEMORY,
            Space::Constant | Space::Shared | Space::Local | Space::Parameters => 1,
        },
        Kind::Atomic(_) => EXCHANGE,
        _ => 1,
    }
}
