//! The masked flavour: any set of lanes runs, and lanes part and meet.
//!
//! Every block has a mask of lanes that wait to enter it. A block that ends hands its lanes on:
//! straight to the next block when no lane waits in front of that one. Otherwise they wait as
//! well, and the first block that a lane waits for runs. Steps back cost fuel. When it is spent,
//! other lanes of the warp, and other warps, have their turn.
//!
//! Registers that live across blocks are in the frame. When a block ends, it writes those that it
//! has changed, in the lanes that it ran.

mod dispatch;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{
    Block as Label, BlockArg, BlockCall, InstBuilder, JumpTableData, SourceLoc, StackSlotData, StackSlotKind,
    Value,
};
use cranelift_frontend::FunctionBuilder;
use gangway_ptx::meaning::{Barrier, ExchangeOperation};
use gangway_ptx::{Guard, Type};
use rustc_hash::FxHashMap;

use crate::compile::emit::{Emitter, Known, Registers, field, own_memory};
use crate::compile::graph::End;
use crate::compile::unit::Unit;
use crate::frame::{self, in_frame};
use crate::lower::Input;
use crate::support::Helper;
use crate::value::{Lanes, Predicate, is_wide};

/// Registers in the frame.
struct Homes<'a> {
    homes: &'a [i32],
    frame: Value,
}

impl Registers for Homes<'_> {
    fn fetch(&mut self, builder: &mut FunctionBuilder, slot: u32, ty: Type) -> Known {
        Known::Input(fetch(builder, self.frame, self.homes[slot as usize], ty))
    }
}

/// What a slot holds whose place in the frame is `home`.
pub(crate) fn fetch(builder: &mut FunctionBuilder, frame: Value, home: i32, ty: Type) -> Input {
    match (home, ty) {
        // A register that nothing has written is zero.
        (0, Type::Pred) => Input::Predicate(Predicate::constant(builder, false)),
        (0, _) => Input::Lanes(Lanes::constant(builder, ty, 0)),
        (home, Type::Pred) => {
            Input::Predicate(Predicate::Bits(builder.ins().load(I32, own_memory(), frame, home)))
        }
        (home, _) => Input::Lanes(Lanes::load(builder, is_wide(ty), frame, home)),
    }
}

struct Masked<'a, 'b> {
    emit: Emitter<'a, 'b>,
    frame: Value,
    /// Lanes go from block to block in memory, and not as parameters. Allocating registers in one
    /// pass takes a step for each value at each block that is between those that make and use it,
    /// in an order of Cranelift's: with many blocks no value may go from one to another.
    apart: bool,
    /// Where each block is entered, with the lanes that enter it.
    labels: Vec<Label>,
    /// Where each block is gone to, with the lanes that go.
    arrivals: Vec<Label>,
    /// The same for steps back, which cost fuel.
    returns: Vec<Option<Label>>,
    /// Where lanes go on behind the barrier at the end of a block.
    passed: Vec<(u32, Label)>,
    /// Chooses the lanes that go on.
    dispatch: Label,
    /// Goes to the block and the lanes that a helper has chosen, an `I64`.
    chosen: Label,
    finish: Label,
}

/// Functions with more blocks pass lanes in memory.
pub(crate) const MANY_BLOCKS: usize = 64;

/// Where in the warp's state lanes are on their way from block to block: helpers are told nothing
/// meanwhile.
const PASSED: i32 = field!(addresses);

