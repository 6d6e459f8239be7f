//! Where converged code gives its lanes to masked code, and takes them back.

use cranelift_codegen::ir::types::{I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{Block as Label, BlockCall, InstBuilder, JumpTableData, Value};

use gangway_simt::Scalar;

use super::Converged;
use crate::abi::{Flavour, LANES};
use crate::analysis::shape::Shape;
use crate::cranelift::homes::fetch;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::{Known, Steps, field};
use crate::cranelift::value::{Lanes, vector_constant};
use crate::frame::{self, group, in_frame};
use crate::support::{Helper, Regular};

impl Converged<'_, '_> {
    /// Has masked code go on at blocks, for all lanes or for some, with the slots that live in
    /// `needed`.
    pub(super) fn leave_for(&mut self, places: &[(u32, Option<Value>)], needed: &[u32]) {
        let unit = self.emit.unit;
        let mut regular = Vec::new();
        for (index, &block) in needed.iter().enumerate() {
            for &slot in unit.liveness.entering(block) {
                if needed[..index].iter().any(|&other| unit.liveness.enters(other, slot)) {
                    continue;
                }
                match self.spill_regular(slot) {
                    Some(register) => regular.push(register),
                    None => self.spill(slot),
                }
            }
        }
        self.call_for(Helper::Spread, &regular);
        // The rest of the frame is made only now: most warps never need it.
        let (frame, blocks) = (self.frame, self.emit.number(unit.code.blocks.len() as i64));
        self.emit.call(Helper::Prepare, &[frame, blocks]);
        let mut waiting = 0;
        for &(block, lanes) in places {
            let lanes = lanes.unwrap_or(self.emit.mask);
            self.store(lanes, frame::pending(block));
            waiting |= 1u64 << (block / group(unit.code.blocks.len() as u32));
        }
        let waiting = self.emit.number(waiting as i64);
        self.store(waiting, in_frame!(waiting));
        self.emit.builder.ins().jump(self.hand_over, &[]);
    }

    /// Writes the first lanes' values of a slot whose values are regular: the others follow from them.
    fn spill_regular(&mut self, slot: u32) -> Option<u32> {
        let home = self.emit.unit.homes[slot as usize];
        let wide = self.emit.unit.code.slots[slot as usize].is_wide();
        let bytes = if wide { 8 } else { 4 };
        match self.emit.known_for_frame(slot) {
            Known::Input(Input::Lanes(Lanes::Uniform(value))) => {
                let bits = Regular { home, wide, step: None }.bits()?;
                self.store(value, home);
                Some(bits)
            }
            Known::Steps(steps) if steps.bases.len() == self.rows => {
                let bits = Regular { home, wide, step: Some(steps.step) }.bits()?;
                let row = (LANES / self.rows) as i32;
                for (&base, number) in steps.bases.iter().zip(0..) {
                    self.store(base, home + number * row * bytes);
                }
                Some(bits)
            }
            _ => None,
        }
    }

    /// Has a helper work on registers in the frame whose values are regular. Not zero: they are not.
    fn call_for(&mut self, helper: Helper, registers: &[u32]) -> Option<Value> {
        let mut answer = None;
        for some in registers.chunks(Regular::MOST) {
            for (four, number) in some.chunks(4).zip(0..) {
                let mut bytes: Vec<u8> = four.iter().flat_map(|register| register.to_le_bytes()).collect();
                bytes.resize(16, 0);
                let four = vector_constant(&mut self.emit.builder, I32X4, &bytes);
                self.emit.store_field(four, field!(values) + 16 * number);
            }
            let count = self.emit.number(some.len() as i64);
            let row = self.emit.number((LANES / self.rows) as i64);
            let result = self.emit.call(helper, &[self.frame, count, row]);
            answer = Some(self.emit.or(answer, result));
        }
        answer
    }

    /// Writes what a slot holds to the frame.
    pub(super) fn spill(&mut self, slot: u32) {
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
    pub(super) fn checkpoint(&mut self, number: u32, operation: u32, next: u32) {
        let unit = self.emit.unit;
        let mut written = Vec::new();
        unit.operation(operation).each_slot(&mut |slot, write| {
            if write {
                written.push(slot);
            }
        });
        for &slot in unit.liveness.entering(next) {
            if !written.contains(&slot) {
                self.spill(slot);
            }
        }
        let blocks = (unit.code.blocks.len() as i64) << 32;
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
        let odd = self.lost_shapes(unit.liveness.entering(block).iter().copied());
        let fine = self.label();
        if let Some(odd) = odd {
            let wrong = self.cold_label();
            self.emit.builder.ins().brif(odd, wrong, &[], fine, &[]);
            self.switch(wrong);
            // Everything is in the frame already.
            self.stop_converging();
            self.leave_for(&[(block, None)], &[]);
        } else {
            self.emit.builder.ins().jump(fine, &[]);
        }
        self.switch(fine);
        for &slot in unit.liveness.entering(block) {
            let value = self.take(slot);
            self.keep(slot, value);
        }
        let label = self.labels[block as usize];
        self.emit.builder.ins().jump(label, &[]);
    }

    /// Not zero where slots in the frame have lost their shapes; none where that cannot be.
    pub(super) fn lost_shapes(&mut self, slots: impl Iterator<Item = u32>) -> Option<Value> {
        let mut regular = Vec::new();
        let mut different = None;
        for slot in slots {
            match self.regular(slot) {
                Some(register) => regular.push(register),
                None => self.look_at(slot, &mut different),
            }
        }
        let odd = different.map(|different| self.any_bit(different));
        let odd = odd.map(|odd| self.emit.builder.ins().uextend(I64, odd));
        match self.call_for(Helper::Compare, &regular) {
            Some(other) => Some(self.emit.or(odd, other)),
            None => odd,
        }
    }

    /// What a helper is told of a slot whose values are to be regular, if it can be.
    fn regular(&self, slot: u32) -> Option<u32> {
        let unit = self.emit.unit;
        let (home, ty) = (unit.homes[slot as usize], unit.code.slots[slot as usize]);
        let step = match unit.shapes.slots[slot as usize] {
            _ if home == 0 || ty == Scalar::Predicate => return None,
            Shape::Uniform => None,
            Shape::Steps(step) => Some(step),
            _ => return None,
        };
        Regular { home, wide: ty.is_wide(), step }.bits()
    }

    /// Adds to `different` where a slot in the frame does not have its shape.
    fn look_at(&mut self, slot: u32, different: &mut Option<Value>) {
        let unit = self.emit.unit;
        let (home, ty) = (unit.homes[slot as usize], unit.code.slots[slot as usize]);
        match (unit.shapes.slots[slot as usize], ty) {
            (Shape::Uniform, Scalar::Predicate) => {
                let Input::Predicate(predicate) = fetch(&mut self.emit.builder, self.frame, home, ty) else {
                    return;
                };
                let bits = predicate.bits(&mut self.emit.builder);
                let sign = self.emit.builder.ins().sshr_imm_u(bits, 31);
                let odd = self.emit.builder.ins().bxor(bits, sign);
                let odd = self.emit.builder.ins().uextend(I64, odd);
                let odd = self.emit.builder.ins().splat(I64X2, odd);
                self.collect(odd, different);
            }
            (Shape::Uniform, _) => {
                let Input::Lanes(lanes) = fetch(&mut self.emit.builder, self.frame, home, ty) else { return };
                self.differences(&lanes, different);
            }
            (Shape::Steps(step), _) => {
                let Input::Lanes(lanes) = fetch(&mut self.emit.builder, self.frame, home, ty) else { return };
                let rows = self.rows;
                let bases =
                    (0..rows).map(|row| lanes.lane(&mut self.emit.builder, row * (LANES / rows))).collect();
                let expected = self.emit.spread(&Steps { bases, step }).vectors(&mut self.emit.builder);
                let lanes = lanes.vectors(&mut self.emit.builder);
                for (&a, &b) in lanes.iter().zip(&expected) {
                    let odd = self.emit.builder.ins().bxor(a, b);
                    let odd = crate::cranelift::value::cast(&mut self.emit.builder, I64X2, odd);
                    self.collect(odd, different);
                }
            }
            _ => {}
        }
    }

    /// The value of a slot in the frame that has its shape: of the first lanes where those are all.
    pub(super) fn take(&mut self, slot: u32) -> Known {
        let unit = self.emit.unit;
        let (home, ty) = (unit.homes[slot as usize], unit.code.slots[slot as usize]);
        let (clif, bytes) = if ty.is_wide() { (I64, 8) } else { (I32, 4) };
        match unit.shapes.slots[slot as usize] {
            Shape::Uniform if home != 0 && ty != Scalar::Predicate => {
                Known::lanes(Lanes::Uniform(self.emit.load_at(clif, self.frame, home)))
            }
            Shape::Steps(step) if home != 0 && ty != Scalar::Predicate => {
                let row = (LANES / self.rows) as i32 * bytes;
                let base = |number: i32| self.emit.load_at(clif, self.frame, home + number * row);
                Known::Steps(Steps { bases: (0..self.rows as i32).map(base).collect(), step })
            }
            _ => Known::Input(fetch(&mut self.emit.builder, self.frame, home, ty)),
        }
    }

    fn collect(&mut self, odd: Value, all: &mut Option<Value>) {
        *all = Some(match *all {
            None => odd,
            Some(others) => self.emit.builder.ins().bor(others, odd),
        });
    }
}
