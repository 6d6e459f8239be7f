//! The converged flavour: all lanes of the warp run, and the code knows it.
//!
//! Registers are SSA values in the form that [`shape`](super::shape) finds for them. In three
//! cases the registers go to a frame, and masked code goes on from there. Lanes part, or they
//! wait for some lanes only, or a condition of a speculative operation does not hold. When all
//! lanes have met again, masked code gives back the number of their block. This code goes on if
//! the registers still have their shapes.

mod control;
mod hand_over;
mod lanewise;
mod turns;

use std::ops::Range;

use cranelift_codegen::ir::types::{I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{
    Block as Label, InstBuilder, SourceLoc, StackSlotData, StackSlotKind, Type as Clif, Value,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Variable};
use gangway_simt::{End, Kind, Meeting, Scalar, predecessors};

use crate::abi::{ALL, Flavour, LANES};
use crate::analysis::region::Regions;
use crate::analysis::shape::Shape;
use crate::analysis::unit::Unit;
use crate::cranelift::emit::{Emitter, Registers};
use crate::cranelift::homes::fetch;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::{Known, Steps, field};
use crate::cranelift::value::{Lanes, Predicate, QUADS};
use crate::frame::in_frame;
use crate::support::Helper;

/// A slot that lives across blocks, as variables of Cranelift's.
#[derive(Clone, Debug)]
struct Held {
    shape: Shape,
    variables: Box<[Variable]>,
}

/// Registers in variables.
struct Variables<'a> {
    held: &'a [Option<Held>],
}

impl Registers for Variables<'_> {
    fn fetch(&mut self, builder: &mut FunctionBuilder, slot: u32, ty: Scalar) -> Known {
        let Some(held) = &self.held[slot as usize] else {
            // A register that nothing has written is zero.
            return Known::Input(fetch(builder, Value::from_u32(0), 0, ty));
        };
        let values: Box<[Value]> = held.variables.iter().map(|&variable| builder.use_var(variable)).collect();
        match (held.shape, ty) {
            (Shape::Uniform, Scalar::Predicate) => {
                Known::Input(Input::Predicate(Predicate::Uniform(values[0])))
            }
            (_, Scalar::Predicate) => Known::Input(Input::Predicate(Predicate::Bits(values[0]))),
            (Shape::Uniform, _) => Known::lanes(Lanes::Uniform(values[0])),
            (Shape::Steps(step), _) => Known::Steps(Steps { bases: values, step }),
            _ => Known::lanes(Lanes::Vector(values)),
        }
    }
}

/// How many values a slot of a shape has, and of which type.
fn form(shape: Shape, ty: Scalar, rows: usize) -> (usize, Clif) {
    let scalar = if ty.is_wide() { I64 } else { I32 };
    match (shape, ty) {
        (_, Scalar::Predicate) => (1, I32),
        (Shape::Uniform, _) => (1, scalar),
        (Shape::Steps(_), _) => (rows, scalar),
        _ if ty.is_wide() => (16, I64X2),
        _ => (8, I32X4),
    }
}

struct Converged<'a, 'b> {
    emit: Emitter<'a, 'b>,
    frame: Value,
    held: &'a [Option<Held>],
    labels: Vec<Label>,
    /// Steps back, which cost fuel.
    returns: Vec<Option<Label>>,
    /// Blocks that code goes back to.
    repeats: Vec<bool>,
    /// Blocks where this code goes on after masked code.
    joins: Vec<u32>,
    regions: Regions,
    /// Runs masked code at the blocks that lanes wait for in the frame.
    hand_over: Label,
    rows: usize,
}

/// Emits the function with this signature: warp, arguments; it gives the lanes that come back.
pub(crate) fn emit(unit: &Unit, mut builder: FunctionBuilder, frontend: TargetFrontendConfig) {
    let rows = LANES / usize::from(unit.row);
    let held: Vec<Option<Held>> = (0..unit.code.slots.len() as u32)
        .map(|slot| {
            let ty = unit.code.slots[slot as usize];
            unit.liveness.across.contains(slot).then(|| {
                let shape = unit.shapes.slots[slot as usize];
                let (count, ty) = form(shape, ty, rows);
                Held { shape, variables: (0..count).map(|_| builder.declare_var(ty)).collect() }
            })
        })
        .collect();
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let &[warp, arguments] = builder.block_params(entry) else {
        unreachable!("the signature has two parameters");
    };
    let slot = builder.create_sized_stack_slot(StackSlotData::new(
        StackSlotKind::ExplicitSlot,
        unit.frame as u32,
        4,
    ));
    let frame = builder.ins().stack_addr(I64, slot, 0);
    let blocks = unit.code.blocks.len();
    let labels = (0..blocks).map(|_| builder.create_block()).collect();
    let hand_over = builder.create_block();
    let before = predecessors(&unit.code.blocks).into_iter().zip(0u32..);
    let repeats = before.map(|(before, block)| before.iter().any(|&other| other >= block)).collect();
    let mut emit = Emitter::new(unit, builder, warp, arguments, Box::new(Variables { held: &held }));
    emit.converged = true;
    let mut converged = Converged {
        emit,
        frame,
        held: &held,
        labels,
        returns: vec![None; blocks],
        repeats,
        joins: crate::analysis::joins::joins(unit),
        regions: Regions::new(unit),
        hand_over,
        rows,
    };
    converged.begin();
    for block in 0..blocks as u32 {
        converged.block(block);
    }
    converged.steps_back();
    converged.hand_over();
    converged.emit.builder.seal_all_blocks();
    converged.emit.builder.finalize(frontend);
}

