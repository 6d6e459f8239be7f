//! Where lanes wait: for each other at exchanges and at barriers, and for what they
//! have called.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use gangway_simt::{End, Kind, Meeting, Scalar, Target};

use super::Masked;
use crate::abi::{ALL, Flavour, LANES};
use crate::cranelift::call::Call;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::field;
use crate::cranelift::value::Lanes;
use crate::frame::in_frame;
use crate::support::Helper;

impl Masked<'_, '_> {
    /// An operation that lanes wait for each other at.
    pub(super) fn meet(&mut self, number: u32, index: u32) {
        let unit = self.emit.unit;
        let (inputs, members, opcode) = match &unit.operation(index).kind {
            Kind::Exchange(exchange) => {
                let inputs = self.emit.exchange_inputs(exchange);
                let Some(members) = exchange.sources.last() else { unreachable!("an exchange has members") };
                (inputs, self.emit.value(members.source, Scalar::U32), exchange.opcode)
            }
            Kind::Matrix(matrix) => {
                let all = self.emit.constant(Scalar::U32, ALL.into());
                (vec![Input::Lanes(all.clone())], all, matrix.opcode)
            }
            _ => unreachable!("lanes wait for each other at no other operation"),
        };
        let mask = self.emit.mask;
        let (ready, wait) = (self.emit.builder.create_block(), self.emit.builder.create_block());
        self.emit.builder.append_block_param(ready, I32);
        if let Lanes::Uniform(members) = members {
            // All members that are left have come, and no other lane.
            let exited = self.emit.load_field(I32, field!(exited));
            let left = self.emit.builder.ins().band_not(members, exited);
            let complete = self.emit.builder.ins().icmp(IntCC::Equal, left, mask);
            let lanes = [BlockArg::Value(mask)];
            self.emit.builder.ins().brif(complete, ready, &lanes, wait, &[]);
        } else {
            self.emit.builder.ins().jump(wait, &[]);
        }
        self.switch(wait);
        let wide = self.emit.pass(&inputs);
        let (place, opcode) = (self.place(number, mask), self.emit.number(opcode.into()));
        let (frame, wide) = (self.frame, self.emit.number(wide));
        let together = self.emit.call(Helper::Meet, &[frame, place, opcode, wide]);
        let together = self.emit.builder.ins().ireduce(I32, together);
        let lanes = [BlockArg::Value(together)];
        self.emit.builder.ins().brif(together, ready, &lanes, self.dispatch, &[]);
        self.switch(ready);
        // What has been read so far holds for all lanes.
        self.emit.mask = self.emit.builder.block_params(ready)[0];
        if let Kind::Exchange(exchange) = &unit.operation(index).kind {
            self.emit.exchange(exchange, &inputs, None);
        }
        let Ok(known) = self.exchanged.binary_search_by_key(&number, |&(block, _)| block) else {
            unreachable!("each block that begins with such an operation has a place behind it");
        };
        let label = self.exchanged[known].1;
        let mask = self.emit.mask;
        self.send(label, mask);
        self.switch(label);
        self.emit.mask = self.received(label);
        self.emit.forget();
        self.emit.local_base = self.emit.load_at(I64, self.frame, in_frame!(local_base));
        match &unit.operation(index).kind {
            Kind::Exchange(exchange) => self.emit.take_exchanged(exchange, None),
            // It has met; what it works on is in the registers still.
            _ => self.emit.together(index),
        }
    }

    /// A block and lanes as one number.
    fn place(&mut self, block: u32, lanes: Value) -> Value {
        let lanes = self.emit.builder.ins().uextend(I64, lanes);
        self.emit.builder.ins().bor_imm_u(lanes, i64::from(block) << 32)
    }

    pub(super) fn barrier(&mut self, number: u32, index: u32, next: u32) {
        self.at(index);
        let barrier = self.emit.barrier_of(index);
        let flags = self.emit.pass_barrier(barrier);
        let arrives = barrier.meeting == Meeting::Arrive;
        let mask = self.emit.mask;
        self.flush(number);
        let flags = self.emit.number(flags);
        if arrives {
            self.emit.call(Helper::Arrive, &[mask, flags]);
            self.go(number, next, mask);
            return;
        }
        let frame = self.frame;
        let block = self.emit.number(number.into());
        let chosen = self.emit.call(Helper::Barrier, &[frame, block, mask, flags]);
        self.jump(self.chosen, chosen);
    }

