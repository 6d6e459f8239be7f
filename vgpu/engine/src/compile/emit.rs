//! What both flavours share: registers and operands as values, results, calls of helpers.

use std::ops::Range;

use cranelift_codegen::ir::immediates::Offset32;
use cranelift_codegen::ir::types::{I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, SigRef, Signature, Type as Clif, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use gangway_device_memory::FUNCTIONS;
use gangway_ptx::{Guard, Instruction, Opcode, Operand, RegisterId, SpecialRegister, Symbol, Type};

use super::call::CallArea;
use super::layout::Place;
use super::liveness::Set;
use super::memory::Checked;
use super::shape::Shape;
use super::unit::Unit;
use crate::abi::{LANES, Warp};
use crate::lower::{Input, Output};
use crate::support::Helper;
use crate::value::{Lanes, Predicate, is_wide};

/// The offset of a field of the warp's state.
macro_rules! field {
    ($name:ident) => {
        std::mem::offset_of!($crate::abi::Warp, $name) as i32
    };
}
pub(crate) use field;

/// Memory of the engine's own, always accessible.
pub(crate) const fn own_memory() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// What a slot holds, in the form in which that is known.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    Input(Input),
    Steps(Steps),
}

/// A value of equal steps in each row of lanes.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    /// The value of each row's first lane, all `I32` or all `I64`.
    pub bases: Box<[Value]>,
    pub step: i64,
}

impl Known {
    pub fn lanes(lanes: Lanes) -> Known {
        Known::Input(Input::Lanes(lanes))
    }
}

/// Where registers are between the instructions that use them.
pub(crate) trait Registers {
    /// The value of a slot that this block has neither read nor written.
    fn fetch(&mut self, builder: &mut FunctionBuilder, slot: u32, ty: Type) -> Known;
}

pub(crate) struct Emitter<'a, 'b> {
    pub unit: &'a Unit<'a>,
    pub builder: FunctionBuilder<'b>,
    pub warp: Value,
    /// Pointers to the lanes' arguments and results.
    pub arguments: Value,
    /// The offset of the function's frame in local memory, an `I64`.
    pub local_base: Value,
    /// The lanes that run the block, an `I32`.
    pub mask: Value,
    /// What slots hold in this block, as far as it is known.
    pub known: Vec<Option<Known>>,
    /// All lanes run, and nothing else is the case while this code runs.
    pub converged: bool,
    /// Slots that have been written in this block.
    pub written: Vec<u32>,
    pub registers: Box<dyn Registers + 'a>,
    /// In converged code, that only the lanes of `mask` run, and the slots that others need.
    pub partial: Option<Set>,
    /// The instruction that is being emitted and those behind it in its block.
    pub ahead: Range<u32>,
    /// What of memory this block has checked already.
    pub checked: Vec<Checked>,
    pub calls: CallArea,
    signatures: [Option<SigRef>; 8],
}

impl<'a, 'b> Emitter<'a, 'b> {
    pub fn new(
        unit: &'a Unit<'a>,
        builder: FunctionBuilder<'b>,
        warp: Value,
        arguments: Value,
        registers: Box<dyn Registers + 'a>,
    ) -> Emitter<'a, 'b> {
        Emitter {
            unit,
            builder,
            warp,
            arguments,
            local_base: warp,
            mask: warp,
            known: vec![None; unit.slots.len()],
            converged: false,
            written: Vec::new(),
            registers,
            partial: None,
            ahead: 0..0,
            checked: Vec::new(),
            calls: CallArea::default(),
            signatures: [None; 8],
        }
    }

    /// Forgets what slots hold: another block begins.
    pub fn forget(&mut self) {
        self.known.fill(None);
        self.written.clear();
        self.checked.clear();
    }

    pub fn ty(&self, slot: u32) -> Type {
        self.unit.slots.types[slot as usize]
    }

    pub fn known(&mut self, slot: u32) -> Known {
        if let Some(known) = &self.known[slot as usize] {
            return known.clone();
        }
        let ty = self.ty(slot);
        let value = self.registers.fetch(&mut self.builder, slot, ty);
        self.known[slot as usize] = Some(value.clone());
        value
    }

    pub fn slot(&mut self, slot: u32) -> Input {
        match self.known(slot) {
            Known::Input(input) => input,
            Known::Steps(steps) => Input::Lanes(self.spread(&steps)),
        }
    }