/// Emits the function with this signature: warp, arguments, frame, lanes.
pub(crate) fn emit(unit: &Unit, mut builder: FunctionBuilder) {
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let &[warp, arguments, given, lanes] = builder.block_params(entry) else {
        unreachable!("the signature has four parameters");
    };
    let slot = builder.create_sized_stack_slot(StackSlotData::new(
        StackSlotKind::ExplicitSlot,
        unit.frame as u32,
        4,
    ));
    let own = builder.ins().stack_addr(I64, slot, 0);
    let frame = builder.ins().select(given, given, own);
    let blocks = unit.graph.blocks.len();
    let apart = blocks > MANY_BLOCKS;
    let mut label = |with_lanes: bool| {
        let label = builder.create_block();
        if with_lanes && !apart {
            builder.append_block_param(label, I32);
        }
        label
    };
    let labels = (0..blocks).map(|_| label(true)).collect();
    let arrivals = (0..blocks).map(|_| label(true)).collect();
    let passed = unit.barriers().into_iter().map(|block| (block, label(true))).collect();
    let (dispatch, chosen, finish, begin) = (label(false), label(false), label(false), label(false));
    builder.append_block_param(chosen, I64);
    // The frame is another one's, but the stack is as deep as in a call.
    let resume = if unit.checks_stack() { builder.create_block() } else { dispatch };
    builder.ins().brif(given, resume, &[], begin, &[]);
    let registers = Box::new(Homes { homes: &unit.homes, frame });
    let emit = Emitter::new(unit, builder, warp, arguments, registers);
    let returns = vec![None; blocks];
    let mut masked =
        Masked { emit, frame, apart, labels, arrivals, returns, passed, dispatch, chosen, finish };
    if resume != dispatch {
        masked.switch(resume);
        masked.emit.check_stack(lanes);
        masked.emit.builder.ins().jump(dispatch, &[]);
    }
    masked.switch(begin);
    masked.emit.check_stack(lanes);
    masked.begin(lanes);
    for block in 0..blocks as u32 {
        masked.block(block);
    }
    masked.barriers();
    masked.arrivals();
    masked.dispatch();
    masked.finish();
    masked.emit.builder.seal_all_blocks();
    masked.emit.builder.finalize(unit.frontend);
}

impl Masked<'_, '_> {
    fn switch(&mut self, label: Label) {
        self.emit.builder.switch_to_block(label);
    }

    fn at(&mut self, instruction: u32) {
        self.emit.builder.set_srcloc(SourceLoc::new(instruction));
    }

    fn load(&mut self, offset: i32) -> Value {
        self.emit.load_at(I32, self.frame, offset)
    }

    fn store(&mut self, value: Value, offset: i32) {
        self.emit.store_at(value, self.frame, offset);
    }

    fn jump(&mut self, to: Label, value: Value) {
        self.emit.builder.ins().jump(to, &[BlockArg::Value(value)]);
    }

    /// A new activation: an empty frame, local memory, parameters.
    fn begin(&mut self, lanes: Value) {
        let unit = self.emit.unit;
        let blocks = unit.graph.blocks.len();
        let zero = crate::value::constant(&mut self.emit.builder, cranelift_codegen::ir::types::I32X4, 0);
        let header = frame::size(blocks);
        if header <= 4096 {
            for offset in (0..header).step_by(16) {
                self.store(zero, offset);
            }
        } else {
            let size = self.emit.number(header.into());
            let frame = self.frame;
            self.emit.call(Helper::Clear, &[frame, size]);
        }
        self.store(lanes, in_frame!(lanes));
        let count = self.emit.builder.ins().iconst(I32, blocks as i64);
        self.store(count, in_frame!(blocks));
        self.emit.mask = lanes;
        self.emit.spend_entry();
        let saved = self.emit.enter_local();
        self.emit.store_at(saved, self.frame, in_frame!(saved_top));
        let base = self.emit.local_base;
        self.emit.store_at(base, self.frame, in_frame!(local_base));
        for &slot in unit.liveness.entering(0) {
            let home = unit.homes[slot as usize];
            let size = match unit.slots.types[slot as usize] {
                Type::Pred => 16,
                ty if is_wide(ty) => 256,
                _ => 128,
            };
            for offset in (home..home + size).step_by(16) {
                self.store(zero, offset);
            }
        }
        self.send(self.labels[0], lanes);
    }

