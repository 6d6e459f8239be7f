//! Loops that lanes leave at different times, run by one lane after the other, each to its end.
//!
//! Under a mask all lanes do what only some need, and every step takes registers from memory and puts
//! them back there. A loop of one block that reads memory and computes can as well run for one lane with
//! scalars, as a processor would. Nothing says in which order lanes of a warp run where they part; what
//! waits for others does so with accesses that are strong, or at barriers, and such loops stay as they
//! are. A lane that takes very many steps goes on with the others, in the block's ordinary code, so that
//! others have their turn.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block as Label, BlockArg, InstBuilder, Value};
use gangway_ptx::meaning::Compute;
use gangway_ptx::{Base, Guard, Meaning, Operand, StateSpace, Type};

use super::{Masked, own_memory};
use crate::compile::emit::Known;
use crate::compile::graph::{Block, End};
use crate::compile::unit::Unit;
use crate::frame::in_frame;
use crate::lower::Input;
use crate::value::{Lanes, Predicate, is_wide};

/// The most steps of a lane at a time.
const MOST_STEPS: i64 = 1 << 14;
/// Instructions of a loop.
const MOST: usize = 256;
/// Vectors compute for four lanes at once: so many instructions for each load are no faster by scalars.
const MOST_PER_LOAD: usize = 16;

/// A block that is a loop, and where it leads.
#[derive(Clone, Copy)]
pub(super) struct Loop {
    guard: Guard,
    /// Whether lanes go on where the guard holds.
    goes_on: bool,
    exit: u32,
}

/// The loop that a block is, if lanes may run it alone.
pub(super) fn find(unit: &Unit<'_>, number: u32) -> Option<Loop> {
    let block = &unit.graph.blocks[number as usize];
    let End::Branch(guard, yes, no) = block.end else { return None };
    let (goes_on, exit) = match (yes == number, no == number) {
        (true, false) => (true, no),
        (false, true) => (false, yes),
        _ => return None,
    };
    // Where fuel is time, lanes look at what others have done.
    let timed = unit.fuel.entry.is_some();
    if exit < number || timed || unit.check || block.collective.is_some() || block.instructions.len() > MOST {
        return None;
    }
    let mut loads = 0;
    for index in block.instructions.clone() {
        loads += usize::from(is_load(unit, index)?);
    }
    (loads != 0 && block.instructions.len() <= MOST_PER_LOAD * loads).then_some(Loop { guard, goes_on, exit })
}

/// Whether an instruction loads from memory that others may have; none if no lane may do it alone.
fn is_load(unit: &Unit<'_>, index: u32) -> Option<bool> {
    let instruction = &unit.body.instructions[index as usize];
    let (opcode, operands) = (unit.module.opcode(instruction), unit.body.operands(instruction));
    // Values that lanes have by their number, and those of several registers, are vectors.
    let scalar = |operand: &Operand| !matches!(operand, Operand::Special(_) | Operand::Vector { .. });
    let speculative = unit.shapes.is_speculative(&unit.slots, opcode, operands);
    if instruction.guard.is_some() || speculative {
        return None;
    }
    match opcode.meaning {
        Meaning::Compute(Compute::Carry(_)) => None,
        Meaning::Compute(_) | Meaning::Move { vector: 1, .. } | Meaning::ConvertAddress { .. } => {
            operands.iter().all(scalar).then_some(false)
        }
        Meaning::Load(access) if !access.strong => {
            let own = matches!(access.space.plain(), StateSpace::Local | StateSpace::Param);
            let named = matches!(operands[1], Operand::Address(Base::Symbol(_), _));
            Some(!own && !named)
        }
        _ => None,
    }
}

