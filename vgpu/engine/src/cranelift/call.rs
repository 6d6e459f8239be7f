//! Calls: arguments and results go through arrays of the caller's, one value per lane.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{
    AbiParam, BlockArg, InstBuilder, Signature, StackSlotData, StackSlotKind, Value,
};
use cranelift_codegen::isa::CallConv;
use gangway_simt::{Argument, Call as Called, From, Kind, Passed, Place, Scalar, Taken, Target, To};

use crate::abi::Flavour;
use crate::analysis::unit::Unit;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::Input;
use crate::cranelift::state::field;
use crate::cranelift::value::Lanes;
use crate::support::{Access, Helper, Space};

/// How long a parameter's array is in the area.
fn array(passed: Passed) -> i32 {
    match passed {
        Passed::Value(ty) if ty.is_wide() => 256,
        Passed::Value(_) => 128,
        Passed::Bytes(size) => (32 * u64::from(size)).next_multiple_of(16) as i32,
    }
}

/// A call, and where its arguments and results are in the area. Pointers come first, then the
/// targets of calls by address, then what is passed, then what comes back.
pub(crate) struct Call<'a> {
    called: &'a Called,
    places: Vec<i32>,
    /// Where the targets of a call by address are.
    targets: i32,
    /// Where the results begin, and where they end.
    passed: i32,
    end: i32,
}

impl<'a> Call<'a> {
    /// The call that an operation is.
    #[must_use]
    pub fn new(unit: &'a Unit<'_>, index: u32) -> Self {
        let Kind::Call(called) = &unit.operation(index).kind else {
            unreachable!("the end of a block says that this is a call");
        };
        let (arguments, results) = (&called.arguments, &called.results);
        let targets = (8 * (arguments.len() + results.len())).next_multiple_of(16) as i32;
        let by_address = matches!(called.target, Target::Address { .. });
        let mut end = targets + if by_address { 256 } else { 0 };
        let mut place = |passed: Passed| {
            let start = end;
            end += array(passed);
            start
        };
        let mut places: Vec<i32> = arguments.iter().map(|argument| place(argument.passed)).collect();
        let passed = end;
        let mut place = |passed: Passed| {
            let start = end;
            end += array(passed);
            start
        };
        places.extend(results.iter().map(|result| place(result.passed)));
        Call { called, places, targets, passed, end }
    }

    #[must_use]
    pub fn target(&self) -> Target {
        self.called.target
    }

    /// How long the area is, and how much of it is passed, as one number.
    #[must_use]
    pub fn sizes(&self) -> i64 {
        i64::from(self.passed) << 32 | i64::from(self.end)
    }
}

impl Emitter<'_, '_> {
    /// Calls a function for the lanes that run, on the stack; those that come back, an `I32`.
    pub fn call_function(&mut self, call: &Call<'_>) -> Value {
        let area = self.pass_arguments(call);
        let code = match call.target() {
            Target::Function(function) => self.code_for_lanes(function),
            Target::Address { .. } => {
                let all = self.mask;
                self.find_target(call, area, all)
            }
        };
        let back = self.enter(code, area, self.mask);
        self.take_results(call, area);
        back
    }

    /// The code of the function that the first of `lanes` calls by its address. The lanes that call
    /// the same one are in `results`, with the function.
    pub fn find_target(&mut self, call: &Call<'_>, area: Value, lanes: Value) -> Value {
        let Target::Address { source, signature } = call.target() else {
            unreachable!("the call names its function");
        };
        let addresses = self.value(source, Scalar::U64);
        addresses.store(&mut self.builder, area, call.targets);
        let pointer = self.builder.ins().iadd_imm_s(area, i64::from(call.targets));
        let signature = self.number(signature as i64);
        self.call(Helper::Target, &[lanes, pointer, signature])
    }

    /// Puts arguments into the area of calls, which it gives.
    pub fn pass_arguments(&mut self, call: &Call<'_>) -> Value {
        let area = self.area(call.end as u32);
        for (number, &place) in call.places.iter().enumerate() {
            let pointer = self.builder.ins().iadd_imm_s(area, i64::from(place));
            self.store_at(pointer, area, 8 * number as i32);
        }
        for (argument, &place) in call.called.arguments.iter().zip(&call.places) {
            self.pass_argument(argument, area, place);
        }
        area
    }

    /// Takes what has come back from an area.
    pub fn take_results(&mut self, call: &Call<'_>, area: Value) {
        let places = &call.places[call.called.arguments.len()..];
        for (result, &place) in call.called.results.iter().zip(places) {
            self.take_result(result, area, place);
        }
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

    fn pass_argument(&mut self, argument: &Argument, area: Value, place: i32) {
        let value = match (argument.from, argument.passed) {
            (From::Place(Place::Local(local)), Passed::Bytes(size)) => {
                let pointer = self.builder.ins().iadd_imm_s(area, i64::from(place));
                return self.copy_local(Helper::CopyOut, pointer, local, size, size);
            }
            (From::Place(Place::Local(local)), Passed::Value(ty)) => self.load_own(local, ty),
            // Values of 4 and of 8 bytes lie like the elements of an array.
            (From::Place(other), passed) => self.load_named(other, 0, value_of(passed)),
            (From::Source(source), passed) => self.value(source, value_of(passed)),
        };
        value.store(&mut self.builder, area, place);
    }

    fn take_result(&mut self, result: &Taken, area: Value, place: i32) {
        let ty = match (result.to, result.passed) {
            (To::Nothing, _) => return,
            (To::Place(Place::Local(local)), Passed::Bytes(size)) => {
                let pointer = self.builder.ins().iadd_imm_s(area, i64::from(place));
                return self.copy_local(Helper::CopyIn, pointer, local, size, size);
            }
            (_, passed) => value_of(passed),
        };
        let value = Lanes::load(&mut self.builder, ty.is_wide(), area, place);
        match result.to {
            To::Nothing => {}
            To::Place(Place::Local(local)) => self.store_own(local, ty, &value),
            To::Place(other) => self.store_named(other, ty, value, None),
            To::Slot(slot) => self.write_lanes(Some(slot), ty, value, None),
        }
    }

    /// A scalar in local memory, by its offset from the frame.
    fn load_own(&mut self, local: u32, ty: Scalar) -> Lanes {
        self.name_own(local);
        let access = self.own_access(ty);
        self.call(Helper::Load, &[self.mask, access]);
        Lanes::load(&mut self.builder, ty.is_wide(), self.warp, field!(values))
    }

    fn store_own(&mut self, local: u32, ty: Scalar, value: &Lanes) {
        self.name_own(local);
        self.pass(&[Input::Lanes(value.clone())]);
        let access = self.own_access(ty);
        self.call(Helper::Store, &[self.mask, access]);
    }

    fn name_own(&mut self, local: u32) {
        let address = self.builder.ins().iadd_imm_s(self.local_base, i64::from(local));
        Lanes::Uniform(address).store(&mut self.builder, self.warp, field!(addresses));
    }

    fn own_access(&mut self, ty: Scalar) -> Value {
        self.number(Access::plain(ty.size() as u8, Space::Local, false).bits())
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

/// The type of what is passed as a value, as all is that stands in no memory of each lane.
fn value_of(passed: Passed) -> Scalar {
    match passed {
        Passed::Value(ty) => ty,
        Passed::Bytes(_) => unreachable!("an array is in each lane's memory"),
    }
}
