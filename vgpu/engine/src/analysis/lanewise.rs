//! Regions that each lane may run by itself, from where all lanes enter to where all are together again.
//!
//! In such a region no lane waits for another one or looks at what it does: there are no barriers, exchanges,
//! calls, atomics, fences, strong accesses. Weak accesses of different threads that touch one place, one of them
//! a store, are races, whose outcome PTX leaves open (PTX ISA, "Memory Consistency Model"), so the order of lanes
//! is free. Two kinds of programs rely on lanes in lockstep all the same and have no such regions:
//!
//! - GCC's, whose lanes all do `x = x + 1` on one variable and mean it once;
//! - those for processors before Volta, on which lanes of a warp were in lockstep.
//!
//! A region is worth it where lanes go different ways by what they have loaded or computed, and where each goes through
//! memory of its own in a loop. Everything else is faster for all lanes at once: a check of an address costs a lane as much
//! as a check of all lanes' addresses costs the warp.

use gangway_ptx::Module;
use gangway_simt::{Base, End, Kind, Operation, Operator, Place, Source, Space, loops, predecessors};

use super::dominance::{dominates, dominators, post_dominators};
use super::liveness::{Liveness, Set};
use super::loops::{Innermost, body, innermost};
use super::shape::{Shape, Shapes};

/// Blocks and operations of a region. More would take a second to make code of.
const MOST_BLOCKS: usize = 512;
const MOST_OPERATIONS: usize = 1 << 13;
/// Blocks of a function in which regions are looked for, and steps of that search: a block of each stretch that may be
/// one. What is not found by then is all lanes' together.
const MOST_SEARCHED: usize = 1 << 11;
const MOST_STEPS: usize = 1 << 17;

/// Fewer operations that are done once are not worth a region: code of them is made in milliseconds, and gains less.
const LEAST_ONCE: usize = 64;

/// Lanes that go on by so many bytes stay in a line of memory, or in the next one.
const SHORT_STEP: u64 = 64;

/// The first processor whose lanes do not go together without being told to (CUDA C++ Programming Guide,
/// "Independent Thread Scheduling").
const INDEPENDENT_LANES: u16 = 70;

/// Blocks with one entry and one exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Where it is entered; its first block.
    pub head: u32,
    /// Where all lanes go behind it: no block of it.
    pub exit: u32,
    /// In their order.
    pub blocks: Vec<u32>,
    /// The slots that it needs from before.
    pub enters: Vec<u32>,
    /// Those that it may write and that are needed behind it.
    pub leaves: Vec<u32>,
    pub loops: Vec<Innermost>,
}

/// What is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Looked<'a> {
    pub code: &'a gangway_simt::Function,
    pub shapes: &'a Shapes,
    pub liveness: &'a Liveness,
    /// Where slots have no home, lanes cannot hand them over.
    pub homes: &'a [i32],
}

/// Whether lanes of a module's functions may run by themselves; else why not.
pub(crate) fn may_be_apart(module: &Module) -> Result<(), &'static str> {
    if module.functions.iter().any(|function| function.name.starts_with("GOMP_")) {
        return Err("GCC's code relies on lanes in lockstep");
    }
    if module.target.processor < INDEPENDENT_LANES {
        return Err("code for processors before sm_70 may rely on lanes in lockstep");
    }
    Ok(())
}

