//! Calls: arguments and results go through arrays of the caller's, one value per lane.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{
    AbiParam, BlockArg, InstBuilder, Signature, StackSlotData, StackSlotKind, Value,
};
use cranelift_codegen::isa::CallConv;
use gangway_interpreter::signature;
use gangway_ptx::{Operand, Type, Variable};

use crate::abi::Flavour;
use crate::analysis::layout::{Place, is_scalar};
use crate::analysis::unit::Unit;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::field;
use crate::cranelift::value::{Lanes, is_wide};
use crate::support::{Access, Helper, Space};

/// Where a parameter's array is in the area, and how long it is.
fn array(variable: &Variable) -> i32 {
    if is_scalar(variable) {
        if is_wide(variable.ty) { 256 } else { 128 }
    } else {
        (32 * variable.size().unwrap_or(0)).next_multiple_of(16) as i32
    }
}

/// A call, and where its arguments and results are in the area. Pointers come first, then the
/// targets of indirect calls, then what is passed, then what comes back.
pub(crate) struct Call<'a> {
    pub target: Operand,
    results: &'a [Operand],
    arguments: &'a [Operand],
    returns: &'a [Variable],
    parameters: &'a [Variable],
    places: Vec<i32>,
    /// Where the targets of an indirect call are.
    targets: i32,
    /// Where the results begin, and where they end.
    passed: i32,
    end: i32,
}

impl<'a> Call<'a> {
    #[must_use]
    pub fn new(unit: &Unit<'a>, index: u32) -> Self {
        let operands = unit.body.operands(&unit.body.instructions[index as usize]);
        let (returns, parameters) = match (operands[1], operands[3]) {
            (Operand::Function(id), _) => {
                let callee = &unit.module.functions[id.index()];
                (&callee.returns, &callee.parameters)
            }
            (_, Operand::Prototype(id)) => {
                let prototype = &unit.body.prototypes[id.index()];
                (&prototype.returns, &prototype.parameters)
            }
            _ => unreachable!("the verifier has seen to it that an indirect call has a prototype"),
        };
        let targets = (8 * (parameters.len() + returns.len())).next_multiple_of(16) as i32;
        let mut end = targets + if matches!(operands[1], Operand::Function(_)) { 0 } else { 256 };
        let mut place = |variable: &Variable| {
            let start = end;
            end += array(variable);
            start
        };
        let mut places: Vec<i32> = parameters.iter().map(&mut place).collect();
        let passed = end;
        let mut place = |variable: &Variable| {
            let start = end;
            end += array(variable);
            start
        };
        places.extend(returns.iter().map(&mut place));
        Call {
            target: operands[1],
            results: unit.body.elements(operands[0]),
            arguments: unit.body.elements(operands[2]),
            returns,
            parameters,
            places,
            targets,
            passed,
            end,
        }
    }

    /// How long the area is, and how much of it is passed, as one number.
    #[must_use]
    pub fn sizes(&self) -> i64 {
        i64::from(self.passed) << 32 | i64::from(self.end)
    }
}