impl Masked<'_, '_> {
    /// Has the lanes that have come to a block run it as a loop, and goes to where it leads with them.
    /// What is made next is the block's ordinary code, for lanes that take too many steps: those.
    pub(super) fn alone(&mut self, number: u32, this: Loop) -> Value {
        let unit = self.emit.unit;
        let block = &unit.graph.blocks[number as usize];
        let mask = self.emit.mask;
        let labels: [Label; 6] = std::array::from_fn(|_| self.emit.builder.create_block());
        let [next, body, again, out, ended, paused] = labels;
        for label in [next, paused] {
            self.emit.builder.append_block_param(label, I32);
        }
        self.jump(next, mask);

        self.switch(next);
        let left = self.emit.builder.block_params(next)[0];
        let lane = self.emit.builder.ins().ctz(left);
        let one = self.emit.builder.ins().iconst(I32, 1);
        let bit = self.emit.builder.ins().ishl(one, lane);
        let lane = self.emit.builder.ins().uextend(I64, lane);
        let entering: Vec<(u32, Value)> =
            unit.liveness.entering(number).iter().map(|&slot| (slot, self.of_lane(slot, lane))).collect();
        let changes = |slot: u32| writes(unit, block, slot);
        let carried: Vec<(u32, Value)> =
            entering.iter().copied().filter(|&(slot, _)| changes(slot)).collect();
        for &(_, value) in &carried {
            let ty = self.emit.builder.func.dfg.value_type(value);
            self.emit.builder.append_block_param(body, ty);
        }
        self.emit.builder.append_block_param(body, I64);
        let none = self.emit.number(0);
        let values = carried.iter().map(|&(_, value)| value).chain([none]);
        let arguments: Vec<BlockArg> = values.map(BlockArg::Value).collect();
        self.emit.builder.ins().jump(body, &arguments);

        self.switch(body);
        let parameters = self.emit.builder.block_params(body).to_vec();
        self.emit.forget();
        self.emit.written.take();
        (self.emit.mask, self.emit.converged, self.emit.partial, self.emit.alone) =
            (bit, true, Some(Vec::new()), true);
        self.emit.local_base = self.emit.load_at(I64, self.frame, in_frame!(local_base));
        let changed = carried.iter().zip(&parameters).map(|(&(slot, _), &value)| (slot, value));
        for (slot, value) in entering.iter().copied().filter(|&(slot, _)| !changes(slot)).chain(changed) {
            let known = match self.emit.ty(slot) {
                Type::Pred => Input::Predicate(Predicate::Uniform(value)),
                _ => Input::Lanes(Lanes::Uniform(value)),
            };
            self.emit.note(slot, Known::Input(known));
        }
        for index in block.instructions.clone() {
            self.at(index);
            self.emit.instruction(index);
        }
        let holds = self.emit.guard(this.guard);
        let holds = self.scalar(Input::Predicate(holds), lane);
        let mut now = Vec::with_capacity(carried.len() + 1);
        for &(slot, _) in &carried {
            let input = self.emit.slot(slot);
            now.push(self.scalar(input, lane));
        }
        let leaving: Vec<u32> = self.emit.written.take();
        let leaving: Vec<(u32, Value)> = leaving
            .into_iter()
            .filter(|&slot| unit.liveness.leaves(block, slot))
            .map(|slot| {
                let input = self.emit.slot(slot);
                (slot, self.scalar(input, lane))
            })
            .collect();
        let steps = parameters[carried.len()];
        let steps = self.emit.builder.ins().iadd_imm_s(steps, 1);
        let (stays, leaves) = if this.goes_on { (again, out) } else { (out, again) };
        self.emit.builder.ins().brif(holds, stays, &[], leaves, &[]);

        self.switch(again);
        let many = self.emit.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, steps, MOST_STEPS);
        let arguments: Vec<BlockArg> = now.iter().copied().chain([steps]).map(BlockArg::Value).collect();
        let pause = self.emit.builder.create_block();
        self.emit.builder.ins().brif(many, pause, &[], body, &arguments);

        self.switch(out);
        leaving.iter().for_each(|&(slot, value)| self.put(slot, lane, bit, value));
        let rest = self.emit.builder.ins().bxor(left, bit);
        self.emit.builder.ins().brif(rest, next, &[BlockArg::Value(rest)], ended, &[]);

