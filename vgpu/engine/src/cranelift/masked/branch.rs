//! How lanes part: branches, and jumps by an index.

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block as Label, BlockArg, BlockCall, InstBuilder, JumpTableData, Value};
use gangway_simt::{Guard, Kind, Scalar};
use rustc_hash::FxHashMap;

use super::{Masked, PASSED};
use crate::cranelift::state::field;
use crate::cranelift::value::Predicate;
use crate::frame::{self, in_frame};
use crate::support::Helper;

impl Masked<'_, '_> {
    pub(super) fn branch(&mut self, number: u32, guard: Guard, yes: u32, no: u32) {
        let holds = self.emit.guard(guard);
        let mask = self.emit.mask;
        self.flush(number);
        if self.apart {
            return self.branch_apart(number, &holds, yes, no);
        }
        let builder = &mut self.emit.builder;
        if let Predicate::Uniform(holds) = holds {
            let (taken, passed) = (builder.create_block(), builder.create_block());
            builder.ins().brif(holds, taken, &[], passed, &[]);
            self.switch(taken);
            self.go(number, yes, mask);
            self.switch(passed);
            self.go(number, no, mask);
            return;
        }
        let holds = holds.bits(builder);
        let taken = builder.ins().band(holds, mask);
        let passed = builder.ins().band_not(mask, holds);
        let (some, none, all, both) =
            (builder.create_block(), builder.create_block(), builder.create_block(), builder.create_block());
        builder.ins().brif(taken, some, &[], none, &[]);
        self.switch(none);
        self.go(number, no, mask);
        self.switch(some);
        self.emit.builder.ins().brif(passed, both, &[], all, &[]);
        self.switch(all);
        self.go(number, yes, mask);
        self.switch(both);
        // The later block waits. A step back is one of those that run first.
        let (first, first_lanes, later, later_lanes) =
            if yes < no { (yes, taken, no, passed) } else { (no, passed, yes, taken) };
        self.wait(later, later_lanes);
        self.go(number, first, first_lanes);
    }

    /// A branch of which nothing but what is in memory is used behind it.
    fn branch_apart(&mut self, number: u32, holds: &Predicate, yes: u32, no: u32) {
        let mask = self.emit.mask;
        let (taken_way, passed_way) = (self.way(number, yes), self.way(number, no));
        self.pass(mask);
        if let Predicate::Uniform(holds) = *holds {
            self.emit.builder.ins().brif(holds, taken_way, &[], passed_way, &[]);
            return;
        }
        let holds = holds.bits(&mut self.emit.builder);
        let taken = self.emit.builder.ins().band(holds, mask);
        self.emit.store_field(taken, PASSED + 4);
        let (some, both) = (self.emit.builder.create_block(), self.emit.builder.create_block());
        self.emit.builder.ins().brif(taken, some, &[], passed_way, &[]);
        self.switch(some);
        let (mask, taken) = (self.emit.load_field(I32, PASSED), self.emit.load_field(I32, PASSED + 4));
        let passed = self.emit.builder.ins().band_not(mask, taken);
        self.emit.builder.ins().brif(passed, both, &[], taken_way, &[]);
        self.switch(both);
        let (mask, taken) = (self.emit.load_field(I32, PASSED), self.emit.load_field(I32, PASSED + 4));
        let passed = self.emit.builder.ins().band_not(mask, taken);
        let (first, first_lanes, later, later_lanes) =
            if yes < no { (yes, taken, no, passed) } else { (no, passed, yes, taken) };
        self.wait(later, later_lanes);
        self.go(number, first, first_lanes);
    }

