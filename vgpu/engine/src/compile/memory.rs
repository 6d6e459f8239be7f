//! Memory in converged code: where the addresses have a shape, it is accessed here, by scalars and vectors.
//!
//! The ends of what is accessed are checked first; if they are not in device memory or not
//! aligned, helpers do it lane by lane, and find the fault where there is one.

use std::ops::RangeInclusive;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{Block as Label, BlockArg, InstBuilder, MemFlagsData, Type as Clif, Value};
use gangway_device_memory::{BASE, WINDOWS};
use gangway_ptx::{Base, Expected, Op, Opcode, Operand, StateSpace, Type, Word};

use super::emit::{Emitter, Known, Steps, field};
use crate::abi::LANES;
use crate::lower::Input;
use crate::support::Helper;
use crate::value::{Lanes, Predicate, is_wide};

/// Where an access goes whose addresses have a shape.
struct Reach {
    /// The first address of each row, or the one of all lanes.
    pointers: Vec<Value>,
    /// From lane to lane within a row; 0 if there is one address.
    step: i64,
    /// Nonzero where helpers have to do it.
    wrong: Value,
}

/// Accesses of a block that have the same base: their ends are checked together, once. Where that goes
/// wrong helpers do all of them, each with its own checks.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    /// The slot of the register that is the base.
    pub slot: u32,
    space: StateSpace,
    /// How many each lane moves.
    bytes: i64,
    /// The offsets from the base.
    offsets: RangeInclusive<i64>,
    wrong: Value,
}

/// How far apart they may be.
const MOST_APART: i64 = 1 << 24;

/// How far to look for accesses that are checked together.
const AHEAD: usize = 256;

/// Memory is there or not in pieces of this size.
const PAGE: i64 = 4096;

/// Device memory, which may turn out not to be there.
const fn device_memory() -> MemFlagsData {
    MemFlagsData::new()
}

impl Emitter<'_, '_> {
    /// The address of an operand in brackets without its offset, as it is known.
    fn known_address(&mut self, operand: Operand) -> (Known, i64) {
        match operand {
            Operand::Address(Base::Register(id), offset) => (self.known(self.unit.slots.of(id, 0)), offset),
            other => (Known::lanes(self.address(other)), 0),
        }
    }

    /// Where an access goes, if its addresses have a shape that it can be done by.
    fn reach(
        &mut self,
        operand: Operand,
        opcode: &Opcode,
        ty: Type,
        guard: Option<&Predicate>,
        loads: bool,
    ) -> Option<Reach> {
        let strong = [Word::Volatile, Word::Relaxed, Word::Acquire, Word::Release, Word::Mmio];
        if !self.converged || self.unit.check || opcode.first_of(&strong).is_some() {
            return None;
        }
        if self.partial.is_some() && guard.is_some() {
            return None;
        }
        let space = opcode.space();
        if matches!(space, StateSpace::Local | StateSpace::Param) {
            return None;
        }
        let (known, offset) = self.known_address(operand);
        let (bases, step) = match known {
            Known::Input(Input::Lanes(Lanes::Uniform(address))) => (vec![address], 0),
            Known::Steps(Steps { bases, step }) => (bases.into_vec(), step),
            Known::Input(_) => return None,
        };
        let bytes = i64::from(ty.size()) * opcode.vector() as i64;
        let narrow = self.builder.func.dfg.value_type(bases[0]) == I32;
        // Addresses of 32 bits could wrap around; offsets in shared memory are too small for that.
        if step % bytes != 0 || narrow && space != StateSpace::Shared && step != 0 {
            return None;
        }
        let row = (LANES / bases.len()) as i64;
        let (least, most) = (0.min(step * (row - 1)), 0.max(step * (row - 1)));
        let bases = bases.into_iter().map(|base| match narrow {
            true => self.builder.ins().uextend(I64, base),
            false => base,
        });
        let bases: Vec<Value> = bases.collect();
        let slot = match operand {
            Operand::Address(Base::Register(id), _) if self.partial.is_none() && guard.is_none() => {
                Some(self.unit.slots.of(id, 0))
            }
            _ => None,
        };
        let known = slot.and_then(|slot| {
            let same = |checked: &&Checked| {
                (checked.slot, checked.space, checked.bytes) == (slot, space, bytes)
                    && checked.offsets.contains(&offset)
                    && offset.wrapping_sub(*checked.offsets.start()) % bytes == 0
            };
            self.checked.iter().find(same).map(|checked| checked.wrong)
        });
        let mut wrong = match known {
            Some(wrong) => wrong,
            None => {
                let offsets = match slot {
                    Some(_) => self.offsets_ahead(operand, space, bytes),
                    None => offset..=offset,
                };
                let wrong = self.check(&bases, &offsets, space, [least, most + bytes], bytes);
                if let Some(slot) = slot {
                    self.checked.push(Checked { slot, space, bytes, offsets, wrong });
                }
                wrong
            }
        };
        let mut pointers = Vec::with_capacity(bases.len());
        for base in bases {
            let address = if offset == 0 { base } else { self.builder.ins().iadd_imm_s(base, offset) };
            pointers.push(match space {
                StateSpace::Shared => {
                    let shared = self.load_fixed_field(I64, field!(shared));
                    self.builder.ins().iadd(shared, address)
                }
                _ => address,
            });
        }
        if self.partial.is_some() && loads && step != 0 && space != StateSpace::Shared {
            let elsewhere = self.elsewhere(&pointers, step, bytes)?;
            wrong = self.builder.ins().bor(wrong, elsewhere);
        }
        if let Some(guard) = guard {
            let bits = guard.bits(&mut self.builder);
            let some = self.builder.ins().icmp_imm_s(IntCC::NotEqual, bits, -1);
            wrong = self.builder.ins().bor(wrong, some);
        }
        Some(Reach { pointers, step, wrong })
    }

