//! Operands of operations: sources as values, results to slots.

use cranelift_codegen::ir::types::{I32, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use gangway_device_memory::function_address;
use gangway_simt::{Axis, Lanes as LaneSet, Part, Place, Read, Scalar, Source, Special};

use super::Emitter;
use crate::abi::LANES;
use crate::analysis::shape::Shape;
use crate::cranelift::sequence::{Input, Output};
use crate::cranelift::state::{Known, Steps, field};
use crate::cranelift::value::{Lanes, Predicate};
use crate::support::Helper;

impl Emitter<'_, '_> {
    /// The value of a source: its slot as it is, which may be wider than `ty`.
    pub fn source(&mut self, source: Source, ty: Scalar) -> Input {
        let known = self.known_source(source, ty);
        self.input(known)
    }

    pub fn read(&mut self, read: Read) -> Input {
        self.source(read.source, read.ty)
    }

    pub fn known_source(&mut self, source: Source, ty: Scalar) -> Known {
        Known::Input(match source {
            Source::Slot(slot) => return self.known(slot),
            Source::Not(slot) => {
                let predicate = self.predicate_slot(slot);
                Input::Predicate(predicate.not(&mut self.builder))
            }
            Source::Constant(value) if ty == Scalar::Predicate => {
                Input::Predicate(Predicate::constant(&mut self.builder, value != 0))
            }
            Source::Constant(value) => Input::Lanes(self.constant(ty, value)),
            Source::Address(place, offset) => {
                let address = self.address_of(place);
                let address = self.builder.ins().iadd_imm_s(address, offset);
                Input::Lanes(self.fit(Lanes::Uniform(address), ty))
            }
            Source::Special(special) if self.converged && ty.bits() >= 32 => {
                return self.converged_special(special, ty);
            }
            Source::Special(special) => {
                let value = self.special(special);
                Input::Lanes(self.fit(value, ty))
            }
        })
    }

    fn converged_special(&mut self, special: Special, ty: Scalar) -> Known {
        let rows = LANES / usize::from(self.unit.row);
        let thread =
            |index: usize, row: usize| field!(thread) + (4 * (LANES * index + row * (LANES / rows))) as i32;
        let steps = |shape| match shape {
            Shape::Uniform => Some((1, 0)),
            Shape::Steps(step) => Some((rows, step)),
            _ => None,
        };
        let (Some((count, step)), false) = (steps(self.unit.shapes.special(special)), ty.is_wide()) else {
            let value = self.special(special);
            return Known::lanes(self.fit(value, ty));
        };
        let axis = match special {
            Special::Thread(axis) => axis as usize,
            Special::Lane => {
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

    pub fn constant(&mut self, ty: Scalar, bits: u64) -> Lanes {
        let bits = if ty.bits() >= 64 { bits } else { bits & ((1 << ty.bits()) - 1) };
        Lanes::constant(&mut self.builder, ty.is_wide(), bits)
    }

    /// The value of a source in exactly the bits of `ty`, zero above.
    pub fn value(&mut self, source: Source, ty: Scalar) -> Lanes {
        match self.source(source, ty) {
            Input::Lanes(lanes) => self.fit(lanes, ty),
            Input::Predicate(_) => unreachable!("no operation takes a predicate for a value"),
        }
    }

    pub fn predicate(&mut self, source: Source) -> Predicate {
        match self.source(source, Scalar::Predicate) {
            Input::Predicate(predicate) => predicate,
            Input::Lanes(_) => unreachable!("no operation takes a value for a predicate"),
        }
    }

    /// The low bits of a value, in the form that values of `ty` have.
    pub fn fit(&mut self, lanes: Lanes, ty: Scalar) -> Lanes {
        let builder = &mut self.builder;
        let lanes = match (lanes.wide(builder), ty.is_wide()) {
            (true, false) => lanes.truncate(builder),
            (false, true) => lanes.widen(builder, false),
            _ => lanes,
        };
        if ty.bits() >= 32 {
            return lanes;
        }
        let mask = Lanes::constant(builder, false, (1 << ty.bits()) - 1);
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

    /// Writes a value of type `ty` to a slot, if somebody wants it.
    pub fn write(&mut self, slot: Option<u32>, ty: Scalar, value: Output, guard: Option<&Predicate>) {
        let Some(slot) = slot else { return };
        let register = self.ty(slot);
        let value = match value {
            Output::Lanes(lanes) => Input::Lanes(lanes.extend(&mut self.builder, ty, register)),
            Output::Predicate(predicate) => Input::Predicate(predicate),
        };
        self.set_slot(slot, Known::Input(value), guard);
    }

    pub fn write_lanes(&mut self, slot: Option<u32>, ty: Scalar, value: Lanes, guard: Option<&Predicate>) {
        self.write(slot, ty, Output::Lanes(value), guard);
    }

    /// The address of a place in its own space, an `I64`.
    pub fn address_of(&mut self, place: Place) -> Value {
        match place {
            Place::Function(number) => self.builder.ins().iconst(I64, function_address(number) as i64),
            Place::Symbol(index) => {
                let table = self.load_field(I64, field!(symbols));
                self.load_at(I64, table, 8 * index as i32)
            }
            Place::Local(offset) => self.builder.ins().iadd_imm_s(self.local_base, i64::from(offset)),
            Place::Slot(_) | Place::Argument(_) | Place::Parameter(_) => {
                unreachable!("what has a place of another kind has no address that anybody takes")
            }
        }
    }

    fn special(&mut self, special: Special) -> Lanes {
        let element = |base: i32, axis: Axis| base + 4 * axis as i32;
        let offset = match special {
            Special::Thread(axis) => {
                let offset = field!(thread) + 4 * LANES as i32 * axis as i32;
                return Lanes::load(&mut self.builder, false, self.warp, offset);
            }
            Special::Lane => return self.each_lane(|lane| lane),
            Special::LaneMask(LaneSet::Own) => return self.each_lane(|lane| 1 << lane),
            Special::LaneMask(LaneSet::Before) => return self.each_lane(|lane| (1 << lane) - 1),
            Special::LaneMask(LaneSet::UpToOwn) => {
                return self.each_lane(|lane| (1 << lane) | ((1 << lane) - 1));
            }
            Special::LaneMask(LaneSet::Behind) => {
                return self.each_lane(|lane| !((1 << lane) | ((1 << lane) - 1)));
            }
            Special::LaneMask(LaneSet::FromOwn) => return self.each_lane(|lane| !((1 << lane) - 1)),
            Special::Clock(part) => return self.time(Helper::Clock, part),
            Special::Time(part) => return self.time(Helper::Nanoseconds, part),
            Special::Grid => return Lanes::Uniform(self.load_field(I64, field!(grid_id))),
            Special::Shared => {
                let size = self.load_field(I64, field!(shared_size));
                return Lanes::Uniform(self.builder.ins().ireduce(I32, size));
            }
            Special::Threads(axis) => element(field!(threads), axis),
            Special::Block(axis) => element(field!(block), axis),
            Special::Blocks(axis) => element(field!(grid), axis),
            Special::Warp => field!(warp_index),
            Special::Warps => field!(warps),
            Special::Processor => field!(worker),
            Special::Processors => field!(workers),
            Special::DynamicShared => field!(dynamic_shared),
            Special::Workspace(Part::High) => field!(workspace) + 4,
            Special::Workspace(Part::Low) => field!(workspace),
            Special::Workspace(Part::Whole) => {
                return Lanes::Uniform(self.load_field(I64, field!(workspace)));
            }
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

    fn time(&mut self, helper: Helper, part: Part) -> Lanes {
        let time = self.call(helper, &[]);
        let time = match part {
            Part::Whole => return Lanes::Uniform(time),
            Part::High => self.builder.ins().ushr_imm_u(time, 32),
            Part::Low => time,
        };
        Lanes::Uniform(self.builder.ins().ireduce(I32, time))
    }
}
