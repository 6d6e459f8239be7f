//! What the code of fast paths costs: the time of one instruction for the 32 lanes of a warp,
//! operands and results in registers as far as they fit. `cargo bench -p gangway-engine --bench
//! lower`

#[allow(dead_code)]
#[path = "../tests/lower/compile.rs"]
mod compile;

use compile::{Executable, Host, Level, SLOT, Slots};
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use divan::Bencher;
use divan::counter::ItemsCount;
use gangway_engine::cranelift::sequence::{Input, Output, pure};
use gangway_engine::cranelift::value::{Lanes, Predicate};
use gangway_engine::lower::{self, Features};
use gangway_ptx::forms::{Opcode, table};
use gangway_ptx::{Meaning, Modifier, Type};

/// Instructions in one function.
const REPEATED: usize = 8;

/// What compilers write most, and what costs most. `:` is followed by the last operand, if it is a
/// constant.
const INSTRUCTIONS: &[&str] = &[
    "add.s32",
    "mul.lo.s32",
    "mad.lo.s32",
    "mul.hi.u32",
    "mul.wide.s32:8",
    "add.s64",
    "mul.lo.s64",
    "and.b32",
    "shl.b32:3",
    "shl.b32",
    "shr.s32",
    "shl.b64",
    "div.u32:10",
    "rem.s32:7",
    "div.s32",
    "div.u64",
    "setp.lt.s32",
    "setp.lt.s64",
    "setp.lt.f32",
    "selp.b32",
    "min.s32",
    "popc.b32",
    "clz.b32",
    "lop3.b32:150",
    "prmt.b32:8961",
    "add.f32",
    "mul.f32",
    "fma.rn.f32",
    "div.rn.f32",
    "sqrt.rn.f32",
    "rsqrt.approx.f32",
    "min.f32",
    "max.f32:0",
    "add.f64",
    "fma.rn.f64",
    "div.rn.f64",
    "cvt.s64.s32",
    "cvt.u32.u64",
    "cvt.rn.f32.s32",
    "cvt.rzi.s32.f32",
    "cvt.f64.f32",
    "cvt.rn.f32.f64",
    "cvt.f32.f16",
    "cvt.rn.f16.f32",
    "fma.rn.ftz.f32",
    "add.f16x2",
    "ex2.approx.f32",
    "lg2.approx.f32",
    "sin.approx.f32",
    "tanh.approx.f32",
];

fn main() {
    divan::main();
}

fn opcode(name: &str) -> Opcode {
    let mut words = name.split('.');
    let op = words.next().expect("a name");
    let modifiers: Vec<Modifier> = words.map(|word| Modifier::from_text(word).expect("a modifier")).collect();
    table().find(op, &modifiers).unwrap_or_else(|| panic!("no {name}"))
}

#[divan::bench(args = INSTRUCTIONS)]
fn vectors(bencher: Bencher, instruction: &str) {
    measure(bencher, instruction, false);
}

#[divan::bench(args = ["add.s32", "mul.wide.s32:8", "shl.b64", "div.u32", "setp.lt.s32", "fma.rn.f32"])]
fn uniform(bencher: Bencher, instruction: &str) {
    measure(bencher, instruction, true);
}

fn measure(bencher: Bencher, instruction: &str, uniform: bool) {
    let host = Host::new(Level::Native);
    let (name, constant) = match instruction.split_once(':') {
        Some((name, constant)) => (name, constant.parse().ok()),
        None => (instruction, None),
    };
    let opcode = opcode(name);
    let code = host.function(instruction, |builder, inputs, outputs| {
        emit(builder, host.features, &opcode, constant, uniform, [inputs, outputs]);
    });
    let mut inputs = Slots::new();
    for (index, word) in inputs.0.as_flattened_mut().chunks_exact_mut(4).enumerate() {
        word.copy_from_slice(&(1.0 + index as f32 / 8.0).to_bits().to_le_bytes());
    }
    let mut outputs = Slots::new();
    let run = |code: &Executable, outputs: &mut Slots| code.call(&inputs, outputs);
    bencher.counter(ItemsCount::new(REPEATED)).bench_local(|| run(&code, &mut outputs));
}

/// The instruction some times, each on other operands: its own result where that has the type,
/// otherwise the same vectors in another order. All results are used.
fn emit(
    builder: &mut FunctionBuilder,
    features: Features,
    opcode: &Opcode,
    constant: Option<u64>,
    uniform: bool,
    [inputs, outputs]: [Value; 2],
) {
    let types: Vec<Type> = opcode
        .expected
        .iter()
        .filter(|expected| !expected.role.writes())
        .map(|expected| expected.ty.unwrap_or(Type::B64))
        .collect();
    let mut operands: Vec<Input> = types
        .iter()
        .enumerate()
        .map(|(index, &ty)| match (ty, constant) {
            (Type::Pred, _) => Input::Predicate(Predicate::constant(builder, true)),
            (_, Some(value)) if index + 1 == types.len() => {
                Input::Lanes(Lanes::constant(builder, ty.bits() > 32, value))
            }
            _ => {
                let lanes = Lanes::load(builder, ty.bits() > 32, inputs, SLOT * index as i32);
                Input::Lanes(if uniform { Lanes::Uniform(lanes.lane(builder, 0)) } else { lanes })
            }
        })
        .collect();
    let same = opcode.expected.first().and_then(|expected| expected.ty) == types.first().copied();
    let Meaning::Compute(compute) = opcode.meaning else { panic!("{opcode} computes nothing") };
    let mut collected: Option<Lanes> = None;
    let mut holds: Option<Predicate> = None;
    for _ in 0..REPEATED {
        let sequence = |known: &[_]| lower::pure(compute, &opcode.expected, known, features);
        let outputs = pure(builder, &operands, sequence);
        match outputs.expect("a fast path").first {
            Output::Lanes(result) if same => {
                operands[0] = Input::Lanes(result.clone());
                collected = Some(result);
                continue;
            }
            Output::Lanes(result) => {
                collected = Some(match collected {
                    None => result,
                    Some(before) => both(builder, &before, &result),
                });
            }
            Output::Predicate(result) => {
                holds = Some(match holds {
                    None => result,
                    Some(before) => before.xor(builder, &result),
                });
            }
        }
        if let Input::Lanes(Lanes::Vector(values)) = &mut operands[0] {
            values.rotate_left(1);
        }
    }
    if let Some(lanes) = collected {
        lanes.store(builder, outputs, 0);
    }
    if let Some(holds) = holds {
        let bits = holds.bits(builder);
        Lanes::Uniform(bits).store(builder, outputs, SLOT);
    }
}

fn both(builder: &mut FunctionBuilder, a: &Lanes, b: &Lanes) -> Lanes {
    match (a, b) {
        (Lanes::Uniform(a), Lanes::Uniform(b)) => Lanes::Uniform(builder.ins().bxor(*a, *b)),
        _ => {
            let (a, b) = (a.vectors(builder), b.vectors(builder));
            Lanes::Vector(a.iter().zip(&b).map(|(&a, &b)| builder.ins().bxor(a, b)).collect())
        }
    }
}
