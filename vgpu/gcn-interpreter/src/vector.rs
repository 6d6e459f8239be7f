//! Vector instructions whose lanes compute each for itself.

use gangway_gcn::instruction::{Form, Packed, Part, Scale, Sdwa, Shape, Unused, Vector};
use gangway_gcn::table::Slot;
use gangway_gcn::table::row::{DOT, PACKED, READS_DESTINATION, READS_VCC, SELECT, SELECT_TWO, WRITES_EXEC};
use gangway_gcn::{Instruction, Operand};

use crate::format::{F16, F32, Format};
use crate::integer::extend;
use crate::mode::Context;
use crate::operands::{self, Source};
use crate::operations::{Compute, Operation};
use crate::wave::{LANES, Lanes, Result, Stop, Wave};
use crate::{float, lanes};

/// A source and what is made of it before it counts.
#[derive(Clone, Copy)]
struct Input {
    source: Source,
    pick: Pick,
    bits: u32,
    negative: bool,
    absolute: bool,
}

/// Which part of the register is meant.
#[derive(Clone, Copy)]
enum Pick {
    Low,
    High,
    Part(Part, bool),
}

impl Input {
    const NONE: Self =
        Self { source: Source::Uniform(0), pick: Pick::Low, bits: 32, negative: false, absolute: false };

    fn finish(&self, raw: u64) -> u64 {
        let value = match self.pick {
            Pick::Low => raw,
            Pick::High => raw >> 16,
            Pick::Part(part, signed) => {
                let (shift, bits) = place(part);
                let value = raw >> shift;
                if signed { extend(value, bits).cast_unsigned() } else { value & u64::MAX >> (64 - bits) }
            }
        };
        let sign = 1 << (self.bits - 1);
        let mut value = value & u64::MAX >> (64 - self.bits);
        if self.absolute {
            value &= !sign;
        }
        if self.negative { value ^ sign } else { value }
    }

    fn of(&self, wave: &Wave, lane: usize) -> u64 {
        self.finish(self.source.of(wave, lane))
    }
}

/// Where a part begins, and its bits.
const fn place(part: Part) -> (u32, u32) {
    match part {
        Part::Byte(number) => (8 * number as u32, 8),
        Part::Word(number) => (16 * number as u32, 16),
        Part::Whole => (0, 32),
    }
}

/// Where a result goes.
#[derive(Clone, Copy)]
struct Output {
    first: usize,
    words: u8,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    /// All of the registers; what is behind a shorter result becomes 0.
    Whole,
    /// One half; the other stays.
    Half(u32),
    Part(Part, Unused),
}

impl Output {
    fn write(&self, wave: &mut Wave, lane: usize, value: u64) {
        let (part, unused) = match self.place {
            Place::Whole => return wave.set_lane(self.first, self.words, lane, value),
            Place::Half(number) => (Part::Word(number as u8), Unused::Preserve),
            Place::Part(part, unused) => (part, unused),
        };
        let (shift, bits) = place(part);
        let mask = (u64::MAX >> (64 - bits)) as u32;
        let placed = (value as u32 & mask) << shift;
        let register = &mut wave.vector[self.first][lane];
        *register = match unused {
            Unused::Preserve => *register & !(mask << shift) | placed,
            Unused::Zero => placed,
            // What is above has the sign, what is below is 0.
            Unused::Sign => ((extend(value, bits) as u64) << shift) as u32,
        };
    }
}

/// An instruction's operands, made ready for all lanes.
struct Frame<'a> {
    instruction: &'a Instruction,
    vector: &'a Vector,
    operation: Operation,
    inputs: [Input; 3],
    output: Option<Output>,
    context: Context,
    scale: i32,
    /// The mask whose bits lanes read.
    mask: u64,
}