/// The regions of a function, none within another one.
pub(crate) fn regions(looked: Looked<'_>) -> Vec<Region> {
    let blocks = &looked.code.blocks;
    if blocks.len() > MOST_SEARCHED {
        return Vec::new();
    }
    let (before, after, above) = (predecessors(blocks), post_dominators(blocks), dominators(blocks));
    let alone: Vec<bool> = (0..blocks.len() as u32).map(|block| looked.runs_alone(block)).collect();
    let by_ends = looked.by_ends();
    let repeats = loops(blocks);
    let together = looked.goes_round_together(&by_ends, &before, &above);
    let mut regions: Vec<Region> = Vec::new();
    let mut taken = vec![false; blocks.len()];
    let mut steps = 0;
    for head in 0..blocks.len() as u32 {
        if taken[head as usize] || !alone[head as usize] {
            continue;
        }
        let (mut largest, mut exit) = (None, after[head as usize]);
        while let Some(to) = exit {
            if steps > MOST_STEPS {
                return regions;
            }
            let Some(found) = looked.between(head, to, &alone, &before, &mut steps) else { break };
            if let Some(found) = found.filter(|found| found.iter().all(|&block| !taken[block as usize])) {
                let has = |block: &u32| found.binary_search(block).is_ok();
                if together.iter().any(|(head, latch)| has(head) && has(latch)) {
                    break;
                }
                largest = Some((to, found));
            }
            exit = after[to as usize];
        }
        let Some((exit, found)) = largest else { continue };
        let operations: usize = found.iter().map(|&block| blocks[block as usize].operations.len()).sum();
        if operations < LEAST_ONCE && !found.iter().any(|&block| repeats[block as usize]) {
            continue;
        }
        if !looked.is_worth_it(&found, &by_ends) && !looked.walks_apart(&found, &before, &above) {
            continue;
        }
        if let Some(region) = looked.region(head, exit, found, &before, &above) {
            region.blocks.iter().for_each(|&block| taken[block as usize] = true);
            regions.push(region);
        }
    }
    regions
}

/// The slots whose shapes do not hold behind such regions ([`Looked::parted`]).
pub(crate) fn parted(looked: Looked<'_>) -> Vec<u32> {
    let regions = regions(looked);
    if regions.is_empty() {
        return Vec::new();
    }
    let (by_ends, after) = (looked.by_ends(), post_dominators(&looked.code.blocks));
    let mut parted: Vec<u32> =
        regions.iter().flat_map(|region| looked.parted(region, &by_ends, &after)).collect();
    parted.sort_unstable();
    parted.dedup();
    parted
}

