//! Regions in which all lanes have the same values, and do the same: what one lane does is done for the warp.
//!
//! In GCC's programs a warp is a thread, whose lanes go together; and in others loops may be the same for all lanes.
//! Blocks belong to a region where each value is the same in all lanes ([`Shape::Uniform`]) and nothing is done that
//! concerns other lanes or threads: strong accesses, atomics, exchanges and barriers end it, and so does what is each
//! lane's own memory. A function that is called belongs to it as far as it changes nothing
//! ([`called`](super::called)): where it would, the block with the call is left before it is begun with. A region is
//! entered at its head alone, and left to any block: ordinary code goes on there. A load from an address that may
//! turn out to be one of each lane's own memory begins a block ([`Shapes::is_speculative`]), so that the region can
//! be left before it.
//!
//! Only regions with a loop are worth it.

use gangway_simt::{
    Address, Base, Compute, End, From, Kind, Operation, Passed, Place, Source, Space, Target, To,
    predecessors,
};

use super::dominance::{dominates, dominators};
use super::lanewise::{Looked, is_alone};
use super::liveness::Set;
use super::loops::{Innermost, innermost};
use super::shape::{Shape, Shapes};

/// Blocks and operations of a region. More would take long to make code of.
const MOST_BLOCKS: usize = 512;
const MOST_OPERATIONS: usize = 1 << 13;
/// Blocks of a function in which regions are looked for.
const MOST_SEARCHED: usize = 1 << 11;

/// Whether a function can be run as one lane does, by its index.
pub(super) type Callees<'a> = &'a dyn Fn(u32) -> bool;

/// Blocks that are entered at one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Uniform {
    /// Where it is entered; its first block.
    pub head: u32,
    /// In their order.
    pub blocks: Vec<u32>,
    /// The slots that it needs from before.
    pub enters: Vec<u32>,
    /// Where ordinary code may go on.
    pub exits: Vec<Exit>,
    pub loops: Vec<Innermost>,
}

/// A block at whose beginning a region may be left: one behind it, or one of its own that begins with a load which
/// cannot be done in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    pub to: u32,
    /// The slots that the region may have written and that are needed there.
    pub leaves: Vec<u32>,
}

impl Uniform {
    /// The number of the exit to a block.
    #[must_use]
    pub fn exit(&self, to: u32) -> Option<usize> {
        self.exits.iter().position(|exit| exit.to == to)
    }
}

/// The regions of a function that take none of the blocks of others.
pub(crate) fn regions(looked: Looked<'_>, callees: Callees<'_>, mut taken: Set) -> Vec<Uniform> {
    let blocks = &looked.code.blocks;
    if blocks.len() > MOST_SEARCHED {
        return Vec::new();
    }
    let fits: Vec<bool> = (0..blocks.len() as u32).map(|block| fits(&looked, callees, block)).collect();
    let repeats = |block: u32| blocks[block as usize].end.leads(|to| to <= block);
    if !(0..blocks.len() as u32).any(|block| fits[block as usize] && repeats(block)) {
        return Vec::new();
    }
    let before = predecessors(blocks);
    let above = dominators(blocks);
    let mut regions = Vec::new();
    for head in 0..blocks.len() as u32 {
        if !fits[head as usize] || taken.contains(head) {
            continue;
        }
        let found = from(&looked, head, &fits, &taken, &above);
        let inside = |block: u32| found.binary_search(&block).is_ok();
        let repeats = |&block: &u32| blocks[block as usize].end.leads(|to| to <= block && inside(to));
        if !found.iter().any(repeats) {
            continue;
        }
        if let Some(region) = region(&looked, head, found, &before, &above) {
            region.blocks.iter().for_each(|&block| taken.insert(block));
            regions.push(region);
        }
    }
    regions
}

/// The blocks that a head leads to and is the only way to.
fn from(looked: &Looked<'_>, head: u32, fits: &[bool], taken: &Set, above: &[Option<u32>]) -> Vec<u32> {
    let blocks = &looked.code.blocks;
    let mut found = Set::new(blocks.len());
    let (mut list, mut waiting, mut operations) = (Vec::new(), vec![head], 0);
    found.insert(head);
    while let Some(block) = waiting.pop() {
        crate::work::count(1);
        list.push(block);
        operations += blocks[block as usize].operations.len();
        if list.len() >= MOST_BLOCKS || operations > MOST_OPERATIONS {
            break;
        }
        for to in blocks[block as usize].end.successors() {
            // Blocks are found from their dominators on, so that one step is enough.
            if fits[to as usize] && !taken.contains(to) && !found.contains(to) && dominates(above, head, to) {
                found.insert(to);
                waiting.push(to);
            }
        }
    }
    list.sort_unstable();
    list
}

