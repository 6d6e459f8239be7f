//! Random sequences of operations, in machine code and by the reference. `GANGWAY_SEQUENCES=20000`
//! tries so many on each kind of processor.

#[allow(dead_code)]
#[path = "lower/compile.rs"]
mod compile;
#[allow(dead_code)]
#[path = "lower/values.rs"]
mod values;

use compile::{Host, Level, SLOT, Slots};
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value as Machine};
use cranelift_frontend::FunctionBuilder;
use gangway_engine::cranelift::sequence::{Input, Output, expand};
use gangway_engine::cranelift::value::{Lanes, Predicate};
use gangway_ptx::Type as Ptx;
use gangway_simt::{
    Builder, Element, Extent, FloatOrder, IntOrder, Op, Sequence, Type, Value, evaluate, verify,
};
use values::{Random, edges};

const LANES: usize = 32;
/// What sequences take.
const PARAMETERS: [Type; 6] = [
    Type::lanes(Element::I32),
    Type::lanes(Element::I32),
    Type::lanes(Element::I64),
    Type::one(Element::I32),
    Type::one(Element::I64),
    Type::lanes(Element::Mask),
];
/// How many results there is room for.
const RESULTS: usize = 6;

/// Operations whose results are defined to the bit, or are NaN whose payload nothing here sees.
fn operations(fma: bool) -> Vec<Op> {
    let hidden = |op: &Op| match op {
        // These see payloads of NaN, or give anything.
        Op::AsWord | Op::AsWide | Op::ToWordUnchecked => true,
        Op::Fma => !fma,
        _ => false,
    };
    let plain = Op::PLAIN.iter().copied().filter(|op| !hidden(op));
    let integers = IntOrder::ALL.iter().map(|&order| Op::CompareInt(order));
    let floats = FloatOrder::ALL.iter().map(|&order| Op::CompareFloat(order));
    plain.chain(integers).chain(floats).collect()
}

/// A sequence of about so many operations.
fn random(source: &mut Random, operations: &[Op], length: usize) -> Sequence {
    let mut b = Builder::new();
    let mut known: Vec<Value> = PARAMETERS.iter().map(|&ty| b.parameter(ty)).collect();
    let mut made: Vec<Value> = Vec::new();
    while made.len() < length {
        if source.below(6) == 0 {
            let (element, ty) = [(Element::I32, Ptx::B32), (Element::I64, Ptx::B64)][source.below(2)];
            let values = edges(ty);
            known.push(b.constant(element, values[source.below(values.len())]));
        }
        let op = operations[source.below(operations.len())];
        let count = op.operands().count();
        // The newer a value is, the likelier it is taken.
        let mut pick = || known[known.len() - 1 - source.below(known.len()).min(source.below(known.len()))];
        let operands: Vec<Value> = (0..count).map(|_| pick()).collect();
        let elements: Vec<Element> = operands.iter().map(|&operand| b.element(operand)).collect();
        let funnel = matches!(op, Op::FunnelLeft | Op::FunnelRight);
        if !op.operands().take(&elements)
            || funnel && b.constant_of(operands[2]).is_none_or(|count| count > 32)
        {
            continue;
        }
        let value = b.make(op, &operands);
        if !known.contains(&value) {
            known.push(value);
            made.push(value);
        }
    }
    // Floats are seen by comparisons and conversions, or with one NaN.
    let mut results: Vec<Value> = made.into_iter().rev().take(RESULTS).collect();
    for result in &mut results {
        *result = match b.element(*result) {
            Element::F32 => b.register(*result),
            Element::F64 => b.compare_floats(FloatOrder::Greater, *result, *result),
            _ => *result,
        };
    }
    b.finish(&results)
}

/// The parameters in the slots of inputs.
fn inputs(builder: &mut FunctionBuilder, slots: Machine) -> Vec<Input> {
    let flags = MemFlagsData::trusted();
    let input = |(index, ty): (usize, &Type)| {
        let offset = SLOT * index as i32;
        let wide = ty.element.bits() == 64;
        match (ty.element, ty.extent) {
            (Element::Mask, _) => {
                Input::Predicate(Predicate::Bits(builder.ins().load(I32, flags, slots, offset)))
            }
            (_, Extent::Lanes) => Input::Lanes(Lanes::load(builder, wide, slots, offset)),
            (_, Extent::One) => {
                let ty = if wide { I64 } else { I32 };
                Input::Lanes(Lanes::Uniform(builder.ins().load(ty, flags, slots, offset)))
            }
        }
    };
    PARAMETERS.iter().enumerate().map(input).collect()
}

