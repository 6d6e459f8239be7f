//! Which block of masked code runs next, and for which lanes.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{BlockArg, BlockCall, InstBuilder, JumpTableData, Value};

use super::Masked;
use crate::cranelift::state::field;
use crate::frame::{self, group, in_frame};
use crate::support::Helper;

impl Masked<'_, '_> {
    /// Lets lanes wait to enter a block.
    pub(super) fn wait(&mut self, block: u32, lanes: Value) {
        let others = self.load(frame::pending(block));
        let lanes = self.emit.builder.ins().bor(others, lanes);
        self.store(lanes, frame::pending(block));
        let bit = block / group(self.labels.len() as u32);
        let waiting = self.emit.load_at(I64, self.frame, in_frame!(waiting));
        let waiting = self.emit.builder.ins().bor_imm_u(waiting, (1u64 << bit) as i64);
        self.emit.store_at(waiting, self.frame, in_frame!(waiting));
    }

    /// Has lanes wait for a block, if there are any, and goes on.
    pub(super) fn wait_if_any(&mut self, block: u32, lanes: Value) {
        let (some, behind) = (self.emit.builder.create_block(), self.emit.builder.create_block());
        self.emit.builder.ins().brif(lanes, some, &[], behind, &[]);
        self.switch(some);
        self.wait(block, lanes);
        self.emit.builder.ins().jump(behind, &[]);
        self.switch(behind);
    }

    /// Takes what a step back to a block takes from the fuel, and does what has to be done when it
    /// is spent.
    pub(super) fn spend(&mut self, block: u32, spent: impl FnOnce(&mut Self)) {
        let negative = self.emit.spend(self.emit.unit.fuel.step(block));
        let (empty, some) = (self.emit.builder.create_block(), self.emit.builder.create_block());
        self.emit.builder.set_cold_block(empty);
        self.emit.builder.ins().brif(negative, empty, &[], some, &[]);
        self.switch(empty);
        spent(self);
        self.switch(some);
    }

    /// Where blocks are gone to: straight on, or by way of lanes that wait in front.
    pub(super) fn arrivals(&mut self) {
        let group = group(self.labels.len() as u32);
        let joins = crate::analysis::joins::joins(self.emit.unit);
        for block in 0..self.labels.len() as u32 {
            if let Some(label) = self.returns[block as usize] {
                self.switch(label);
                // Who asks where the lanes are that give way is told the loop.
                let head = &self.emit.unit.code.blocks[block as usize].operations;
                if !head.is_empty() {
                    self.at(head.start);
                }
                let lanes = self.received(label);
                let frame = self.frame;
                self.spend(block, |masked| {
                    let lanes = masked.again(lanes);
                    let block = masked.emit.number(block.into());
                    let chosen = masked.emit.call(Helper::StepBack, &[frame, block, lanes]);
                    masked.jump(masked.chosen, chosen);
                });
                let lanes = self.again(lanes);
                self.send(self.arrivals[block as usize], lanes);
            }
            let label = self.arrivals[block as usize];
            self.switch(label);
            let lanes = self.received(label);
            if let Ok(join) = joins.binary_search(&block) {
                self.join(join, lanes);
            }
            let waiting = self.emit.load_at(I64, self.frame, in_frame!(waiting));
            let in_front = u64::MAX >> (63 - block / group);
            let others = self.emit.builder.ins().band_imm_u(waiting, in_front as i64);
            let queue = self.emit.builder.create_block();
            let straight = [BlockArg::Value(lanes)];
            let straight = if self.apart { &[][..] } else { &straight };
            self.emit.builder.ins().brif(others, queue, &[], self.labels[block as usize], straight);
            self.switch(queue);
            let lanes = self.again(lanes);
            self.wait(block, lanes);
            self.emit.builder.ins().jump(self.dispatch, &[]);
        }
    }

    /// All lanes have met: converged code goes on, if it is what has called.
    fn join(&mut self, number: usize, lanes: Value) {
        let (all, met, apart) = (
            self.emit.builder.create_block(),
            self.emit.builder.create_block(),
            self.emit.builder.create_block(),
        );
        let together = self.emit.builder.ins().icmp_imm_s(IntCC::Equal, lanes, -1);
        self.emit.builder.ins().brif(together, all, &[], apart, &[]);
        self.switch(all);
        let converges = self.load(in_frame!(converges));
        self.emit.builder.ins().brif(converges, met, &[], apart, &[]);
        self.switch(met);
        let outcome = self.emit.number(frame::met(number) as i64);
        self.emit.builder.ins().return_(&[outcome]);
        self.switch(apart);
    }

