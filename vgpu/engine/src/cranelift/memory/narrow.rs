//! The low halves of addresses: computed with 32 bits from the start, where they come from numbers of 32 bits.

use cranelift_codegen::ir::types::{I32, I32X4, I64X2};
use cranelift_codegen::ir::{InstBuilder, InstructionData, Opcode, Value, ValueDef};
use cranelift_frontend::FunctionBuilder;

use crate::cranelift::value::{constant_of, low_halves};

/// How many operations to look back.
const DEPTH: u32 = 6;

/// The low halves of two vectors with two lanes each.
pub(super) fn narrow(builder: &mut FunctionBuilder, pair: [Value; 2]) -> Value {
    match is_narrow(builder, pair, DEPTH) {
        true => computed(builder, pair),
        false => low_halves(builder, pair[0], pair[1]),
    }
}

/// How lanes of 64 bits have been made.
enum Made {
    /// From a vector of 32 bits.
    Widened(Value),
    /// Of a scalar that all lanes have.
    Splat(Value),
    /// Of what the low halves of the result depend on as it does on all.
    Computed(Opcode, [[Value; 2]; 2]),
    Shifted([Value; 2], u64),
}

fn made(builder: &FunctionBuilder, pair: [Value; 2]) -> Option<Made> {
    let dfg = &builder.func.dfg;
    let data = |value: Value| match dfg.value_def(dfg.resolve_aliases(value)) {
        ValueDef::Result(inst, 0) if dfg.value_type(value) == I64X2 => Some(dfg.insts[inst]),
        _ => None,
    };
    Some(match (data(pair[0])?, data(pair[1])?) {
        (
            InstructionData::Unary { opcode: low, arg: first },
            InstructionData::Unary { opcode: high, arg: second },
        ) => match (low, high) {
            (Opcode::UwidenLow, Opcode::UwidenHigh) | (Opcode::SwidenLow, Opcode::SwidenHigh)
                if first == second =>
            {
                Made::Widened(first)
            }
            (Opcode::Splat, Opcode::Splat) if first == second => Made::Splat(first),
            _ => return None,
        },
        (
            InstructionData::Binary { opcode, args: first },
            InstructionData::Binary { opcode: other, args: second },
        ) if opcode == other => match opcode {
            Opcode::Iadd | Opcode::Isub | Opcode::Band | Opcode::Bor | Opcode::Bxor => {
                Made::Computed(opcode, [[first[0], second[0]], [first[1], second[1]]])
            }
            Opcode::Ishl => {
                let by = [first[1], second[1]].map(|by| constant_of(builder, by));
                let &[Some(by), Some(other)] = &by else { return None };
                (by == other && by < 32).then_some(Made::Shifted([first[0], second[0]], by))?
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// Whether the low halves can be computed without those of any vector of 64 bits.
fn is_narrow(builder: &FunctionBuilder, pair: [Value; 2], depth: u32) -> bool {
    depth > 0
        && match made(builder, pair) {
            Some(Made::Widened(_) | Made::Splat(_)) => true,
            Some(Made::Computed(_, sources)) => {
                sources.into_iter().all(|pair| is_narrow(builder, pair, depth - 1))
            }
            Some(Made::Shifted(pair, _)) => is_narrow(builder, pair, depth - 1),
            None => false,
        }
}

/// Computes the low halves of what is [narrow](is_narrow).
fn computed(builder: &mut FunctionBuilder, pair: [Value; 2]) -> Value {
    match made(builder, pair) {
        Some(Made::Widened(narrow)) => narrow,
        Some(Made::Splat(wide)) => {
            let narrow = builder.ins().ireduce(I32, wide);
            builder.ins().splat(I32X4, narrow)
        }
        Some(Made::Computed(opcode, sources)) => {
            let [a, b] = sources.map(|pair| computed(builder, pair));
            match opcode {
                Opcode::Iadd => builder.ins().iadd(a, b),
                Opcode::Isub => builder.ins().isub(a, b),
                Opcode::Band => builder.ins().band(a, b),
                Opcode::Bor => builder.ins().bor(a, b),
                _ => builder.ins().bxor(a, b),
            }
        }
        Some(Made::Shifted(pair, by)) => {
            let narrow = computed(builder, pair);
            let by = builder.ins().iconst(I32, by as i64);
            builder.ins().ishl(narrow, by)
        }
        None => low_halves(builder, pair[0], pair[1]),
    }
}