    /// What a slot holds, without noting it: for code that does not come before what follows.
    pub fn slot_for_frame(&mut self, slot: u32) -> Input {
        let known = match &self.known[slot as usize] {
            Some(known) => known.clone(),
            None => {
                let ty = self.ty(slot);
                self.registers.fetch(&mut self.builder, slot, ty)
            }
        };
        self.input(known)
    }

    /// The value of each lane.
    pub fn spread(&mut self, steps: &Steps) -> Lanes {
        let builder = &mut self.builder;
        let wide = builder.func.dfg.value_type(steps.bases[0]) == I64;
        let (ty, per) = if wide { (I64X2, 2) } else { (I32X4, 4) };
        let row = LANES / steps.bases.len();
        let bases: Vec<Value> = steps.bases.iter().map(|&base| builder.ins().splat(ty, base)).collect();
        let vector = |first: usize| {
            let values = (first..first + per).map(|lane| steps.step * (lane % row) as i64);
            let bytes: Vec<u8> = match wide {
                true => values.flat_map(i64::to_le_bytes).collect(),
                false => values.flat_map(|value| (value as i32).to_le_bytes()).collect(),
            };
            if steps.step == 0 {
                return bases[first / row];
            }
            let offsets = crate::value::vector_constant(builder, ty, &bytes);
            builder.ins().iadd(bases[first / row], offsets)
        };
        Lanes::Vector((0..LANES).step_by(per).map(vector).collect())
    }

    /// Replaces what a slot holds, where a guard holds if there is one.
    pub fn set_slot(&mut self, slot: u32, value: Known, guard: Option<&Predicate>) {
        let kept = self.partial.as_ref().is_some_and(|kept| kept.contains(slot));
        let running = kept.then(|| Predicate::Bits(self.running(guard)));
        let guard = running.as_ref().or(guard);
        let value = match guard {
            None => value,
            Some(guard) => {
                let (value, old) = (self.input(value), self.slot(slot));
                Known::Input(self.choose(guard, value, old))
            }
        };
        if !self.written.contains(&slot) {
            self.written.push(slot);
        }
        self.known[slot as usize] = Some(value);
        self.checked.retain(|checked| checked.slot != slot);
    }

    fn input(&mut self, known: Known) -> Input {
        match known {
            Known::Input(input) => input,
            Known::Steps(steps) => Input::Lanes(self.spread(&steps)),
        }
    }

    fn choose(&mut self, guard: &Predicate, yes: Input, no: Input) -> Input {
        let builder = &mut self.builder;
        match (yes, no) {
            (Input::Lanes(yes), Input::Lanes(no)) => Input::Lanes(Lanes::select(builder, guard, &yes, &no)),
            (Input::Predicate(yes), Input::Predicate(no)) => {
                let (yes, other) = (yes.and(builder, guard), guard.not(builder));
                let no = no.and(builder, &other);
                Input::Predicate(yes.or(builder, &no))
            }
            _ => unreachable!("a slot is a predicate or it is none"),
        }
    }

    pub fn guard(&mut self, guard: Guard) -> Predicate {
        let slot = self.unit.slots.of(guard.register, 0);
        let holds = self.predicate_slot(slot);
        if guard.negated { holds.not(&mut self.builder) } else { holds }
    }

    pub fn instruction_guard(&mut self, instruction: &Instruction) -> Option<Predicate> {
        instruction.guard.map(|guard| self.guard(guard))
    }

    fn predicate_slot(&mut self, slot: u32) -> Predicate {
        match self.slot(slot) {
            Input::Predicate(predicate) => predicate,
            Input::Lanes(_) => unreachable!("the verifier has seen to it that a predicate is one"),
        }
    }

    /// The lanes that run an instruction, as bits.
    pub fn running(&mut self, guard: Option<&Predicate>) -> Value {
        match guard {
            None => self.mask,
            Some(guard) => {
                let bits = guard.bits(&mut self.builder);
                self.builder.ins().band(bits, self.mask)
            }
        }
    }

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
            quads.map(|first| crate::value::vector_constant(&mut self.builder, ty, &quad(first))).collect(),
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

    pub fn load_field(&mut self, ty: Clif, offset: i32) -> Value {
        self.load_at(ty, self.warp, offset)
    }

    /// A field that stays as it is while the block runs: it need not be read again behind calls.
    pub fn load_fixed_field(&mut self, ty: Clif, offset: i32) -> Value {
        let flags = own_memory().with_readonly().with_can_move();
        self.builder.ins().load(ty, flags, self.warp, Offset32::new(offset))
    }

