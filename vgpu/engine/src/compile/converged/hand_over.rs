//! Where converged code gives its lanes to masked code, and takes them back.

use cranelift_codegen::ir::types::{I32, I64, I64X2};
use cranelift_codegen::ir::{Block as Label, BlockCall, InstBuilder, JumpTableData, Value};

use super::Converged;
use crate::abi::{Flavour, LANES};
use crate::compile::call::Call;
use crate::compile::emit::{Known, Steps, field};
use crate::compile::masked::fetch;
use crate::compile::shape::Shape;
use crate::frame::{self, group, in_frame};
use crate::lower::Input;
use crate::support::Helper;

impl Converged<'_, '_> {
    /// Has masked code go on at blocks, for all lanes or for some, with the slots that live in
    /// `needed`.
    pub(super) fn leave_for(&mut self, places: &[(u32, Option<Value>)], needed: &[u32]) {
        let unit = self.emit.unit;
        for (index, &block) in needed.iter().enumerate() {
            for &slot in unit.liveness.entering(block) {
                if needed[..index].iter().any(|&other| unit.liveness.enters(other, slot)) {
                    continue;
                }
                self.spill(slot);
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

    /// Writes what a slot holds to the frame.
    fn spill(&mut self, slot: u32) {
        let home = self.emit.unit.homes[slot as usize];
        match self.emit.slot_for_frame(slot) {
            Input::Lanes(lanes) => lanes.store(&mut self.emit.builder, self.frame, home),
            Input::Predicate(predicate) => {
                let bits = predicate.bits(&mut self.emit.builder);
                self.store(bits, home);
            }
        }
    }

    /// Puts the registers that live behind a call into the frame, so that lanes which come back
    /// from it can go on while others wait in it.
    pub(super) fn checkpoint(&mut self, number: u32, next: u32, call: &Call<'_>) {
        let unit = self.emit.unit;
        let written = self.emit.call_writes(call);
        for &slot in unit.liveness.entering(next) {
            if !written.contains(&slot) {
                self.spill(slot);
            }
        }
        let blocks = (unit.graph.blocks.len() as i64) << 32;
        let calls = self.emit.number(blocks | i64::from(number));
        self.store(calls, in_frame!(calls));
        let function = self.emit.builder.ins().iconst(I32, i64::from(unit.index));
        self.store(function, in_frame!(function));
        let (arguments, frame) = (self.emit.arguments, self.frame);
        self.store(arguments, in_frame!(arguments));
        self.emit.store_field(frame, field!(frame));
    }

    /// Lanes have come back from a call whose checkpoint has been used, or not.
    pub(super) fn leave_if_claimed(&mut self, number: u32, back: Value) {
        let claimed = self.emit.load_at(I32, self.frame, in_frame!(claimed));
        let (deliver, unclaimed) = (self.label(), self.label());
        self.emit.builder.ins().brif(claimed, deliver, &[], unclaimed, &[]);
        self.switch(deliver);
        let lanes = self.emit.builder.ins().uextend(I64, back);
        let place = self.emit.builder.ins().bor_imm_u(lanes, i64::from(number) << 32);
        let (frame, area) = (self.frame, self.emit.passed_area());
        self.emit.call(Helper::Deliver, &[frame, place, area]);
        self.emit.builder.ins().jump(self.hand_over, &[]);
        self.switch(unclaimed);
    }

    pub(super) fn stop_converging(&mut self) {
        let zero = self.emit.builder.ins().iconst(I32, 0);
        self.store(zero, in_frame!(converges));
    }

    /// Calls masked code, and goes on where lanes have met again.
    pub(super) fn hand_over(&mut self) {
        self.switch(self.hand_over);
        let unit = self.emit.unit;
        let outcome = if unit.waits() {
            let (frame, arguments) = (self.frame, self.emit.arguments);
            let function = self.emit.number(unit.index.into());
            self.emit.call(Helper::Run, &[frame, arguments, function])
        } else {
            let code = self.emit.code_of(unit.index, Flavour::Masked);
            let (arguments, frame, mask) = (self.emit.arguments, self.frame, self.emit.mask);
            self.emit.enter_frame(code, arguments, frame, mask)
        };
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
        for &slot in unit.liveness.entering(block) {
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
