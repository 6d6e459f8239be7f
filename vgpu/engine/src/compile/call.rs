//! Calls: arguments and results go through arrays of the caller's, one value per lane.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{
    AbiParam, BlockArg, InstBuilder, SigRef, Signature, StackSlot, StackSlotData, StackSlotKind, Value,
};
use cranelift_codegen::isa::CallConv;
use gangway_interpreter::signature;
use gangway_ptx::{Operand, Type, Variable};

use super::emit::{Emitter, field};
use super::layout::{Place, is_scalar};
use crate::abi::Flavour;
use crate::lower::Input;
use crate::support::{Access, Helper, Space};
use crate::value::{Lanes, is_wide};

/// Where the arrays of all calls of a function are: it makes one call at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallArea {
    slot: Option<StackSlot>,
    signature: Option<SigRef>,
}

/// Where a parameter's array is in the area, and how long it is.
fn array(variable: &Variable) -> i32 {
    if is_scalar(variable) {
        if is_wide(variable.ty) { 256 } else { 128 }
    } else {
        (32 * variable.size().unwrap_or(0)).next_multiple_of(16) as i32
    }
}

impl Emitter<'_, '_> {
    /// Calls a function for the lanes that run; those that come back, an `I32`.
    pub fn call_function(&mut self, index: u32) -> Value {
        let unit = self.unit;
        let operands = unit.body.operands(&unit.body.instructions[index as usize]);
        let (results, arguments) = (unit.body.elements(operands[0]), unit.body.elements(operands[2]));
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
        // Pointers first, then targets of indirect calls, then the arrays.
        let pointers = (8 * (parameters.len() + returns.len())).next_multiple_of(16) as i32;
        let mut end = pointers + 256;
        let mut place = |variable: &Variable| {
            let start = end;
            end += array(variable);
            start
        };
        let places: Vec<i32> = parameters.iter().chain(returns).map(&mut place).collect();
        let area = self.area(end as u32);
        for (number, &place) in places.iter().enumerate() {
            let pointer = self.builder.ins().iadd_imm_s(area, i64::from(place));
            self.store_at(pointer, area, 8 * number as i32);
        }
        for ((&argument, parameter), &place) in arguments.iter().zip(parameters).zip(&places) {
            self.pass_argument(argument, parameter, area, place);
        }
        let back = match operands[1] {
            Operand::Function(id) => {
                let aliases = &self.unit.module.aliases;
                let target = aliases.iter().find(|alias| alias.alias == id).map_or(id, |alias| alias.target);
                let code = self.code_for_lanes(target.0);
                self.enter(code, area, self.mask)
            }
            operand => self.call_indirect(operand, area, pointers, signature(parameters, returns)),
        };
        for ((&result, variable), &place) in results.iter().zip(returns).zip(&places[parameters.len()..]) {
            self.take_result(result, variable, area, place);
        }
        back
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
        let signature = match self.calls.signature {
            Some(signature) => signature,
            None => {
                let mut signature = Signature::new(CallConv::SystemV);
                signature.params.extend([I64, I64, I64, I32].map(AbiParam::new));
                signature.returns.push(AbiParam::new(I64));
                *self.calls.signature.insert(self.builder.import_signature(signature))
            }
        };
        let none = self.number(0);
        let call = self.builder.ins().call_indirect(signature, code, &[self.warp, arguments, none, lanes]);
        let outcome = self.builder.inst_results(call)[0];
        self.builder.ins().ireduce(I32, outcome)
    }

    /// Calls each of the functions that the lanes' registers name, for the lanes that name it.
    fn call_indirect(&mut self, operand: Operand, area: Value, targets: i32, signature: u64) -> Value {
        let addresses = self.value(operand, Type::B64);
        addresses.store(&mut self.builder, area, targets);
        let (again, call, done) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        for _ in 0..2 {
            self.builder.append_block_param(again, I32);
        }
        let none = self.builder.ins().iconst(I32, 0);
        self.builder.ins().jump(again, &[BlockArg::Value(self.mask), BlockArg::Value(none)]);
        self.builder.switch_to_block(again);
        let (rest, back) = (self.builder.block_params(again)[0], self.builder.block_params(again)[1]);
        let over = self.builder.ins().icmp_imm_u(IntCC::Equal, rest, 0);
        self.builder.ins().brif(over, done, &[], call, &[]);
        self.builder.switch_to_block(call);
        let pointer = self.builder.ins().iadd_imm_s(area, i64::from(targets));
        let signature = self.number(signature as i64);
        let code = self.call(Helper::Target, &[rest, pointer, signature]);
        // The lanes that go there.
        let lanes = self.load_field(I32, field!(results));
        let came = self.enter(code, area, lanes);
        let others = self.builder.ins().band_not(rest, lanes);
        let all = self.builder.ins().bor(back, came);
        self.builder.ins().jump(again, &[BlockArg::Value(others), BlockArg::Value(all)]);
        self.builder.switch_to_block(done);
        back
    }
}
