//! Accesses of a lane that runs alone, in masked code: of a team's initial thread while the others
//! wait, or of a lane that the others have gone ahead of.
//!
//! Helpers look at all lanes. Here the address of the one lane is checked as the ends of shaped
//! accesses are in converged code, and used as a scalar. What is not in device or shared memory, or
//! not aligned, is left to the helpers.
//!
//! Atomic operations are done so in converged code, too, where a guard chooses the lane: GCC has one lane of
//! a warp do what its thread does once.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AtomicRmwOp, Block as Label, BlockArg, InstBuilder, Value};
use gangway_simt::{Access, Atomic, AtomicOperator, Space};

use crate::abi::LANES;
use crate::cranelift::emit::Emitter;
use crate::cranelift::state::field;
use crate::cranelift::value::Lanes;

use super::device_memory;

/// The place of a lane's access, where the code that is made next does it.
pub(crate) struct Single {
    /// Its number, and the bit of it.
    lane: Value,
    bit: Value,
    pointer: Value,
    /// Where helpers do it.
    slow: Label,
    done: Label,
}

impl Emitter<'_, '_> {
    /// Branches on whether one lane of `running` is alone with an access to device or shared memory,
    /// and has the code made next done where it is. None: helpers do all accesses of the kind.
    pub(crate) fn single(&mut self, address: &Lanes, access: Access, running: Value) -> Option<Single> {
        let own = matches!(access.space, Space::Local | Space::Parameters);
        if self.converged || access.strong || own {
            return None;
        }
        Some(self.one_lane(address, access.space, i64::from(access.size()), running))
    }

    /// The same for an atomic operation: one that a processor has an instruction for, by which no lane waits for
    /// another thread, and that nobody is told of. Vectors have been passed to the helper.
    pub(crate) fn single_atomic(
        &mut self,
        atomic: &Atomic,
        [address, value]: [&Lanes; 2],
        running: Value,
    ) -> Option<Single> {
        let operation = on_words(atomic)?;
        let told = self.unit.check || self.unit.watch || self.unit.init;
        let own = matches!(atomic.space, Space::Local | Space::Parameters);
        if told || own {
            return None;
        }
        let ty = if atomic.ty.is_wide() { I64 } else { I32 };
        let single = self.one_lane(address, atomic.space, i64::from(ty.bytes()), running);
        let value = match value {
            Lanes::Uniform(value) => *value,
            Lanes::Vector(_) => self.load_of_lane(single.lane, ty == I64, field!(values)),
        };
        let flags = device_memory();
        let before = self.builder.ins().atomic_rmw(ty, flags, operation, single.pointer, value);
        let before = match atomic.result {
            Some(_) => Lanes::Uniform(before).vectors(&mut self.builder).into(),
            None => Vec::new(),
        };
        for &value in &before {
            let ty = self.builder.func.dfg.value_type(value);
            self.builder.append_block_param(single.done, ty);
        }
        self.leave_single(&single, &before);
        self.builder.switch_to_block(single.slow);
        Some(single)
    }

    fn one_lane(&mut self, address: &Lanes, space: Space, bytes: i64, running: Value) -> Single {
        let lane = self.builder.ins().ctz(running);
        let lane = self.builder.ins().uextend(I64, lane);
        let address = match address {
            Lanes::Uniform(address) => *address,
            // No lane has the number that 0 gives; it is within the warp, and not taken below.
            Lanes::Vector(_) => self.load_of_lane(lane, true, field!(addresses)),
        };
        let below = self.builder.ins().iadd_imm_s(running, -1);
        let others = self.builder.ins().band(running, below);
        // More than one lane, or none.
        let several = self.builder.ins().icmp_imm_s(IntCC::NotEqual, others, 0);
        let none = self.builder.ins().icmp_imm_s(IntCC::Equal, running, 0);
        let outside = match space {
            Space::Shared => self.is_outside_shared(address, bytes),
            _ => self.is_outside_memory(address, bytes, self.site),
        };
        let low = self.builder.ins().band_imm_s(address, bytes - 1);
        let misaligned = self.builder.ins().icmp_imm_s(IntCC::NotEqual, low, 0);
        let wrong = [none, outside, misaligned].into_iter().fold(several, |a, b| self.or(Some(a), b));
        let (slow, done) = self.part(wrong);
        let pointer = match space {
            Space::Shared => {
                let shared = self.load_fixed_field(I64, field!(shared));
                self.builder.ins().iadd(shared, address)
            }
            _ => address,
        };
        Single { lane, bit: running, pointer, slow, done }
    }

