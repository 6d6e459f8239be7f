//! Instructions that do the same in both flavours, one by one.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use gangway_device_memory::LOCAL_WINDOW;
use gangway_ptx::meaning::{AsyncCopy, Barrier, BarrierReduction, Compute, ExchangeOperation, Hint, Stack};
use gangway_ptx::{Instruction, Meaning, Opcode, Operand, StateSpace, Type};

use crate::abi::LANES;
use crate::analysis::graph::Collective;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::{self, Input, Output};
use crate::cranelift::state::{Known, Steps, field};
use crate::cranelift::turns::Agreed;
use crate::cranelift::value::{Lanes, Predicate, is_wide};
use crate::support::{Helper, IsIn};

impl Emitter<'_, '_> {
    /// Emits an instruction that lanes neither wait nor part in.
    pub fn instruction(&mut self, index: u32) {
        let unit = self.unit;
        let instruction = &unit.body.instructions[index as usize];
        let opcode = unit.module.opcode(instruction);
        let operands = unit.body.operands(instruction);
        let guard = self.instruction_guard(instruction);
        let guard = guard.as_ref();
        self.ahead.start = index;
        match opcode.meaning {
            Meaning::Compute(compute) => self.compute(instruction, operands, opcode, compute, guard),
            Meaning::Move { ty, vector } => self.mov(operands, vector, ty, guard),
            Meaning::Load(access) => self.load_memory(operands, access, guard),
            Meaning::Store(access) => self.store_memory(operands, access, guard),
            Meaning::Atomic(atomic) => self.atomic(instruction, operands, atomic, guard),
            Meaning::Copy(AsyncCopy::Start) => self.copy_async(operands, guard),
            Meaning::ConvertAddress { ty, space, to_space } => {
                self.convert_address(operands, ty, space, to_space, guard);
            }
            Meaning::IsInSpace(space) => self.is_in_space(operands, space, guard),
            Meaning::Stack(stack, ty) => self.stack(operands, stack, ty, guard),
            Meaning::Exchange(exchange) => self.collective(index, exchange.op, guard),
            Meaning::ActiveMask => {
                let running = self.running(guard);
                self.write_lanes(operands[0], Type::B32, Lanes::Uniform(running), guard);
            }
            Meaning::Fence => {
                self.builder.ins().fence();
            }
            Meaning::Hint(Hint::Sleep) => {
                // Others have their turn at the next step back.
                let none = self.number(0);
                self.store_field(none, field!(fuel));
            }
            // Copies are done when they start.
            Meaning::Hint(Hint::Prefetch | Hint::Breakpoint) | Meaning::Copy(AsyncCopy::Group) => {}
            Meaning::Control(_) | Meaning::Barrier(_) | Meaning::Matrix(_) => {
                unreachable!("the graph begins or ends blocks with these");
            }
        }
    }

    fn convert_address(
        &mut self,
        operands: &[Operand],
        ty: Type,
        space: StateSpace,
        to_space: bool,
        guard: Option<&Predicate>,
    ) {
        if let (Known::Steps(steps), true) = (self.known_source(operands[1], ty), is_wide(ty))
            && let Some(slot) = self.destination(operands[0])
        {
            let steps = self.convert_steps(steps, space, to_space);
            self.set_slot(slot, Known::Steps(steps), guard);
            return;
        }
        let address = self.value(operands[1], ty);
        let window = self.window(space);
        let address = self.fit(address, Type::B64);
        let value = match window {
            None => address,
            Some(window) => binary(&mut self.builder, &address, &Lanes::Uniform(window), |builder, a, b| {
                if to_space { builder.ins().isub(a, b) } else { builder.ins().iadd(a, b) }
            }),
        };
        let value = self.fit(value, ty);
        self.write_lanes(operands[0], ty, value, guard);
    }