    /// `brx.idx`: each index in turn that lanes have, for those that have it.
    pub(super) fn table(&mut self, number: u32, operation: u32, targets: &[u32]) {
        self.at(operation);
        let unit = self.emit.unit;
        let Kind::Table { index } = unit.operation(operation).kind else {
            unreachable!("the end of a block says that this chooses the next one");
        };
        let index = self.emit.value(index, Scalar::U32);
        index.store(&mut self.emit.builder, self.emit.warp, field!(values));
        let mask = self.emit.mask;
        self.flush(number);
        let count = self.emit.number(targets.len() as i64);
        self.emit.call(Helper::CheckTargets, &[mask, count]);
        // What goes from one of these blocks to another does so in memory.
        let (again, each, place, done) = (
            self.emit.builder.create_block(),
            self.emit.builder.create_block(),
            self.emit.builder.create_block(),
            self.emit.builder.create_block(),
        );
        self.pass(mask);
        self.emit.builder.ins().jump(again, &[]);
        self.switch(again);
        let rest = self.emit.load_field(I32, PASSED);
        self.emit.builder.ins().brif(rest, each, &[], done, &[]);
        self.switch(each);
        let rest = self.emit.load_field(I32, PASSED);
        let lane = self.emit.builder.ins().ctz(rest);
        let lane = self.emit.builder.ins().uextend(I64, lane);
        let offset = self.emit.builder.ins().ishl_imm_u(lane, 2);
        let address = self.emit.builder.ins().iadd(self.emit.warp, offset);
        let index = self.emit.load_at(I32, address, field!(values));
        let equal = self.emit.call(Helper::LanesEqual, &[rest, index]);
        let equal = self.emit.builder.ins().ireduce(I32, equal);
        self.emit.store_field(equal, PASSED + 4);
        self.emit.builder.append_block_param(place, I64);
        self.emit.builder.append_block_param(place, I64);
        self.targets(targets, index, place);
        self.switch(place);
        let parameters = self.emit.builder.block_params(place);
        let (offset, bit) = (parameters[0], parameters[1]);
        let (frame, lanes) = (self.frame, self.emit.load_field(I32, PASSED + 4));
        let address = self.emit.builder.ins().iadd(frame, offset);
        let others = self.emit.load_at(I32, address, 0);
        let waits = self.emit.builder.ins().bor(others, lanes);
        self.emit.store_at(waits, address, 0);
        let waiting = self.load_waiting();
        let waiting = self.emit.builder.ins().bor(waiting, bit);
        self.emit.store_at(waiting, frame, in_frame!(waiting));
        let rest = self.emit.load_field(I32, PASSED);
        let rest = self.emit.builder.ins().band_not(rest, lanes);
        self.pass(rest);
        self.emit.builder.ins().jump(again, &[]);
        self.switch(done);
        if let Some(&back) = targets.iter().filter(|&&target| target <= number).min() {
            // Also a step back, whichever lanes take it.
            let (frame, none) = (self.frame, self.emit.number(i64::from(u32::MAX)));
            let nobody = self.emit.number(0);
            self.spend(back, |masked| {
                let chosen = masked.emit.call(Helper::StepBack, &[frame, none, nobody]);
                masked.jump(masked.chosen, chosen);
            });
        }
        self.emit.builder.ins().jump(self.dispatch, &[]);
    }

    /// Goes by an index to `place`, with where the lanes' mask is that wait for the target block,
    /// and the bit of the block's group.
    fn targets(&mut self, targets: &[u32], index: Value, place: Label) {
        let mut labels = FxHashMap::default();
        let builder = &mut self.emit.builder;
        let labelled: Vec<Label> = targets
            .iter()
            .map(|&target| *labels.entry(target).or_insert_with(|| builder.create_block()))
            .collect();
        let pool = &mut builder.func.dfg.value_lists;
        let calls: Vec<BlockCall> = labelled.iter().map(|&label| BlockCall::new(label, [], pool)).collect();
        // The index has been checked.
        let table = builder.create_jump_table(JumpTableData::new(calls[0], &calls));
        builder.ins().br_table(index, table);
        for (&target, label) in targets.iter().zip(labelled) {
            if labels.remove(&target).is_none() {
                continue;
            }
            self.switch(label);
            let offset = self.emit.number(frame::pending(target).into());
            let bit = 1u64 << (target / frame::group(self.labels.len() as u32));
            let bit = self.emit.number(bit as i64);
            self.emit.builder.ins().jump(place, &[BlockArg::Value(offset), BlockArg::Value(bit)]);
        }
    }

    fn load_waiting(&mut self) -> Value {
        self.emit.load_at(I64, self.frame, in_frame!(waiting))
    }
}
