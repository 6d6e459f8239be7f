//! Memory in converged code: where the addresses have a shape, it is accessed here, by scalars and
//! vectors.
//!
//! The ends of what is accessed are checked first. If they are not in device memory or not
//! aligned, helpers do it lane by lane. They find the fault where there is one.

mod batch;
mod gather;
mod narrow;
mod own;
mod reach;
mod single;
mod told;
mod update;

use cranelift_codegen::ir::types::{I8, I8X16, I16, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{Block as Label, BlockArg, InstBuilder, MemFlagsData, Type as Clif, Value};
use gangway_simt::{Access, Address, Scalar, Space};

use reach::Reach;

use crate::abi::LANES;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::{Known, Steps, field};
use crate::cranelift::value::{Lanes, Predicate, cast, vector_constant};
use crate::support::Helper;

/// Device memory, which may turn out not to be there.
const fn device_memory() -> MemFlagsData {
    MemFlagsData::new()
}

impl Emitter<'_, '_> {
    /// Branches to where an access is done by a helper, if `wrong`; that place, and where both ways
    /// meet.
    fn part(&mut self, wrong: Value) -> (Label, Label) {
        let (fast, slow, done) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(slow);
        self.builder.ins().brif(wrong, slow, &[], fast, &[]);
        self.builder.seal_block(fast);
        self.builder.seal_block(slow);
        self.builder.switch_to_block(fast);
        (slow, done)
    }

    /// Loads each element for all lanes, zero-extended, if the addresses have a shape. `uniform` is
    /// whether what is the same in all lanes is to stay so.
    pub fn load_shaped(
        &mut self,
        address: &Address,
        access: Access,
        guard: Option<&Predicate>,
        uniform: bool,
    ) -> Option<Vec<Known>> {
        let ty = access.ty;
        let mut reach = self.reach(address, access, guard, false)?;
        let one = reach.pointers.len() == 1 && reach.step == 0;
        let bytes = i64::from(access.size());
        if self.stretches(&reach, access.space, bytes)? {
            let elsewhere = self.elsewhere(reach.pointers[0], reach.step, bytes);
            reach.wrong = self.builder.ins().bor(reach.wrong, elsewhere);
        }
        let (slow, done) = self.part(reach.wrong);
        self.tell_of_loads(&reach, access);
        let count = usize::from(access.count);
        // Generic addresses may be of each lane's own memory where that has not been ruled out.
        let scalars = one && uniform;
        let rows = !one && reach.step == 0 && access.space == Space::Shared && self.partial.is_none();
        let mut values = Vec::new();
        for element in 0..count {
            let offset = element as i32 * ty.size() as i32;
            if one || rows {
                let each: Vec<Value> =
                    reach.pointers.iter().map(|&pointer| self.load_value(pointer, offset, ty)).collect();
                if scalars || rows {
                    values.extend(each);
                } else {
                    values.extend(Lanes::Uniform(each[0]).vectors(&mut self.builder));
                }
            } else {
                let lanes = self.load_steps(&reach, offset, ty, count);
                values.extend(lanes.vectors(&mut self.builder));
            }
        }
        for &value in &values {
            let ty = self.builder.func.dfg.value_type(value);
            self.builder.append_block_param(done, ty);
        }
        let arguments: Vec<BlockArg> = values.iter().map(|&value| BlockArg::Value(value)).collect();
        self.builder.ins().jump(done, &arguments);
        self.builder.switch_to_block(slow);
        let place = self.address(address);
        let lanes = self.load_lanes(&place, access, guard);
        let mut slow_values = Vec::new();
        for lanes in &lanes {
            if scalars {
                slow_values.push(self.running_lane(lanes, guard));
            } else if rows {
                let row = LANES / reach.pointers.len();
                for first in (0..LANES).step_by(row) {
                    let value = match guard {
                        None => lanes.lane(&mut self.builder, first),
                        Some(guard) => self.lane_within(lanes, guard, first, row),
                    };
                    slow_values.push(value);
                }
            } else {
                slow_values.extend(lanes.vectors(&mut self.builder));
            }
        }
        let arguments: Vec<BlockArg> = slow_values.iter().map(|&value| BlockArg::Value(value)).collect();
        self.builder.ins().jump(done, &arguments);
        self.builder.seal_block(done);
        self.builder.switch_to_block(done);
        let results = self.builder.block_params(done).to_vec();
        let known = results.chunks(results.len() / count).map(|values| {
            if scalars {
                Known::lanes(Lanes::Uniform(values[0]))
            } else if rows {
                Known::Steps(Steps { bases: values.into(), step: 0 })
            } else {
                Known::lanes(Lanes::Vector(values.into()))
            }
        });
        Some(known.collect())
    }

    /// The value of a lane that runs, where all those have the same.
    pub fn running_lane(&mut self, lanes: &Lanes, guard: Option<&Predicate>) -> Value {
        if let Some(guard) = guard {
            return self.lane_within(lanes, guard, 0, LANES);
        }
        if self.partial.is_none() || matches!(lanes, Lanes::Uniform(_)) {
            return lanes.lane(&mut self.builder, 0);
        }
        let lane = self.builder.ins().ctz(self.mask);
        self.lane_at(lanes, lane)
    }

    /// The value of the first of some lanes that a guard lets through, or of their last one.
    fn lane_within(&mut self, lanes: &Lanes, guard: &Predicate, first: usize, count: usize) -> Value {
        let mut bits = guard.bits(&mut self.builder);
        if self.partial.is_some() {
            bits = self.builder.ins().band(bits, self.mask);
        }
        let last = first + count - 1;
        let some = self.builder.ins().band_imm_s(bits, i64::from((u32::MAX << first) as i32));
        let some = self.builder.ins().bor_imm_s(some, i64::from((1u32 << last) as i32));
        let lane = self.builder.ins().ctz(some);
        self.lane_at(lanes, lane)
    }

    fn lane_at(&mut self, lanes: &Lanes, lane: Value) -> Value {
        lanes.store(&mut self.builder, self.warp, field!(values));
        let lane = self.builder.ins().uextend(I64, lane);
        let wide = lanes.wide(&self.builder);
        self.load_of_lane(lane, wide, field!(values))
    }

    /// One value, zero-extended.
    fn load_value(&mut self, pointer: Value, offset: i32, ty: Scalar) -> Value {
        let (flags, ins) = (device_memory(), self.builder.ins());
        match ty.size() {
            1 => ins.uload8(I32, flags, pointer, offset),
            2 => ins.uload16(I32, flags, pointer, offset),
            4 => ins.load(I32, flags, pointer, offset),
            _ => ins.load(I64, flags, pointer, offset),
        }
    }

    fn load_steps(&mut self, reach: &Reach, offset: i32, ty: Scalar, count: usize) -> Lanes {
        let size = i64::from(ty.size());
        let row = LANES / reach.pointers.len();
        let flags = device_memory();
        if reach.step == 0 {
            let each: Box<[Value]> =
                reach.pointers.iter().map(|&pointer| self.load_value(pointer, offset, ty)).collect();
            return self.spread(&Steps { bases: each, step: 0 });
        }
        if reach.step == size && count == 1 && size >= 2 {
            let (vector, per): (Clif, usize) = if ty.is_wide() { (I64X2, 2) } else { (I32X4, 4) };
            let mut values = Vec::with_capacity(LANES / per);
            for &pointer in &reach.pointers {
                for first in (0..row).step_by(per) {
                    let offset = offset + (first as i64 * size) as i32;
                    values.push(match size {
                        2 => self.builder.ins().uload16x4(flags, pointer, offset),
                        _ => self.builder.ins().load(vector, flags, pointer, offset),
                    });
                }
            }
            return Lanes::Vector(values.into());
        }
        if reach.step == 1 && size == 1 && count == 1 && row >= 8 {
            let mut values = Vec::with_capacity(LANES / 4);
            for &pointer in &reach.pointers {
                for first in (0..row).step_by(8) {
                    let eight = self.builder.ins().uload8x8(flags, pointer, offset + first as i32);
                    values.push(self.builder.ins().uwiden_low(eight));
                    values.push(self.builder.ins().uwiden_high(eight));
                }
            }
            return Lanes::Vector(values.into());
        }
        if reach.step == 4 && size < 4 && count == 1 && row >= 4 {
            return self.load_within_words(reach, offset, size);
        }
        let lane = |lane: usize| {
            let offset = offset + (reach.step * (lane % row) as i64) as i32;
            self.load_value(reach.pointers[lane / row], offset, ty)
        };
        let lanes: Vec<Value> = (0..LANES).map(lane).collect();
        let lanes: [Value; LANES] = lanes.try_into().expect("as many as there are lanes");
        Lanes::from_scalars(&mut self.builder, &lanes)
    }

    /// Loads bytes or halves of words that follow each other, and with them the words: these are in no other page.
    fn load_within_words(&mut self, reach: &Reach, offset: i32, size: i64) -> Lanes {
        let row = LANES / reach.pointers.len();
        // Which byte of four words each byte of a value is; what is none of them gives zero.
        let bytes: Vec<u8> =
            (0..16).map(|byte| if i64::from(byte % 4) < size { byte } else { 0x80 }).collect();
        let bytes = vector_constant(&mut self.builder, I8X16, &bytes);
        let mut values = Vec::with_capacity(LANES / 4);
        for &pointer in &reach.pointers {
            let pointer = self.builder.ins().iadd_imm_s(pointer, i64::from(offset));
            let words = self.builder.ins().band_imm_s(pointer, -4);
            let before = self.builder.ins().ireduce(I8, pointer);
            let before = self.builder.ins().band_imm_s(before, 3);
            let before = self.builder.ins().splat(I8X16, before);
            let bytes = self.builder.ins().iadd(bytes, before);
            for first in (0..row).step_by(4) {
                let four = self.builder.ins().load(I8X16, device_memory(), words, 4 * first as i32);
                let each = self.builder.ins().swizzle(four, bytes);
                values.push(cast(&mut self.builder, I32X4, each));
            }
        }
        Lanes::Vector(values.into())
    }

    /// Stores for all lanes if the addresses have a shape; whether they have.
    pub fn store_shaped(
        &mut self,
        address: &Address,
        values: &[Known],
        access: Access,
        guard: Option<&Predicate>,
    ) -> bool {
        let ty = access.ty;
        let Some(reach) = self.reach(address, access, guard, true) else { return false };
        let size = i64::from(ty.size());
        if self.alone.is_some() {
            let &[pointer] = &reach.pointers[..] else { return false };
            let (slow, done) = self.part(reach.wrong);
            self.tell_of_stores(&reach, access, values);
            for (element, value) in (0i32..).zip(values) {
                let lanes = self.lanes_of(value);
                let value = self.running_lane(&lanes, None);
                self.store_value(value, pointer, element * ty.size() as i32, ty);
            }
            self.store_slowly(slow, done, address, values, access, guard);
            return true;
        }
        if self.partial.is_some() {
            // Other lanes' memory may be read where that does no harm, never written.
            let (&[pointer], [value]) = (&reach.pointers[..], values) else { return false };
            let (slow, done) = self.part(reach.wrong);
            let lanes = self.lanes_of(value);
            self.pass(&[Input::Lanes(lanes)]);
            self.tell_of_rows(&reach, access, true);
            let (step, size) = (self.number(reach.step), self.number(size));
            self.call(Helper::StoreRow, &[self.mask, pointer, step, size]);
            self.store_slowly(slow, done, address, values, access, guard);
            return true;
        }
        let (slow, done) = self.part(reach.wrong);
        self.tell_of_stores(&reach, access, values);
        let row = LANES / reach.pointers.len();
        let contiguous = reach.step == size && values.len() == 1 && size >= 4;
        for (element, value) in values.iter().enumerate() {
            let offset = (element as i64 * size) as i32;
            let lanes = self.lanes_of(value);
            if contiguous {
                let vectors = lanes.vectors(&mut self.builder);
                let per = vectors.len() / reach.pointers.len();
                for (index, &vector) in vectors.iter().enumerate() {
                    let offset = offset + 16 * (index % per) as i32;
                    self.builder.ins().store(device_memory(), vector, reach.pointers[index / per], offset);
                }
                continue;
            }
            if reach.step == 0 {
                // All lanes of a row store to one place, the last one last.
                for (index, &pointer) in reach.pointers.iter().enumerate() {
                    let last = lanes.lane(&mut self.builder, (index + 1) * row - 1);
                    self.store_value(last, pointer, offset, ty);
                }
                continue;
            }
        }
        if !contiguous && reach.step != 0 {
            let lanes: Vec<Lanes> = values.iter().map(|value| self.lanes_of(value)).collect();
            for lane in 0..LANES {
                for (element, lanes) in lanes.iter().enumerate() {
                    let offset = (element as i64 * size + reach.step * (lane % row) as i64) as i32;
                    let value = lanes.lane(&mut self.builder, lane);
                    self.store_value(value, reach.pointers[lane / row], offset, ty);
                }
            }
        }
        self.store_slowly(slow, done, address, values, access, guard);
        true
    }

    /// Ends the fast way of a store, and has a helper do it on the slow way.
    fn store_slowly(
        &mut self,
        slow: Label,
        done: Label,
        address: &Address,
        values: &[Known],
        access: Access,
        guard: Option<&Predicate>,
    ) {
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(slow);
        let address = self.address(address);
        let lanes: Vec<Lanes> = values.iter().map(|value| self.lanes_of(value)).collect();
        self.store_lanes(&address, &lanes, access, guard);
        self.builder.ins().jump(done, &[]);
        self.builder.seal_block(done);
        self.builder.switch_to_block(done);
    }

    pub(super) fn lanes_of(&mut self, known: &Known) -> Lanes {
        match known {
            Known::Input(Input::Lanes(lanes)) => lanes.clone(),
            Known::Steps(steps) => self.spread(steps),
            Known::Input(Input::Predicate(_)) => unreachable!("predicates are not stored"),
        }
    }

    fn store_value(&mut self, value: Value, pointer: Value, offset: i32, ty: Scalar) {
        let flags = device_memory();
        let narrow = match ty.size() {
            1 => self.builder.ins().ireduce(I8, value),
            2 => self.builder.ins().ireduce(I16, value),
            _ => value,
        };
        self.builder.ins().store(flags, narrow, pointer, offset);
    }
}