impl Looked<'_> {
    fn operation(&self, index: u32) -> &Operation {
        &self.code.operations[index as usize]
    }

    /// Whether a lane may run a block by itself.
    fn runs_alone(&self, block: u32) -> bool {
        let block = &self.code.blocks[block as usize];
        !block.collective
            && matches!(block.end, End::Jump(_) | End::Branch(..))
            && block.operations.clone().all(|index| is_alone(self.operation(index)))
    }

    /// The blocks from one on, up to another one. The outer is none where those include some that lanes do not
    /// run by themselves, or too many; the inner where they are entered elsewhere, too.
    fn between(
        &self,
        head: u32,
        exit: u32,
        alone: &[bool],
        before: &[Vec<u32>],
        steps: &mut usize,
    ) -> Option<Option<Vec<u32>>> {
        let mut found = Set::new(self.code.blocks.len());
        let (mut blocks, mut waiting, mut operations) = (Vec::new(), vec![head], 0);
        found.insert(head);
        while let Some(block) = waiting.pop() {
            crate::work::count(1);
            *steps += 1;
            blocks.push(block);
            operations += self.code.blocks[block as usize].operations.len();
            if !alone[block as usize] || blocks.len() > MOST_BLOCKS || operations > MOST_OPERATIONS {
                return None;
            }
            for to in self.code.blocks[block as usize].end.successors() {
                if to != exit && !found.contains(to) {
                    found.insert(to);
                    waiting.push(to);
                }
            }
        }
        blocks.sort_unstable();
        let inside =
            |&block: &u32| block == head || before[block as usize].iter().all(|&from| found.contains(from));
        // What goes back to before the head would be a loop that is entered in its midst.
        let ordered = blocks[0] == head && !found.contains(exit);
        Some((ordered && blocks.iter().all(inside)).then_some(blocks))
    }

    /// By slot, whether it is a predicate that the first and the last lane tell of all: a comparison of values
    /// that have shapes.
    fn by_ends(&self) -> Vec<bool> {
        let mut by_ends = vec![true; self.code.slots.len()];
        for operation in &self.code.operations {
            let compares = match &operation.kind {
                Kind::Compute(compute) => {
                    let shaped = |source: Source| self.shapes.of(source).step().is_some();
                    let compares = compute
                        .algebra
                        .is_some_and(|algebra| matches!(algebra.operator, Operator::Compare(_)));
                    compares && compute.sources.iter().all(|read| shaped(read.source))
                }
                _ => false,
            };
            if !compares {
                operation.each_slot(&mut |slot, write| by_ends[slot as usize] &= !write);
            }
        }
        by_ends
    }

    /// Whether lanes are better off by themselves than all together: they part by values that have no shape.
    fn is_worth_it(&self, blocks: &[u32], by_ends: &[bool]) -> bool {
        blocks.iter().any(|&number| match self.code.blocks[number as usize].end {
            End::Branch(guard, ..) => self.parts(guard.slot, by_ends),
            _ => false,
        })
    }

    /// The loops with others in them that lanes go round together in, by what is the same for all or has a shape, such
    /// as the number of a thread's iteration: where each begins and goes back. A lane that did all its iterations before
    /// the next one would leave out what other lanes have beside it in memory each time.
    fn goes_round_together(
        &self,
        by_ends: &[bool],
        before: &[Vec<u32>],
        above: &[Option<u32>],
    ) -> Vec<(u32, u32)> {
        let blocks = &self.code.blocks;
        let mut found = Vec::new();
        for latch in 0..blocks.len() as u32 {
            let heads = blocks[latch as usize].end.successors().into_iter();
            for head in heads.filter(|&to| to <= latch && dominates(above, to, latch)) {
                let body = body(head, latch, before);
                let end = |block: u32| &blocks[block as usize].end;
                let repeats = |from: u32| end(from).leads(|to| to <= from && to != head && body.contains(to));
                let together = |from: u32| match *end(from) {
                    End::Branch(guard, yes, no) if !(body.contains(yes) && body.contains(no)) => {
                        let slot = guard.slot as usize;
                        self.shapes.slots[slot] == Shape::Uniform || by_ends[slot]
                    }
                    _ => true,
                };
                if body.iter().any(repeats) && body.iter().all(together) {
                    found.push((head, latch));
                }
            }
        }
        found
    }

    /// Whether lanes go through memory each in its own place, in loops: all that such a loop loads or stores has addresses
    /// without a shape, or the same in all lanes, and one at least goes on by a short step with each turn.
    fn walks_apart(&self, blocks: &[u32], before: &[Vec<u32>], above: &[Option<u32>]) -> bool {
        innermost(&self.code.blocks, blocks, before, above).iter().any(|inner| {
            let operations =
                || inner.blocks.iter().flat_map(|&block| self.code.blocks[block as usize].operations.clone());
            let (mut fits, mut walks) = (true, false);
            for index in operations() {
                let (Kind::Load { access, address, .. } | Kind::Store { access, address, .. }) =
                    &self.operation(index).kind
                else {
                    continue;
                };
                let Some(slot) = address.slot() else { continue };
                let shape = self.shapes.slots[slot as usize];
                fits &= matches!(access.space, Space::Generic | Space::Global | Space::Constant);
                fits &= matches!(shape, Shape::Uniform | Shape::General);
                walks |= shape == Shape::General && self.goes_on(slot, operations());
            }
            fits && walks
        })
    }

    /// Whether all that operations do to a slot is to add a small constant to it.
    fn goes_on(&self, slot: u32, mut operations: impl Iterator<Item = u32>) -> bool {
        let mut goes = false;
        operations.all(|index| {
            let operation = self.operation(index);
            let mut writes = false;
            operation.each_slot(&mut |other, write| writes |= write && other == slot);
            if !writes {
                return true;
            }
            let Operation { guard: None, kind: Kind::Compute(compute) } = operation else { return false };
            let adds = compute.algebra.is_some_and(|algebra| algebra.operator == Operator::Add);
            let own = compute.sources.iter().any(|read| read.source == Source::Slot(slot));
            let short = compute
                .sources
                .iter()
                .any(|read| read.source.constant().is_some_and(|step| step.unsigned_abs() <= SHORT_STEP));
            !std::mem::replace(&mut goes, true) && adds && own && short
        }) && goes
    }

    /// The slots that lanes may have different values of behind a region, though they have a shape where all run together:
    /// what is written where lanes have parted, such as the number of a loop's turns, if they leave it at different times.
    fn parted(&self, region: &Region, by_ends: &[bool], after: &[Option<u32>]) -> Vec<u32> {
        let inside = |block: u32| region.blocks.binary_search(&block).is_ok();
        let mut apart = Set::new(self.code.blocks.len());
        for &number in &region.blocks {
            let end = &self.code.blocks[number as usize].end;
            let parts = matches!(*end, End::Branch(guard, ..) if self.parts(guard.slot, by_ends));
            if !parts {
                continue;
            }
            let meet = after[number as usize];
            let mut waiting: Vec<u32> = end.successors().into_iter().collect();
            while let Some(block) = waiting.pop() {
                if inside(block) && Some(block) != meet && !apart.contains(block) {
                    crate::work::count(1);
                    apart.insert(block);
                    waiting.extend(self.code.blocks[block as usize].end.successors());
                }
            }
        }
        let mut written = Set::new(self.code.slots.len());
        for &block in region.blocks.iter().filter(|&&block| apart.contains(block)) {
            for index in self.code.blocks[block as usize].operations.clone() {
                self.operation(index).each_slot(&mut |slot, write| {
                    if write {
                        written.insert(slot);
                    }
                });
            }
        }
        let shaped = |slot: u32| self.shapes.slots[slot as usize] != Shape::General;
        region.leaves.iter().copied().filter(|&slot| written.contains(slot) && shaped(slot)).collect()
    }

    /// Whether lanes go different ways by a predicate: by values that have no shape.
    fn parts(&self, slot: u32, by_ends: &[bool]) -> bool {
        self.shapes.slots[slot as usize] != Shape::Uniform && !by_ends[slot as usize]
    }

    fn region(
        &self,
        head: u32,
        exit: u32,
        blocks: Vec<u32>,
        before: &[Vec<u32>],
        above: &[Option<u32>],
    ) -> Option<Region> {
        let slots = self.code.slots.len();
        let (mut named, mut written) = (Set::new(slots), Set::new(slots));
        let mut touch = |slot: u32, write: bool| {
            named.insert(slot);
            if write {
                written.insert(slot);
            }
        };
        for &number in &blocks {
            let block = &self.code.blocks[number as usize];
            for index in block.operations.clone() {
                self.operation(index).each_slot(&mut touch);
            }
            if let End::Branch(guard, ..) = block.end {
                touch(guard.slot, false);
            }
        }
        let enters =
            self.liveness.entering(head).iter().copied().filter(|&slot| named.contains(slot)).collect();
        let leaves: Vec<u32> =
            self.liveness.entering(exit).iter().copied().filter(|&slot| written.contains(slot)).collect();
        let loops = innermost(&self.code.blocks, &blocks, before, above);
        let region = Region { head, exit, blocks, enters, leaves, loops };
        let placed = |slot: &u32| self.homes[*slot as usize] != 0;
        (region.enters.iter().all(placed) && region.leaves.iter().all(placed)).then_some(region)
    }
}

