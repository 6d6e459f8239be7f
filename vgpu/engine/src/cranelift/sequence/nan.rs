//! Keeps loops from making NaNs canonical in every turn.
//!
//! Each result of 32-bit arithmetic is followed by a test that makes NaNs the one that PTX
//! has. An instruction that computes with the result takes the value from before the test, so that
//! the test is dropped where nothing else needs it. That does not reach through the parameters of
//! blocks, where the sums of loops are. Here, parameters that take only such results get the value
//! from before the test. The test is made where a parameter is used in another way, mostly after
//! the loop.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F32, F32X4, I32, I32X4};
use cranelift_codegen::ir::{
    Block, Endianness, Function, Inst, InstBuilder, InstructionData, MemFlagsData, Opcode, Value, ValueDef,
};

use gangway_simt::CANONICAL_NAN;

use super::emit::before_test;

/// Moves the tests of a finished function, which computes the same as before.
pub fn sink_tests(function: &mut Function) {
    function.dfg.resolve_all_aliases();
    let instructions: Vec<Inst> =
        function.layout.blocks().flat_map(|block| function.layout.block_insts(block)).collect();
    let incoming = incoming(function, &instructions);
    let loose = loose_parameters(function, &incoming);
    if loose.is_empty() {
        return;
    }
    let tested: HashMap<Value, Value> =
        loose.iter().map(|&parameter| (parameter, test(function, parameter))).collect();
    for inst in instructions {
        rewrite(function, inst, &tested);
    }
}

/// The destinations of a branch and their arguments, in the order of its values.
fn destinations(function: &Function, inst: Inst) -> Vec<(Block, Vec<Value>)> {
    let dfg = &function.dfg;
    if !dfg.insts[inst].opcode().is_branch() {
        return Vec::new();
    }
    let calls = dfg.insts[inst].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
    let arguments = |call: &cranelift_codegen::ir::BlockCall| {
        call.args(&dfg.value_lists).filter_map(|argument| argument.as_value()).collect()
    };
    calls.iter().map(|call| (call.block(&dfg.value_lists), arguments(call))).collect()
}

/// What each parameter of 32-bit lanes is given by all branches to its block.
fn incoming(function: &Function, instructions: &[Inst]) -> HashMap<Value, Vec<Value>> {
    let mut incoming: HashMap<Value, Vec<Value>> = HashMap::new();
    for &inst in instructions {
        for (block, arguments) in destinations(function, inst) {
            for (&parameter, argument) in function.dfg.block_params(block).iter().zip(arguments) {
                if matches!(function.dfg.value_type(parameter), I32 | I32X4) {
                    incoming.entry(parameter).or_default().push(argument);
                }
            }
        }
    }
    incoming
}

/// Parameters that only ever hold results of arithmetic and numbers.
fn loose_parameters(function: &Function, incoming: &HashMap<Value, Vec<Value>>) -> Vec<Value> {
    let mut candidates: HashSet<Value> = incoming.keys().copied().collect();
    let result = |value: Value| before_test(&function.dfg, value).is_some();
    loop {
        let fits =
            |&value: &Value| candidates.contains(&value) || result(value) || is_number(function, value);
        let kept: HashSet<Value> =
            candidates.iter().copied().filter(|parameter| incoming[parameter].iter().all(fits)).collect();
        let done = kept.len() == candidates.len();
        candidates = kept;
        if done {
            break;
        }
    }
    // Those that no result reaches may be no floats at all.
    let mut reached: HashSet<Value> = HashSet::new();
    loop {
        let reaches = |&value: &Value| reached.contains(&value) || result(value);
        let more: Vec<Value> = candidates
            .iter()
            .copied()
            .filter(|parameter| !reached.contains(parameter) && incoming[parameter].iter().any(reaches))
            .collect();
        if more.is_empty() {
            break;
        }
        reached.extend(more);
    }
    let mut reached: Vec<Value> = reached.into_iter().collect();
    // The same code in every process, whatever the order of the set.
    reached.sort();
    reached
}

/// A constant that is not NaN, taken as a float.
fn is_number(function: &Function, value: Value) -> bool {
    let dfg = &function.dfg;
    let number = |bits: u32| bits & 0x7fff_ffff <= 0x7f80_0000;
    let ValueDef::Result(inst, 0) = dfg.value_def(value) else { return false };
    match dfg.insts[inst] {
        InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => number(imm.bits() as u32),
        InstructionData::UnaryConst { opcode: Opcode::Vconst, constant_handle } => {
            let bytes = dfg.constants.get(constant_handle).as_slice();
            bytes.chunks_exact(4).all(|lane| number(u32::from_le_bytes([lane[0], lane[1], lane[2], lane[3]])))
        }
        InstructionData::Unary { opcode: Opcode::Splat, arg } => is_number(function, arg),
        _ => false,
    }
}

/// Makes the test of a parameter at the top of its block.
fn test(function: &mut Function, parameter: Value) -> Value {
    let ValueDef::Param(block, _) = function.dfg.value_def(parameter) else { return parameter };
    let ty = function.dfg.value_type(parameter);
    let mut cursor = FuncCursor::new(function).at_first_insertion_point(block);
    let flags = MemFlagsData::new().with_endianness(Endianness::Little);
    let float = cursor.ins().bitcast(if ty == I32X4 { F32X4 } else { F32 }, flags, parameter);
    let nan = cursor.ins().fcmp(FloatCC::Unordered, float, float);
    if ty == I32 {
        let canonical = cursor.ins().iconst(I32, CANONICAL_NAN as i64);
        return cursor.ins().select(nan, canonical, parameter);
    }
    let bytes = (CANONICAL_NAN as u32).to_le_bytes().repeat(4);
    let canonical = cursor.func.dfg.constants.insert(bytes.into());
    let canonical = cursor.ins().vconst(I32X4, canonical);
    cursor.ins().blendv(nan, canonical, parameter)
}

/// Lets arithmetic have parameters as they are, and everything else their tests.
fn rewrite(function: &mut Function, inst: Inst, tested: &HashMap<Value, Value>) {
    let dfg = &function.dfg;
    let computes = matches!(dfg.insts[inst], InstructionData::LoadNoOffset { opcode: Opcode::Bitcast, .. })
        && matches!(dfg.value_type(dfg.first_result(inst)), F32 | F32X4);
    let other = |value: Value| tested.get(&value).copied().unwrap_or(value);
    let own = dfg.inst_args(inst).iter().map(|&value| if computes { value } else { other(value) });
    let mut values: Vec<Value> = own.collect();
    for (block, arguments) in destinations(function, inst) {
        let parameters = dfg.block_params(block);
        values.extend(parameters.iter().zip(arguments).map(|(parameter, value)| {
            match tested.contains_key(parameter) {
                true if tested.contains_key(&value) => value,
                true => before_test(dfg, value).unwrap_or(value),
                false => other(value),
            }
        }));
    }
    function.dfg.overwrite_inst_values(inst, values.into_iter());
}
