//! Where lanes that have parted are together again.

use super::dominance::post_dominators;
use super::graph::End;
use super::shape::Shape;
use super::unit::Unit;

/// The blocks where lanes that have parted are together again: converged code is entered there.
pub(crate) fn joins(unit: &Unit) -> Vec<u32> {
    let after = post_dominators(&unit.graph);
    let mut joins = Vec::new();
    for (block, number) in unit.graph.blocks.iter().zip(0u32..) {
        let parts = match &block.end {
            End::Branch(guard, ..) => {
                let slot = unit.slots.of(guard.register, 0);
                unit.shapes.slots[slot as usize] != Shape::Uniform
            }
            _ => false,
        };
        if parts && let Some(join) = after[number as usize] {
            joins.push(join);
        }
        // Those that have called different functions meet behind the call.
        if let End::Call { instruction, next } = block.end
            && unit.calls_by_address(instruction)
        {
            joins.push(next);
        }
    }
    joins.sort_unstable();
    joins.dedup();
    joins
}