    fn is_in_space(&mut self, operands: &[Operand], space: StateSpace, guard: Option<&Predicate>) {
        let address = self.value(operands[1], Type::B64);
        let holds = match space {
            StateSpace::Shared => self.is_shared(&address),
            other => {
                self.pass(&[Input::Lanes(address)]);
                let running = self.running(guard);
                let space = self.number(IsIn::of(other) as i64);
                let bits = self.call(Helper::IsSpace, &[running, space]);
                Predicate::Bits(self.builder.ins().ireduce(I32, bits))
            }
        };
        self.write(operands[0], Type::Pred, Output::Predicate(holds), guard);
    }

    fn stack(&mut self, operands: &[Operand], stack: Stack, ty: Type, guard: Option<&Predicate>) {
        match stack {
            Stack::Allocate => {
                let size = self.value(operands[1], ty);
                self.pass(&[Input::Lanes(size.clone())]);
                let align = match operands[2] {
                    Operand::Integer(align) => align,
                    _ => 8,
                };
                let wide = i64::from(size.wide(&self.builder));
                let (align, wide) = (self.number(align), self.number(wide));
                let running = self.running(guard);
                let start = self.call(Helper::Alloca, &[running, align, wide]);
                let start = self.fit(Lanes::Uniform(start), ty);
                self.write_lanes(operands[0], ty, start, guard);
            }
            Stack::Save => {
                let top = self.load_field(I64, field!(local_top));
                let top = self.fit(Lanes::Uniform(top), ty);
                self.write_lanes(operands[0], ty, top, guard);
            }
            Stack::Restore => {
                let top = self.value(operands[0], ty);
                let wide = i64::from(top.wide(&self.builder));
                self.pass(&[Input::Lanes(top)]);
                let (running, base, wide) = (self.running(guard), self.local_base, self.number(wide));
                self.call(Helper::StackRestore, &[running, base, wide]);
            }
        }
    }

    /// Instructions that compute results from values alone.
    fn compute(
        &mut self,
        instruction: &Instruction,
        operands: &[Operand],
        opcode: &Opcode,
        compute: Compute,
        guard: Option<&Predicate>,
    ) {
        if self.compare_steps(opcode, compute, operands, guard) {
            return;
        }
        if let Some(known) = self.compute_steps(opcode, compute, operands) {
            if let Some(slot) = self.destination(operands[0]) {
                self.set_slot(slot, known, guard);
            }
            return;
        }
        match self.agree(opcode, compute, operands) {
            Agreed::Result(known) => {
                if let Some(slot) = self.destination(operands[0]) {
                    self.set_slot(slot, known, guard);
                }
            }
            Agreed::Lanes(noted) => {
                self.compute_lanes(instruction, operands, opcode, compute, guard);
                self.note_product(operands[0], noted);
            }
            Agreed::Other => self.compute_lanes(instruction, operands, opcode, compute, guard),
        }
    }

    /// Computes results for each lane.
    fn compute_lanes(
        &mut self,
        instruction: &Instruction,
        operands: &[Operand],
        opcode: &Opcode,
        compute: Compute,
        guard: Option<&Predicate>,
    ) {
        let mut inputs = Vec::with_capacity(5);
        for (&operand, expected) in operands.iter().zip(&opcode.expected) {
            if !expected.role.writes() && operand != Operand::Absent {
                inputs.push(self.source(operand, expected.ty.unwrap_or(Type::B64)));
            }
        }
        let Some(outputs) =
            sequence::pure(&mut self.builder, compute, &opcode.expected, &inputs, self.unit.features)
        else {
            self.evaluate(instruction, opcode, &inputs, guard);
            return;
        };
        let destinations =
            operands.iter().zip(&opcode.expected).filter(|(_, expected)| expected.role.writes());
        for ((&operand, expected), output) in destinations.zip([Some(outputs.first), outputs.second]) {
            if let Some(output) = output {
                self.write(operand, expected.ty.unwrap_or(Type::B64), output, guard);
            }
        }
    }

