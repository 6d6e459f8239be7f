//! How the values of registers run through the lanes of a warp: the same in all, in equal
//! steps, or anyhow.
//!
//! A shape holds as long as all 32 lanes run together, as they do in converged code. It holds for
//! all of a register's life. A few instructions keep their shape only under a condition that is
//! checked when they run. Those are *speculative*: a block begins with each, so that masked code
//! can take over there.
//!
//! A row is as many lanes as have consecutive `%tid.x`. Steps are equal within a row.

use std::collections::VecDeque;

use gangway_ptx::meaning::{
    Atomic, Bits, Compute, Conversion, Convert, ExchangeOperation, Integer, MemoryAccess, Part, Shuffle,
    Stack,
};
use gangway_ptx::{
    Body, Instruction, Meaning, Module, Opcode, Operand, SpecialRegister, StateSpace, Symbol, Type,
};

use crate::analysis::block::BlockShape;
use crate::analysis::layout::Place;
use crate::analysis::liveness::{Slots, accesses};

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

    fn step(self) -> Option<i64> {
        match self {
            Shape::Uniform | Shape::Nothing => Some(0),
            Shape::Steps(step) => Some(step),
            Shape::General => None,
        }
    }
}

/// Steps beyond this are treated as any value: offsets have to stay within instructions.
pub(crate) const MOST_STEP: i64 = 1 << 16;

/// How often all instructions are looked at, before it is only those that something has changed
/// for.
const PASSES: usize = 4;

pub(crate) struct Shapes {
    /// By slot.
    pub slots: Vec<Shape>,
    /// Whether values that come from elsewhere are taken to be the same in all lanes until they are
    /// not.
    trusts: bool,
    /// Slots that may hold addresses of local memory: what is known to is not taken for global
    /// memory.
    local: Vec<bool>,
    rows: u8,
}

impl Shapes {
    /// `zero` are slots that may be read before anything has written them: they hold zero in all
    /// lanes then.
    #[must_use]
    pub fn new(module: &Module, body: &Body, slots: &Slots, shape: BlockShape, zero: &[u32]) -> Self {
        let functions = module.functions.iter();
        let mut shapes = Shapes {
            slots: vec![Shape::Nothing; slots.len()],
            // In programs of GCC's offloading a warp is a thread of OpenMP, and its lanes do the
            // same.
            trusts: functions.into_iter().any(|function| function.name.starts_with("GOMP_")),
            local: vec![false; slots.len()],
            rows: 32 / shape.row.max(1),
        };
        for &slot in zero {
            shapes.slots[slot as usize] = Shape::Uniform;
        }
        let settled = (0..PASSES).any(|_| {
            crate::work::count(body.instructions.len());
            let visit = |changed, instruction| changed | shapes.visit(module, body, slots, instruction);
            !body.instructions.iter().fold(false, visit)
        });
        if !settled {
            shapes.settle(module, body, slots);
        }
        // Registers that nothing writes are zero.
        for shape in &mut shapes.slots {
            if *shape == Shape::Nothing {
                *shape = Shape::Uniform;
            }
        }
        shapes
    }