fn region(
    looked: &Looked<'_>,
    head: u32,
    blocks: Vec<u32>,
    before: &[Vec<u32>],
    above: &[Option<u32>],
) -> Option<Uniform> {
    let slots = looked.code.slots.len();
    let (mut named, mut written) = (Set::new(slots), Set::new(slots));
    let mut touch = |slot: u32, write: bool| {
        named.insert(slot);
        if write {
            written.insert(slot);
        }
    };
    let (mut behind, mut inside) = (Vec::new(), Vec::new());
    for &number in &blocks {
        let block = &looked.code.blocks[number as usize];
        for index in block.operations.clone() {
            looked.code.operations[index as usize].each_slot(&mut touch);
        }
        if let End::Branch(guard, ..) = block.end {
            touch(guard.slot, false);
        }
        behind.extend(block.end.successors().into_iter().filter(|to| blocks.binary_search(to).is_err()));
        if let End::Call { operation, .. } = block.end {
            looked.code.operations[operation as usize].each_slot(&mut touch);
        }
        if leaves_before(looked.shapes, looked.code, number) || matches!(block.end, End::Call { .. }) {
            inside.push(number);
        }
    }
    behind.sort_unstable();
    behind.dedup();
    behind.extend(inside);
    if behind.is_empty() {
        // It never ends.
        return None;
    }
    let needed = |block: u32, of: &Set| -> Vec<u32> {
        looked.liveness.entering(block).iter().copied().filter(|&slot| of.contains(slot)).collect()
    };
    let exits: Vec<Exit> = behind.into_iter().map(|to| Exit { to, leaves: needed(to, &written) }).collect();
    let enters = needed(head, &named);
    let placed = |slot: &u32| looked.homes[*slot as usize] != 0;
    let all = enters.iter().chain(exits.iter().flat_map(|exit| &exit.leaves));
    if !{ all }.all(placed) {
        return None;
    }
    let loops = innermost(&looked.code.blocks, &blocks, before, above);
    Some(Uniform { head, blocks, enters, exits, loops })
}

/// Whether a block begins with a load before which its region may have to be left.
pub(crate) fn leaves_before(shapes: &Shapes, code: &gangway_simt::Function, block: u32) -> bool {
    let operations = &code.blocks[block as usize].operations;
    !operations.is_empty() && shapes.is_speculative(&code.operations[operations.start as usize])
}

/// Whether a block may belong to a region.
fn fits(looked: &Looked<'_>, callees: Callees<'_>, number: u32) -> bool {
    let (code, shapes) = (looked.code, looked.shapes);
    let block = &code.blocks[number as usize];
    let ends = match block.end {
        End::Jump(_) => true,
        End::Branch(guard, ..) => is_uniform(shapes, guard.slot),
        // Where the function cannot be run so, the block is not begun with: ordinary code does that again.
        End::Call { operation, .. } => {
            may_call(code, shapes, callees, operation)
                && block.operations.clone().all(|index| !stores(&code.operations[index as usize]))
        }
        _ => false,
    };
    ends && !block.collective
        && block.operations.clone().all(|index| {
            let operation = &code.operations[index as usize];
            is_alone(operation) && is_same(shapes, operation)
        })
}

pub(super) fn is_uniform(shapes: &Shapes, slot: u32) -> bool {
    shapes.slots[slot as usize] == Shape::Uniform
}

/// Whether an operation may change memory.
pub(super) fn stores(operation: &Operation) -> bool {
    let to_slot =
        |address: &Address| matches!(address.base, Base::Place(Place::Slot(_) | Place::Argument(_)));
    matches!(&operation.kind, Kind::Store { address, .. } if !to_slot(address))
}

/// Whether an operation calls a function that is run as one lane does.
pub(super) fn may_call(
    code: &gangway_simt::Function,
    shapes: &Shapes,
    callees: Callees<'_>,
    operation: u32,
) -> bool {
    let operation = &code.operations[operation as usize];
    let Kind::Call(call) = &operation.kind else { return false };
    let Target::Function(index) = call.target else { return false };
    let mut all = callees(index);
    operation.each_slot(&mut |slot, _| all &= is_uniform(shapes, slot));
    let value = |passed: Passed| matches!(passed, Passed::Value(_));
    all && call.arguments.iter().all(|argument| {
        let from = match argument.from {
            From::Source(source) => shapes.of(source) == Shape::Uniform,
            From::Place(place) => matches!(place, Place::Slot(_)),
        };
        from && value(argument.passed)
    }) && call.results.iter().all(|result| {
        let to = match result.to {
            To::Nothing | To::Slot(_) => true,
            To::Place(place) => matches!(place, Place::Slot(_)),
        };
        to && value(result.passed)
    })
}

/// Whether what an operation does is the same for all lanes as for one.
pub(super) fn is_same(shapes: &Shapes, operation: &Operation) -> bool {
    let mut slots = true;
    operation.each_slot(&mut |slot, _| slots &= is_uniform(shapes, slot));
    if !slots {
        return false;
    }
    let same = |source: Source| shapes.of(source) == Shape::Uniform;
    match &operation.kind {
        Kind::Compute(Compute { sources, .. }) | Kind::Move { sources, .. } => {
            sources.iter().all(|read| same(read.source))
        }
        Kind::Repack { sources, .. } => sources.iter().all(|&source| same(source)),
        Kind::ConvertAddress { source, .. } | Kind::IsInSpace { source, .. } => same(*source),
        Kind::Load { access, address, .. } => is_shared(access.space, address),
        Kind::Store { access, address, sources } => {
            is_shared(access.space, address) && sources.iter().all(|&source| same(source))
        }
        _ => true,
    }
}

/// Whether an access is not said to be one of each lane's own memory.
fn is_shared(space: Space, address: &Address) -> bool {
    match address.base {
        Base::Place(Place::Slot(_) | Place::Parameter(_) | Place::Argument(_)) => true,
        Base::Place(Place::Local(_) | Place::Function(_)) => false,
        Base::Place(Place::Symbol(_)) | Base::Slot(_) | Base::Absolute => {
            !matches!(space, Space::Local | Space::Parameters)
        }
    }
}
