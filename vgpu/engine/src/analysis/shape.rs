//! How the values of registers run through the lanes of a warp: the same in all, in equal
//! steps, or anyhow.
//!
//! A shape holds as long as all 32 lanes run together, as they do in converged code. It holds for
//! all of a register's life. A few operations keep their shape only under a condition that is
//! checked when they run. Those are *speculative*: a block begins with each, so that masked code
//! can take over there.
//!
//! A row is as many lanes as have consecutive `%tid.x`. Steps are equal within a row.

use std::collections::VecDeque;

use gangway_simt::{
    Access, Address, Algebra, Axis, Base, Call, Compute, Exchange, Exchanged, From, Half, Kind, Meeting,
    Operation, Operator, Passed, Place, Read, Scalar, Shuffle, Source, Space, Special, Stack, Target, To,
    Write,
};

use crate::abi::LANES;
use crate::analysis::block::BlockShape;

/// How a value runs through the lanes. The order is from what says most to what says least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Not written yet.
    Nothing,
    Uniform,
    /// Each lane of a row has so much more than the one before; 0 where rows are shorter than a
    /// warp.
    Steps(i64),
    General,
}

impl Shape {
    fn join(self, other: Shape) -> Self {
        match (self, other) {
            (Shape::Nothing, shape) | (shape, Shape::Nothing) => shape,
            (a, b) if a == b => a,
            // The same in all lanes is the same in all lanes of a row.
            (Shape::Uniform, Shape::Steps(0)) | (Shape::Steps(0), Shape::Uniform) => Shape::Steps(0),
            _ => Shape::General,
        }
    }

    pub fn step(self) -> Option<i64> {
        match self {
            Shape::Uniform | Shape::Nothing => Some(0),
            Shape::Steps(step) => Some(step),
            Shape::General => None,
        }
    }
}

/// Steps beyond this are treated as any value: offsets have to stay within instructions.
pub(crate) const MOST_STEP: i64 = 1 << 16;

/// How often all operations are looked at, before it is only those that something has changed
/// for.
const PASSES: usize = 4;

/// Which values that come from elsewhere are taken to be the same in all lanes until they are not: arguments, and what
/// functions give back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    None,
    /// Integers, and what a function gives back whose arguments are the same.
    Numbers,
    /// All: code is made for lanes that are known to have the same.
    All,
}

pub(crate) struct Shapes {
    /// By slot.
    pub slots: Vec<Shape>,
    trust: Trust,
    /// Slots that may hold addresses of local memory: what is known to is not taken for global
    /// memory.
    local: Vec<bool>,
    /// How many of the low bits are zero in the first lane of each row, at least: `%tid.x & 31` and
    /// `%tid.x / 32` have shapes because of that.
    aligned: Vec<u8>,
    /// How many lanes a row has.
    row: u8,
    /// Whether all lanes of a warp have the same `%tid.y` and `%tid.z`.
    level: bool,
    /// How many of the low bits of `%ntid.x` are zero, at least.
    threads: u8,
}

/// More bits than any value has: of those that nothing has written yet, and of zero.
const ALL_BITS: u8 = 64;

impl Shapes {
    /// `types` are those of slots, `row` is how many lanes a row is to have: as many as in the block,
    /// or fewer. `zero` are slots that may be read before anything has written
    /// them: they hold zero in all lanes then. `parted` are those that have no shape, whatever is written.
    #[must_use]
    pub fn new(
        operations: &[Operation],
        types: &[Scalar],
        shape: BlockShape,
        row: u8,
        trust: Trust,
        zero: &[u32],
        parted: &[u32],
    ) -> Self {
        let mut shapes = Shapes {
            slots: vec![Shape::Nothing; types.len()],
            trust,
            local: vec![false; types.len()],
            aligned: vec![ALL_BITS; types.len()],
            row: row.max(1),
            level: usize::from(shape.row) == LANES,
            threads: match shape {
                BlockShape { whole: true, .. } => LANES.trailing_zeros() as u8,
                // A block of one dimension has any number.
                BlockShape { row: 32, .. } => 0,
                BlockShape { row, .. } => row.trailing_zeros() as u8,
            },
        };
        for &slot in zero {
            shapes.slots[slot as usize] = Shape::Uniform;
        }
        for &slot in parted {
            shapes.slots[slot as usize] = Shape::General;
            shapes.aligned[slot as usize] = 0;
        }
        let settled = (0..PASSES).any(|_| {
            crate::work::count(operations.len());
            let visit = |changed, operation| changed | shapes.visit(operation, types);
            !operations.iter().fold(false, visit)
        });
        if !settled {
            shapes.settle(operations, types);
        }
        // Registers that nothing writes are zero.
        for shape in &mut shapes.slots {
            if *shape == Shape::Nothing {
                *shape = Shape::Uniform;
            }
        }
        shapes
    }