/// Emits the function as a call of its masked flavour for all lanes.
pub(crate) fn emit_in_memory(unit: &Unit, mut builder: FunctionBuilder, frontend: TargetFrontendConfig) {
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let &[warp, arguments] = builder.block_params(entry) else {
        unreachable!("the signature has two parameters");
    };
    let held = Box::new(Variables { held: &[] });
    let mut emit = Emitter::new(unit, builder, warp, arguments, held);
    emit.mask = emit.builder.ins().iconst(I32, i64::from(ALL));
    let lanes = emit.mask;
    let back = if unit.waits() {
        let function = emit.number(unit.index.into());
        let back = emit.call(Helper::Start, &[function, arguments, lanes]);
        emit.builder.ins().ireduce(I32, back)
    } else {
        let code = emit.code_of(unit.index, Flavour::Masked);
        emit.enter(code, arguments, lanes)
    };
    emit.builder.ins().return_(&[back]);
    emit.builder.seal_all_blocks();
    emit.builder.finalize(frontend);
}

impl Converged<'_, '_> {
    fn switch(&mut self, label: Label) {
        self.emit.builder.switch_to_block(label);
    }

    fn at(&mut self, operation: u32) {
        self.emit.builder.set_srcloc(SourceLoc::new(operation));
    }

    fn store(&mut self, value: Value, offset: i32) {
        self.emit.store_at(value, self.frame, offset);
    }

    fn label(&mut self) -> Label {
        self.emit.builder.create_block()
    }

    fn cold_label(&mut self) -> Label {
        let label = self.label();
        self.emit.builder.set_cold_block(label);
        label
    }

    fn begin(&mut self) {
        let unit = self.emit.unit;
        self.emit.mask = self.emit.builder.ins().iconst(I32, i64::from(ALL));
        let lanes = self.emit.mask;
        self.emit.check_stack(lanes);
        let saved = self.emit.enter_local();
        self.store(saved, in_frame!(saved_top));
        self.emit.spend_entry();
        let base = self.emit.local_base;
        self.store(base, in_frame!(local_base));
        // And it is not claimed.
        let converges = self.emit.number(1);
        self.store(converges, in_frame!(converges));
        if unit.waits() {
            let parent = self.emit.load_field(I64, field!(frame));
            self.store(parent, in_frame!(parent));
        }
        for &slot in unit.liveness.entering(0) {
            let zero = fetch(&mut self.emit.builder, self.frame, 0, unit.code.slots[slot as usize]);
            self.keep(slot, Known::Input(zero));
        }
        self.check_arguments();
        let first = self.labels[0];
        self.emit.builder.ins().jump(first, &[]);
    }

    /// Arguments that are taken to be the same in all lanes have to be.
    fn check_arguments(&mut self) {
        let unit = self.emit.unit;
        let mut same = None;
        for &(number, ty) in &unit.alike {
            let pointer = self.emit.load_at(I64, self.emit.arguments, 8 * number as i32);
            let lanes = Lanes::load(&mut self.emit.builder, ty.is_wide(), pointer, 0);
            self.differences(&lanes, &mut same);
        }
        if let Some(different) = same {
            let (alike, general) = (self.label(), self.cold_label());
            let different = self.any_bit(different);
            self.emit.builder.ins().brif(different, general, &[], alike, &[]);
            self.switch(general);
            self.stop_converging();
            self.leave_for(&[(0, None)], &[]);
            self.switch(alike);
        }
    }

    /// Collects in which bits lanes differ from the first one.
    fn differences(&mut self, lanes: &Lanes, all: &mut Option<Value>) {
        let Lanes::Vector(vectors) = lanes else { return };
        let builder = &mut self.emit.builder;
        let first = lanes.lane(builder, 0);
        let first = Lanes::Uniform(first).vectors(builder)[0];
        for &vector in vectors {
            let different = builder.ins().bxor(vector, first);
            let different = crate::cranelift::value::cast(builder, I64X2, different);
            *all = Some(match *all {
                None => different,
                Some(others) => builder.ins().bor(others, different),
            });
        }
    }

    /// Whether any bit of a vector is set.
    fn any_bit(&mut self, vector: Value) -> Value {
        self.emit.builder.ins().vany_true(vector)
    }

