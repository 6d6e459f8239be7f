//! Short stretches that only some lanes run, between a branch and where all meet again. Converged
//! code runs them itself, with a mask: handing over to masked code costs more than they do.

use gangway_simt::{Block, End, predecessors};

use crate::analysis::dominance::post_dominators;
use crate::analysis::shape::Shape;
use crate::analysis::unit::Unit;

/// The two ways from a branch to where they meet, each a chain of blocks.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub yes: Vec<u32>,
    pub no: Vec<u32>,
    pub join: u32,
    /// Slots that keep their values in lanes that do not run: those that somebody needs later.
    pub kept: Vec<u32>,
}

/// How many operations a region may have.
const MOST: usize = 64;

/// What regions are found by.
pub(crate) struct Regions {
    after: Vec<Option<u32>>,
    predecessors: Vec<Vec<u32>>,
}

impl Regions {
    #[must_use]
    pub fn new(unit: &Unit) -> Self {
        Regions { after: post_dominators(&unit.code.blocks), predecessors: predecessors(&unit.code.blocks) }
    }

    /// The region behind the branch at the end of a block, if it is a simple one.
    #[must_use]
    pub fn behind(&self, unit: &Unit, number: u32, yes: u32, no: u32) -> Option<Region> {
        let join = self.after[number as usize].filter(|&join| join > number)?;
        let (yes, no) = (self.chain(unit, number, yes, join)?, self.chain(unit, number, no, join)?);
        let blocks = || yes.iter().chain(&no).map(|&block| &unit.code.blocks[block as usize]);
        if blocks().map(|block| block.operations.len()).sum::<usize>() > MOST {
            return None;
        }
        let mut kept = Vec::new();
        for index in blocks().flat_map(|block| block.operations.clone()) {
            unit.operation(index).each_slot(&mut |slot, write| {
                let later = |&block: &u32| unit.liveness.enters(block, slot);
                if write && !kept.contains(&slot) && (later(&join) || no.first().is_some_and(later)) {
                    kept.push(slot);
                }
            });
        }
        // What some lanes have changed is no longer the same in all.
        let fits = kept.iter().all(|&slot| unit.shapes.slots[slot as usize] == Shape::General);
        fits.then_some(Region { yes, no, join, kept })
    }

    /// The blocks from `first` on up to `join`, if nothing else leads into or out of them.
    fn chain(&self, unit: &Unit, from: u32, first: u32, join: u32) -> Option<Vec<u32>> {
        let mut chain = Vec::new();
        let (mut before, mut block) = (from, first);
        while block != join {
            if block <= before || self.predecessors[block as usize] != [before] {
                return None;
            }
            let Block { collective: false, end: End::Jump(next), .. } = &unit.code.blocks[block as usize]
            else {
                return None;
            };
            chain.push(block);
            (before, block) = (block, *next);
        }
        Some(chain)
    }
}
