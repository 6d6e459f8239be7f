//! Functions that a region calls in which all lanes do the same ([`uniform`](super::uniform)).

use gangway_simt::{Address, Base, End, Function, Kind, Operation, Operator, Place, Source, Space};

use super::lanewise::{Looked, is_alone};
use super::layout::Layout;
use super::liveness::Set;
use super::uniform::{Callees, is_same, is_uniform, may_call, stores};

/// How long a variable is, by its number in the table of symbols; none if it has no place of its own.
type Bytes<'a> = &'a dyn Fn(u32) -> Option<u64>;

/// The blocks of a function that one lane can run for all, without anybody noticing: none of them is run twice, or
/// changes memory, or reads what may not be there. None if no way leads through them.
pub(crate) fn blocks(
    looked: &Looked<'_>,
    layout: &Layout,
    callees: Callees<'_>,
    bytes_of: Bytes<'_>,
) -> Vec<u32> {
    let (code, shapes) = (looked.code, looked.shapes);
    let blocks = &code.blocks;
    let scalar = |place: &Place| matches!(place, Place::Argument(_));
    if !layout.parameters.iter().chain(&layout.returns).all(scalar)
        || !layout.enters.is_empty()
        || !layout.leaves.is_empty()
        || layout.local != 0
    {
        return Vec::new();
    }
    let fits = |number: u32| {
        let block = &blocks[number as usize];
        let ends = match block.end {
            End::Jump(_) | End::Return => true,
            End::Branch(guard, ..) => is_uniform(shapes, guard.slot),
            End::Call { operation, .. } => may_call(code, shapes, callees, operation),
            _ => false,
        };
        ends && !block.collective
            && !block.end.leads(|to| to <= number)
            && block.operations.clone().all(|index| {
                let operation = &code.operations[index as usize];
                (is_alone(operation) || names_argument(operation))
                    && is_same(shapes, operation)
                    && !stores(operation)
                    && is_there(code, operation, bytes_of)
            })
    };
    let mut found = Set::new(blocks.len());
    let (mut list, mut waiting) = (Vec::new(), Vec::new());
    let mut reach = |block: u32, waiting: &mut Vec<u32>| {
        if fits(block) && !found.contains(block) {
            found.insert(block);
            waiting.push(block);
        }
    };
    reach(0, &mut waiting);
    while let Some(block) = waiting.pop() {
        crate::work::count(1);
        list.push(block);
        blocks[block as usize].end.successors().into_iter().for_each(|to| reach(to, &mut waiting));
    }
    list.sort_unstable();
    let returns = |&block: &u32| matches!(blocks[block as usize].end, End::Return);
    if list.iter().any(returns) { list } else { Vec::new() }
}

/// Whether an operation loads a parameter, or stores a result.
fn names_argument(operation: &Operation) -> bool {
    let (Kind::Load { access, address, .. } | Kind::Store { access, address, .. }) = &operation.kind else {
        return false;
    };
    matches!(address, Address { base: Base::Place(Place::Argument(_)), offset: 0 }) && access.count == 1
}

/// Whether an operation reads from nowhere but what is always there: who calls would be told of another fault. What it
/// reads from a table has to be within.
fn is_there(code: &Function, operation: &Operation, bytes_of: Bytes<'_>) -> bool {
    let Kind::Load { address, .. } = &operation.kind else { return true };
    match address.base {
        Base::Slot(slot) => table(code, slot).and_then(bytes_of).is_some(),
        Base::Absolute => false,
        Base::Place(_) => true,
    }
}

/// The variable that an address is counted from, by its number in the table of symbols.
pub(crate) fn table(code: &Function, slot: u32) -> Option<u32> {
    origin(code, slot, MOST_ORIGINS)
}

/// How far an address is looked for.
const MOST_ORIGINS: u32 = 8;

fn origin(code: &Function, slot: u32, most: u32) -> Option<u32> {
    let most = most.checked_sub(1)?;
    crate::work::count(code.operations.len());
    let mut writers = code.operations.iter().filter(|operation| {
        let mut writes = false;
        operation.each_slot(&mut |other, write| writes |= write && other == slot);
        writes
    });
    let (writer, None) = (writers.next()?, writers.next()) else { return None };
    let of = |source: Source| match source {
        Source::Address(Place::Symbol(index), _) => Some(index),
        Source::Slot(slot) => origin(code, slot, most),
        _ => None,
    };
    match &writer.kind {
        Kind::ConvertAddress { source, space: Space::Global | Space::Constant, to_space: false, .. } => {
            of(*source)
        }
        Kind::Move { sources, .. } if sources.len() == 1 => of(sources[0].source),
        Kind::Compute(compute) => match compute.algebra?.operator {
            Operator::Add => compute.sources.iter().find_map(|read| of(read.source)),
            _ => None,
        },
        _ => None,
    }
}