pub fn run(wave: &mut Wave, operation: Operation, instruction: &Instruction) -> Result {
    let Form::Vector(vector) = &instruction.form else { return Ok(()) };
    let frame = Frame::new(wave, operation, instruction, vector)?;
    match vector.shape {
        Shape::Dpp(dpp) => {
            let first = frame.inputs[0].source;
            let (values, written) = lanes::gather(&dpp, wave.exec(), |lane| first.of(wave, lane));
            frame.run(wave, written, Some(&values))
        }
        _ => frame.run(wave, wave.exec(), None),
    }
}

impl<'a> Frame<'a> {
    fn new(
        wave: &Wave,
        operation: Operation,
        instruction: &'a Instruction,
        vector: &'a Vector,
    ) -> Result<Self> {
        let row = instruction.row;
        let (clamp, scale) = match vector.shape {
            Shape::Long(long) => (long.clamp, long.scale),
            Shape::Sdwa(sdwa) => (sdwa.clamp, sdwa.scale),
            Shape::Packed(packed) => (packed.clamp, Scale::One),
            Shape::Short | Shape::Dpp(_) | Shape::Matrix(_) => (false, Scale::One),
        };
        let scale = match scale {
            Scale::One => 0,
            Scale::Two => 1,
            Scale::Four => 2,
            Scale::Half => -1,
        };
        let mut frame = Self {
            instruction,
            vector,
            operation,
            inputs: [Input::NONE; 3],
            output: None,
            context: Context { mode: wave.mode, clamp, bit: false, lane: 0 },
            scale,
            mask: if row.effects.any(READS_VCC) { wave.vcc() } else { 0 },
        };
        frame.read_operands(wave)?;
        frame.output = frame.destination(wave)?;
        Ok(frame)
    }

    fn read_operands(&mut self, wave: &Wave) -> Result {
        let row = self.instruction.row;
        let mut count = 0;
        for (index, operand) in self.vector.from.iter().enumerate() {
            if row.from[index] == Slot::Mask {
                self.mask = operands::scalar(
                    wave,
                    row,
                    &Slot::ScalarSource(2, gangway_gcn::table::Constant::Wide),
                    *operand,
                )?;
                continue;
            }
            let slot = row.wide_source(index);
            let mut input = Input { bits: operands::bits(&slot), ..Input::NONE };
            input.source = self.source(wave, &slot, *operand, count)?;
            self.modify(&mut input, index)?;
            self.inputs[count] = input;
            count += 1;
        }
        // A sum, or what a part of the result stays of. Of three sources it is one already.
        if row.effects.any(READS_DESTINATION)
            && count < 3
            && let Some((first, words)) = self.vector.to.first().and_then(|to| operands::registers(wave, *to))
        {
            let bits = if self.operation.bits == 16 { 16 } else { 32 * u32::from(words) };
            self.inputs[count] = Input { source: Source::Registers { first, words }, bits, ..Input::NONE };
        }
        Ok(())
    }

    fn source(&self, wave: &Wave, slot: &Slot, operand: Operand, count: usize) -> Result<Source> {
        // Halves are halves, also where two of them are in a place of 32 bits.
        if let (Operand::Float(float), Shape::Packed(packed)) = (operand, self.vector.shape) {
            let mixed =
                matches!(self.operation.compute, Compute::Mix(_)) && packed.select_high >> count & 1 != 0;
            let halves = matches!(self.operation.compute, Compute::Packed(_, 16));
            if mixed || halves && self.operation.format == Some(F16) {
                return Ok(Source::Uniform(float.half().into()));
            }
        }
        let source = operands::source(wave, self.instruction.row, slot, operand)?;
        match source {
            Source::Registers { first, words }
                if wave.mode.indexes() && wave.m0() >> (12 + count) & 1 != 0 =>
            {
                let first = indexed(wave, first, words)?;
                Ok(Source::Registers { first, words })
            }
            source => Ok(source),
        }
    }