    /// The offsets of this access and of those like it that are made with it, with the same value of the base.
    fn offsets_ahead(&self, operand: Operand, space: StateSpace, bytes: i64) -> RangeInclusive<i64> {
        let Operand::Address(base, offset) = operand else { return 0..=0 };
        let (mut least, mut most) = (offset, offset);
        let unit = self.unit;
        for index in self.ahead.clone().take(AHEAD) {
            let instruction = &unit.body.instructions[index as usize];
            let other = unit.module.opcode(instruction);
            let operands = unit.body.operands(instruction);
            let address = match other.op {
                Op::Ld | Op::Ldu => operands[1],
                Op::St => operands[0],
                _ => Operand::Absent,
            };
            if let Operand::Address(same, offset) = address
                && same == base
                && instruction.guard.is_none()
                && other.space() == space
                && other.ty(0).map(|ty| i64::from(ty.size()) * other.vector() as i64) == Some(bytes)
                && offset.checked_sub(least).is_some_and(|distance| distance % bytes == 0)
                && offset.max(most).saturating_sub(offset.min(least)) < MOST_APART
            {
                (least, most) = (least.min(offset), most.max(offset));
            }
            let writes = |(operand, expected): (&Operand, &Expected)| {
                let targets = unit.body.elements(*operand);
                let targets = if targets.is_empty() { std::slice::from_ref(operand) } else { targets };
                expected.role.writes()
                    && targets.iter().any(|target| match (target, base) {
                        (Operand::Register(id) | Operand::Component(id, _), Base::Register(base)) => {
                            *id == base
                        }
                        _ => false,
                    })
            };
            if operands.iter().zip(&other.expected).any(writes) {
                break;
            }
        }
        least..=most
    }

