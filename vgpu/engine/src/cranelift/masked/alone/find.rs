//! Which loops lanes may run alone.

use gangway_simt::{Base, Block, End, Kind, Operation, Source, Space};

use crate::analysis::liveness::Set;
use crate::analysis::unit::Unit;

/// Operations of a loop, with those inside of it.
const MOST: usize = 256;
/// Vectors compute for four lanes at once: so many instructions for each access are no faster by scalars.
const MOST_PER_ACCESS: usize = 16;
/// What goes from block to block goes through memory, if all lanes run it: that is as much as so many
/// operations.
const EACH_BLOCK: usize = 16;

/// A loop, and where it leads.
pub(super) struct Loop {
    /// Its blocks, the first one first: that is where it is entered.
    pub blocks: Vec<u32>,
    /// Where lanes leave for, each behind the loop's beginning.
    pub exits: Vec<u32>,
    /// What the loop writes and a block of it or behind it needs.
    pub carried: Vec<u32>,
}

/// The loop that begins with a block, if lanes may run it alone. `before` are the blocks before each.
pub(super) fn find(unit: &Unit<'_>, before: &[Vec<u32>], first: u32) -> Option<Loop> {
    // Where fuel is time, lanes look at what others have done.
    if unit.fuel.entry.is_some() || unit.watch {
        return None;
    }
    let blocks = blocks(before, first)?;
    let has = |block: &u32| blocks.binary_search(block).is_ok();
    let (mut operations, mut reached, mut exits) = (0, 0, Vec::new());
    for block in blocks.iter().map(|&number| &unit.code.blocks[number as usize]) {
        if block.collective || !matches!(block.end, End::Jump(_) | End::Branch(..)) {
            return None;
        }
        operations += block.operations.len();
        if operations > MOST {
            return None;
        }
        for index in block.operations.clone() {
            reached += usize::from(is_access(unit, unit.operation(index))?);
        }
        exits.extend(block.end.successors().into_iter().filter(|to| !has(to)));
    }
    exits.sort_unstable();
    exits.dedup();
    // A step back costs what is left to the ordinary code.
    if exits.first().is_none_or(|&to| to < first) {
        return None;
    }
    let worth = MOST_PER_ACCESS * reached + EACH_BLOCK * (blocks.len() - 1);
    (reached != 0 && operations <= worth).then(|| {
        let carried = carried(unit, &blocks);
        Loop { blocks, exits, carried }
    })
}

/// The blocks from which a block is gone back to, with all between: they are behind it.
fn blocks(before: &[Vec<u32>], first: u32) -> Option<Vec<u32>> {
    let mut found = vec![first];
    let mut waiting: Vec<u32> =
        before[first as usize].iter().copied().filter(|&from| from >= first).collect();
    if waiting.is_empty() {
        return None;
    }
    while let Some(block) = waiting.pop() {
        if block < first {
            return None;
        }
        if let Err(place) = found.binary_search(&block) {
            found.insert(place, block);
            waiting.extend(&before[block as usize]);
        }
    }
    Some(found)
}

/// What blocks write and others, of them or behind them, need.
fn carried(unit: &Unit<'_>, blocks: &[u32]) -> Vec<u32> {
    let mut carried = Vec::new();
    let mut seen = Set::new(unit.code.slots.len());
    for block in blocks.iter().map(|&number| &unit.code.blocks[number as usize]) {
        each_write(unit, block, &mut |slot| {
            if unit.liveness.leaves(block, slot) && !seen.contains(slot) {
                seen.insert(slot);
                carried.push(slot);
            }
        });
    }
    carried
}

fn each_write(unit: &Unit<'_>, block: &Block, found: &mut impl FnMut(u32)) {
    for index in block.operations.clone() {
        unit.operation(index).each_slot(&mut |slot, write| {
            if write {
                found(slot);
            }
        });
    }
}

/// Whether an operation accesses memory; none if no lane may do it alone.
fn is_access(unit: &Unit<'_>, operation: &Operation) -> Option<bool> {
    // Values that lanes have by their number are vectors.
    let scalar = |source: Source| !matches!(source, Source::Special(_));
    if operation.guard.is_some() || unit.shapes.is_speculative(operation) {
        return None;
    }
    let (access, address) = match &operation.kind {
        Kind::Compute(compute) if compute.carries => return None,
        Kind::Compute(compute) => {
            return compute.sources.iter().all(|read| scalar(read.source)).then_some(false);
        }
        Kind::Move { sources, .. } if sources.len() == 1 => {
            return scalar(sources[0].source).then_some(false);
        }
        Kind::ConvertAddress { source, .. } => return scalar(*source).then_some(false),
        Kind::Load { access, address, .. } | Kind::Store { access, address, .. } => (access, address),
        _ => return None,
    };
    let named = matches!(address.base, Base::Place(_));
    (!access.strong && access.space != Space::Parameters && !named).then_some(true)
}
