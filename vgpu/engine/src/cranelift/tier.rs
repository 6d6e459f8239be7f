//! How much is spent on a function's code, by what it would cost to compile.
//!
//! A register of 32 lanes is eight values and more for Cranelift. Its allocation of registers by
//! backtracking takes time that grows with the square of what lives at once. Allocation in a
//! single pass takes a step for each value that lives where one of its blocks begins. So what is
//! large is compiled with less care, and what is larger still keeps its registers in memory. The
//! limits are far above what compilers make of most kernels.

use std::sync::atomic::{AtomicU64, Ordering};

use gangway_simt::{Base, Block, Compute, End, Exchange, Kind, Operator, Place, Scalar};

use crate::abi::{ALL, Flavour, LANES};
use crate::analysis::liveness::Listed;
use crate::analysis::shape::Shape;
use crate::analysis::unit::Unit;
use crate::cranelift::masked::MANY_BLOCKS;

/// How code is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// Registers are allocated with all care.
    Full,
    /// Registers are allocated in one pass: for code that runs through once, and for much code.
    Quick,
    /// Converged code is masked code for all lanes, with registers that live across blocks in
    /// memory. That is not optimised: values that Cranelift moves to other blocks would live all
    /// the time.
    Memory,
}

/// What backtracking is done for.
const MOST_FULL: Size = Size { values: 1 << 13, live: 1 << 16, handed: 1 << 16 };
/// What is kept in Cranelift's values at all.
const MOST_QUICK: Size = Size { values: 1 << 18, live: 1 << 19, handed: 1 << 18 };
/// The same of code that looks for uses of what nothing has written: with it kernels that reduce are several times as large, and
/// in memory they would take longer than all that is woven into them.
const MOST_QUICK_WOVEN: Size = Size { values: 1 << 20, live: 1 << 21, handed: 1 << 20 };

/// Instructions of loops under a mask that care is taken of.
const MOST_CARE: usize = 1024;

/// What masked code is optimised for.
const MOST_BLOCKS: usize = 512;
const MOST_INSTRUCTIONS: usize = 1 << 14;

/// What the code of a function would consist of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Values for Cranelift that operations make.
    pub values: u64,
    /// Those that live where Cranelift's blocks begin, counted for each block.
    pub live: u64,
    /// Those that are written to the frame where lanes may part, and read where they may meet.
    pub handed: u64,
}

impl Size {
    /// Of converged code.
    #[must_use]
    pub fn of(unit: &Unit<'_>) -> Self {
        let rows = LANES / usize::from(unit.row);
        let slots = unit.code.slots.iter().zip(&unit.shapes.slots);
        let widths = slots.map(|(&ty, &shape)| width(ty, shape, rows)).collect();
        let mut walk =
            Walk { unit, widths, lives: Listed::new(unit.code.slots.len()), size: Size::default() };
        for (block, number) in unit.code.blocks.iter().zip(0u32..) {
            walk.block(block, number);
        }
        walk.size
    }

    fn fits(&self, most: &Size) -> bool {
        self.values <= most.values && self.live <= most.live && self.handed <= most.handed
    }
}

/// How many values for Cranelift a slot is.
fn width(ty: Scalar, shape: Shape, rows: usize) -> u64 {
    match (ty, shape) {
        (_, Shape::Uniform | Shape::Nothing) => 1,
        // Comparisons give them lane by lane.
        (Scalar::Predicate, _) => 8,
        (_, Shape::Steps(_)) => rows as u64,
        (ty, Shape::General) if ty.is_wide() => 16,
        (_, Shape::General) => 8,
    }
}

/// Whether an exchange names all lanes as its members.
fn is_of_all(exchange: &Exchange) -> bool {
    let members = exchange.sources.last().and_then(|members| members.source.constant());
    members.is_some_and(|members| members as u32 == ALL)
}

struct Walk<'a> {
    unit: &'a Unit<'a>,
    widths: Vec<u64>,
    lives: Listed,
    size: Size,
}