    /// Nonzero where an access at any of the offsets from these bases, of the bytes between `ends`, is not
    /// in memory or not aligned.
    fn check(
        &mut self,
        bases: &[Value],
        offsets: &RangeInclusive<i64>,
        space: StateSpace,
        ends: [i64; 2],
        bytes: i64,
    ) -> Value {
        let length = (offsets.end() - offsets.start()) + (ends[1] - ends[0]);
        let first = offsets.start().wrapping_add(ends[0]);
        let mut wrong: Option<Value> = None;
        let mut bits: Option<Value> = None;
        for &base in bases {
            let start = if first == 0 { base } else { self.builder.ins().iadd_imm_s(base, first) };
            let outside = if space == StateSpace::Shared {
                let size = self.load_fixed_field(I64, field!(shared_size));
                let end = self.builder.ins().iadd_imm_s(start, length);
                let start = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, start, size);
                let end = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, end, size);
                self.builder.ins().bor(start, end)
            } else {
                let inside = self.builder.ins().iadd_imm_s(start, (BASE as i64).wrapping_neg());
                let limit = self.number((WINDOWS - BASE) as i64 - length);
                self.builder.ins().icmp(IntCC::UnsignedGreaterThan, inside, limit)
            };
            wrong = Some(match wrong {
                None => outside,
                Some(others) => self.builder.ins().bor(others, outside),
            });
            let address = match offsets.start() % bytes {
                0 => base,
                offset => self.builder.ins().iadd_imm_s(base, offset),
            };
            bits = Some(match bits {
                None => address,
                Some(others) => self.builder.ins().bor(others, address),
            });
        }
        let (Some(wrong), Some(bits)) = (wrong, bits) else { unreachable!("an access has an address") };
        if bytes == 1 {
            return wrong;
        }
        let low = self.builder.ins().band_imm_s(bits, bytes - 1);
        let misaligned = self.builder.ins().icmp_imm_s(IntCC::NotEqual, low, 0);
        self.builder.ins().bor(wrong, misaligned)
    }

    /// Whether lanes that do not run would touch other pages than those that do.
    fn elsewhere(&mut self, pointers: &[Value], step: i64, bytes: i64) -> Option<Value> {
        let &[pointer] = pointers else { return None };
        let last = step * (LANES as i64 - 1);
        if step < 0 || last + bytes > PAGE {
            return None;
        }
        let lowest = self.builder.ins().ctz(self.mask);
        let leading = self.builder.ins().clz(self.mask);
        let all = self.builder.ins().iconst(I32, LANES as i64 - 1);
        let highest = self.builder.ins().isub(all, leading);
        let mut different = None;
        for (lane, unmasked, end) in [(lowest, 0, 0), (highest, last, bytes - 1)] {
            let lane = self.builder.ins().uextend(I64, lane);
            let offset = self.builder.ins().imul_imm_s(lane, step);
            let runs = self.builder.ins().iadd(pointer, offset);
            let runs = self.builder.ins().iadd_imm_s(runs, end);
            let outer = self.builder.ins().iadd_imm_s(pointer, unmasked + end);
            let bits = self.builder.ins().bxor(runs, outer);
            different = Some(match different {
                None => bits,
                Some(others) => self.builder.ins().bor(others, bits),
            });
        }
        Some(self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, different?, PAGE))
    }

    /// Branches to where an access is done by a helper, if `wrong`; that place, and where both ways meet.
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

    /// Loads each element for all lanes, zero-extended, if the addresses have a shape. `uniform` is whether
    /// what is the same in all lanes is to stay so.
    pub fn load_shaped(
        &mut self,
        operand: Operand,
        opcode: &Opcode,
        ty: Type,
        guard: Option<&Predicate>,
        uniform: bool,
    ) -> Option<Vec<Known>> {
        let reach = self.reach(operand, opcode, ty, guard, true)?;
        let one = reach.pointers.len() == 1 && reach.step == 0;
        let (slow, done) = self.part(reach.wrong);
        let count = opcode.vector();
        // Generic addresses may be of each lane's own memory where that has not been ruled out.
        let scalars = one && uniform;
        let rows = !one && reach.step == 0 && opcode.space() == StateSpace::Shared && self.partial.is_none();
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
        let address = self.address(operand);
        let lanes = self.load_lanes(&address, opcode, ty, guard);
        let mut slow_values = Vec::new();
        for lanes in &lanes {
            if scalars {
                slow_values.push(self.running_lane(lanes));
            } else if rows {
                let row = LANES / reach.pointers.len();
                for first in (0..LANES).step_by(row) {
                    slow_values.push(lanes.lane(&mut self.builder, first));
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
    fn running_lane(&mut self, lanes: &Lanes) -> Value {
        if self.partial.is_none() {
            return lanes.lane(&mut self.builder, 0);
        }
        lanes.store(&mut self.builder, self.warp, field!(values));
        let lane = self.builder.ins().ctz(self.mask);
        let lane = self.builder.ins().uextend(I64, lane);
        let wide = lanes.wide(&self.builder);
        let offset = self.builder.ins().ishl_imm_u(lane, if wide { 3 } else { 2 });
        let at = self.builder.ins().iadd(self.warp, offset);
        self.load_at(if wide { I64 } else { I32 }, at, field!(values))
    }

    /// One value, zero-extended.
    fn load_value(&mut self, pointer: Value, offset: i32, ty: Type) -> Value {
        let (flags, ins) = (device_memory(), self.builder.ins());
        match ty.size() {
            1 => ins.uload8(I32, flags, pointer, offset),
            2 => ins.uload16(I32, flags, pointer, offset),
            4 => ins.load(I32, flags, pointer, offset),
            _ => ins.load(I64, flags, pointer, offset),
        }
    }

    fn load_steps(&mut self, reach: &Reach, offset: i32, ty: Type, count: usize) -> Lanes {
        let size = i64::from(ty.size());
        let row = LANES / reach.pointers.len();
        let flags = device_memory();
        if reach.step == size && count == 1 && size >= 2 {
            let (vector, per): (Clif, usize) = if is_wide(ty) { (I64X2, 2) } else { (I32X4, 4) };
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
        let lane = |lane: usize| {
            let offset = offset + (reach.step * (lane % row) as i64) as i32;
            self.load_value(reach.pointers[lane / row], offset, ty)
        };
        let lanes: Vec<Value> = (0..LANES).map(lane).collect();
        let lanes: [Value; LANES] = lanes.try_into().expect("as many as there are lanes");
        Lanes::from_scalars(&mut self.builder, &lanes)
    }

    /// Stores for all lanes if the addresses have a shape; whether they have.
    pub fn store_shaped(
        &mut self,
        operand: Operand,
        values: &[Known],
        opcode: &Opcode,
        ty: Type,
        guard: Option<&Predicate>,
    ) -> bool {
        let Some(reach) = self.reach(operand, opcode, ty, guard, false) else { return false };
        let size = i64::from(ty.size());
        if self.partial.is_some() {
            // Other lanes' memory may be read where that harms nobody, never written.
            let (&[pointer], [value]) = (&reach.pointers[..], values) else { return false };
            let (slow, done) = self.part(reach.wrong);
            let lanes = self.lanes_of(value);
            self.pass(&[Input::Lanes(lanes)]);
            let (step, size) = (self.number(reach.step), self.number(size));
            self.call(Helper::StoreRow, &[self.mask, pointer, step, size]);
            self.store_slowly(slow, done, operand, values, opcode, ty, guard);
            return true;
        }
        let (slow, done) = self.part(reach.wrong);
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
        self.store_slowly(slow, done, operand, values, opcode, ty, guard);
        true
    }

    /// Ends the fast way of a store, and has a helper do it on the slow way.
    #[allow(clippy::too_many_arguments)]
    fn store_slowly(
        &mut self,
        slow: Label,
        done: Label,
        operand: Operand,
        values: &[Known],
        opcode: &Opcode,
        ty: Type,
        guard: Option<&Predicate>,
    ) {
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(slow);
        let address = self.address(operand);
        let lanes: Vec<Lanes> = values.iter().map(|value| self.lanes_of(value)).collect();
        self.store_lanes(&address, &lanes, opcode, ty, guard);
        self.builder.ins().jump(done, &[]);
        self.builder.seal_block(done);
        self.builder.switch_to_block(done);
    }

    fn lanes_of(&mut self, known: &Known) -> Lanes {
        match known {
            Known::Input(Input::Lanes(lanes)) => lanes.clone(),
            Known::Steps(steps) => self.spread(steps),
            Known::Input(Input::Predicate(_)) => unreachable!("predicates are not stored"),
        }
    }

    fn store_value(&mut self, value: Value, pointer: Value, offset: i32, ty: Type) {
        let flags = device_memory();
        let narrow = match ty.size() {
            1 => self.builder.ins().ireduce(I8, value),
            2 => self.builder.ins().ireduce(I16, value),
            _ => value,
        };
        self.builder.ins().store(flags, narrow, pointer, offset);
    }
}