    /// Loads the elements for the lane, as values of all lanes, and goes on where helpers do it.
    pub(crate) fn load_single(&mut self, single: &Single, access: Access) {
        let ty = access.ty;
        self.tell_of(access, false, single.bit, single.pointer, 0);
        let mut values = Vec::new();
        for element in 0..i32::from(access.count) {
            let value = self.load_value(single.pointer, element * ty.size() as i32, ty);
            values.extend(Lanes::Uniform(value).vectors(&mut self.builder));
        }
        for &value in &values {
            let ty = self.builder.func.dfg.value_type(value);
            self.builder.append_block_param(single.done, ty);
        }
        self.leave_single(single, &values);
        self.builder.switch_to_block(single.slow);
    }

    /// What both ways have loaded, behind them.
    pub(crate) fn loaded(&mut self, single: &Single, slow: &[Lanes]) -> Vec<Lanes> {
        self.loaded_both(single.done, slow)
    }

    /// Stores the elements that have been passed to the helper, and goes on where helpers do it.
    pub(crate) fn store_single(&mut self, single: &Single, access: Access) {
        let ty = access.ty;
        self.tell_of(access, true, single.bit, single.pointer, 0);
        for element in 0..i32::from(access.count) {
            let offset = field!(values) + 8 * LANES as i32 * element;
            let value = self.load_of_lane(single.lane, ty.is_wide(), offset);
            self.store_value(value, single.pointer, element * ty.size() as i32, ty);
        }
        self.leave_single(single, &[]);
        self.builder.switch_to_block(single.slow);
    }

    /// Goes on behind both ways.
    pub(crate) fn stored(&mut self, single: &Single) {
        self.leave_single(single, &[]);
        self.meet_single(single);
    }

    fn leave_single(&mut self, single: &Single, values: &[Value]) {
        let arguments: Vec<BlockArg> = values.iter().map(|&value| BlockArg::Value(value)).collect();
        self.builder.ins().jump(single.done, &arguments);
    }

    fn meet_single(&mut self, single: &Single) {
        self.builder.seal_block(single.done);
        self.builder.switch_to_block(single.done);
    }

    /// What a lane has in a field of values of all lanes.
    pub(super) fn load_of_lane(&mut self, lane: Value, wide: bool, field: i32) -> Value {
        let offset = self.builder.ins().ishl_imm_u(lane, if wide { 3 } else { 2 });
        let at = self.builder.ins().iadd(self.warp, offset);
        self.load_at(if wide { I64 } else { I32 }, at, field)
    }
}

/// The processor's atomic operation, where it has one by which no lane can wait for another thread.
fn on_words(atomic: &Atomic) -> Option<AtomicRmwOp> {
    if !matches!(atomic.ty.size(), 4 | 8) {
        return None;
    }
    let signed = atomic.ty.is_signed();
    Some(match atomic.operator {
        AtomicOperator::Add => AtomicRmwOp::Add,
        AtomicOperator::And => AtomicRmwOp::And,
        AtomicOperator::Or => AtomicRmwOp::Or,
        AtomicOperator::Xor => AtomicRmwOp::Xor,
        AtomicOperator::Min => {
            if signed {
                AtomicRmwOp::Smin
            } else {
                AtomicRmwOp::Umin
            }
        }
        AtomicOperator::Max => {
            if signed {
                AtomicRmwOp::Smax
            } else {
                AtomicRmwOp::Umax
            }
        }
        AtomicOperator::AddFloat
        | AtomicOperator::Exchange
        | AtomicOperator::CompareAndSwap
        | AtomicOperator::Other => return None,
    })
}