    /// Looks again at those operations only that read something whose shape has changed. A shape
    /// changes a few times at most.
    fn settle(&mut self, operations: &[Operation], types: &[Scalar]) {
        let all = 0..operations.len() as u32;
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); types.len()];
        for index in all.clone() {
            operations[index as usize].each_slot(&mut |slot, write| {
                if !write {
                    readers[slot as usize].push(index);
                }
            });
        }
        let mut queued = vec![true; operations.len()];
        let mut waiting: VecDeque<u32> = all.collect();
        let mut steps = 0;
        while let Some(index) = waiting.pop_front() {
            queued[index as usize] = false;
            steps += 1;
            let operation = &operations[index as usize];
            if !self.visit(operation, types) {
                continue;
            }
            operation.each_slot(&mut |slot, write| {
                for &reader in readers[slot as usize].iter().filter(|_| write) {
                    steps += 1;
                    if !std::mem::replace(&mut queued[reader as usize], true) {
                        waiting.push_back(reader);
                    }
                }
            });
        }
        crate::work::count(steps);
    }

    /// How many lanes a row has.
    #[must_use]
    pub fn row(&self) -> u8 {
        self.row
    }

    fn steps(&self, step: i64) -> Shape {
        match step {
            0 if usize::from(self.row) == LANES => Shape::Uniform,
            _ if step.abs() > MOST_STEP || self.row == 1 => Shape::General,
            _ => Shape::Steps(step),
        }
    }

    /// The shape of a source.
    #[must_use]
    pub fn of(&self, source: Source) -> Shape {
        match source {
            Source::Slot(slot) | Source::Not(slot) => self.slots[slot as usize],
            Source::Special(special) => self.special(special),
            Source::Constant(_) | Source::Address(..) => Shape::Uniform,
        }
    }

    #[must_use]
    pub fn special(&self, special: Special) -> Shape {
        match special {
            Special::Thread(Axis::X) | Special::Lane => self.steps(1),
            Special::Thread(Axis::Y | Axis::Z) if self.level => Shape::Uniform,
            Special::Thread(Axis::Y | Axis::Z) => self.steps(0),
            Special::LaneMask(_) => Shape::General,
            _ => Shape::Uniform,
        }
    }

    fn write(&mut self, slot: u32, shape: Shape, local: bool, aligned: u8) -> bool {
        let slot = slot as usize;
        let joined = self.slots[slot].join(shape);
        let aligned = aligned.min(self.aligned[slot]);
        let changed =
            joined != self.slots[slot] || local && !self.local[slot] || aligned != self.aligned[slot];
        self.slots[slot] = joined;
        self.local[slot] |= local;
        self.aligned[slot] = aligned;
        changed
    }

    /// How many of a source's low bits are zero in the first lane of each row, at least.
    #[must_use]
    pub fn aligned(&self, source: Source) -> u8 {
        match source {
            Source::Slot(slot) => self.aligned[slot as usize],
            Source::Constant(0) => ALL_BITS,
            Source::Constant(value) => value.trailing_zeros() as u8,
            // Rows begin where so many threads have gone before.
            Source::Special(Special::Thread(Axis::X) | Special::Lane) => self.row.trailing_zeros() as u8,
            Source::Special(Special::Threads(Axis::X)) => self.threads,
            Source::Not(_) | Source::Special(_) | Source::Address(..) => 0,
        }
    }

    /// The same for what an operation writes.
    fn aligned_result(&self, kind: &Kind) -> u8 {
        match kind {
            Kind::Move { sources, .. } => {
                sources.iter().map(|read| self.aligned(read.source)).min().unwrap_or(0)
            }
            Kind::Compute(compute) => self.aligned_computed(compute).unwrap_or(0),
            _ => 0,
        }
    }

    fn aligned_computed(&self, compute: &Compute) -> Option<u8> {
        let of = |index: usize| compute.sources.get(index).map(|read| self.aligned(read.source));
        let product = || Some(of(0)?.saturating_add(of(1)?).min(ALL_BITS));
        match compute.algebra?.operator {
            Operator::Add | Operator::Subtract | Operator::Or => Some(of(0)?.min(of(1)?)),
            Operator::Sum => Some(of(0)?.min(of(1)?).min(of(2)?)),
            Operator::Negate | Operator::Convert { exact: true, .. } => of(0),
            Operator::And => Some(of(0)?.max(of(1)?)),
            Operator::Multiply(Half::Low | Half::Both) => product(),
            Operator::MultiplyAdd(Half::Low | Half::Both) => Some(product()?.min(of(2)?)),
            Operator::ShiftLeft => {
                let by = compute.sources.get(1)?.source.constant().filter(|by| (0..32).contains(by))?;
                Some(of(0)?.saturating_add(by as u8).min(ALL_BITS))
            }
            _ => None,
        }
    }

    /// Whether a source may be an address of local memory.
    fn is_local(&self, source: Source) -> bool {
        match source {
            Source::Slot(slot) => self.local[slot as usize],
            Source::Address(place, _) => matches!(place, Place::Local(_)),
            Source::Not(_) | Source::Constant(_) | Source::Special(_) => false,
        }
    }

    /// The same of the address of an access.
    #[must_use]
    pub fn is_local_address(&self, address: &Address) -> bool {
        match address.base {
            Base::Slot(slot) => self.local[slot as usize],
            Base::Place(place) => matches!(place, Place::Local(_)),
            Base::Absolute => false,
        }
    }

    fn any_local(&self, reads: &[Read]) -> bool {
        reads.iter().any(|read| self.is_local(read.source))
    }

    /// Whether what an operation writes may be addresses of local memory.
    fn makes_local(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Stack { stack: Stack::Allocate { .. } | Stack::Save { .. }, .. } => true,
            Kind::ConvertAddress { space, source, .. } => *space == Space::Local || self.is_local(*source),
            Kind::Compute(Compute { sources, .. })
            | Kind::Exchange(Exchange { sources, .. })
            | Kind::Move { sources, .. } => self.any_local(sources),
            Kind::Repack { sources, .. } | Kind::Store { sources, .. } => {
                sources.iter().any(|&source| self.is_local(source))
            }
            Kind::IsInSpace { source, .. } => self.is_local(*source),
            Kind::Load { address: Address { base: Base::Place(Place::Slot(slot)), .. }, .. } => {
                self.local[*slot as usize]
            }
            // What is in memory, and what a function gives back, is taken for anything else.
            _ => false,
        }
    }

    fn visit(&mut self, operation: &Operation, types: &[Scalar]) -> bool {
        let results = self.results(&operation.kind, types);
        let guard = operation.guard.map_or(Shape::Uniform, |guard| self.slots[guard.slot as usize]);
        let local = !results.is_empty() && self.makes_local(&operation.kind);
        // Where some lanes keep what they have, nothing is known of the first one either.
        let aligned = match guard {
            Shape::Uniform | Shape::Nothing => self.aligned_result(&operation.kind),
            _ => 0,
        };
        let mut changed = false;
        for (slot, shape) in results {
            let joined = if matches!(guard, Shape::Uniform | Shape::Nothing) {
                shape
            } else if self.slots[slot as usize] == Shape::Nothing && shape == Shape::Nothing {
                Shape::Nothing
            } else {
                // Some lanes keep what they have.
                Shape::General
            };
            changed |= self.write(slot, joined, local, aligned);
        }
        changed
    }

    /// What an operation writes, and in which shape.
    fn results(&self, kind: &Kind, types: &[Scalar]) -> Vec<(u32, Shape)> {
        let one = |slot: &Option<u32>, shape: Shape| slot.iter().map(|&slot| (slot, shape)).collect();
        match kind {
            Kind::Store {
                address: Address { base: Base::Place(Place::Slot(slot)), .. }, sources, ..
            } => {
                let &[source, ..] = &sources[..] else { return Vec::new() };
                let shape = self.of(source);
                let whole = match source {
                    Source::Slot(from) => types[from as usize].bits() == types[*slot as usize].bits(),
                    _ => false,
                };
                vec![(*slot, if whole || shape == Shape::Uniform { shape } else { narrowed(shape) })]
            }
            Kind::Load { access, address, results } => {
                let shape = self.loaded(*access, address, results, types);
                results.iter().flatten().map(|&slot| (slot, shape)).collect()
            }
            Kind::Atomic(atomic) => one(&atomic.result, Shape::General),
            Kind::Matrix(matrix) => {
                matrix.results.iter().filter_map(|(result, _)| Some((result.slot?, Shape::General))).collect()
            }
            Kind::Call(call) => {
                let written = call.results.iter().filter_map(|result| match result.to {
                    To::Slot(slot) | To::Place(Place::Slot(slot)) => Some(slot),
                    To::Nothing | To::Place(_) => None,
                });
                let arguments = self.passed(call);
                let shape = |slot: u32| arguments.unwrap_or_else(|| self.given(types[slot as usize]));
                written.map(|slot| (slot, shape(slot))).collect()
            }
            Kind::Barrier(barrier) => match &barrier.meeting {
                Meeting::Reduce { result, .. } => one(result, Shape::Uniform),
                Meeting::Wait | Meeting::Arrive => Vec::new(),
            },
            Kind::ActiveLanes { result }
            | Kind::Stack { stack: Stack::Allocate { result, .. } | Stack::Save { result }, .. } => {
                one(result, Shape::Uniform)
            }
            Kind::Exchange(exchange) => self.exchanged(exchange),
            Kind::Move { sources, results } => {
                let pairs = results.iter().zip(sources);
                pairs.filter_map(|(result, read)| Some((result.slot?, self.of(read.source)))).collect()
            }
            Kind::Repack { sources, results, .. } => {
                let shapes: Vec<Shape> = sources.iter().map(|&source| self.of(source)).collect();
                let shape = if shapes.contains(&Shape::Nothing) {
                    Shape::Nothing
                } else if shapes.iter().all(|&shape| shape == Shape::Uniform) {
                    Shape::Uniform
                } else {
                    Shape::General
                };
                results.iter().flatten().map(|&slot| (slot, shape)).collect()
            }
            Kind::Compute(compute) => {
                let shape = self.computed(compute);
                let written = compute.results.iter().filter_map(|result| result.slot);
                written.map(|slot| (slot, truth(types[slot as usize], shape))).collect()
            }
            Kind::ConvertAddress { source, result, .. } => one(result, self.of(*source)),
            Kind::IsInSpace { source, result, .. } => one(result, truth(Scalar::Predicate, self.of(*source))),
            Kind::Store { .. }
            | Kind::Stack { stack: Stack::Restore { .. }, .. }
            | Kind::Copy { .. }
            | Kind::Fence { .. }
            | Kind::Sleep
            | Kind::Nothing
            | Kind::Table { .. }
            | Kind::Go => Vec::new(),
        }
    }

    /// What lanes get from each other.
    fn exchanged(&self, exchange: &Exchange) -> Vec<(u32, Shape)> {
        let all = |shape: &dyn Fn(Scalar) -> Shape| {
            let written = |result: &Write| Some((result.slot?, shape(result.ty)));
            exchange.results.iter().filter_map(written).collect()
        };
        match exchange.operator {
            Exchanged::Shuffle(mode) => {
                let [from, by, bounds] = [0, 1, 2].map(|index: usize| exchange.sources[index].source);
                // From one lane to all.
                let broadcast =
                    mode == Shuffle::Index && self.of(by) == Shape::Uniform && bounds.constant() == Some(31);
                let same = self.of(from) == Shape::Uniform;
                let first = if broadcast || same { Shape::Uniform } else { Shape::General };
                // The predicate is no less than general: it depends on the lane.
                all(&|ty| if ty == Scalar::Predicate && !broadcast { Shape::General } else { first })
            }
            // The leader is the same for all, whether it is itself is not. Either may be unwanted.
            Exchanged::Elect => {
                all(&|ty| if ty == Scalar::Predicate { Shape::General } else { Shape::Uniform })
            }
            Exchanged::MatchAny => all(&|_| Shape::General),
            Exchanged::MatchAll | Exchanged::Vote(_) | Exchanged::Reduce | Exchanged::Nothing => {
                all(&|_| Shape::Uniform)
            }
        }
    }

    /// The shape of an argument or a result: what is said here is checked where it comes in.
    #[must_use]
    pub fn given(&self, ty: Scalar) -> Shape {
        let trusted = match self.trust {
            Trust::None => false,
            Trust::Numbers => !ty.is_float() && matches!(ty.bits(), 32 | 64),
            Trust::All => true,
        };
        if trusted { Shape::Uniform } else { Shape::General }
    }

    /// The shape of what a function gives back by that of its arguments, where those are trusted to tell.
    fn passed(&self, call: &Call) -> Option<Shape> {
        let Target::Function(_) = call.target else { return None };
        if self.trust == Trust::None {
            return None;
        }
        let mut shape = Shape::Uniform;
        for argument in &call.arguments {
            let of = match (argument.from, argument.passed) {
                (From::Source(source), Passed::Value(_)) => self.of(source),
                (From::Place(Place::Slot(slot)), Passed::Value(_)) => self.slots[slot as usize],
                _ => Shape::General,
            };
            match of {
                Shape::Nothing => shape = Shape::Nothing,
                Shape::Uniform => {}
                Shape::Steps(_) | Shape::General => return None,
            }
        }
        Some(shape)
    }

    /// What a load gives: the same where the address is.
    fn loaded(&self, access: Access, address: &Address, results: &[Option<u32>], types: &[Scalar]) -> Shape {
        match address.base {
            Base::Place(Place::Slot(slot)) => {
                let shape = self.slots[slot as usize];
                let bits = types[slot as usize].bits();
                let wider = results.iter().flatten().any(|&target| types[target as usize].bits() > bits);
                if wider { narrowed(shape) } else { shape }
            }
            Base::Place(Place::Parameter(_) | Place::Symbol(_)) => Shape::Uniform,
            Base::Place(Place::Argument(_)) => self.given(access.ty),
            Base::Place(Place::Local(_) | Place::Function(_)) => Shape::General,
            Base::Slot(slot) => match (self.slots[slot as usize], access.space) {
                (Shape::Nothing, _) => Shape::Nothing,
                (_, Space::Local | Space::Parameters) => Shape::General,
                (Shape::Uniform, Space::Generic) if self.local[slot as usize] => Shape::General,
                (Shape::Uniform, _) => Shape::Uniform,
                // What rows load that have one address each is checked as they do it; generic
                // addresses are not.
                (Shape::Steps(0), Space::Shared) => Shape::Steps(0),
                _ => Shape::General,
            },
            Base::Absolute => Shape::Uniform,
        }
    }

    /// The shape of what is computed from values alone.
    fn computed(&self, compute: &Compute) -> Shape {
        let shapes: Vec<Shape> = compute.sources.iter().map(|read| self.of(read.source)).collect();
        if shapes.contains(&Shape::Nothing) {
            return Shape::Nothing;
        }
        if shapes.iter().all(|&shape| shape == Shape::Uniform) && !compute.carries {
            return Shape::Uniform;
        }
        if shapes.contains(&Shape::General) || compute.carries {
            return Shape::General;
        }
        if shapes.iter().all(|&shape| matches!(shape, Shape::Uniform | Shape::Steps(0))) {
            // The same in each row; predicates are bits of lanes.
            return if has_predicates(compute) { Shape::General } else { Shape::Steps(0) };
        }
        match self.steps_of(compute, &shapes) {
            Some(step) => self.steps(step),
            None => Shape::General,
        }
    }

    /// The steps of a result whose sources have steps, given their shapes; `None` where they are not
    /// equal in general.
    #[must_use]
    pub fn steps_of(&self, compute: &Compute, shapes: &[Shape]) -> Option<i64> {
        let parts = || self.parts_of(compute, shapes).or_else(|| self.united(compute, shapes));
        steps_of(compute, shapes).or_else(parts)
    }

    /// The same for what sets bits besides those that differ within a row, as compilers add what cannot carry.
    fn united(&self, compute: &Compute, shapes: &[Shape]) -> Option<i64> {
        let (Operator::Or, &[one, other]) = (compute.algebra?.operator, shapes) else { return None };
        let ((step @ 1.., 0) | (0, step @ 1..)) = (one.step()?, other.step()?) else { return None };
        let differ = bits_that_differ(self.row, step)?;
        let clear = |read: &Read| u32::from(self.aligned(read.source)) >= differ;
        compute.sources.iter().all(clear).then_some(step)
    }

    /// The same for what keeps or drops the bits that differ within a row, as `%tid.x & 31` and
    /// `%tid.x / 32` do where rows are 32 lanes that begin at a multiple of it.
    fn parts_of(&self, compute: &Compute, shapes: &[Shape]) -> Option<i64> {
        self.parts_in(self.row, compute, *shapes.first()?)
    }

    /// The same in rows of so many lanes, given the first source's shape in rows as they are here or
    /// longer.
    fn parts_in(&self, row: u8, compute: &Compute, shape: Shape) -> Option<i64> {
        let [value, by] = &compute.sources[..] else { return None };
        let by = by.source.constant()?;
        let step = shape.step().filter(|step| *step > 0)?;
        let differ = bits_that_differ(row, step)?;
        // Rows in the midst of longer ones begin that much later.
        let later = if row == self.row { ALL_BITS } else { (step * i64::from(row)).trailing_zeros() as u8 };
        if differ > u32::from(self.aligned(value.source).min(later)) {
            return None;
        }
        let those = (1i64 << differ) - 1;
        match compute.algebra?.operator {
            Operator::And if by & those == those => Some(step),
            Operator::And if by & those == 0 => Some(0),
            Operator::ShiftRight if (i64::from(differ)..32).contains(&by) => Some(0),
            _ => None,
        }
    }

    /// Whether an operation has values that step, and its result has no shape.
    #[must_use]
    pub fn loses_steps(&self, operation: &Operation) -> bool {
        let Kind::Compute(compute) = &operation.kind else { return false };
        let steps = |read: &Read| matches!(self.of(read.source), Shape::Steps(step) if step != 0);
        let lost = |write: &Write| write.slot.is_some_and(|slot| self.slots[slot as usize] == Shape::General);
        compute.sources.first().is_some_and(steps) && compute.results.first().is_some_and(lost)
    }

    /// Whether such an operation would keep a shape in rows of so many lanes.
    #[must_use]
    pub fn keeps_in(&self, row: u8, operation: &Operation) -> bool {
        let Kind::Compute(compute) = &operation.kind else { return false };
        let shape = compute.sources.first().map(|read| self.of(read.source));
        self.loses_steps(operation) && shape.is_some_and(|shape| self.parts_in(row, compute, shape).is_some())
    }

    /// Whether an operation has the shape that is said of it only if something holds that has to be
    /// checked.
    #[must_use]
    pub fn is_speculative(&self, operation: &Operation) -> bool {
        match &operation.kind {
            Kind::Load { access, address, .. } => self.is_speculative_load(*access, address),
            Kind::Compute(compute) => self.is_speculative_compute(compute),
            _ => false,
        }
    }

    #[must_use]
    pub fn is_speculative_compute(&self, compute: &Compute) -> bool {
        widens(compute) && matches!(self.computed(compute), Shape::Steps(step) if step != 0)
    }

    /// The same for a load, whose generic address must not be one of local memory.
    #[must_use]
    pub fn is_speculative_load(&self, access: Access, address: &Address) -> bool {
        let uniform = |slot: u32| self.slots[slot as usize] == Shape::Uniform;
        access.space == Space::Generic
            && address.slot().is_some_and(uniform)
            && !self.is_local_address(address)
    }
}