    fn block(&mut self, number: u32) {
        let unit = self.emit.unit;
        let block = &unit.graph.blocks[number as usize];
        let label = self.labels[number as usize];
        self.switch(label);
        self.emit.mask = self.received(label);
        self.emit.forget();
        self.emit.local_base = self.emit.load_at(I64, self.frame, in_frame!(local_base));
        for index in block.instructions.clone() {
            self.at(index);
            if let Some(op) = block.collective
                && index == block.instructions.start
            {
                self.meet(number, index, op);
            } else {
                self.emit.instruction(index);
            }
        }
        self.end(number, &block.end);
    }

    fn end(&mut self, number: u32, end: &End) {
        let mask = self.emit.mask;
        match end {
            End::Jump(to) => {
                self.flush(number);
                self.go(number, *to, mask);
            }
            End::Branch(guard, yes, no) => self.branch(number, *guard, *yes, *no),
            End::Table { instruction, targets } => self.table(number, *instruction, targets),
            End::Barrier { instruction, barrier, next } => {
                self.barrier(number, *instruction, *barrier, *next);
            }
            End::Call { instruction, next } => {
                self.at(*instruction);
                let back = self.emit.call_function(*instruction);
                self.emit.mask = back;
                self.flush(number);
                if self.apart {
                    self.pass(back);
                    let label = self.way(number, *next);
                    self.emit.builder.ins().brif(back, label, &[], self.dispatch, &[]);
                    return;
                }
                let go = self.emit.builder.create_block();
                self.emit.builder.ins().brif(back, go, &[], self.dispatch, &[]);
                self.switch(go);
                self.go(number, *next, back);
            }
            End::Return => {
                let returned = self.load(in_frame!(returned));
                let returned = self.emit.builder.ins().bor(returned, mask);
                self.store(returned, in_frame!(returned));
                if self.emit.unit.function.entry {
                    self.exit(mask);
                }
                self.emit.builder.ins().jump(self.dispatch, &[]);
            }
            End::Exit => {
                self.exit(mask);
                self.emit.builder.ins().jump(self.dispatch, &[]);
            }
            End::Trap { instruction } => {
                self.at(*instruction);
                self.emit.call(Helper::Trap, &[mask]);
                self.emit.builder.ins().jump(self.dispatch, &[]);
            }
        }
    }

    fn exit(&mut self, mask: Value) {
        let exited = self.emit.load_field(I32, field!(exited));
        let exited = self.emit.builder.ins().bor(exited, mask);
        self.emit.store_field(exited, field!(exited));
    }

    /// Writes what the block has changed and others need to the frame.
    fn flush(&mut self, number: u32) {
        let unit = self.emit.unit;
        let block = &unit.graph.blocks[number as usize];
        let mask = Predicate::Bits(self.emit.mask);
        let masks = Predicate::Each(mask.each(&mut self.emit.builder));
        for slot in self.emit.written.take() {
            if !unit.liveness.leaves(block, slot) {
                continue;
            }
            let home = unit.homes[slot as usize];
            let value = self.emit.slot(slot);
            let old = fetch(&mut self.emit.builder, self.frame, home, unit.slots.types[slot as usize]);
            let builder = &mut self.emit.builder;
            match (value, old) {
                (Input::Lanes(new), Input::Lanes(old)) => {
                    Lanes::select(builder, &masks, &new, &old).store(builder, self.frame, home);
                }
                (Input::Predicate(new), Input::Predicate(old)) => {
                    let (new, old) = (new.bits(builder), old.bits(builder));
                    let new = builder.ins().band(new, self.emit.mask);
                    let old = builder.ins().band_not(old, self.emit.mask);
                    let value = builder.ins().bor(new, old);
                    self.store(value, home);
                }
                _ => unreachable!("a slot is a predicate or it is none"),
            }
        }
    }

    /// Goes to a block with lanes, of which there are some.
    fn go(&mut self, from: u32, to: u32, lanes: Value) {
        let label = self.way(from, to);
        self.send(label, lanes);
    }

