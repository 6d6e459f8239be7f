//! The NaN that operations make of numbers: the engine has other bits than AMD's processors.
//!
//! What the operations of the engine make of numbers and is none is NaN with these bits, and no other one as a rule.
//! They matter only where something looks at bits: there they become AMD's. Arithmetic and
//! comparisons do not, so a chain of sums is changed once, where it is stored.

use rustc_hash::FxHashMap;

use crate::node::{Function, Op, Type, Value};

/// Of single precision and of double: the engine's, and AMD's.
const SINGLE: [u64; 2] = [0x7fff_ffff, 0x7fc0_0000];
const DOUBLE: [u64; 2] = [0xfff8_0000_0000_0000, 0x7ff8_0000_0000_0000];

/// Whether an instruction's result may be such a NaN.
fn makes(name: &str) -> bool {
    const OPERATIONS: [&str; 9] =
        ["add.rn", "sub.rn", "mul.rn", "fma.rn", "div.rn", "rcp.rn", "sqrt.rn", "ex2.approx", "lg2.approx"];
    let is_float = name.ends_with(".f32") || name.ends_with(".f64");
    let converts = name.starts_with("cvt.") && name.matches(".f").count() == 2;
    let chooses = name.starts_with("min.f") || name.starts_with("max.f");
    name == "cvt.f32.f16"
        || is_float && (converts || chooses || OPERATIONS.iter().any(|operation| name.starts_with(operation)))
}

/// Whether an instruction does not look at a NaN's bits.
fn ignores(name: &str) -> bool {
    let compares = name.starts_with("setp.") && (name.ends_with(".f32") || name.ends_with(".f64"));
    let counts = name.starts_with("cvt.") && (name.ends_with(".f32") || name.ends_with(".f64"));
    makes(name) || compares || counts
}

/// Gives NaN its bits where something looks at them.
pub fn run(f: &mut Function) {
    let made = made(f);
    let mut fixed: FxHashMap<Value, Value> = FxHashMap::default();
    // What is made is put behind what it is made of.
    let mut behind: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
    let users: Vec<Value> = f.blocks.iter().flat_map(|block| block.list.clone()).collect();
    for user in users {
        let op = f.op(user);
        let transparent = |index: usize| match op {
            Op::Plain(name) => ignores(name),
            Op::Select => index > 0,
            _ => false,
        };
        let args = f.nodes[user.index()].args.clone();
        let changed: Vec<Value> = (0..args.len())
            .map(|index| {
                let arg = f.find(args[index]);
                if !made[arg.index()] || transparent(index) {
                    return arg;
                }
                *fixed.entry(arg).or_insert_with(|| {
                    let list = fix(f, arg);
                    behind.insert(arg, list.to_vec());
                    list[1]
                })
            })
            .collect();
        f.nodes[user.index()].args = changed;
    }
    for block in &mut f.blocks {
        let first: Vec<Value> =
            block.phis.iter().flat_map(|phi| behind.remove(phi).unwrap_or_default()).collect();
        let list = std::mem::take(&mut block.list);
        block.list = first;
        for value in list {
            block.list.push(value);
            block.list.extend(behind.remove(&value).unwrap_or_default());
        }
    }
}

/// Values that may be such a NaN: results, and what is chosen among them.
fn made(f: &Function) -> Vec<bool> {
    let mut made = vec![false; f.nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for value in f.blocks.iter().flat_map(|block| block.phis.iter().chain(&block.list)) {
            let arg = |index: usize| made[f.arg(*value, index).index()];
            let is = match f.op(*value) {
                Op::Plain(name) => makes(name),
                Op::Select => f.ty(*value) != Type::Bit && (arg(1) || arg(2)),
                Op::Phi => f.ty(*value) != Type::Bit && (0..f.nodes[value.index()].args.len()).any(arg),
                _ => false,
            };
            changed |= is && !std::mem::replace(&mut made[value.index()], true);
        }
    }
    made
}

/// Whether a value is such a NaN, and behind that the value with AMD's bits.
fn fix(f: &mut Function, value: Value) -> [Value; 2] {
    f.at = f.nodes[value.index()].at;
    let ty = f.ty(value);
    let ([engines, amds], test) = match ty {
        Type::Wide => (DOUBLE, "setp.eq.b64"),
        _ => (SINGLE, "setp.eq.b32"),
    };
    let (engines, amds) = (f.constant(engines, ty), f.constant(amds, ty));
    let is = f.apart(Op::Plain(test), &[value, engines], Type::Bit);
    let fixed = f.apart(Op::Select, &[is, amds, value], ty);
    let differs = f.lanes[value.index()];
    f.lanes.resize(f.nodes.len(), false);
    for made in [is, fixed] {
        f.lanes[made.index()] = differs;
    }
    [is, fixed]
}