/// A value of a parameter for a lane.
fn value(source: &mut Random, element: Element) -> u64 {
    let ty = [Ptx::B32, Ptx::F32, Ptx::B64, Ptx::F64][source.below(4)];
    let values = edges(ty);
    let value = if source.below(3) == 0 { source.next() } else { values[source.below(values.len())] };
    match element {
        Element::Mask => value & 1,
        Element::I32 | Element::F32 => value & 0xffff_ffff,
        Element::I64 | Element::F64 => value,
    }
}

/// Compares machine code of a sequence with the reference, in some rows of lanes.
fn compare(host: &Host, sequence: &Sequence, source: &mut Random) -> Result<(), String> {
    let mut forms = Vec::new();
    let code = host.function("a sequence", |builder, slots, results| {
        let inputs = inputs(builder, slots);
        for (index, output) in expand(builder, sequence, &inputs).into_iter().enumerate() {
            let offset = SLOT * index as i32;
            match output {
                Output::Lanes(lanes) => {
                    forms.push(Some(lanes.wide(builder)));
                    lanes.store(builder, results, offset);
                }
                Output::Predicate(predicate) => {
                    forms.push(None);
                    let bits = predicate.bits(builder);
                    builder.ins().store(MemFlagsData::trusted(), bits, results, offset);
                }
            }
        }
    });
    for _ in 0..6 {
        let one: Vec<u64> = PARAMETERS.iter().map(|ty| value(source, ty.element)).collect();
        let rows: Vec<Vec<u64>> = (0..LANES)
            .map(|_| {
                let lane =
                    |(ty, &one): (&Type, &u64)| if ty.is_one() { one } else { value(source, ty.element) };
                PARAMETERS.iter().zip(&one).map(lane).collect()
            })
            .collect();
        let mut slots = Slots::new();
        for (index, ty) in PARAMETERS.iter().enumerate() {
            for (lane, row) in rows.iter().enumerate() {
                let (slot, value) = (&mut slots.0[index], row[index]);
                match ty.element {
                    Element::Mask => {
                        let bit = (value as u8 & 1) << (lane % 8);
                        slot[lane / 8] |= bit;
                    }
                    element if element.bits() == 64 => {
                        slot[8 * lane..][..8].copy_from_slice(&value.to_le_bytes());
                    }
                    _ => slot[4 * lane..][..4].copy_from_slice(&(value as u32).to_le_bytes()),
                }
            }
        }
        let mut results = Slots::new();
        code.call(&slots, &mut results);
        for (lane, row) in rows.iter().enumerate() {
            let wanted = evaluate(sequence, row);
            for (index, (&wanted, wide)) in wanted.iter().zip(&forms).enumerate() {
                let slot = &results.0[index];
                let word = |at: usize| u32::from_le_bytes(slot[at..at + 4].try_into().expect("four bytes"));
                let got = match wide {
                    None => u64::from(word(0) >> lane & 1),
                    Some(false) => u64::from(word(4 * lane)),
                    Some(true) => u64::from(word(8 * lane)) | u64::from(word(8 * lane + 4)) << 32,
                };
                if got != wanted {
                    let row: Vec<String> = row.iter().map(|value| format!("{value:#x}")).collect();
                    return Err(format!(
                        "result {index} is {got:#x}, not {wanted:#x}, in lane {lane} of {}:\n{sequence}",
                        row.join(", "),
                    ));
                }
            }
        }
    }
    Ok(())
}

fn try_many(level: Level, seed: u64) {
    let host = Host::new(level);
    let operations = operations(host.features.fma);
    let count = std::env::var("GANGWAY_SEQUENCES").ok().and_then(|count| count.parse().ok()).unwrap_or(400);
    for number in 0..count {
        let mut source = Random::new(seed + number);
        let length = 1 + source.below(24);
        let sequence = random(&mut source, &operations, length);
        assert_eq!(verify(&sequence), Ok(()), "{sequence}");
        assert_eq!(sequence.to_string().parse::<Sequence>().as_ref(), Ok(&sequence));
        if let Err(difference) = compare(&host, &sequence, &mut source) {
            panic!("sequence {number}: {difference}");
        }
    }
}

#[test]
fn machine_code_computes_what_the_reference_computes() {
    try_many(Level::Native, 1);
}

#[test]
fn so_it_does_on_the_oldest_processors() {
    try_many(Level::Sse42, 1_000_000);
}
