//! Operations that are the same in both flavours, one by one.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use gangway_device_memory::LOCAL_WINDOW;
use gangway_simt::{
    Barrier, BarrierReduction, Compute, Exchange, Exchanged, Kind, Meeting, Read, Scalar, Source, Space,
    Stack, Write,
};

use crate::abi::LANES;
use crate::cranelift::emit::Emitter;
use crate::cranelift::sequence::{self, Input, Output, Outputs};
use crate::cranelift::state::{Known, Steps, field};
use crate::cranelift::turns::Agreed;
use crate::cranelift::value::{Lanes, Predicate};
use crate::support::{Helper, IsIn};

impl<'a> Emitter<'a, '_> {
    /// Emits an operation that lanes neither wait nor part in.
    pub fn operation(&mut self, index: u32) {
        let operation = self.unit.operation(index);
        let guard = operation.guard.map(|guard| self.guard(guard));
        let guard = guard.as_ref();
        self.ahead.start = index;
        match &operation.kind {
            Kind::Compute(compute) => self.compute(compute, guard),
            Kind::Move { sources, results } => self.move_values(sources, results, guard),
            Kind::Repack { ty, sources, results } => self.repack(*ty, sources, results, guard),
            Kind::Load { access, address, results } => self.load_memory(address, *access, results, guard),
            Kind::Store { access, address, sources } => self.store_memory(address, *access, sources, guard),
            Kind::Atomic(atomic) => self.atomic(atomic, guard),
            Kind::Copy { to, from, bytes, taken } => self.copy(to, from, *bytes, *taken, guard),
            Kind::ConvertAddress { ty, space, to_space, source, result } => {
                self.convert_address(*source, *result, *ty, *space, *to_space, guard);
            }
            Kind::IsInSpace { space, source, result } => self.is_in_space(*source, *result, *space, guard),
            Kind::Stack { stack, ty } => self.stack(*stack, *ty, guard),
            Kind::Exchange(exchange) => self.collective(exchange, guard),
            Kind::ActiveLanes { result } => {
                let running = self.running(guard);
                self.write_lanes(*result, Scalar::U32, Lanes::Uniform(running), guard);
            }
            Kind::Fence { narrow } => {
                self.builder.ins().fence();
                if self.unit.watch {
                    let narrow = self.number((*narrow).into());
                    self.call(Helper::Fence, &[narrow]);
                }
            }
            Kind::Sleep => {
                // Others have their turn at the next step back.
                let none = self.number(0);
                self.store_field(none, field!(fuel));
            }
            Kind::Nothing => {}
            Kind::Matrix(_) | Kind::Table { .. } | Kind::Barrier(_) | Kind::Call(_) | Kind::Go => {
                unreachable!("blocks begin or end with these");
            }
        }
    }

    /// An operation that lanes have waited for each other at, for those that run the block.
    pub fn together(&mut self, index: u32) {
        match &self.unit.operation(index).kind {
            Kind::Exchange(exchange) => self.collective(exchange, None),
            Kind::Matrix(matrix) => self.matrix(matrix),
            _ => unreachable!("lanes wait for each other at no other operation"),
        }
    }

    fn convert_address(
        &mut self,
        source: Source,
        result: Option<u32>,
        ty: Scalar,
        space: Space,
        to_space: bool,
        guard: Option<&Predicate>,
    ) {
        if let (Known::Steps(steps), true) = (self.known_source(source, ty), ty.is_wide())
            && let Some(slot) = result
        {
            let steps = self.convert_steps(steps, space, to_space);
            self.set_slot(slot, Known::Steps(steps), guard);
            return;
        }
        let address = self.value(source, ty);
        let window = self.window(space);
        let address = self.fit(address, Scalar::U64);
        let value = match window {
            None => address,
            Some(window) => binary(&mut self.builder, &address, &Lanes::Uniform(window), |builder, a, b| {
                if to_space { builder.ins().isub(a, b) } else { builder.ins().iadd(a, b) }
            }),
        };
        let value = self.fit(value, ty);
        self.write_lanes(result, ty, value, guard);
    }

    fn is_in_space(&mut self, source: Source, result: Option<u32>, space: Space, guard: Option<&Predicate>) {
        let address = self.value(source, Scalar::U64);
        let holds = match IsIn::of(space) {
            None => self.is_shared(&address),
            Some(space) => {
                self.pass(&[Input::Lanes(address)]);
                let running = self.running(guard);
                let space = self.number(space as i64);
                let bits = self.call(Helper::IsSpace, &[running, space]);
                Predicate::Bits(self.builder.ins().ireduce(I32, bits))
            }
        };
        self.write(result, Scalar::Predicate, Output::Predicate(holds), guard);
    }

    fn stack(&mut self, stack: Stack, ty: Scalar, guard: Option<&Predicate>) {
        match stack {
            Stack::Allocate { size, align, result } => {
                let size = self.value(size, ty);
                self.pass(&[Input::Lanes(size.clone())]);
                let wide = i64::from(size.wide(&self.builder));
                let (align, wide) = (self.number(align as i64), self.number(wide));
                let running = self.running(guard);
                let start = self.call(Helper::Alloca, &[running, align, wide]);
                let start = self.fit(Lanes::Uniform(start), ty);
                self.write_lanes(result, ty, start, guard);
            }
            Stack::Save { result } => {
                let top = self.load_field(I64, field!(local_top));
                let top = self.fit(Lanes::Uniform(top), ty);
                self.write_lanes(result, ty, top, guard);
            }
            Stack::Restore { top } => {
                let top = self.value(top, ty);
                let wide = i64::from(top.wide(&self.builder));
                self.pass(&[Input::Lanes(top)]);
                let (running, base, wide) = (self.running(guard), self.local_base, self.number(wide));
                self.call(Helper::StackRestore, &[running, base, wide]);
            }
        }
    }

    /// Results that depend on values alone.
    fn compute(&mut self, compute: &Compute, guard: Option<&Predicate>) {
        if self.compare_steps(compute, guard) {
            return;
        }
        if let Some(known) = self.shadow_steps(compute).or_else(|| self.compute_steps(compute)) {
            self.set_first(compute, known, guard);
            return;
        }
        match self.agree(compute) {
            Agreed::Result(known) => self.set_first(compute, known, guard),
            Agreed::Lanes(noted) => {
                self.compute_lanes(compute, guard);
                self.note_ordered(compute.results[0].slot, noted);
            }
            Agreed::Other => self.compute_lanes(compute, guard),
        }
    }

    fn set_first(&mut self, compute: &Compute, known: Known, guard: Option<&Predicate>) {
        if let Some(slot) = compute.results[0].slot {
            self.set_slot(slot, known, guard);
        }
    }

    /// What is computed of these values, if there is a sequence for it.
    pub fn pure(&mut self, compute: &Compute, inputs: &[Input]) -> Option<Outputs> {
        let unit = self.unit;
        sequence::pure(&mut self.builder, inputs, |operands| unit.sequence(compute, operands))
    }

    /// Computes results for each lane.
    fn compute_lanes(&mut self, compute: &Compute, guard: Option<&Predicate>) {
        let inputs: Vec<Input> = compute.sources.iter().map(|&read| self.read(read)).collect();
        let Some(outputs) = self.pure(compute, &inputs) else {
            self.evaluate(compute, &inputs, guard);
            return;
        };
        for (result, output) in compute.results.iter().zip([Some(outputs.first), outputs.second]) {
            if let Some(output) = output {
                self.write(result.slot, result.ty, output, guard);
            }
        }
    }

    fn move_values(&mut self, sources: &[Read], results: &[Write], guard: Option<&Predicate>) {
        if let ([read], [result]) = (sources, results) {
            if read.ty == Scalar::Predicate {
                let value = self.predicate(read.source);
                self.write(result.slot, read.ty, Output::Predicate(value), guard);
                return;
            }
            if self.converged
                && let Known::Steps(steps) = self.known_source(read.source, read.ty)
                && let Some(slot) = result.slot
                && self.ty(slot).is_wide() == (self.builder.func.dfg.value_type(steps.bases[0]) == I64)
            {
                self.set_slot(slot, Known::Steps(steps), guard);
                return;
            }
        }
        let values: Vec<Lanes> = sources.iter().map(|read| self.value(read.source, read.ty)).collect();
        for (result, value) in results.iter().zip(values) {
            self.write_lanes(result.slot, result.ty, value, guard);
        }
    }

    fn repack(&mut self, ty: Scalar, sources: &[Source], results: &[Option<u32>], guard: Option<&Predicate>) {
        let part = |count: usize| match ty.bits() / count as u32 {
            8 => Scalar::U8,
            16 => Scalar::U16,
            32 => Scalar::U32,
            _ => Scalar::U64,
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
        let to = part(results.len());
        for (index, &slot) in results.iter().enumerate() {
            let value = self.shift(&packed, to.bits() * index as u32, false);
            let value = self.fit(value, to);
            self.write_lanes(slot, to, value, guard);
        }
    }

    /// Converts addresses in equal steps.
    fn convert_steps(&mut self, steps: Steps, space: Space, to_space: bool) -> Steps {
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
    fn window(&mut self, space: Space) -> Option<Value> {
        match space {
            Space::Shared => Some(self.load_fixed_field(I64, field!(shared))),
            Space::Local | Space::Parameters => Some(self.number(LOCAL_WINDOW as i64)),
            Space::Global | Space::Constant | Space::Generic => None,
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

    /// Has lanes exchange something, those that run the block.
    fn collective(&mut self, exchange: &Exchange, guard: Option<&Predicate>) {
        match exchange.operator {
            Exchanged::Nothing => {
                let running = self.running(guard);
                return self.synchronize(running);
            }
            Exchanged::Vote(vote) => return self.vote(exchange, vote, guard),
            Exchanged::Shuffle(mode) if self.shuffle(exchange, mode, guard) => return,
            // A helper has the values of all lanes.
            Exchanged::Shuffle(_)
            | Exchanged::MatchAny
            | Exchanged::MatchAll
            | Exchanged::Reduce
            | Exchanged::Elect => {}
        }
        let inputs = self.exchange_inputs(exchange);
        self.exchange(exchange, &inputs, guard);
        self.take_exchanged(exchange, guard);
    }

    /// What lanes bring to an exchange.
    pub fn exchange_inputs(&mut self, exchange: &Exchange) -> Vec<Input> {
        let input = |read: &Read| match read.ty {
            Scalar::Predicate => Input::Predicate(self.predicate(read.source)),
            ty => Input::Lanes(self.value(read.source, ty)),
        };
        exchange.sources.iter().map(input).collect()
    }

    /// Computes an exchange; what comes of it is in the warp's state.
    pub fn exchange(&mut self, exchange: &Exchange, inputs: &[Input], guard: Option<&Predicate>) {
        let running = self.running(guard);
        match (exchange.operator, inputs) {
            (Exchanged::Nothing, _) => self.synchronize(running),
            (Exchanged::Vote(vote), [Input::Predicate(holds), ..]) => {
                let holds = holds.bits(&mut self.builder);
                let result = self.ballot(vote, holds, running);
                self.store_field(result, field!(results));
            }
            _ => {
                let wide = self.pass(inputs);
                let (opcode, wide) = (self.number(exchange.opcode.into()), self.number(wide));
                self.call(Helper::Collective, &[opcode, running, wide]);
            }
        }
    }

    /// Tells who watches accesses that lanes have waited for each other.
    fn synchronize(&mut self, lanes: Value) {
        if self.unit.watch {
            self.call(Helper::Synchronize, &[lanes]);
        }
    }

    /// Takes what has come of an exchange.
    pub fn take_exchanged(&mut self, exchange: &Exchange, guard: Option<&Predicate>) {
        if let Exchanged::Vote(vote) = exchange.operator {
            let result = self.load_field(I32, field!(results));
            return self.write_vote(exchange.results[0].slot, vote, result, guard);
        }
        for (number, &Write { slot, ty }) in exchange.results.iter().enumerate() {
            let offset = field!(results) + (8 * LANES * number) as i32;
            let value = match ty {
                Scalar::Predicate => Output::Predicate(Predicate::Bits(self.load_field(I32, offset))),
                _ => Output::Lanes(Lanes::load(&mut self.builder, ty.is_wide(), self.warp, offset)),
            };
            self.write(slot, ty, value, guard);
        }
    }

    /// The barrier that an operation is.
    #[must_use]
    pub fn barrier_of(&self, index: u32) -> &'a Barrier {
        let unit = self.unit;
        match &unit.operation(index).kind {
            Kind::Barrier(barrier) => barrier,
            _ => unreachable!("the end of a block says that this is a barrier"),
        }
    }

    /// Puts what a barrier is about where helpers look for it: its number, how many threads it is
    /// for, the predicate. A bit each for those of the last two that are there.
    pub fn pass_barrier(&mut self, barrier: &Barrier) -> i64 {
        let number = Input::Lanes(self.value(barrier.number, Scalar::U32));
        let count = match barrier.count {
            None => number.clone(),
            Some(count) => Input::Lanes(self.value(count, Scalar::U32)),
        };
        let mut inputs = vec![number, count];
        let mut reduces = false;
        if let Meeting::Reduce { source, .. } = barrier.meeting {
            reduces = true;
            inputs.push(Input::Predicate(self.predicate(source)));
        }
        self.pass(&inputs);
        i64::from(barrier.count.is_some()) | i64::from(reduces) << 1
    }

    /// Writes what a barrier has reduced to; helpers leave for each lane how many came with a true
    /// predicate, and how many came.
    pub fn barrier_result(&mut self, barrier: &Barrier) {
        let Meeting::Reduce { reduction, result, .. } = barrier.meeting else { return };
        let offset = field!(results);
        let holds = Lanes::load(&mut self.builder, false, self.warp, offset);
        let arrived = Lanes::load(&mut self.builder, false, self.warp, offset + 8 * LANES as i32);
        let all = match reduction {
            BarrierReduction::Count => {
                self.write_lanes(result, Scalar::U32, holds, None);
                return;
            }
            BarrierReduction::And => true,
            BarrierReduction::Or => false,
        };
        let builder = &mut self.builder;
        let compared = if all { arrived } else { Lanes::constant(builder, false, 0) };
        let (holds, compared) = (holds.vectors(builder), compared.vectors(builder));
        let equal = |(&a, &b)| builder.ins().icmp(IntCC::Equal, a, b);
        let masks: Vec<Value> = holds.iter().zip(&compared).map(equal).collect();
        let equal = Predicate::Each(masks.into_boxed_slice().try_into().expect("eight groups of four lanes"));
        let holds = if all { equal } else { equal.not(builder) };
        self.write(result, Scalar::Predicate, Output::Predicate(holds), None);
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