impl Walk<'_> {
    /// Counts what lives in a block from its beginning on: a slot does from where it is first
    /// named, or from before, until the end. That is more than the truth in long blocks, by as much
    /// as the block is long.
    fn block(&mut self, block: &Block, number: u32) {
        let unit = self.unit;
        let mut live = 0;
        for &slot in unit.liveness.entering(number) {
            self.lives.insert(slot);
            live += self.widths[slot as usize];
        }
        self.size.live += live;
        let mut last = Vec::new();
        for (index, _) in block.each_operation() {
            unit.operation(index).each_slot(&mut |slot, _| last.push((slot, index)));
        }
        last.sort_unstable_by_key(|&(slot, index)| (slot, std::cmp::Reverse(index)));
        last.dedup_by_key(|&mut (slot, _)| slot);
        last.retain(|&(slot, _)| !unit.liveness.leaves(block, slot));
        last.sort_unstable_by_key(|&(_, index)| index);
        let mut ends = last.into_iter().peekable();
        for (index, _) in block.each_operation() {
            unit.operation(index).each_slot(&mut |slot, write| {
                let width = self.widths[slot as usize];
                self.size.values += if write { width } else { 0 };
                if !self.lives.contains(slot) {
                    self.lives.insert(slot);
                    live += width;
                }
            });
            if self.parts(index) {
                self.size.live += live;
            }
            self.size.values += self.inner(index);
            while let Some((slot, _)) = ends.next_if(|&(_, last)| last <= index) {
                live -= self.widths[slot as usize];
            }
        }
        self.lives.take();
        self.hand_over(block, number);
    }

    /// Counts what masked code gets, and gives back.
    fn hand_over(&mut self, block: &Block, number: u32) {
        let unit = self.unit;
        let whole = |&slot: &u32| width(unit.code.slots[slot as usize], Shape::General, 1);
        let entering = |block: u32| unit.liveness.entering(block).iter().map(whole).sum::<u64>();
        // Converged code works on matrices without masked code, and so do all lanes that exchange something.
        let own = block.operations.clone().next().is_some_and(|index| {
            let operation = unit.operation(index);
            block.collective && matches!(&operation.kind, Kind::Exchange(exchange) if !is_of_all(exchange))
                || unit.shapes.is_speculative(operation)
        });
        if own {
            self.size.handed += entering(number);
        }
        match &block.end {
            End::Branch(guard, yes, no) if unit.shapes.slots[guard.slot as usize] != Shape::Uniform => {
                // The block where they meet needs less than both together.
                self.size.handed += 2 * (entering(*yes) + entering(*no));
            }
            End::Call { next, .. } => self.size.handed += entering(*next),
            End::Table { .. } => self.size.handed += entering(number),
            _ => {}
        }
    }

    /// Values that an operation's code consists of beyond its results, roughly.
    fn inner(&self, index: u32) -> u64 {
        const ACCESS: u64 = 24;
        const DIVISION: u64 = 256;
        let divides = |compute: &Compute| {
            compute
                .algebra
                .is_some_and(|algebra| matches!(algebra.operator, Operator::Divide | Operator::Remainder))
        };
        match &self.unit.operation(index).kind {
            Kind::Compute(compute) if divides(compute) => DIVISION,
            _ if self.parts(index) => ACCESS,
            _ => 0,
        }
    }

    /// Whether an operation is code with blocks of its own, or calls a helper.
    fn parts(&self, index: u32) -> bool {
        match &self.unit.operation(index).kind {
            Kind::Load { address, .. } | Kind::Store { address, .. } => match address.base {
                Base::Place(place) => matches!(place, Place::Local(_) | Place::Symbol(_)),
                Base::Slot(_) | Base::Absolute => true,
            },
            Kind::Atomic(_) | Kind::Copy { .. } | Kind::Matrix(_) | Kind::Call(_) => true,
            _ => false,
        }
    }
}

/// How a function's code is made in a flavour.
///
/// It is worth taking care in loops, and in kernels, which are a loop over all threads; and under a
/// mask not even there when there are many blocks, as what lives across them is in memory.
pub(crate) fn tier(flavour: Flavour, unit: &Unit<'_>) -> Tier {
    let blocks = unit.code.blocks.iter().zip(0u32..);
    let repeats = || blocks.clone().any(|(block, number)| block.end.leads(|next| next <= number));
    match flavour {
        Flavour::Converged => {
            let size = Size::of(unit);
            let most_quick = if unit.init { MOST_QUICK_WOVEN } else { MOST_QUICK };
            if !size.fits(&most_quick) {
                Tier::Memory
            } else if !size.fits(&MOST_FULL) {
                Tier::Quick
            } else if unit.entry || repeats() {
                Tier::Full
            } else {
                Tier::Quick
            }
        }
        Flavour::Masked | Flavour::Lanewise
            if unit.code.blocks.len() > MOST_BLOCKS || unit.code.operations.len() > MOST_INSTRUCTIONS =>
        {
            Tier::Memory
        }
        Flavour::Masked | Flavour::Lanewise if unit.code.blocks.len() > MANY_BLOCKS || !repeats() => {
            Tier::Quick
        }
        Flavour::Masked | Flavour::Lanewise => match unit.code.operations.len() {
            0..MOST_CARE => Tier::Full,
            _ => Tier::Quick,
        },
    }
}

static COMPILED: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Code has been made of another function.
pub(crate) fn count(tier: Tier) {
    COMPILED[tier as usize].fetch_add(1, Ordering::Relaxed);
}

/// Of how many functions this process has made code, each flavour by itself: with registers
/// allocated by backtracking, with registers allocated in one pass, and with registers in memory.
#[must_use]
pub fn compiled() -> [u64; 3] {
    COMPILED.each_ref().map(|counter| counter.load(Ordering::Relaxed))
}
