//! The converged flavour: all lanes of the warp run, and the code knows it.
//!
//! Registers are SSA values in the form that [`shape`](super::shape) finds for them. Where lanes part, where
//! they wait for lanes that are not all, and where something does not hold that a speculative instruction needs,
//! the registers go to a frame and masked code goes on from there; when all lanes have
//! met again, it gives back the number of their block, and if registers are still of their
//! shapes, this code goes on.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{
    AbiParam, Block as Label, BlockCall, InstBuilder, JumpTableData, SigRef, Signature, SourceLoc,
    StackSlotData, StackSlotKind, Type as Clif, Value,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use gangway_ptx::{Guard, Operand, Type, Word};

use super::emit::{Emitter, Known, Registers, Steps, field};
use super::frame::{self, Frame, group};
use super::graph::End;
use super::layout::Place;
use super::masked::fetch;
use super::region::{Region, Regions};
use super::shape::Shape;
use super::unit::Unit;
use crate::abi::{ALL, Flavour, LANES};
use crate::lower::Input;
use crate::support::Helper;
use crate::value::{Lanes, Predicate, QUADS, is_wide};

/// The offset of a field of the frame.
macro_rules! in_frame {
    ($name:ident) => {
        std::mem::offset_of!(Frame, $name) as i32
    };
}

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
    fn fetch(&mut self, builder: &mut FunctionBuilder, slot: u32, ty: Type) -> Known {
        let Some(held) = &self.held[slot as usize] else {
            // What nobody has written is zero.
            return Known::Input(fetch(builder, Value::from_u32(0), 0, ty));
        };
        let values: Box<[Value]> = held.variables.iter().map(|&variable| builder.use_var(variable)).collect();
        match (held.shape, ty) {
            (Shape::Uniform, Type::Pred) => Known::Input(Input::Predicate(Predicate::Uniform(values[0]))),
            (_, Type::Pred) => Known::Input(Input::Predicate(Predicate::Bits(values[0]))),
            (Shape::Uniform, _) => Known::lanes(Lanes::Uniform(values[0])),
            (Shape::Steps(step), _) => Known::Steps(Steps { bases: values, step }),
            _ => Known::lanes(Lanes::Vector(values)),
        }
    }
}

/// How many values a slot of a shape has, and of which type.
fn form(shape: Shape, ty: Type, rows: usize) -> (usize, Clif) {
    let scalar = if is_wide(ty) { I64 } else { I32 };
    match (shape, ty) {
        (_, Type::Pred) => (1, I32),
        (Shape::Uniform, _) => (1, scalar),
        (Shape::Steps(_), _) => (rows, scalar),
        _ if is_wide(ty) => (16, I64X2),
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
    masked: Option<SigRef>,
    rows: usize,
}

/// The blocks where lanes that have parted are together again: converged code is entered there.
pub(crate) fn joins(unit: &Unit) -> Vec<u32> {
    let after = super::dominance::post_dominators(&unit.graph);
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
    }
    joins.sort_unstable();
    joins.dedup();
    joins
}

