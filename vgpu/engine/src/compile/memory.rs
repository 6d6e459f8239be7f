//! Memory in converged code: where the addresses have a shape, it is accessed here, by scalars and vectors.
//!
//! The ends of what is accessed are checked first; if they are not in device memory or not
//! aligned, helpers do it lane by lane, and find the fault where there is one.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{Block as Label, BlockArg, InstBuilder, MemFlagsData, Type as Clif, Value};
use gangway_device_memory::{BASE, WINDOWS};
use gangway_ptx::{Base, Opcode, Operand, StateSpace, Type, Word};

use super::emit::{Emitter, Known, Steps, field};
use crate::abi::LANES;
use crate::lower::Input;
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
        // Other lanes' memory may be read where that harms nobody, never written.
        if self.partial.is_some() && (!loads || guard.is_some()) {
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
        let span = most - least + bytes;
        let mut wrong: Option<Value> = None;
        let mut pointers = Vec::with_capacity(bases.len());
        let mut bits: Option<Value> = None;
        for base in bases {
            let base = if narrow { self.builder.ins().uextend(I64, base) } else { base };
            let address = if offset == 0 { base } else { self.builder.ins().iadd_imm_s(base, offset) };
            let first = if least == 0 { address } else { self.builder.ins().iadd_imm_s(address, least) };
            let outside = if space == StateSpace::Shared {
                let size = self.load_field(I64, field!(shared_size));
                let end = self.builder.ins().iadd_imm_s(first, span);
                let start = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, first, size);
                let end = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, end, size);
                self.builder.ins().bor(start, end)
            } else {
                let inside = self.builder.ins().iadd_imm_s(first, (BASE as i64).wrapping_neg());
                let limit = self.number((WINDOWS - BASE) as i64 - span);
                self.builder.ins().icmp(IntCC::UnsignedGreaterThan, inside, limit)
            };
            wrong = Some(match wrong {
                None => outside,
                Some(others) => self.builder.ins().bor(others, outside),
            });
            bits = Some(match bits {
                None => address,
                Some(others) => self.builder.ins().bor(others, address),
            });
            pointers.push(match space {
                StateSpace::Shared => {
                    let shared = self.load_field(I64, field!(shared));
                    self.builder.ins().iadd(shared, address)
                }
                _ => address,
            });
        }
        let mut wrong = wrong?;
        if bytes > 1 {
            let low = self.builder.ins().band_imm_s(bits?, bytes - 1);
            let misaligned = self.builder.ins().icmp_imm_s(IntCC::NotEqual, low, 0);
            wrong = self.builder.ins().bor(wrong, misaligned);
        }
        if self.partial.is_some() && step != 0 && space != StateSpace::Shared {
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
        let (slow, done) = self.part(reach.wrong);
        let size = i64::from(ty.size());
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
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(slow);
        let address = self.address(operand);
        let lanes: Vec<Lanes> = values.iter().map(|value| self.lanes_of(value)).collect();
        self.store_lanes(&address, &lanes, opcode, ty, guard);
        self.builder.ins().jump(done, &[]);
        self.builder.seal_block(done);
        self.builder.switch_to_block(done);
        true
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