    /// Signs, halves and parts.
    fn modify(&self, input: &mut Input, index: usize) -> Result {
        let bit = |bits: u8| bits >> index & 1 != 0;
        match self.vector.shape {
            Shape::Long(long) => {
                (input.negative, input.absolute) = (bit(long.negative), bit(long.absolute));
                if bit(long.select) {
                    if input.bits != 16 {
                        return Err(Stop::unsupported("a half of a source of 32 bits"));
                    }
                    // Of a constant both halves are the same here.
                    if matches!(input.source, Source::Registers { .. }) {
                        input.pick = Pick::High;
                    }
                }
            }
            Shape::Sdwa(sdwa) => {
                (input.negative, input.absolute) = (bit(sdwa.negative), bit(sdwa.absolute));
                if let Some(part) = sdwa.from.get(index) {
                    input.pick = Pick::Part(*part, bit(sdwa.signed));
                }
            }
            Shape::Dpp(dpp) => {
                (input.negative, input.absolute) = (bit(dpp.negative), bit(dpp.absolute));
            }
            Shape::Short | Shape::Packed(_) | Shape::Matrix(_) => {}
        }
        Ok(())
    }

    fn destination(&self, wave: &Wave) -> Result<Option<Output>> {
        let Some(to) = self.vector.to.first() else { return Ok(None) };
        let Some((mut first, words)) = operands::registers(wave, *to) else { return Ok(None) };
        if wave.mode.indexes() && wave.m0() >> 15 & 1 != 0 {
            first = indexed(wave, first, words)?;
        }
        let place = match (self.vector.shape, self.operation.compute) {
            (Shape::Sdwa(Sdwa { to, unused, .. }), _) => Place::Part(to, unused),
            (_, Compute::Mix(mix)) => mix.to.map_or(Place::Whole, Place::Half),
            (Shape::Long(long), _)
                if self.operation.bits == 16 && self.instruction.row.allows.any(SELECT | SELECT_TWO) =>
            {
                Place::Half(u32::from(long.select >> 3 & 1))
            }
            _ => Place::Whole,
        };
        Ok(Some(Output { first, words, place }))
    }

    fn run(&self, wave: &mut Wave, lanes: u64, exchanged: Option<&[u64; LANES]>) -> Result {
        let mut context = self.context;
        let mut bits = 0;
        for lane in Lanes(lanes) {
            context.lane = lane as u32;
            context.bit = self.mask >> lane & 1 != 0;
            let mut sources = self.inputs.map(|input| input.of(wave, lane));
            if let Some(values) = exchanged {
                sources[0] = self.inputs[0].finish(values[lane]);
            }
            let value = match self.operation.compute {
                Compute::Value(compute) => {
                    let sources = self.selected(sources)?;
                    self.finish(compute(&context, sources), self.operation.format)
                }
                Compute::ValueAndBit(compute) => {
                    let (value, bit) = compute(&context, sources);
                    bits |= u64::from(bit) << lane;
                    self.finish(value, self.operation.format)
                }
                Compute::Bit(compute) => {
                    bits |= u64::from(compute(&context, sources)) << lane;
                    continue;
                }
                Compute::Compare(order, tests) => {
                    bits |= u64::from(order.holds(tests, &context, sources[0], sources[1])) << lane;
                    continue;
                }
                Compute::Packed(compute, bits) => self.packed(&context, compute, bits, sources)?,
                Compute::Mix(mix) => {
                    let sources = self.mixed(sources);
                    self.finish(mix.evaluate(&context, sources), Some(mix.format()))
                }
            };
            let value = if self.operation.bits == 16 { value & 0xffff } else { value };
            if let Some(output) = self.output {
                output.write(wave, lane, value);
            }
        }
        self.write_mask(wave, bits);
        Ok(())
    }

