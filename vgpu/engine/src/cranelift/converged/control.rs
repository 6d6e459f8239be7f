//! How blocks of converged code end, and what has to hold for lanes to stay together.

use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block as Label, BlockCall, InstBuilder, JumpTableData, Value};
use gangway_ptx::{Guard, Operand, Type};

use super::Converged;
use crate::abi::ALL;
use crate::analysis::region::Region;
use crate::analysis::shape::Shape;
use crate::cranelift::call::Call;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::{Known, field};
use crate::cranelift::value::Predicate;
use crate::frame::in_frame;
use crate::support::Helper;

impl Converged<'_, '_> {
    /// Emits instructions of a block that run one after the other. If what the first one needs does
    /// not hold, should it be speculative, masked code goes on at `places`.
    pub(super) fn straight(&mut self, block: u32, instructions: Range<u32>, places: &[(u32, Option<Value>)]) {
        self.emit.ahead = instructions.clone();
        let Range { start: mut index, end } = instructions;
        while index < end {
            self.at(index);
            if let Some(next) = self.turns(block, index..end) {
                self.emit.ahead = next..end;
                index = next;
                continue;
            }
            if let Some(next) = self.emit.batch(block, index..end) {
                index = next;
                continue;
            }
            if let Some((fine, leave)) = self.expected(index) {
                self.switch(leave);
                let needed: Vec<u32> = places.iter().map(|&(block, _)| block).collect();
                self.leave_for(places, &needed);
                self.switch(fine);
            }
            self.emit.instruction(index);
            index += 1;
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

    pub(super) fn go(&mut self, from: u32, to: u32) {
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

    pub(super) fn branch(&mut self, number: u32, guard: Guard, yes: u32, no: u32) {
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
        let (known, mask) = (self.emit.snapshot(), self.emit.mask);
        self.emit.partial = Some(region.kept.clone());
        let after_yes = region.no.first().copied().unwrap_or(region.join);
        for (chain, lanes, others, place) in
            [(&region.yes, yes, no, after_yes), (&region.no, no, yes, region.join)]
        {
            self.emit.mask = lanes;
            for &block in chain {
                let instructions = unit.graph.blocks[block as usize].instructions.clone();
                self.straight(block, instructions, &[(block, Some(lanes)), (place, Some(others))]);
            }
        }
        self.emit.partial = None;
        for slot in self.emit.written.take() {
            if unit.liveness.enters(region.join, slot) {
                let value = self.emit.known(slot);
                self.keep(slot, value);
            }
        }
        self.go(number, region.join);
        self.emit.restore(known);
        self.emit.mask = mask;
    }

    /// `brx.idx`, which has a block of its own: masked code does it where lanes have different
    /// indices.
    pub(super) fn table(&mut self, number: u32, instruction: u32, targets: &[u32]) {
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

    pub(super) fn call(&mut self, number: u32, instruction: u32, next: u32) {
        self.at(instruction);
        let unit = self.emit.unit;
        let call = Call::new(unit, instruction);
        let waits = unit.calls_what_waits(instruction);
        if unit.calls_by_address(instruction) {
            self.call_together(number, &call);
        }
        if waits {
            self.checkpoint(number, next, &call);
        }
        let back = self.emit.call_function(&call);
        if waits {
            let parent = self.emit.load_at(I64, self.frame, in_frame!(parent));
            self.emit.store_field(parent, field!(frame));
        }
        // Results that are taken to be the same in all lanes have to be.
        let mut different = None;
        for slot in self.emit.written.as_slice().to_vec() {
            if unit.shapes.slots[slot as usize] == Shape::Uniform
                && unit.liveness.leaves(&unit.graph.blocks[number as usize], slot)
                && let Some(Known::Input(Input::Lanes(lanes))) = self.emit.noted(slot).cloned()
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
        if waits {
            self.leave_if_claimed(number, back);
        }
        // The values of this block's own are what `leave_for` writes, whatever their variables
        // hold.
        self.leave_for(&[(next, Some(back))], &[next]);
        self.switch(fine);
        self.flush(number);
        self.go(number, next);
    }

    /// Lanes that call different functions by their addresses do so in masked code.
    fn call_together(&mut self, number: u32, call: &Call<'_>) {
        let target = self.emit.value(call.target, Type::B64);
        let mut different = None;
        self.differences(&target, &mut different);
        let Some(different) = different else { return };
        let (fine, leave) = (self.label(), self.cold_label());
        let different = self.any_bit(different);
        self.emit.builder.ins().brif(different, leave, &[], fine, &[]);
        self.switch(leave);
        self.leave_for(&[(number, None)], &[number]);
        self.switch(fine);
    }

    pub(super) fn steps_back(&mut self) {
        for block in 0..self.labels.len() {
            let Some(label) = self.returns[block] else { continue };
            self.switch(label);
            let negative = self.emit.spend(self.emit.unit.fuel.step(block as u32));
            let spent = self.cold_label();
            let to = self.labels[block];
            self.emit.builder.ins().brif(negative, spent, &[], to, &[]);
            self.switch(spent);
            self.emit.call(Helper::Turn, &[]);
            self.emit.builder.ins().jump(to, &[]);
        }
    }

    /// All members that a collective instruction waits for have to be here.
    pub(super) fn meet(&mut self, number: u32, index: u32) {
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
}
