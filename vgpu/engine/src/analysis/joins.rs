//! Where lanes that have parted are together again.

use gangway_simt::End;

use super::dominance::post_dominators;
use super::shape::Shape;
use super::unit::Unit;

/// The blocks where lanes that have parted are together again: converged code is entered there.
pub(crate) fn joins(unit: &Unit) -> Vec<u32> {
    let after = post_dominators(&unit.code.blocks);
    let mut joins = Vec::new();
    for (block, number) in unit.code.blocks.iter().zip(0u32..) {
        let parts = match &block.end {
            End::Branch(guard, ..) => unit.shapes.slots[guard.slot as usize] != Shape::Uniform,
            _ => false,
        };
        if parts && let Some(join) = after[number as usize] {
            joins.push(join);
        }
        // Those that have called different functions meet behind the call.
        if let End::Call { operation, next } = block.end
            && unit.calls_by_address(operation)
        {
            joins.push(next);
        }
    }
    joins.sort_unstable();
    joins.dedup();
    joins
}