    fn mov(&mut self, operands: &[Operand], vector: u8, ty: Type, guard: Option<&Predicate>) {
        if ty == Type::Pred {
            let value = self.predicate(operands[1]);
            self.write(operands[0], ty, Output::Predicate(value), guard);
            return;
        }
        let (targets, sources) = (self.parts(operands[0]), self.parts(operands[1]));
        if let ([target], [source], true) = (&targets[..], &sources[..], self.converged)
            && let Known::Steps(steps) = self.known_source(*source, ty)
            && let Some(slot) = self.destination(*target)
            && is_wide(self.ty(slot)) == (self.builder.func.dfg.value_type(steps.bases[0]) == I64)
        {
            self.set_slot(slot, Known::Steps(steps), guard);
            return;
        }
        if vector > 1 || (sources.len() == 1 && targets.len() == 1) {
            let values: Vec<Lanes> = sources.iter().map(|&source| self.value(source, ty)).collect();
            for (&target, value) in targets.iter().zip(values) {
                self.write_lanes(target, ty, value, guard);
            }
            return;
        }
        // Packing and unpacking, the least significant part first.
        let part = |count: usize| match ty.bits() / count as u32 {
            8 => Type::B8,
            16 => Type::B16,
            32 => Type::B32,
            _ => Type::B64,
        };
        let from = part(sources.len());
        let mut packed: Option<Lanes> = None;
        for (index, &source) in sources.iter().enumerate() {
            let value = self.value(source, from);
            let value = self.fit(value, ty);
            packed = Some(match packed {
                None => value,
                Some(packed) => {
                    let value = self.shift(&value, from.bits() * index as u32, true);
                    binary(&mut self.builder, &packed, &value, |builder, a, b| builder.ins().bor(a, b))
                }
            });
        }
        let Some(packed) = packed else { return };
        let to = part(targets.len());
        for (index, &target) in targets.iter().enumerate() {
            let value = self.shift(&packed, to.bits() * index as u32, false);
            let value = self.fit(value, to);
            self.write_lanes(target, to, value, guard);
        }
    }

    /// `cvta` of addresses in equal steps.
    fn convert_steps(&mut self, steps: Steps, space: StateSpace, to_space: bool) -> Steps {
        let Some(window) = self.window(space) else { return steps };
        let convert = |&base: &Value| match to_space {
            true => self.builder.ins().isub(base, window),
            false => self.builder.ins().iadd(base, window),
        };
        Steps { bases: steps.bases.iter().map(convert).collect(), step: steps.step }
    }

    /// Shifts by a constant number of bits.
    fn shift(&mut self, lanes: &Lanes, bits: u32, left: bool) -> Lanes {
        if bits == 0 {
            return lanes.clone();
        }
        let count = self.number(bits.into());
        let shift = |builder: &mut FunctionBuilder, value: Value| match left {
            true => builder.ins().ishl(value, count),
            false => builder.ins().ushr(value, count),
        };
        match lanes {
            Lanes::Uniform(value) => Lanes::Uniform(shift(&mut self.builder, *value)),
            Lanes::Vector(values) => {
                Lanes::Vector(values.iter().map(|&value| shift(&mut self.builder, value)).collect())
            }
        }
    }

    /// What generic addresses of a space have and its own have not, an `I64`.
    fn window(&mut self, space: StateSpace) -> Option<Value> {
        match space {
            StateSpace::Shared | StateSpace::SharedCta => Some(self.load_fixed_field(I64, field!(shared))),
            StateSpace::Local | StateSpace::Param | StateSpace::ParamEntry | StateSpace::ParamFunc => {
                Some(self.number(LOCAL_WINDOW as i64))
            }
            StateSpace::Global | StateSpace::Const => None,
            StateSpace::Reg | StateSpace::Sreg | StateSpace::SharedCluster | StateSpace::Generic => {
                unreachable!("no form of 'cvta' has this space")
            }
        }
    }

    fn is_shared(&mut self, address: &Lanes) -> Predicate {
        let (start, length) =
            (self.load_fixed_field(I64, field!(shared)), self.load_fixed_field(I64, field!(shared_size)));
        self.is_within(address, start, length)
    }