/// How many low bits differ within rows of so many lanes, if the first lane has zeros there.
fn bits_that_differ(row: u8, step: i64) -> Option<u32> {
    let last = step.checked_mul(i64::from(row) - 1)?;
    Some(u64::BITS - (last as u64).leading_zeros())
}

/// Truth is a bit for each lane, or one for all.
fn truth(ty: Scalar, shape: Shape) -> Shape {
    match (ty, shape) {
        (Scalar::Predicate, Shape::Steps(_)) => Shape::General,
        _ => shape,
    }
}

fn narrowed(shape: Shape) -> Shape {
    match shape {
        Shape::Steps(step) if step != 0 => Shape::General,
        other => other,
    }
}

/// Whether any of what is read or written is a predicate.
pub(crate) fn has_predicates(compute: &Compute) -> bool {
    compute.sources.iter().any(|read| read.ty == Scalar::Predicate)
        || compute.results.iter().any(|result| result.ty == Scalar::Predicate)
}

/// Whether 64 bits are made of 32: steps stay equal if no lane is beyond the limit of 32 bits.
pub(crate) fn widens(compute: &Compute) -> bool {
    widened(compute).is_some()
}

/// The type of what is widened from 32 bits to 64, and how many of the sources have it.
pub(crate) fn widened(compute: &Compute) -> Option<(Scalar, usize)> {
    let Algebra { operator, ty } = compute.algebra?;
    if keeps_word(compute) {
        return Some((Scalar::U32, 1));
    }
    let sources = match operator {
        Operator::Convert { to, .. } if to.bits() == 64 => 1,
        Operator::Multiply(Half::Both) | Operator::MultiplyAdd(Half::Both) => 2,
        _ => return None,
    };
    (ty.bits() == 32).then_some((ty, sources))
}

