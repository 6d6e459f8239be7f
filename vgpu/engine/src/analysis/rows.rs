//! Rows that are shorter than those of the block, where more accesses have a shape then.
//!
//! Of tiles of 16 by 16 a warp of a block with one dimension has two rows: the column is
//! `%tid.x & 15`, which steps within 16 lanes and not within 32.

use gangway_simt::{Kind, Operation, Scalar, Space};

use super::quotients::{divides, divisor, is_small};
use super::shape::{Shape, Shapes};

/// Rows that may do, the longest first.
const SHORTER: [u8; 3] = [16, 8, 4];

/// The shapes of a function's values in the rows in which most accesses have one; those of the block
/// where others give no more. `shapes` finds them for rows of so many lanes.
pub(crate) fn best(
    operations: &[Operation],
    types: &[Scalar],
    row: u8,
    shapes: impl Fn(u8) -> Shapes,
) -> Shapes {
    let mut best = shapes(row);
    let mut without = scattered(operations, &best);
    if without == 0 || take_turns(operations, &best) {
        return best;
    }
    let helps = |length: &u8| operations.iter().any(|operation| best.keeps_in(*length, operation));
    let lengths: Vec<u8> = SHORTER.into_iter().filter(|&length| length < row).filter(helps).collect();
    for length in lengths {
        let other = shapes(length);
        let left = scattered(operations, &other);
        if left < without && keep_branches(types, &best, &other) {
            (best, without) = (other, left);
        }
    }
    best
}

/// Whether lanes have to agree in quotients that no shorter rows give. They take turns where they do
/// not, which is for rows of whole warps.
fn take_turns(operations: &[Operation], shapes: &Shapes) -> bool {
    let kept = |operation: &Operation| SHORTER.iter().any(|&length| shapes.keeps_in(length, operation));
    let small = |operation: &Operation| {
        let Kind::Compute(compute) = &operation.kind else { return false };
        let step = compute.sources.first().and_then(|read| shapes.of(read.source).step());
        divisor(compute).zip(step).is_some_and(|(divisor, step)| is_small(divisor, step))
    };
    operations.iter().any(|operation| {
        divides(operation) && shapes.loses_steps(operation) && !kept(operation) && !small(operation)
    })
}

/// How many accesses have addresses without a shape. Those of each lane's own memory need none.
fn scattered(operations: &[Operation], shapes: &Shapes) -> usize {
    let without = |operation: &&Operation| {
        let (Kind::Load { access, address, .. } | Kind::Store { access, address, .. }) = &operation.kind
        else {
            return false;
        };
        let general = address.slot().is_some_and(|slot| shapes.slots[slot as usize] == Shape::General);
        general && !matches!(access.space, Space::Local | Space::Parameters)
    };
    operations.iter().filter(without).count()
}

/// Whether what all lanes branch alike on stays so.
fn keep_branches(types: &[Scalar], before: &Shapes, after: &Shapes) -> bool {
    let slots = types.iter().zip(before.slots.iter().zip(&after.slots));
    let mut lost = slots.filter(|(ty, shapes)| {
        **ty == Scalar::Predicate && *shapes.0 == Shape::Uniform && *shapes.1 != Shape::Uniform
    });
    lost.next().is_none()
}
