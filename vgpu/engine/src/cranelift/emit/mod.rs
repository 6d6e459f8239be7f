//! What both flavours share: registers and operands as values, results, calls of helpers.

mod operands;

use std::ops::Range;

use cranelift_codegen::ir::immediates::Offset32;
use cranelift_codegen::ir::types::{I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{AbiParam, InstBuilder, SigRef, Signature, StackSlot, Type as Clif, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use gangway_simt::{Compute, Guard, Scalar};
use rustc_hash::FxHashMap;

use crate::abi::{LANES, Warp};
use crate::analysis::liveness::Listed;
use crate::analysis::unit::Unit;
use crate::cranelift::sequence::{Input, Output};
use crate::cranelift::state::{Agreement, CallArea, CheckedAccesses, Known, Steps, field, own_memory};
use crate::cranelift::value::{Lanes, Predicate};
use crate::grants;
use crate::support::Helper;

/// Where registers are between the operations that use them.
pub(crate) trait Registers {
    /// The value of a slot that this block has neither read nor written.
    fn fetch(&mut self, builder: &mut FunctionBuilder, slot: u32, ty: Scalar) -> Known;
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
    known: Vec<Option<Known>>,
    /// The slots of which something is known.
    touched: Listed,
    /// All lanes run, and nothing else is the case while this code runs.
    pub converged: bool,
    /// Slots that have been written in this block.
    pub written: Listed,
    pub registers: Box<dyn Registers + 'a>,
    /// In converged code, that only the lanes of `mask` run, and the slots that others need.
    pub partial: Option<Vec<u32>>,
    /// In converged code, what lanes are taken to agree in.
    pub agreement: Option<Agreement>,
    /// The operation that is being emitted and those behind it in its block.
    pub ahead: Range<u32>,
    /// What of memory this block has checked already.
    pub checked: CheckedAccesses,
    /// Check mode: by register, and whether they write, where accesses remember what they may access, as their
    /// numbers in the function.
    sites: FxHashMap<(Option<u32>, bool), usize>,
    /// The one of the access that is made.
    pub site: u8,
    /// How many accesses without a shape have been made here.
    pub scattered: u32,
    /// The block is in a loop.
    pub repeats: bool,
    /// One lane runs, and what it has is a scalar: its number.
    pub alone: Option<Value>,
    /// Which operation of the block with this number reads each slot last.
    pub last_reads: Option<(u32, FxHashMap<u32, u32>)>,
    pub calls: CallArea,
    /// Where batches of loads put what helpers load for them.
    pub scratch: Option<StackSlot>,
    /// Where the registers of matrices are put down for helpers.
    pub fragments: Option<StackSlot>,
    signatures: [Option<SigRef>; 8],
}

impl<'a, 'b> Emitter<'a, 'b> {
    #[must_use]
    pub fn new(
        unit: &'a Unit<'a>,
        builder: FunctionBuilder<'b>,
        warp: Value,
        arguments: Value,
        registers: Box<dyn Registers + 'a>,
    ) -> Self {
        Emitter {
            unit,
            builder,
            warp,
            arguments,
            local_base: warp,
            mask: warp,
            known: vec![None; unit.code.slots.len()],
            converged: false,
            touched: Listed::new(unit.code.slots.len()),
            written: Listed::new(unit.code.slots.len()),
            registers,
            partial: None,
            agreement: None,
            ahead: 0..0,
            checked: CheckedAccesses::default(),
            sites: FxHashMap::default(),
            site: 0,
            scattered: 0,
            repeats: false,
            alone: None,
            last_reads: None,
            calls: CallArea::default(),
            scratch: None,
            fragments: None,
            signatures: [None; 8],
        }
    }

    /// Forgets what slots hold: another block begins.
    pub fn forget(&mut self) {
        for slot in self.touched.take() {
            self.known[slot as usize] = None;
        }
        self.written.take();
        self.checked.clear();
    }

    /// What is known, to be restored.
    #[must_use]
    pub fn snapshot(&self) -> Vec<(u32, Known)> {
        let known = |&slot: &u32| Some((slot, self.known[slot as usize].clone()?));
        self.touched.as_slice().iter().filter_map(known).collect()
    }

    pub fn restore(&mut self, before: Vec<(u32, Known)>) {
        for slot in self.touched.take() {
            self.known[slot as usize] = None;
        }
        for (slot, value) in before {
            self.note(slot, value);
        }
    }

    /// What is known already.
    #[must_use]
    pub fn noted(&self, slot: u32) -> Option<&Known> {
        self.known[slot as usize].as_ref()
    }

    pub fn noted_mut(&mut self, slot: u32) -> Option<&mut Known> {
        self.known[slot as usize].as_mut()
    }

    /// From here on a slot is known to hold this.
    pub fn note(&mut self, slot: u32, value: Known) {
        self.touched.insert(slot);
        self.known[slot as usize] = Some(value);
    }

    #[must_use]
    pub fn ty(&self, slot: u32) -> Scalar {
        self.unit.code.slots[slot as usize]
    }

    pub fn known(&mut self, slot: u32) -> Known {
        if let Some(known) = &self.known[slot as usize] {
            return known.clone();
        }
        let ty = self.ty(slot);
        let value = self.registers.fetch(&mut self.builder, slot, ty);
        self.note(slot, value.clone());
        value
    }

    pub fn slot(&mut self, slot: u32) -> Input {
        match self.known(slot) {
            Known::Input(input) => input,
            Known::Steps(steps) => Input::Lanes(self.spread(&steps)),
        }
    }

    /// What a slot holds, without noting it: for code that does not come before what follows.
    pub fn known_for_frame(&mut self, slot: u32) -> Known {
        match &self.known[slot as usize] {
            Some(known) => known.clone(),
            None => {
                let ty = self.ty(slot);
                self.registers.fetch(&mut self.builder, slot, ty)
            }
        }
    }

    /// The same, as values of the lanes.
    pub fn slot_for_frame(&mut self, slot: u32) -> Input {
        let known = self.known_for_frame(slot);
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
            let offsets = crate::cranelift::value::vector_constant(builder, ty, &bytes);
            builder.ins().iadd(bases[first / row], offsets)
        };
        Lanes::Vector((0..LANES).step_by(per).map(vector).collect())
    }

    /// Replaces what a slot holds, where a guard holds if there is one.
    pub fn set_slot(&mut self, slot: u32, value: Known, guard: Option<&Predicate>) {
        let kept = self.partial.as_ref().is_some_and(|kept| kept.contains(&slot));
        let running = kept.then(|| Predicate::Bits(self.running(guard)));
        let guard = running.as_ref().or(guard);
        let value = match guard {
            None => value,
            Some(guard) => {
                let (value, old) = (self.input(value), self.slot(slot));
                Known::Input(self.choose(guard, value, old))
            }
        };
        self.written.insert(slot);
        self.note(slot, value);
        self.checked.remove(&slot);
        if let Some(agreement) = &mut self.agreement {
            agreement.forget(slot);
        }
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
        let holds = self.predicate_slot(guard.slot);
        if guard.negated { holds.not(&mut self.builder) } else { holds }
    }

    fn predicate_slot(&mut self, slot: u32) -> Predicate {
        match self.slot(slot) {
            Input::Predicate(predicate) => predicate,
            Input::Lanes(_) => unreachable!("the verifier has seen to it that a predicate is one"),
        }
    }

    /// The lanes that run an operation, as bits.
    pub fn running(&mut self, guard: Option<&Predicate>) -> Value {
        match guard {
            None => self.mask,
            Some(guard) => {
                let bits = guard.bits(&mut self.builder);
                self.builder.ins().band(bits, self.mask)
            }
        }
    }

    /// Where an access by a register remembers in check mode what it may access.
    pub fn site_of(&mut self, slot: Option<u32>, writes: bool) -> u8 {
        let next = self.sites.len();
        let index = *self.sites.entry((slot, writes)).or_insert(next);
        grants::number(self.unit.index, index, writes)
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

    /// A value with the bits of others as well, if there are any.
    pub fn or(&mut self, others: Option<Value>, value: Value) -> Value {
        match others {
            None => value,
            Some(others) => self.builder.ins().bor(others, value),
        }
    }

    pub fn number(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(I64, value)
    }

    /// Calls a helper: `arguments` are `I64` or `I32`, which is zero-extended; the result is an
    /// `I64`.
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

    /// Puts operands where helpers look for them. How many there are is in the upper half of the
    /// result; below is a bit for each of those that are 64 bits wide.
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

    /// Calls a helper, which is seldom, if a condition holds.
    pub fn call_if(&mut self, condition: Value, helper: Helper, arguments: &[Value]) {
        let (holds, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(holds);
        self.builder.ins().brif(condition, holds, &[], after, &[]);
        self.builder.switch_to_block(holds);
        self.call(helper, arguments);
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
    }

    /// Has results that depend on sources only evaluated lane by lane.
    pub fn evaluate(&mut self, compute: &Compute, inputs: &[Input], guard: Option<&Predicate>) {
        let wide = self.pass(inputs);
        let running = self.running(guard);
        let (opcode, wide) = (self.number(compute.opcode.into()), self.number(wide));
        let alike = !compute.carries && inputs.iter().all(is_uniform);
        let lanes = if alike { self.builder.ins().iconst(I32, 1) } else { running };
        self.call(Helper::Evaluate, &[opcode, lanes, wide]);
        for (number, &result) in compute.results.iter().enumerate() {
            let offset = field!(results) + (8 * LANES * number) as i32;
            let value = if result.ty == Scalar::Predicate {
                let bits = self.load_field(I32, offset);
                Output::Predicate(if alike {
                    let one = self.builder.ins().iconst(I32, 1);
                    Predicate::Uniform(self.builder.ins().band(bits, one))
                } else {
                    Predicate::Bits(bits)
                })
            } else if alike {
                let ty = if result.ty.is_wide() { I64 } else { I32 };
                Output::Lanes(Lanes::Uniform(self.load_field(ty, offset)))
            } else {
                Output::Lanes(Lanes::load(&mut self.builder, result.ty.is_wide(), self.warp, offset))
            };
            self.write(result.slot, result.ty, value, guard);
        }
    }
}

pub(crate) fn is_uniform(input: &Input) -> bool {
    matches!(input, Input::Lanes(Lanes::Uniform(_)) | Input::Predicate(Predicate::Uniform(_)))
}

/// The size of the warp's state must not be beyond what offsets of instructions hold.
const _: () = assert!(size_of::<Warp>() < 1 << 20);