    pub fn store_field(&mut self, value: Value, offset: i32) {
        self.store_at(value, self.warp, offset);
    }

    pub fn load_at(&mut self, ty: Clif, pointer: Value, offset: i32) -> Value {
        self.builder.ins().load(ty, own_memory(), pointer, Offset32::new(offset))
    }

    pub fn store_at(&mut self, value: Value, pointer: Value, offset: i32) {
        self.builder.ins().store(own_memory(), value, pointer, Offset32::new(offset));
    }

    pub fn number(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(I64, value)
    }

    /// Calls a helper: `arguments` are `I64` or `I32`, which is zero-extended; the result is an `I64`.
    pub fn call(&mut self, helper: Helper, arguments: &[Value]) -> Value {
        let signature = match self.signatures[arguments.len()] {
            Some(signature) => signature,
            None => {
                let mut signature = Signature::new(CallConv::SystemV);
                signature.params.extend((0..=arguments.len()).map(|_| AbiParam::new(I64)));
                signature.returns.push(AbiParam::new(I64));
                *self.signatures[arguments.len()].insert(self.builder.import_signature(signature))
            }
        };
        let mut values = vec![self.warp];
        for &argument in arguments {
            let wide = self.builder.func.dfg.value_type(argument) == I64;
            values.push(if wide { argument } else { self.builder.ins().uextend(I64, argument) });
        }
        let table = self.load_field(I64, field!(helpers));
        let entry = self.load_at(I64, table, 8 * helper as i32);
        let call = self.builder.ins().call_indirect(signature, entry, &values);
        self.builder.inst_results(call)[0]
    }

    /// Puts operands where helpers look for them. How many there are is in the upper half of the result; below
    /// is a bit for each of those that are 64 bits wide.
    pub fn pass(&mut self, inputs: &[Input]) -> i64 {
        let mut wide = (inputs.len() as i64) << 32;
        for (index, input) in inputs.iter().enumerate() {
            let offset = field!(values) + (8 * LANES * index) as i32;
            match input {
                Input::Lanes(lanes) => {
                    wide |= i64::from(lanes.wide(&self.builder)) << index;
                    lanes.store(&mut self.builder, self.warp, offset);
                }
                Input::Predicate(predicate) => {
                    let bits = predicate.bits(&mut self.builder);
                    self.store_field(bits, offset);
                }
            }
        }
        wide
    }

    /// Has an instruction that depends on its source operands only evaluated lane by lane.
    pub fn evaluate(
        &mut self,
        instruction: &Instruction,
        opcode: &Opcode,
        inputs: &[Input],
        guard: Option<&Predicate>,
    ) {
        let wide = self.pass(inputs);
        let running = self.running(guard);
        let (index, wide) = (self.number(i64::from(instruction.opcode.0)), self.number(wide));
        let carries = super::unit::carries(opcode);
        let alike = !carries && inputs.iter().all(is_uniform);
        let lanes = if alike { self.builder.ins().iconst(I32, 1) } else { running };
        self.call(Helper::Evaluate, &[index, lanes, wide]);
        let operands = self.unit.body.operands(instruction).to_vec();
        let destinations =
            operands.iter().zip(&opcode.expected).filter(|(_, expected)| expected.role.writes());
        for (number, (&operand, expected)) in destinations.enumerate() {
            let ty = expected.ty.unwrap_or(Type::B64);
            let offset = field!(results) + (8 * LANES * number) as i32;
            let value = if ty == Type::Pred {
                let bits = self.load_field(I32, offset);
                Output::Predicate(if alike {
                    let one = self.builder.ins().iconst(I32, 1);
                    Predicate::Uniform(self.builder.ins().band(bits, one))
                } else {
                    Predicate::Bits(bits)
                })
            } else if alike {
                Output::Lanes(Lanes::Uniform(self.load_field(if is_wide(ty) { I64 } else { I32 }, offset)))
            } else {
                Output::Lanes(Lanes::load(&mut self.builder, is_wide(ty), self.warp, offset))
            };
            self.write(operand, ty, value, guard);
        }
    }
}

pub(crate) fn is_uniform(input: &Input) -> bool {
    matches!(input, Input::Lanes(Lanes::Uniform(_)) | Input::Predicate(Predicate::Uniform(_)))
}

/// The size of the warp's state must not be beyond what offsets of instructions hold.
const _: () = assert!(size_of::<Warp>() < 1 << 20);
