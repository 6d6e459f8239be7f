//! The innermost loops of regions.

use gangway_simt::Block;

use super::dominance::dominates;
use super::liveness::Set;

/// A loop of a region that has none in it, by one way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Innermost {
    pub head: u32,
    /// Where the way back begins.
    pub latch: u32,
    /// In their order, the head first.
    pub blocks: Vec<u32>,
    /// Those that run each time the loop goes round.
    pub always: Vec<u32>,
}

/// The blocks of the loop that begins with a block and goes back to it from another one.
pub(super) fn body(head: u32, latch: u32, before: &[Vec<u32>]) -> Set {
    let mut body = Set::new(before.len());
    body.insert(head);
    let mut waiting = vec![latch];
    while let Some(block) = waiting.pop() {
        crate::work::count(1);
        if !body.contains(block) {
            body.insert(block);
            waiting.extend(&before[block as usize]);
        }
    }
    body
}

/// The loops of a region that have none in them. A head with several ways back is the head of several loops, of which
/// those count that have none of the others' ways in them: the others are around them.
pub(super) fn innermost(
    blocks: &[Block],
    region: &[u32],
    before: &[Vec<u32>],
    above: &[Option<u32>],
) -> Vec<Innermost> {
    let inside = |block: u32| region.binary_search(&block).is_ok();
    let mut loops: Vec<Innermost> = Vec::new();
    for &latch in region {
        for head in blocks[latch as usize].end.successors() {
            if head > latch || !inside(head) || !dominates(above, head, latch) {
                continue;
            }
            let body: Vec<u32> = body(head, latch, before).iter().collect();
            // What comes from outside of the region comes to no block of a loop of its own.
            let closed = body.iter().all(|&block| inside(block) && dominates(above, head, block));
            let repeats = |&block: &u32| {
                blocks[block as usize]
                    .end
                    .leads(|to| to <= block && body.contains(&to) && (block != latch || to != head))
            };
            if !closed || body.iter().any(repeats) || loops.iter().any(|other| other.head == head) {
                continue;
            }
            let always = body.iter().copied().filter(|&block| dominates(above, block, latch)).collect();
            loops.push(Innermost { head, latch, blocks: body, always });
        }
    }
    loops
}