    /// Looks again at those instructions only that read something whose shape has changed. A shape
    /// changes a few times at most.
    fn settle(&mut self, module: &Module, body: &Body, slots: &Slots) {
        let access = |index: u32, tell: &mut dyn FnMut(u32, bool)| {
            accesses(module, body, slots, &body.instructions[index as usize], tell);
        };
        let all = 0..body.instructions.len() as u32;
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); slots.len()];
        for index in all.clone() {
            access(index, &mut |slot, write| {
                if !write {
                    readers[slot as usize].push(index);
                }
            });
        }
        let mut queued = vec![true; body.instructions.len()];
        let mut waiting: VecDeque<u32> = all.collect();
        let mut steps = 0;
        while let Some(index) = waiting.pop_front() {
            queued[index as usize] = false;
            steps += 1;
            if !self.visit(module, body, slots, &body.instructions[index as usize]) {
                continue;
            }
            access(index, &mut |slot, write| {
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

    fn steps(&self, step: i64) -> Shape {
        match step {
            0 if self.rows == 1 => Shape::Uniform,
            _ if step.abs() > MOST_STEP || self.rows == 32 => Shape::General,
            _ => Shape::Steps(step),
        }
    }

    /// The shape of a source operand.
    #[must_use]
    pub fn of(&self, slots: &Slots, operand: Operand) -> Shape {
        match operand {
            Operand::Register(id) | Operand::Negated(id) => self.slots[slots.of(id, 0) as usize],
            Operand::Component(id, element) => self.slots[slots.of(id, element) as usize],
            Operand::Special(special) => self.special(special),
            _ => Shape::Uniform,
        }
    }

    #[must_use]
    pub fn special(&self, special: SpecialRegister) -> Shape {
        use SpecialRegister::*;
        match special {
            TidX => self.steps(1),
            TidY | TidZ => self.steps(0),
            Laneid => self.steps(1),
            LanemaskEq | LanemaskLe | LanemaskLt | LanemaskGe | LanemaskGt => Shape::General,
            _ => Shape::Uniform,
        }
    }

    fn write(&mut self, slot: u32, shape: Shape, local: bool) -> bool {
        let joined = self.slots[slot as usize].join(shape);
        let changed = joined != self.slots[slot as usize] || local && !self.local[slot as usize];
        self.slots[slot as usize] = joined;
        self.local[slot as usize] |= local;
        changed
    }

    fn is_local(&self, slots: &Slots, operand: Operand) -> bool {
        match operand {
            Operand::Register(id) => self.local[slots.of(id, 0) as usize],
            Operand::Component(id, element) => self.local[slots.of(id, element) as usize],
            Operand::Symbol(symbol, _) => is_local_symbol(slots, symbol),
            Operand::Address(gangway_ptx::Base::Register(id), _) => self.local[slots.of(id, 0) as usize],
            Operand::Address(gangway_ptx::Base::Symbol(symbol), _) => is_local_symbol(slots, symbol),
            _ => false,
        }
    }

    fn visit(&mut self, module: &Module, body: &Body, slots: &Slots, instruction: &Instruction) -> bool {
        let opcode = module.opcode(instruction);
        let operands = body.operands(instruction);
        let results = self.results(module, body, slots, instruction);
        let guard = instruction
            .guard
            .map_or(Shape::Uniform, |guard| self.slots[slots.of(guard.register, 0) as usize]);
        let local = match opcode.meaning {
            Meaning::Load(_) | Meaning::Atomic(Atomic { returns: true, .. }) => false,
            Meaning::Stack(Stack::Allocate | Stack::Save, _) => true,
            Meaning::ConvertAddress { space: StateSpace::Local, .. } => true,
            _ => operands.iter().any(|&operand| self.is_local(slots, operand)),
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
            changed |= self.write(slot, joined, local);
        }
        changed
    }

    /// What an instruction writes, and in which shape.
    fn results(
        &self,
        module: &Module,
        body: &Body,
        slots: &Slots,
        instruction: &Instruction,
    ) -> Vec<(u32, Shape)> {
        let opcode = module.opcode(instruction);
        let operands = body.operands(instruction);
        let mut written = Vec::new();
        crate::analysis::liveness::accesses(module, body, slots, instruction, &mut |slot, write| {
            if write {
                written.push(slot);
            }
        });
        let all = |shape: Shape| written.iter().map(|&slot| (slot, shape)).collect::<Vec<_>>();
        match opcode.meaning {
            Meaning::Store(_) => match operands[1] {
                operand @ (Operand::Register(_) | Operand::Component(..)) => {
                    let shape = self.of(slots, operand);
                    let whole = written.first().is_some_and(|&slot| {
                        let register = register_type(body, operand);
                        register.is_some_and(|ty| ty.bits() == slots.types[slot as usize].bits())
                    });
                    all(if whole || shape == Shape::Uniform { shape } else { self.narrowed(shape) })
                }
                _ => all(Shape::Uniform),
            },
            Meaning::Load(access) => all(self.loaded(body, slots, access, operands)),
            Meaning::Atomic(_) | Meaning::Matrix(_) => all(Shape::General),
            Meaning::Control(_) => {
                // Only a call writes anything.
                written.iter().map(|&slot| (slot, self.given(slots.types[slot as usize]))).collect()
            }
            Meaning::ActiveMask | Meaning::Stack(..) | Meaning::Barrier(_) => all(Shape::Uniform),
            Meaning::Exchange(exchange) => self.exchanged(slots, exchange.op, operands, &written),
            Meaning::Move { vector, .. } => self.moved(body, slots, vector, operands, &written),
            Meaning::Copy(_) | Meaning::Fence | Meaning::Hint(_) => Vec::new(),
            Meaning::Compute(_) | Meaning::ConvertAddress { .. } | Meaning::IsInSpace(_) => {
                let shape = self.computed(slots, opcode, operands);
                written
                    .iter()
                    .map(|&slot| match (slots.types[slot as usize], shape) {
                        // Truth is a bit for each lane, or one for all.
                        (Type::Pred, Shape::Steps(_)) => (slot, Shape::General),
                        _ => (slot, shape),
                    })
                    .collect()
            }
        }
    }

    /// What lanes get from each other.
    fn exchanged(
        &self,
        slots: &Slots,
        op: ExchangeOperation,
        operands: &[Operand],
        written: &[u32],
    ) -> Vec<(u32, Shape)> {
        let all = |shape: Shape| written.iter().map(|&slot| (slot, shape)).collect();
        match op {
            ExchangeOperation::Shuffle(mode) => {
                // From one lane to all.
                let broadcast = mode == Shuffle::Index
                    && self.of(slots, operands[3]) == Shape::Uniform
                    && matches!(operands[4], Operand::Integer(31));
                let same = self.of(slots, operands[2]) == Shape::Uniform;
                let first = if broadcast || same { Shape::Uniform } else { Shape::General };
                // The predicate is no less than general: it depends on the lane.
                let shape = |slot: u32| match slots.types[slot as usize] {
                    Type::Pred if !broadcast => Shape::General,
                    _ => first,
                };
                written.iter().map(|&slot| (slot, shape(slot))).collect()
            }
            // The leader is the same for all, whether it is itself is not. Either may be unwanted.
            ExchangeOperation::Elect => {
                let shape = |slot: u32| match slots.types[slot as usize] {
                    Type::Pred => Shape::General,
                    _ => Shape::Uniform,
                };
                written.iter().map(|&slot| (slot, shape(slot))).collect()
            }
            ExchangeOperation::MatchAny(_) => all(Shape::General),
            ExchangeOperation::MatchAll(_)
            | ExchangeOperation::Vote(_)
            | ExchangeOperation::Reduce(..)
            | ExchangeOperation::Meet => all(Shape::Uniform),
        }
    }

    /// The shape of an argument or a result: what is said here is checked where it comes in.
    #[must_use]
    pub fn given(&self, ty: Type) -> Shape {
        let number = !ty.is_float() && matches!(ty.bits(), 32 | 64);
        if self.trusts && number { Shape::Uniform } else { Shape::General }
    }

    fn narrowed(&self, shape: Shape) -> Shape {
        match shape {
            Shape::Steps(step) if step != 0 => Shape::General,
            other => other,
        }
    }

    fn moved(
        &self,
        body: &Body,
        slots: &Slots,
        vector: u8,
        operands: &[Operand],
        written: &[u32],
    ) -> Vec<(u32, Shape)> {
        let sources: Vec<Operand> = elements(body, operands[1]);
        let shapes: Vec<Shape> = sources.iter().map(|&source| self.of(slots, source)).collect();
        if sources.len() == written.len() && (vector > 1 || sources.len() == 1) {
            return written.iter().copied().zip(shapes).collect();
        }
        let uniform = shapes.iter().all(|&shape| matches!(shape, Shape::Uniform | Shape::Nothing));
        let shape = if shapes.contains(&Shape::Nothing) {
            Shape::Nothing
        } else if uniform {
            Shape::Uniform
        } else {
            Shape::General
        };
        written.iter().map(|&slot| (slot, shape)).collect()
    }

    /// What a load gives: the same where the address is.
    fn loaded(&self, body: &Body, slots: &Slots, access: MemoryAccess, operands: &[Operand]) -> Shape {
        match operands[1] {
            Operand::Address(gangway_ptx::Base::Symbol(symbol), _) => match slots.layout.place(symbol) {
                Some(Place::Slot(slot)) => {
                    let shape = self.slots[slot as usize];
                    let wider = elements(body, operands[0]).iter().any(|&target| {
                        register_type(body, target)
                            .is_some_and(|ty| ty.bits() > slots.types[slot as usize].bits())
                    });
                    if wider { self.narrowed(shape) } else { shape }
                }
                Some(Place::Parameter(_)) => Shape::Uniform,
                Some(Place::Symbol(_)) => Shape::Uniform,
                Some(Place::Argument(_)) => self.given(access.ty),
                Some(Place::Local(_)) | None => Shape::General,
            },
            Operand::Address(gangway_ptx::Base::Register(id), _) => {
                let shape = self.slots[slots.of(id, 0) as usize];
                match (shape, access.space) {
                    (Shape::Nothing, _) => Shape::Nothing,
                    (_, StateSpace::Local | StateSpace::Param) => Shape::General,
                    (Shape::Uniform, StateSpace::Generic) if self.is_local(slots, operands[1]) => {
                        Shape::General
                    }
                    (Shape::Uniform, _) => Shape::Uniform,
                    // What rows load that have one address each is checked as they do it; generic
                    // addresses are not.
                    (Shape::Steps(0), StateSpace::Shared) => Shape::Steps(0),
                    _ => Shape::General,
                }
            }
            _ => Shape::Uniform,
        }
    }

    /// The shape of what an instruction computes from values alone.
    fn computed(&self, slots: &Slots, opcode: &Opcode, operands: &[Operand]) -> Shape {
        let mut shapes = Vec::with_capacity(4);
        for (&operand, expected) in operands.iter().zip(&opcode.expected) {
            if !expected.role.writes() && operand != Operand::Absent {
                shapes.push(self.of(slots, operand));
            }
        }
        if shapes.contains(&Shape::Nothing) {
            return Shape::Nothing;
        }
        if shapes.iter().all(|&shape| shape == Shape::Uniform) && !opcode.meaning.carries() {
            return Shape::Uniform;
        }
        if shapes.contains(&Shape::General) || opcode.meaning.carries() {
            return Shape::General;
        }
        if shapes.iter().all(|&shape| matches!(shape, Shape::Uniform | Shape::Steps(0))) {
            // The same in each row; predicates are bits of lanes.
            let predicates = opcode.expected.iter().any(|expected| expected.ty == Some(Type::Pred));
            return if predicates { Shape::General } else { Shape::Steps(0) };
        }
        match steps_of(opcode.meaning, operands, &shapes) {
            Some(step) => self.steps(step),
            None => Shape::General,
        }
    }

    /// Whether an instruction has the shape that is said of it only if something holds that has to
    /// be checked.
    #[must_use]
    pub fn is_speculative(&self, slots: &Slots, opcode: &Opcode, operands: &[Operand]) -> bool {
        match opcode.meaning {
            Meaning::Load(access) => self.is_speculative_load(slots, access, operands),
            Meaning::Compute(compute) if widens(compute) => {
                matches!(self.computed(slots, opcode, operands), Shape::Steps(step) if step != 0)
            }
            _ => false,
        }
    }

    /// The same for a load, whose generic address must not be one of local memory.
    #[must_use]
    pub fn is_speculative_load(&self, slots: &Slots, access: MemoryAccess, operands: &[Operand]) -> bool {
        match operands[1] {
            Operand::Address(gangway_ptx::Base::Register(id), _) => {
                access.space == StateSpace::Generic
                    && self.slots[slots.of(id, 0) as usize] == Shape::Uniform
                    && !self.is_local(slots, operands[1])
            }
            _ => false,
        }
    }
}

fn is_local_symbol(slots: &Slots, symbol: Symbol) -> bool {
    matches!(slots.layout.place(symbol), Some(Place::Local(_)))
}

fn elements(body: &Body, operand: Operand) -> Vec<Operand> {
    match operand {
        Operand::Vector { .. } => body.elements(operand).to_vec(),
        Operand::Register(id) if body.register(id).vector > 1 => {
            (0..body.register(id).vector).map(|element| Operand::Component(id, element)).collect()
        }
        other => vec![other],
    }
}

fn register_type(body: &Body, operand: Operand) -> Option<Type> {
    match operand {
        Operand::Register(id) | Operand::Component(id, _) => Some(body.register(id).ty),
        _ => None,
    }
}

/// Whether an instruction makes 64 bits of 32: steps stay equal if no lane is beyond the limit of
/// 32 bits.
pub(crate) fn widens(compute: Compute) -> bool {
    widened(compute).is_some()
}

/// The type of what an instruction widens from 32 bits to 64, and how many of its sources have it.
pub(crate) fn widened(compute: Compute) -> Option<(Type, usize)> {
    match compute {
        Compute::Convert(Convert { to, from, .. }) => {
            (to.bits() == 64 && from.bits() == 32).then_some((from, 1))
        }
        Compute::Integer { op: Integer::Mul(Part::Wide) | Integer::Mad { part: Part::Wide, .. }, ty } => {
            (ty.bits() == 32).then_some((ty, 2))
        }
        _ => None,
    }
}

/// The steps of a result whose operands have steps, given the shapes of the sources; `None` where
/// they are not equal in general.
pub(crate) fn steps_of(meaning: Meaning, operands: &[Operand], shapes: &[Shape]) -> Option<i64> {
    let step = |index: usize| shapes.get(index).and_then(|shape| shape.step());
    let constant = |index: usize| match operands.get(index) {
        Some(&Operand::Integer(value)) => Some(value),
        _ => None,
    };
    // A product has equal steps if one factor is the same constant in all lanes.
    let product = || match (constant(1), constant(2)) {
        _ if step(0) == Some(0) && step(1) == Some(0) => Some(0),
        (_, Some(by)) => step(0)?.checked_mul(by),
        (Some(by), _) => step(1)?.checked_mul(by),
        _ => None,
    };
    let fits = |ty: Type| matches!(ty.bits(), 32 | 64);
    match meaning {
        Meaning::ConvertAddress { .. } => step(0),
        Meaning::Compute(Compute::Integer { op, ty }) if fits(ty) => match op {
            Integer::Add { sat: false } => step(0)?.checked_add(step(1)?),
            Integer::Sub { sat: false } => step(0)?.checked_sub(step(1)?),
            Integer::Neg => step(0)?.checked_neg(),
            Integer::Mul(Part::Low | Part::Wide) => product(),
            Integer::Mad { part: Part::Low | Part::Wide, sat: false } => product()?.checked_add(step(2)?),
            Integer::Add { sat: true }
            | Integer::Sub { sat: true }
            | Integer::Mul(Part::High)
            | Integer::Mad { .. }
            | Integer::Mul24 { .. }
            | Integer::Mad24 { .. }
            | Integer::Sad
            | Integer::Div
            | Integer::Rem
            | Integer::Abs
            | Integer::Min { .. }
            | Integer::Max { .. } => None,
        },
        Meaning::Compute(Compute::Bits { op: Bits::ShiftLeft, ty }) if fits(ty) => {
            let by = constant(2).filter(|&by| (0..32).contains(&by))?;
            step(0)?.checked_mul(1 << by)
        }
        Meaning::Compute(Compute::Convert(Convert {
            between: Conversion::Integers, to, from, mode, ..
        })) => (fits(to) && fits(from) && !mode.sat).then(|| step(0))?,
        _ => None,
    }
}
