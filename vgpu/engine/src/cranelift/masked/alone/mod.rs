//! Loops that lanes leave at different times, run by one lane after the other, each to its end.
//!
//! Under a mask all lanes do what only some need, and every step takes registers from memory and puts
//! them back there. A loop that accesses memory and computes can as well run for one lane with scalars, as a
//! processor would, with the loops that are in it. Nothing says in which order lanes of a warp run where they
//! part; what waits for others does so with accesses that are strong, or at barriers, and such loops stay as
//! they are.
//!
//! Where all lanes of the warp go on, they do so together: most of them do for as long, and what they access is
//! beside each other. For the same reason no lane takes very many steps before others have their turn: what
//! one has brought to the cache is still there then.

mod find;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block as Label, InstBuilder, Type as Clif, Value};
use cranelift_frontend::Variable;
use gangway_simt::{End, Scalar};
use rustc_hash::FxHashMap;

use self::find::Loop;
use super::{Masked, own_memory};
use crate::cranelift::sequence::Input;
use crate::cranelift::state::{Known, field};
use crate::cranelift::value::{Lanes, Predicate};
use crate::frame::in_frame;

/// The most steps of a lane at a time.
const MOST_STEPS: i64 = 1 << 9;

/// One lane's way through a loop.
struct Lane<'a> {
    this: &'a Loop,
    /// Its number, and its bit.
    number: Value,
    bit: Value,
    /// What the loop does not write, as it is before it.
    fixed: FxHashMap<u32, Value>,
    /// What it writes.
    carried: FxHashMap<u32, Variable>,
    /// Steps back so far.
    steps: Variable,
    /// The lanes that have left, by exit.
    gone: &'a [Variable],
    /// Where each block begins.
    labels: FxHashMap<u32, Label>,
    /// The lanes that have taken too many steps, and are where the loop begins.
    later: Variable,
    /// Where the lane is done for now.
    done: Label,
}

impl Masked<'_, '_> {
    /// Has the lanes that have come to a block run the loop that begins there, and goes to where it leads with
    /// them, if they may. What is made next is the block's ordinary code, for lanes that stay together or take
    /// too many steps: those.
    pub(super) fn alone(&mut self, first: u32) -> Option<Value> {
        let this = &find::find(self.emit.unit, &self.before, first)?;
        let mask = self.emit.mask;
        let labels: [Label; 5] = std::array::from_fn(|_| self.emit.builder.create_block());
        let [next, done, ended, parted, ordinary] = labels;
        for label in [next, ordinary] {
            self.emit.builder.append_block_param(label, I32);
        }
        let nobody = self.emit.builder.ins().iconst(I32, 0);
        let gone: Vec<Variable> = this.exits.iter().map(|_| self.variable(I32, nobody)).collect();
        let later = self.variable(I32, nobody);
        let exited = self.emit.load_field(I32, field!(exited));
        let known = self.emit.builder.ins().bor(mask, exited);
        let everyone = self.emit.builder.ins().icmp_imm_s(IntCC::Equal, known, -1);
        self.emit.builder.ins().brif(everyone, ordinary, &[mask.into()], next, &[mask.into()]);

        self.switch(next);
        let left = self.emit.builder.block_params(next)[0];
        let lane = self.take_first(this, left, &gone, later, done);
        self.emit.builder.ins().jump(lane.labels[&first], &[]);
        for &block in &this.blocks {
            self.block_alone(&lane, block);
        }

        self.switch(done);
        let rest = self.emit.builder.ins().bxor(left, lane.bit);
        self.emit.builder.ins().brif(rest, next, &[rest.into()], ended, &[]);

        (self.emit.converged, self.emit.partial, self.emit.alone) = (false, None, None);
        self.switch(ended);
        self.emit.mask = mask;
        if let ([exit], [gone]) = (&this.exits[..], &gone[..]) {
            let (gone, together) = (self.emit.builder.use_var(*gone), self.emit.builder.create_block());
            let all = self.emit.builder.ins().icmp(IntCC::Equal, gone, mask);
            self.emit.builder.ins().brif(all, together, &[], parted, &[]);
            self.switch(together);
            self.go(first, *exit, mask);
        } else {
            self.emit.builder.ins().jump(parted, &[]);
        }
        self.switch(parted);
        self.leave_alone(this, &gone);
        let later = self.emit.builder.use_var(later);
        self.emit.builder.ins().brif(later, ordinary, &[later.into()], self.dispatch, &[]);
        self.switch(ordinary);
        Some(self.emit.builder.block_params(ordinary)[0])
    }

