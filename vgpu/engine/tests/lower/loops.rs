//! Sums of loops: they are made canonical where they are used, not in every turn, and are the same
//! bits as if they were.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I32X4};
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;
use gangway_engine::cranelift::sequence::{Input, Output, pure};
use gangway_engine::cranelift::value::{Lanes, QUADS, constant};
use gangway_engine::lower::{self, Features};
use gangway_interpreter::evaluate;
use gangway_ptx::forms::{Opcode, table};
use gangway_ptx::{Compute, Meaning, Modifier, Type};

use super::compile::{Host, Level, SLOT, Slots};
use super::values::{Random, edges};

fn add() -> (Compute, Opcode) {
    let modifiers = ["f32"].map(|word| Modifier::from_text(word).expect("a modifier"));
    let add = table().find("add", &modifiers).expect("add.f32");
    let Meaning::Compute(compute) = add.meaning else { panic!("a sum is computed") };
    (compute, add)
}

/// Adds the slots of input, as often as asked, to zero or to what the last slot holds; `also`
/// stores the sum of every turn.
fn emit(
    builder: &mut FunctionBuilder,
    features: Features,
    [inputs, outputs]: [Value; 2],
    turns: i64,
    from_memory: bool,
    also: bool,
) {
    let start = match from_memory {
        true => Lanes::load(builder, false, inputs, 5 * SLOT).vectors(builder),
        false => Box::from([constant(builder, I32X4, 0); QUADS]),
    };
    let (turn, after) = (builder.create_block(), builder.create_block());
    let first = builder.ins().iconst(I32, 0);
    let arguments = |count: Value, sums: &[Value]| -> Vec<BlockArg> {
        std::iter::once(count).chain(sums.iter().copied()).map(BlockArg::from).collect()
    };
    builder.ins().jump(turn, &arguments(first, &start));
    let count = builder.append_block_param(turn, I32);
    let sums: Vec<Value> = (0..QUADS).map(|_| builder.append_block_param(turn, I32X4)).collect();
    builder.switch_to_block(turn);
    let offset = builder.ins().imul_imm_s(count, i64::from(SLOT));
    let offset = builder.ins().uextend(cranelift_codegen::ir::types::I64, offset);
    let address = builder.ins().iadd(inputs, offset);
    let term = Lanes::load(builder, false, address, 0);
    let operands = [Input::Lanes(Lanes::Vector(sums.clone().into())), Input::Lanes(term)];
    let (compute, add) = add();
    let added = pure(builder, &operands, |known| lower::pure(compute, &add.expected, known, features));
    let Some(Output::Lanes(next)) = added.map(|outputs| outputs.first) else {
        panic!("add.f32 has a fast path");
    };
    if also {
        Lanes::Vector(sums.into()).store(builder, outputs, SLOT);
    }
    let next_count = builder.ins().iadd_imm_s(count, 1);
    let limit = builder.ins().iconst(I32, turns);
    let more = builder.ins().icmp(IntCC::UnsignedLessThan, next_count, limit);
    let next = next.vectors(builder);
    let done: Vec<BlockArg> = next.iter().map(|&value| BlockArg::from(value)).collect();
    builder.ins().brif(more, turn, &arguments(next_count, &next), after, &done);
    let results = (0..QUADS).map(|_| builder.append_block_param(after, I32X4)).collect();
    builder.seal_block(turn);
    builder.seal_block(after);
    builder.switch_to_block(after);
    Lanes::Vector(results).store(builder, outputs, 0);
    builder.ins().store(MemFlagsData::trusted(), next_count, outputs, 5 * SLOT);
}

#[test]
fn sums_of_loops_are_what_they_are_without_moving_tests() {
    let host = Host::new(Level::Native);
    let mut random = Random::new(7);
    let list = edges(Type::F32);
    for (turns, from_memory, also) in
        [(1, false, false), (1, true, false), (3, false, false), (4, true, true), (4, false, true)]
    {
        let code = host.function("a loop", |builder, inputs, outputs| {
            emit(builder, host.features, [inputs, outputs], turns, from_memory, also);
        });
        for _ in 0..200 {
            let (mut inputs, mut outputs) = (Slots::new(), Slots::new());
            for slot in &mut inputs.0 {
                for lane in slot.chunks_exact_mut(4).take(32) {
                    lane.copy_from_slice(&(list[random.below(list.len())] as u32).to_le_bytes());
                }
            }
            code.call(&inputs, &mut outputs);
            let at = |slots: &Slots, slot: usize, lane: usize| {
                let bytes = &slots.0[slot][4 * lane..][..4];
                u64::from(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
            };
            for lane in 0..32 {
                let mut sum = if from_memory { at(&inputs, 5, lane) } else { 0 };
                let mut last = sum;
                for turn in 0..turns as usize {
                    last = sum;
                    let term = at(&inputs, turn, lane);
                    sum = evaluate(add().0, &[sum, term], &mut false).first;
                }
                assert_eq!(at(&outputs, 0, lane), sum, "the sum of {turns} turns");
                if also {
                    assert_eq!(at(&outputs, 1, lane), last, "the sum before the last of {turns} turns");
                }
            }
        }
    }
}

/// The instructions of the loop, as Cranelift has them after tests have been moved.
#[test]
fn turns_of_a_loop_do_without_tests() {
    let host = Host::new(Level::Native);
    let text = host.text(|builder, inputs, outputs| {
        emit(builder, host.features, [inputs, outputs], 4, false, false);
    });
    let blocks: Vec<&str> = text.split("\nblock").collect();
    let turn =
        blocks.iter().find(|block| block.contains("vmulps") || block.contains("addps")).expect("the loop");
    assert!(!turn.contains("cmp") || !turn.contains("unord"), "the loop tests for NaN:\n{turn}");
    assert!(text.contains("unord"), "nobody tests for NaN:\n{text}");
}