    fn is_within(&mut self, address: &Lanes, start: Value, length: Value) -> Predicate {
        let builder = &mut self.builder;
        let offset =
            binary(builder, address, &Lanes::Uniform(start), |builder, a, b| builder.ins().isub(a, b));
        let Lanes::Vector(offsets) = offset else {
            let offset = offset.lane(builder, 0);
            let holds = builder.ins().icmp(IntCC::UnsignedLessThan, offset, length);
            return Predicate::Uniform(builder.ins().uextend(I32, holds));
        };
        let length = Lanes::Uniform(length).vectors(builder)[0];
        let below = |&offset: &Value| builder.ins().icmp(IntCC::UnsignedLessThan, offset, length);
        let wide: Vec<Value> = offsets.iter().map(below).collect();
        let narrow = |pair: &[Value]| crate::cranelift::value::low_halves(builder, pair[0], pair[1]);
        let masks: Vec<Value> = wide.chunks(2).map(narrow).collect();
        Predicate::Each(masks.into_boxed_slice().try_into().expect("eight groups of four lanes"))
    }

    /// An instruction that lanes have waited for each other at, for those that run the block.
    pub fn together(&mut self, index: u32, collective: Collective) {
        match collective {
            Collective::Exchange(op) => self.collective(index, op, None),
            Collective::Matrix(matrix) => self.matrix(index, matrix),
        }
    }

    /// Instructions in which lanes exchange something, for those that run the block.
    pub fn collective(&mut self, index: u32, op: ExchangeOperation, guard: Option<&Predicate>) {
        let unit = self.unit;
        let instruction = &unit.body.instructions[index as usize];
        let operands = unit.body.operands(instruction);
        match op {
            ExchangeOperation::Meet => return,
            ExchangeOperation::Vote(vote) => return self.vote(operands, vote, guard),
            ExchangeOperation::Shuffle(mode) if self.shuffle(operands, mode, guard) => return,
            // A helper has the values of all lanes.
            ExchangeOperation::Shuffle(_)
            | ExchangeOperation::MatchAny(_)
            | ExchangeOperation::MatchAll(_)
            | ExchangeOperation::Reduce(..)
            | ExchangeOperation::Elect => {}
        }
        let inputs = self.exchange_inputs(index);
        self.exchange(index, op, &inputs, guard);
        self.take_exchanged(index, op, guard);
    }

    /// What lanes bring to a collective instruction.
    pub fn exchange_inputs(&mut self, index: u32) -> Vec<Input> {
        let unit = self.unit;
        let instruction = &unit.body.instructions[index as usize];
        let opcode = unit.module.opcode(instruction);
        let mut inputs = Vec::with_capacity(4);
        for (&operand, expected) in unit.body.operands(instruction).iter().zip(&opcode.expected) {
            if !expected.role.writes() && operand != Operand::Absent {
                let ty = expected.ty.unwrap_or(Type::B32);
                inputs.push(match ty {
                    Type::Pred => Input::Predicate(self.predicate(operand)),
                    _ => Input::Lanes(self.value(operand, ty)),
                });
            }
        }
        inputs
    }

    /// Computes a collective instruction; what comes of it is in the warp's state.
    pub fn exchange(
        &mut self,
        index: u32,
        op: ExchangeOperation,
        inputs: &[Input],
        guard: Option<&Predicate>,
    ) {
        let running = self.running(guard);
        match (op, inputs) {
            (ExchangeOperation::Meet, _) => {}
            (ExchangeOperation::Vote(vote), [Input::Predicate(holds), ..]) => {
                let holds = holds.bits(&mut self.builder);
                let result = self.ballot(vote, holds, running);
                self.store_field(result, field!(results));
            }
            _ => {
                let wide = self.pass(inputs);
                let opcode = self.unit.body.instructions[index as usize].opcode;
                let (opcode, wide) = (self.number(i64::from(opcode.0)), self.number(wide));
                self.call(Helper::Collective, &[opcode, running, wide]);
            }
        }
    }