    /// Where lanes go that go from a block to another.
    fn way(&mut self, from: u32, to: u32) -> Label {
        if to > from {
            return self.arrivals[to as usize];
        }
        match self.returns[to as usize] {
            Some(label) => label,
            None => {
                let label = self.emit.builder.create_block();
                if !self.apart {
                    self.emit.builder.append_block_param(label, I32);
                }
                *self.returns[to as usize].insert(label)
            }
        }
    }

    /// Puts lanes where the next block finds them, if they go in memory.
    fn pass(&mut self, lanes: Value) {
        self.emit.store_field(lanes, PASSED);
    }

    fn send(&mut self, to: Label, lanes: Value) {
        if self.apart {
            self.pass(lanes);
            self.emit.builder.ins().jump(to, &[]);
        } else {
            self.jump(to, lanes);
        }
    }

    /// The lanes that have come to a label, where its code begins.
    fn received(&mut self, label: Label) -> Value {
        if self.apart { self.emit.load_field(I32, PASSED) } else { self.emit.builder.block_params(label)[0] }
    }

    /// Lanes that have come here, in another of the label's blocks; nothing may have been passed
    /// since.
    fn again(&mut self, lanes: Value) -> Value {
        if self.apart { self.emit.load_field(I32, PASSED) } else { lanes }
    }

    fn branch(&mut self, number: u32, guard: Guard, yes: u32, no: u32) {
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
    fn table(&mut self, number: u32, instruction: u32, targets: &[u32]) {
        self.at(instruction);
        let unit = self.emit.unit;
        let operand = unit.body.operands(&unit.body.instructions[instruction as usize])[0];
        let index = self.emit.value(operand, Type::U32);
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

    /// A collective instruction that lanes wait for each other at.
    fn meet(&mut self, number: u32, index: u32, op: ExchangeOperation) {
        let unit = self.emit.unit;
        let instruction = &unit.body.instructions[index as usize];
        let operands = unit.body.operands(instruction);
        let members = self.emit.value(operands[operands.len() - 1], Type::B32);
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
        members.store(&mut self.emit.builder, self.emit.warp, field!(values));
        let (frame, block) = (self.frame, self.emit.number(number.into()));
        let together = self.emit.call(Helper::Meet, &[frame, block, mask]);
        let together = self.emit.builder.ins().ireduce(I32, together);
        let lanes = [BlockArg::Value(together)];
        self.emit.builder.ins().brif(together, ready, &lanes, self.dispatch, &[]);
        self.switch(ready);
        self.emit.mask = self.emit.builder.block_params(ready)[0];
        // What has been read so far holds for all lanes.
        self.emit.collective(index, op, None);
    }

    fn barrier(&mut self, number: u32, index: u32, barrier: Barrier, next: u32) {
        self.at(index);
        let flags = self.emit.pass_barrier(index, barrier);
        let mask = self.emit.mask;
        self.flush(number);
        let flags = self.emit.number(flags);
        if barrier == Barrier::Arrive {
            self.emit.call(Helper::Arrive, &[mask, flags]);
            self.go(number, next, mask);
            return;
        }
        let frame = self.frame;
        let block = self.emit.number(number.into());
        let chosen = self.emit.call(Helper::Barrier, &[frame, block, mask, flags]);
        self.jump(self.chosen, chosen);
    }

    /// Where lanes go on that have passed a barrier.
    fn barriers(&mut self) {
        let unit = self.emit.unit;
        for (number, label) in self.passed.clone() {
            self.switch(label);
            let lanes = self.received(label);
            self.emit.mask = lanes;
            self.emit.forget();
            let End::Barrier { instruction, barrier, next } = unit.graph.blocks[number as usize].end else {
                continue;
            };
            self.at(instruction);
            self.emit.barrier_result(instruction, barrier);
            self.flush(number);
            self.go(number, next, lanes);
        }
    }
}
