//! Operations of a lane that do not access memory.

use gangway_device_memory::LOCAL_WINDOW;
use gangway_simt::{Compute, Kind, Operation, Read, Scalar, Source, Space, Write};

use super::lane::{Lane, SHARED, SHARED_SIZE, field};
use super::numbers;
use super::sequence::{self, Input};
use super::text::{Type, Value, of};
use crate::abi::LANES;
use crate::lower::Operand;
use crate::support::{Helper, IsIn};

impl Lane<'_> {
    /// Writes an operation, where its guard holds.
    pub fn operation(&mut self, operation: &Operation) {
        let Some(guard) = operation.guard else { return self.kind(&operation.kind) };
        let holds = self.guard(guard);
        let (yes, done) = (self.text.label(), self.text.label());
        self.text.branch(holds, yes, done);
        self.text.begin(yes);
        self.kind(&operation.kind);
        self.text.jump(done);
        self.text.begin(done);
    }

    fn kind(&mut self, kind: &Kind) {
        match kind {
            Kind::Compute(compute) => self.compute(compute),
            Kind::Move { sources, results } => self.move_values(sources, results),
            Kind::Repack { ty, sources, results } => self.repack(*ty, sources, results),
            Kind::Load { access, address, results } => self.load_memory(address, *access, results),
            Kind::Store { access, address, sources } => self.store_memory(address, *access, sources),
            Kind::ConvertAddress { ty, space, to_space, source, result } => {
                let address = self.value(*source, *ty);
                let address = self.fit(address, Scalar::U64);
                let window = match space {
                    Space::Shared => Some(SHARED),
                    Space::Local | Space::Parameters => Some(Value::wide(LOCAL_WINDOW)),
                    Space::Global | Space::Constant | Space::Generic => None,
                };
                let address = match window {
                    None => address,
                    Some(window) => self.text.binary(if *to_space { "sub" } else { "add" }, address, window),
                };
                let address = self.fit(address, *ty);
                self.write(*result, *ty, address);
            }
            Kind::IsInSpace { space, source, result } => {
                let address = self.value(*source, Scalar::U64);
                let holds = self.is_in(address, *space);
                self.write(*result, Scalar::Predicate, holds);
            }
            Kind::Nothing | Kind::Go => {}
            Kind::Atomic(_)
            | Kind::Copy { .. }
            | Kind::Stack { .. }
            | Kind::Exchange(_)
            | Kind::Matrix(_)
            | Kind::ActiveLanes { .. }
            | Kind::Fence { .. }
            | Kind::Sleep
            | Kind::Table { .. }
            | Kind::Barrier(_)
            | Kind::Call(_) => unreachable!("no lane does that by itself"),
        }
    }

    fn is_in(&mut self, address: Value, space: Space) -> Value {
        let Some(space) = IsIn::of(space) else {
            let offset = self.text.binary("sub", address, SHARED);
            return self.text.compare("ult", offset, SHARED_SIZE);
        };
        self.pass(address, field!(values));
        let bit = self.bit();
        let bits = self.call(Helper::IsSpace, &[bit, Value::wide(space as u64)]);
        let own = self.text.binary("and", bits, bit);
        self.text.compare("ne", own, Value::wide(0))
    }

    /// Results that depend on values alone.
    fn compute(&mut self, compute: &Compute) {
        let operands: Vec<Operand> =
            compute.sources.iter().map(|&read| numbers::operand(self.unit, read)).collect();
        let Some(sequence) = self.unit.sequence(compute, &operands) else {
            let inputs: Vec<Value> = compute.sources.iter().map(|&read| self.read(read)).collect();
            return self.evaluate(compute, &inputs);
        };
        let inputs: Vec<Input> = compute.sources.iter().map(|&read| self.input(read)).collect();
        let is_raw = |result: &Write| result.slot.is_some_and(|slot| self.reads.is_raw(slot));
        let raw: Vec<bool> = compute.results.iter().map(is_raw).collect();
        let results = sequence::write(&mut self.text, self.declared, &sequence, &inputs, &raw);
        for (result, value) in compute.results.iter().zip(results) {
            self.write(result.slot, result.ty, value);
        }
    }

    /// What arithmetic reads.
    fn input(&mut self, read: Read) -> Input {
        match read.source {
            Source::Slot(slot) if self.reads.is_raw(slot) => Input { value: self.raw_slot(slot), raw: true },
            _ => Input { value: self.read(read), raw: false },
        }
    }

    /// The same by a helper, where there is no sequence.
    fn evaluate(&mut self, compute: &Compute, inputs: &[Value]) {
        let mut wide = (inputs.len() as u64) << 32;
        for (index, &input) in inputs.iter().enumerate() {
            wide |= u64::from(input.ty == Type::Wide) << index;
            self.pass(input, field!(values) + (8 * LANES * index) as u64);
        }
        let bit = self.bit();
        self.call(Helper::Evaluate, &[Value::wide(compute.opcode.into()), bit, Value::wide(wide)]);
        for (number, &result) in compute.results.iter().enumerate() {
            let value = self.take(of(result.ty), field!(results) + (8 * LANES * number) as u64);
            self.write(result.slot, result.ty, value);
        }
    }

    fn move_values(&mut self, sources: &[Read], results: &[Write]) {
        if let ([read], [result]) = (sources, results)
            && read.ty == Scalar::Predicate
        {
            let value = self.read(*read);
            return self.write(result.slot, read.ty, value);
        }
        let values: Vec<Value> = sources
            .iter()
            .zip(results)
            .map(|(read, result)| match (read.source, result.slot) {
                (Source::Slot(from), Some(to)) if self.reads.is_raw(from) && self.reads.is_raw(to) => {
                    self.raw_slot(from)
                }
                _ => self.value(read.source, read.ty),
            })
            .collect();
        for (result, value) in results.iter().zip(values) {
            self.write(result.slot, result.ty, value);
        }
    }

    fn repack(&mut self, ty: Scalar, sources: &[Source], results: &[Option<u32>]) {
        let part = |count: usize| match ty.bits() / count as u32 {
            8 => Scalar::U8,
            16 => Scalar::U16,
            32 => Scalar::U32,
            _ => Scalar::U64,
        };
        let from = part(sources.len());
        let mut packed: Option<Value> = None;
        for (index, &source) in (0u32..).zip(sources) {
            let value = self.value(source, from);
            let value = self.fit(value, ty);
            packed = Some(match packed {
                None => value,
                Some(packed) => {
                    let by = Value::constant(value.ty, u64::from(from.bits() * index));
                    let value = self.text.binary("shl", value, by);
                    self.text.binary("or", packed, value)
                }
            });
        }
        let Some(packed) = packed else { return };
        let to = part(results.len());
        for (index, &slot) in (0u32..).zip(results) {
            let by = Value::constant(packed.ty, u64::from(to.bits() * index));
            let value = self.text.binary("lshr", packed, by);
            let value = self.fit(value, to);
            self.write(slot, to, value);
        }
    }
}
