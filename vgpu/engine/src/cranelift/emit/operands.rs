//! Operands of instructions: sources as values, destinations as slots.

use cranelift_codegen::ir::types::{I32, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_device_memory::FUNCTIONS;
use gangway_ptx::{Operand, RegisterId, SpecialRegister, Symbol, Type};

use super::Emitter;
use crate::abi::LANES;
use crate::analysis::layout::Place;
use crate::analysis::shape::Shape;
use crate::cranelift::sequence::{Input, Output};
use crate::cranelift::state::{Known, Steps, field};
use crate::cranelift::value::{Lanes, Predicate, is_wide};
use crate::support::Helper;

impl Emitter<'_, '_> {
    /// The value of a source operand: its register as it is, which may be wider than `ty`.
    pub fn source(&mut self, operand: Operand, ty: Type) -> Input {
        let known = self.known_source(operand, ty);
        self.input(known)
    }

    pub fn known_source(&mut self, operand: Operand, ty: Type) -> Known {
        Known::Input(match operand {
            Operand::Register(id) => return self.known(self.unit.slots.of(id, 0)),
            Operand::Component(id, element) => return self.known(self.unit.slots.of(id, element)),
            Operand::Special(special) if self.converged && ty.bits() >= 32 => {
                return self.converged_special(special, ty);
            }
            Operand::Negated(id) => {
                let predicate = self.predicate_slot(self.unit.slots.of(id, 0));
                Input::Predicate(predicate.not(&mut self.builder))
            }
            Operand::Integer(value) if ty == Type::Pred => {
                Input::Predicate(Predicate::constant(&mut self.builder, value != 0))
            }
            Operand::Integer(value) => Input::Lanes(self.constant(ty, value as u64)),
            Operand::Float32(bits) => Input::Lanes(self.constant(ty, bits.into())),
            Operand::Float64(bits) => Input::Lanes(self.constant(ty, bits)),
            Operand::Symbol(symbol, offset) => {
                let address = self.symbol(symbol);
                let address = self.builder.ins().iadd_imm_s(address, offset);
                Input::Lanes(self.fit(Lanes::Uniform(address), ty))
            }
            Operand::Special(special) => {
                let value = self.special(special);
                Input::Lanes(self.fit(value, ty))
            }
            _ => unreachable!("the unit has been checked for operands of other kinds"),
        })
    }

    fn converged_special(&mut self, special: SpecialRegister, ty: Type) -> Known {
        let rows = LANES / self.unit.shape.row.max(1) as usize;
        let thread =
            |index: usize, row: usize| field!(thread) + (4 * (LANES * index + row * (LANES / rows))) as i32;
        let steps = |shape| match shape {
            Shape::Uniform => Some((1, 0)),
            Shape::Steps(step) => Some((rows, step)),
            _ => None,
        };
        let (Some((count, step)), false) = (steps(self.unit.shapes.special(special)), is_wide(ty)) else {
            let value = self.special(special);
            return Known::lanes(self.fit(value, ty));
        };
        let axis = match special {
            SpecialRegister::TidX => 0,
            SpecialRegister::TidY => 1,
            SpecialRegister::TidZ => 2,
            SpecialRegister::Laneid => {
                let lane = |row| self.builder.ins().iconst(I32, (row * (LANES / rows)) as i64);
                let bases: Box<[Value]> = (0..count).map(lane).collect();
                return Known::Steps(Steps { bases, step });
            }
            _ => {
                let value = self.special(special);
                return Known::lanes(self.fit(value, ty));
            }
        };
        let bases: Box<[Value]> = (0..count).map(|row| self.load_field(I32, thread(axis, row))).collect();
        match step {
            0 if count == 1 => Known::lanes(Lanes::Uniform(bases[0])),
            _ => Known::Steps(Steps { bases, step }),
        }
    }

    pub fn constant(&mut self, ty: Type, bits: u64) -> Lanes {
        let bits = if ty.bits() >= 64 { bits } else { bits & ((1 << ty.bits()) - 1) };
        Lanes::constant(&mut self.builder, ty, bits)
    }

    /// The value of a source operand in exactly the bits of `ty`, zero above.
    pub fn value(&mut self, operand: Operand, ty: Type) -> Lanes {
        match self.source(operand, ty) {
            Input::Lanes(lanes) => self.fit(lanes, ty),
            Input::Predicate(_) => unreachable!("no instruction takes a predicate for a value"),
        }
    }

    pub fn predicate(&mut self, operand: Operand) -> Predicate {
        match self.source(operand, Type::Pred) {
            Input::Predicate(predicate) => predicate,
            Input::Lanes(_) => unreachable!("no instruction takes a value for a predicate"),
        }
    }

    /// The low bits of a value, in the form that values of `ty` have.
    pub fn fit(&mut self, lanes: Lanes, ty: Type) -> Lanes {
        let builder = &mut self.builder;
        let lanes = match (lanes.wide(builder), is_wide(ty)) {
            (true, false) => lanes.truncate(builder),
            (false, true) => lanes.widen(builder, false),
            _ => lanes,
        };
        if ty.bits() >= 32 {
            return lanes;
        }
        let mask = Lanes::constant(builder, Type::U32, (1 << ty.bits()) - 1);
        match lanes {
            Lanes::Uniform(value) => {
                let mask = mask.lane(builder, 0);
                Lanes::Uniform(builder.ins().band(value, mask))
            }
            Lanes::Vector(values) => {
                let mask = mask.vectors(builder)[0];
                Lanes::Vector(values.iter().map(|&value| builder.ins().band(value, mask)).collect())
            }
        }
    }

    /// Writes a value of type `ty` to a destination operand.
    pub fn write(&mut self, operand: Operand, ty: Type, value: Output, guard: Option<&Predicate>) {
        let Some(slot) = self.destination(operand) else { return };
        let register = self.ty(slot);
        let value = match value {
            Output::Lanes(lanes) => Input::Lanes(lanes.extend(&mut self.builder, ty, register)),
            Output::Predicate(predicate) => Input::Predicate(predicate),
        };
        self.set_slot(slot, Known::Input(value), guard);
    }

    /// The slot that a destination operand stands for; none for what is not wanted.
    #[must_use]
    pub fn destination(&self, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Register(id) => Some(self.unit.slots.of(id, 0)),
            Operand::Component(id, element) => Some(self.unit.slots.of(id, element)),
            _ => None,
        }
    }

    pub fn write_lanes(&mut self, operand: Operand, ty: Type, value: Lanes, guard: Option<&Predicate>) {
        self.write(operand, ty, Output::Lanes(value), guard);
    }

    /// The operands that a vector or a register of several elements stands for.
    #[must_use]
    pub fn parts(&self, operand: Operand) -> Vec<Operand> {
        match operand {
            Operand::Vector { .. } => self.unit.body.elements(operand).to_vec(),
            Operand::Register(id) if self.unit.body.register(id).vector > 1 => self.components(id),
            other => vec![other],
        }
    }

    fn components(&self, id: RegisterId) -> Vec<Operand> {
        (0..self.unit.body.register(id).vector).map(|element| Operand::Component(id, element)).collect()
    }

    /// The address of a symbol in its own space, an `I64`.
    pub fn symbol(&mut self, symbol: Symbol) -> Value {
        let place = match symbol {
            Symbol::Function(id) => {
                let address = FUNCTIONS + 16 * u64::from(id.0);
                return self.builder.ins().iconst(I64, address as i64);
            }
            other => self.unit.slots.layout.place(other),
        };
        match place {
            Some(Place::Symbol(index)) => {
                let table = self.load_field(I64, field!(symbols));
                self.load_at(I64, table, 8 * index as i32)
            }
            Some(Place::Local(offset)) => self.builder.ins().iadd_imm_s(self.local_base, i64::from(offset)),
            _ => unreachable!("what has a place of another kind has no address that anybody takes"),
        }
    }

    fn special(&mut self, special: SpecialRegister) -> Lanes {
        use SpecialRegister::*;
        let element = |base: i32, index: i32| base + 4 * index;
        let thread = |index: i32| field!(thread) + 4 * LANES as i32 * index;
        let offset = match special {
            TidX => return Lanes::load(&mut self.builder, false, self.warp, thread(0)),
            TidY => return Lanes::load(&mut self.builder, false, self.warp, thread(1)),
            TidZ => return Lanes::load(&mut self.builder, false, self.warp, thread(2)),
            Laneid => return self.each_lane(|lane| lane),
            LanemaskEq => return self.each_lane(|lane| 1 << lane),
            LanemaskLt => return self.each_lane(|lane| (1 << lane) - 1),
            LanemaskLe => return self.each_lane(|lane| (1 << lane) | ((1 << lane) - 1)),
            LanemaskGt => return self.each_lane(|lane| !((1 << lane) | ((1 << lane) - 1))),
            LanemaskGe => return self.each_lane(|lane| !((1 << lane) - 1)),
            Clock | ClockHi | Clock64 => {
                return self.time(Helper::Clock, special == ClockHi, special == Clock64);
            }
            Globaltimer | GlobaltimerLo | GlobaltimerHi => {
                return self.time(Helper::Nanoseconds, special == GlobaltimerHi, special == Globaltimer);
            }
            Gridid => return Lanes::Uniform(self.load_field(I64, field!(grid_id))),
            TotalSmemSize => {
                let size = self.load_field(I64, field!(shared_size));
                return Lanes::Uniform(self.builder.ins().ireduce(I32, size));
            }
            NtidX => element(field!(threads), 0),
            NtidY => element(field!(threads), 1),
            NtidZ => element(field!(threads), 2),
            CtaidX => element(field!(block), 0),
            CtaidY => element(field!(block), 1),
            CtaidZ => element(field!(block), 2),
            NctaidX => element(field!(grid), 0),
            NctaidY => element(field!(grid), 1),
            NctaidZ => element(field!(grid), 2),
            Warpid => field!(warp_index),
            Nwarpid => field!(warps),
            Smid => field!(worker),
            Nsmid => field!(workers),
            DynamicSmemSize => field!(dynamic_shared),
            Envreg1 => element(field!(workspace), 1),
            Envreg2 => element(field!(workspace), 0),
        };
        Lanes::Uniform(self.load_field(I32, offset))
    }

    pub fn each_lane(&mut self, value: impl Fn(u32) -> u32) -> Lanes {
        let quad = |first: u32| -> Vec<u8> {
            (first..first + 4).flat_map(|lane| value(lane).to_le_bytes()).collect()
        };
        let ty = I32X4;
        let quads = (0..LANES as u32).step_by(4);
        Lanes::Vector(
            quads
                .map(|first| crate::cranelift::value::vector_constant(&mut self.builder, ty, &quad(first)))
                .collect(),
        )
    }

    fn time(&mut self, helper: Helper, high: bool, whole: bool) -> Lanes {
        let time = self.call(helper, &[]);
        if whole {
            return Lanes::Uniform(time);
        }
        let time = if high { self.builder.ins().ushr_imm_u(time, 32) } else { time };
        Lanes::Uniform(self.builder.ins().ireduce(I32, time))
    }
}