        // What the next step needs is where the ordinary code finds it.
        self.switch(pause);
        leaving.iter().for_each(|&(slot, value)| self.put(slot, lane, bit, value));
        self.jump(paused, left);

        (self.emit.converged, self.emit.partial, self.emit.alone) = (false, None, false);
        self.switch(ended);
        self.emit.mask = mask;
        self.go(number, this.exit, mask);

        self.switch(paused);
        let left = self.emit.builder.block_params(paused)[0];
        let gone = self.emit.builder.ins().band_not(mask, left);
        let (some, ordinary) = (self.emit.builder.create_block(), self.emit.builder.create_block());
        self.emit.builder.ins().brif(gone, some, &[], ordinary, &[]);
        self.switch(some);
        self.wait(this.exit, gone);
        self.emit.builder.ins().jump(ordinary, &[]);
        self.switch(ordinary);
        left
    }

    /// What a lane has in a slot, from the frame.
    fn of_lane(&mut self, slot: u32, lane: Value) -> Value {
        let (home, ty) = (self.emit.unit.homes[slot as usize], self.emit.ty(slot));
        match (home, ty) {
            // A register that nothing has written is zero.
            (0, ty) => self.emit.builder.ins().iconst(if is_wide(ty) { I64 } else { I32 }, 0),
            (home, Type::Pred) => {
                let bits = self.load(home);
                self.bit_of(bits, lane)
            }
            (home, ty) => {
                let at = self.cell(lane, ty);
                let clif = if is_wide(ty) { I64 } else { I32 };
                self.emit.builder.ins().load(clif, own_memory(), at, home)
            }
        }
    }

    fn put(&mut self, slot: u32, lane: Value, bit: Value, value: Value) {
        let (home, ty) = (self.emit.unit.homes[slot as usize], self.emit.ty(slot));
        if ty == Type::Pred {
            let others = self.load(home);
            let others = self.emit.builder.ins().band_not(others, bit);
            let nothing = self.emit.builder.ins().iconst(I32, 0);
            let own = self.emit.builder.ins().select(value, bit, nothing);
            let all = self.emit.builder.ins().bor(others, own);
            self.store(all, home);
            return;
        }
        let at = self.cell(lane, ty);
        self.emit.builder.ins().store(own_memory(), value, at, home);
    }

    /// Where a lane's value is, less the home of its register.
    fn cell(&mut self, lane: Value, ty: Type) -> Value {
        let offset = self.emit.builder.ins().ishl_imm_u(lane, if is_wide(ty) { 3 } else { 2 });
        self.emit.builder.ins().iadd(self.frame, offset)
    }

    fn bit_of(&mut self, bits: Value, lane: Value) -> Value {
        let lane = self.emit.builder.ins().ireduce(I32, lane);
        let bits = self.emit.builder.ins().ushr(bits, lane);
        self.emit.builder.ins().band_imm_u(bits, 1)
    }

    /// What the lane has that runs.
    fn scalar(&mut self, input: Input, lane: Value) -> Value {
        match input {
            Input::Lanes(Lanes::Uniform(value)) | Input::Predicate(Predicate::Uniform(value)) => value,
            Input::Lanes(lanes) => self.emit.running_lane(&lanes),
            Input::Predicate(predicate) => {
                let bits = predicate.bits(&mut self.emit.builder);
                self.bit_of(bits, lane)
            }
        }
    }
}

/// Whether a block writes a slot.
fn writes(unit: &Unit<'_>, block: &Block, slot: u32) -> bool {
    block.instructions.clone().any(|index| {
        let mut found = false;
        let instruction = &unit.body.instructions[index as usize];
        crate::compile::liveness::accesses(
            unit.module,
            unit.body,
            &unit.slots,
            instruction,
            &mut |other, write| {
                found |= write && other == slot;
            },
        );
        found
    })
}