/// Whether the low half of 64 bits is kept, which is as good as making 64 bits of it.
fn keeps_word(compute: &Compute) -> bool {
    let Some(Algebra { operator: Operator::And, ty }) = compute.algebra else { return false };
    let mask = compute.sources.get(1).and_then(|read| read.source.constant());
    ty.bits() == 64 && mask == Some(u32::MAX.into())
}

/// The steps of a result whose sources have steps, given their shapes; `None` where they are not equal
/// in general.
pub(crate) fn steps_of(compute: &Compute, shapes: &[Shape]) -> Option<i64> {
    let Algebra { operator, ty } = compute.algebra?;
    let step = |index: usize| shapes.get(index).and_then(|shape| shape.step());
    let constant = |index: usize| compute.sources.get(index).and_then(|read| read.source.constant());
    // A product has equal steps if one factor is the same constant in all lanes.
    let product = || match (constant(0), constant(1)) {
        _ if step(0) == Some(0) && step(1) == Some(0) => Some(0),
        // What is beyond the limit of 16 bits is not looked for.
        _ if ty.bits() < 32 => None,
        (_, Some(by)) => step(0)?.checked_mul(by),
        (Some(by), _) => step(1)?.checked_mul(by),
        _ => None,
    };
    match operator {
        Operator::Add => step(0)?.checked_add(step(1)?),
        Operator::Sum => step(0)?.checked_add(step(1)?)?.checked_add(step(2)?),
        Operator::Subtract => step(0)?.checked_sub(step(1)?),
        Operator::Negate => step(0)?.checked_neg(),
        Operator::Multiply(Half::Low | Half::Both) => product(),
        Operator::MultiplyAdd(Half::Low | Half::Both) => product()?.checked_add(step(2)?),
        Operator::ShiftLeft => {
            let by = constant(1).filter(|by| (0..32).contains(by))?;
            step(0)?.checked_mul(1 << by)
        }
        Operator::Convert { exact: true, .. } => step(0),
        Operator::And if keeps_word(compute) => step(0),
        Operator::Multiply(Half::High)
        | Operator::MultiplyAdd(Half::High)
        | Operator::Divide
        | Operator::Remainder
        | Operator::And
        | Operator::Or
        | Operator::ShiftRight
        | Operator::Convert { exact: false, .. }
        | Operator::Compare(_) => None,
    }
}
