//! The masked flavour: any set of lanes runs, and lanes part and meet.
//!
//! Every block has a mask of lanes that wait to enter it. A block that ends hands its lanes on:
//! straight to the next block when no lane waits in front of that one. Otherwise they wait as
//! well, and the first block that a lane waits for runs. Steps back cost fuel. When it is spent,
//! other lanes of the warp, and other warps, have their turn.
//!
//! Registers that live across blocks are in the frame. When a block ends, it writes those that it
//! has changed, in the lanes that it ran.

mod alone;
mod branch;
mod dispatch;
mod wait;

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{
    Block as Label, BlockArg, InstBuilder, SourceLoc, StackSlotData, StackSlotKind, Value,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::FunctionBuilder;
use gangway_simt::{End, Scalar, loops, predecessors};

use crate::analysis::unit::Unit;
use crate::cranelift::emit::Emitter;
use crate::cranelift::homes::{Homes, fetch};
use crate::cranelift::sequence::Input;
use crate::cranelift::state::{field, own_memory};
use crate::cranelift::value::{Lanes, Predicate};
use crate::frame::{self, in_frame};
use crate::support::Helper;

struct Masked<'a, 'b> {
    emit: Emitter<'a, 'b>,
    /// By block, whether it is in a loop.
    loops: Vec<bool>,
    /// By block, those before it.
    before: Vec<Vec<u32>>,
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
    /// Where lanes go on behind the barrier or the call at the end of a block.
    passed: Vec<(u32, Label)>,
    /// Where lanes go on behind the operation that they wait for each other at, at the beginning of a block.
    exchanged: Vec<(u32, Label)>,
    /// Chooses the lanes that go on.
    dispatch: Label,
    /// Goes to the block and the lanes that a helper has chosen, an `I64`.
    chosen: Label,
    /// Lets other functions go on.
    leave: Label,
    finish: Label,
}

/// Functions with more blocks pass lanes in memory.
pub(crate) const MANY_BLOCKS: usize = 64;

/// Where in the warp's state lanes are on their way from block to block: helpers are told nothing
/// meanwhile.
const PASSED: i32 = field!(addresses);

/// Emits the function with this signature: warp, arguments, frame, lanes.
pub(crate) fn emit(unit: &Unit, mut builder: FunctionBuilder, frontend: TargetFrontendConfig) {
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let &[warp, arguments, given, lanes] = builder.block_params(entry) else {
        unreachable!("the signature has four parameters");
    };
    let frame = if unit.waits() {
        given
    } else {
        let slot = builder.create_sized_stack_slot(StackSlotData::new(
            StackSlotKind::ExplicitSlot,
            unit.frame as u32,
            4,
        ));
        let own = builder.ins().stack_addr(I64, slot, 0);
        builder.ins().select(given, given, own)
    };
    let blocks = unit.code.blocks.len();
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
    let passed = unit.left().into_iter().map(|block| (block, label(true))).collect();
    let begins = unit.code.blocks.iter().zip(0u32..);
    let exchanges = begins.filter(|(block, _)| block.collective);
    let exchanged = exchanges.map(|(_, block)| (block, label(true))).collect();
    let (dispatch, chosen, leave, finish) = (label(false), label(false), label(false), label(false));
    builder.append_block_param(chosen, I64);
    let (go_on, begin) = (builder.create_block(), builder.create_block());
    builder.ins().brif(given, go_on, &[], begin, &[]);
    let registers = Box::new(Homes { homes: &unit.homes, frame });
    let emit = Emitter::new(unit, builder, warp, arguments, registers);
    let returns = vec![None; blocks];
    let mut masked = Masked {
        emit,
        loops: loops(&unit.code.blocks),
        before: predecessors(&unit.code.blocks),
        frame,
        apart,
        labels,
        arrivals,
        returns,
        passed,
        exchanged,
        dispatch,
        chosen,
        leave,
        finish,
    };
    masked.switch(go_on);
    // The frame is another one's, but the stack is as deep as in a call.
    masked.emit.check_stack(lanes);
    if unit.waits() {
        let new = masked.emit.builder.create_block();
        let (entered, resume) = (masked.load(in_frame!(blocks)), masked.emit.builder.create_block());
        masked.emit.builder.ins().brif(entered, resume, &[], new, &[]);
        masked.switch(resume);
        let chosen = masked.emit.load_at(I64, frame, in_frame!(entering));
        let nothing = masked.emit.number(0);
        masked.emit.store_at(nothing, frame, in_frame!(entering));
        let (first, place) = (masked.chosen, [BlockArg::Value(chosen)]);
        masked.emit.builder.ins().brif(chosen, first, &place, dispatch, &[]);
        masked.switch(begin);
        let size = masked.emit.number(unit.frame.into());
        masked.emit.builder.ins().return_(&[size]);
        masked.switch(new);
    } else {
        masked.emit.builder.ins().jump(dispatch, &[]);
        masked.switch(begin);
        masked.emit.check_stack(lanes);
    }
    masked.begin(lanes);
    for block in 0..blocks as u32 {
        masked.block(block);
    }
    masked.behind();
    masked.arrivals();
    masked.dispatch();
    masked.finish();
    masked.emit.builder.seal_all_blocks();
    masked.emit.builder.finalize(frontend);
}

impl Masked<'_, '_> {
    fn switch(&mut self, label: Label) {
        self.emit.builder.switch_to_block(label);
    }

    fn at(&mut self, operation: u32) {
        self.emit.builder.set_srcloc(SourceLoc::new(operation));
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
        let blocks = unit.code.blocks.len();
        let zero =
            crate::cranelift::value::constant(&mut self.emit.builder, cranelift_codegen::ir::types::I32X4, 0);
        for offset in frame::CLEARED.step_by(16) {
            self.store(zero, offset);
        }
        let converges = self.emit.number(0);
        self.emit.store_at(converges, self.frame, in_frame!(converges));
        let (masks, registers) = (frame::pending(0), frame::size(blocks));
        if registers - masks <= 4096 {
            for offset in (masks..registers).step_by(16) {
                self.store(zero, offset);
            }
        } else {
            let size = self.emit.number((registers - masks).into());
            let masks = self.emit.builder.ins().iadd_imm_s(self.frame, i64::from(masks));
            self.emit.call(Helper::Clear, &[masks, size]);
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
            let size = match unit.code.slots[slot as usize] {
                Scalar::Predicate => 16,
                ty if ty.is_wide() => 256,
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
        let block = &unit.code.blocks[number as usize];
        let label = self.labels[number as usize];
        self.switch(label);
        self.emit.mask = self.received(label);
        self.emit.forget();
        self.emit.repeats = self.loops[number as usize];
        if !self.apart
            && let Some(left) = self.alone(number)
        {
            self.emit.mask = left;
            self.emit.forget();
        }
        self.emit.local_base = self.emit.load_at(I64, self.frame, in_frame!(local_base));
        for index in block.operations.clone() {
            self.at(index);
            if block.collective && index == block.operations.start {
                self.meet(number, index);
            } else {
                self.emit.operation(index);
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
            End::Table { operation, targets } => self.table(number, *operation, targets),
            End::Barrier { operation, next } => self.barrier(number, *operation, *next),
            End::Call { operation, next } => {
                self.at(*operation);
                self.call(number, *operation, *next);
            }
            End::Return => {
                self.emit.copy_results();
                let returned = self.load(in_frame!(returned));
                let returned = self.emit.builder.ins().bor(returned, mask);
                self.store(returned, in_frame!(returned));
                if self.emit.unit.entry {
                    self.exit(mask);
                }
                self.emit.builder.ins().jump(self.dispatch, &[]);
            }
            End::Exit => {
                self.exit(mask);
                self.emit.builder.ins().jump(self.dispatch, &[]);
            }
            End::Trap { operation } => {
                self.at(*operation);
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
        let block = &unit.code.blocks[number as usize];
        let mask = Predicate::Bits(self.emit.mask);
        let masks = Predicate::Each(mask.each(&mut self.emit.builder));
        for slot in self.emit.written.take() {
            if !unit.liveness.leaves(block, slot) {
                continue;
            }
            let home = unit.homes[slot as usize];
            let value = self.emit.slot(slot);
            let old = fetch(&mut self.emit.builder, self.frame, home, unit.code.slots[slot as usize]);
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
}