    /// Takes what has come of a collective instruction.
    pub fn take_exchanged(&mut self, index: u32, op: ExchangeOperation, guard: Option<&Predicate>) {
        let unit = self.unit;
        let instruction = &unit.body.instructions[index as usize];
        let opcode = unit.module.opcode(instruction);
        let operands = unit.body.operands(instruction);
        if let ExchangeOperation::Vote(vote) = op {
            let result = self.load_field(I32, field!(results));
            return self.write_vote(operands[0], vote, result, guard);
        }
        let destinations =
            operands.iter().zip(&opcode.expected).filter(|(_, expected)| expected.role.writes());
        for (number, (&operand, expected)) in destinations.enumerate() {
            let ty = expected.ty.unwrap_or(Type::B32);
            let offset = field!(results) + (8 * LANES * number) as i32;
            let value = match ty {
                Type::Pred => Output::Predicate(Predicate::Bits(self.load_field(I32, offset))),
                _ => Output::Lanes(Lanes::load(&mut self.builder, is_wide(ty), self.warp, offset)),
            };
            self.write(operand, ty, value, guard);
        }
    }

    /// Puts what a barrier is about where helpers look for it: its number, how many threads it is
    /// for, the predicate. A bit each for those of the last two that are there.
    pub fn pass_barrier(&mut self, index: u32, barrier: Barrier) -> i64 {
        let unit = self.unit;
        let operands = unit.body.operands(&unit.body.instructions[index as usize]);
        let reduces = matches!(barrier, Barrier::Reduce(_));
        let first = usize::from(reduces);
        let number = Input::Lanes(self.value(operands[first], Type::U32));
        let (count, counted) = match operands.get(first + 1) {
            Some(Operand::Absent) | None => (number.clone(), false),
            Some(&operand) => (Input::Lanes(self.value(operand, Type::U32)), true),
        };
        let mut inputs = vec![number, count];
        if reduces {
            inputs.push(Input::Predicate(self.predicate(operands[operands.len() - 1])));
        }
        self.pass(&inputs);
        i64::from(counted) | i64::from(reduces) << 1
    }

    /// Writes what a barrier has reduced to; helpers leave for each lane how many came with a true
    /// predicate, and how many came.
    pub fn barrier_result(&mut self, index: u32, barrier: Barrier) {
        let unit = self.unit;
        let Barrier::Reduce(reduction) = barrier else { return };
        let offset = field!(results);
        let holds = Lanes::load(&mut self.builder, false, self.warp, offset);
        let arrived = Lanes::load(&mut self.builder, false, self.warp, offset + 8 * LANES as i32);
        let destination = unit.body.operands(&unit.body.instructions[index as usize])[0];
        let all = match reduction {
            BarrierReduction::Count => {
                self.write_lanes(destination, Type::U32, holds, None);
                return;
            }
            BarrierReduction::And => true,
            BarrierReduction::Or => false,
        };
        let builder = &mut self.builder;
        let compared = if all { arrived } else { Lanes::constant(builder, Type::U32, 0) };
        let (holds, compared) = (holds.vectors(builder), compared.vectors(builder));
        let equal = |(&a, &b)| builder.ins().icmp(IntCC::Equal, a, b);
        let masks: Vec<Value> = holds.iter().zip(&compared).map(equal).collect();
        let equal = Predicate::Each(masks.into_boxed_slice().try_into().expect("eight groups of four lanes"));
        let holds = if all { equal } else { equal.not(builder) };
        self.write(destination, Type::Pred, Output::Predicate(holds), None);
    }
}

/// Combines two values lane by lane; what is the same in all lanes stays so.
pub(crate) fn binary(
    builder: &mut FunctionBuilder,
    a: &Lanes,
    b: &Lanes,
    operate: impl Fn(&mut FunctionBuilder, Value, Value) -> Value,
) -> Lanes {
    if let (Lanes::Uniform(a), Lanes::Uniform(b)) = (a, b) {
        return Lanes::Uniform(operate(builder, *a, *b));
    }
    let (a, b) = (a.vectors(builder), b.vectors(builder));
    Lanes::Vector(a.iter().zip(&b).map(|(&a, &b)| operate(builder, a, b)).collect())
}