impl<'a> Emitter<'a, '_> {
    /// Calls a function for the lanes that run, on the stack; those that come back, an `I32`.
    pub fn call_function(&mut self, call: &Call<'a>) -> Value {
        let area = self.pass_arguments(call);
        let code = match call.target {
            Operand::Function(_) => self.called(call),
            _ => {
                let all = self.mask;
                self.find_target(call, area, all)
            }
        };
        let back = self.enter(code, area, self.mask);
        self.take_results(call, area);
        back
    }

    /// The function that a call names.
    #[must_use]
    pub fn callee(&self, call: &Call<'_>) -> Option<u32> {
        let Operand::Function(id) = call.target else { return None };
        let aliases = &self.unit.module.aliases;
        Some(aliases.iter().find(|alias| alias.alias == id).map_or(id, |alias| alias.target).0)
    }

    /// The code of the function that a call names, for the lanes that run.
    fn called(&mut self, call: &Call<'_>) -> Value {
        match self.callee(call) {
            Some(callee) => self.code_for_lanes(callee),
            None => unreachable!("the call names its function"),
        }
    }

    /// The code of the function that the first of `lanes` calls by its address. The lanes that call
    /// the same one are in `results`, with the function.
    pub fn find_target(&mut self, call: &Call<'_>, area: Value, lanes: Value) -> Value {
        let addresses = self.value(call.target, Type::B64);
        addresses.store(&mut self.builder, area, call.targets);
        let pointer = self.builder.ins().iadd_imm_s(area, i64::from(call.targets));
        let signature = self.number(signature(call.parameters, call.returns) as i64);
        self.call(Helper::Target, &[lanes, pointer, signature])
    }

    /// Puts arguments into the area of calls, which it gives.
    pub fn pass_arguments(&mut self, call: &Call<'_>) -> Value {
        let area = self.area(call.end as u32);
        for (number, &place) in call.places.iter().enumerate() {
            let pointer = self.builder.ins().iadd_imm_s(area, i64::from(place));
            self.store_at(pointer, area, 8 * number as i32);
        }
        for ((&argument, parameter), &place) in call.arguments.iter().zip(call.parameters).zip(&call.places) {
            self.pass_argument(argument, parameter, area, place);
        }
        area
    }

    /// Takes what has come back from an area.
    pub fn take_results(&mut self, call: &Call<'_>, area: Value) {
        let places = &call.places[call.parameters.len()..];
        for ((&result, variable), &place) in call.results.iter().zip(call.returns).zip(places) {
            self.take_result(result, variable, area, place);
        }
    }

    /// The slots of registers that a call writes.
    pub fn call_writes(&self, call: &Call<'_>) -> Vec<u32> {
        call.results.iter().filter_map(|&result| self.destination(result)).collect()
    }

    /// Where arguments have been put that were passed before.
    pub fn passed_area(&mut self) -> Value {
        self.area(0)
    }

    fn area(&mut self, size: u32) -> Value {
        let slots = &mut self.builder.func.sized_stack_slots;
        let slot = match self.calls.slot {
            Some(slot) => slot,
            None => {
                *self.calls.slot.insert(slots.push(StackSlotData::new(StackSlotKind::ExplicitSlot, 0, 4)))
            }
        };
        slots[slot].size = slots[slot].size.max(size);
        self.builder.ins().stack_addr(I64, slot, 0)
    }

    fn pass_argument(&mut self, argument: Operand, parameter: &Variable, area: Value, place: i32) {
        let array = |emitter: &mut Self| emitter.builder.ins().iadd_imm_s(area, i64::from(place));
        let named = match argument {
            Operand::Symbol(symbol, _) => self.unit.slots.layout.place(symbol),
            _ => None,
        };
        match named {
            Some(Place::Local(local)) if !is_scalar(parameter) => {
                let pointer = array(self);
                let size = parameter.size().unwrap_or(0) as u32;
                self.copy_local(Helper::CopyOut, pointer, local, size, size);
            }
            Some(Place::Local(local)) => {
                let value = self.load_own(local, parameter.ty);
                value.store(&mut self.builder, area, place);
            }
            Some(other) => {
                // Values of 4 and of 8 bytes lie like the elements of an array.
                let value = self.load_named(other, 0, parameter.ty);
                value.store(&mut self.builder, area, place);
            }
            None => {
                let value = self.value(argument, parameter.ty);
                value.store(&mut self.builder, area, place);
            }
        }
    }

    fn take_result(&mut self, result: Operand, variable: &Variable, area: Value, place: i32) {
        let named = match result {
            Operand::Symbol(symbol, _) => self.unit.slots.layout.place(symbol),
            Operand::Sink => return,
            _ => None,
        };
        match named {
            Some(Place::Local(local)) if !is_scalar(variable) => {
                let pointer = self.builder.ins().iadd_imm_s(area, i64::from(place));
                let size = variable.size().unwrap_or(0) as u32;
                self.copy_local(Helper::CopyIn, pointer, local, size, size);
            }
            Some(Place::Local(local)) => {
                let value = Lanes::load(&mut self.builder, is_wide(variable.ty), area, place);
                self.store_own(local, variable.ty, &value);
            }
            Some(other) => {
                let value = Lanes::load(&mut self.builder, is_wide(variable.ty), area, place);
                self.store_named(other, variable.ty, value, None);
            }
            None => {
                let value = Lanes::load(&mut self.builder, is_wide(variable.ty), area, place);
                self.write_lanes(result, variable.ty, value, None);
            }
        }
    }

    /// A scalar in local memory, by its offset from the frame.
    fn load_own(&mut self, local: u32, ty: Type) -> Lanes {
        self.name_own(local);
        let access = self.own_access(ty);
        self.call(Helper::Load, &[self.mask, access]);
        Lanes::load(&mut self.builder, is_wide(ty), self.warp, field!(values))
    }

    fn store_own(&mut self, local: u32, ty: Type, value: &Lanes) {
        self.name_own(local);
        self.pass(&[Input::Lanes(value.clone())]);
        let access = self.own_access(ty);
        self.call(Helper::Store, &[self.mask, access]);
    }

    fn name_own(&mut self, local: u32) {
        let address = self.builder.ins().iadd_imm_s(self.local_base, i64::from(local));
        Lanes::Uniform(address).store(&mut self.builder, self.warp, field!(addresses));
    }

    fn own_access(&mut self, ty: Type) -> Value {
        let size = ty.size() as u8;
        let access =
            Access { size, count: 1, space: Space::Local, strong: false, check: false, operation: None };
        self.number(access.bits())
    }

    /// The code of a function for the lanes that run: the converged flavour if those are all.
    fn code_for_lanes(&mut self, function: u32) -> Value {
        if self.converged {
            return self.code_of(function, Flavour::Converged);
        }
        let some = self.builder.ins().icmp_imm_s(IntCC::NotEqual, self.mask, -1);
        let flavour = self.builder.ins().uextend(I64, some);
        self.code(function, flavour)
    }

    /// The code of a function, which is compiled now when it is not yet.
    pub fn code_of(&mut self, function: u32, flavour: Flavour) -> Value {
        let flavour = self.number(flavour as i64);
        self.code(function, flavour)
    }

    fn code(&mut self, function: u32, flavour: Value) -> Value {
        let table = self.load_field(I64, field!(functions));
        let offset = self.builder.ins().ishl_imm_u(flavour, 3);
        let entry = self.builder.ins().iadd(table, offset);
        let code = self.load_at(I64, entry, 16 * function as i32);
        let (ask, ready) = (self.builder.create_block(), self.builder.create_block());
        self.builder.append_block_param(ready, I64);
        self.builder.set_cold_block(ask);
        self.builder.ins().brif(code, ready, &[BlockArg::Value(code)], ask, &[]);
        self.builder.switch_to_block(ask);
        let function = self.number(function.into());
        let code = self.call(Helper::Code, &[function, flavour, self.mask]);
        self.builder.ins().jump(ready, &[BlockArg::Value(code)]);
        self.builder.switch_to_block(ready);
        self.builder.block_params(ready)[0]
    }

    /// Runs code of either flavour, which is told all that the masked one wants to know; the lanes
    /// that come back.
    pub fn enter(&mut self, code: Value, arguments: Value, lanes: Value) -> Value {
        let none = self.number(0);
        let outcome = self.enter_frame(code, arguments, none, lanes);
        self.builder.ins().ireduce(I32, outcome)
    }

    /// The same for lanes that are in a frame; all that the code gives.
    pub fn enter_frame(&mut self, code: Value, arguments: Value, frame: Value, lanes: Value) -> Value {
        let signature = match self.calls.signature {
            Some(signature) => signature,
            None => {
                let mut signature = Signature::new(CallConv::SystemV);
                signature.params.extend([I64, I64, I64, I32].map(AbiParam::new));
                signature.returns.push(AbiParam::new(I64));
                *self.calls.signature.insert(self.builder.import_signature(signature))
            }
        };
        let call = self.builder.ins().call_indirect(signature, code, &[self.warp, arguments, frame, lanes]);
        self.builder.inst_results(call)[0]
    }
}