/// Whether a lane may do an operation without the others of its warp.
pub(super) fn is_alone(operation: &Operation) -> bool {
    let special = |source: Source| match source {
        Source::Special(special) => !special.is_time(),
        _ => true,
    };
    match &operation.kind {
        Kind::Compute(compute) => !compute.carries && compute.sources.iter().all(|read| special(read.source)),
        Kind::Move { sources, .. } => sources.iter().all(|read| special(read.source)),
        Kind::Repack { sources, .. } => sources.iter().all(|&source| special(source)),
        Kind::Load { access, address, .. } | Kind::Store { access, address, .. } => {
            !access.strong
                && !access.acquire
                && !access.release
                && !matches!(address.base, Base::Place(Place::Argument(_) | Place::Function(_)))
        }
        Kind::ConvertAddress { source, .. } | Kind::IsInSpace { source, .. } => special(*source),
        Kind::Nothing | Kind::Go => true,
        Kind::Atomic(_)
        | Kind::Copy { .. }
        | Kind::Stack { .. }
        | Kind::Exchange(_)
        | Kind::Matrix(_)
        | Kind::ActiveLanes { .. }
        | Kind::Fence { .. }
        | Kind::Sleep
        | Kind::Table { .. }
        | Kind::Barrier(_)
        | Kind::Call(_) => false,
    }
}