    fn block(&mut self, number: u32) {
        let unit = self.emit.unit;
        let block = &unit.code.blocks[number as usize];
        self.switch(self.labels[number as usize]);
        self.emit.forget();
        if self.repeats[number as usize] {
            self.order_parameters(number);
        }
        self.lanewise(number);
        let Range { mut start, end } = block.operations;
        if block.collective {
            self.at(start);
            if let Kind::Exchange(exchange) = &unit.operation(start).kind {
                self.meet(number, exchange);
            }
            self.emit.together(start);
            start += 1;
        }
        self.straight(number, start..end, &[(number, None)]);
        self.end(number, &block.end);
    }

    /// Makes the parameters of a loop lane after lane, rather than register after register.
    /// Cranelift computes what a jump passes in the order of the parameters: so it is done with
    /// some lanes before it begins with the next, which takes few registers.
    fn order_parameters(&mut self, number: u32) {
        let entering = self.emit.unit.liveness.entering(number);
        let held: Vec<&Held> =
            entering.iter().filter_map(|&slot| self.held[slot as usize].as_ref()).collect();
        for quad in 0..QUADS {
            for held in held.iter().filter(|held| held.variables.len() >= QUADS) {
                let each = held.variables.len() / QUADS;
                for &variable in &held.variables[quad * each..][..each] {
                    self.emit.builder.use_var(variable);
                }
            }
        }
    }

    fn end(&mut self, number: u32, end: &End) {
        match end {
            End::Jump(to) => {
                self.flush(number);
                self.go(number, *to);
            }
            End::Branch(guard, yes, no) => self.branch(number, *guard, *yes, *no),
            End::Table { operation, targets } => self.table(number, *operation, targets),
            End::Barrier { operation, next } => {
                self.at(*operation);
                let barrier = self.emit.barrier_of(*operation);
                let flags = self.emit.pass_barrier(barrier);
                let (mask, flags) = (self.emit.mask, self.emit.number(flags));
                if barrier.meeting == Meeting::Arrive {
                    self.emit.call(Helper::Arrive, &[mask, flags]);
                } else {
                    self.emit.call(Helper::BarrierAll, &[flags]);
                    self.emit.barrier_result(barrier);
                }
                self.flush(number);
                self.go(number, *next);
            }
            End::Call { operation, next } => self.call(number, *operation, *next),
            End::Return => {
                self.emit.copy_results();
                let all = self.emit.mask;
                self.leave_function(self.emit.unit.entry, all);
            }
            End::Exit => {
                let nobody = self.emit.builder.ins().iconst(I32, 0);
                self.leave_function(true, nobody);
            }
            End::Trap { operation } => {
                self.at(*operation);
                let mask = self.emit.mask;
                self.emit.call(Helper::Trap, &[mask]);
                self.leave_function(false, mask);
            }
        }
    }

    fn leave_function(&mut self, exits: bool, back: Value) {
        if exits {
            let all = self.emit.mask;
            self.emit.store_field(all, field!(exited));
        }
        let top = self.emit.load_at(I64, self.frame, in_frame!(saved_top));
        self.emit.store_field(top, field!(local_top));
        self.emit.builder.ins().return_(&[back]);
    }

    /// Writes what the block has changed and others need to variables.
    fn flush(&mut self, number: u32) {
        let unit = self.emit.unit;
        let block = &unit.code.blocks[number as usize];
        for slot in self.emit.written.take() {
            if unit.liveness.leaves(block, slot) {
                let value = self.emit.known(slot);
                self.keep(slot, value);
            }
        }
    }

    /// Puts a value into a slot's variables, in the form of the slot's shape.
    fn keep(&mut self, slot: u32, value: Known) {
        let Some(held) = &self.held[slot as usize] else { return };
        let values = self.formed(held.shape, value);
        for (&variable, &value) in held.variables.iter().zip(&values) {
            self.emit.builder.def_var(variable, value);
        }
    }

    fn formed(&mut self, shape: Shape, value: Known) -> Box<[Value]> {
        let rows = self.rows;
        match (shape, value) {
            (Shape::Uniform, Known::Input(Input::Predicate(value))) => {
                [value.uniform(&mut self.emit.builder)].into()
            }
            (_, Known::Input(Input::Predicate(value))) => [value.bits(&mut self.emit.builder)].into(),
            (Shape::Uniform, Known::Input(Input::Lanes(value))) => {
                [value.lane(&mut self.emit.builder, 0)].into()
            }
            (Shape::Uniform, Known::Steps(steps)) => [steps.bases[0]].into(),
            (Shape::Steps(_), Known::Steps(steps)) if steps.bases.len() == rows => steps.bases,
            (Shape::Steps(_), Known::Steps(steps)) => vec![steps.bases[0]; rows].into(),
            (Shape::Steps(_), Known::Input(Input::Lanes(value))) => {
                (0..rows).map(|row| value.lane(&mut self.emit.builder, row * (LANES / rows))).collect()
            }
            (_, Known::Steps(steps)) => self.emit.spread(&steps).vectors(&mut self.emit.builder),
            (_, Known::Input(Input::Lanes(value))) => value.vectors(&mut self.emit.builder),
        }
    }
}