    fn write_mask(&self, wave: &mut Wave, bits: u64) {
        let to = self.vector.to.iter().find_map(|to| match to {
            Operand::Scalar { first, .. } => Some(*first),
            _ => None,
        });
        if let Some(first) = to {
            wave.set_pair(first, bits);
            if self.instruction.row.effects.any(WRITES_EXEC) {
                wave.set_exec(bits);
            }
        }
    }

    fn finish(&self, value: u64, format: Option<Format>) -> u64 {
        match format {
            Some(format) if self.context.clamp || self.scale != 0 => {
                float::finish(self.context.mode, format, value, self.scale, self.context.clamp)
            }
            _ => value,
        }
    }

    /// Of dot products, words whose halves are chosen.
    fn selected(&self, sources: [u64; 3]) -> Result<[u64; 3]> {
        let Shape::Packed(packed) = self.vector.shape else { return Ok(sources) };
        if !self.instruction.row.allows.any(PACKED | DOT) {
            return Ok(sources);
        }
        if packed.negative | packed.negative_high != 0 {
            return Err(Stop::unsupported("a negated integer"));
        }
        let word = |index: usize| {
            let half = |bits: u8| sources[index] >> (16 * u32::from(bits >> index & 1)) & 0xffff;
            half(packed.select_high) << 16 | half(packed.select)
        };
        Ok([word(0), word(1), sources[2]])
    }

    fn packed(
        &self,
        context: &Context,
        compute: crate::operations::Value,
        bits: u32,
        sources: [u64; 3],
    ) -> Result<u64> {
        let packed = match self.vector.shape {
            Shape::Packed(packed) => packed,
            // The short form has the halves as they are.
            _ => Packed { select: 0, select_high: 7, negative: 0, negative_high: 0, clamp: false },
        };
        let mut found = 0;
        for element in 0..2 {
            let (select, negative) = if element == 0 {
                (packed.select, packed.negative)
            } else {
                (packed.select_high, packed.negative_high)
            };
            let mut parts = [0; 3];
            for (index, part) in parts.iter_mut().enumerate() {
                let high = select >> index & 1 != 0;
                if high
                    && bits == 32
                    && matches!(self.inputs[index].source, Source::Uniform(_))
                    && self.is_constant(index)
                {
                    return Err(Stop::unsupported("the upper half of a constant"));
                }
                let value = if high { sources[index] >> bits } else { sources[index] };
                let sign = u64::from(negative >> index & 1) << (bits - 1);
                *part = value & u64::MAX >> (64 - bits) ^ sign;
            }
            let value = self.finish(compute(context, parts), self.operation.format);
            found |= (value & u64::MAX >> (64 - bits)) << (bits * element);
        }
        Ok(found)
    }

    fn is_constant(&self, index: usize) -> bool {
        !matches!(self.vector.from.get(index), Some(Operand::Scalar { .. } | Operand::Vector { .. }))
    }

    /// Sources of which some are halves, as whole numbers.
    fn mixed(&self, sources: [u64; 3]) -> [u64; 3] {
        let Shape::Packed(packed) = self.vector.shape else { return sources };
        std::array::from_fn(|index| {
            let bit = |bits: u8| bits >> index & 1 != 0;
            let is_half = bit(packed.select_high);
            let format = if is_half { F16 } else { F32 };
            let raw = if is_half && bit(packed.select) { sources[index] >> 16 } else { sources[index] };
            let mut value = raw & format.mask();
            // What is the upper negation elsewhere is the absolute value here.
            if bit(packed.negative_high) {
                value = format.magnitude(value);
            }
            if bit(packed.negative) {
                value ^= format.sign();
            }
            if is_half { float::convert(self.context.mode, F16, F32, value) } else { value }
        })
    }
}

/// A vector register's place, with the index that M0 has.
fn indexed(wave: &Wave, first: usize, words: u8) -> Result<usize> {
    let first = first + (wave.m0() & 0xff) as usize;
    if first + usize::from(words) > wave.registers.vectors {
        return Err(wave.registers.beyond().into());
    }
    Ok(first)
}