/// Emits the function with this signature: warp, arguments; it gives the lanes that come back.
pub(crate) fn emit(unit: &Unit, mut builder: FunctionBuilder) {
    let rows = LANES / unit.shape.row.max(1) as usize;
    let held: Vec<Option<Held>> = (0..unit.slots.len() as u32)
        .map(|slot| {
            let ty = unit.slots.types[slot as usize];
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
    let blocks = unit.graph.blocks.len();
    let labels = (0..blocks).map(|_| builder.create_block()).collect();
    let hand_over = builder.create_block();
    let before = unit.graph.predecessors().into_iter().zip(0u32..);
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
        joins: joins(unit),
        regions: Regions::new(unit),
        hand_over,
        masked: None,
        rows,
    };
    converged.begin();
    for block in 0..blocks as u32 {
        converged.block(block);
    }
    converged.steps_back();
    converged.hand_over();
    converged.emit.builder.seal_all_blocks();
    converged.emit.builder.finalize(unit.frontend);
}

impl Converged<'_, '_> {
    fn switch(&mut self, label: Label) {
        self.emit.builder.switch_to_block(label);
    }

    fn at(&mut self, instruction: u32) {
        self.emit.builder.set_srcloc(SourceLoc::new(instruction));
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
        let saved = self.emit.enter_local();
        self.store(saved, in_frame!(saved_top));
        let base = self.emit.local_base;
        self.store(base, in_frame!(local_base));
        let converges = self.emit.builder.ins().iconst(I32, 1);
        self.store(converges, in_frame!(converges));
        for slot in unit.liveness.entering[0].iter() {
            let zero = fetch(&mut self.emit.builder, self.frame, 0, unit.slots.types[slot as usize]);
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
        for (place, parameter) in unit.slots.layout.parameters.iter().zip(&unit.function.parameters) {
            if let Place::Argument(number) = *place
                && unit.shapes.given(parameter.ty) == Shape::Uniform
            {
                let pointer = self.emit.load_at(I64, self.emit.arguments, 8 * number as i32);
                let lanes = Lanes::load(&mut self.emit.builder, is_wide(parameter.ty), pointer, 0);
                self.differences(&lanes, &mut same);
            }
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

    fn stop_converging(&mut self) {
        let zero = self.emit.builder.ins().iconst(I32, 0);
        self.store(zero, in_frame!(converges));
    }

    /// Collects in which bits lanes differ from the first one.
    fn differences(&mut self, lanes: &Lanes, all: &mut Option<Value>) {
        let Lanes::Vector(vectors) = lanes else { return };
        let builder = &mut self.emit.builder;
        let first = lanes.lane(builder, 0);
        let first = Lanes::Uniform(first).vectors(builder)[0];
        for &vector in vectors {
            let different = builder.ins().bxor(vector, first);
            let different = crate::value::cast(builder, I64X2, different);
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
        let block = &unit.graph.blocks[number as usize];
        self.switch(self.labels[number as usize]);
        self.emit.forget();
        if self.repeats[number as usize] {
            self.order_parameters(number);
        }
        self.emit.ahead = block.instructions.clone();
        for index in block.instructions.clone() {
            self.at(index);
            if block.collective && index == block.instructions.start {
                self.meet(number, index);
                self.emit.collective(index, None);
            } else {
                self.expect(number, index);
                self.emit.instruction(index);
            }
        }
        self.end(number, &block.end);
    }

    /// Makes the parameters of a loop lane after lane, rather than register after register.
    /// Cranelift computes what a jump passes in the order of the parameters: so it is done with
    /// some lanes before it begins with the next, which takes few registers.
    fn order_parameters(&mut self, number: u32) {
        let entering = &self.emit.unit.liveness.entering[number as usize];
        let held: Vec<&Held> = entering.iter().filter_map(|slot| self.held[slot as usize].as_ref()).collect();
        for quad in 0..QUADS {
            for held in held.iter().filter(|held| held.variables.len() >= QUADS) {
                let each = held.variables.len() / QUADS;
                for &variable in &held.variables[quad * each..][..each] {
                    self.emit.builder.use_var(variable);
                }
            }
        }
    }

    /// Checks what a speculative instruction, which begins a block, needs.
    fn expect(&mut self, number: u32, index: u32) {
        if let Some((fine, leave)) = self.expected(index) {
            self.switch(leave);
            self.leave_for(&[(number, None)], &[number]);
            self.switch(fine);
        }
    }

    /// Branches by whether what a speculative instruction needs holds, and whither.
    fn expected(&mut self, index: u32) -> Option<(Label, Label)> {
        let unit = self.emit.unit;
        let instruction = &unit.body.instructions[index as usize];
        let opcode = unit.module.opcode(instruction);
        if !unit.shapes.is_speculative(&unit.slots, opcode, unit.body.operands(instruction)) {
            return None;
        }
        let wrong = self.emit.expectation(instruction)?;
        let (fine, leave) = (self.label(), self.cold_label());
        self.emit.builder.ins().brif(wrong, leave, &[], fine, &[]);
        Some((fine, leave))
    }

    fn end(&mut self, number: u32, end: &End) {
        match end {
            End::Jump(to) => {
                self.flush(number);
                self.go(number, *to);
            }
            End::Branch(guard, yes, no) => self.branch(number, *guard, *yes, *no),
            End::Table { instruction, targets } => self.table(number, *instruction, targets),
            End::Barrier { instruction, next } => {
                self.at(*instruction);
                let opcode = unit_opcode(self.emit.unit, *instruction);
                let flags = self.emit.pass_barrier(*instruction);
                let (mask, flags) = (self.emit.mask, self.emit.number(flags));
                if opcode.has(Word::Arrive) {
                    self.emit.call(Helper::Arrive, &[mask, flags]);
                } else {
                    self.emit.call(Helper::BarrierAll, &[flags]);
                    self.emit.barrier_result(*instruction);
                }
                self.flush(number);
                self.go(number, *next);
            }
            End::Call { instruction, next } => self.call(number, *instruction, *next),
            End::Return => {
                self.emit.copy_results();
                let all = self.emit.mask;
                self.leave_function(self.emit.unit.function.entry, all);
            }
            End::Exit => {
                let nobody = self.emit.builder.ins().iconst(I32, 0);
                self.leave_function(true, nobody);
            }
            End::Trap { instruction } => {
                self.at(*instruction);
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
        let block = &unit.graph.blocks[number as usize];
        for slot in std::mem::take(&mut self.emit.written) {
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

    fn go(&mut self, from: u32, to: u32) {
        let label = if to > from {
            self.labels[to as usize]
        } else {
            match self.returns[to as usize] {
                Some(label) => label,
                None => {
                    let label = self.label();
                    *self.returns[to as usize].insert(label)
                }
            }
        };
        self.emit.builder.ins().jump(label, &[]);
    }

    fn branch(&mut self, number: u32, guard: Guard, yes: u32, no: u32) {
        let holds = self.emit.guard(guard);
        self.flush(number);
        let (taken, passed) = (self.label(), self.label());
        if let Predicate::Uniform(holds) = holds {
            self.emit.builder.ins().brif(holds, taken, &[], passed, &[]);
        } else {
            let bits = holds.bits(&mut self.emit.builder);
            let (some, parts) = (self.label(), self.label());
            self.emit.builder.ins().brif(bits, some, &[], passed, &[]);
            self.switch(some);
            let all = self.emit.builder.ins().icmp_imm_s(IntCC::Equal, bits, -1);
            self.emit.builder.ins().brif(all, taken, &[], parts, &[]);
            self.switch(parts);
            let others = self.emit.builder.ins().bnot(bits);
            match self.regions.behind(self.emit.unit, number, yes, no) {
                Some(region) => self.region(number, &region, bits, others),
                None => self.leave_for(&[(yes, Some(bits)), (no, Some(others))], &[yes, no]),
            }
        }
        self.switch(taken);
        self.go(number, yes);
        self.switch(passed);
        self.go(number, no);
    }

    /// Runs both ways of a region, each for its lanes.
    fn region(&mut self, number: u32, region: &Region, yes: Value, no: Value) {
        let unit = self.emit.unit;
        let (known, mask) = (self.emit.known.clone(), self.emit.mask);
        self.emit.partial = Some(region.kept.clone());
        let after_yes = region.no.first().copied().unwrap_or(region.join);
        for (chain, lanes, others, place) in
            [(&region.yes, yes, no, after_yes), (&region.no, no, yes, region.join)]
        {
            self.emit.mask = lanes;
            for &block in chain {
                for index in unit.graph.blocks[block as usize].instructions.clone() {
                    self.at(index);
                    if let Some((fine, leave)) = self.expected(index) {
                        self.switch(leave);
                        self.leave_for(&[(block, Some(lanes)), (place, Some(others))], &[block, place]);
                        self.switch(fine);
                    }
                    self.emit.instruction(index);
                }
            }
        }
        self.emit.partial = None;
        for slot in std::mem::take(&mut self.emit.written) {
            if unit.liveness.entering[region.join as usize].contains(slot) {
                let value = self.emit.known(slot);
                self.keep(slot, value);
            }
        }
        self.go(number, region.join);
        (self.emit.known, self.emit.mask) = (known, mask);
    }

    /// `brx.idx`, which has a block of its own: masked code does it where lanes have different indices.
    fn table(&mut self, number: u32, instruction: u32, targets: &[u32]) {
        self.at(instruction);
        let unit = self.emit.unit;
        let operand = unit.body.operands(&unit.body.instructions[instruction as usize])[0];
        let index = self.emit.value(operand, Type::U32);
        let (fine, leave) = (self.label(), self.cold_label());
        let mut different = None;
        self.differences(&index, &mut different);
        let first = index.lane(&mut self.emit.builder, 0);
        let count = targets.len() as i64;
        let beyond = self.emit.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, first, count);
        let wrong = match different {
            None => beyond,
            Some(different) => {
                let different = self.any_bit(different);
                self.emit.builder.ins().bor(beyond, different)
            }
        };
        self.emit.builder.ins().brif(wrong, leave, &[], fine, &[]);
        self.switch(leave);
        self.leave_for(&[(number, None)], &[number]);
        self.switch(fine);
        self.flush(number);
        let edges: Vec<Label> = targets.iter().map(|_| self.label()).collect();
        let pool = &mut self.emit.builder.func.dfg.value_lists;
        let calls: Vec<BlockCall> = edges.iter().map(|&label| BlockCall::new(label, [], pool)).collect();
        let table = self.emit.builder.create_jump_table(JumpTableData::new(calls[0], &calls));
        self.emit.builder.ins().br_table(first, table);
        for (&target, label) in targets.iter().zip(edges) {
            self.switch(label);
            self.go(number, target);
        }
    }

    fn call(&mut self, number: u32, instruction: u32, next: u32) {
        self.at(instruction);
        let unit = self.emit.unit;
        let back = self.emit.call_function(instruction);
        // Results that are taken to be the same in all lanes have to be.
        let mut different = None;
        for slot in self.emit.written.clone() {
            if unit.shapes.slots[slot as usize] == Shape::Uniform
                && unit.liveness.leaves(&unit.graph.blocks[number as usize], slot)
                && let Some(Known::Input(Input::Lanes(lanes))) = self.emit.known[slot as usize].clone()
            {
                self.differences(&lanes, &mut different);
            }
        }
        let lost = self.emit.builder.ins().icmp_imm_s(IntCC::NotEqual, back, -1);
        let wrong = match different {
            None => lost,
            Some(different) => {
                let different = self.any_bit(different);
                self.emit.builder.ins().bor(lost, different)
            }
        };
        let (fine, leave) = (self.label(), self.cold_label());
        self.emit.builder.ins().brif(wrong, leave, &[], fine, &[]);
        self.switch(leave);
        // The values of this block's own are what `leave_for` writes, whatever their variables hold.
        self.leave_for(&[(next, Some(back))], &[next]);
        self.switch(fine);
        self.flush(number);
        self.go(number, next);
    }

    /// Has masked code go on at blocks, for all lanes or for some, with the slots that live in `needed`.
    fn leave_for(&mut self, places: &[(u32, Option<Value>)], needed: &[u32]) {
        let unit = self.emit.unit;
        let mut stored = vec![false; unit.slots.len()];
        for &block in needed {
            for slot in unit.liveness.entering[block as usize].iter() {
                if std::mem::replace(&mut stored[slot as usize], true) {
                    continue;
                }
                let home = unit.homes[slot as usize];
                match self.emit.slot_for_frame(slot) {
                    Input::Lanes(lanes) => lanes.store(&mut self.emit.builder, self.frame, home),
                    Input::Predicate(predicate) => {
                        let bits = predicate.bits(&mut self.emit.builder);
                        self.store(bits, home);
                    }
                }
            }
        }
        // The rest of the frame is made only now: most warps never need it.
        let (frame, blocks) = (self.frame, self.emit.number(unit.graph.blocks.len() as i64));
        self.emit.call(Helper::Prepare, &[frame, blocks]);
        let mut waiting = 0;
        for &(block, lanes) in places {
            let lanes = lanes.unwrap_or(self.emit.mask);
            self.store(lanes, frame::pending(block));
            waiting |= 1u64 << (block / group(unit.graph.blocks.len() as u32));
        }
        let waiting = self.emit.number(waiting as i64);
        self.store(waiting, in_frame!(waiting));
        self.emit.builder.ins().jump(self.hand_over, &[]);
    }

    fn steps_back(&mut self) {
        for block in 0..self.labels.len() {
            let Some(label) = self.returns[block] else { continue };
            self.switch(label);
            let fuel = self.emit.load_field(I64, field!(fuel));
            let fuel = self.emit.builder.ins().iadd_imm_s(fuel, -1);
            self.emit.store_field(fuel, field!(fuel));
            let spent = self.cold_label();
            let negative = self.emit.builder.ins().icmp_imm_s(IntCC::SignedLessThan, fuel, 0);
            let to = self.labels[block];
            self.emit.builder.ins().brif(negative, spent, &[], to, &[]);
            self.switch(spent);
            self.emit.call(Helper::Turn, &[]);
            self.emit.builder.ins().jump(to, &[]);
        }
    }

    /// All members that a collective instruction waits for have to be here.
    fn meet(&mut self, number: u32, index: u32) {
        let unit = self.emit.unit;
        let operands = unit.body.operands(&unit.body.instructions[index as usize]);
        let member = operands[operands.len() - 1];
        if matches!(member, Operand::Integer(members) if members as u32 == ALL) {
            return;
        }
        let members = self.emit.value(member, Type::B32);
        let mut different = None;
        self.differences(&members, &mut different);
        let first = members.lane(&mut self.emit.builder, 0);
        let some = self.emit.builder.ins().icmp_imm_s(IntCC::NotEqual, first, -1);
        let wrong = match different {
            None => some,
            Some(different) => {
                let different = self.any_bit(different);
                self.emit.builder.ins().bor(some, different)
            }
        };
        let (fine, leave) = (self.label(), self.cold_label());
        self.emit.builder.ins().brif(wrong, leave, &[], fine, &[]);
        self.switch(leave);
        self.leave_for(&[(number, None)], &[number]);
        self.switch(fine);
    }

    /// Calls masked code, and goes on where lanes have met again.
    fn hand_over(&mut self) {
        self.switch(self.hand_over);
        let unit = self.emit.unit;
        let signature = match self.masked {
            Some(signature) => signature,
            None => {
                let mut signature = Signature::new(CallConv::SystemV);
                signature.params.extend([I64, I64, I64, I32].map(AbiParam::new));
                signature.returns.push(AbiParam::new(I64));
                *self.masked.insert(self.emit.builder.import_signature(signature))
            }
        };
        let code = self.emit.code_of(unit.index, Flavour::Masked);
        let (warp, arguments, frame, mask) =
            (self.emit.warp, self.emit.arguments, self.frame, self.emit.mask);
        let call = self.emit.builder.ins().call_indirect(signature, code, &[warp, arguments, frame, mask]);
        let outcome = self.emit.builder.inst_results(call)[0];
        let back = self.emit.builder.ins().ireduce(I32, outcome);
        let block = self.emit.builder.ins().ushr_imm_u(outcome, 32);
        let block = self.emit.builder.ins().ireduce(I32, block);
        let (ended, met) = (self.label(), self.label());
        self.emit.builder.ins().brif(block, met, &[], ended, &[]);
        self.switch(ended);
        self.emit.builder.ins().return_(&[back]);
        self.switch(met);
        // One more than the number of the join.
        let labels: Vec<Label> = (0..self.joins.len()).map(|_| self.label()).collect();
        let pool = &mut self.emit.builder.func.dfg.value_lists;
        let calls: Vec<BlockCall> = labels.iter().map(|&label| BlockCall::new(label, [], pool)).collect();
        let nowhere = BlockCall::new(ended, [], pool);
        let table = self.emit.builder.create_jump_table(JumpTableData::new(nowhere, &calls));
        let index = self.emit.builder.ins().iadd_imm_s(block, -1);
        self.emit.builder.ins().br_table(index, table);
        for (index, label) in labels.into_iter().enumerate() {
            self.switch(label);
            self.join(self.joins[index]);
        }
    }

    /// Takes the slots that live in a block from the frame, if they still have their shapes.
    fn join(&mut self, block: u32) {
        let unit = self.emit.unit;
        let mut values = Vec::new();
        let mut different = None;
        for slot in unit.liveness.entering[block as usize].iter() {
            let (home, ty) = (unit.homes[slot as usize], unit.slots.types[slot as usize]);
            let shape = unit.shapes.slots[slot as usize];
            let input = fetch(&mut self.emit.builder, self.frame, home, ty);
            match (&input, shape) {
                (Input::Predicate(predicate), Shape::Uniform) => {
                    let bits = predicate.bits(&mut self.emit.builder);
                    let sign = self.emit.builder.ins().sshr_imm_u(bits, 31);
                    let odd = self.emit.builder.ins().bxor(bits, sign);
                    let odd = self.emit.builder.ins().uextend(I64, odd);
                    let odd = self.emit.builder.ins().splat(I64X2, odd);
                    self.collect(odd, &mut different);
                }
                (Input::Lanes(lanes), Shape::Uniform) => self.differences(lanes, &mut different),
                (Input::Lanes(lanes), Shape::Steps(step)) => {
                    let rows = self.rows;
                    let bases = (0..rows)
                        .map(|row| lanes.lane(&mut self.emit.builder, row * (LANES / rows)))
                        .collect();
                    let expected = self.emit.spread(&Steps { bases, step }).vectors(&mut self.emit.builder);
                    let lanes = lanes.vectors(&mut self.emit.builder);
                    for (&a, &b) in lanes.iter().zip(&expected) {
                        let odd = self.emit.builder.ins().bxor(a, b);
                        let odd = crate::value::cast(&mut self.emit.builder, I64X2, odd);
                        self.collect(odd, &mut different);
                    }
                }
                _ => {}
            }
            values.push((slot, input));
        }
        let fine = self.label();
        if let Some(different) = different {
            let wrong = self.cold_label();
            let different = self.any_bit(different);
            self.emit.builder.ins().brif(different, wrong, &[], fine, &[]);
            self.switch(wrong);
            // Everything is in the frame already.
            self.stop_converging();
            self.leave_for(&[(block, None)], &[]);
        } else {
            self.emit.builder.ins().jump(fine, &[]);
        }
        self.switch(fine);
        for (slot, input) in values {
            self.keep(slot, Known::Input(input));
        }
        let label = self.labels[block as usize];
        self.emit.builder.ins().jump(label, &[]);
    }

    fn collect(&mut self, odd: Value, all: &mut Option<Value>) {
        *all = Some(match *all {
            None => odd,
            Some(others) => self.emit.builder.ins().bor(others, odd),
        });
    }
}

fn unit_opcode<'a>(unit: &Unit<'a>, instruction: u32) -> &'a gangway_ptx::Opcode {
    unit.module.opcode(&unit.body.instructions[instruction as usize])
}