    /// Chooses the first block that lanes wait for.
    pub(super) fn dispatch(&mut self) {
        let blocks = self.labels.len() as u32;
        self.switch(self.dispatch);
        let (ask, some) = (self.emit.builder.create_block(), self.emit.builder.create_block());
        let waiting = self.emit.load_at(I64, self.frame, in_frame!(waiting));
        self.emit.builder.ins().brif(waiting, some, &[], ask, &[]);
        self.switch(some);
        if group(blocks) == 1 {
            let block = self.emit.builder.ins().ctz(waiting);
            let less = self.emit.builder.ins().iadd_imm_s(waiting, -1);
            let rest = self.emit.builder.ins().band(waiting, less);
            self.emit.store_at(rest, self.frame, in_frame!(waiting));
            let offset = self.emit.builder.ins().ishl_imm_u(block, 2);
            let address = self.emit.builder.ins().iadd(self.frame, offset);
            let lanes = self.emit.load_at(I32, address, frame::pending(0));
            let zero = self.emit.builder.ins().iconst(I32, 0);
            self.emit.store_at(zero, address, frame::pending(0));
            let wide = self.emit.builder.ins().uextend(I64, lanes);
            let high = self.emit.builder.ins().ishl_imm_u(block, 32);
            let chosen = self.emit.builder.ins().bor(high, wide);
            self.jump(self.chosen, chosen);
        } else {
            self.emit.builder.ins().jump(ask, &[]);
        }
        self.switch(ask);
        // Lanes that are parked, and functions that lanes have to come back from.
        let parked = self.emit.load_at(I64, self.frame, in_frame!(parked));
        let next = self.emit.builder.create_block();
        let held = self.emit.load_at(I64, self.frame, in_frame!(held));
        let anybody = self.emit.builder.ins().bor(parked, held);
        let anybody = self.emit.builder.ins().bor(anybody, waiting);
        self.emit.builder.ins().brif(anybody, next, &[], self.finish, &[]);
        self.switch(next);
        let frame = self.frame;
        let chosen = self.emit.call(Helper::Next, &[frame]);
        self.jump(self.chosen, chosen);

        // The block in the upper half, the lanes in the lower; no lanes at all when none is left.
        self.switch(self.chosen);
        let chosen = self.emit.builder.block_params(self.chosen)[0];
        let lanes = self.emit.builder.ins().ireduce(I32, chosen);
        let block = self.emit.builder.ins().ushr_imm_u(chosen, 32);
        let block = self.emit.builder.ins().ireduce(I32, block);
        let argument = [BlockArg::Value(lanes)];
        let argument = if self.apart { &[][..] } else { &argument };
        let pool = &mut self.emit.builder.func.dfg.value_lists;
        let nobody = BlockCall::new(self.dispatch, [], pool);
        let mut calls: Vec<_> =
            self.labels.iter().map(|&label| BlockCall::new(label, argument.iter().copied(), pool)).collect();
        let blocks = blocks as usize;
        let last = if !self.exchanged.is_empty() {
            3
        } else if !self.passed.is_empty() {
            2
        } else {
            1
        };
        calls.resize(last * blocks, nobody);
        for (first, others) in [(blocks, &self.passed), (2 * blocks, &self.exchanged)] {
            for &(block, label) in others {
                calls[first + block as usize] = BlockCall::new(label, argument.iter().copied(), pool);
            }
        }
        let table = self.emit.builder.create_jump_table(JumpTableData::new(nobody, &calls));
        let enter = self.emit.builder.create_block();
        let nothing = if self.emit.unit.waits() { self.leave } else { self.dispatch };
        self.emit.builder.ins().brif(lanes, enter, &[], nothing, &[]);
        self.switch(enter);
        if self.apart {
            self.pass(lanes);
        }
        self.emit.builder.ins().br_table(block, table);
    }

    pub(super) fn finish(&mut self) {
        if self.emit.unit.waits() {
            self.switch(self.leave);
            let switch = self.emit.number(frame::SWITCH as i64);
            self.emit.builder.ins().return_(&[switch]);
        }
        self.switch(self.finish);
        let returned = self.load(in_frame!(returned));
        let top = self.emit.load_at(I64, self.frame, in_frame!(saved_top));
        self.emit.store_field(top, field!(local_top));
        let result = self.emit.builder.ins().uextend(I64, returned);
        self.emit.builder.ins().return_(&[result]);
    }
}
