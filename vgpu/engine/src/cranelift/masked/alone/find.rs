//! Which loops lanes may run alone.

use gangway_ptx::meaning::Compute;
use gangway_ptx::{Base, Meaning, Operand, StateSpace};

use crate::analysis::graph::{Block, End};
use crate::analysis::liveness::{Set, accesses};
use crate::analysis::unit::Unit;

/// Instructions of a loop, with those inside of it.
const MOST: usize = 256;
/// Vectors compute for four lanes at once: so many instructions for each access are no faster by scalars.
const MOST_PER_ACCESS: usize = 16;
/// What goes from block to block goes through memory, if all lanes run it: that is as much as so many
/// instructions.
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
    if unit.fuel.entry.is_some() || unit.check {
        return None;
    }
    let blocks = blocks(before, first)?;
    let has = |block: &u32| blocks.binary_search(block).is_ok();
    let (mut instructions, mut reached, mut exits) = (0, 0, Vec::new());
    for block in blocks.iter().map(|&number| &unit.graph.blocks[number as usize]) {
        if block.collective.is_some() || !matches!(block.end, End::Jump(_) | End::Branch(..)) {
            return None;
        }
        instructions += block.instructions.len();
        if instructions > MOST {
            return None;
        }
        for index in block.instructions.clone() {
            reached += usize::from(is_access(unit, index)?);
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
    (reached != 0 && instructions <= worth).then(|| {
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
    let mut seen = Set::new(unit.slots.len());
    for block in blocks.iter().map(|&number| &unit.graph.blocks[number as usize]) {
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
    for index in block.instructions.clone() {
        let instruction = &unit.body.instructions[index as usize];
        accesses(unit.module, unit.body, &unit.slots, instruction, &mut |slot, write| {
            if write {
                found(slot);
            }
        });
    }
}

/// Whether an instruction accesses memory; none if no lane may do it alone.
fn is_access(unit: &Unit<'_>, index: u32) -> Option<bool> {
    let instruction = &unit.body.instructions[index as usize];
    let (opcode, operands) = (unit.module.opcode(instruction), unit.body.operands(instruction));
    // Values that lanes have by their number, and those of several registers, are vectors.
    let scalar = |operand: &Operand| !matches!(operand, Operand::Special(_) | Operand::Vector { .. });
    let speculative = unit.shapes.is_speculative(&unit.slots, opcode, operands);
    if instruction.guard.is_some() || speculative {
        return None;
    }
    let (access, address) = match opcode.meaning {
        Meaning::Compute(Compute::Carry(_)) => return None,
        Meaning::Compute(_) | Meaning::Move { vector: 1, .. } | Meaning::ConvertAddress { .. } => {
            return operands.iter().all(scalar).then_some(false);
        }
        Meaning::Load(access) => (access, operands[1]),
        Meaning::Store(access) => (access, operands[0]),
        _ => return None,
    };
    let parameter = access.space.plain() == StateSpace::Param;
    let named = matches!(address, Operand::Address(Base::Symbol(_), _));
    (!access.strong && !parameter && !named).then_some(true)
}