    /// Takes the first lane of those that are left, and what it has.
    fn take_first<'a>(
        &mut self,
        this: &'a Loop,
        left: Value,
        gone: &'a [Variable],
        later: Variable,
        done: Label,
    ) -> Lane<'a> {
        let unit = self.emit.unit;
        let number = self.emit.builder.ins().ctz(left);
        let one = self.emit.builder.ins().iconst(I32, 1);
        let bit = self.emit.builder.ins().ishl(one, number);
        let number = self.emit.builder.ins().uextend(I64, number);
        let mut carried = FxHashMap::default();
        for &slot in &this.carried {
            // What is written before it is read is nothing yet.
            let value = match unit.liveness.enters(this.blocks[0], slot) || self.is_needed(this, slot) {
                true => self.of_lane(slot, number),
                false => self.nothing(slot),
            };
            let ty = self.emit.builder.func.dfg.value_type(value);
            carried.insert(slot, self.variable(ty, value));
        }
        let mut fixed = FxHashMap::default();
        for &block in &this.blocks {
            for &slot in unit.liveness.entering(block) {
                if !carried.contains_key(&slot) && !fixed.contains_key(&slot) {
                    fixed.insert(slot, self.of_lane(slot, number));
                }
            }
        }
        let none = self.emit.number(0);
        let steps = self.variable(I64, none);
        let labels = this.blocks.iter().map(|&block| (block, self.emit.builder.create_block())).collect();
        Lane { this, number, bit, fixed, carried, steps, gone, labels, later, done }
    }

    /// Whether lanes leave with a slot that not all ways through the loop write.
    fn is_needed(&self, this: &Loop, slot: u32) -> bool {
        this.exits.iter().any(|&exit| self.emit.unit.liveness.enters(exit, slot))
    }

    fn nothing(&mut self, slot: u32) -> Value {
        let clif = clif(self.emit.ty(slot));
        self.emit.builder.ins().iconst(clif, 0)
    }

    fn variable(&mut self, ty: Clif, value: Value) -> Variable {
        let variable = self.emit.builder.declare_var(ty);
        self.emit.builder.def_var(variable, value);
        variable
    }

    /// The code of a block for a lane.
    fn block_alone(&mut self, lane: &Lane<'_>, number: u32) {
        let unit = self.emit.unit;
        let block = &unit.code.blocks[number as usize];
        self.switch(lane.labels[&number]);
        self.emit.forget();
        (self.emit.mask, self.emit.converged) = (lane.bit, true);
        (self.emit.partial, self.emit.alone) = (Some(Vec::new()), Some(lane.number));
        self.emit.local_base = self.emit.load_at(I64, self.frame, in_frame!(local_base));
        for &slot in unit.liveness.entering(number) {
            let value = match lane.carried.get(&slot) {
                Some(&variable) => self.emit.builder.use_var(variable),
                None => lane.fixed[&slot],
            };
            let known = match self.emit.ty(slot) {
                Scalar::Predicate => Input::Predicate(Predicate::Uniform(value)),
                _ => Input::Lanes(Lanes::Uniform(value)),
            };
            self.emit.note(slot, Known::Input(known));
        }
        for index in block.operations.clone() {
            self.at(index);
            self.emit.operation(index);
        }
        let holds = match block.end {
            End::Branch(guard, ..) => {
                let holds = self.emit.guard(guard);
                Some(self.scalar(Input::Predicate(holds), lane.number))
            }
            _ => None,
        };
        for slot in self.emit.written.take() {
            if let Some(&variable) = lane.carried.get(&slot) {
                let input = self.emit.slot(slot);
                let value = self.scalar(input, lane.number);
                self.emit.builder.def_var(variable, value);
            }
        }
        match (&block.end, holds) {
            (&End::Branch(_, yes, no), Some(holds)) => {
                let (taken, passed) = (self.emit.builder.create_block(), self.emit.builder.create_block());
                self.emit.builder.ins().brif(holds, taken, &[], passed, &[]);
                self.switch(taken);
                self.go_alone(lane, number, yes);
                self.switch(passed);
                self.go_alone(lane, number, no);
            }
            (&End::Jump(to), _) => self.go_alone(lane, number, to),
            _ => unreachable!("a lane runs blocks alone that end in another way"),
        }
    }

    /// Goes from a block to another with the lane, or leaves the loop with it.
    fn go_alone(&mut self, lane: &Lane<'_>, from: u32, to: u32) {
        let Some(&label) = lane.labels.get(&to) else {
            self.put_all(lane, to);
            let exits = lane.this.exits.iter().zip(lane.gone);
            for (_, &gone) in exits.filter(|&(&exit, _)| exit == to) {
                self.add(gone, lane.bit);
            }
            self.emit.builder.ins().jump(lane.done, &[]);
            return;
        };
        if to > from {
            self.emit.builder.ins().jump(label, &[]);
            return;
        }
        let steps = self.emit.builder.use_var(lane.steps);
        let steps = self.emit.builder.ins().iadd_imm_s(steps, 1);
        self.emit.builder.def_var(lane.steps, steps);
        let many = self.emit.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, steps, MOST_STEPS);
        let pause = self.emit.builder.create_block();
        self.emit.builder.set_cold_block(pause);
        self.emit.builder.ins().brif(many, pause, &[], label, &[]);
        // What the next step needs is where the ordinary code finds it.
        self.switch(pause);
        self.put_all(lane, to);
        if to == lane.this.blocks[0] {
            self.add(lane.later, lane.bit);
        } else {
            self.wait(to, lane.bit);
        }
        self.emit.builder.ins().jump(lane.done, &[]);
    }

    /// Adds a lane to others.
    fn add(&mut self, others: Variable, bit: Value) {
        let before = self.emit.builder.use_var(others);
        let all = self.emit.builder.ins().bor(before, bit);
        self.emit.builder.def_var(others, all);
    }

    /// Puts what the loop may have written, and a block needs, to the frame.
    fn put_all(&mut self, lane: &Lane<'_>, to: u32) {
        let liveness = &self.emit.unit.liveness;
        for &slot in lane.this.carried.iter().filter(|&&slot| liveness.enters(to, slot)) {
            let value = self.emit.builder.use_var(lane.carried[&slot]);
            self.put(slot, lane.number, lane.bit, value);
        }
    }

    /// Has the lanes that have left wait where the loop leads.
    fn leave_alone(&mut self, this: &Loop, gone: &[Variable]) {
        for (&exit, &gone) in this.exits.iter().zip(gone) {
            let lanes = self.emit.builder.use_var(gone);
            self.wait_if_any(exit, lanes);
        }
    }

    /// What a lane has in a slot, from the frame.
    fn of_lane(&mut self, slot: u32, lane: Value) -> Value {
        let (home, ty) = (self.emit.unit.homes[slot as usize], self.emit.ty(slot));
        match (home, ty) {
            // A register that nothing has written is zero.
            (0, _) => self.nothing(slot),
            (home, Scalar::Predicate) => {
                let bits = self.load(home);
                self.bit_of(bits, lane)
            }
            (home, ty) => {
                let at = self.cell(lane, ty);
                self.emit.builder.ins().load(clif(ty), own_memory(), at, home)
            }
        }
    }

    fn put(&mut self, slot: u32, lane: Value, bit: Value, value: Value) {
        let (home, ty) = (self.emit.unit.homes[slot as usize], self.emit.ty(slot));
        if ty == Scalar::Predicate {
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
    fn cell(&mut self, lane: Value, ty: Scalar) -> Value {
        let offset = self.emit.builder.ins().ishl_imm_u(lane, if ty.is_wide() { 3 } else { 2 });
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
            Input::Lanes(lanes) => self.emit.running_lane(&lanes, None),
            Input::Predicate(predicate) => {
                let bits = predicate.bits(&mut self.emit.builder);
                self.bit_of(bits, lane)
            }
        }
    }
}

/// The type of a scalar. A predicate is 0 or 1.
fn clif(ty: Scalar) -> Clif {
    if ty.is_wide() { I64 } else { I32 }
}
