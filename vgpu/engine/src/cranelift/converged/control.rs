//! How blocks of converged code end, and what has to hold for lanes to stay together.

use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block as Label, BlockCall, InstBuilder, JumpTableData, Value};
use gangway_simt::{Exchange, Guard, IntOrder, Kind, Operator, Read, Scalar, Source, Target};

use super::Converged;
use crate::abi::ALL;
use crate::analysis::region::Region;
use crate::analysis::shape::Shape;
use crate::cranelift::call::Call;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::{Known, field};
use crate::cranelift::value::{Lanes, Predicate};
use crate::frame::in_frame;
use crate::support::Helper;

impl Converged<'_, '_> {
    /// Emits operations of a block that run one after the other. If what the first one needs does
    /// not hold, should it be speculative, masked code goes on at `places`.
    pub(super) fn straight(&mut self, block: u32, operations: Range<u32>, places: &[(u32, Option<Value>)]) {
        self.emit.ahead = operations.clone();
        let Range { start: mut index, end } = operations;
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
            if let Some(next) = self.emit.update_own(block, &(index..end)) {
                index = next;
                continue;
            }
            if let Some((fine, leave)) = self.expected(index) {
                self.switch(leave);
                let needed: Vec<u32> = places.iter().map(|&(block, _)| block).collect();
                self.leave_for(places, &needed);
                self.switch(fine);
            }
            self.emit.operation(index);
            index += 1;
        }
    }

    /// Branches by whether what a speculative operation needs holds, and whither.
    fn expected(&mut self, index: u32) -> Option<(Label, Label)> {
        let unit = self.emit.unit;
        let operation = unit.operation(index);
        if !unit.shapes.is_speculative(operation) {
            return None;
        }
        let wrong = self.emit.expectation(operation)?;
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
        let any = self.any(number, guard);
        self.flush(number);
        let (taken, passed) = (self.label(), self.label());
        if let Predicate::Uniform(holds) = holds {
            self.emit.builder.ins().brif(holds, taken, &[], passed, &[]);
        } else {
            if let Some(any) = any {
                let exact = self.label();
                self.emit.builder.ins().brif(any, exact, &[], passed, &[]);
                self.switch(exact);
            }
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

    /// Where a branch is taken by lanes in which a value of the block is not zero, and nearly none ever is, as in code
    /// that looks for what is undefined: whether any is, which takes less than to find out which.
    fn any(&mut self, number: u32, guard: Guard) -> Option<Value> {
        let unit = self.emit.unit;
        if !unit.init || guard.negated {
            return None;
        }
        let mut later = Vec::new();
        for index in unit.code.blocks[number as usize].operations.clone().rev() {
            let operation = unit.operation(index);
            let mut written = Vec::new();
            operation.each_slot(&mut |slot, write| written.extend(write.then_some(slot)));
            if !written.contains(&guard.slot) {
                later.extend(written);
                continue;
            }
            let Kind::Compute(compute) = &operation.kind else { return None };
            let differs = Operator::Compare(IntOrder::NotEqual);
            let is_first = compute.results.first().is_some_and(|first| first.slot == Some(guard.slot));
            let compares = compute.algebra.is_some_and(|algebra| algebra.operator == differs);
            let [Read { source: Source::Slot(slot), .. }, Read { source: Source::Constant(0), .. }] =
                compute.sources[..]
            else {
                return None;
            };
            if operation.guard.is_some() || !is_first || !compares || later.contains(&slot) {
                return None;
            }
            let Known::Input(Input::Lanes(Lanes::Vector(values))) = self.emit.known(slot) else {
                return None;
            };
            let joined = values.into_iter().reduce(|one, other| self.emit.builder.ins().bor(one, other))?;
            return Some(self.emit.builder.ins().vany_true(joined));
        }
        None
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
                let operations = unit.code.blocks[block as usize].operations.clone();
                self.straight(block, operations, &[(block, Some(lanes)), (place, Some(others))]);
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
    pub(super) fn table(&mut self, number: u32, operation: u32, targets: &[u32]) {
        self.at(operation);
        let unit = self.emit.unit;
        let Kind::Table { index } = unit.operation(operation).kind else {
            unreachable!("the end of a block says that this chooses the next one");
        };
        let index = self.emit.value(index, Scalar::U32);
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

    pub(super) fn call(&mut self, number: u32, operation: u32, next: u32) {
        self.at(operation);
        let unit = self.emit.unit;
        let call = Call::new(unit, operation);
        let waits = unit.calls_what_waits(operation);
        if let Target::Address { source, .. } = call.target() {
            self.call_together(number, source);
        }
        if waits {
            self.checkpoint(number, operation, next);
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
                && unit.liveness.leaves(&unit.code.blocks[number as usize], slot)
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
    fn call_together(&mut self, number: u32, target: Source) {
        let target = self.emit.value(target, Scalar::U64);
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
            // Who asks where the warp is that gives way is told the loop.
            let head = &self.emit.unit.code.blocks[block].operations;
            if !head.is_empty() {
                self.at(head.start);
            }
            let negative = self.emit.spend(self.emit.unit.fuel.step(block as u32));
            let spent = self.cold_label();
            let to = self.labels[block];
            self.emit.builder.ins().brif(negative, spent, &[], to, &[]);
            self.switch(spent);
            self.emit.call(Helper::Turn, &[]);
            self.emit.builder.ins().jump(to, &[]);
        }
    }

    /// All members that an exchange waits for have to be here: its last source says who they are.
    pub(super) fn meet(&mut self, number: u32, exchange: &Exchange) {
        let Some(members) = exchange.sources.last() else { unreachable!("an exchange has members") };
        if members.source.constant().is_some_and(|members| members as u32 == ALL) {
            return;
        }
        let members = self.emit.value(members.source, Scalar::U32);
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