    /// Calls a function. If lanes may wait in it, it has a frame of its own, and this one goes on
    /// when they come back.
    pub(super) fn call(&mut self, number: u32, operation: u32, next: u32) {
        let unit = self.emit.unit;
        let call = Call::new(unit, operation);
        if !unit.calls_what_waits(operation) {
            let back = self.emit.call_function(&call);
            self.emit.mask = back;
            self.flush(number);
            if self.apart {
                self.pass(back);
                let label = self.way(number, next);
                self.emit.builder.ins().brif(back, label, &[], self.dispatch, &[]);
                return;
            }
            let go = self.emit.builder.create_block();
            self.emit.builder.ins().brif(back, go, &[], self.dispatch, &[]);
            self.switch(go);
            self.go(number, next, back);
            return;
        }
        let mask = self.emit.mask;
        self.flush(number);
        let area = self.emit.pass_arguments(&call);
        let (stack, enter) = (self.emit.builder.create_block(), self.emit.builder.create_block());
        if let Target::Function(callee) = call.target() {
            let all = self.emit.builder.ins().icmp_imm_s(IntCC::Equal, mask, -1);
            self.emit.builder.ins().brif(all, stack, &[], enter, &[]);
            self.switch(enter);
            let index = self.emit.number(callee.into());
            self.enter(number, &call, area, index, mask);
            self.switch(stack);
            let code = self.emit.code_of(callee, Flavour::Converged);
            self.call_on_stack(number, code, area, mask);
            return;
        }
        let code = self.emit.find_target(&call, area, mask);
        let lanes = self.emit.load_field(I32, field!(results));
        let function = self.emit.load_field(I64, field!(results) + (8 * LANES) as i32);
        let others = self.emit.builder.ins().band_not(mask, lanes);
        // The block has nothing but the call: they come to it again.
        self.wait_if_any(number, others);
        self.emit.builder.ins().brif(function, enter, &[], stack, &[]);
        self.switch(enter);
        let callee = self.emit.builder.ins().iadd_imm_s(function, -1);
        self.enter(number, &call, area, callee, lanes);
        self.switch(stack);
        self.call_on_stack(number, code, area, lanes);
    }

    /// Gives a called function a frame, in which it goes on.
    fn enter(&mut self, number: u32, call: &Call<'_>, area: Value, callee: Value, lanes: Value) {
        let (frame, place) = (self.frame, self.place(number, lanes));
        let sizes = self.emit.number(call.sizes());
        self.emit.call(Helper::Enter, &[frame, place, callee, area, sizes]);
        self.emit.builder.ins().jump(self.leave, &[]);
    }

    /// Runs a called function before this code goes on. Lanes that have come back from it may do so
    /// meanwhile.
    fn call_on_stack(&mut self, number: u32, code: Value, area: Value, lanes: Value) {
        let block = self.emit.builder.ins().iconst(I32, i64::from(number));
        self.store(block, in_frame!(calls));
        let top = self.emit.load_field(I64, field!(local_top));
        self.emit.store_at(top, self.frame, in_frame!(top));
        let one = self.emit.builder.ins().iconst(I32, 1);
        let children = self.load(in_frame!(children));
        let more = self.emit.builder.ins().iadd(children, one);
        self.store(more, in_frame!(children));
        let back = self.emit.enter(code, area, lanes);
        let children = self.load(in_frame!(children));
        let less = self.emit.builder.ins().iadd_imm_s(children, -1);
        self.store(less, in_frame!(children));
        self.emit.store_at(area, self.frame, in_frame!(results));
        let Ok(known) = self.passed.binary_search_by_key(&number, |&(block, _)| block) else {
            unreachable!("each block with such a call has a place behind it");
        };
        let label = self.passed[known].1;
        let go = self.emit.builder.create_block();
        self.emit.builder.ins().brif(back, go, &[], self.dispatch, &[]);
        self.switch(go);
        self.send(label, back);
    }

    /// Where lanes go on that have passed a barrier, or come back from a function that lanes may
    /// wait in.
    pub(super) fn behind(&mut self) {
        let unit = self.emit.unit;
        for (number, label) in self.passed.clone() {
            self.switch(label);
            let lanes = self.received(label);
            self.emit.mask = lanes;
            self.emit.forget();
            let next = match unit.code.blocks[number as usize].end {
                End::Barrier { operation, next } => {
                    self.at(operation);
                    let barrier = self.emit.barrier_of(operation);
                    self.emit.barrier_result(barrier);
                    next
                }
                End::Call { operation, next } => {
                    self.at(operation);
                    self.emit.local_base = self.emit.load_at(I64, self.frame, in_frame!(local_base));
                    let area = self.emit.load_at(I64, self.frame, in_frame!(results));
                    self.emit.take_results(&Call::new(unit, operation), area);
                    next
                }
                _ => continue,
            };
            self.flush(number);
            self.go(number, next, lanes);
        }
    }
}
